/* Counts of the branch recorder into those of the binaries. */
#ifndef PGK_GEN_BRANCHES_H
#define PGK_GEN_BRANCHES_H

#include "filemap.h"
#include "gen_priv.h"

int pgk_gen_add_branches(struct pgk_gen *gen, const struct pgk_filemap *map, const char *path,
                         struct pgk_err *err);

#endif
