/* How sure the figures of sampled profiles are. docs/design/intervals.md */
#ifndef PGK_ESTIMATE_H
#define PGK_ESTIMATE_H

#include "mib.h"

/* The interval of 95 % of a sum that is estimated from samples of different weights. `unseen` is
 * what one more sample would add, 0 if that is not known. What no sample has shown, an estimate of
 * 0, is from 0 to some such samples. */
struct pgk_heap_estimate pgk_interval(double estimate, double variance, double unseen);
/* Of a share of what samples were drawn from, if the whole stands on `n` of them. */
struct pgk_heap_estimate pgk_interval_of_share(double share, double n);

/* Figures of the block are estimates. */
static inline bool pgk_mib_is_sampled(const struct pgk_mib *m)
{
    return m->known >> PGK_MIB_SampleCount & 1;
}
/* Windows saw accesses of the process, if not of this context: then no hits say something. */
bool pgk_mib_has_windows(const struct pgk_mib *m);
/* As pgk_heap_estimate. */
bool pgk_mib_estimate(const struct pgk_mib *m, enum pgk_mib_id figure,
                      struct pgk_heap_estimate *estimate);
/* So many samples of equal weights would be as sure of the number of objects. */
double pgk_mib_samples(const struct pgk_mib *m);

/* What samples say of a rule. */
enum pgk_verdict { PGK_VERDICT_NO, PGK_VERDICT_YES, PGK_VERDICT_UNDECIDED };

/* From `low` on. */
static inline enum pgk_verdict pgk_verdict_reaches(struct pgk_heap_estimate e, double low)
{
    return e.low >= low ? PGK_VERDICT_YES : e.high < low ? PGK_VERDICT_NO : PGK_VERDICT_UNDECIDED;
}

static inline enum pgk_verdict pgk_verdict_not(enum pgk_verdict v)
{
    return v == PGK_VERDICT_UNDECIDED ? v : v == PGK_VERDICT_YES ? PGK_VERDICT_NO : PGK_VERDICT_YES;
}

static inline enum pgk_verdict pgk_verdict_both(enum pgk_verdict a, enum pgk_verdict b)
{
    if (a == PGK_VERDICT_NO || b == PGK_VERDICT_NO)
        return PGK_VERDICT_NO;
    return a == PGK_VERDICT_YES ? b : a;
}

/* The mean lifetime in ms, and the density as LLVM has it. */
struct pgk_heap_estimate pgk_mib_estimate_life(const struct pgk_mib *m);
struct pgk_heap_estimate pgk_mib_estimate_density(const struct pgk_mib *m);
/* Is the figure, of which `some` is a part, `some` by half or more, as far as objects tell? */
enum pgk_verdict pgk_mib_most_objects(const struct pgk_mib *m, uint64_t some);
/* Are `some` of the objects at least `least`? */
enum pgk_verdict pgk_mib_at_least(const struct pgk_mib *m, uint64_t some, uint64_t least);
/* Bytes that are a part of all, as of those alive at the peak. */
struct pgk_heap_estimate pgk_mib_estimate_part(const struct pgk_mib *m, uint64_t bytes);

/* The field for files that do not hold samples, where compilers would take an estimate for sure:
 * what is not sure to be cold or hot is neither there, within its interval. */
uint64_t pgk_mib_llvm_value(const struct pgk_mib *m, enum pgk_mib_id id);
/* The fields that are known there: without those of accesses if no hit was seen and there may be
 * accesses, as 0 would mean that there are none. */
uint64_t pgk_mib_known_without_samples(const struct pgk_mib *m);
/* It has another value there. */
bool pgk_mib_is_levelled(const struct pgk_mib *m);

/* What one visit of a window to a drawn object stands for, in accesses to that object, by the
 * contexts of one process; 0: there were none. For pgk_heap_origin. */
struct pgk_visits {
    double accesses, weighted;
};
void pgk_visits_add(struct pgk_visits *visits, const struct pgk_mib *m);
uint64_t pgk_visits_mean(const struct pgk_visits *visits);

#endif
