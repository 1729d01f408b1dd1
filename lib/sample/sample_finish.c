/* Ending the building of a profile: settling records, choosing between checksums, order. */
#include "sample_model.h"

#include "keyed_sort.h"
#include "opts.h"
#include "sample_recs.h"
#include "saturate.h"

#include <assert.h>
#include <stdlib.h>

/* ---- profiles of one function with different checksums ---- */

/* A profile without checksum may belong to any; it is added to the one that is kept. */
static bool fold(struct pgk_sample *p, uint32_t from, uint32_t to)
{
    struct pgk_sample_node *a = &p->nodes.v[from], *b = &p->nodes.v[to];
    b->total = pgk_add_saturated(b->total, a->total);
    b->head = pgk_add_saturated(b->head, a->head);
    b->attributes |= a->attributes;
    b->flags |= a->flags & PGK_NODE_TOP;
    if (!pgk_sample_settle(p, &a->recs) ||
        !pgk_sample_add_sorted(p, to, a->recs.v, a->recs.n, 1))
        return false;
    for (uint32_t c = pgk_sample_first(p, from); c; c = pgk_sample_next(p, c)) {
        struct pgk_sample_node child = p->nodes.v[c];
        uint32_t id = pgk_sample_child(p, to, child.loc, child.name, 0, child.checksum, 0);
        if (!id || !fold(p, c, id))
            return false;
    }
    return true;
}

static bool is_better(const struct pgk_sample_node *a, const struct pgk_sample_node *b)
{
    if (a->total != b->total)
        return a->total > b->total;
    return a->checksum < b->checksum;
}

/* Samples of one checksum cannot be added to those of another: the places are not the same.
 * LLVM keeps the first that it meets; here it is the one with the most samples, so that the
 * order of files does not matter. */
static bool choose(struct pgk_sample *p, uint32_t first)
{
    uint32_t best = 0, unknown = 0;
    for (uint32_t id = first; id; id = p->nodes.v[id].variant) {
        const struct pgk_sample_node *n = &p->nodes.v[id];
        if (!n->checksum)
            unknown = id;
        else if (!best || is_better(n, &p->nodes.v[best]))
            best = id;
    }
    for (uint32_t id = first; id; id = p->nodes.v[id].variant) {
        struct pgk_sample_node *n = &p->nodes.v[id];
        if (id == best)
            continue;
        n->flags |= PGK_NODE_LOST;
        if (id == unknown)
            continue;
        p->lost++;
        p->lost_samples = pgk_add_saturated(p->lost_samples, n->total);
    }
    return !unknown || fold(p, unknown, best);
}

/* Parents stand before their children, so what is folded is looked at later. */
static bool choose_all(struct pgk_sample *p)
{
    if (!p->has_variants)
        return true;
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (p->nodes.v[id].variant && !(p->nodes.v[id].flags & PGK_NODE_VARIANT) &&
            !choose(p, id))
            return false;
    return true;
}

/* ---- order of siblings ---- */

struct sibling {
    uint64_t loc;
    uint32_t rank, id;
};
typedef PGK_VEC(struct sibling) sibling_vec;

static int compare_siblings(const void *pa, const void *pb)
{
    const struct sibling *a = pa, *b = pb;
    if (a->loc != b->loc)
        return a->loc < b->loc ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Functions, which have no place, by rank alone; ids rise in the list. */
static bool sort_functions(struct sibling *v, size_t n)
{
    struct pgk_keyed *keyed = pgk_mem_alloc(n, sizeof *keyed);
    for (size_t i = 0; i < n && keyed; i++)
        keyed[i] = (struct pgk_keyed){.key = v[i].rank, .value = v[i].id};
    bool ok = keyed && pgk_keyed_sort(keyed, n);
    for (size_t i = 0; i < n && ok; i++)
        v[i] = (struct sibling){.rank = (uint32_t)keyed[i].key, .id = keyed[i].value};
    pgk_mem_free(keyed);
    return ok;
}

static void sort_siblings(struct sibling *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (compare_siblings(&v[i - 1], &v[i]) > 0) {
            qsort(v, n, sizeof *v, compare_siblings);
            return;
        }
    }
}

static int compare_checksums(const void *pa, const void *pb, void *profile)
{
    const struct pgk_sample *p = profile;
    uint64_t a = p->nodes.v[((const struct sibling *)pa)->id].checksum;
    uint64_t b = p->nodes.v[((const struct sibling *)pb)->id].checksum;
    return a < b ? -1 : a > b;
}

/* Variants, which stand side by side, by checksum. */
static void order_variants(struct pgk_sample *p, struct sibling *v, size_t n)
{
    for (size_t i = 0, end; p->has_variants && i < n; i = end) {
        for (end = i + 1; end < n && v[end].loc == v[i].loc && v[end].rank == v[i].rank;)
            end++;
        if (end - i > 1)
            qsort_r(v + i, end - i, sizeof *v, compare_checksums, p);
    }
}

static struct sibling as_sibling(const struct pgk_sample *p, uint32_t id)
{
    const struct pgk_sample_node *n = &p->nodes.v[id];
    return (struct sibling){.loc = n->loc, .rank = p->rank.v[n->name], .id = id};
}

static bool order_inlinees(struct pgk_sample *p, uint32_t parent, sibling_vec *v)
{
    v->n = 0;
    for (uint32_t c = pgk_sample_first(p, parent); c; c = pgk_sample_next(p, c))
        if (!(p->nodes.v[c].flags & PGK_NODE_LOST) && !pgk_vec_push(v, as_sibling(p, c)))
            return false;
    sort_siblings(v->v, v->n);
    order_variants(p, v->v, v->n);
    struct pgk_sample_node *up = &p->nodes.v[parent];
    up->first_child = up->last_child = 0;
    for (size_t i = v->n; i > 0; i--) {
        p->nodes.v[v->v[i - 1].id].next = up->first_child;
        up->first_child = v->v[i - 1].id;
    }
    if (v->n)
        up->last_child = v->v[v->n - 1].id;
    return true;
}

/* ---- order of tops ---- */

/* Contexts grouped by caller: those below node n are v[start[n] .. start[n + 1]). */
struct context_tree {
    uint32_t *start;
    struct sibling *v;
    PGK_VEC(uint32_t) stack;
    sibling_vec variants;
};

/* Lists the children of each context, sorted, in one array; false when out of memory. */
static bool build_tree(const struct pgk_sample *p, struct context_tree *t)
{
    size_t n = p->nodes.n;
    t->start = pgk_mem_zalloc(n + 1, sizeof *t->start);
    if (!t->start)
        return false;
    for (size_t id = 1; id < n; id++)
        if (p->nodes.v[id].flags & PGK_NODE_CONTEXT)
            t->start[p->nodes.v[id].parent]++;
    /* Counts become ends, which filling from the end turns into starts. */
    for (size_t i = 1; i <= n; i++)
        t->start[i] += t->start[i - 1];
    t->v = pgk_mem_alloc(t->start[n] + (size_t)1, sizeof *t->v);
    if (!t->v)
        return false;
    for (uint32_t id = (uint32_t)n - 1; id > 0; id--)
        if (p->nodes.v[id].flags & PGK_NODE_CONTEXT)
            t->v[--t->start[p->nodes.v[id].parent]] = as_sibling(p, id);
    for (size_t i = 1; i < n; i++)
        sort_siblings(t->v + t->start[i], t->start[i + 1] - t->start[i]);
    return t->start[1] == 0 || sort_functions(t->v, t->start[1]);
}

/* The profiles of a place, by checksum. */
static bool push_tops(struct pgk_sample *p, struct context_tree *t, uint32_t first)
{
    t->variants.n = 0;
    for (uint32_t id = first; id; id = p->nodes.v[id].variant)
        if (pgk_sample_is_top(p, id) &&
            !pgk_vec_push(&t->variants, (struct sibling){.loc = p->nodes.v[id].checksum, .id = id}))
            return false;
    sort_siblings(t->variants.v, t->variants.n);
    for (size_t i = 0; i < t->variants.n; i++)
        if (!pgk_vec_push(&p->by_identity, t->variants.v[i].id))
            return false;
    return true;
}

/* Callers before what they call, in order of frames: that is the order of contexts. What is called
 * hangs on the variant that was met first, which says nothing. */
static bool walk_tree(struct pgk_sample *p, struct context_tree *t)
{
    if (!pgk_vec_push(&t->stack, 0))
        return false;
    while (t->stack.n) {
        uint32_t id = t->stack.v[--t->stack.n];
        if (p->nodes.v[id].flags & PGK_NODE_VARIANT)
            continue;
        if (id && !push_tops(p, t, id))
            return false;
        for (uint32_t i = t->start[id + 1]; i > t->start[id]; i--)
            if (!pgk_vec_push(&t->stack, t->v[i - 1].id))
                return false;
    }
    return true;
}

static bool order_by_identity(struct pgk_sample *p)
{
    struct context_tree t = {0};
    bool ok = build_tree(p, &t) && walk_tree(p, &t);
    pgk_mem_free(t.start);
    pgk_mem_free(t.v);
    pgk_vec_free(&t.stack);
    pgk_vec_free(&t.variants);
    return ok;
}

static bool order_by_heat(struct pgk_sample *p)
{
    size_t n = p->by_identity.n;
    struct pgk_keyed *heats = pgk_mem_alloc(n + 1, sizeof *heats);
    bool ok = heats && pgk_vec_reserve(&p->by_heat, n);
    for (size_t i = 0; i < n && ok; i++) {
        uint32_t id = p->by_identity.v[i];
        heats[i] = (struct pgk_keyed){.key = ~p->nodes.v[id].total, .value = id};
    }
    ok = ok && pgk_keyed_sort(heats, n);
    for (size_t i = 0; i < n && ok; i++)
        p->by_heat.v[p->by_heat.n++] = heats[i].value;
    pgk_mem_free(heats);
    return ok;
}

static bool order_by_age(struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (pgk_sample_is_top(p, id) && !pgk_vec_push(&p->by_age, id))
            return false;
    return true;
}

static bool order_all(struct pgk_sample *p)
{
    if (!pgk_vec_reserve(&p->rank, p->names.list.n + 1))
        return false;
    p->rank.n = p->names.list.n;
    if (!pgk_sample_names_rank(&p->names, p->rank.v))
        return false;
    sibling_vec v = {0};
    bool ok = true;
    for (uint32_t id = 1; id < p->nodes.n && ok; id++)
        if (pgk_sample_first(p, id) != 0)
            ok = order_inlinees(p, id, &v);
    pgk_vec_free(&v);
    return ok && order_by_identity(p) && order_by_heat(p) && order_by_age(p);
}

static bool settle_all(struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (!pgk_sample_settle(p, &p->nodes.v[id].recs))
            return false;
    return true;
}

int pgk_sample_finish_variants(struct pgk_sample *p, struct pgk_err *err)
{
    p->by_identity.n = p->by_heat.n = p->by_age.n = 0; /* of an attempt that ran out of memory */
    if (!settle_all(p) || !order_all(p))
        return pgk_fail_nomem(err);
    p->finished = true;
    return 0;
}

int pgk_sample_finish(struct pgk_sample *p, struct pgk_err *err)
{
    if (p->finished)
        return 0;
    if (!choose_all(p))
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_sample_finish_variants(p, err));
    p->has_variants = false; /* chosen once and for all */
    return 0;
}

static void count_records(const struct pgk_sample *p, uint32_t node, struct pgk_sample_sizes *n)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    n->inlinees++;
    for (uint32_t i = 0; i < recs->n; i++) {
        n->lines += recs->v[i].what == PGK_REC_BODY;
        n->targets += pgk_rec_is_target(&recs->v[i]);
        n->vtables += pgk_rec_is_vtable(&recs->v[i]);
    }
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        count_records(p, c, n);
}

struct pgk_sample_sizes pgk_sample_sizes(const struct pgk_sample *p)
{
    assert(p->finished);
    struct pgk_sample_sizes n = {0};
    for (size_t i = 0; i < p->by_heat.n; i++)
        count_records(p, p->by_heat.v[i], &n);
    n.inlinees -= p->by_heat.n;
    return n;
}

static bool has_vtables(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    for (uint32_t i = 0; i < recs->n; i++)
        if (pgk_rec_is_vtable(&recs->v[i]))
            return true;
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        if (has_vtables(p, c))
            return true;
    return false;
}

/* Names that were read may be filtered out by now. */
bool pgk_sample_any_vtables(const struct pgk_sample *p)
{
    bool any = false;
    for (size_t i = 0; p->has_vtables && i < p->by_age.n && !any; i++)
        any = has_vtables(p, p->by_age.v[i]);
    return any;
}

static size_t count_attributed(const struct pgk_sample *p)
{
    size_t n = 0;
    for (size_t id = 1; id < p->nodes.n; id++)
        n += p->nodes.v[id].attributes && !(p->nodes.v[id].flags & PGK_NODE_LOST);
    return n;
}

void pgk_sample_info(const struct pgk_sample *p, struct pgk_sample_info *info)
{
    struct pgk_sample_info i = {
        .contexts = p->kind.contexts,
        .probes = p->kind.probes,
        .preinlined = p->preinlined,
        .flow_discriminators = p->fs,
        .partial = p->partial,
        .names_missing = pgk_sample_names_unspelled(&p->names),
        .symbols = p->has_symbols,
        .vtables = pgk_sample_any_vtables(p),
        .functions = p->by_heat.n,
        .conflicts = p->lost,
        .conflict_samples = p->lost_samples,
        .attributed = count_attributed(p),
        .n_symbols = p->symbols && p->symbols->strs.n ? p->symbols->strs.n - 1 : 0,
        .unknown_blocks = p->unknown_blocks,
    };
    PGK_RESULT_GIVE(info, &i);
}
