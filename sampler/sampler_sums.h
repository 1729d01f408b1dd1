/* What is known of a call stack: sums over its objects, each of which stands for several. */
#ifndef PGSM_SUMS_H
#define PGSM_SUMS_H

#include "guest_depot.h"
#include "runtime_raw.h"
#include "sampler_range.h"

#pragma GCC visibility push(hidden)

struct pgsm_sum {
    /* Of objects that have ended, times what each stands for. */
    double objects, bytes, accesses, lifetime, density, lifetime_density;
    double migrated, overlaps, same_alloc, same_dealloc;
    /* Of all objects. */
    double count_variance, size_variance, access_variance;
    double live_objects, live_bytes, peak_objects, peak_bytes;
    u64 samples, hits;
    /* Of those that have ended: the least and most of one, and the last one. */
    struct pgrt_mib mib;
    u32 ended, snapshot; /* number of the one that peak_* are of */
};

/* Of the process, at its peak so far. */
struct pgsm_peak {
    u32 snapshot, ms;
    double bytes, objects;
};
extern struct pgsm_peak pgsm_peak;

/* All with the lock. NULL: there are no objects, or no memory. */
struct pgsm_sum *pgsm_sum_of(u32 context);
struct pgsm_sum *pgsm_sum_have(u32 context);
void pgsm_sum_begin(struct pgsm_sum *s, const struct pgsm_note *note);
/* As the object is now; it is no more alive. */
void pgsm_sum_end(struct pgsm_sum *s, const struct pgsm_note *note, u32 now_ms, u32 cpu);
/* Adds an object that lives on to a copy of the sum. */
void pgsm_sum_add(struct pgsm_sum *s, const struct pgsm_note *note, u32 now_ms, u32 cpu);
void pgsm_sum_live(const struct pgsm_sum *s, double *bytes, double *objects, bool at_peak);
void pgsm_sums_look(u32 now_ms); /* whether this is a new peak */
void pgsm_sums_clear(void);

#pragma GCC visibility pop
#endif
