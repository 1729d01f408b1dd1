/* Options of pgokit match for every kind of profile. */
#ifndef MATCH_OPTIONS_H
#define MATCH_OPTIONS_H

#include "cli.h"

enum { EXIT_LIMIT = 3 };

struct match_options {
    struct cli_common common;
    struct cli_list profiled;
    struct pgk_match_print_opts print;
    double min_percent; /* negative: not given */
    char *found;        /* one of `profiled` that was found; NULL: none */
    bool top_given;
    const char *used;   /* folder with records of compiles; NULL: a build is matched */
};

/* For all kinds, and for those that know their profiled build and records of compiles. */
extern const struct option_table match_option_table, match_profiled_options;

/* Exits on what is wrong. Freed by match_options_free. */
void match_options_parse(struct match_options *m, const struct option_group *groups, int argc,
                         char **argv);
void match_options_free(struct match_options *m);
/* Exits with a sentence where no -b was given, for profiles without build ids. */
void match_need_binary(const struct match_options *m);
/* The binaries of --profiled-binary; NULL without. */
int match_open_profiled(const struct match_options *m, struct pgk_binaries **set,
                        struct pgk_err *err);
/* The exit status: EXIT_LIMIT if less than --min-match wants was found. */
int match_check_limit(const struct match_options *m, double found_percent);

#endif
