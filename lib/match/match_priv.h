/* Matches a heap profile with the calls of another build.
 *
 *   stacks of the profile ──► calls: caller, place, callee ──► calls of the build (build_index.h)
 *
 * The tree of stacks is walked from the entry on, so that the function of a frame is that which the
 * call before it calls: statics of one name are distinguished by their callers. Each call of the
 * profile is looked up once (call_match.c) for each function of the build that may hold it. */
#ifndef PGK_MATCH_PRIV_H
#define PGK_MATCH_PRIV_H

#include "call_align.h"
#include "build_index.h"
#include "heap_match.h"
#include "heap_model.h"
#include "pgokit/match.h"

/* A call of the profile: its key, and what was found. */
struct pgk_match_call {
    uint32_t from;     /* function of the build */
    uint32_t old_func; /* of the profile */
    uint32_t callee;   /* function of the profile; PGK_INDEX_NONE: of an allocation */
    uint64_t where;    /* pgk_frame_place() */
    bool inlined;      /* the callee was */
    bool merged;       /* only code without a line is looked at */
    bool past_gone;    /* its caller is missing, but the caller's caller is there */

    uint8_t level;
    bool renamed;  /* the callee has another name */
    uint32_t call; /* of the build, or PGK_INDEX_NONE */
    uint32_t via;  /* of the function that `call` calls, if that is new; else PGK_INDEX_NONE */

    uint64_t contexts, bytes; /* that go through it */
};

/* The state of a stack of the profile. */
struct pgk_match_node {
    uint32_t func; /* of the build, for the frame on top; PGK_INDEX_NONE: not there */
    uint32_t call; /* by which it was called: of `calls`, or PGK_INDEX_NONE */
    uint32_t base; /* the stack itself, or without `func` the nearest one below that has one; 0 */
    uint32_t caller; /* stack whose frame has the call */
    uint8_t level; /* worst of the calls up to this one */
    bool used;     /* by a context */
    bool unsure;   /* `func` is one of several of the name */
};

/* Calls that are known in a function as it was profiled: by function, place, callee. */
struct pgk_old_call {
    uint32_t func, callee;
    uint64_t where;
    bool recorded; /* contexts go through it; else only the profiled build has it */
};
/* Callees are functions of the profile, PGK_INDEX_NONE for an allocation, and of the profiled build
 * also this for a call by address, and functions that the profile does not have: their number there
 * added to that of the profile's functions. */
#define PGK_OLD_BY_ADDRESS (PGK_INDEX_NONE - 1)

/* A function of the profile matched with one of the build: aligned places of the former. */
struct pgk_func_pair {
    uint32_t old_func, func;
    uint32_t first; /* of `aligned` and `places` */
};

/* Calls at one place, of the build or of the profile. */
struct pgk_call_group {
    uint32_t first, end;
};

/* A function of the build by the name of its file, without folders. */
struct pgk_func_in_file {
    uint64_t file; /* hash of it */
    uint32_t func;
};

struct pgk_match {
    const struct pgk_heap *heap;
    struct pgk_build build;
    struct pgk_build profiled; /* empty unless it was given */
    PGK_VEC(struct pgk_match_call) calls;
    struct pgk_index call_index;
    struct pgk_match_node *nodes;  /* by stack */
    uint32_t *leaf_call;           /* by context */
    uint32_t *leaf_caller;         /* by context: stack whose frame has that call */
    uint8_t *level;                /* by context */
    struct pgk_match_totals totals[PGK_MATCH_LEVELS + 1];
    struct pgk_match_totals shortened; /* not found, but for inner calls */
    struct pgk_match_totals likeliest; /* of these, where one of the calls is ambiguous */

    /* By function of the profile: functions of the build it may be, in `candidates`. */
    PGK_VEC(uint32_t) candidates;
    uint32_t *first_candidate;
    uint32_t *renamed; /* by function of the profile: of the build, or PGK_INDEX_NONE */
    bool *looked_in_file; /* by function of the profile: for another name of it */
    PGK_VEC(struct pgk_func_in_file) in_files; /* by file; empty until one is looked for */
    bool *known;       /* by function of the build: the profile has it */
    PGK_VEC(struct pgk_old_call) old_calls;
    uint32_t *first_old_call; /* by function of the profile */

    PGK_VEC(struct pgk_func_pair) pairs;
    struct pgk_index pair_index;
    PGK_VEC(struct pgk_aligned) aligned;
    PGK_VEC(uint64_t) places;
    PGK_VEC(struct pgk_call_group) groups; /* that `aligned` refers to */

    PGK_VEC(uint32_t) changes; /* of `calls`: those that are not exact, the heaviest first */
};

/* How certain it is that a call of the build calls a function of the profile. */
enum pgk_calls { PGK_CALLS_NOT, PGK_CALLS_ELSEWHERE, PGK_CALLS_ADDRESS, PGK_CALLS_SURELY };
enum pgk_calls pgk_match_calls(const struct pgk_match *m, uint32_t call, uint32_t callee);

/* Adds the calls of the profiled build, in functions of the profile. */
PGK_MUST_USE bool pgk_match_add_profiled(struct pgk_match *m);
/* Finds functions of the build for those of the profile; PGK_E_MISMATCH if there are none. */
PGK_MUST_USE int pgk_match_functions(struct pgk_match *m, struct pgk_err *err);
/* The candidate that has a call at this place, if there are several; *ambiguous if several have. */
uint32_t pgk_match_pick(const struct pgk_match *m, uint32_t old_func, uint64_t where,
                        bool *ambiguous);
/* A function of the build that `from` calls and that calls what the profile knows `old_func` to
 * call, if there is one alone and the profile does not know it; else PGK_INDEX_NONE. */
uint32_t pgk_match_renamed(const struct pgk_match *m, uint32_t from, uint32_t old_func);
/* One of the same file and of a name that is alike, which neither the profile nor the profiled
 * build knows, and that calls what the profile knows `old_func` to call, if there is one alone;
 * else *func is PGK_INDEX_NONE. False when out of memory. */
PGK_MUST_USE bool pgk_match_renamed_in_file(struct pgk_match *m, uint32_t old_func,
                                            uint32_t *func);
/* As pgk_match_stack() of a context that was not found: its inner calls up to the first that was
 * not found. If these are less than two, the first two are where they most likely are; 0 if there
 * are not as many. */
size_t pgk_match_inner_stack(const struct pgk_match *m, size_t context,
                             struct pgk_heap_frame *frames, size_t max, bool *likeliest);
/* Looks for a call of the profile in function `from` of the build: *at is its position in m->calls.
 */
PGK_MUST_USE int pgk_match_call(struct pgk_match *m, const struct pgk_match_call *key,
                                uint32_t *at, struct pgk_err *err);
/* Is the place of the function without a line? */
bool pgk_match_is_line_zero(const struct pgk_match *m, uint32_t func, uint64_t where);

static inline uint32_t pgk_place_offset(uint64_t where)
{
    return (uint32_t)(where >> 32);
}

static inline bool pgk_same_column(uint32_t a, uint32_t b)
{
    return a == b || !a || !b;
}

#endif
