/* Does a profile fit a build? Contexts of heap profiles are looked for among the calls of other
 * binaries than those they were recorded with, by ELF and DWARF alone: what a profile says of code
 * that was compiled otherwise, or has changed since. So are lines and probes of sample profiles,
 * and counters, by their functions.
 *
 *     struct pgk_match *match;
 *     if (!pgk_match_heap(&match, heap, new_binaries, NULL, &err))
 *         ... pgk_match_totals(match, PGK_MATCH_EXACT) ...
 *     pgk_match_close(&match); */
#ifndef PGOKIT_MATCH_H
#define PGOKIT_MATCH_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"
#include "pgokit/heap.h"
#include "pgokit/instr.h"
#include "pgokit/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a call of a context was found in the other build. A context is as its worst call is. */
enum pgk_match_level {
    PGK_MATCH_EXACT,     /* at the same line and column, inlined or not as it was */
    PGK_MATCH_INLINING,  /* at its place, but inlined where it was not, or not where it was */
    PGK_MATCH_LINE_ZERO, /* compiled, on one of both sides, without a line, as merged calls are */
    PGK_MATCH_MOVED,     /* at another line or column, found by the order of calls */
    PGK_MATCH_REROUTED,  /* through a function that is new, gone or renamed */
    PGK_MATCH_AMBIGUOUS, /* in several places, which nothing distinguishes */
    PGK_MATCH_FUNCTIONS, /* the functions are there, the call is not */
    PGK_MATCH_GONE,      /* a function is not there */
    PGK_MATCH_LEVELS,    /* number of them */
};
/* Levels up to this one say where a context is in the other build. */
#define PGK_MATCH_FOUND PGK_MATCH_REROUTED
/* "exact", "line 0", ... */
const char *pgk_match_level_name(enum pgk_match_level level);

struct pgk_match;

/* What else is known. */
struct pgk_match_opts {
    size_t struct_size; /* sizeof(struct pgk_match_opts) */
    struct pgk_binaries *profiled; /* the build that was profiled, all of whose calls then help to
                                      say which is which after lines have moved; NULL: the profile
                                      alone */
};
/* Looks for the contexts of a profile, whose frames are places in functions (pgk_heap_symbolise),
 * in the binaries of another build. Keeps `heap`, which must stay as it is until the match is
 * closed. `opts` may be NULL. PGK_E_NODEBUG if a binary has no debug information or no calls in
 * functions that have it, PGK_E_EMPTY if the profile has no contexts, PGK_E_ARG if its frames are
 * addresses, PGK_E_MISMATCH if no function of the profile but main is in the binaries. */
int pgk_match_heap(struct pgk_match **match, const struct pgk_heap *heap,
                   struct pgk_binaries *binaries, const struct pgk_match_opts *opts,
                   struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_match_close(struct pgk_match **match);

/* What contexts add up to. */
struct pgk_match_totals {
    size_t struct_size; /* sizeof(struct pgk_match_totals), set by the caller */
    size_t contexts;    /* number of them */
    uint64_t bytes;     /* TotalSize */
    uint64_t accesses;  /* TotalAccessCount */
};
/* Those of a level; of all contexts for PGK_MATCH_LEVELS. */
void pgk_match_totals(const struct pgk_match *match, enum pgk_match_level level,
                      struct pgk_match_totals *totals);
/* Bytes of contexts that were found, per cent of all; of contexts if no bytes are known. */
double pgk_match_percent(const struct pgk_match *match);

/* What becomes of contexts that were not found. */
enum pgk_match_lost {
    PGK_LOST_DROP,    /* they are left out */
    PGK_LOST_KEEP,    /* they have the stacks of the profile: for comparisons */
    PGK_LOST_SHORTEN, /* their inner calls stay, up to the first that was not found: for compilers,
                         which look from the allocation outwards and no farther than they must. If
                         these are less than two, an ambiguous call is taken to be where it most
                         likely is; those without two calls even so are left out */
};
/* Makes a heap profile of the contexts that were found, with their stacks in terms of the other
 * build; those that have one stack there are added up. The data access profile stays as it is; how
 * the heap was over time is left out. The caller closes it, before or after the match.
 * PGK_E_NOMEM. */
int pgk_match_rebase(struct pgk_heap **rebased, const struct pgk_match *match,
                     enum pgk_match_lost lost, struct pgk_err *err);
/* Sums over the contexts that PGK_LOST_SHORTEN shortens. */
void pgk_match_shortened(const struct pgk_match *match, struct pgk_match_totals *totals);
/* Of these, sums over those that keep an ambiguous call where it most likely is. */
void pgk_match_likeliest(const struct pgk_match *match, struct pgk_match_totals *totals);

/* A call that contexts go through and that is not in the other build as the profile has it. Texts
 * belong to the match; "" unknown. */
struct pgk_match_change {
    size_t struct_size; /* sizeof(struct pgk_match_change), set by the caller */
    enum pgk_match_level level;  /* not PGK_MATCH_EXACT */
    uint32_t line;               /* of the call in the profile; 0 unknown, or none */
    uint64_t contexts, bytes;    /* that go through it */
    uint64_t guid, callee_guid;  /* LLVM's ids of caller and callee in the profile */
    const char *caller;          /* linkage name */
    const char *callee;          /* linkage name; NULL: the call allocates */
    const char *file;            /* of the caller's declaration, in the profile or else the build */
    uint32_t line_offset, column; /* of the call in the profile */
    const char *now_file;        /* of the caller's declaration */
    const char *now_callee;      /* function that is called there; "" by its address */
    uint32_t now_line_offset, now_column; /* of the call in the build */
    uint32_t now_line;           /* 0: none */
    bool has_now;   /* the call is in the build; an ambiguous one is most likely there */
    bool line_zero; /* it has no line in the profile */
    bool inlined;   /* the callee was */
    bool renamed;   /* the callee is there by another name */
};
/* Number of such calls. */
size_t pgk_match_changes(const struct pgk_match *match);
/* The one at a position, by falling bytes and then contexts. */
void pgk_match_change(const struct pgk_match *match, size_t position,
                      struct pgk_match_change *change);

/* How a match is printed. */
struct pgk_match_print_opts {
    size_t struct_size;  /* sizeof(struct pgk_match_print_opts) */
    const char *title;   /* of the profile; or NULL */
    const char *against; /* of the other build; or NULL */
    size_t top;          /* calls that changed, shown; 0: all */
    bool json;           /* docs/formats/match-json.md; schema "pgokit-match-1" */
    bool markdown;       /* tables for comments on changes; else text for a terminal */
    bool colour;         /* ANSI colours of text */
    unsigned width;      /* columns of text that names are shortened to; 0: they are whole */
};
/* Prints shares by level, and the calls that changed most with both places. */
int pgk_match_print(const struct pgk_match *match, const struct pgk_match_print_opts *opts,
                    FILE *out, struct pgk_err *err);

/* ---- functions: sample profiles and counters ---- */

struct pgk_function_match;

/* Looks for the functions of a finished sample profile in the binaries of another build.
 *
 * By lines: every line and discriminator with samples, and the calls that code was inlined or
 * entered through, are looked for among the lines that the build has code of and among its calls.
 * In functions whose calls have moved, lines have moved as the calls around them did.
 * By probes: functions whose checksum is that of the build's probes are as they were. In others
 * call probes are paired as calls of lines are, and other probes move with those around them.
 *
 * The result does not need the profile or the binaries any more. `opts` may be NULL. PGK_E_EMPTY if
 * the profile has no samples or a profile by probes meets a build without, PGK_E_NODEBUG if a
 * profile by lines meets a binary without debug information, PGK_E_MISMATCH if no function of the
 * profile but main is in the binaries. */
int pgk_match_sample(struct pgk_function_match **match, const struct pgk_sample *profile,
                     struct pgk_binaries *binaries, const struct pgk_match_opts *opts,
                     struct pgk_err *err);
/* Makes of a finished sample profile one in terms of the other build, finished: lines or probes
 * where they are now, functions by the names and checksums that they have now. What is found, or at
 * the likeliest of several places, is kept; what is not is left out of all totals. `match`, which
 * may be NULL, gets every decision, and the caller closes it. `opts` may be NULL. PGK_E_ARG for a
 * profile without functions; else as pgk_match_sample(). */
int pgk_sample_rebase(struct pgk_sample **rebased, struct pgk_function_match **match,
                      const struct pgk_sample *profile, struct pgk_binaries *binaries,
                      const struct pgk_match_opts *opts, struct pgk_err *err);
/* Compares the hashes of functions with counters with those that an instrumented build records for
 * its own. PGK_E_EMPTY if no binary is instrumented, or the profile has no functions;
 * PGK_E_MISMATCH as above. */
int pgk_match_instr(struct pgk_function_match **match, const struct pgk_instr *profile,
                    struct pgk_binaries *binaries, struct pgk_err *err);
/* Makes of counters a profile of those functions that the instrumented build has with their hashes,
 * by the names that they have there; what else there is stays. A function whose name is gone is
 * found if one alone has its hash and, apart from the file of static functions, its name; or if it
 * has four counters at least, and is the only one with its hash that has gone, as the other is the
 * only one that has come. `match`, which may be NULL, gets every decision, and the caller closes
 * it. Else as pgk_match_instr(). */
int pgk_instr_rebase(struct pgk_instr **rebased, struct pgk_function_match **match,
                     const struct pgk_instr *profile, struct pgk_binaries *binaries,
                     struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_function_match_close(struct pgk_function_match **match);

/* What places of functions add up to. */
struct pgk_function_totals {
    size_t struct_size; /* sizeof(struct pgk_function_totals), set by the caller */
    size_t functions;   /* names of which most samples are of this level */
    size_t places;      /* lines with discriminators, probes or counters, in each context */
    uint64_t samples;   /* or counts */
};
/* Those of a level; of all for PGK_MATCH_LEVELS. */
void pgk_function_totals(const struct pgk_function_match *match, enum pgk_match_level level,
                         struct pgk_function_totals *totals);
/* Samples that were found, per cent of all; of places if there are none. */
double pgk_function_match_percent(const struct pgk_function_match *match);

/* Places of a function, or a call of it, that the build has not as the profile has them. Texts
 * belong to the match; "" unknown. */
struct pgk_function_change {
    size_t struct_size; /* sizeof(struct pgk_function_change), set by the caller */
    enum pgk_match_level level; /* not PGK_MATCH_EXACT */
    uint32_t line;              /* offset of the heaviest of these places, or probe; of the call */
    uint64_t samples, places;   /* that are concerned */
    uint64_t guid, callee_guid; /* LLVM's ids */
    const char *function;       /* linkage name */
    const char *callee;         /* of a call that code was inlined or entered through; else NULL */
    const char *file;           /* of the function's declaration in the build */
    uint64_t checksum, now_checksum; /* or hashes, in the profile and in the build; else 0 */
    uint32_t decl_line;     /* of the declaration in the build; 0 unknown */
    uint32_t discriminator; /* of the line */
    uint32_t now_line;      /* offset of the line in the build, or probe */
    bool has_now;           /* there is such a line, or probe */
    bool line_zero;         /* the place has no line in the profile */
    bool by_checksum;       /* checksums are compared, of probes or counters, and not lines */
    bool inlined;           /* the callee was */
    const char *now_function; /* linkage name in the build, of what has another one; else "" */
};
/* Number of them. */
size_t pgk_function_changes(const struct pgk_function_match *match);
/* The one at a position, by falling samples and then places. */
void pgk_function_change(const struct pgk_function_match *match, size_t position,
                         struct pgk_function_change *change);
/* Prints shares by level, and what changed most; JSON has the schema "pgokit-match-functions-1". */
int pgk_function_match_print(const struct pgk_function_match *match,
                             const struct pgk_match_print_opts *opts, FILE *out,
                             struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
