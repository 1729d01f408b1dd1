/* What both views of a match share. */
#ifndef PGK_MATCH_VIEW_H
#define PGK_MATCH_VIEW_H

#include "fail.h"
#include "pgokit/match.h"

#include <stdio.h>

/* Per cent of the whole; 0 of nothing. */
static inline double pgk_match_share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* How many of the calls that changed are shown. */
static inline size_t pgk_match_shown(const struct pgk_match *m,
                                     const struct pgk_match_print_opts *opts)
{
    size_t n = pgk_match_changes(m);
    return opts->top && opts->top < n ? opts->top : n;
}

void pgk_match_print_json(const struct pgk_match *match, const struct pgk_match_print_opts *opts,
                          FILE *out);

#endif
