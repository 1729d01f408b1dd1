/* A confidence sequence for the median, whatever the distribution.
 *
 * Of values whose median is m, each is below m with chance 1/2, whatever those before it were. A
 * gambler who stakes on "k of n are below" at these odds has, with the stakes of a symmetric beta
 * distribution with parameter a, after n values
 *
 *   M(n, k) = 2^n B(a + k, a + n - k) / B(a, a)
 *
 * times what he began with, and the chance that he ever has 1/error times as much is at most
 * `error` (Ville 1939). So all m at which he would have are excluded, now and later. The mixture is
 * Robbins' (1970); intervals for quantiles that hold at any time are in S. R. Howard and A. Ramdas,
 * "Sequential estimation of quantiles with applications to A/B testing and best-arm
 * identification", Bernoulli 28 (2022).
 *
 * With a = 1/4 six values on one side suffice for an error of 0.05, and fewer never can: two
 * builds that are alike are that far apart with chance 2 / 2^6 if each turn's order is by
 * chance. */
#include "median_interval.h"

#include <math.h>
#include <stdint.h>

#define STAKES 0.25

static double log_beta(double x, double y)
{
    return lgamma(x) + lgamma(y) - lgamma(x + y);
}

/* The logarithm of M(n, k). */
static double log_capital(size_t n, size_t k)
{
    return (double)n * M_LN2 + log_beta(STAKES + (double)k, STAKES + (double)(n - k)) -
           log_beta(STAKES, STAKES);
}

/* What is excluded stays so: for k below n / 2, M(n + 1, k) is larger than M(n, k). */
size_t pgk_median_beyond(size_t n, double error, size_t known)
{
    const double enough = -log(error);
    if (known == SIZE_MAX)
        known = 0;
    if (!n || log_capital(n, known) < enough)
        return SIZE_MAX;
    while (2 * (known + 1) < n && log_capital(n, known + 1) >= enough)
        known++;
    return known;
}
