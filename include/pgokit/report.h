/* Views of profiles, written to a stdio stream. */
#ifndef PGOKIT_REPORT_H
#define PGOKIT_REPORT_H

#include "pgokit/format.h"
#include "pgokit/gen.h"
#include "pgokit/heap.h"
#include "pgokit/instr.h"
#include "pgokit/probe.h"
#include "pgokit/sample.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What contexts are ordered by. */
enum pgk_heap_sort {
    PGK_HEAP_SORT_BYTES,    /* bytes allocated in all */
    PGK_HEAP_SORT_COUNT,    /* objects */
    PGK_HEAP_SORT_ACCESSES, /* loads and stores */
    PGK_HEAP_SORT_LIFETIME, /* average lifetime */
    PGK_HEAP_SORT_DENSITY,  /* accesses per byte */
    PGK_HEAP_SORT_PEAK,     /* bytes alive at the peak */
    PGK_HEAP_SORT_LEAKED,   /* bytes alive at exit */
    PGK_HEAP_SORT_TEMPORARY, /* objects freed before their thread's next allocation */
    PGK_HEAP_SORT_UNREACHABLE, /* bytes alive at exit that no pointer led to */
    PGK_HEAP_SORTS, /* number of them */
};
const char *pgk_heap_sort_name(enum pgk_heap_sort sort); /* "bytes", ... */

/* How a heap profile is printed. */
struct pgk_heap_print_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_print_opts) */
    const char *title;              /* what is shown: a file name; or NULL */
    const struct pgk_file_info *info; /* may be NULL */
    enum pgk_heap_sort sort;        /* falling; ties by stack, so the order is the profile's own */
    size_t top;                     /* contexts shown; 0: all */
    size_t depth;                   /* frames shown of a stack; 0: all */
    unsigned width;                 /* columns that names are shortened to; 0: they are whole */
    bool colour;                    /* ANSI colours */
    const char *function;           /* contexts with this function in their stacks alone: a linkage
                                       name, or an extended regular expression, found in it or in
                                       the name that a programmer wrote; NULL: all. PGK_E_EMPTY if
                                       there is none, PGK_E_ARG for no such expression */
};

/* For people: totals, then the heaviest contexts with their stacks. */
int pgk_heap_print_table(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                         FILE *out, struct pgk_err *err);
/* For people: totals, then what to change in the program, most bytes first, each with those of its
 * contexts that have most at stake, `opts->top` of them. Safe for different profiles at once.
 * PGK_E_NOMEM, PGK_E_IO. */
int pgk_heap_print_advice(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                          FILE *out, struct pgk_err *err);
/* Every field of every context and every function record; the profile's order if opts->top
 * is 0. */
int pgk_heap_print_fields(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                          FILE *out, struct pgk_err *err);
/* docs/formats/heap-json.md; schema "pgokit-heap-1". Contexts and records in the profile's
 * order if opts->top is 0, else the heaviest contexts and no records. */
int pgk_heap_print_json(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                        FILE *out, struct pgk_err *err);

/* What the objects of each type cost, in the order of opts->sort; opts->top of the types. Types are
 * found by pgk_heap_find_types(). */
int pgk_heap_print_types(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                         FILE *out, struct pgk_err *err);

/* How the curve of the heap over time is printed. */
struct pgk_heap_timeline_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_timeline_opts) */
    const char *title;  /* what is shown: a file name; or NULL */
    unsigned width;     /* columns, 40 at least; 0: 80 */
    bool colour;        /* ANSI colours */
};
/* The bytes that were alive, over time, as letters: that of the process with the highest peak.
 * PGK_E_EMPTY if the profile has no curve. */
int pgk_heap_print_timeline(const struct pgk_heap *heap, const struct pgk_heap_timeline_opts *opts,
                            FILE *out, struct pgk_err *err);

/* How the tree of calling functions is printed. */
struct pgk_heap_tree_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_tree_opts) */
    double least;  /* share of the bytes below which a branch is summed up; 0 to 1 */
    size_t depth;  /* levels shown; 0: all */
    bool colour;   /* ANSI colours */
    bool library;  /* frames of libraries, too */
    unsigned width; /* columns that names are shortened to; 0: they are whole */
};
/* Calling functions from the program's entry on, with what is allocated below each. */
int pgk_heap_print_tree(const struct pgk_heap *heap, const struct pgk_heap_tree_opts *opts,
                        FILE *out, struct pgk_err *err);

/* How two heap profiles are compared. */
struct pgk_heap_diff_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_diff_opts) */
    const char *before_title, *now_title; /* file names; NULL: "before", "now" */
    size_t top;     /* contexts shown of each list; 0: all */
    size_t depth;   /* frames shown of a stack; 0: all */
    unsigned width; /* columns that names are shortened to; 0: they are whole */
    bool colour;    /* ANSI colours */
    bool json;      /* docs/formats/heap-json.md; schema "pgokit-heap-diff-1" */
};

/* What limits can be set on. */
struct pgk_heap_diff_figures {
    size_t struct_size; /* sizeof(struct pgk_heap_diff_figures), set by the caller */
    uint64_t bytes, bytes_before;     /* allocated in all */
    uint64_t objects, objects_before; /* allocated in all */
    uint64_t new_bytes;               /* in contexts that are new */
    double overlap;                   /* share of the bytes allocated in the same places, 0 to 1 */
    /* What `pgokit diff --fail-on` compares with its limits. In per cent of before; 1e9 if there
     * was nothing before and is something now: */
    double growth_percent;         /* bytes allocated; less than 0: fewer than before */
    double objects_growth_percent; /* objects allocated */
    double new_percent;            /* bytes in contexts that are new */
    double peak_growth_percent;    /* bytes alive at the peak; 0 if peak_unknown is not 0 */
    double exit_growth_percent;    /* bytes alive at exit; 0 if exit_unknown is not 0 */
    uint64_t peak_bytes, peak_bytes_before; /* alive at the peak, of each profile that knows it */
    uint64_t exit_bytes, exit_bytes_before; /* alive at exit, likewise */
    uint32_t peak_unknown; /* which profiles do not know it of all their contexts: a sum of enum
                              pgk_heap_diff_side; 0: both know */
    uint32_t exit_unknown; /* the same of what was alive at exit */
};

/* The profiles of a comparison. */
enum pgk_heap_diff_side {
    PGK_HEAP_DIFF_BEFORE = 1, /* the older one */
    PGK_HEAP_DIFF_NOW = 2,    /* the newer one */
};

/* Compares two profiles context by context. Stacks that are equal are the same context; of
 * those left over, the ones through the same functions are paired in order of their lines.
 * `figures` may be NULL. */
int pgk_heap_print_diff(const struct pgk_heap *before, const struct pgk_heap *now,
                        const struct pgk_heap_diff_opts *opts, FILE *out,
                        struct pgk_heap_diff_figures *figures, struct pgk_err *err);
/* The same in Markdown with tables, for the summary of a job of continuous integration. */
int pgk_heap_print_diff_markdown(const struct pgk_heap *before, const struct pgk_heap *now,
                                 const struct pgk_heap_diff_opts *opts, FILE *out,
                                 struct pgk_heap_diff_figures *figures, struct pgk_err *err);
/* The figures alone, with nothing printed. */
int pgk_heap_compare(const struct pgk_heap *before, const struct pgk_heap *now,
                     struct pgk_heap_diff_figures *figures, struct pgk_err *err);

/* What else heap and sample profiles can be written as. */
struct pgk_export_format {
    const char *name;      /* "pprof" */
    const char *extension; /* that files have: ".pb.gz" */
};
/* The formats in the order in which they are shown; NULL past the last one:
 *
 *   html        one page to look at, docs/report.md
 *   pprof       gzipped profile.proto, for `go tool pprof`
 *   folded      "main;parse;malloc 4096" a line, for flame graph tools
 *   speedscope  for https://www.speedscope.app
 *   csv         a row per context or function, RFC 4180
 *   json        as pgk_heap_print_json, pgk_sample_print_json
 *   markdown    totals and what is largest, for the summary of a job */
const struct pgk_export_format *pgk_export_format_at(size_t i);

/* What is added up over the contexts of a stack. */
enum pgk_heap_weight {
    PGK_HEAP_WEIGHT_BYTES,    /* bytes allocated */
    PGK_HEAP_WEIGHT_COUNT,    /* objects */
    PGK_HEAP_WEIGHT_ACCESSES, /* loads and stores */
    PGK_HEAP_WEIGHT_LIFETIME, /* bytes times average lifetime, in byte seconds */
    PGK_HEAP_WEIGHT_LEAKED,   /* bytes alive at exit */
    PGK_HEAP_WEIGHT_LEAKED_COUNT, /* objects alive at exit */
    PGK_HEAP_WEIGHT_PEAK,     /* bytes alive at the peak */
    PGK_HEAP_WEIGHT_PEAK_COUNT, /* objects alive at the peak */
    PGK_HEAP_WEIGHTS, /* number of them */
};
const char *pgk_heap_weight_name(enum pgk_heap_weight weight); /* "bytes", ... */

struct pgk_plan;

/* What goes into an exported heap profile. */
struct pgk_heap_export_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_export_opts) */
    const char *title;                /* what is shown: a file name; or NULL */
    const struct pgk_file_info *info; /* may be NULL */
    enum pgk_heap_weight weight;      /* folded stacks only */
    /* The page only, but for max_contexts: */
    const struct pgk_heap *base; /* an older profile to compare with, or NULL */
    const char *base_title; /* what is shown of `base`: a file name; or NULL */
    size_t max_contexts;            /* shown one by one; 0: 50,000, in Markdown 10. The rest is
                                       summed up. In CSV rows of those that allocate most, the
                                       largest first; 0: all in the profile's order */
    const char *const *source_dirs; /* where to look for sources, besides where they were */
    size_t n_source_dirs; /* number of them */
    bool without_sources; /* no excerpts of source files on the page */
    const struct pgk_plan *plan; /* shown, with what its groups held if that was read; or NULL */
};

/* Writes the profile to `path` ("-": standard output) in the format of that name, whole or not at
 * all. Deterministic: equal profiles and source files give equal bytes. PGK_E_ARG if there is no
 * such format, PGK_E_EMPTY without contexts. */
int pgk_heap_export(const struct pgk_heap *heap, const char *format, const char *path,
                    const struct pgk_heap_export_opts *opts,
                    struct pgk_err *err);
/* ---- instrumentation profiles ---- */

/* What functions are ordered by. */
enum pgk_instr_sort {
    PGK_INSTR_SORT_TOTAL, /* all counters of the function */
    PGK_INSTR_SORT_ENTRY, /* calls */
    PGK_INSTR_SORT_MAX,   /* its largest counter */
    PGK_INSTR_SORT_NAME,  /* rising */
    PGK_INSTR_SORTS, /* number of them */
};

/* How an instrumentation profile is printed. */
struct pgk_instr_print_opts {
    size_t struct_size; /* sizeof(struct pgk_instr_print_opts) */
    const char *title;                /* what is shown: a file name; or NULL */
    const struct pgk_file_info *info; /* may be NULL */
    enum pgk_instr_sort sort;         /* falling but for names; ties by name, then hash */
    size_t top;                       /* functions shown; 0: all */
    const char *function;             /* only functions of this name, with all counters and
                                         values, or, if there is none, those whose names match
                                         it as a POSIX extended regular expression, found
                                         anywhere; NULL: all functions */
    bool colour;                      /* ANSI colours */
    uint64_t value_cutoff;            /* only functions with a counter of so much or more; those
                                         only known to be hot or warm have none; 0: all */
    uint64_t below_cutoff;            /* only functions without a counter of so much; 0: all */
    const uint32_t *cutoffs;          /* of the summary: millionths of all counts; NULL: the
                                         shares that files have */
    size_t n_cutoffs;                 /* number of them */
    bool contextual;                  /* only functions counted in their contexts, which counters
                                         of IR may be; and their summary, not the others' */
    unsigned width; /* columns that names are shortened to; 0: they are whole */
};

/* For people: totals, then the functions that ran most. PGK_E_EMPTY if there is none of the
 * wanted name. */
int pgk_instr_print_table(const struct pgk_instr *instr, const struct pgk_instr_print_opts *opts,
                          FILE *out, struct pgk_err *err);
/* The summary as `llvm-profdata show --detailed-summary` of LLVM 22 and 23 prints it, for scripts:
 * totals, then for each cutoff how many counters from which count on make up that share. */
int pgk_instr_print_summary(const struct pgk_instr *instr, const struct pgk_instr_print_opts *opts,
                            FILE *out, struct pgk_err *err);
/* docs/formats/instr-json.md; schema "pgokit-instr-1". */
int pgk_instr_print_json(const struct pgk_instr *instr, const struct pgk_instr_print_opts *opts,
                         FILE *out, struct pgk_err *err);

/* How two profiles differ: their overlap, and the opts->top functions whose shares of the whole
 * changed most. */
int pgk_instr_print_diff(const struct pgk_instr *base, const struct pgk_instr *test,
                         bool contextual, bool json, const struct pgk_instr_print_opts *opts,
                         FILE *out, struct pgk_err *err);
/* The same in Markdown with tables, for the summary of a job of continuous integration. */
int pgk_instr_print_diff_markdown(const struct pgk_instr *base, const struct pgk_instr *test,
                                  bool contextual, const struct pgk_instr_print_opts *opts,
                                  FILE *out, struct pgk_err *err);

/* How pseudo probes are printed. */
struct pgk_probes_print_opts {
    size_t struct_size; /* sizeof(struct pgk_probes_print_opts) */
    const char *title; /* what is shown: a file name; or NULL */
    bool list;         /* every function with its tree of probes */
    bool colour;       /* ANSI colours */
    unsigned width;    /* columns that names are shortened to; 0: they are whole */
};
/* For people: how many probes of what type, how deep functions are inlined, what the sections
 * take; then, if asked for, the functions by address. `index` is of all functions. */
int pgk_probes_print_table(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                           const struct pgk_probes_print_opts *opts, FILE *out,
                           struct pgk_err *err);
/* docs/formats/probes-json.md; schema "pgokit-probes-1". */
int pgk_probes_print_json(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                          const struct pgk_probes_print_opts *opts, FILE *out,
                          struct pgk_err *err);

/* ---- sample profiles, which must be finished ---- */

/* How a sample profile is printed. */
struct pgk_sample_print_opts {
    size_t struct_size;               /* sizeof(struct pgk_sample_print_opts) */
    const char *title;                /* what is shown: a file name; or NULL */
    const struct pgk_file_info *info; /* may be NULL */
    size_t top;                       /* functions shown, hottest first; 0: all */
    bool lines;                       /* each with its lines, calls, types and inlinees */
    bool linkage_names;               /* names as the linker knows them */
    bool of_one;                      /* it is one function of a file: `info` has the summary */
    unsigned width;                   /* columns that names are shortened to; 0: they are whole */
    bool colour;                      /* ANSI colours */
    struct pgk_binaries *binaries;    /* of the table: that were profiled, whose debug information
                                         has the files and first lines of functions; or NULL: lines
                                         count from these */
};
/* For people: totals and the summary, then functions by samples. Parts of a line that
 * discriminators separate are one line. */
int pgk_sample_print_table(const struct pgk_sample *profile,
                           const struct pgk_sample_print_opts *opts, FILE *out,
                           struct pgk_err *err);
/* The summary as llvm-profdata prints it, like pgk_instr_print_summary: that which the file has, by
 * opts->info, or else the profile's. */
int pgk_sample_print_summary(const struct pgk_sample *profile,
                             const struct pgk_sample_print_opts *opts, FILE *out,
                             struct pgk_err *err);
/* For people: the sections of an extensible binary, with place, size and flags. PGK_E_ARG for
 * another format. */
int pgk_sample_print_sections(const char *path, FILE *out, struct pgk_err *err);
/* docs/formats/sample-json.md; schema "pgokit-sample-1". */
int pgk_sample_print_json(const struct pgk_sample *profile,
                          const struct pgk_sample_print_opts *opts, FILE *out,
                          struct pgk_err *err);

/* What goes into an exported sample profile. */
struct pgk_sample_export_opts {
    size_t struct_size;               /* sizeof(struct pgk_sample_export_opts) */
    const char *title;                /* what is shown: a file name; or NULL */
    const struct pgk_file_info *info; /* may be NULL */
    /* The page only: */
    const struct pgk_sample *base;  /* an older profile to compare with, finished, or NULL */
    const char *base_title; /* what is shown of `base`: a file name; or NULL */
    struct pgk_binaries *binaries;  /* that were profiled, for the coverage; or NULL */
    size_t max_functions;           /* shown one by one; 0: 50,000, in Markdown 10. The rest is
                                       summed up */
    const char *const *source_dirs; /* where to look for sources, besides where they were; used
                                       with `binaries`, which say where functions are */
    size_t n_source_dirs; /* number of them */
    bool without_sources; /* no excerpts of source files on the page */
};

/* As pgk_heap_export. Stacks are calling contexts and inlined functions, their values the
 * samples of lines, which add up to the summary's total. PGK_E_EMPTY without functions. */
int pgk_sample_export(const struct pgk_sample *profile, const char *format, const char *path,
                      const struct pgk_sample_export_opts *opts,
                      struct pgk_err *err);

/* How a comparison of sample profiles is printed. */
struct pgk_sample_diff_print_opts {
    size_t struct_size;               /* sizeof(struct pgk_sample_diff_print_opts) */
    size_t top;                       /* functions shown, what moved most first; 0: all */
    bool contexts;                    /* the profiles have contexts */
    bool linkage_names;               /* names as the linker knows them */
    const char *base_title, *test_title; /* of Markdown: file names; NULL: "base", "test" */
    unsigned width;                   /* columns that names are shortened to; 0: they are whole */
    bool colour;                      /* ANSI colours of the table */
};
/* For people: what is common, then functions by how much their share moved. */
int pgk_sample_diff_print_table(const struct pgk_sample_diff *diff,
                                const struct pgk_sample_diff_print_opts *opts, FILE *out,
                                struct pgk_err *err);
/* The same in Markdown with tables, for the summary of a job of continuous integration. */
int pgk_sample_diff_print_markdown(const struct pgk_sample_diff *diff,
                                   const struct pgk_sample_diff_print_opts *opts, FILE *out,
                                   struct pgk_err *err);
/* Schema "pgokit-sample-diff-1"; the first `top` functions, 0: all. */
int pgk_sample_diff_print_json(const struct pgk_sample_diff *diff, size_t top, FILE *out,
                               struct pgk_err *err);

/* ---- what became of the samples that a profile was made of ---- */

/* A figure of the report of pgk_gen: how many samples, branches or lines were of one kind. */
struct pgk_gen_figure {
    size_t struct_size;  /* sizeof(struct pgk_gen_figure), set by the caller */
    const char *text;    /* to people: "other process" */
    const char *key;     /* in JSON: "other_process" */
    uint64_t n, of;      /* how many, and of how many; of: 0 if it is no part */
    const char *example; /* the first one, while the generator lasts; NULL or "": none */
};
/* Figure `i` of the report, in the order in which they are shown; false past the last one. */
bool pgk_gen_figure_at(const struct pgk_gen_stats *stats, size_t i, struct pgk_gen_figure *figure);
/* All of them, "format": "pgokit-gen"; docs/man/pgokit-gen.md. */
void pgk_gen_print_json(const struct pgk_gen_stats *stats, FILE *out);

/* For people: how the code that ran lies now and would in new orders, and a sentence that says
 * whether they pay. Any thread; write errors are left in `out`. */
void pgk_gen_layout_print(const struct pgk_gen_layout *layout, FILE *out);
/* The same as JSON, "format": "pgokit-layout"; docs/man/pgokit-show.md. */
void pgk_gen_layout_print_json(const struct pgk_gen_layout *layout, FILE *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
