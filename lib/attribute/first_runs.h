/* When code was first seen to run, by address. Memory grows with distinct addresses. */
#ifndef PGK_FIRST_RUNS_H
#define PGK_FIRST_RUNS_H

#include "functions.h"
#include "index.h"
#include "sample_model.h"
#include "source_frames.h"
#include "vec.h"

#include <stdint.h>

struct pgk_first_run {
    uint64_t addr, time;
};

struct pgk_first_runs {
    PGK_VEC(struct pgk_first_run) list;
    struct pgk_index index;
};

/* If an address has several times, the earliest counts. False when out of memory. */
bool pgk_first_runs_see(struct pgk_first_runs *runs, uint64_t addr, uint64_t time);
/* Moves the times of one recording to those of all. Recordings have different clocks, so times
 * count from `start`, the recording's earliest, which becomes 1. */
bool pgk_first_runs_move(struct pgk_first_runs *into, struct pgk_first_runs *from, uint64_t start);
/* Adds to the profile when functions first ran. `names` are those of the profile. */
bool pgk_first_runs_add_to(const struct pgk_first_runs *runs, const struct pgk_functions *functions,
                           struct pgk_frame_names *names, struct pgk_sample *profile);
void pgk_first_runs_free(struct pgk_first_runs *runs);

#endif
