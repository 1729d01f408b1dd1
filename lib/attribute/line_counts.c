/* Counts of lines and call targets before they enter a profile. */
#include "line_counts.h"

#include "group_sort.h"
#include "saturate.h"

static uint64_t put_together(const struct pgk_line_counts *c, uint64_t a, uint64_t b)
{
    return c->sum ? pgk_add_saturated(a, b) : a > b ? a : b;
}

/* Neighbours of one line are one record. */
bool pgk_line_counts_body(struct pgk_line_counts *c, uint32_t node, uint64_t loc, uint64_t count)
{
    struct pgk_line_count *last = c->bodies.n ? &c->bodies.v[c->bodies.n - 1] : NULL;
    if (last && last->node == node && last->loc == loc) {
        last->count = put_together(c, last->count, count);
        return true;
    }
    return pgk_vec_push(&c->bodies, (struct pgk_line_count){node, 0, loc, count});
}

bool pgk_line_counts_target(struct pgk_line_counts *c, uint32_t node, uint64_t loc, uint32_t name,
                            uint64_t count)
{
    return pgk_vec_push(&c->targets, (struct pgk_line_count){node, name, loc, count});
}

bool pgk_line_counts_weight(struct pgk_line_counts *c, uint32_t node, uint64_t weight)
{
    if (node >= c->weights.n) {
        size_t more = c->p->nodes.n - c->weights.n;
        if (!pgk_vec_reserve(&c->weights, more))
            return false;
        memset(c->weights.v + c->weights.n, 0, more * sizeof *c->weights.v);
        c->weights.n += more;
    }
    c->weights.v[node] = pgk_add_saturated(c->weights.v[node], weight);
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct pgk_line_count *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->loc != y->loc)
        return x->loc < y->loc ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static bool same_line(const struct pgk_line_count *a, const struct pgk_line_count *b)
{
    return a->node == b->node && a->loc == b->loc;
}

/* A line of a function's own profile was run at least as often as it called. */
static bool write_lines(struct pgk_line_counts *c)
{
    const struct pgk_line_count *b = c->bodies.v, *b_end = b + c->bodies.n;
    const struct pgk_line_count *t = c->targets.v, *t_end = t + c->targets.n;
    while (b < b_end || t < t_end) {
        bool from_target =
            b == b_end || (t < t_end && compare_counts(t, b) < 0 && !same_line(t, b));
        struct pgk_line_count line = from_target ? *t : *b;
        uint64_t highest = 0, called = 0;
        for (; b < b_end && same_line(b, &line); b++)
            highest = put_together(c, highest, b->count);
        for (; t < t_end && same_line(t, &line); t++) {
            called = pgk_add_saturated(called, t->count);
            if (!pgk_sample_add_target(c->p, line.node, line.loc, t->name, t->count))
                return false;
        }
        if (c->p->nodes.v[line.node].flags & PGK_NODE_TOP && called > highest)
            highest = called;
        if (!pgk_sample_add_body(c->p, line.node, line.loc, highest))
            return false;
    }
    return true;
}

/* A function's total holds those of what was inlined into it; parents are made before. */
static void write_totals(struct pgk_line_counts *c)
{
    for (size_t i = c->weights.n; i-- > 1;) {
        const struct pgk_sample_node *n = &c->p->nodes.v[i];
        uint64_t total = c->weights.v[i];
        pgk_sample_add_total(c->p, (uint32_t)i, total);
        if (n->parent && !(n->flags & PGK_NODE_CONTEXT))
            c->weights.v[n->parent] = pgk_add_saturated(c->weights.v[n->parent], total);
    }
}

bool pgk_line_counts_write(struct pgk_line_counts *c)
{
    pgk_sort_groups(c->bodies.v, c->bodies.n, sizeof *c->bodies.v, compare_counts);
    pgk_sort_groups(c->targets.v, c->targets.n, sizeof *c->targets.v, compare_counts);
    write_totals(c);
    return write_lines(c);
}

void pgk_line_counts_free(struct pgk_line_counts *c)
{
    pgk_vec_free(&c->bodies);
    pgk_vec_free(&c->targets);
    pgk_vec_free(&c->weights);
}
