/* Sampled ranges of code, which overlap, as pieces that do not. */
#ifndef PGK_PIECES_H
#define PGK_PIECES_H

#include "counters.h"
#include "functions.h"

struct pgk_piece {
    uint64_t low, high, count; /* high: the last address of it */
};
typedef PGK_VEC(struct pgk_piece) pgk_piece_vec;

/* Ascending pieces of `ranges`. With `functions`, all code of a function that a range starts in
 * counts, if only zero; else what lies between ranges is no piece. False when out of memory. */
bool pgk_pieces_make(pgk_piece_vec *pieces, const struct pgk_pairs *ranges,
                     const struct pgk_functions *functions);

#endif
