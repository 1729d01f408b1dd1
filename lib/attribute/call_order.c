/* Callers before what they call. docs/formats/profile-generation.md section 7
 *
 * Tarjan's algorithm gives groups of functions that call each other, callees first. In a group,
 * the calls of a spanning forest of the greatest weight decide. The whole is then turned round. */
#include "call_order.h"

#include "saturate.h"

#include <stdlib.h>

enum { NOT_SEEN = 0 };

struct frame {
    uint32_t function;
    size_t next; /* arc to be looked at */
};

struct order {
    const pgk_arc_vec *arcs;
    size_t *first; /* by caller; [n] is the end */
    uint32_t *number, *low; /* of the search, from 1 on */
    bool *on_stack;
    uint32_t numbers;
    PGK_VEC(struct frame) frames;
    PGK_VEC(uint32_t) stack;
    uint32_t *out;
    uint32_t n_out;

    /* Of a group: */
    uint32_t *group; /* by function: union-find */
    uint32_t *entering; /* by function: arcs of the forest that lead there */
    bool *in_forest; /* by arc */
    bool *in_group; /* by function */
};

static int compare_arcs(const void *a, const void *b)
{
    const struct pgk_call_arc *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

void pgk_arcs_add_up(pgk_arc_vec *arcs)
{
    size_t kept = 0;
    if (arcs->n)
        qsort(arcs->v, arcs->n, sizeof *arcs->v, compare_arcs);
    for (size_t i = 0; i < arcs->n; i++) {
        struct pgk_call_arc *last = kept ? &arcs->v[kept - 1] : NULL;
        if (!last || compare_arcs(last, &arcs->v[i]))
            arcs->v[kept++] = arcs->v[i];
        else
            last->weight = pgk_add_saturated(last->weight, arcs->v[i].weight);
    }
    arcs->n = kept;
}

static uint32_t find_group(struct order *o, uint32_t f)
{
    while (o->group[f] != f)
        f = o->group[f] = o->group[o->group[f]];
    return f;
}

struct heavy {
    uint64_t weight;
    size_t order, arc;
};
typedef PGK_VEC(struct heavy) heavy_vec;

static int compare_heavy(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Calls within the group, the heaviest first. */
static bool list_heavy(struct order *o, const uint32_t *members, size_t n, heavy_vec *heavy)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t a = o->first[members[i]]; a < o->first[members[i] + 1]; a++) {
            struct heavy h = {o->arcs->v[a].weight, heavy->n, a};
            if (o->in_group[o->arcs->v[a].callee] && !pgk_vec_push(heavy, h))
                return false;
        }
    }
    if (heavy->n)
        qsort(heavy->v, heavy->n, sizeof *heavy->v, compare_heavy);
    return true;
}

static void make_forest(struct order *o, const heavy_vec *heavy)
{
    for (size_t i = 0; i < heavy->n; i++) {
        const struct pgk_call_arc *arc = &o->arcs->v[heavy->v[i].arc];
        uint32_t a = find_group(o, arc->caller), b = find_group(o, arc->callee);
        o->in_forest[heavy->v[i].arc] = a != b;
        o->entering[arc->callee] += a != b;
        o->group[b] = a;
    }
}

/* From the functions that no call of the forest enters on, breadth first, into `out`. */
static void walk_forest(struct order *o, const heavy_vec *heavy, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < heavy->n; i++) {
        uint32_t caller = o->arcs->v[heavy->v[i].arc].caller;
        if (o->in_group[caller] && !o->entering[caller]) {
            out[n++] = caller;
            o->in_group[caller] = false; /* is in the queue */
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t a = o->first[out[i]]; a < o->first[out[i] + 1]; a++)
            if (o->in_forest[a] && !--o->entering[o->arcs->v[a].callee])
                out[n++] = o->arcs->v[a].callee;
}

/* Sorts a group that is the end of the output, backwards, as all will be turned round. */
static bool sort_group(struct order *o, uint32_t *members, size_t n)
{
    heavy_vec heavy = {0};
    for (size_t i = 0; i < n; i++) {
        o->in_group[members[i]] = true;
        o->group[members[i]] = members[i];
        o->entering[members[i]] = 0;
    }
    bool ok = list_heavy(o, members, n, &heavy);
    if (ok) {
        make_forest(o, &heavy);
        walk_forest(o, &heavy, members);
    }
    for (size_t i = 0; i < n; i++)
        o->in_group[members[i]] = false;
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = members[n - 1 - i];
        members[n - 1 - i] = members[i];
        members[i] = other;
    }
    pgk_vec_free(&heavy);
    return ok;
}

static bool enter(struct order *o, uint32_t f)
{
    o->number[f] = o->low[f] = ++o->numbers;
    o->on_stack[f] = true;
    return pgk_vec_push(&o->stack, f) &&
           pgk_vec_push(&o->frames, (struct frame){f, o->first[f]});
}

static bool leave(struct order *o, uint32_t f)
{
    o->frames.n--;
    if (o->frames.n) {
        uint32_t caller = o->frames.v[o->frames.n - 1].function;
        if (o->low[f] < o->low[caller])
            o->low[caller] = o->low[f];
    }
    if (o->low[f] != o->number[f])
        return true;
    uint32_t start = o->n_out, member;
    do {
        member = o->stack.v[--o->stack.n];
        o->on_stack[member] = false;
        o->out[o->n_out++] = member;
    } while (member != f);
    return o->n_out - start == 1 || sort_group(o, o->out + start, o->n_out - start);
}

static bool visit(struct order *o, uint32_t f)
{
    if (!enter(o, f))
        return false;
    while (o->frames.n) {
        struct frame *top = &o->frames.v[o->frames.n - 1];
        uint32_t at = top->function;
        if (top->next == o->first[at + 1]) {
            if (!leave(o, at))
                return false;
            continue;
        }
        uint32_t callee = o->arcs->v[top->next++].callee;
        if (o->number[callee] == NOT_SEEN) {
            if (!enter(o, callee))
                return false;
        } else if (o->on_stack[callee] && o->number[callee] < o->low[at]) {
            o->low[at] = o->number[callee];
        }
    }
    return true;
}

static bool visit_all(struct order *o, uint32_t n)
{
    for (size_t a = 0; a < o->arcs->n; a++)
        o->first[o->arcs->v[a].caller + 1]++;
    for (uint32_t f = 0; f < n; f++)
        o->first[f + 1] += o->first[f];
    for (uint32_t f = 0; f < n; f++)
        if (o->number[f] == NOT_SEEN && !visit(o, f))
            return false;
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t other = o->out[n - 1 - i];
        o->out[n - 1 - i] = o->out[i];
        o->out[i] = other;
    }
    return true;
}

bool pgk_call_order(const pgk_arc_vec *arcs, uint32_t n, uint32_t *order)
{
    struct order o = {
        .arcs = arcs,
        .out = order,
        .first = pgk_mem_zalloc((size_t)n + 1, sizeof *o.first),
        .number = pgk_mem_zalloc((size_t)n + 1, sizeof *o.number),
        .low = pgk_mem_zalloc((size_t)n + 1, sizeof *o.low),
        .on_stack = pgk_mem_zalloc((size_t)n + 1, sizeof *o.on_stack),
        .group = pgk_mem_zalloc((size_t)n + 1, sizeof *o.group),
        .entering = pgk_mem_zalloc((size_t)n + 1, sizeof *o.entering),
        .in_group = pgk_mem_zalloc((size_t)n + 1, sizeof *o.in_group),
        .in_forest = pgk_mem_zalloc(arcs->n + 1, sizeof *o.in_forest),
    };
    bool ok = o.first && o.number && o.low && o.on_stack && o.group && o.entering && o.in_group &&
              o.in_forest && visit_all(&o, n);
    pgk_mem_free(o.first);
    pgk_mem_free(o.number);
    pgk_mem_free(o.low);
    pgk_mem_free(o.on_stack);
    pgk_mem_free(o.group);
    pgk_mem_free(o.entering);
    pgk_mem_free(o.in_group);
    pgk_mem_free(o.in_forest);
    pgk_vec_free(&o.frames);
    pgk_vec_free(&o.stack);
    return ok;
}
