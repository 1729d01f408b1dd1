/* What both views of a match of functions share. */
#ifndef PGK_FUNCTION_MATCH_VIEW_H
#define PGK_FUNCTION_MATCH_VIEW_H

#include "match_view.h"

static inline struct pgk_function_totals
pgk_function_totals_of(const struct pgk_function_match *m, enum pgk_match_level level)
{
    struct pgk_function_totals t = {.struct_size = sizeof t};
    pgk_function_totals(m, level, &t);
    return t;
}

/* How many of the changes are shown. */
static inline size_t pgk_functions_shown(const struct pgk_function_match *m,
                                         const struct pgk_match_print_opts *opts)
{
    size_t n = pgk_function_changes(m);
    return opts->top && opts->top < n ? opts->top : n;
}

void pgk_function_match_json(const struct pgk_function_match *match,
                             const struct pgk_match_print_opts *opts, FILE *out);

#endif
