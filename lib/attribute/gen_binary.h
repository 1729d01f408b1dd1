/* The state of generation for one binary. */
#ifndef PGK_GEN_BINARY_H
#define PGK_GEN_BINARY_H

#include "call_trie.h"
#include "code.h"
#include "counters.h"
#include "first_runs.h"
#include "functions.h"
#include "pgokit/gen.h"
#include "probes.h"
#include "sample_model.h"
#include "steps.h"
#include "symboliser.h"
#include "traces.h"
#include "type_tests.h"

struct pgk_gen_binary {
    const struct pgk_elf *elf;
    struct pgk_code code;
    bool has_code;                 /* `code` is open */
    bool flow_sensitive;           /* its discriminators are */
    bool plain_discriminators;     /* they are numbers, not made up of LLVM's parts */
    bool sum_lines;                /* counts of the instructions of a line are added up */
    bool any_ranges;               /* ranges count even if control cannot have run through them */
    struct pgk_symboliser *sym;    /* once needed; NULL without debug information */
    struct pgk_probes *probes;     /* once needed */
    struct pgk_steps steps;        /* of the input that is being read, with calling contexts */
    struct pgk_step_table step_counts; /* or without */
    struct pgk_counters counters;  /* as seen: ranges need not be sound */
    struct pgk_pairs hits;         /* instructions that were sampled, without branches: `from` */
    struct pgk_pairs hit_calls;    /* indirect calls in their call chains: to what code */
    bool hit_calls_sampled; /* these are samples of the calls themselves, not of what they called */
    struct pgk_call_counts hit_contexts; /* of hits: under which calls; node, `from` */
    struct pgk_pairs hit_frameless; /* functions whose frame a chain lacks: to the code below */
    struct pgk_first_runs first_runs;      /* when its code ran first, in all inputs */
    struct pgk_first_runs first_runs_here; /* in the input that is being read, by its clock */
    pgk_addr_vec profiled;         /* instead of the above: symbols that a given profile names */
    struct pgk_functions functions;  /* around what was counted with contexts */
    struct pgk_probe_index *index;   /* of these */
    struct pgk_call_trie calls;    /* the same by calling context, and loads of vtables */
    struct pgk_vtable_symbols vtables; /* once needed */
    bool has_vtables;                  /* `vtables` is read */
    struct pgk_type_tests tests;       /* of types, in code that was sampled */
    struct pgk_pairs equal;            /* of these, by branch, `from`: how often they found
                                        * equality, where counts are inferred */
    double vtable_scale;           /* by which counts of loads were multiplied; 0: they were not */
    struct pgk_pairs accesses;     /* instead: to addresses of data, `from` */
    struct pgk_traces traces;      /* instead of all other counts but `hits`, for llvm-bolt */
    struct pgk_named_counts named; /* the same by contexts of functions and lines */
};

/* Notes the first example of what is left out; examples are printf formats. */
void pgk_gen_example(struct pgk_gen_stats *stats, enum pgk_gen_drop drop, const char *fmt, ...)
    PGK_PRINTF(3, 4);

/* Marks an instruction without a source line. */
void pgk_gen_no_source(struct pgk_gen_stats *stats, const struct pgk_gen_binary *binary,
                       uint64_t addr);

/* Counters from samples of instructions alone: control that ran through the function as the
 * samples have it, but for the least change. With `symbols` as in pgk_gen_functions. */
int pgk_gen_infer(struct pgk_gen_binary *binary, bool symbols, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err);
/* Makes of inferred counters such of contexts: those of a function are shared among its contexts by
 * the samples of each. */
int pgk_gen_infer_contexts(struct pgk_gen_binary *binary, bool symbols, unsigned threads,
                           struct pgk_err *err);
/* Adds the steps to the counters, and forgets them. */
int pgk_gen_count_steps(struct pgk_gen_binary *binary, bool contexts, struct pgk_err *err);
/* Sorts the counters and drops ranges that cannot be; nothing may be counted any more. */
void pgk_gen_settle(struct pgk_gen_binary *binary, struct pgk_gen_stats *stats);
/* The functions around what was counted; with `symbols` also those without debug information. */
int pgk_gen_functions(const struct pgk_gen_binary *binary, struct pgk_functions *functions,
                      bool symbols, unsigned threads, struct pgk_err *err);
/* All functions of the binary; its code is open. */
int pgk_gen_all_functions(struct pgk_gen_binary *binary, struct pgk_functions *all, bool symbols,
                          unsigned threads, struct pgk_err *err);
/* Adds the names of all functions of the binary to the profile's list of symbols. */
int pgk_gen_list_symbols(struct pgk_sample *profile, struct pgk_gen_binary *binary, bool symbols,
                         unsigned threads, struct pgk_err *err);
/* The probes of the functions that were sampled. */
int pgk_gen_probe_index(const struct pgk_gen_binary *binary, const struct pgk_functions *functions,
                        struct pgk_probe_index **index, struct pgk_err *err);

/* The indirect call that a load is for: the load itself, or the call that control comes to next; 0
 * if there is none. */
uint64_t pgk_gen_indirect_behind(struct pgk_gen_binary *binary, uint64_t addr);
/* Its call probe; PGK_PROBE_NONE if there is none. */
uint32_t pgk_gen_call_behind(struct pgk_gen_binary *binary, const struct pgk_probe_index *index,
                             uint64_t addr);

/* Adds the addresses of what was sampled, as a set. False when out of memory. */
bool pgk_gen_list_sampled(const struct pgk_gen_binary *binary, pgk_addr_vec *addrs);

/* Which functions were sampled, by number: for each of `functions` true or false. With `callers`
 * also those that only call chains name. NULL when out of memory; to be freed. */
bool *pgk_gen_sampled(const struct pgk_gen_binary *binary, const struct pgk_functions *functions,
                      bool callers);

/* Functions that start a module run once, whatever the input: they have no profile. */
bool pgk_gen_is_start_up(const char *name, size_t len);

/* Add the counts of a binary, which are settled, to the profile: by source lines; by probes. */
int pgk_gen_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err);
int pgk_gen_probes(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                   struct pgk_gen_stats *stats, struct pgk_err *err);

/* Add the counts of a binary to a profile with calling contexts. */
int pgk_gen_context_lines(struct pgk_sample *into, struct pgk_gen_binary *binary,
                          const struct pgk_gen_opts *opts, struct pgk_gen_stats *stats,
                          struct pgk_err *err);
/* To be called when the lines of all binaries are counted. */
int pgk_gen_complete_calls(struct pgk_sample *profile, struct pgk_err *err);
int pgk_gen_context_probes(struct pgk_sample *into, struct pgk_gen_binary *binary,
                           const struct pgk_gen_opts *opts, struct pgk_gen_stats *stats,
                           struct pgk_err *err);

/* Prepares a profile for a compiler: leaves out cold parts; for contexts also the pre-inliner,
 * which needs the code of the `n` binaries, merging, and nesting. */
int pgk_gen_finish(struct pgk_sample **profile, struct pgk_gen_binary *binaries, size_t n,
                   const struct pgk_gen_opts *opts, struct pgk_err *err);
/* Leaves functions out that start a module; the profile must not be finished. */
void pgk_gen_drop_start_up(struct pgk_sample *profile);

/* The density of a finished profile, as llvm-profgen measures it: functions are taken by falling
 * samples per line until they have `share_ppm` millionths of all samples (0: 99 %); the last one's
 * samples per line, and which function that is; 0: there are no samples. */
int pgk_gen_density(const struct pgk_sample *profile, uint32_t share_ppm, double *density,
                    uint32_t *function, struct pgk_err *err);

#endif
