/* Counters by calling context from samples of instructions with call chains: what a function ran in
 * all is inferred from all of its samples, and each context gets the share that it has of these.
 * docs/formats/profile-generation.md section 9 */
#include "gen_binary.h"

#include "saturate.h"

#include <stdlib.h>

/* How many of a function's samples a context has. */
struct share {
    uint32_t function, node;
    uint64_t count;
};

struct contexts {
    struct pgk_gen_binary *b;
    struct pgk_functions functions;
    PGK_VEC(struct share) shares; /* by function */
    PGK_VEC(uint64_t) all;        /* samples of each function that have a context */
};

static int compare_shares(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool list_shares(struct contexts *c)
{
    const struct pgk_call_counts *hits = &c->b->hit_contexts;
    const struct pgk_function_range *last = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < c->functions.functions.n; i++)
        if (!pgk_vec_push(&c->all, 0))
            return false;
    for (size_t i = 0; i < hits->list.n; i++) {
        const struct pgk_call_count *h = &hits->list.v[i];
        const struct pgk_function_range *r = pgk_functions_at_next(&c->functions, h->from, &last);
        if (!r)
            continue;
        c->all.v[r->function] = pgk_add_saturated(c->all.v[r->function], h->count);
        if (!pgk_vec_push(&c->shares, (struct share){r->function, h->node, h->count}))
            return false;
    }
    if (c->shares.n)
        qsort(c->shares.v, c->shares.n, sizeof *c->shares.v, compare_shares);
    for (size_t i = 0; i < c->shares.n; i++) {
        if (kept && !compare_shares(&c->shares.v[kept - 1], &c->shares.v[i]))
            c->shares.v[kept - 1].count =
                pgk_add_saturated(c->shares.v[kept - 1].count, c->shares.v[i].count);
        else
            c->shares.v[kept++] = c->shares.v[i];
    }
    c->shares.n = kept;
    return true;
}

static size_t first_share(const struct contexts *c, uint32_t function)
{
    size_t low = 0, high = c->shares.n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (c->shares.v[mid].function < function)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Shares a count of code at `at` among the contexts of its function. Code without a known context
 * is the root's. */
static bool share_out(struct contexts *c, struct pgk_call_counts *into, uint64_t at,
                      const struct pgk_pair *pair)
{
    const struct pgk_function_range *r = pgk_functions_at(&c->functions, at);
    const uint64_t all = r ? c->all.v[r->function] : 0;
    uint64_t left = pair->count;
    if (!all)
        return pgk_call_counts_add(into, PGK_CALL_ROOT, pair->from, pair->to, pair->count);
    for (size_t i = first_share(c, r->function);
         i < c->shares.n && c->shares.v[i].function == r->function && left; i++) {
        const double part = (double)pair->count * (double)c->shares.v[i].count / (double)all;
        uint64_t count = (uint64_t)(part + 0.5);
        count = count < left ? count : left;
        left -= count;
        if (count && !pgk_call_counts_add(into, c->shares.v[i].node, pair->from, pair->to, count))
            return false;
    }
    return true;
}

static bool share_all(struct contexts *c)
{
    struct pgk_counters *counters = &c->b->counters;
    struct pgk_call_trie *calls = &c->b->calls;
    if (!calls->nodes.n && pgk_call_trie_find(calls, NULL, 0) == PGK_INDEX_NONE)
        return false;
    for (size_t i = 0; i < counters->ranges.list.n; i++)
        if (!share_out(c, &calls->ranges, counters->ranges.list.v[i].from,
                       &counters->ranges.list.v[i]))
            return false;
    for (size_t i = 0; i < counters->branches.list.n; i++)
        if (!share_out(c, &calls->branches, counters->branches.list.v[i].from,
                       &counters->branches.list.v[i]))
            return false;
    pgk_counters_free(counters);
    return true;
}

int pgk_gen_infer_contexts(struct pgk_gen_binary *binary, bool symbols, unsigned threads,
                           struct pgk_err *err)
{
    struct contexts c = {.b = binary};
    pgk_call_counts_sort(&binary->hit_contexts);
    int status = pgk_gen_functions(binary, &c.functions, symbols, threads, err);
    if (!status && (!list_shares(&c) || !share_all(&c)))
        status = pgk_fail_nomem(err);
    pgk_functions_close(&c.functions);
    pgk_vec_free(&c.shares);
    pgk_vec_free(&c.all);
    return status;
}
