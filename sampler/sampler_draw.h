/* Distances between samples, and what a sample stands for. */
#ifndef PGSM_DRAW_H
#define PGSM_DRAW_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

/* An object counts as its bytes and as many more, so that small ones and empty ones are drawn,
 * too. */
enum { PGSM_EACH = 16 };

struct pgsm_random {
    u64 state; /* not 0 */
};
void pgsm_random_seed(struct pgsm_random *r, u64 seed);
/* Bytes to the next sample: exponentially distributed with this mean, so that where the samples lie
 * does not depend on what came before them. At least 1. */
u64 pgsm_draw(struct pgsm_random *r, double mean);
/* The probability that an object of so many bytes is drawn. */
double pgsm_probability(u64 bytes, double mean);
double pgsm_log(double x); /* natural; x > 0 */

#pragma GCC visibility pop
#endif
