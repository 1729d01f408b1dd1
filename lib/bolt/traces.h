/* Branch stacks of one binary: branches, each with how far control then ran without taking another.
 * A repeated trace is kept once. */
#ifndef PGK_TRACES_H
#define PGK_TRACES_H

#include "index.h"
#include "vec.h"

#include <stdbool.h>
#include <stdint.h>

#define PGK_TRACE_ELSEWHERE 0            /* an address that is not in the binary */
#define PGK_TRACE_NO_BRANCH UINT64_MAX   /* in `from`: only the code that ran is known */

struct pgk_trace {
    uint64_t from, to; /* of the branch */
    uint64_t end;      /* where the next branch was taken; PGK_TRACE_ELSEWHERE: not known */
    uint64_t count, mispredicted;
};

struct pgk_traces {
    PGK_VEC(struct pgk_trace) list;
    struct pgk_index index;
};

/* Adds its counts to an equal trace; sums stop at 2^64 - 1. False when out of memory. */
bool pgk_traces_add(struct pgk_traces *traces, const struct pgk_trace *trace);
/* Ascending by `from`, `to` and `end`; nothing may be added afterwards. */
void pgk_traces_sort(struct pgk_traces *traces);
void pgk_traces_free(struct pgk_traces *traces);

#endif
