/* The heap sampler: included by all of its files. docs/design/sampled-heap.md has the picture.
 *
 * It stands in front of the allocator of a program that was not built for it, and gives a few
 * objects, drawn at random, memory of its own. The rules of docs/design/runtime.md hold: no memory
 * of the C library's heap, no stdio, no locale. Names begin with pgsm_; functions that programs
 * call are marked PGSM_EXPORT where they are defined and listed in exports.txt.
 *
 *   sampler_malloc.c, sampler_new.c     what programs call: the way of all objects
 *   sampler_next.c                      the functions of the program's own allocator
 *   sampler_slow.c                      what is left to do where the count is down
 *   sampler_draw.c                      distances between samples, and what one stands for
 *   sampler_object.c, sampler_probe.h   begin and end of a sampled object
 *   sampler_range.c, sampler_pages.c    memory of sampled objects
 *   sampler_sums.c                      what is known of a call stack
 *   sampler_take.c, sampler_window.c    loads and stores that the recorder's windows see
 *   sampler_budget.c                    the cost, and the distance that follows from it
 *   sampler_dump.c, sampler_file.c      the profile
 *   sampler_thread.c, sampler_start.c   threads; start, fork, exec and end */
#ifndef PGSM_H
#define PGSM_H

#include "guest.h"
#include "guest_text.h"

#pragma GCC visibility push(hidden)

#define PGSM_EXPORT __attribute__((visibility("default"), used))
#define PGSM_WHO    "pgokit heap sampler"

/* "pgokit heap sampler: A: B" on standard error, where B may be NULL. */
static inline void pgsm_say(const char *a, const char *b)
{
    pgg_say(PGSM_WHO, a, b);
}

#pragma GCC visibility pop
#endif
