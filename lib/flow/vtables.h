/* Which functions the virtual tables of a binary hold, and at which displacement from what an
 * object points to. Source: Itanium C++ ABI, 2.5 Virtual Table Layout. */
#ifndef PGK_VTABLES_H
#define PGK_VTABLES_H

#include "elf_file.h"
#include "vec.h"

struct pgk_vtable_entry {
    uint64_t slot, function;
    uint64_t family; /* the type, by its address, that declares what the slot holds, as far as is
                      * known, or a table of which it is not: what a call can enter is of one
                      * family */
};

struct pgk_vtables {
    PGK_VEC(struct pgk_vtable_entry) list; /* ascending by slot, then function */
};

/* Reads the tables that symbols name (_ZTV...), with the relocations of the binary applied. */
int pgk_vtables_read(struct pgk_vtables *vtables, const struct pgk_elf *elf, struct pgk_err *err);
void pgk_vtables_free(struct pgk_vtables *vtables);

/* The entries of a slot: the first, and how many. */
const struct pgk_vtable_entry *pgk_vtables_at(const struct pgk_vtables *vtables, uint64_t slot,
                                              size_t *n);
bool pgk_vtables_have(const struct pgk_vtables *vtables, uint64_t slot, uint64_t function);

#endif
