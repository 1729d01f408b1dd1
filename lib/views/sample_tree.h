/* The functions of one sample profile, or of two side by side, as one tree with names: what
 * every view that shows calls walks. Below the root are functions; below a function what is
 * inlined into it and, in a context-sensitive profile, the contexts that it calls.
 *
 *   strings ◄── functions ◄── nodes (a tree, parents before children)
 *
 * A node of one profile and a node of the other are the same if their functions and places are
 * the same all the way up. */
#ifndef PGK_SAMPLE_TREE_H
#define PGK_SAMPLE_TREE_H

#include "fail.h"
#include "index.h"
#include "intern.h"
#include "sample_lookup.h"
#include "sample_model.h"

/* Texts are string ids, 0: unknown; valid UTF-8 without control characters. */
struct pgk_sample_func {
    uint64_t guid;
    uint32_t name;    /* as a programmer wrote it; never 0 */
    uint32_t linkage; /* 0 where it is the same as the name */
};

struct pgk_sample_tree_node {
    uint64_t loc;         /* of the call in the parent */
    uint32_t parent;      /* 0: below the root */
    uint32_t func;
    uint32_t now, before; /* in the profiles; 0: not there */
    bool context;         /* a function or context, not an inlinee */
    bool top;             /* has a profile of its own on some side */
};

struct pgk_sample_tree {
    const struct pgk_sample *now, *before; /* finished; before may be NULL */
    struct pgk_intern strings;
    PGK_VEC(struct pgk_sample_func) funcs;
    PGK_VEC(struct pgk_sample_tree_node) nodes; /* [0] is the root */
    struct pgk_index func_index, node_index;
    uint32_t *func_of_now, *func_of_before;     /* by name id: function + 1; 0: not yet */
};

/* End in any case with pgk_sample_tree_free. */
PGK_MUST_USE int pgk_sample_tree_make(struct pgk_sample_tree *t, const struct pgk_sample *now,
                                      const struct pgk_sample *before, struct pgk_err *err);
/* Accepts a zeroed struct. */
void pgk_sample_tree_free(struct pgk_sample_tree *t);

/* The function of a name of `now`, added if new; PGK_INDEX_NONE when out of memory. */
uint32_t pgk_sample_tree_func(struct pgk_sample_tree *t, uint32_t name);

static inline const char *pgk_sample_tree_text(const struct pgk_sample_tree *t, uint32_t id)
{
    return pgk_intern_str(&t->strings, id);
}

/* The name of a node's function. */
static inline const char *pgk_sample_tree_name(const struct pgk_sample_tree *t, uint32_t node)
{
    return pgk_sample_tree_text(t, t->funcs.v[t->nodes.v[node].func].name);
}

/* The node of a side, or NULL. */
static inline const struct pgk_sample_node *pgk_tree_now(const struct pgk_sample_tree *t,
                                                         uint32_t node)
{
    uint32_t id = t->nodes.v[node].now;
    return id ? &t->now->nodes.v[id] : NULL;
}
static inline const struct pgk_sample_node *pgk_tree_before(const struct pgk_sample_tree *t,
                                                            uint32_t node)
{
    uint32_t id = t->nodes.v[node].before;
    return id ? &t->before->nodes.v[id] : NULL;
}

/* Samples of the node's own lines, without inlinees. */
uint64_t pgk_sample_lines_sum(const struct pgk_sample_node *node);
/* Samples of lines with inlinees; 0 where the side does not have the node. */
static inline uint64_t pgk_tree_samples_now(const struct pgk_sample_tree *t, uint32_t node)
{
    uint32_t id = t->nodes.v[node].now;
    return id ? pgk_sample_line_total(t->now, id) : 0;
}
static inline uint64_t pgk_tree_samples_before(const struct pgk_sample_tree *t, uint32_t node)
{
    uint32_t id = t->nodes.v[node].before;
    return id ? pgk_sample_line_total(t->before, id) : 0;
}

#endif
