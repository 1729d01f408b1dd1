/* Scales counts of the branch recorder. */
#ifndef PGK_BRANCH_SCALE_H
#define PGK_BRANCH_SCALE_H

#include "branch_recording.h"
#include "gen_priv.h"

/* Counts of a recording are multiplied to what a thread is taken to run in a second of its time,
 * of which windows saw a part. A constant of the windows' number and length, so that recordings of
 * another number of windows, and of other machines, add up by the time that they stand for. */
enum {
    PGK_BRANCHES_A_SECOND = 50000000, /* taken ones; processors run some times as many */
};
uint64_t pgk_branch_scale(const struct pgk_branch_header *head);

/* Divides all counts if they add up to more than compilers' 32 bits for a branch or a call hold,
 * and what was multiplied allows for it, and works out the units of `gen`. To be called once, when
 * all inputs have been read. */
void pgk_gen_limit_scaled(struct pgk_gen *gen);

/* Notes what the counts of an input were multiplied by; of several inputs the report has the least.
 */
void pgk_gen_note_scale(struct pgk_gen *gen, uint64_t scale);
/* Notes that so much was seen, and counted `scale` times. */
void pgk_gen_note_windows(struct pgk_windows *windows, double seen, uint64_t scale);
/* Reduces the counts since `before` to those that were seen. */
void pgk_gen_to_samples(uint64_t *counted, uint64_t before, double unit);
/* The sum of the counts of all ranges. */
double pgk_gen_range_sum(struct pgk_gen *gen);

#endif
