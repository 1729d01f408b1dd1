/* The overlap of two profiles, as llvm-profdata overlap computes it, and the functions that differ.
 * Counts are compared as shares of their function, functions as shares of their profile. */
#include "sample_overlap.h"

#include "sample_spelling.h"

#include "opts.h"
#include "percent.h"
#include "saturate.h"

#include <math.h>
#include <stdlib.h>

struct side {
    const struct pgk_sample *p;
    uint64_t samples;   /* in all lines of all functions */
    uint64_t hot;       /* lines with as many are hot */
};

/* A function on both sides, as far as it has been walked. */
struct walk {
    uint64_t base_samples, test_samples; /* of the whole function */
    uint64_t in_both, in_either, base_only, test_only;
};

struct pgk_sample_diff {
    struct side base, test;
    struct pgk_sample_overlap overlap;
    struct pgk_arena arena;
    PGK_VEC(uint32_t) base_name;             /* by name of test: the same name of base, or 0 */
    PGK_VEC(struct pgk_sample_change) changes;
    PGK_VEC(struct pgk_sample_pair) pairs;   /* of test, in its order */
};

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Differences below what is shown are none. */
static double snap(double v, double to)
{
    return fabs(v - to) < 5e-6 ? to : v;
}

/* ---- sums over a node and its inlinees ---- */

struct node_sums {
    uint64_t samples, max_count, hot_lines;
};

static void add_node(const struct side *s, uint32_t node, struct node_sums *sums)
{
    const struct pgk_sample_node *n = &s->p->nodes.v[node];
    for (uint32_t i = 0; i < n->recs.n; i++) {
        if (n->recs.v[i].what != PGK_REC_BODY)
            continue;
        uint64_t count = n->recs.v[i].count;
        sums->samples = pgk_add_saturated(sums->samples, count);
        sums->hot_lines += count >= s->hot;
        if (count > sums->max_count)
            sums->max_count = count;
    }
    for (uint32_t c = n->first_child; c; c = pgk_sample_next(s->p, c))
        add_node(s, c, sums);
}

static struct node_sums sum_node(const struct side *s, uint32_t node)
{
    struct node_sums sums = {0};
    add_node(s, node, &sums);
    return sums;
}

/* ---- one function on both sides ---- */

static void count_hot_lines(struct pgk_sample_diff *d, uint64_t base, uint64_t test, uint64_t lines)
{
    bool hot_in_base = base >= d->base.hot, hot_in_test = test >= d->test.hot;
    if (hot_in_base && hot_in_test)
        d->overlap.hot_lines_both += lines;
    else if (hot_in_base)
        d->overlap.hot_lines_base += lines;
    else if (hot_in_test)
        d->overlap.hot_lines_test += lines;
}

/* A line or an inlinee with its samples on each side, 0 where it is not. */
static double compare_counts(struct pgk_sample_diff *d, struct walk *w, uint64_t base,
                             uint64_t test, bool on_both, uint64_t lines)
{
    w->in_either += base > test ? base : test;
    w->in_both += base < test ? base : test;
    if (!on_both) {
        w->base_only += base;
        w->test_only += test;
    }
    count_hot_lines(d, base, test, lines);
    return fabs(share(base, w->base_samples) - share(test, w->test_samples));
}

static uint32_t next_body(const struct pgk_sample_recs *recs, uint32_t i)
{
    while (i < recs->n && recs->v[i].what != PGK_REC_BODY)
        i++;
    return i;
}

static double compare_lines(struct pgk_sample_diff *d, struct walk *w,
                            const struct pgk_sample_recs *a, const struct pgk_sample_recs *b)
{
    double difference = 0;
    uint32_t i = next_body(a, 0), k = next_body(b, 0);
    while (i < a->n || k < b->n) {
        bool take_a = k == b->n || (i < a->n && a->v[i].loc <= b->v[k].loc);
        bool take_b = i == a->n || (k < b->n && b->v[k].loc <= a->v[i].loc);
        difference += compare_counts(d, w, take_a ? a->v[i].count : 0, take_b ? b->v[k].count : 0,
                                     take_a && take_b, 1);
        i = take_a ? next_body(a, i + 1) : i;
        k = take_b ? next_body(b, k + 1) : k;
    }
    return difference;
}

static double unmatched(struct pgk_sample_diff *d, struct walk *w, const struct side *s,
                        uint32_t node)
{
    struct node_sums sums = sum_node(s, node);
    bool base = s == &d->base;
    return compare_counts(d, w, base ? sums.samples : 0, base ? 0 : sums.samples, false,
                          sums.hot_lines);
}

static uint32_t find_inlinee(const struct pgk_sample *p, uint32_t first, uint64_t loc,
                             uint32_t name)
{
    for (uint32_t c = first; name && c && p->nodes.v[c].loc <= loc; c = pgk_sample_next(p, c))
        if (p->nodes.v[c].loc == loc && p->nodes.v[c].name == name)
            return c;
    return 0;
}

/* The first record at or after a place, from which the search for the next place may begin. */
static uint32_t skip_to(const struct pgk_sample *p, uint32_t c, uint64_t loc)
{
    while (c && p->nodes.v[c].loc < loc)
        c = pgk_sample_next(p, c);
    return c;
}

static uint32_t matching_test(const struct pgk_sample_diff *d, uint32_t first,
                              const struct pgk_sample_node *base)
{
    const struct pgk_sample *p = d->test.p;
    for (uint32_t c = first; c && p->nodes.v[c].loc == base->loc; c = pgk_sample_next(p, c))
        if (d->base_name.v[p->nodes.v[c].name] == base->name)
            return c;
    return 0;
}

/* The similarity of two profiles of one function, from 0 to 1: lines, and inlinees at equal places
 * by their own similarity. An inlinee of one side only counts as a difference. */
static double similarity_inside(struct pgk_sample_diff *d, struct walk *w, uint32_t base,
                                uint32_t test)
{
    const struct pgk_sample *a = d->base.p, *b = d->test.p;
    double difference = compare_lines(d, w, &a->nodes.v[base].recs, &b->nodes.v[test].recs);
    uint32_t from = pgk_sample_first(b, test);
    for (uint32_t c = pgk_sample_first(a, base); c; c = pgk_sample_next(a, c)) {
        from = skip_to(b, from, a->nodes.v[c].loc);
        uint32_t same = matching_test(d, from, &a->nodes.v[c]);
        difference += same ? 2 - 2 * similarity_inside(d, w, c, same)
                           : unmatched(d, w, &d->base, c);
    }
    from = pgk_sample_first(a, base);
    for (uint32_t c = pgk_sample_first(b, test); c; c = pgk_sample_next(b, c)) {
        uint64_t loc = b->nodes.v[c].loc;
        from = skip_to(a, from, loc);
        if (!find_inlinee(a, from, loc, d->base_name.v[b->nodes.v[c].name]))
            difference += unmatched(d, w, &d->test, c);
    }
    return snap((2 - difference) / 2, 0);
}

/* ---- functions ---- */

static bool note_change(struct pgk_sample_diff *d, const struct side *s, uint32_t top,
                        struct pgk_sample_change change, struct pgk_sample_pair pair)
{
    struct pgk_line line = {0};
    pgk_sample_put_identity(s->p, top, &line);
    char *copy = line.failed ? NULL : pgk_arena_copy(&d->arena, (char *)line.bytes.v, line.bytes.n);
    pgk_line_free(&line);
    change.function = copy;
    change.base_share = share(change.base_samples, d->base.samples);
    change.test_share = share(change.test_samples, d->test.samples);
    pair.change = change;
    return copy && pgk_vec_push(&d->changes, change) &&
           (!pair.in_test || pgk_vec_push(&d->pairs, pair));
}

static void count_hot_function(struct pgk_sample_diff *d, bool base, bool test)
{
    d->overlap.hot_functions_both += base && test;
    d->overlap.hot_functions_base += base && !test;
    d->overlap.hot_functions_test += test && !base;
}

static bool add_pair(struct pgk_sample_diff *d, uint32_t base, uint32_t test, struct walk *all)
{
    struct node_sums a = sum_node(&d->base, base), b = sum_node(&d->test, test);
    struct walk w = {.base_samples = a.samples, .test_samples = b.samples};
    double inside = similarity_inside(d, &w, base, test);
    double base_share = share(a.samples, d->base.samples);
    double test_share = share(b.samples, d->test.samples);
    double similarity = inside * (1 - fabs(base_share - test_share));
    d->overlap.similarity += similarity * (base_share + test_share) / 2;
    d->overlap.functions_both++;
    count_hot_function(d, a.max_count >= d->base.hot, b.max_count >= d->test.hot);
    all->in_both += w.in_both;
    all->in_either += w.in_either;
    all->base_only += w.base_only;
    all->test_only += w.test_only;
    return note_change(d, &d->base, base,
                       (struct pgk_sample_change){.base_samples = a.samples,
                                                  .test_samples = b.samples,
                                                  .similarity = similarity,
                                                  .overlap = share(w.in_both, w.in_either)},
                       (struct pgk_sample_pair){.in_base = true,
                                                .in_test = true,
                                                .base_only = w.base_only,
                                                .test_only = w.test_only,
                                                .max_count = b.max_count});
}

static bool add_single(struct pgk_sample_diff *d, const struct side *s, uint32_t top,
                       struct walk *all)
{
    struct node_sums sums = sum_node(s, top);
    bool base = s == &d->base;
    struct pgk_sample_change change = {.base_samples = base ? sums.samples : 0,
                                       .test_samples = base ? 0 : sums.samples};
    d->overlap.functions_base += base;
    d->overlap.functions_test += !base;
    count_hot_function(d, base && sums.max_count >= s->hot, !base && sums.max_count >= s->hot);
    compare_counts(d, all, change.base_samples, change.test_samples, false, sums.hot_lines);
    return note_change(d, s, top, change,
                       (struct pgk_sample_pair){.in_base = base,
                                                .in_test = !base,
                                                .test_only = change.test_samples,
                                                .max_count = sums.max_count});
}

/* Functions of base by the text of what they are. */
static bool index_tops(const struct pgk_sample *p, struct pgk_intern *texts, uint32_t **tops)
{
    struct pgk_line line = {0};
    *tops = pgk_mem_zalloc(p->by_identity.n + 2, sizeof **tops);
    bool ok = *tops != NULL;
    for (size_t i = 0; i < p->by_identity.n && ok; i++) {
        line.bytes.n = 0;
        pgk_sample_put_identity(p, p->by_identity.v[i], &line);
        uint32_t id = pgk_intern(texts, (char *)line.bytes.v, line.bytes.n);
        ok = !line.failed && id != PGK_INDEX_NONE;
        if (ok)
            (*tops)[id] = p->by_identity.v[i];
    }
    pgk_line_free(&line);
    return ok;
}

static bool compare_functions(struct pgk_sample_diff *d, struct pgk_intern *texts,
                              const uint32_t *tops, bool *seen, struct walk *all)
{
    const struct pgk_sample *b = d->test.p;
    struct pgk_line line = {0};
    size_t n_base = texts->strs.n;
    bool ok = true;
    for (size_t i = 0; i < b->by_identity.n && ok; i++) {
        line.bytes.n = 0;
        pgk_sample_put_identity(b, b->by_identity.v[i], &line);
        uint32_t id = pgk_intern(texts, (char *)line.bytes.v, line.bytes.n);
        ok = !line.failed && id != PGK_INDEX_NONE;
        if (!ok)
            break;
        if (id < n_base && tops[id]) {
            seen[tops[id]] = true;
            ok = add_pair(d, tops[id], b->by_identity.v[i], all);
        } else {
            ok = add_single(d, &d->test, b->by_identity.v[i], all);
        }
    }
    pgk_line_free(&line);
    const struct pgk_sample *a = d->base.p;
    for (size_t i = 0; i < a->by_identity.n && ok; i++)
        if (!seen[a->by_identity.v[i]])
            ok = add_single(d, &d->base, a->by_identity.v[i], all);
    return ok;
}

static bool map_names(struct pgk_sample_diff *d)
{
    const struct pgk_sample_names *test = &d->test.p->names;
    if (!pgk_vec_reserve(&d->base_name, test->list.n + 1))
        return false;
    d->base_name.v[0] = 0;
    for (uint32_t id = 1; id < test->list.n; id++) {
        char number[24];
        const struct pgk_sample_name *n = &test->list.v[id];
        size_t len = n->len;
        if (!n->s)
            len = (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)n->guid);
        d->base_name.v[id] = pgk_sample_names_find(&d->base.p->names, n->s ? n->s : number, len);
    }
    return true;
}

static int measure(struct side *s, struct pgk_err *err)
{
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    PGK_TRY(pgk_sample_summarise(s->p, &summary, err));
    s->hot = pgk_sample_hot_count(&summary);
    for (size_t i = 0; i < s->p->by_heat.n; i++)
        s->samples = pgk_add_saturated(s->samples, sum_node(s, s->p->by_heat.v[i]).samples);
    if (s->samples)
        return 0;
    return pgk_fail(err, PGK_E_EMPTY, .found = "a profile without samples",
                    .expected = "two profiles with samples", .hint = "see pgokit show");
}

static int by_move(const void *pa, const void *pb)
{
    const struct pgk_sample_change *a = pa, *b = pb;
    double ma = fabs(a->base_share - a->test_share), mb = fabs(b->base_share - b->test_share);
    if (ma != mb)
        return ma > mb ? -1 : 1;
    return strcmp(a->function, b->function);
}

static int fill(struct pgk_sample_diff *d, struct pgk_err *err)
{
    PGK_TRY(measure(&d->base, err));
    PGK_TRY(measure(&d->test, err));
    struct pgk_intern texts = {0};
    struct walk all = {.base_samples = d->base.samples, .test_samples = d->test.samples};
    uint32_t *tops = NULL;
    bool *seen = pgk_mem_zalloc(d->base.p->nodes.n, sizeof *seen);
    bool ok = seen && map_names(d) && index_tops(d->base.p, &texts, &tops) &&
              compare_functions(d, &texts, tops, seen, &all);
    pgk_mem_free(seen);
    pgk_mem_free(tops);
    pgk_intern_free(&texts);
    if (!ok)
        return pgk_fail_nomem(err);
    d->overlap.similarity = snap(d->overlap.similarity, 1);
    d->overlap.base_samples = d->base.samples;
    d->overlap.test_samples = d->test.samples;
    d->overlap.sample_overlap = share(all.in_both, all.in_either);
    d->overlap.base_unique = share(all.base_only, d->base.samples);
    d->overlap.test_unique = share(all.test_only, d->test.samples);
    if (d->changes.n)
        qsort(d->changes.v, d->changes.n, sizeof *d->changes.v, by_move);
    return 0;
}

int pgk_sample_compare(struct pgk_sample_diff **diff, const struct pgk_sample *base,
                       const struct pgk_sample *test, struct pgk_err *err)
{
    if (base->kind.contexts != test->kind.contexts)
        return pgk_fail(err, PGK_E_MISMATCH,
                        .found = "one profile with contexts and one without",
                        .expected = "two of one kind",
                        .hint = "pgokit convert --layout=flat makes one without contexts");
    struct pgk_sample_diff *d = pgk_mem_zalloc(1, sizeof *d);
    if (!d)
        return pgk_fail_nomem(err);
    d->base.p = base;
    d->test.p = test;
    int status = fill(d, err);
    if (status)
        pgk_sample_diff_close(&d);
    else
        *diff = d;
    return status;
}

const struct pgk_sample_overlap *pgk_sample_diff_overlap(const struct pgk_sample_diff *diff)
{
    return &diff->overlap;
}

const struct pgk_sample_change *pgk_sample_diff_changes(const struct pgk_sample_diff *diff,
                                                        size_t *n)
{
    *n = diff->changes.n;
    return diff->changes.v;
}

const struct pgk_sample_pair *pgk_sample_diff_pairs(const struct pgk_sample_diff *diff, size_t *n)
{
    *n = diff->pairs.n;
    return diff->pairs.v;
}

void pgk_sample_diff_figures(const struct pgk_sample_diff *diff,
                             struct pgk_sample_diff_figures *figures)
{
    const struct pgk_sample_overlap *o = &diff->overlap;
    double new_samples = 0; /* the sum may be beyond 64 bits */
    struct pgk_sample_diff_figures f = {
        .growth_percent = pgk_growth_percent(o->base_samples, o->test_samples)};
    for (size_t i = 0; i < diff->changes.n; i++) {
        const struct pgk_sample_change *c = &diff->changes.v[i];
        if (!c->base_samples)
            new_samples += (double)c->test_samples;
        f.moved_points = fmax(f.moved_points, 100 * fabs(c->test_share - c->base_share));
    }
    f.new_percent = pgk_percent(new_samples, o->base_samples);
    PGK_RESULT_GIVE(figures, &f);
}

void pgk_sample_diff_close(struct pgk_sample_diff **diff)
{
    struct pgk_sample_diff *d = *diff;
    if (!d)
        return;
    pgk_arena_free(&d->arena);
    pgk_vec_free(&d->base_name);
    pgk_vec_free(&d->changes);
    pgk_vec_free(&d->pairs);
    pgk_mem_free(d);
    *diff = NULL;
}
