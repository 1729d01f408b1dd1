/* From a heap profile to a plan for the allocator.
 *
 *   heap profile ──► contexts with their calls ──► groups ──► trie of calls ──► file
 *              placement_calls.c       placement_choose.c  placement_trie.c  placement_write.c
 *                                              ▲                │
 *                                              └────────────────┘ placement_gain.c: groups that the
 *                                                                 trie cannot tell apart or that
 *                                                                 bring nothing are left out
 */
#ifndef PGK_PLACEMENT_H
#define PGK_PLACEMENT_H

#include "arena.h"
#include "fail.h"
#include "pgokit/plan.h"
#include "placement_plan.h"
#include "vec.h"

enum {
    PGK_PLAN_CLASS_BYTES = 64, /* fine enough to separate contexts by size */
    PGK_PLAN_CLASSES = 224,    /* up to 14 KiB: larger objects have pages of their own */
};

/* Why a context is where it is. */
enum pgk_plan_reason {
    PGK_PLAN_SPLIT,
    PGK_PLAN_SMALL, /* hardly any memory at the peak */
    PGK_PLAN_LARGE, /* objects of whole pages */
    PGK_PLAN_MIXED, /* objects that live shortly and long */
    PGK_PLAN_SHARED, /* its calls are those of other groups, too */
    PGK_PLAN_BUSY,   /* to look at its calls costs more than it brings */
    PGK_PLAN_GAINLESS, /* apart from others they would not lie much closer together */
    PGK_PLAN_NO_CALL, /* it is not known which calls of the build it goes through */
    PGK_PLAN_UNDECIDED, /* more samples are needed */
    PGK_PLAN_UNNAMED, /* the file of the plan does not have its calls */
    PGK_PLAN_REASONS,
};

/* A call, in the addresses of its module's file: the last byte of the instruction. */
struct pgk_plan_call {
    uint64_t address;
    uint32_t module;
};

/* A context. Its stack is of steps, leaf first; each is one call of several that compilers made of
 * the same place. */
struct pgk_plan_step {
    uint32_t first, n; /* of plan->calls */
};
struct pgk_plan_context {
    uint32_t first_step, n_steps;
    const char *names; /* of the first functions, leaf first, with lines; addresses if unknown */
    uint64_t total;   /* bytes of all objects */
    uint64_t peak;    /* bytes alive at the peak, or an estimate */
    uint64_t kept;    /* bytes alive at the end */
    uint64_t sure_peak; /* the same, of a sampled profile at least; 0: its life is not sure */
    uint64_t objects, lifetime_ms, longest_ms; /* mean, longest */
    uint64_t accesses;
    uint32_t class_low, class_high; /* sizes */
    uint32_t group;
    enum pgk_plan_reason reason;
};

/* The bytes that a group held in a process, from libpgokit_alloc. */
struct pgk_plan_held {
    uint64_t objects, pages, empty; /* bytes: of objects, of pages with some, of pages without */
};
enum {
    PGK_PLAN_HINT_COLD = 14, /* the allocator's groups of hints follow those of plans */
    PGK_PLAN_HINT_HOT = 15,
    PGK_PLAN_HELD = 16,
};

/* Lookups of the allocator beyond the call that allocates, over the whole run. */
struct pgk_plan_looks {
    uint64_t allocations; /* that are looked at so */
    uint64_t tenths_ns;   /* of processor time, by what a step takes on an x86-64 of about 3 GHz */
    uint64_t apart;       /* objects at the peak that are in a group */
};

/* The calls that are looked at beyond the one that allocates, by what decided that they are. */
struct pgk_plan_decided {
    uint32_t by_time, by_memory; /* calls that allocate */
};

struct pgk_plan {
    struct pgk_arena arena;
    PGK_VEC(struct pgk_placement_module) modules;
    PGK_VEC(struct pgk_plan_call) calls;
    PGK_VEC(struct pgk_plan_step) steps;
    PGK_VEC(struct pgk_plan_context) contexts; /* by falling peak */
    PGK_VEC(struct pgk_placement_node) nodes;
    uint32_t n_groups, depth;
    uint64_t run_ms;      /* how long the program ran, as far as is known */
    bool knows_accesses, knows_peak;
    bool knows_held;
    struct pgk_plan_looks looks;
    struct pgk_plan_decided decided; /* none of a plan that was read */
    struct pgk_plan_held held[PGK_PLAN_HELD]; /* by group */
};

/* The module of this build id, added if it is new; UINT32_MAX without memory. */
uint32_t pgk_plan_module(struct pgk_plan *plan, const uint8_t *id, size_t size);

/* Fills contexts and their calls. */
PGK_MUST_USE int pgk_plan_add_contexts(struct pgk_plan *plan, const struct pgk_heap *heap,
                                       const struct pgk_match *match,
                                       struct pgk_binaries *binaries, struct pgk_err *err);
/* Gives contexts their names. */
PGK_MUST_USE int pgk_plan_name_contexts(struct pgk_plan *plan, const struct pgk_heap *heap,
                                        const struct pgk_match *match,
                                        struct pgk_binaries *binaries, struct pgk_err *err);
/* Gives contexts their groups, of which there are at most so many. */
PGK_MUST_USE int pgk_plan_choose(struct pgk_plan *plan, uint32_t groups, struct pgk_err *err);
/* By falling weight, in the same order whatever that of the profile is. */
void pgk_plan_sort_contexts(struct pgk_plan *plan);
/* A life is much longer than another one, by so much that it is no chance. */
bool pgk_plan_lives_longer(uint64_t ms, uint64_t than_ms);
/* Objects of it have pages of their own. */
bool pgk_plan_is_large(const struct pgk_plan_context *c);
/* Gives contexts the groups that the nodes lead to, and the plan what looking at them takes; those
 * without any get the reason. */
void pgk_plan_take_found_groups(struct pgk_plan *plan, enum pgk_plan_reason otherwise);
/* Makes the nodes, instead of those that there are. */
PGK_MUST_USE int pgk_plan_make_trie(struct pgk_plan *plan, struct pgk_err *err);
/* Leaves out groups that bring nothing or too little for what looking at calls costs, and gives
 * contexts the groups that the trie finds. */
PGK_MUST_USE int pgk_plan_keep_worthy(struct pgk_plan *plan, struct pgk_err *err);

/* Leaves out modules that no node is in: a plan is not for a build of them. The last step, as calls
 * keep the numbers that modules had. */
void pgk_plan_drop_modules(struct pgk_plan *plan);

/* Accesses for each byte of all objects. */
double pgk_plan_mean_density(const struct pgk_plan *plan);
/* Its objects live for a good part of the run and are accessed much more rarely than others. */
bool pgk_plan_is_cold(const struct pgk_plan *plan, uint32_t group);
/* Its objects are accessed as often as all are on average, for each byte, or more. */
bool pgk_plan_is_hot(const struct pgk_plan *plan, uint32_t group);

/* Bytes of pages that a group's objects lie on at the peak: among all others of their size, and
 * apart from them. */
struct pgk_plan_pages {
    uint64_t scattered, apart;
};
struct pgk_plan_pages pgk_plan_pages_of(const struct pgk_plan *plan, uint32_t group);
/* Bytes of pages with the plan and without it: to go over the objects of each group once; kept by
 * what is alive at the end; held by what lives on when what lives shortly has been freed; with
 * objects that are accessed often. Nothing is known of the second and third without a peak, of the
 * last without accesses. */
enum pgk_plan_gain {
    PGK_PLAN_GAIN_TOUCHED,
    PGK_PLAN_GAIN_KEPT,
    PGK_PLAN_GAIN_HELD,
    PGK_PLAN_GAIN_HOT,
    PGK_PLAN_GAINS,
};
struct pgk_plan_expected {
    uint64_t with, without;
};
bool pgk_plan_knows_gain(const struct pgk_plan *plan, enum pgk_plan_gain gain);
struct pgk_plan_expected pgk_plan_expect(const struct pgk_plan *plan, enum pgk_plan_gain gain);
extern const char *const pgk_plan_gain_names[PGK_PLAN_GAINS];
/* The span of lives after which most memory would be held without the plan that is free with it. */
uint64_t pgk_plan_span_ms(const struct pgk_plan *plan);
/* Bytes of pages that are held so after that span without the plan, but not with it. */
uint64_t pgk_plan_spared(const struct pgk_plan *plan, uint64_t span_ms);
const char *pgk_plan_reason_text(enum pgk_plan_reason reason);

/* Takes a line of what the allocator said of a group; those of others are passed over. */
PGK_MUST_USE int pgk_plan_take_stats(struct pgk_plan *plan, const char *path, const char *line,
                                     size_t len, uint64_t number_of_line, struct pgk_err *err);

/* "plan": {...}, for the report page. */
struct pgk_json;
void pgk_plan_put(const struct pgk_plan *plan, struct pgk_json *json);

/* Adds bytes of a context to its size classes. */
void pgk_plan_add_to_classes(uint64_t classes[PGK_PLAN_CLASSES], const struct pgk_plan_context *c,
                             uint64_t bytes);

/* Bytes of pages that a part of the objects lies on, when they are scattered among the others of
 * their size: `all` and `part` are bytes by size class. */
uint64_t pgk_plan_scattered(const uint64_t all[PGK_PLAN_CLASSES],
                            const uint64_t part[PGK_PLAN_CLASSES]);

#endif
