/* The allocated and live bytes of each context, at one moment. */
#ifndef PGRT_TOTALS_H
#define PGRT_TOTALS_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

struct pgrt_total {
    u64 made_objects, made_bytes;   /* since the last dump */
    u64 alive_objects, alive_bytes; /* also of earlier ones */
};
struct pgrt_totals {
    struct pgrt_total *of; /* by number of the context */
    u32 n;
    struct pgrt_total all;
};

/* Stops the world for as long as it takes to add up; false if it cannot be found out now, or
 * without memory. */
bool pgrt_totals_take(struct pgrt_totals *t);
void pgrt_totals_free(struct pgrt_totals *t);

#pragma GCC visibility pop
#endif
