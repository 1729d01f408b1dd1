/* Types of objects: which vtable it is that an address is in. */
#ifndef PGK_GEN_VTABLES_H
#define PGK_GEN_VTABLES_H

#include "gen_priv.h"

/* Reads the tables of a binary on first use. */
int pgk_gen_need_vtables(struct pgk_gen_binary *binary, struct pgk_err *err);
/* The number of the vtable's name in the profile; 0: there is none, which is noted. */
int pgk_gen_find_vtable(struct pgk_gen *gen, struct pgk_gen_place data, uint32_t *name);

#endif
