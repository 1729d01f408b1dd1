/* Patterns that select names: POSIX extended regular expressions, found anywhere in the name. */
#ifndef PGK_PATTERN_H
#define PGK_PATTERN_H

#include "fail.h"

#include <regex.h>
#include <stdbool.h>

struct pgk_pattern {
    bool given; /* false: no name matches */
    regex_t regex;
};

/* `text` may be NULL: no pattern is given. PGK_E_ARG if it is not a valid regular expression. */
int pgk_pattern_compile(struct pgk_pattern *p, const char *text, struct pgk_err *err);
bool pgk_pattern_matches(const struct pgk_pattern *p, const char *name);
/* Accepts a zeroed struct; zeroes it. */
void pgk_pattern_free(struct pgk_pattern *p);

#endif
