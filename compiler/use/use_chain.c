/* Chains in the order of their places, shorter ones first. The chains that begin with the same
 * places are neighbours: a range of them is narrowed down with each frame. */
#include "use_chain.h"

#include "plan_memory.h"

#include <string.h>

/* ---- order ---- */

/* How much of places is compared. Those of a group match any line of the same frames. */
enum level { FUNCTION, GROUP, PLACE };

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_places(const struct pgc_place *a, const struct pgc_place *b, enum level level)
{
    int order = by_number(a->function, b->function);
    if (order || level == FUNCTION)
        return order;
    order = by_number(a->line_zero, b->line_zero);
    order = order ? order : by_number(a->no_line, b->no_line);
    if (order || level == GROUP)
        return order;
    order = by_number(a->line_offset, b->line_offset);
    return order ? order : by_number(a->column, b->column);
}

static int compare_chains(const void *a, const void *b)
{
    const struct pgc_chain *x = a, *y = b;
    for (size_t i = 0; i < x->n && i < y->n; i++) {
        int order = compare_places(&x->places[i], &y->places[i], PLACE);
        if (order)
            return order;
    }
    return by_number(x->n, y->n);
}

void pgc_chains_add(struct pgc_chains *c, const struct pgc_place *places, size_t n)
{
    struct pgc_place *copy = pgc_zeroed(n, sizeof *copy);
    memcpy(copy, places, n * sizeof *copy);
    for (size_t i = 0; i < n && !c->columns; i++)
        copy[i].column = 0; /* as in all frames then */
    const struct pgc_chain chain = {copy, n, c->n};
    PGC_PUSH(c->all, c->n, c->capacity, chain);
}

void pgc_chains_sort(struct pgc_chains *c, size_t *positions)
{
    size_t kept = 0;
    if (c->n)
        qsort(c->all, c->n, sizeof *c->all, compare_chains);
    for (size_t i = 0; i < c->n; i++) {
        struct pgc_chain chain = c->all[i];
        bool known = kept && !compare_chains(&chain, &c->all[kept - 1]);
        if (known)
            free(chain.places);
        else
            c->all[kept++] = chain;
        positions[chain.number] = kept - 1;
    }
    c->n = kept;
}

void pgc_chains_close(struct pgc_chains *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->all[i].places);
    free(c->all);
    *c = (struct pgc_chains){0};
}

/* ---- search ---- */

/* Chains with the same first places. */
struct range {
    size_t from, to;
};

/* The first chain of a range whose place at a depth is not before the key; or is after it. */
static size_t bound(const struct pgc_chains *c, struct range r, size_t depth,
                    const struct pgc_place *key, enum level level, bool after)
{
    while (r.from < r.to) {
        size_t middle = r.from + (r.to - r.from) / 2;
        int order = compare_places(&c->all[middle].places[depth], key, level);
        if (order < 0 || (after && !order))
            r.from = middle + 1;
        else
            r.to = middle;
    }
    return r.from;
}

static struct range alike(const struct pgc_chains *c, struct range r, size_t depth,
                          const struct pgc_place *key, enum level level)
{
    r.from = bound(c, r, depth, key, level, false);
    r.to = bound(c, r, depth, key, level, true);
    return r;
}

/* Calls that optimisation merged have no line: they may be any of the function. */
static bool is_anywhere(const struct pgc_chains *c, const struct pgc_place *place,
                        const struct pgc_frame *frame)
{
    return !c->exact && (place->line_zero || frame->line == place->no_line);
}

/* Takes the next chains that are at the frame, all with the same place, from those of its
 * function. */
static bool next_place(const struct pgc_chains *c, struct range *left, size_t depth,
                       const struct pgc_frame *frame, struct range *found)
{
    while (left->from < left->to) {
        struct pgc_place key = c->all[left->from].places[depth];
        if (is_anywhere(c, &key, frame)) {
            *found = alike(c, *left, depth, &key, PLACE);
            left->from = found->to;
            return true;
        }
        struct range group = alike(c, *left, depth, &key, GROUP);
        left->from = group.to;
        key.line_offset = frame->line;
        key.column = frame->column;
        *found = alike(c, group, depth, &key, PLACE);
        if (found->from < found->to)
            return true;
    }
    return false;
}

static struct range of_function(const struct pgc_chains *c, struct range r, size_t depth,
                                const struct pgc_frame *frame)
{
    const struct pgc_place key = {.function = frame->function};
    return alike(c, r, depth, &key, FUNCTION);
}

struct search {
    const struct pgc_chains *chains;
    const struct pgc_frame *frames;
    size_t n;
    pgc_chain_found *found;
    void *arg;
};

/* The chains of the range begin with `depth` places that the frames are at. */
static void find(const struct search *s, struct range r, size_t depth)
{
    struct range next;
    if (r.from < r.to && s->chains->all[r.from].n == depth)
        s->found(s->arg, r.from++);
    if (depth == s->n)
        return;
    struct range left = of_function(s->chains, r, depth, &s->frames[depth]);
    while (next_place(s->chains, &left, depth, &s->frames[depth], &next))
        find(s, next, depth + 1);
}

static struct range all_with_places(const struct pgc_chains *c)
{
    return (struct range){c->n && !c->all[0].n ? 1 : 0, c->n};
}

void pgc_chains_find(const struct pgc_chains *c, const struct pgc_frame *frames, size_t n,
                     pgc_chain_found *found, void *arg)
{
    const struct search search = {c, frames, n, found, arg};
    find(&search, all_with_places(c), 0);
}

bool pgc_chains_begin(const struct pgc_chains *c, const struct pgc_frame *frame)
{
    struct range left = of_function(c, all_with_places(c), 0, frame), found;
    return next_place(c, &left, 0, frame, &found);
}

size_t pgc_chain_exact(const struct pgc_chain *chain, const struct pgc_frame *frames)
{
    size_t n = 0;
    for (size_t i = 0; i < chain->n; i++)
        n += frames[i].line == chain->places[i].line_offset &&
             frames[i].column == chain->places[i].column;
    return n;
}
