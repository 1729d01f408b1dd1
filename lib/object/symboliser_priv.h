/* The symboliser's file and units, for what else is read from its debug information. */
#ifndef PGK_SYMBOLISER_PRIV_H
#define PGK_SYMBOLISER_PRIV_H

#include "dwarf_priv.h"
#include "symboliser.h"

struct pgk_dw_file *pgk_symboliser_file(struct pgk_symboliser *sym);
/* The unit to look for functions in: the unit itself or its split one. Thread-safe; fails only when
 * out of memory. */
int pgk_symboliser_tree(struct pgk_symboliser *sym, struct pgk_dw_unit *u,
                        struct pgk_dw_unit **tree);

#endif
