/* Counters of gcc: .gcda files, one for each object file of a program built with
 * -fprofile-generate or --coverage, and the names of its functions from .gcno files.
 *
 * Positions are 0 .. count-1, in the order of the file. What accessors return belongs to the
 * profile. A profile may be read by any number of threads while none changes it. */
#ifndef PGOKIT_GCOV_H
#define PGOKIT_GCOV_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_gcov;

/* An empty profile, owned by the caller. */
int pgk_gcov_new(struct pgk_gcov **profile, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_gcov_close(struct pgk_gcov **profile);
/* pgk_gcov_read and its like are in pgokit/format.h. */

/* Kinds of counters, by the numbers that files have for them. */
enum pgk_gcov_kind {
    PGK_GCOV_ARCS,         /* how often branches were taken */
    PGK_GCOV_INTERVAL,     /* values in an interval, and outside */
    PGK_GCOV_POWER,        /* values that were powers of two, and others */
    PGK_GCOV_TOP,          /* most frequent values: lists */
    PGK_GCOV_CALLS,        /* most frequent targets of indirect calls: lists */
    PGK_GCOV_AVERAGE,      /* pairs of sum and number */
    PGK_GCOV_OR,           /* bits that were set in any value */
    PGK_GCOV_FIRST_CALL,   /* when the function was first called; 0: never */
    PGK_GCOV_CONDITIONS,   /* pairs per condition, a bit per term: seen true, seen false; gcc 14 */
    PGK_GCOV_PATHS,        /* a bit per path through the function: it was taken; gcc 15 */
    PGK_GCOV_KINDS, /* number of them */
};
const char *pgk_gcov_kind_name(enum pgk_gcov_kind kind); /* "arcs", ... */

/* The counters of a function. */
struct pgk_gcov_function {
    size_t struct_size; /* sizeof(struct pgk_gcov_function), set by the caller */
    uint32_t ident; /* what gcc knows the function by */
    uint32_t lineno_checksum, cfg_checksum; /* of its first line, and of its structure */
    const char *name, *source;   /* of a .gcno file; "" unknown */
    uint32_t line;               /* 0 unknown */
    const int64_t *counts[PGK_GCOV_KINDS]; /* not of lists */
    size_t n_counts[PGK_GCOV_KINDS];       /* of lists: their number */
};
/* Number of functions. */
size_t pgk_gcov_functions(const struct pgk_gcov *profile);
/* Fills in function 0 <= i < pgk_gcov_functions(). */
void pgk_gcov_function(const struct pgk_gcov *profile, size_t i,
                       struct pgk_gcov_function *function);

/* A value, and how often it was seen. */
struct pgk_gcov_value {
    int64_t value, count; /* the value; how often it was seen */
};
/* A list of a function: fills at most `max` values, most frequent first; returns how many there
 * are. `total` is how often the place was reached. */
size_t pgk_gcov_list(const struct pgk_gcov *profile, size_t i, enum pgk_gcov_kind kind,
                     size_t list, struct pgk_gcov_value *values, size_t max, uint64_t *total);

uint32_t pgk_gcov_runs(const struct pgk_gcov *profile); /* of the program */
bool pgk_gcov_has_counts(const struct pgk_gcov *profile); /* a .gcda file was read */
/* The release of gcc whose files these are; 0 and 0 for an empty profile. */
void pgk_gcov_release(const struct pgk_gcov *profile, unsigned *major, unsigned *minor);
/* Makes the profile one of another release, given as "gcc16.2": a compiler takes files of exactly
 * its own release. The program and its graphs of control must be the same to both compilers, which
 * they check by function. "gcc16" is good for a profile of a release of gcc 16 and changes nothing.
 * `*dropped` is the number of counters of kinds that the release does not have, which are left
 * out. PGK_E_ARG for what is no such release. */
int pgk_gcov_set_release(struct pgk_gcov *profile, const char *release, size_t *dropped,
                         struct pgk_err *err);

/* The largest count of an arc; 0 if there is none. */
int64_t pgk_gcov_largest(const struct pgk_gcov *profile);
/* Multiplies all that counts something by times/by, where by is not 0: arcs, sums, and how often
 * values were seen. Fractions are cut off or, if `nearest`, rounded. Masks of bits and the order of
 * first calls stay. */
void pgk_gcov_scale(struct pgk_gcov *profile, uint64_t times, uint64_t by, bool nearest);

/* Writes a .gcda file to `path` ("-": standard output), whole or not at all. PGK_E_EMPTY without
 * counts. */
int pgk_gcov_write(const struct pgk_gcov *profile, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
