/* A stretch: branches that are only counted, in front of a window. The copies of an engine that
 * counts jump to each other, so that they run about as fast as the program.
 *
 * A tick comes where time is spent. So the first branches of a stretch are timed, once they have
 * been brought into caches, and the window's length is set by how long they take, so that all
 * windows stand for the same time. The others, a random number of them, lead away from the place of
 * the tick. docs/design/recorder.md shows that each branch of the program is then seen equally
 * often. */
#ifndef PGBR_COUNTING_H
#define PGBR_COUNTING_H

#include "recorder_engine.h"

#pragma GCC visibility push(hidden)

enum {
    PGBR_COUNTING_MOST = 230,    /* bytes of what follows a block, without the jump to C */
    PGBR_CYCLES_OF_A_BRANCH = 8, /* at which a window has the length that was asked for */
    PGBR_SPAN_UNIT = 16,         /* parts of a branch */
};

struct pgbr_writer;
void pgbr_put_counting(struct pgbr_writer *w, struct pgbr_block *b);

/* Before the first branch, which comes after this place: a span is timed, unless that of others is
 * to do, and then so many other branches follow. */
void pgbr_begin_stretch(struct pgbr_engine *x, u64 pc, u64 others, bool timed);
/* At the end of a block whose copy does not know where it goes on. */
u64 pgbr_count_on(struct pgbr_engine *x, struct pgbr_block *b);
/* The length of a window at the end of a whole stretch, which may be none, and how long so many
 * branches take in the program. */
u64 pgbr_length_after(const struct pgbr_engine *x, u64 branches, u64 random);
u64 pgbr_native_cycles(const struct pgbr_engine *x, u64 branches);
/* What a stretch has taken beyond the program's own time, so far. */
u64 pgbr_added_cycles(const struct pgbr_engine *x);

/* recorder_dispatch.c */
/* The target of a block's branch, which is made; *taken: not to the next instruction by itself. */
u64 pgbr_target_of(struct pgbr_engine *x, const struct pgbr_block *b, bool *taken);
/* Why what comes next may only run in its own place, or PGK_BRANCH_COUNTERS. */
enum pgk_branch_counter pgbr_why_not_on(struct pgbr_engine *x);
/* The copy of what comes next, unless that may only run in its own place. */
u64 pgbr_go_on(struct pgbr_engine *x);
/* What cannot be copied ends the window, unless it is a call of the kernel that may be made here.
 */
void pgbr_make_call(struct pgbr_engine *x, const struct pgbr_block *b);

#pragma GCC visibility pop
#endif
