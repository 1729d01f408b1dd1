/* How code that ran lies. docs/formats/propeller.md section 5 */
#include "code_places.h"

#include <stdlib.h>

enum { PAGE_BITS = 12, LINE_BITS = 6, ALIGNED = 16 };

struct place { /* a part of a line that runs */
    uint64_t line;
    double weight; /* bytes, as often as they ran */
};
typedef PGK_VEC(struct place) places;

static bool add_block(places *p, uint64_t at, uint64_t size, uint64_t count)
{
    for (uint64_t end = at + size; at < end;) {
        uint64_t next = ((at >> LINE_BITS) + 1) << LINE_BITS;
        next = next < end ? next : end;
        struct place new = {at >> LINE_BITS, (double)count * (double)(next - at)};
        if (!pgk_vec_push(p, new))
            return false;
        at = next;
    }
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_weights(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* Lines become units of 2^`bits` lines, each once. */
static void merge(places *p, unsigned bits)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        p->v[i].line >>= bits;
    if (p->n)
        qsort(p->v, p->n, sizeof *p->v, compare_lines);
    for (size_t i = 0; i < p->n; i++) {
        if (n && p->v[n - 1].line == p->v[i].line)
            p->v[n - 1].weight += p->v[i].weight;
        else
            p->v[n++] = p->v[i];
    }
    p->n = n;
}

/* How few of them hold that share of the weight. */
static uint64_t holding(const struct place *v, size_t n, double share)
{
    double all = 0, sum = 0;
    size_t i = 0;
    for (size_t k = 0; k < n; k++)
        all += v[k].weight;
    while (i < n && sum < all * share)
        sum += v[i++].weight;
    return i;
}

static bool measure(struct pgk_gen_places *to, places *p)
{
    places sorted = {0};
    merge(p, 0);
    if (!pgk_vec_reserve(&sorted, p->n))
        return false;
    for (unsigned turn = 0; turn < 2; turn++) {
        sorted.n = 0;
        for (size_t i = 0; i < p->n; i++)
            sorted.v[sorted.n++] = p->v[i];
        if (sorted.n)
            qsort(sorted.v, sorted.n, sizeof *sorted.v, compare_weights);
        *(turn ? &to->pages_90 : &to->lines_90) = holding(sorted.v, sorted.n, 0.90);
        *(turn ? &to->pages_99 : &to->lines_99) = holding(sorted.v, sorted.n, 0.99);
        merge(p, PAGE_BITS - LINE_BITS);
    }
    pgk_vec_free(&sorted);
    return true;
}

/* ---- as it is, and in two new orders ---- */

static bool measure_now(struct pgk_gen_layout *l, const struct pgk_block_flow *f)
{
    places p = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < f->map->blocks.n; i++)
        if (f->counts[i])
            ok = add_block(&p, f->map->blocks.v[i].low, f->map->blocks.v[i].size, f->counts[i]);
    ok = ok && measure(&l->now, &p);
    pgk_vec_free(&p);
    return ok;
}

static bool measure_blocks(struct pgk_gen_layout *l, const struct pgk_block_flow *f,
                           const struct pgk_block_order *o)
{
    places p = {0};
    uint64_t at = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < o->order.n; i++) {
        const struct pgk_ordered_function *of = &o->functions.v[o->order.v[i]];
        at = (at + ALIGNED - 1) / ALIGNED * ALIGNED;
        for (uint32_t k = 0; ok && k < of->n; k++) {
            uint32_t b = o->blocks.v[of->first + k];
            ok = add_block(&p, at, f->map->blocks.v[b].size, f->counts[b]);
            at += f->map->blocks.v[b].size;
        }
    }
    ok = ok && measure(&l->blocks_ordered, &p);
    pgk_vec_free(&p);
    return ok;
}

/* Functions as wholes: their blocks stay as they are, those that did not run between the others. */
static bool order_functions(pgk_layout_list *order, uint64_t *offset, uint64_t *size,
                            const struct pgk_block_flow *f)
{
    struct pgk_call_graph g = {0};
    const struct pgk_block_map *m = f->map;
    bool ok = true;
    for (size_t i = 0; ok && i < m->functions.n; i++)
        ok = pgk_vec_push(&g.functions, (struct pgk_graph_function){.size = 1});
    for (size_t i = 0; ok && i < m->by_address.n; i++) {
        uint32_t b = m->by_address.v[i], of = m->blocks.v[b].function;
        offset[b] = size[of];
        size[of] += m->blocks.v[b].size;
        g.functions.v[of].size = size[of] ? size[of] : 1;
        g.functions.v[of].count += f->counts[b];
    }
    for (size_t i = 0; ok && i < f->calls.n; i++) {
        const struct pgk_block_call *c = &f->calls.v[i];
        ok = pgk_vec_push(&g.calls, (struct pgk_graph_call){m->blocks.v[c->from].function, c->to,
                                                            offset[c->from] + c->offset, c->count});
    }
    ok = ok && pgk_layout_order(order, &g);
    pgk_call_graph_free(&g);
    return ok;
}

static bool measure_functions(struct pgk_gen_layout *l, const struct pgk_block_flow *f)
{
    const struct pgk_block_map *m = f->map;
    uint64_t *offset = pgk_mem_zalloc(m->blocks.n + 1, sizeof *offset);
    uint64_t *size = pgk_mem_zalloc(m->functions.n + 1, sizeof *size), at = 0;
    pgk_layout_list order = {0};
    places p = {0};
    bool ok = offset && size && order_functions(&order, offset, size, f);
    for (size_t i = 0; ok && i < order.n; i++) {
        const struct pgk_map_function *of = &m->functions.v[order.v[i]];
        for (uint32_t b = of->first; ok && b < of->first + of->n; b++)
            ok = !f->counts[b] || add_block(&p, at + offset[b], m->blocks.v[b].size, f->counts[b]);
        at = (at + size[order.v[i]] + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
    ok = ok && measure(&l->functions_ordered, &p);
    pgk_vec_free(&p);
    pgk_vec_free(&order);
    pgk_mem_free(offset);
    pgk_mem_free(size);
    return ok;
}

bool pgk_code_places(struct pgk_gen_layout *l, const struct pgk_block_flow *f,
                     const struct pgk_block_order *o)
{
    if (!measure_now(l, f) || !measure_functions(l, f) || !measure_blocks(l, f, o))
        return false;
    l->functions = o->functions.n;
    l->ways = o->all;
    for (size_t i = 0; i < o->blocks.n; i++) {
        l->blocks += f->counts[o->blocks.v[i]] != 0;
        l->bytes += f->map->blocks.v[o->blocks.v[i]].size;
    }
    l->now.taken = l->functions_ordered.taken = f->taken;
    l->blocks_ordered.taken = o->taken;
    l->now.score = l->functions_ordered.score = (uint64_t)o->score_now;
    l->blocks_ordered.score = (uint64_t)o->score;
    return true;
}
