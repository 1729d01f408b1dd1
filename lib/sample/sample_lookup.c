/* Finding the parts of a profile that count a copy of a function. */
#include "sample_lookup.h"

#include "mem.h"
#include "sample_order.h"
#include "sample_recs.h"
#include "saturate.h"

#include <stdlib.h>

struct pgk_sample_lookup {
    const struct pgk_sample *p;
    bool any_caller; /* a stack may be the end of a longer path */
    bool any_copy;   /* no inlinees: the innermost function says all */
    uint32_t *first; /* by name: where its nodes begin; one more at the end */
    uint32_t *nodes; /* that count, by name */
};

/* ---- nodes by name ---- */

/* Calls `fn` for all nodes that count. */
static void each_below(struct pgk_sample_lookup *l, uint32_t node,
                       void (*fn)(struct pgk_sample_lookup *l, uint32_t node))
{
    fn(l, node);
    for (uint32_t c = pgk_sample_first(l->p, node); c; c = pgk_sample_next(l->p, c))
        each_below(l, c, fn); /* not deeper than PGK_SAMPLE_MAX_DEPTH */
}

static void each_node(struct pgk_sample_lookup *l,
                      void (*fn)(struct pgk_sample_lookup *l, uint32_t node))
{
    for (size_t i = 0; i < l->p->by_identity.n; i++)
        each_below(l, l->p->by_identity.v[i], fn);
}

static bool is_function(const struct pgk_sample_lookup *l, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(l->p, node);
    return n->flags & PGK_NODE_CONTEXT && !n->parent;
}

static void count_node(struct pgk_sample_lookup *l, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(l->p, node);
    l->first[n->name + 1]++;
    l->any_copy &= is_function(l, node);
}

/* Leaves first[name] where the name's nodes end. */
static void place_node(struct pgk_sample_lookup *l, uint32_t node)
{
    l->nodes[l->first[pgk_sample_node(l->p, node)->name]++] = node;
}

static void place_below(struct pgk_sample_lookup *l, uint32_t node)
{
    if (!is_function(l, node))
        place_node(l, node);
}

/* A function before its copies. */
static void place_all(struct pgk_sample_lookup *l)
{
    const struct pgk_sample *p = l->p;
    for (size_t i = 0; i < p->by_identity.n; i++)
        if (is_function(l, p->by_identity.v[i]))
            place_node(l, p->by_identity.v[i]);
    each_node(l, place_below);
}

static bool index_nodes(struct pgk_sample_lookup *l)
{
    size_t names = l->p->names.list.n;
    l->first = pgk_mem_zalloc(names + 2, sizeof *l->first);
    if (!l->first)
        return false;
    l->any_copy = true;
    each_node(l, count_node);
    for (size_t i = 1; i < names + 2; i++)
        l->first[i] += l->first[i - 1];
    l->nodes = pgk_mem_alloc((size_t)l->first[names + 1] + 1, sizeof *l->nodes);
    if (!l->nodes)
        return false;
    place_all(l);
    for (size_t i = names + 1; i > 0; i--)
        l->first[i] = l->first[i - 1];
    l->first[0] = 0;
    return true;
}

int pgk_sample_lookup_open(struct pgk_sample_lookup **lookup, const struct pgk_sample *p,
                           struct pgk_err *err)
{
    struct pgk_sample_lookup *l = pgk_mem_zalloc(1, sizeof *l);
    if (!l)
        return pgk_fail_nomem(err);
    l->p = p;
    l->any_caller = p->kind.contexts || p->preinlined;
    if (!index_nodes(l)) {
        pgk_sample_lookup_close(&l);
        return pgk_fail_nomem(err);
    }
    *lookup = l;
    return 0;
}

void pgk_sample_lookup_close(struct pgk_sample_lookup **lookup)
{
    struct pgk_sample_lookup *l = *lookup;
    if (!l)
        return;
    pgk_mem_free(l->first);
    pgk_mem_free(l->nodes);
    pgk_mem_free(l);
    *lookup = NULL;
}

/* ---- looking ---- */

uint32_t pgk_sample_lookup_name(const struct pgk_sample_lookup *l, const char *name, size_t len)
{
    uint32_t id = pgk_sample_names_find(&l->p->names, name, len);
    size_t plain = id ? len : pgk_sample_drop_suffixes(name, len);
    return plain < len ? pgk_sample_names_find(&l->p->names, name, plain) : id;
}

/* The only node of a plain profile with this path, or 0. A small function is inlined all over,
 * so that looking at all nodes of its name would take too long. */
static uint32_t descend(const struct pgk_sample_lookup *l, const struct pgk_sample_frame *stack,
                        size_t n)
{
    uint32_t node = 0;
    for (uint32_t i = l->first[stack[0].name]; i < l->first[stack[0].name + 1] && !node; i++)
        node = pgk_sample_node(l->p, l->nodes[i])->parent ? 0 : l->nodes[i];
    for (size_t i = 1; i < n && node; i++) {
        node = pgk_sample_first(l->p, node);
        while (node && (pgk_sample_node(l->p, node)->loc != stack[i - 1].loc ||
                        pgk_sample_node(l->p, node)->name != stack[i].name))
            node = pgk_sample_next(l->p, node);
    }
    return node;
}

static bool is_context(const struct pgk_sample_lookup *l, uint32_t node,
                       const struct pgk_sample_frame *stack, size_t n)
{
    while (--n) {
        uint64_t loc = pgk_sample_node(l->p, node)->loc;
        node = pgk_sample_node(l->p, node)->parent;
        if (!node || loc != stack[n - 1].loc ||
            pgk_sample_node(l->p, node)->name != stack[n - 1].name)
            return false;
    }
    return true;
}

bool pgk_sample_lookup(const struct pgk_sample_lookup *l, const struct pgk_sample_frame *stack,
                       size_t n, pgk_sample_nodes_vec *nodes)
{
    uint32_t name = n ? stack[n - 1].name : 0;
    if (!name)
        return true;
    if (l->any_copy) {
        stack += n - 1;
        n = 1;
    }
    if (!l->any_caller) {
        uint32_t node = stack[0].name ? descend(l, stack, n) : 0;
        return !node || pgk_vec_push(nodes, node);
    }
    for (uint32_t i = l->first[name]; i < l->first[name + 1]; i++)
        if (is_context(l, l->nodes[i], stack, n) && !pgk_vec_push(nodes, l->nodes[i]))
            return false;
    return true;
}

bool pgk_sample_body(const struct pgk_sample *p, const uint32_t *nodes, size_t n, uint64_t loc,
                     uint64_t *count)
{
    bool found = false;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pgk_sample_rec *r = pgk_recs_find(&pgk_sample_node(p, nodes[i])->recs, loc,
                                                       PGK_REC_BODY);
        found |= r != NULL;
        sum = pgk_add_saturated(sum, r ? r->count : 0);
    }
    if (found)
        *count = sum;
    return found;
}

static bool add_value(pgk_sample_recs_vec *values, const struct pgk_sample_rec *r)
{
    for (size_t i = 0; i < values->n; i++) {
        if (values->v[i].what == r->what) {
            values->v[i].count = pgk_add_saturated(values->v[i].count, r->count);
            return true;
        }
    }
    return pgk_vec_push(values, *r);
}

static int compare_values(const void *pa, const void *pb)
{
    const struct pgk_sample_rec *a = pa, *b = pb;
    if (pgk_rec_is_target(a) != pgk_rec_is_target(b))
        return pgk_rec_is_target(a) ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->what < b->what ? -1 : a->what > b->what;
}

bool pgk_sample_values(const struct pgk_sample *p, const uint32_t *nodes, size_t n, uint64_t loc,
                       pgk_sample_recs_vec *values)
{
    values->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pgk_sample_recs *recs = &pgk_sample_node(p, nodes[i])->recs;
        for (uint32_t k = pgk_order_find_place(recs, loc); k < recs->n && recs->v[k].loc == loc;
             k++)
            if (recs->v[k].what != PGK_REC_BODY && !add_value(values, &recs->v[k]))
                return false;
    }
    if (values->n)
        qsort(values->v, values->n, sizeof *values->v, compare_values);
    return true;
}

uint64_t pgk_sample_line_total(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        if (recs->v[i].what == PGK_REC_BODY)
            sum = pgk_add_saturated(sum, recs->v[i].count);
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        sum = pgk_add_saturated(sum, pgk_sample_line_total(p, c));
    return sum;
}
