/* Sample profiles: what a sampling profiler saw, by function and line.
 *
 * A profile is a set of functions, or of calling contexts if it is context-sensitive. Each
 * has a total and a count of samples at its head, samples by line (offset from the function's
 * first line, and discriminator; or a probe id), call targets, types of objects (vtables), and
 * the same for the functions that were inlined into it.
 *
 * Counts are numbers of samples; sums stop at 2^64 - 1. A profile may be read by any number of
 * threads once it is finished, and changed by one. */
#ifndef PGOKIT_SAMPLE_H
#define PGOKIT_SAMPLE_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_sample;

/* An empty profile, owned by the caller. */
int pgk_sample_new(struct pgk_sample **profile, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_sample_close(struct pgk_sample **profile);

/* Bits of a function's attributes. */
enum pgk_sample_attribute {
    PGK_SAMPLE_WAS_INLINED = 1,     /* in the build that was profiled */
    PGK_SAMPLE_SHOULD_INLINE = 2,   /* decided by the profile generator */
    PGK_SAMPLE_IN_BASE = 4,         /* its samples are also in its function's own profile */
};

/* What a profile is and how much it holds. */
struct pgk_sample_info {
    size_t struct_size;      /* sizeof(struct pgk_sample_info), set by the caller */
    bool contexts;           /* context-sensitive */
    bool probes;             /* places are probe ids, functions have checksums */
    bool preinlined;         /* some function has PGK_SAMPLE_SHOULD_INLINE */
    bool flow_discriminators; /* discriminators are flow-sensitive */
    bool partial;            /* of code that several programs share */
    bool vtables;            /* there are types of objects */
    bool names_missing;      /* some names are known by their GUID alone */
    bool symbols;            /* there is a list of the program's symbols */
    size_t functions;        /* functions or contexts with a profile of their own */
    size_t n_symbols; /* of the list */
    size_t conflicts;        /* profiles left out as their checksum lost against another */
    uint64_t conflict_samples; /* samples in them */
    size_t attributed;       /* functions, contexts and inlinees with attributes */
    size_t unknown_blocks;   /* of composite profiles, and sections of files after
                              * pgk_sample_pass_sections, of types that are not known: not read */
};

/* Ends building: chooses between checksums, puts all into order. To be called after the last
 * change and before anything that reads; calling it again does nothing. */
int pgk_sample_finish(struct pgk_sample *profile, struct pgk_err *err);
/* Of a finished profile. */
void pgk_sample_info(const struct pgk_sample *profile, struct pgk_sample_info *info);

/* ---- walking ----
 *
 * A node is a function, a calling context, or a function inlined in one; 0 is none. Nodes and
 * strings belong to the finished profile and live until it is changed or closed. Any number of
 * threads may walk a profile that none changes:
 *
 *     for (size_t i = 0; i < pgk_sample_functions(profile); i++) {
 *         uint32_t node = pgk_sample_function_at(profile, i);
 *         struct pgk_sample_function f = {.struct_size = sizeof f};
 *         struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
 *         pgk_sample_get(profile, node, &f);
 *         while (pgk_sample_next_record(profile, &r))
 *             if (r.kind == PGK_SAMPLE_LINE)
 *                 printf("%s+%u: %lu\n", f.name, r.line, r.count);
 *     } */

/* Functions, or contexts, with a profile of their own; 0 if the profile is not finished. */
size_t pgk_sample_functions(const struct pgk_sample *profile);
/* The node of one of them, 0 <= i < pgk_sample_functions(), the one with the most samples first;
 * else 0. */
uint32_t pgk_sample_function_at(const struct pgk_sample *profile, size_t i);
/* The node of a function on its own, outside of any context, by its linkage name or its GUID in
 * decimal; 0 if it has no profile of its own. */
uint32_t pgk_sample_find_function(const struct pgk_sample *profile, const char *name);

/* What a node is. */
struct pgk_sample_function {
    size_t struct_size;     /* sizeof(struct pgk_sample_function), set by the caller */
    const char *name;       /* linkage name; "": known by its GUID alone */
    uint64_t guid;          /* of a name that is not known; else 0, see pgk_sample_guid() */
    uint64_t total;         /* samples in it and in what is inlined into it */
    uint64_t head;          /* samples that entered it */
    uint64_t checksum;      /* of a profile by probes: of the control flow graph; else 0 */
    uint32_t attributes;    /* bits of enum pgk_sample_attribute */
    uint32_t caller;        /* node that it is inlined into or called from; 0: none. The caller
                                 of a context need not have a profile of its own */
    uint32_t line;          /* of the call in the caller: lines after its first, or probe id */
    uint32_t discriminator; /* of the call in the caller; 0: none */
    bool inlined;           /* into the caller; else a function or a calling context */
    const char *file;       /* source file of the function of this name; "": unknown, or several */
    uint64_t first_run;     /* when the function of this name ran first, in any unit; 0: unknown */
};
/* Fills in `function`; false, with nothing done, if there is no such node. */
bool pgk_sample_get(const struct pgk_sample *profile, uint32_t node,
                    struct pgk_sample_function *function);
/* The functions inlined into a node, ordered by place: the first one, or 0. */
uint32_t pgk_sample_first_inlinee(const struct pgk_sample *profile, uint32_t node);
/* The one after `inlinee` in the same node, or 0. */
uint32_t pgk_sample_next_inlinee(const struct pgk_sample *profile, uint32_t inlinee);

/* What a record counts. */
enum pgk_sample_record_kind {
    PGK_SAMPLE_LINE,   /* samples of a line or probe */
    PGK_SAMPLE_TARGET, /* calls from there to a function */
    PGK_SAMPLE_TYPE,   /* objects of a type, named by its virtual table, that were used there */
};
/* A count at a place of a node. */
struct pgk_sample_record {
    size_t struct_size; /* sizeof(struct pgk_sample_record), set by the caller */
    uint32_t node;      /* whose records; set by the caller */
    uint32_t position;  /* 0 in the beginning; then of pgk_sample_next_record() alone */
    enum pgk_sample_record_kind kind; /* what is counted */
    uint32_t line;          /* lines after the function's first, or probe id */
    uint32_t discriminator; /* 0: none */
    uint64_t count;         /* samples, calls or objects; sums stop at 2^64 - 1 */
    const char *name;       /* of the target or type; "": known by its GUID alone, or a line */
    uint64_t guid;          /* of a name that is not known; else 0, see pgk_sample_guid() */
};
/* Goes on to the next record of a node, ordered by place, a line before its targets and those
 * before its types; false after the last one. */
bool pgk_sample_next_record(const struct pgk_sample *profile, struct pgk_sample_record *record);

/* Symbol 0 <= i < n_symbols of the list of the program's symbols (pgk_sample_info()), in decimal
 * where only its GUID is known; else
 * NULL. */
const char *pgk_sample_symbol_at(const struct pgk_sample *profile, size_t i);
/* The GUID that compilers know a name by: the first 8 bytes of its MD5, least significant first;
 * of a GUID in decimal that number. Thread-safe. */
uint64_t pgk_sample_guid(const char *name);

/* ---- building ----
 *
 * From the caller's own samples, in any order; what is added twice is added up. Nodes that these
 * functions give are good for adding to the profile until it is finished, and for walking it
 * afterwards. One thread per profile. All return PGK_E_ARG for a finished profile, for a node that
 * is not there and for an empty name or one with a line break, PGK_E_LIMIT for a line beyond 65535
 * and for functions that are nested 1000 deep, and PGK_E_NOMEM; after any failure the profile is
 * as it was and can be added to.
 *
 *     pgk_sample_new(&profile, &err);
 *     pgk_sample_build_function(profile, "main", &main_node, &err);
 *     pgk_sample_build_line(profile, main_node, 4, 0, 120, &err);
 *     pgk_sample_build_inlinee(profile, main_node, 4, 0, "parse", &parse_node, &err);
 *     pgk_sample_build_line(profile, parse_node, 1, 0, 80, &err);
 *     pgk_sample_build_totals(profile, &err);
 *     pgk_sample_finish(profile, &err);
 *
 * A name that is a decimal number above 2^32 is the GUID of a function. */

/* Says what a new profile is: context-sensitive, and by probes (whose ids stand for lines, and
 * whose functions have checksums). To be called before anything is added; without it, a profile
 * is by lines and without contexts. */
int pgk_sample_build_kind(struct pgk_sample *profile, bool contexts, bool probes,
                          struct pgk_err *err);
/* Adds a function, or finds the one of this linkage name; `*node` is its node. */
int pgk_sample_build_function(struct pgk_sample *profile, const char *name, uint32_t *node,
                              struct pgk_err *err);
/* A call on the path to a context. */
struct pgk_sample_call {
    const char *function;   /* linkage name of the caller */
    uint32_t line;          /* of the call: lines after the caller's first, or probe id */
    uint32_t discriminator; /* 0: none */
};
/* Adds, or finds, the context of function `name` called through `n` calls, outermost first.
 * Callers need no profile of their own. PGK_E_ARG if the profile is not context-sensitive. */
int pgk_sample_build_context(struct pgk_sample *profile, const struct pgk_sample_call *callers,
                             size_t n, const char *name, uint32_t *node, struct pgk_err *err);
/* Adds, or finds, the function `name` inlined at a place of `parent`. */
int pgk_sample_build_inlinee(struct pgk_sample *profile, uint32_t parent, uint32_t line,
                             uint32_t discriminator, const char *name, uint32_t *node,
                             struct pgk_err *err);
/* Adds samples of a place: `line` is counted from the function's first line (0 to 65535) or a
 * probe id, `discriminator` distinguishes blocks of a line (0: none). */
int pgk_sample_build_line(struct pgk_sample *profile, uint32_t node, uint32_t line,
                          uint32_t discriminator, uint64_t samples, struct pgk_err *err);
/* Adds calls of the function `name` from a place. */
int pgk_sample_build_target(struct pgk_sample *profile, uint32_t node, uint32_t line,
                            uint32_t discriminator, const char *name, uint64_t calls,
                            struct pgk_err *err);
/* Adds objects of a type, named by its virtual table ("_ZTV5Shape"), used at a place. */
int pgk_sample_build_type(struct pgk_sample *profile, uint32_t node, uint32_t line,
                          uint32_t discriminator, const char *name, uint64_t objects,
                          struct pgk_err *err);
/* Adds to the node's samples in total, which include those of what is inlined into it, and to
 * the samples that entered it. */
int pgk_sample_build_counts(struct pgk_sample *profile, uint32_t node, uint64_t total,
                            uint64_t head, struct pgk_err *err);
/* Instead of totals by pgk_sample_build_counts(): sets the total of every node to the sum of its
 * lines and of the totals inlined into it. To be called last; heads stay as they are. */
int pgk_sample_build_totals(struct pgk_sample *profile, struct pgk_err *err);
/* Says in which source file the node's function is (NULL or "": unknown), and when it ran first, in
 * any unit (0: unknown); of what is said several times, the earliest time counts. Profiles for
 * gcc 16 hold both. */
int pgk_sample_build_origin(struct pgk_sample *profile, uint32_t node, const char *file,
                            uint64_t first_run, struct pgk_err *err);
/* Sets the checksum of the control flow graph that the node's probes belong to. PGK_E_ARG if the
 * profile is not by probes. */
int pgk_sample_build_checksum(struct pgk_sample *profile, uint32_t node, uint64_t checksum,
                              struct pgk_err *err);
/* Adds attributes, bits of enum pgk_sample_attribute, to a node. */
int pgk_sample_build_attributes(struct pgk_sample *profile, uint32_t node, uint32_t attributes,
                                struct pgk_err *err);
/* Adds a name to the list of the program's symbols. */
int pgk_sample_build_symbol(struct pgk_sample *profile, const char *name, struct pgk_err *err);

/* Adds `from`, which need not be finished, `weight` times to `into`. The order of merging
 * never matters. PGK_E_MISMATCH if only one has contexts or probes. */
int pgk_sample_merge(struct pgk_sample *into, const struct pgk_sample *from, uint64_t weight,
                     struct pgk_err *err);

/* ---- summary ---- */

enum {
    PGK_SAMPLE_CUTOFFS = 16, /* rows that a summary has at most */
};
/* The lines with the most samples that make up `ppm` millionths of all samples. */
struct pgk_sample_cutoff {
    uint64_t ppm; /* millionths of all samples */
    uint64_t min_count;  /* samples of the coldest of them */
    uint64_t num_counts; /* how many they are */
};
/* As compilers take it from a profile: lines of functions and inlinees, each once. */
struct pgk_sample_summary {
    size_t struct_size;          /* sizeof(struct pgk_sample_summary), set by the caller */
    uint64_t total_count;        /* sum of samples, modulo 2^64 as LLVM has it */
    uint64_t max_count;          /* of a line */
    uint64_t max_function_count; /* head samples of a function */
    uint64_t num_counts;         /* lines */
    uint64_t num_functions; /* functions or contexts */
    size_t n_cutoffs; /* number of them */
    struct pgk_sample_cutoff cutoffs[PGK_SAMPLE_CUTOFFS]; /* by rising share */
};
/* Of a finished profile, whatever its file said. */
int pgk_sample_summarise(const struct pgk_sample *profile, struct pgk_sample_summary *summary,
                         struct pgk_err *err);
/* Do compilers take the same from both? Of stored and computed summaries, whose cutoffs may be
 * other ones: those at the same position that are for the same share are compared. */
bool pgk_sample_summaries_agree(const struct pgk_sample_summary *a,
                                const struct pgk_sample_summary *b);
/* Counts from which LLVM takes a line for hot, or up to which for cold. */
uint64_t pgk_sample_hot_count(const struct pgk_sample_summary *summary);
/* The count up to which LLVM takes a line for cold. */
uint64_t pgk_sample_cold_count(const struct pgk_sample_summary *summary);

/* ---- comparing ---- */

/* How much two profiles have in common. Shares are 0 to 1; a line, function or block is of one
 * side if the other has it not, or not hot. */
struct pgk_sample_overlap {
    double similarity;      /* of where the samples are, by share; 1: the same everywhere */
    double sample_overlap;  /* samples that both have, of those that either has */
    double base_unique, test_unique; /* samples in places that the other side has not */
    uint64_t base_samples, test_samples; /* of the two profiles */
    uint64_t functions_both, functions_base, functions_test; /* in both, or of one side */
    uint64_t hot_functions_both;                     /* in both profiles */
    uint64_t hot_functions_base, hot_functions_test; /* of one side */
    uint64_t hot_lines_both, hot_lines_base, hot_lines_test; /* hot in both, or of one side */
};
/* A function or context on one side or both. */
struct pgk_sample_change {
    const char *function;           /* as the text format has it; of the diff */
    uint64_t base_samples, test_samples; /* in it; 0 if one side does not have it */
    double base_share, test_share;  /* of all samples */
    double similarity, overlap;     /* 0 to 1; 0 if one side does not have it */
};
struct pgk_sample_diff;
/* Compares two finished profiles, which must outlive the result. Functions are the same if their
 * names are, so see pgk_sample_exchange_names. PGK_E_EMPTY if one has no samples. */
int pgk_sample_compare(struct pgk_sample_diff **diff, const struct pgk_sample *base,
                       const struct pgk_sample *test, struct pgk_err *err);
/* What is common; belongs to the comparison. */
const struct pgk_sample_overlap *pgk_sample_diff_overlap(const struct pgk_sample_diff *diff);
/* All functions, the one first whose share of all samples moved most. */
const struct pgk_sample_change *pgk_sample_diff_changes(const struct pgk_sample_diff *diff,
                                                        size_t *n);
/* What `pgokit diff --fail-on` compares with its limits. */
struct pgk_sample_diff_figures {
    size_t struct_size; /* sizeof(struct pgk_sample_diff_figures), set by the caller */
    /* In per cent of the samples of base; 1e9 if that has none and test has some: */
    double growth_percent; /* samples; less than 0: fewer than before */
    double new_percent;    /* samples in functions that base does not have */
    double moved_points;   /* of the function whose share of all samples moved most, by how many
                              percentage points, up or down */
};
/* Fills in the figures of a comparison. */
void pgk_sample_diff_figures(const struct pgk_sample_diff *diff,
                             struct pgk_sample_diff_figures *figures);
/* Nulls the pointer; accepts NULL. */
void pgk_sample_diff_close(struct pgk_sample_diff **diff);

/* ---- changing ----
 *
 * Each of these may be called before or after pgk_sample_finish. Those that take the address
 * of a profile replace it by a new one, which is not finished; on failure it is as it was. */

/* Leaves only functions or contexts, as the text format has them, that match `keep` and do not
 * match `drop`, which are POSIX extended regular expressions or NULL. A pattern that is the
 * name of a function known by its GUID matches, too. */
int pgk_sample_filter(struct pgk_sample *profile, const char *keep, const char *drop,
                      struct pgk_err *err);

/* Other shapes of a profile. */
enum pgk_sample_layout {
    PGK_SAMPLE_FLAT,   /* functions: samples of inlinees go to the function inlined */
    PGK_SAMPLE_NESTED, /* contexts become inlinees of their callers */
    PGK_SAMPLE_NESTED_AND_BASE, /* and are added to their function's own profile, too */
};
/* Gives a profile another shape. */
int pgk_sample_relayout(struct pgk_sample **profile, enum pgk_sample_layout layout,
                        struct pgk_err *err);

/* Which contexts are cold, and what becomes of them. */
struct pgk_sample_trim_opts {
    size_t struct_size;   /* sizeof(struct pgk_sample_trim_opts) */
    bool merge, trim;     /* add cold contexts to shorter ones; leave cold ones out */
    unsigned depth;       /* frames that a merged context keeps; 0: 1 */
    uint64_t cold_below;  /* samples; 0: the summary's count of the coldest lines */
    bool functions_only;  /* of trim without merge: contexts stay */
    uint32_t cold_share;  /* if cold_below is 0: millionths of all samples that the hottest lines
                           * have, the last of which is just cold; 0: 999999 */
};
/* Of a context-sensitive profile; any other is left as it is. */
int pgk_sample_trim(struct pgk_sample **profile, const struct pgk_sample_trim_opts *opts,
                    struct pgk_err *err);

/* What compilers append to names. */
enum pgk_sample_suffixes {
    PGK_SAMPLE_SUFFIXES_SELECTED, /* .llvm.N and .part.N, as compilers drop them */
    PGK_SAMPLE_SUFFIXES_ALL,      /* from the first dot on */
    PGK_SAMPLE_SUFFIXES_GCC,      /* of gcc's clones and parts: .isra.N, .constprop.N, .part.N,
                                     .cold.N and .cold, all that there are */
};
/* Names without what compilers append; functions that get one name are added up. */
int pgk_sample_canonicalise(struct pgk_sample **profile, enum pgk_sample_suffixes suffixes,
                            struct pgk_err *err);
/* Renames by a file of lines "OLD NEW", everywhere: functions, contexts, call targets,
 * inlinees, vtables, symbols. What gets one name is added up. */
int pgk_sample_remap(struct pgk_sample **profile, const char *path, struct pgk_err *err);

/* Says that the discriminators are flow-sensitive, which text and raw binary cannot say. */
void pgk_sample_mark_flow(struct pgk_sample *profile);
/* From now on, sections of extensible binary profiles of types that are not known are passed over
 * instead of refused, as LLVM does. They may change what the others mean: for showing only.
 * pgk_sample_info has their number as `unknown_blocks`. */
void pgk_sample_pass_sections(struct pgk_sample *profile);
/* Flow-sensitive discriminators as an early pass of the compiler sees them: their 8, 14, 20 or 26
 * low bits. Places that become equal are added up. PGK_E_ARG if the profile has none. */
enum pgk_sample_flow_pass {
    PGK_SAMPLE_FLOW_BASE, /* 8 bits */
    PGK_SAMPLE_FLOW_PASS1, /* 14 bits */
    PGK_SAMPLE_FLOW_PASS2, /* 20 bits */
    PGK_SAMPLE_FLOW_PASS3, /* 26 bits */
};
/* Cuts discriminators to those of a pass. */
int pgk_sample_reduce_flow(struct pgk_sample **profile, enum pgk_sample_flow_pass pass,
                           struct pgk_err *err);

/* Adds the symbols of a file, one per line, to the symbol list. */
int pgk_sample_add_symbols(struct pgk_sample *profile, const char *path, struct pgk_err *err);
/* Spells names that are known by GUID alone, if the file has them, one per line. */
int pgk_sample_name_from_file(struct pgk_sample *profile, const char *path, struct pgk_err *err);
/* The same from the symbols of the binaries. */
int pgk_sample_name_from_binaries(struct pgk_sample *profile, struct pgk_binaries *binaries,
                                  struct pgk_err *err);
/* Spells names that one profile knows by GUID alone as the other has them. */
int pgk_sample_exchange_names(struct pgk_sample *a, struct pgk_sample *b, struct pgk_err *err);

/* ---- writing ---- */

/* Forms of sample profiles on disk. */
enum pgk_sample_encoding {
    PGK_SAMPLE_EXT_BINARY, /* LLVM's extensible binary */
    PGK_SAMPLE_TEXT, /* for people, and for LLVM */
    PGK_SAMPLE_BINARY,     /* LLVM's raw binary */
    PGK_SAMPLE_GCC,        /* for gcc -fauto-profile; which release, the options say */
    PGK_SAMPLE_ENCODINGS, /* number of them */
};

/* How a sample profile is written. */
struct pgk_sample_write_opts {
    size_t struct_size;  /* sizeof(struct pgk_sample_write_opts) */
    enum pgk_sample_encoding encoding; /* the form */
    /* Of extensible binary: */
    bool md5;            /* names as GUIDs; always so where a spelling is missing */
    bool compress;       /* all sections with zlib */
    bool vtables;        /* write types of objects, which LLVM 22 and later read; text, too */
    bool split_layout;   /* functions without inlinees in a section of their own; in text, a
                            mark on them, which LLVM 22 and later read */
    bool partial;        /* mark as the profile of shared code */
    bool drop_symbols;   /* leave the symbol list out */
    uint64_t size_limit; /* bytes; leave the coldest functions out to fit; 0: no limit */
    uint32_t version;    /* of extensible binary: 103, 104 for LLVM 23 and later, or 105 for LLVM
                            24; 0: 103, or 105 for `composite` */
    unsigned gcc_release; /* of PGK_SAMPLE_GCC: 11, for gcc 5 to 11, to 16; 0: 15 */
    bool by_name;        /* of text: functions by name, not the one with the most samples first */
    /* Of extensible binary, for LLVM 24 and later: */
    bool indexed;        /* names as GUIDs, and both tables in an order in which a reader finds a
                            function without reading them; a profile with contexts keeps its own */
    bool symbol_guids;   /* the symbol list as GUIDs in that order */
    bool composite;      /* records of blocks with a type, in version 105 */
};
/* Sets `encoding` and `gcc_release` to what a name says: that of an encoding, or a release of gcc
 * as "gcc16"; or, for "llvm14" to "llvm24", extensible binary with what that release can read:
 * `vtables` since 22, `indexed` and `symbol_guids` since 24. Compilers make different things of one
 * profile, so for a release of gcc names of clones, discriminators and heads are changed such that
 * it makes of them what was meant. PGK_E_ARG if there is no such target. */
int pgk_sample_write_for(struct pgk_sample_write_opts *opts, const char *target,
                         struct pgk_err *err);
/* Whether what is written holds when functions ran first (pgk_sample_origin). */
bool pgk_sample_write_holds_times(const struct pgk_sample_write_opts *opts);
/* What a writer had to leave out. */
struct pgk_sample_written {
    size_t struct_size; /* sizeof(struct pgk_sample_written), set by the caller */
    size_t functions_dropped;   /* by size_limit */
    size_t vtables_dropped;     /* records of types */
    bool symbols_dropped; /* the list of symbols */
    bool checksums_dropped, attributes_dropped; /* of functions */
    bool flow_dropped;          /* the mark of flow-sensitive discriminators */
    bool partial_dropped;       /* the mark of shared code */
    bool md5;                   /* names are GUIDs although they were not asked for; in text
                                   those that are known by their GUIDs alone */
    size_t discriminators_cut;  /* lines and inlinees whose discriminator has more bits than the
                                   format: what differs in those bits alone is added up */
    size_t contexts_dropped; /* calling contexts, whose samples their functions have instead */
    size_t lines_merged;     /* lines and inlinees that differed in discriminators alone, of which
                                the compiler does not know: a line has the largest count of these */
    size_t origins_dropped;  /* functions whose source file or time of first run was known */
    size_t discriminators_dropped; /* lines and inlinees with a discriminator, which the compiler
                                      does not know at all */
    size_t clones_joined;  /* clones and parts of functions, whose samples stand under the name of
                              their function, as the compiler looks them up */
    size_t heads_raised;   /* nothing is lost: functions whose head samples are now the larger
                              count of entries, because the compiler scales all counts by them */
    size_t totals_dropped; /* functions whose total is not the sum of their lines and inlinees,
                              which is what readers of the format take for it */
    size_t symbols_unspelled; /* symbols known by their GUID alone, which a list of GUIDs holds */
    size_t blocks_dropped; /* blocks of composite profiles of unknown types */
};
/* Writes a finished profile; "-" is standard output. `written` may be NULL. PGK_E_ARG for no
 * encoding. */
int pgk_sample_write(const struct pgk_sample *profile, const char *path,
                     const struct pgk_sample_write_opts *opts, struct pgk_sample_written *written,
                     struct pgk_err *err);

/* Writes all there is in a profile that is not finished yet, for merging in shards: what is made
 * of several partial profiles is what would be made of all their inputs at once, also where
 * functions differ in checksum. Only pgokit reads it, as any sample profile. The profile is then
 * only good for closing. */
int pgk_sample_write_partial(struct pgk_sample *profile, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
