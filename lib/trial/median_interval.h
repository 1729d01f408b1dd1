/* An interval that surely has the median, however often it is looked at. */
#ifndef PGK_MEDIAN_INTERVAL_H
#define PGK_MEDIAN_INTERVAL_H

#include <stddef.h>

/* For n sorted values: so many at each end are beyond the interval, with chance `error` of a
 * mistake at any n. `known` is the answer for a smaller n, or 0. If nothing is sure yet, SIZE_MAX;
 * else the interval is from v[answer] to v[n - 1 - answer]. */
size_t pgk_median_beyond(size_t n, double error, size_t known);

#endif
