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
/* As pgk_heap_estimate. */
bool pgk_mib_estimate(const struct pgk_mib *m, enum pgk_mib_id figure,
                      struct pgk_heap_estimate *estimate);
/* So many samples of equal weights would be as sure of the number of objects. */
double pgk_mib_samples(const struct pgk_mib *m);

/* What samples say of a rule. */
enum pgk_verdict { PGK_VERDICT_NO, PGK_VERDICT_YES, PGK_VERDICT_UNDECIDED };

/* The mean lifetime in ms, and the density as LLVM has it. */
struct pgk_heap_estimate pgk_mib_estimate_life(const struct pgk_mib *m);
struct pgk_heap_estimate pgk_mib_estimate_density(const struct pgk_mib *m);
/* Is the figure, of which `some` is a part, `some` by half or more, as far as objects tell? */
enum pgk_verdict pgk_mib_most_objects(const struct pgk_mib *m, uint64_t some);
/* Are `some` of the objects at least `least`? */
enum pgk_verdict pgk_mib_at_least(const struct pgk_mib *m, uint64_t some, uint64_t least);

/* What one visit of a window to a drawn object stands for, in accesses to that object, by the
 * contexts of one process; 0: there were none. For pgk_heap_origin. */
struct pgk_visits {
    double accesses, weighted;
};
void pgk_visits_add(struct pgk_visits *visits, const struct pgk_mib *m);
uint64_t pgk_visits_mean(const struct pgk_visits *visits);

#endif
