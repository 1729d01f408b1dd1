/* The pre-inliner. docs/formats/profile-generation.md section 7
 *
 * It works on a tree of the contexts in which subtrees move to the root: where a function is
 * there already its records are added to those of the profile at hand, which is not used
 * afterwards. A new profile is then made of what is left. */
#include "preinline.h"

#include "call_order.h"
#include "hash.h"
#include "sample_layout.h"
#include "sample_recs.h"
#include "saturate.h"

#include <stdlib.h>

#define NOWHERE UINT32_MAX /* parent of a node that was taken out */

enum { SIZE_GROWTH = 12, MAX_GROWN = 50000, MIN_GROWN = 100 }; /* times; bytes; bytes */
enum { HOT_SIZE = 1500, INLINED_BEFORE = 100 };

/* A context, or a place on the path to one. The root is 0. */
struct node {
    uint64_t loc; /* of the call in the parent */
    uint32_t name, parent;
    uint32_t first_child, next, prev; /* 0: none */
    uint32_t profile; /* node of the profile; 0: none */
};

struct hashed {
    uint64_t hash;
    uint32_t id;
};

struct candidate {
    uint64_t count, guid;
    uint32_t size, node;
};

struct inliner {
    struct pgk_sample *p;
    const struct pgk_function_sizes *sizes;
    struct pgk_preinline_limits limits;
    PGK_VEC(struct node) nodes;
    struct pgk_index index;
    PGK_VEC(uint32_t) breadth_first;
    uint32_t *where;  /* by node of the profile: its node here */
    bool *is_merged;  /* by node of the profile */
    bool *is_inlined; /* by node of the profile */
    pgk_arc_vec arcs;
    PGK_VEC(struct candidate) candidates; /* a heap */
    PGK_VEC(struct hashed) children;
};

/* ---- the tree ---- */

static uint64_t place_hash(uint32_t parent, uint64_t loc, uint32_t name)
{
    return pgk_hash_pair((uint64_t)parent << 32 | name, loc ^ loc >> 29);
}

/* Nodes that moved away are found in the index, too, but not at that place. */
static uint32_t find_child(const struct inliner *in, uint32_t parent, uint64_t loc, uint32_t name)
{
    PGK_INDEX_FOR (&in->index, place_hash(parent, loc, name), i) {
        const struct node *n = &in->nodes.v[i];
        if (n->parent == parent && n->loc == loc && n->name == name)
            return i;
    }
    return 0;
}

static bool attach(struct inliner *in, uint32_t id, uint32_t parent, uint64_t loc)
{
    struct node *n = &in->nodes.v[id], *up = &in->nodes.v[parent];
    n->parent = parent;
    n->loc = loc;
    n->prev = 0;
    n->next = up->first_child;
    if (n->next)
        in->nodes.v[n->next].prev = id;
    up->first_child = id;
    return pgk_index_add(&in->index, place_hash(parent, loc, n->name), id);
}

static void detach(struct inliner *in, uint32_t id)
{
    struct node *n = &in->nodes.v[id];
    if (n->prev)
        in->nodes.v[n->prev].next = n->next;
    else
        in->nodes.v[n->parent].first_child = n->next;
    if (n->next)
        in->nodes.v[n->next].prev = n->prev;
    n->next = n->prev = 0;
    n->parent = NOWHERE;
}

static bool build_tree(struct inliner *in)
{
    size_t n = in->p->nodes.n;
    if (!pgk_vec_reserve(&in->nodes, n))
        return false;
    memset(in->nodes.v, 0, n * sizeof *in->nodes.v);
    in->nodes.n = n; /* the numbers of the profile serve; 0 is the root */
    for (uint32_t id = 1; id < n; id++) {
        const struct pgk_sample_node *s = &in->p->nodes.v[id];
        if (s->flags & PGK_NODE_LOST || !(s->flags & PGK_NODE_CONTEXT))
            continue;
        in->nodes.v[id].name = s->name;
        in->nodes.v[id].profile = pgk_sample_is_top(in->p, id) ? id : 0;
        in->where[id] = id;
        if (!attach(in, id, s->parent, s->loc))
            return false;
    }
    return true;
}

static int compare_hashed(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Fills `children` with those of a node, in LLVM's order. */
static bool list_children(struct inliner *in, uint32_t id)
{
    in->children.n = 0;
    for (uint32_t c = in->nodes.v[id].first_child; c; c = in->nodes.v[c].next) {
        uint64_t hash = pgk_call_site_hash(in->p, in->nodes.v[c].name, in->nodes.v[c].loc);
        if (!pgk_vec_push(&in->children, (struct hashed){hash, c}))
            return false;
    }
    if (in->children.n > 1)
        qsort(in->children.v, in->children.n, sizeof *in->children.v, compare_hashed);
    return true;
}

static bool list_breadth_first(struct inliner *in)
{
    bool ok = pgk_vec_push(&in->breadth_first, 0);
    for (size_t i = 0; ok && i < in->breadth_first.n; i++) {
        ok = list_children(in, in->breadth_first.v[i]);
        for (size_t k = 0; ok && k < in->children.n; k++)
            ok = pgk_vec_push(&in->breadth_first, in->children.v[k].id);
    }
    return ok;
}

/* ---- counts ---- */

static uint64_t entries_of(const struct inliner *in, uint32_t profile)
{
    const struct pgk_sample_node *n = &in->p->nodes.v[profile];
    if (n->head)
        return n->head;
    for (uint32_t i = 0; i < n->recs.n; i++)
        if (n->recs.v[i].what == PGK_REC_BODY)
            return n->recs.v[i].count ? n->recs.v[i].count : n->total > 0;
    return n->total > 0;
}

/* How often the context was called from its parent; both have a profile. */
static uint64_t calls_of(const struct inliner *in, uint32_t id)
{
    const struct node *n = &in->nodes.v[id];
    uint64_t entries = entries_of(in, n->profile);
    const struct pgk_sample_rec *target =
        pgk_recs_find(&in->p->nodes.v[in->nodes.v[n->parent].profile].recs, n->loc, n->name);
    return target && target->count > entries ? target->count : entries;
}

/* As far down the tree of sizes as the context goes; else any other copy of the function. */
static uint32_t size_of(const struct inliner *in, uint32_t id)
{
    uint32_t at = 0, last = 0, size = 0;
    uint64_t site = 0;
    for (bool found = true; found && id; id = in->nodes.v[id].parent) {
        last = at;
        at = pgk_function_sizes_child(in->sizes, at, site, in->nodes.v[id].name);
        found = at;
        if (found && in->sizes->nodes.v[at].size)
            size = in->sizes->nodes.v[at].size;
        site = in->nodes.v[id].loc;
    }
    if (!at)
        at = last;
    while (!size && (at = in->sizes->nodes.v[at].first_child))
        size = in->sizes->nodes.v[at].size;
    return size ? size - 1 : 0;
}

/* ---- moving contexts to their functions ---- */

static bool add_profile(struct inliner *in, uint32_t to, uint32_t from)
{
    struct pgk_sample_node *a = &in->p->nodes.v[to], *b = &in->p->nodes.v[from];
    a->total = pgk_add_saturated(a->total, b->total);
    a->head = pgk_add_saturated(a->head, b->head);
    a->attributes |= b->attributes & PGK_SAMPLE_SHOULD_INLINE;
    in->is_merged[from] = true;
    return pgk_sample_add_sorted(in->p, to, b->recs.v, b->recs.n, 1) &&
           pgk_sample_settle(in->p, &in->p->nodes.v[to].recs);
}

/* Moves a node, with what is below it, to a place where there may be one already. False when out of
 * memory. */
static bool move(struct inliner *in, uint32_t id, uint32_t parent, uint64_t loc)
{
    uint32_t to = find_child(in, parent, loc, in->nodes.v[id].name);
    detach(in, id);
    if (!to)
        return attach(in, id, parent, loc);
    uint32_t profile = in->nodes.v[id].profile;
    if (profile && in->nodes.v[to].profile) {
        if (!add_profile(in, in->nodes.v[to].profile, profile))
            return false;
    } else if (profile) {
        in->nodes.v[to].profile = profile;
        in->where[profile] = to;
    }
    for (uint32_t c; (c = in->nodes.v[id].first_child) != 0;)
        if (!move(in, c, to, in->nodes.v[c].loc))
            return false;
    return true;
}

/* Contexts of a function, as they were found. */
struct by_function {
    uint32_t *first, *next; /* first: by name; next: by node of the profile */
};

/* The function's own node, to which all contexts were moved that are not inlined: 0 if there is
 * none. False when out of memory. */
static bool gather(struct inliner *in, const struct by_function *by, uint32_t name, uint32_t *base)
{
    for (uint32_t p = by->first[name]; p; p = by->next[p])
        if (!in->is_inlined[p] && !in->is_merged[p] && in->nodes.v[in->where[p]].parent &&
            !move(in, in->where[p], 0, 0))
            return false;
    *base = find_child(in, 0, 0, name);
    return true;
}

/* ---- choosing ---- */

/* Contexts without code first, then the most frequently called, then the smallest. */
static bool is_worse(const struct candidate *a, const struct candidate *b)
{
    if (!a->size != !b->size)
        return !b->size;
    if (a->count != b->count)
        return a->count < b->count;
    if (a->size != b->size)
        return a->size > b->size;
    return a->guid < b->guid;
}

/* The heap moves as that of the C++ library that llvm-profgen is built with, so that equals come
 * out in its order, too: one function is often called as often from several places. */
static void sift_up(struct candidate *heap, size_t at, struct candidate c)
{
    while (at && is_worse(&heap[(at - 1) / 2], &c)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = c;
}

static struct candidate take_best(struct inliner *in)
{
    struct candidate *heap = in->candidates.v, best = heap[0], last;
    size_t n = --in->candidates.n, at = 0;
    last = heap[n];
    while (2 * at + 2 < n) {
        size_t child = 2 * at + 2;
        child -= is_worse(&heap[child], &heap[child - 1]);
        heap[at] = heap[child];
        at = child;
    }
    if (2 * at + 2 == n) {
        heap[at] = heap[n - 1];
        at = n - 1;
    }
    if (n)
        sift_up(heap, at, last);
    return best;
}

static bool add_candidates(struct inliner *in, uint32_t id)
{
    if (!list_children(in, id))
        return false;
    for (size_t i = 0; i < in->children.n; i++) {
        uint32_t c = in->children.v[i].id;
        if (!in->nodes.v[c].profile)
            continue;
        struct candidate candidate = {
            .count = calls_of(in, c),
            .guid = pgk_sample_names_guid(&in->p->names, in->nodes.v[c].name),
            .size = size_of(in, c),
            .node = c,
        };
        if (!pgk_vec_push(&in->candidates, candidate))
            return false;
        sift_up(in->candidates.v, in->candidates.n - 1, candidate);
    }
    return true;
}

/* The more often it is called, the larger it may be; and much larger if it was inlined before. */
static bool is_worth_it(const struct inliner *in, const struct candidate *c)
{
    uint64_t cold = in->limits.cold, hot = in->limits.hot;
    if (c->count <= cold)
        return c->size < in->limits.cold_size;
    uint32_t hot_size = in->limits.hot_size ? in->limits.hot_size : HOT_SIZE;
    double heat = hot > cold ? (double)(c->count - cold) / (double)(hot - cold) : 1;
    uint64_t largest = (uint64_t)(hot_size * (heat < 1 ? heat : 1) * 100) + 1;
    if (in->p->nodes.v[in->nodes.v[c->node].profile].attributes & PGK_SAMPLE_WAS_INLINED)
        largest *= INLINED_BEFORE;
    return c->size < largest;
}

static bool inline_into(struct inliner *in, uint32_t base)
{
    uint64_t size = size_of(in, base), limit = size * SIZE_GROWTH;
    limit = limit > MAX_GROWN ? MAX_GROWN : limit < MIN_GROWN ? MIN_GROWN : limit;
    in->candidates.n = 0;
    if (!add_candidates(in, base))
        return false;
    while (in->candidates.n && size < limit) {
        struct candidate c = take_best(in);
        if (!is_worth_it(in, &c))
            continue;
        uint32_t profile = in->nodes.v[c.node].profile;
        in->is_inlined[profile] = true;
        in->p->nodes.v[profile].attributes |= PGK_SAMPLE_SHOULD_INLINE;
        size += c.size;
        if (!add_candidates(in, c.node))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

/* Functions by rank of their names, and who calls whom how often. */
static bool list_calls(struct inliner *in, const uint32_t *number)
{
    for (size_t i = 1; i < in->breadth_first.n; i++) {
        uint32_t id = in->breadth_first.v[i];
        const struct node *n = &in->nodes.v[id], *caller = &in->nodes.v[n->parent];
        if (!n->parent)
            continue;
        struct pgk_call_arc arc = {number[caller->name], number[n->name],
                                   n->profile && caller->profile ? calls_of(in, id) : 0};
        if (!pgk_vec_push(&in->arcs, arc))
            return false;
    }
    return true;
}

static void drop_cold(struct inliner *in)
{
    size_t kept = 0;
    for (size_t i = 0; in->limits.cold && i < in->arcs.n; i++)
        if (in->arcs.v[i].weight > in->limits.cold)
            in->arcs.v[kept++] = in->arcs.v[i];
    if (in->limits.cold)
        in->arcs.n = kept;
}

static bool list_by_function(const struct inliner *in, struct by_function *by)
{
    by->first = pgk_mem_zalloc(in->p->names.list.n + 1, sizeof *by->first);
    by->next = pgk_mem_zalloc(in->p->nodes.n + 1, sizeof *by->next);
    if (!by->first || !by->next)
        return false;
    for (size_t i = in->breadth_first.n; i-- > 1;) {
        const struct node *n = &in->nodes.v[in->breadth_first.v[i]];
        if (!n->profile)
            continue;
        by->next[n->profile] = by->first[n->name];
        by->first[n->name] = n->profile;
    }
    return true;
}

/* Names of functions in the order of names, and the number of each in it. */
static uint32_t number_functions(const struct inliner *in, uint32_t *number, uint32_t *names)
{
    const struct pgk_sample *p = in->p;
    for (size_t i = 1; i < in->breadth_first.n; i++) {
        uint32_t name = in->nodes.v[in->breadth_first.v[i]].name;
        number[p->rank.v[name]] = name;
    }
    uint32_t n = 0;
    for (size_t rank = 0; rank < p->rank.n; rank++)
        if (number[rank])
            names[n++] = number[rank];
    for (uint32_t i = 0; i < n; i++)
        number[names[i]] = i;
    return n;
}

static bool go_through(struct inliner *in, const struct by_function *by, const uint32_t *names,
                       const uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t base;
        if (!gather(in, by, names[order[i]], &base) ||
            (base && in->nodes.v[base].profile && !inline_into(in, base)))
            return false;
    }
    return true;
}

static bool choose(struct inliner *in)
{
    size_t n_names = in->p->names.list.n;
    struct by_function by = {0};
    uint32_t *number = pgk_mem_zalloc(n_names + 1, sizeof *number);
    uint32_t *names = pgk_mem_zalloc(n_names + 1, sizeof *names);
    uint32_t *order = pgk_mem_zalloc(n_names + 1, sizeof *order);
    bool ok = number && names && order && build_tree(in) && list_breadth_first(in) &&
              list_by_function(in, &by);
    if (ok) {
        uint32_t n = number_functions(in, number, names);
        ok = list_calls(in, number);
        if (ok) {
            pgk_arcs_add_up(&in->arcs);
            drop_cold(in);
            ok = pgk_call_order(&in->arcs, n, order) && go_through(in, &by, names, order, n);
        }
    }
    pgk_mem_free(number);
    pgk_mem_free(names);
    pgk_mem_free(order);
    pgk_mem_free(by.first);
    pgk_mem_free(by.next);
    return ok;
}

/* Adds a node, and below it the contexts that are to be inlined. `caller` is a node of the new
 * profile; 0: the function itself. */
static int copy(struct inliner *in, struct pgk_sample_merger *m, uint32_t id, uint32_t caller,
                struct pgk_err *err)
{
    const struct node *n = &in->nodes.v[id];
    uint32_t name = pgk_merger_name(m, n->name);
    if (!name)
        return pgk_fail_nomem(err);
    uint32_t node = caller ? pgk_sample_context(m->into, caller, n->loc, name)
                           : pgk_sample_root(m->into, name);
    if (!node)
        return pgk_fail_nomem(err);
    if (n->profile && (!n->parent || in->is_inlined[n->profile])) {
        if (!pgk_stage_begin(&m->stage, name) || !pgk_merger_stage(m, 0, n->profile))
            return pgk_fail_nomem(err);
        PGK_TRY(pgk_stage_commit(&m->stage, m->into, pgk_stage_place_of(m->into, node), 1, err));
    }
    for (uint32_t c = n->first_child; c; c = in->nodes.v[c].next)
        PGK_TRY(copy(in, m, c, node, err));
    return 0;
}

static int make(void *ctx, struct pgk_sample *into, const struct pgk_sample *from,
                struct pgk_err *err)
{
    struct inliner *in = ctx;
    struct pgk_sample_merger m;
    if (!choose(in))
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_sample_set_kind(into, true, from->kind.probes, NULL, err));
    int status = pgk_merger_open(&m, into, from, err);
    for (uint32_t c = in->nodes.v[0].first_child; c && !status; c = in->nodes.v[c].next)
        status = copy(in, &m, c, 0, err);
    pgk_merger_close(&m);
    return status;
}

int pgk_preinline(struct pgk_sample **profile, const struct pgk_function_sizes *sizes,
                  const struct pgk_preinline_limits *limits, struct pgk_err *err)
{
    size_t n = (*profile)->nodes.n;
    struct inliner in = {.p = *profile,
                         .sizes = sizes,
                         .limits = *limits,
                         .where = pgk_mem_zalloc(n + 1, sizeof *in.where),
                         .is_merged = pgk_mem_zalloc(n + 1, sizeof *in.is_merged),
                         .is_inlined = pgk_mem_zalloc(n + 1, sizeof *in.is_inlined)};
    int status = in.where && in.is_merged && in.is_inlined
                     ? pgk_sample_replace(profile, make, &in, err)
                     : pgk_fail_nomem(err);
    pgk_vec_free(&in.nodes);
    pgk_index_free(&in.index);
    pgk_vec_free(&in.breadth_first);
    pgk_vec_free(&in.arcs);
    pgk_vec_free(&in.candidates);
    pgk_vec_free(&in.children);
    pgk_mem_free(in.where);
    pgk_mem_free(in.is_merged);
    pgk_mem_free(in.is_inlined);
    return status;
}
