/* Two heap profiles side by side. */
#include "heap_align.h"

#include "heap_view.h"

#include <stdlib.h>
#include <string.h>

const char *pgk_heap_change_name(enum pgk_heap_change change)
{
    static const char *const names[PGK_CHANGES] = {
        [PGK_CHANGE_NEW] = "new",       [PGK_CHANGE_GONE] = "gone",
        [PGK_CHANGE_GREW] = "grew",     [PGK_CHANGE_SHRANK] = "shrank",
        [PGK_CHANGE_COOLED] = "cooled", [PGK_CHANGE_WARMED] = "warmed",
        [PGK_CHANGE_SAME] = "same",
    };
    return names[change];
}

/* A context that has no partner yet, and the functions it goes through. */
struct lonely {
    uint32_t functions; /* node in the tree of functions */
    uint32_t node, context;
    bool is_now;
};

static int by_functions(const void *a, const void *b)
{
    const struct lonely *x = a, *y = b;
    return x->functions < y->functions ? -1 : x->functions > y->functions;
}

struct aligner {
    struct pgk_heap_alignment *a;
    uint32_t *now_nodes, *before_nodes; /* by context */
    uint32_t *context_at;               /* by node: context of `before`, or none */
    bool *paired;                       /* by context of `before` */
    size_t n_now, n_before;
    struct pgk_stack_tree functions;
    uint32_t *functions_of; /* by node of the stacks: node of `functions` */
    PGK_VEC(struct lonely) lonely;
};

static void aligner_free(struct aligner *w)
{
    pgk_mem_free(w->now_nodes);
    pgk_mem_free(w->before_nodes);
    pgk_mem_free(w->context_at);
    pgk_mem_free(w->paired);
    pgk_mem_free(w->functions_of);
    pgk_stack_tree_free(&w->functions);
    pgk_vec_free(&w->lonely);
}

/* Makes a pair for each context of now, with the one before of the same stack if there is one. */
static int pair_equal(struct aligner *w, struct pgk_err *err)
{
    size_t nodes = w->a->frames.stacks.nodes.n;
    w->context_at = pgk_mem_alloc(nodes, sizeof *w->context_at);
    if (!w->context_at)
        return pgk_fail_nomem(err);
    memset(w->context_at, 0xff, nodes * sizeof *w->context_at);
    for (size_t c = 0; c < w->n_before; c++)
        w->context_at[w->before_nodes[c]] = (uint32_t)c;
    for (size_t c = 0; c < w->n_now; c++) {
        uint32_t node = w->now_nodes[c], before = w->context_at[node];
        w->a->pairs[w->a->n++] =
            (struct pgk_heap_pair){.now = (uint32_t)c, .before = before, .node = node};
        if (before != PGK_NO_CONTEXT) {
            w->paired[before] = true;
            w->context_at[node] = PGK_NO_CONTEXT; /* modules without id can share addresses */
        }
    }
    return 0;
}

/* The tree of stacks without lines. Parents come before their children. */
static int map_functions(struct aligner *w, struct pgk_err *err)
{
    const struct pgk_heap_frames *t = &w->a->frames;
    w->functions_of = pgk_mem_zalloc(t->stacks.nodes.n, sizeof *w->functions_of);
    if (!w->functions_of || !pgk_stack_tree_init(&w->functions))
        return pgk_fail_nomem(err);
    for (uint32_t node = 1; node < t->stacks.nodes.n; node++) {
        uint32_t parent = w->functions_of[t->stacks.nodes.v[node].parent];
        uint32_t mapped = pgk_stack_push(&w->functions, parent, pgk_frames_at(t, node)->func);
        if (mapped == PGK_NODE_NONE)
            return pgk_fail_nomem(err);
        w->functions_of[node] = mapped;
    }
    return 0;
}

/* Frames from the entry on are compared by their lines, so that contexts of one chain of
 * functions stand in the order of the source. */
static int compare_lines(const struct pgk_heap_frames *t, uint32_t a, uint32_t b)
{
    int order = 0;
    for (; a && b; a = t->stacks.nodes.v[a].parent, b = t->stacks.nodes.v[b].parent) {
        const struct pgk_view_frame *x = pgk_frames_at(t, a), *y = pgk_frames_at(t, b);
        if (x->line_offset != y->line_offset)
            order = x->line_offset < y->line_offset ? -1 : 1;
        else if (x->column != y->column)
            order = x->column < y->column ? -1 : 1;
    }
    return order;
}

static int by_lines(const void *a, const void *b, void *frames)
{
    const struct lonely *x = a, *y = b;
    if (x->is_now != y->is_now)
        return x->is_now ? -1 : 1;
    int order = compare_lines(frames, x->node, y->node);
    return order ? order : x->context < y->context ? -1 : x->context > y->context;
}

static int collect_lonely(struct aligner *w, struct pgk_err *err)
{
    bool fits = true;
    for (size_t i = 0; i < w->n_now && fits; i++) {
        const struct pgk_heap_pair *p = &w->a->pairs[i];
        if (p->before == PGK_NO_CONTEXT)
            fits = pgk_vec_push(&w->lonely,
                                (struct lonely){w->functions_of[p->node], p->node, p->now, true});
    }
    for (size_t c = 0; c < w->n_before && fits; c++)
        if (!w->paired[c])
            fits =
                pgk_vec_push(&w->lonely, (struct lonely){w->functions_of[w->before_nodes[c]],
                                                         w->before_nodes[c], (uint32_t)c, false});
    return fits ? 0 : pgk_fail_nomem(err);
}

/* Pairs contexts of one chain of functions: as many as both sides have. Pairs of `now` stand
 * at the position of their context. */
static void pair_group(struct aligner *w, struct lonely *group, size_t n)
{
    size_t now = 0;
    qsort_r(group, n, sizeof *group, by_lines, &w->a->frames);
    while (now < n && group[now].is_now)
        now++;
    for (size_t i = 0; i < now && now + i < n; i++) {
        struct pgk_heap_pair *p = &w->a->pairs[group[i].context];
        p->before = group[now + i].context;
        p->moved = true;
        w->paired[p->before] = true;
    }
}

static int pair_moved(struct aligner *w, struct pgk_err *err)
{
    PGK_TRY(map_functions(w, err));
    PGK_TRY(collect_lonely(w, err));
    if (w->lonely.n)
        qsort(w->lonely.v, w->lonely.n, sizeof *w->lonely.v, by_functions);
    for (size_t i = 0, end; i < w->lonely.n; i = end) {
        for (end = i; end < w->lonely.n && w->lonely.v[end].functions == w->lonely.v[i].functions;)
            end++;
        pair_group(w, w->lonely.v + i, end - i);
    }
    for (size_t c = 0; c < w->n_before; c++)
        if (!w->paired[c])
            w->a->pairs[w->a->n++] = (struct pgk_heap_pair){
                .now = PGK_NO_CONTEXT, .before = (uint32_t)c, .node = w->before_nodes[c]};
    return 0;
}

static int align(struct aligner *w, const struct pgk_heap *now, const struct pgk_heap *before,
                 struct pgk_err *err)
{
    w->n_now = pgk_heap_contexts(now);
    w->n_before = before ? pgk_heap_contexts(before) : 0;
    w->now_nodes = pgk_mem_alloc(w->n_now + 1, sizeof *w->now_nodes);
    w->before_nodes = pgk_mem_alloc(w->n_before + 1, sizeof *w->before_nodes);
    w->paired = pgk_mem_zalloc(w->n_before + 1, sizeof *w->paired);
    w->a->pairs = pgk_mem_alloc(w->n_now + w->n_before + 1, sizeof *w->a->pairs);
    if (!w->now_nodes || !w->before_nodes || !w->paired || !w->a->pairs)
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_heap_frames_init(&w->a->frames, err));
    PGK_TRY(pgk_heap_frames_add(&w->a->frames, now, w->now_nodes, err));
    if (before)
        PGK_TRY(pgk_heap_frames_add(&w->a->frames, before, w->before_nodes, err));
    PGK_TRY(pair_equal(w, err));
    return before ? pair_moved(w, err) : 0;
}

int pgk_heap_align(struct pgk_heap_alignment *a, const struct pgk_heap *now,
                   const struct pgk_heap *before, struct pgk_err *err)
{
    *a = (struct pgk_heap_alignment){0};
    struct aligner w = {.a = a};
    int status = align(&w, now, before, err);
    aligner_free(&w);
    if (status)
        pgk_heap_alignment_free(a);
    return status;
}

void pgk_heap_alignment_free(struct pgk_heap_alignment *a)
{
    pgk_heap_frames_free(&a->frames);
    pgk_mem_free(a->pairs);
    *a = (struct pgk_heap_alignment){0};
}

/* The figures may be one and the same: their intervals of 95 % meet. */
static bool may_be_same(const struct pgk_mib *now, const struct pgk_mib *before,
                        enum pgk_mib_id figure)
{
    struct pgk_heap_estimate a, b;
    const bool sampled = pgk_mib_estimate(now, figure, &a);
    return (pgk_mib_estimate(before, figure, &b) || sampled) && a.low <= b.high && b.low <= a.high;
}

enum pgk_heap_change pgk_heap_change(const struct pgk_mib *now, const struct pgk_mib *before)
{
    if (!before)
        return PGK_CHANGE_NEW;
    if (!now)
        return PGK_CHANGE_GONE;
    double bytes = (double)now->v[PGK_MIB_TotalSize], old = (double)before->v[PGK_MIB_TotalSize];
    const bool same_bytes = may_be_same(now, before, PGK_MIB_TotalSize);
    if (bytes >= 1.1 * old && bytes > old && !same_bytes)
        return PGK_CHANGE_GREW;
    if (bytes <= 0.9 * old && bytes < old && !same_bytes)
        return PGK_CHANGE_SHRANK;
    if (may_be_same(now, before, PGK_MIB_TotalAccessCount))
        return PGK_CHANGE_SAME;
    double density = pgk_heap_sort_value(now, PGK_HEAP_SORT_DENSITY),
           old_density = pgk_heap_sort_value(before, PGK_HEAP_SORT_DENSITY);
    if (density < 0 || old_density < 0 || density == old_density)
        return PGK_CHANGE_SAME;
    if (density <= old_density / 2)
        return PGK_CHANGE_COOLED;
    return density >= old_density * 2 ? PGK_CHANGE_WARMED : PGK_CHANGE_SAME;
}

double pgk_heap_overlap(const struct pgk_heap_alignment *a, const struct pgk_heap *now,
                        const struct pgk_heap *before)
{
    struct pgk_heap_totals x, y;
    double overlap = 0;
    pgk_heap_totals(now, NULL, &x);
    pgk_heap_totals(before, NULL, &y);
    double all = (double)x.v[PGK_MIB_TotalSize], all_before = (double)y.v[PGK_MIB_TotalSize];
    if (all <= 0 || all_before <= 0)
        return all == all_before;
    for (size_t i = 0; i < a->n; i++) {
        const struct pgk_heap_pair *p = &a->pairs[i];
        if (p->now == PGK_NO_CONTEXT || p->before == PGK_NO_CONTEXT)
            continue;
        const struct pgk_mib *new = pgk_heap_mib(now, p->now, PGK_MIB_SPACE),
                             *old = pgk_heap_mib(before, p->before, PGK_MIB_SPACE);
        double share = (double)new->v[PGK_MIB_TotalSize] / all,
               old_share = (double)old->v[PGK_MIB_TotalSize] / all_before;
        overlap += share < old_share ? share : old_share;
    }
    return overlap;
}
