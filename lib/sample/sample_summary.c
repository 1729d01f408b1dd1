/* Profile summaries, as LLVM's SampleProfileSummaryBuilder computes them. */
#include "sample_merge.h"

#include "keyed_sort.h"
#include "opts.h"

static const uint32_t cutoffs[PGK_SAMPLE_CUTOFFS] = {
    10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
    800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999,
};
enum { HOT_PPM = 990000, COLD_PPM = 999999 };

/* How often each count occurs: small ones by table, which most are, large ones by a list. */
enum { SMALL_COUNTS = 1 << 13 };
struct counter {
    struct pgk_sample_summary *summary;
    uint64_t *small;
    PGK_VEC(struct pgk_keyed) large; /* by falling count: keys are complements */
};

static bool count_node(struct counter *c, const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    struct pgk_sample_summary *s = c->summary;
    for (uint32_t i = 0; i < recs->n; i++) {
        uint64_t n = recs->v[i].count;
        if (recs->v[i].what != PGK_REC_BODY)
            continue;
        s->total_count += n;
        s->num_counts++;
        if (n > s->max_count)
            s->max_count = n;
        if (n < SMALL_COUNTS)
            c->small[n]++;
        else if (!pgk_vec_push(&c->large, (struct pgk_keyed){.key = ~n}))
            return false;
    }
    for (uint32_t id = pgk_sample_first(p, node); id; id = pgk_sample_next(p, id))
        if (!(p->nodes.v[id].attributes & PGK_SAMPLE_IN_BASE) && !count_node(c, p, id))
            return false;
    return true;
}

/* Distinct counts from the largest down. */
struct descent {
    const struct counter *c;
    size_t large;   /* those of the list that are done */
    uint64_t small; /* those of the table that are left */
};

static bool step_down(struct descent *d, uint64_t *count, uint64_t *times)
{
    const struct counter *c = d->c;
    if (d->large < c->large.n) {
        *count = ~c->large.v[d->large].key;
        for (*times = 0; d->large < c->large.n && ~c->large.v[d->large].key == *count; d->large++)
            ++*times;
        return true;
    }
    while (d->small) {
        *count = --d->small;
        *times = c->small[*count];
        if (*times)
            return true;
    }
    return false;
}

/* total * ppm / 1000000 without leaving 64 bits. */
static uint64_t share(uint64_t total, uint64_t ppm)
{
    return total / 1000000 * ppm + total % 1000000 * ppm / 1000000;
}

static void fill_cutoffs(const struct counter *c)
{
    struct pgk_sample_summary *s = c->summary;
    struct descent d = {.c = c, .small = SMALL_COUNTS};
    uint64_t sum = 0, seen = 0, count = 0, times;
    for (size_t i = 0; i < PGK_SAMPLE_CUTOFFS; i++) {
        uint64_t want = share(s->total_count, cutoffs[i]);
        while (sum < want && step_down(&d, &count, &times)) {
            sum += count * times;
            seen += times;
        }
        s->cutoffs[i] = (struct pgk_sample_cutoff){.ppm = cutoffs[i], .min_count = count,
                                                   .num_counts = seen};
    }
    s->n_cutoffs = PGK_SAMPLE_CUTOFFS;
}

static int summarise(const struct pgk_sample *p, size_t n, struct pgk_sample_summary *s,
                     struct pgk_err *err)
{
    struct counter c = {.summary = s};
    const uint32_t *tops = pgk_sample_hottest(p, n);
    *s = (struct pgk_sample_summary){.struct_size = sizeof *s, .num_functions = n};
    c.small = pgk_mem_zalloc(SMALL_COUNTS, sizeof *c.small);
    bool ok = c.small != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        uint64_t head = p->nodes.v[tops[i]].head;
        if (head > s->max_function_count)
            s->max_function_count = head;
        ok = count_node(&c, p, tops[i]);
    }
    ok = ok && pgk_keyed_sort(c.large.v, c.large.n);
    if (ok)
        fill_cutoffs(&c);
    pgk_mem_free(c.small);
    pgk_vec_free(&c.large);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Compilers take contexts of a function together, whatever the profile does. */
int pgk_sample_summarise_hottest(const struct pgk_sample *p, size_t n,
                                 struct pgk_sample_summary *summary, struct pgk_err *err)
{
    if (!p->kind.contexts)
        return summarise(p, n, summary, err);
    struct pgk_sample *functions;
    PGK_TRY(pgk_sample_new(&functions, err));
    int status = pgk_sample_merge_contexts(functions, p, n, err);
    if (!status)
        status = pgk_sample_finish(functions, err);
    if (!status)
        status = summarise(functions, functions->by_heat.n, summary, err);
    pgk_sample_close(&functions);
    return status;
}

int pgk_sample_summarise(const struct pgk_sample *p, struct pgk_sample_summary *summary,
                         struct pgk_err *err)
{
    struct pgk_sample_summary s;
    PGK_TRY(pgk_sample_summarise_hottest(p, p->by_heat.n, &s, err));
    PGK_RESULT_GIVE(summary, &s);
    return 0;
}

bool pgk_sample_summaries_agree(const struct pgk_sample_summary *a,
                                const struct pgk_sample_summary *b)
{
    bool same = a->total_count == b->total_count && a->max_count == b->max_count &&
                a->max_function_count == b->max_function_count && a->num_counts == b->num_counts &&
                a->num_functions == b->num_functions;
    for (size_t i = 0; i < a->n_cutoffs && same; i++)
        same = a->n_cutoffs != b->n_cutoffs || a->cutoffs[i].ppm != b->cutoffs[i].ppm ||
               (a->cutoffs[i].min_count == b->cutoffs[i].min_count &&
                a->cutoffs[i].num_counts == b->cutoffs[i].num_counts);
    return same;
}

uint64_t pgk_sample_count_at(const struct pgk_sample_summary *s, uint64_t ppm)
{
    for (size_t i = 0; i < s->n_cutoffs; i++)
        if (s->cutoffs[i].ppm >= ppm)
            return s->cutoffs[i].min_count;
    return 0;
}

uint64_t pgk_sample_hot_count(const struct pgk_sample_summary *summary)
{
    return pgk_sample_count_at(summary, HOT_PPM);
}

uint64_t pgk_sample_cold_count(const struct pgk_sample_summary *summary)
{
    return pgk_sample_count_at(summary, COLD_PPM);
}
