/* What blocks composite profiles consist of. */
#ifndef PGK_EXT_BLOCKS_H
#define PGK_EXT_BLOCKS_H

#include "ext_sections.h"

struct pgk_ext_block {
    uint64_t type, number, bytes; /* blocks of a type, and what they hold together */
};
enum { PGK_EXT_BLOCK_TYPES = 16 };
struct pgk_ext_blocks {
    struct pgk_ext_block v[PGK_EXT_BLOCK_TYPES]; /* in order of their first ones */
    size_t n;
    uint64_t others; /* blocks of further types */
};

/* Counts the blocks of all composite profiles; names are not looked at. */
PGK_MUST_USE int pgk_ext_count_blocks(struct pgk_ext_sections *s, struct pgk_ext_blocks *blocks,
                                      struct pgk_err *err);

#endif
