/* Whether one build of a program is faster than another.
 *
 * Both run in turns, in an order that the caller draws by chance for each turn, until the
 * difference is sure. A trial has rows: a build with something that may make it faster, compared
 * with the best before it; the first is compared with the plain build. It decides by how often the
 * one or the other was the faster, whatever the spread of the times, and its verdicts hold however
 * often it was asked: the interval of each row is a confidence sequence for the median. */
#ifndef PGOKIT_TRIAL_H
#define PGOKIT_TRIAL_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_trial;

/* How sure a verdict is to be, and what the reports say besides. */
struct pgk_trial_opts {
    size_t struct_size;   /* sizeof(struct pgk_trial_opts) */
    double error;         /* chance of a wrong verdict in a row, of however many turns; 0: 0.05 */
    double matters;       /* a gain or loss that is surely less than so many per cent is no
                           * difference; 0: 1 */
    uint64_t bytes;       /* of code in the plain build; 0: not known */
    const char *build;    /* these are copied, for the reports; NULL: not known. The command that
                           * built the program */
    const char *run;      /* the one that was recorded */
    const char *measured; /* the one that is measured */
    const char *compiler; /* its name */
    const char *profile;  /* the file of the profile */
};

/* `opts` may be NULL. PGK_E_ARG for a chance or percentage that cannot be, PGK_E_NOMEM. */
int pgk_trial_new(struct pgk_trial **trial, const struct pgk_trial_opts *opts, struct pgk_err *err);
/* Nulls the pointer; accepts NULL in it. */
void pgk_trial_close(struct pgk_trial **trial);

/* Begins a row for a build with so many bytes of code; 0: not known. PGK_E_NOMEM. */
int pgk_trial_begin(struct pgk_trial *trial, const char *name, uint64_t bytes, struct pgk_err *err);

/* One run of both builds. */
struct pgk_trial_turn {
    size_t struct_size;       /* sizeof(struct pgk_trial_turn) */
    double seconds[2];        /* of processor time: of the build before, and of the row's */
    uint64_t instructions[2]; /* that they executed; 0: not known */
};
/* Adds a turn to the last row. PGK_E_ARG for times that are not positive numbers,
 * and without a row; PGK_E_NOMEM. */
int pgk_trial_add(struct pgk_trial *trial, const struct pgk_trial_turn *turn, struct pgk_err *err);

/* Ends the row: whether its build is the best from now on, why it is not, and what to do, which are
 * copied; NULL: nothing is to be said. PGK_E_ARG without a row, PGK_E_NOMEM. */
int pgk_trial_end(struct pgk_trial *trial, bool kept, const char *why, const char *advice,
                  struct pgk_err *err);

/* What the turns of a row say. */
enum pgk_trial_verdict {
    PGK_TRIAL_OPEN,   /* not sure yet */
    PGK_TRIAL_FASTER, /* surely */
    PGK_TRIAL_SAME,   /* the difference is surely less than what matters */
    PGK_TRIAL_SLOWER, /* surely */
};

/* What a row has found. */
struct pgk_trial_result {
    size_t struct_size;             /* sizeof(struct pgk_trial_result), set by the caller */
    const char *name;               /* this and other texts live until the trial changes */
    enum pgk_trial_verdict verdict; /* so far */
    bool kept;                      /* false until its end */
    size_t turns;                   /* so many were added */
    double gain;       /* median: so many per cent more runs in the same time; 0 without turns */
    double low, high;  /* it surely is between these; infinite for want of turns */
    double seconds[2]; /* medians: of the build before, and of the row's */
    uint64_t instructions[2]; /* medians; 0: not known in every turn */
    uint64_t bytes[2];        /* of code, of both; 0: not known */
    const char *why, *advice; /* NULL: nothing was said */
};
/* `row` is below the number of rows. */
void pgk_trial_result(const struct pgk_trial *trial, size_t row, struct pgk_trial_result *result);

/* For people: what a row has found. Errors are those of the stream. */
void pgk_trial_print_row(const struct pgk_trial *trial, size_t row, FILE *out);
/* The whole as a table in Markdown. Errors are those of the stream. */
void pgk_trial_print_markdown(const struct pgk_trial *trial, FILE *out);
/* As JSON, with all turns. Errors are those of the stream. */
void pgk_trial_print_json(const struct pgk_trial *trial, FILE *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
