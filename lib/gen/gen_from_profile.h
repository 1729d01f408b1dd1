/* Sample profiles as inputs of a generator: what was generated before is trimmed, merged and
 * pre-inlined again. */
#ifndef PGK_GEN_FROM_PROFILE_H
#define PGK_GEN_FROM_PROFILE_H

#include "format_row.h"
#include "gen_priv.h"

/* The first of these formats that is of sample profiles and that the bytes begin as; NULL: there is
 * none. */
const struct pgk_format_row *pgk_gen_profile_format(pgk_format_rows row_at, const uint8_t *bytes,
                                                    size_t size);
/* Adds such a file to the profile of the generator. */
int pgk_gen_add_profile(struct pgk_gen *gen, const struct pgk_format_row *row,
                        const struct pgk_filemap *map, const char *path, struct pgk_err *err);
/* Finds the functions of the profile in the binaries, as if their code had been sampled.
 * PGK_E_MISMATCH if there are none. */
int pgk_gen_find_profiled(struct pgk_gen *gen, struct pgk_err *err);

#endif
