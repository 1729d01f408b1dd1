/* Matches functions of a sample profile with those of a build: where their lines, or probes, are
 * now.
 *
 *   calls of the profile ──► groups, by line ──► groups of calls of the build
 *
 * Lines without calls move as the calls around them did. Numbers of probes follow the source as
 * lines do, and are unchanged if the checksum of the function is. */
#ifndef PGK_LINE_ALIGN_H
#define PGK_LINE_ALIGN_H

#include "build_index.h"
#include "function_hashes.h"
#include "pgokit/match.h"
#include "sample_model.h"

/* A call that is known in a function as it was profiled. */
struct pgk_line_call {
    uint32_t func;   /* name of the profile */
    uint32_t line;
    uint64_t callee; /* GUID without what compilers add to names; 0: called by its address */
};

/* Calls of one line. */
struct pgk_line_group {
    uint32_t line, first, end; /* of `calls` */
    uint32_t to;      /* line in the build; PGK_INDEX_NONE: not there */
    bool ambiguous;
};

/* A function of the profile. */
struct pgk_line_func {
    uint64_t guid;
    uint64_t checksum;              /* that a node of it has; 0: none has */
    uint32_t func;                  /* of the build; PGK_INDEX_NONE: gone */
    uint32_t first_group, n_groups;
    uint32_t n_paired;              /* groups that are in the build */
    bool is_used;                   /* the profile has samples of it, or calls */
    bool has_new_name;              /* line_rename.c found it under another one */
    bool is_renamed;                /* that, or made unique otherwise: its file has another name */
};

struct pgk_line_align {
    struct pgk_build build, profiled; /* the latter empty unless it is known */
    PGK_VEC(struct pgk_line_call) calls;
    PGK_VEC(struct pgk_line_group) groups;
    bool by_probes;
    struct pgk_hashes hashes; /* of the build; by probes */
    struct pgk_line_func *funcs; /* by name of the profile */
    uint32_t n_funcs;
};

/* Where a line or a call is in the build. */
struct pgk_line_found {
    enum pgk_match_level level;
    uint32_t line;
    bool has_line;
    bool line_zero; /* in the profile */
};

/* Reads both builds (`profiled` may be NULL) and aligns all functions. PGK_E_MISMATCH if none is
 * there, by probes PGK_E_EMPTY if the build has none. To be freed in any case. */
PGK_MUST_USE int pgk_line_align(struct pgk_line_align *a, const struct pgk_sample *profile,
                                struct pgk_binaries *binaries, struct pgk_binaries *profiled,
                                struct pgk_err *err);
void pgk_line_align_free(struct pgk_line_align *a);

/* Finds functions that were renamed: known by their new GUID from then on. False when out of
 * memory. */
PGK_MUST_USE bool pgk_line_find_renamed(struct pgk_line_align *a, const struct pgk_sample *p);

/* How the checksum of a node compares, by probes: exact, by another name, of another checksum, or
 * gone; *now is that of the build, or 0. */
enum pgk_match_level pgk_line_checksum(const struct pgk_line_align *a, const struct pgk_sample *p,
                                       uint32_t node, uint64_t *now);
/* A place of a node. */
struct pgk_line_found pgk_line_find(const struct pgk_line_align *a, const struct pgk_sample *p,
                                    uint32_t node, uint64_t loc);
/* The call that a node, which has a caller, is inlined or entered through. */
struct pgk_line_found pgk_line_find_call(const struct pgk_line_align *a,
                                         const struct pgk_sample *p, uint32_t node);

#endif
