/* Sample profiles from recordings of perf, or from sample profiles.
 *
 * Inputs are read one after the other; only counts of distinct ranges and branches are kept of
 * them, so memory does not grow with samples. Source of the algorithm:
 * docs/formats/profile-generation.md. */
#ifndef PGOKIT_GEN_H
#define PGOKIT_GEN_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"
#include "pgokit/heap.h"
#include "pgokit/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What a profile is made by. */
enum pgk_gen_mode {
    PGK_GEN_AUTO,  /* with calling contexts if samples have call chains; by probes if the first
                    * binary has them, else by lines */
    PGK_GEN_LINES, /* by source lines: AutoFDO */
    PGK_GEN_PROBES, /* by pseudo probes */
    PGK_GEN_CONTEXTS,      /* with calling contexts, by probes or else by lines */
    PGK_GEN_CONTEXT_LINES, /* with calling contexts, by lines */
    PGK_GEN_MODES, /* number of them */
};

/* A file that was recorded under another name than it has now, as it was renamed or copied out of a
 * container. */
struct pgk_gen_map {
    const char *recorded; /* the path in the recording, or its last part alone */
    const char *binary;   /* path of one of the binaries */
};

/* A label that profilers give to samples, as of the service that ran. */
struct pgk_gen_label {
    const char *key, *value; /* "service.name", "checkout" */
};

/* From where addresses of unsymbolised counts are counted. */
enum pgk_gen_raw_base {
    PGK_GEN_RAW_EXECUTABLE, /* from the page of the first executable segment */
    PGK_GEN_RAW_LOADABLE,   /* from the page of the first segment */
    PGK_GEN_RAW_NONE,       /* they are addresses of the program as it was linked */
};

/* How a profile is made of a recording. */
struct pgk_gen_opts {
    size_t struct_size;  /* sizeof(struct pgk_gen_opts) */
    enum pgk_gen_mode mode; /* what the profile is made by */
    int32_t pid;         /* only this process; 0: all */
    const char *comm;    /* only processes of this name, which must live as long as the generator;
                          * NULL: all. Samples of a text without a name are taken */
    bool kernel;         /* the first binary is the kernel (vmlinux) that the recording is of */
    bool scale_vtables;  /* counts of types in units of those of branches; needs sampling periods */
    unsigned threads;    /* 0: one per processor */
    bool no_vtables;     /* leave out types of objects, which need samples of loads */
    bool ignore_chains;  /* PGK_GEN_AUTO: call chains do not make it context-sensitive */

    /* Of profiles with contexts: */
    bool no_preinliner;      /* keep all contexts, not only those worth inlining */
    bool keep_cold_contexts; /* without the pre-inliner, cold contexts are merged */
    bool trim_cold;          /* leave out what is not hot */
    bool keep_contexts;      /* do not turn contexts into inlinees of their callers */
    bool no_missing_frames;  /* do not look for callers that tail calls hide */

    const char *const *events; /* only samples of events of these names, as perf script prints
                                * them; must live as long as the generator */
    size_t n_events;           /* 0: samples of all events */
    bool leading_ip_only; /* count the sampled instructions, whatever branches are there: where an
                           * event happens, as mispredicted branches, not how often code runs */
    const struct pgk_gen_map *maps; /* must live as long as the generator */
    size_t n_maps; /* number of them */
    bool symbols; /* list the functions of the binaries in the profile: what compilers find there
                   * but not among the functions was in the program and had no samples */
    unsigned cold_depth; /* of profiles with contexts: frames that merged cold ones keep; 0: 1 */

    /* What is hot and cold, for leaving out, merging and inlining: */
    uint64_t hot_count, cold_count; /* samples of a line from which it is hot, up to which it is
                                     * cold; 0: those of the shares */
    uint32_t hot_share, cold_share; /* millionths of all samples that the hottest lines have, the
                                     * last of which is just hot, or cold; 0: 990000 and 999999 */

    /* Of profiles with contexts that are made of recordings: */
    unsigned context_depth; /* frames that a context keeps, the innermost ones; 0: all */
    unsigned stack_depth; /* by probes: functions of a call stack that a context keeps with what is
                           * inlined into them, the innermost ones; 0: all */
    unsigned recursion;   /* calls of the longest repetition in a context that is taken for
                           * recursion, which is counted as one round; 0: of any length */
    bool keep_recursion;  /* contexts have all rounds */

    bool plain_discriminators; /* the binaries are gcc's, whose discriminators are plain numbers;
                                * LLVM's are made up of parts, of which profiles have the first */
    bool first_runs; /* say when functions were first seen to run, by which gcc 16 places them: in
                      * units of the recording's clock after its first sample; by lines */
    bool traces; /* count branches and what ran between them for pgk_gen_write_bolt, and nothing
                  * that a profile is made of */
    bool data; /* count accesses to static data for pgk_gen_data_profile, and nothing else */
    bool no_recovered_types; /* leave out types of objects that code compares itself, which branches
                              * give the counts of; with no_vtables they are left out, too */
    bool no_scale; /* of recordings of branches: count what windows saw, not what they stand for */
    bool skip_other_builds; /* count a recording of a file that has the name of a binary, but
                             * another build id, in the stats, instead of PGK_E_MISMATCH */

    /* Of CPU profiles of other profilers, which must live as long as the generator: */
    const struct pgk_gen_label *labels; /* only samples that have all of these */
    size_t n_labels;                    /* number of them */
    uint64_t since_ns, until_ns; /* only samples of these nanoseconds after 1970-01-01 00:00 UTC;
                                  * 0: of any time. With either, samples of unknown time are left
                                  * out */
    bool stacks; /* count call stacks for pgk_gen_export, and nothing that a profile is made of */
    const char *build_id; /* pgk_gen_find_program: the file with this build id, in hexadecimal
                           * digits; NULL: the one with most samples */
    bool hot_count_given, cold_count_given; /* 0 of them is a count, not that of the shares */
    bool no_probes; /* by lines, whatever probes the program has: with PGK_GEN_AUTO */
    bool all_functions; /* by lines without contexts: functions without samples are in the profile,
                         * each line with 0 */
    bool sum_totals; /* the total of a function is the sum of its lines, not of what was sampled */
    bool mark_inlined; /* functions and inlinees are marked as worth inlining */
    enum pgk_gen_raw_base raw_base; /* of addresses in address counts, read and written */
    uint32_t inline_hot_size;  /* of the pre-inliner: bytes up to which the hottest calls are worth
                                * inlining; 0: 1500 */
    uint32_t density_share;    /* millionths of all samples that the density is of; 0: 990000 */
    uint32_t inline_cold_size; /* bytes up to which cold calls are; 0: none */
    bool any_ranges; /* ranges of address counts count where they touch code, even if control cannot
                      * have run through them; pgk_gen_stats has them as unfit or bad */
    bool skip_frameless; /* samples where a frame is being set up or taken down are left out even if
                          * call chains are ignored */
};

/* Why something was left out, with what it was the first time. */
enum pgk_gen_drop {
    PGK_GEN_OTHER_PROCESS, /* not of the process that was asked for */
    PGK_GEN_IN_KERNEL, /* of the kernel */
    PGK_GEN_WITHOUT_BRANCHES, /* neither branches nor a data address */
    PGK_GEN_BETWEEN_FRAMES, /* call chain of a frame that was being set up */
    PGK_GEN_STACK_CUT, /* call chain is wrong further out */
    PGK_GEN_OUTSIDE, /* no branch touches a given binary */
    PGK_GEN_BRANCH_OUTSIDE, /* a branch from and to elsewhere */
    PGK_GEN_BAD_RANGE, /* impossible straight code between two branches */
    PGK_GEN_NO_VTABLE, /* data address of no virtual table */
    PGK_GEN_NO_SOURCE, /* an instruction without source line */
    PGK_GEN_OTHER_EVENT, /* not of the event that was asked for */
    PGK_GEN_UNFIT, /* at what is no instruction, or from one that does not branch */
    PGK_GEN_OTHER_LABEL, /* without a label that was asked for, or of another time */
    PGK_GEN_NAMELESS, /* of lists of blocks: a function whose name others have, too */
    PGK_GEN_DROPS, /* number of them */
};
enum {
    PGK_GEN_EXAMPLE_SIZE = 160, /* bytes of an example */
};

/* From this share on of what was sampled in the code of a binary, or of ranges, that cannot be, the
 * recording is taken for one of another build. Broken samples are a few in a hundred at most. */
enum {
    PGK_GEN_UNFIT_PERCENT = 10, /* per cent */
};

/* Samples of a function by which inferred counts of it are known to about a tenth. */
enum {
    PGK_GEN_SETTLED = 100, /* samples */
};

/* What became of the samples. Counts of samples take aggregated ones as often as they stand
 * for. The library alone makes such a struct, so new fields at its end harm no caller. */
struct pgk_gen_stats {
    uint64_t samples;            /* read */
    uint64_t other_process;      /* left out: not the asked process */
    uint64_t in_kernel;          /* left out */
    uint64_t without_branches;   /* left out: neither branches nor a data address */
    uint64_t inferred; /* used without branches: of instructions alone. Counts were then inferred:
                        * flow of control as these samples have it, but for the least change */
    uint64_t between_frames;         /* left out: call chain of a frame that was being set up */
    uint64_t stacks_cut;             /* of those used: call chain is wrong further out */
    uint64_t outside;            /* left out: no branch of it touches a given binary */
    uint64_t branches;           /* of samples that are used */
    uint64_t branches_outside;   /* of these, from and to elsewhere */
    uint64_t ranges, ranges_bad; /* straight code between branches; of these, impossible ones */
    uint64_t load_samples, vtable_samples; /* with a data address; of these, of a vtable */
    uint64_t lost;               /* by the recording itself */
    uint64_t lines;              /* of texts */
    uint64_t unreadable;         /* of these, what looks like nothing known */
    char unreadable_example[80]; /* the first of them */
    uint64_t unreadable_line;    /* its number */
    uint64_t functions;          /* with a profile of their own */
    uint64_t instructions, symbolised; /* that were sampled; of these, with a source line */
    double density;      /* samples per line in the function that completes 99 % of all samples; of
                          * counts of the branch recorder, what windows saw */
    double vtable_scale; /* by which counts of types were multiplied; 0: they were not */
    char (*examples)[PGK_GEN_EXAMPLE_SIZE]; /* by enum pgk_gen_drop: the first of each kind; "":
                                             * none. They belong to the generator */
    size_t n_examples;    /* kinds that this library distinguishes */
    uint64_t settling, settled; /* functions that hold 90 % of the samples that counts are inferred
                                 * of; of these, with PGK_GEN_SETTLED samples or more */
    double record_more;   /* how many times as many samples settle all of them; 0: does not apply */
    uint64_t other_event; /* left out: samples of events that were not asked for */
    uint64_t in_code; /* branches, or samples of instructions alone, with an end in the code of a
                       * binary */
    uint64_t unfit;   /* of these: at what is no instruction, or from one that does not branch */
    bool misfit;      /* shares of `unfit` or `ranges_bad` are PGK_GEN_UNFIT_PERCENT or more */
    bool no_mapping; /* no mapping of a given binary is in the input: addresses are taken as they
                      * stand in the first binary */
    uint64_t data_samples; /* of `load_samples`, with opts.data also of stores: of variables and
                            * string literals; known when the profile has been made */
    uint64_t recovered_types; /* counts of types that come of comparisons in code, where a compiler
                               * promoted virtual calls; known when the profile has been made */
    uint64_t type_tests;      /* such comparisons, each with one type, in code that was sampled */
    uint64_t type_choices;    /* of these, those without a branch, whose counts are not known */
    uint64_t branch_scale; /* by which counts of the branch recorder were multiplied, the least of
                            * all recordings; 0: there were none */
    char density_function[PGK_GEN_EXAMPLE_SIZE]; /* the function that `density` is of, as symbols
                                                  * have its name; "": unknown */
    uint64_t hot_pages, ordered_pages; /* of an order of functions: pages of 4 KiB with the
                                        * functions that have 90 % of what ran, in the binary and
                                        * in the order */
    uint64_t other_builds; /* recordings that skip_other_builds left out */
    uint64_t other_label;  /* left out: samples without a label, or not of the time, that was asked
                            * for */
    uint64_t files, other_files; /* of folders: those that were read; those that are no
                                  * recordings */
    /* Of lists of blocks: */
    uint64_t blocks_listed;      /* that ran, of `functions` */
    uint64_t functions_nameless; /* left out: other functions have the same names */
    uint64_t functions_repeated; /* left out: some of their blocks are copies, of one number */
    uint64_t ways;               /* from block to block, of all functions that ran */
    uint64_t ways_taken, ways_taken_ordered; /* of them, by jumps that are taken: in the binary and
                                              * in the new order */
    uint64_t score_now, score_ordered; /* what the two orders are worth by ext-TSP: at most 1.05
                                        * times `ways` */
};

struct pgk_gen;

/* What pgk_gen_find_program found. */
struct pgk_gen_found {
    size_t struct_size;  /* sizeof(struct pgk_gen_found), set by the caller */
    bool by_build_id;    /* else the recording has no build id of the program: the file at its path
                          * was taken */
    char libraries[400]; /* where else samples of it are, for people: "/lib/libz.so (12.3 %)", the
                          * largest first; "" nowhere */
    double most_percent; /* 0: what was found is the program. Else that has less than a tenth of
                          * the samples or branches, and what was found is the file with most of
                          * them, this share */
};
/* Looks for the program that a recording (perf.data, text of perf with mappings, of the branch
 * recorder, or a CPU profile of another profiler) or all those of a folder are of, and adds it to
 * the set: the file that it was, if its build id is still that, or
 * by its build id where the options of the set say; where it has less than a tenth of the samples
 * or branches, instead the file with most of those that can be found. Of several programs it is the
 * one with nine tenths of the samples, of which opts->pid and opts->comm choose. `opts` and `found`
 * may be NULL.
 * PGK_E_MISMATCH if the recording does not name its program, is of several, or that is not found;
 * `err` says where it was looked for. */
int pgk_gen_find_program(const char *recording, struct pgk_binaries *binaries,
                         const struct pgk_gen_opts *opts, struct pgk_gen_found *found,
                         struct pgk_err *err);

/* `binaries` holds the programs and libraries that were run, in which case it must outlive
 * `gen`. One thread per generator. */
int pgk_gen_new(struct pgk_gen **gen, struct pgk_binaries *binaries,
                const struct pgk_gen_opts *opts, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_gen_close(struct pgk_gen **gen);

/* Reads perf.data, text of perf, or address counts, which are those of the first binary; "-" is
 * standard input. PGK_E_MISMATCH if the recording names a given binary, but with another build id
 * only. On failure the generator is only good for closing.
 *
 * Reads sample profiles, too, which are added up and then trimmed, merged and pre-inlined as if
 * they had just been counted. PGK_E_MISMATCH if both profiles and recordings are given. */
int pgk_gen_add(struct pgk_gen *gen, const char *path, struct pgk_err *err);

/* Adds the recordings in a folder and the folders in it, in the order of their names. Recordings of
 * other builds and files that are no recordings are left out and counted in the stats. PGK_E_EMPTY
 * if there is none. */
int pgk_gen_add_folder(struct pgk_gen *gen, const char *folder, struct pgk_err *err);

/* The profile of all that was added; finished. To be called once. PGK_E_EMPTY if there is nothing
 * to count, PGK_E_NODEBUG for a binary without debug information. */
int pgk_gen_profile(struct pgk_gen *gen, struct pgk_sample **profile, struct pgk_err *err);
/* The path of a binary, of which there are as many as in the set, if anything was counted in it;
 * else NULL. */
const char *pgk_gen_counted(const struct pgk_gen *gen, uint32_t binary);
/* As pgk_gen_profile, but of one of the binaries; instead of it, and once for each. In the stats
 * functions of all of them are added up, and the density is the lowest. PGK_E_ARG if the input was
 * a sample profile. */
int pgk_gen_profile_of(struct pgk_gen *gen, uint32_t binary, struct pgk_sample **profile,
                       struct pgk_err *err);
/* Instead of a profile: the counters of the one binary that was sampled as text, for
 * pgk_gen_add or llvm-profgen --unsymbolized-profile; docs/formats/address-counts.md. PGK_E_ARG if
 * several were sampled. Types of objects are left out. */
int pgk_gen_write_counts(struct pgk_gen *gen, const char *path, struct pgk_err *err);

/* With opts.data, instead of a sample profile: a heap profile, to be closed by the caller, that has
 * nothing but which variables and string literals were accessed how often, and which were not. To
 * be called once. PGK_E_EMPTY if none was. */
int pgk_gen_data_profile(struct pgk_gen *gen, struct pgk_heap **heap, struct pgk_err *err);

/* What the tools of BOLT read; docs/formats/bolt.md. */
enum pgk_bolt_form {
    PGK_BOLT_FDATA,         /* branches by function, for llvm-bolt -data */
    PGK_BOLT_PREAGGREGATED, /* branches by address, for perf2bolt -pa */
};
/* Instead of a profile: what was counted of one binary with opts.traces. PGK_E_EMPTY if it was not
 * sampled, PGK_E_NODEBUG without symbols of functions. */
int pgk_gen_write_bolt(struct pgk_gen *gen, uint32_t binary, enum pgk_bolt_form form,
                       const char *path, struct pgk_err *err);

/* An order of functions as linkers take it; docs/formats/function-order.md. */
enum pgk_order_form {
    PGK_ORDER_LLD,  /* symbols, for ld.lld --symbol-ordering-file */
    PGK_ORDER_GOLD, /* sections, for gold --section-ordering-file */
    PGK_ORDER_LD,   /* a linker script, for GNU ld -T */
    PGK_ORDER_CALLS, /* who calls whom how often, for ld.lld --call-graph-ordering-file, which makes
                      * an order of it */
};
/* Instead of a profile: the functions of one binary that ran, in an order that keeps what calls
 * each other near and what runs often together. Contexts must be off (opts.mode PGK_GEN_LINES).
 * Stats have the pages before and after. PGK_E_EMPTY if the binary was not sampled, PGK_E_NODEBUG
 * without symbols of functions, PGK_E_ARG if the input was a sample profile or has contexts. */
int pgk_gen_write_order(struct pgk_gen *gen, uint32_t binary, enum pgk_order_form form,
                        const char *path, struct pgk_err *err);

/* The same from a finished sample profile: functions of the first of `binaries` that have samples
 * in it, with their sizes there. `*n` is how many. PGK_E_EMPTY if there is none, PGK_E_NODEBUG
 * without symbols of functions. */
int pgk_sample_write_order(const struct pgk_sample *profile, const struct pgk_binaries *binaries,
                           enum pgk_order_form form, const char *path, size_t *n,
                           struct pgk_err *err);

/* What pgk_gen_write_blocks writes besides the list. */
struct pgk_gen_blocks_opts {
    size_t struct_size;  /* sizeof(struct pgk_gen_blocks_opts) */
    const char *symbols; /* path of a second file, for lld --symbol-ordering-file; NULL: none */
};
/* Instead of a profile: the blocks of one binary that ran, by function, in an order that has few
 * taken jumps, for clang -fbasic-block-sections=list=; docs/formats/propeller.md. The binary has to
 * have the addresses of its blocks (-fbasic-block-address-map). Contexts must be off (opts.mode
 * PGK_GEN_LINES). `opts` may be NULL. Stats have what it is worth. PGK_E_NODEBUG without these
 * addresses or without symbols of functions, PGK_E_EMPTY if the binary was not sampled, PGK_E_ARG
 * if the input was a sample profile or has contexts; neither file is written then. */
int pgk_gen_write_blocks(struct pgk_gen *gen, uint32_t binary,
                         const struct pgk_gen_blocks_opts *opts, const char *path,
                         struct pgk_err *err);

/* Where the code that ran lies: how few pages of 4 KiB and lines of 64 bytes hold 90 and 99 % of
 * it, bytes counted as often as they ran. */
struct pgk_gen_places {
    uint64_t pages_90, pages_99; /* pages */
    uint64_t lines_90, lines_99; /* lines */
    uint64_t taken; /* of pgk_gen_layout.ways: by jumps that are taken */
    uint64_t score; /* by ext-TSP: at most 1.05 times pgk_gen_layout.ways */
};
/* What pgk_gen_layout finds. */
struct pgk_gen_layout {
    size_t struct_size;   /* sizeof(struct pgk_gen_layout), set by the caller */
    bool mapped;          /* blocks are those of the compiler; else they are cut from the code */
    uint64_t functions;   /* that ran */
    uint64_t blocks;      /* of these, that ran */
    uint64_t bytes;       /* of these blocks */
    uint64_t code_bytes;  /* of all code of the binary */
    uint64_t ways;        /* how often control went from block to block of a function */
    struct pgk_gen_places now;               /* as the binary is */
    struct pgk_gen_places functions_ordered; /* in an order of functions, pgk_gen_write_order */
    struct pgk_gen_places blocks_ordered;    /* in one of blocks and functions,
                                              * pgk_gen_write_blocks */
};
/* Instead of a profile: how the code of one binary that ran lies, and how it would in new orders.
 * Any binary with symbols of functions will do. Contexts must be off (opts.mode PGK_GEN_LINES).
 * PGK_E_EMPTY if the binary was not sampled, PGK_E_NODEBUG without symbols, PGK_E_ARG if the input
 * was a sample profile or has contexts. */
int pgk_gen_layout(struct pgk_gen *gen, uint32_t binary, struct pgk_gen_layout *layout,
                   struct pgk_err *err);

/* With opts.stacks, instead of a profile: the call stacks that were sampled, in an export format
 * that shows stacks (pgk_export_format_at: pprof, otlp, folded, speedscope). Functions have their
 * first lines, so that Go's compiler takes pprof. Code of other files is named by these.
 * PGK_E_EMPTY if there is no stack, PGK_E_ARG for another format. */
int pgk_gen_export(struct pgk_gen *gen, const char *format, const char *path,
                   struct pgk_err *err);

/* What became of the samples so far; belongs to the generator and changes with it. */
const struct pgk_gen_stats *pgk_gen_stats(const struct pgk_gen *gen);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
