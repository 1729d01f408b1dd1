/* What a comparison knows of each function of the second profile. */
#ifndef PGK_SAMPLE_OVERLAP_H
#define PGK_SAMPLE_OVERLAP_H

#include "sample_model.h"

struct pgk_sample_pair {
    struct pgk_sample_change change;
    bool in_base, in_test;
    uint64_t base_only, test_only; /* samples at places that the other side has not */
    uint64_t max_count;            /* of a line; of test where it is there */
};
/* In the order of names. */
const struct pgk_sample_pair *pgk_sample_diff_pairs(const struct pgk_sample_diff *diff, size_t *n);

#endif
