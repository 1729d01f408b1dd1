/* Functions of a sample profile by lines beside those of a build: where their lines are now.
 *
 *   calls of the profile ──► groups, by line ──► groups of calls of the build
 *
 * Lines without calls move as the calls around them did. */
#ifndef PGK_LINE_ALIGN_H
#define PGK_LINE_ALIGN_H

#include "build_index.h"
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
    uint32_t func;                  /* of the build; PGK_INDEX_NONE: gone */
    uint32_t first_group, n_groups;
    bool is_used;                   /* the profile has samples of it, or calls */
    bool is_renamed;                /* made unique otherwise, as after its file got another name */
};

struct pgk_line_align {
    struct pgk_build build, profiled; /* the latter empty unless it is known */
    PGK_VEC(struct pgk_line_call) calls;
    PGK_VEC(struct pgk_line_group) groups;
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
 * there. To be freed in any case. */
PGK_MUST_USE int pgk_line_align(struct pgk_line_align *a, const struct pgk_sample *profile,
                                struct pgk_binaries *binaries, struct pgk_binaries *profiled,
                                struct pgk_err *err);
void pgk_line_align_free(struct pgk_line_align *a);

/* A line of the function with that name, with the discriminator of its samples. */
struct pgk_line_found pgk_line_find(const struct pgk_line_align *a, uint32_t name, uint64_t loc);
/* A call of `callee`, both being names of the profile. */
struct pgk_line_found pgk_line_find_call(const struct pgk_line_align *a, uint32_t name,
                                         uint64_t loc, uint32_t callee, bool inlined);

#endif
