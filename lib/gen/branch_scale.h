/* What a count of the branch recorder stands for. */
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
 * and what was multiplied allows for it. To be called once, when all inputs have been read. */
void pgk_gen_limit_scaled(struct pgk_gen *gen);

/* The number that all counts are multiples of: what one sample adds, at least, if counts come of
 * the branch recorder; 1 if they do not. */
uint64_t pgk_gen_unit(struct pgk_gen *gen);

#endif
