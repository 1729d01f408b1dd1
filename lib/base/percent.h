/* Shares and growth in per cent. */
#ifndef PGK_PERCENT_H
#define PGK_PERCENT_H

#include <stdint.h>

/* Compared with nothing, something is an infinite share: above any limit that people set. */
#define PGK_PERCENT_ENDLESS 1e9

static inline double pgk_percent(double part, uint64_t whole)
{
    return whole ? 100 * part / (double)whole : part > 0 ? PGK_PERCENT_ENDLESS : 0;
}

/* By how much `now` is more than `before`; less than 0 if it is less. */
static inline double pgk_growth_percent(uint64_t before, uint64_t now)
{
    return pgk_percent((double)now, before) - (before ? 100 : 0);
}

#endif
