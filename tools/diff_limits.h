/* diff --fail-on: limits that a comparison must not pass. */
#ifndef DIFF_LIMITS_H
#define DIFF_LIMITS_H

#include "cli.h"

#include <stdio.h>

struct diff_limit {
    const char *name;    /* "growth" */
    const char *meaning; /* "bytes allocated grew", before a percentage */
    double given;        /* in per cent; only if it was given */
    bool is_given;
    const char *unknown; /* the profile that does not hold it; NULL: each does */
    const char *source;  /* which profiles do, for the error */
};

/* NAME=N%; any other text is a usage error, which lists the n names there are. */
void diff_limit_parse(struct diff_limit *limits, int n, const char *text);
/* For completion: "growth=0%", of any growth, and so on; NULL: there are no more. */
const char *diff_limit_word(const struct diff_limit *limits, int n, size_t i);
/* found[i] belongs to limits[i]. Says which limits are passed, and which cannot be checked because
 * a profile does not know: an error. The exit status. */
int diff_limits_check(const struct diff_limit *limits, int n, const double *found);
/* The limits that were given, what was found, and whether they are reached, in Markdown. */
void diff_limits_print_markdown(const struct diff_limit *limits, int n, const double *found,
                                FILE *out);

#endif
