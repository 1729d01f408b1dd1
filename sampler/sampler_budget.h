/* The cost of sampling, and the distance between samples that follows from it. */
#ifndef PGSM_BUDGET_H
#define PGSM_BUDGET_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

void pgsm_budget_begin(void);
void pgsm_budget_after_fork(void);
double pgsm_mean(void);      /* bytes between samples, as the budget allows them now */
double pgsm_most_mean(void); /* the most that they were: what an unseen object may stand for */
void pgsm_spent(u64 ticks); /* by the calling thread since then; may change the mean */
u64 pgsm_cost_ns(void);     /* since the start, windows included */

#pragma GCC visibility pop
#endif
