/* Why one build of a program is faster than another: where both spent their time, function by
 * function, and what the compiler made of the functions. */
#ifndef PGOKIT_GAIN_H
#define PGOKIT_GAIN_H

#include "pgokit/err.h"
#include "pgokit/trial.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What was found out about one build of a program. Any number of threads may read it. */
struct pgk_built;

/* The files of a build, and what was recorded of it. The texts are the caller's. */
struct pgk_built_opts {
    size_t struct_size;            /* sizeof(struct pgk_built_opts) */
    const char *const *binaries;   /* paths of programs and libraries, in the same order for builds
                                    * that are compared */
    size_t n_binaries;             /* number of them, at least one */
    const char *const *recordings; /* paths of recordings of perf or of the branch recorder */
    size_t n_recordings;           /* number of them, at least one */
    unsigned threads;              /* 0: one per processor */
};
/* Reads the files and their recordings, none of which has to stay. Recordings of other builds are
 * left out. Owned by the caller. PGK_E_EMPTY if none of the binaries was recorded, PGK_E_NODEBUG
 * without symbols, PGK_E_ARG without files, PGK_E_NOMEM, and what the readers of these files
 * return. */
int pgk_built_read(struct pgk_built **build, const struct pgk_built_opts *opts,
                   struct pgk_err *err);
/* Nulls the pointer; accepts NULL in it. */
void pgk_built_close(struct pgk_built **build);

/* What goes on the page of a trial. */
struct pgk_trial_page_opts {
    size_t struct_size;   /* sizeof(struct pgk_trial_page_opts) */
    const char *title;    /* NULL: the command that built the program */
    size_t max_functions; /* shown one by one; 0: 3000. The rest is summed up */
};
/* Writes a page in HTML that needs no other file to `path` ("-": standard output), whole or not at
 * all: the rows of the trial, and where the plain build and the one that was kept spent their time.
 * `before` is NULL if nothing is known about the plain build, `after` if nothing was kept or
 * nothing is known about it; `opts` may be NULL. Deterministic. PGK_E_ARG without a row, PGK_E_IO,
 * PGK_E_NOMEM. */
int pgk_trial_write_page(const struct pgk_trial *trial, const struct pgk_built *before,
                         const struct pgk_built *after, const struct pgk_trial_page_opts *opts,
                         const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
