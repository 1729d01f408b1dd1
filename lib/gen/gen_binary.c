/* What generation keeps of one binary. */
#include "gen_binary.h"

#include "u64_set.h"

bool pgk_gen_is_start_up(const char *name, size_t len)
{
    static const char *const prefixes[] = {"__cxx_global_var_init", "__tls_init"};
    for (size_t i = 0; i < PGK_COUNTOF(prefixes); i++) {
        size_t n = strlen(prefixes[i]);
        if (len >= n && !memcmp(name, prefixes[i], n))
            return true;
    }
    return false;
}

/* Ranges that control cannot have run through come of broken samples. */
static void drop_bad_ranges(struct pgk_gen_binary *b, struct pgk_gen_stats *stats)
{
    struct pgk_pairs *ranges = &b->counters.ranges;
    size_t kept = 0;
    for (size_t i = 0; i < ranges->v.n; i++) {
        const struct pgk_pair *r = &ranges->v.v[i];
        stats->ranges += r->count;
        if (pgk_code_is_straight(&b->code, r->from, r->to))
            ranges->v.v[kept++] = *r;
        else
            stats->ranges_bad += r->count;
    }
    ranges->v.n = kept;
}

void pgk_gen_settle(struct pgk_gen_binary *b, struct pgk_gen_stats *stats)
{
    pgk_pairs_sort(&b->counters.ranges);
    pgk_pairs_sort(&b->counters.branches);
    pgk_pairs_sort(&b->vtables);
    drop_bad_ranges(b, stats);
}

int pgk_gen_functions(const struct pgk_gen_binary *b, struct pgk_functions *functions, bool symbols,
                      unsigned threads, struct pgk_err *err)
{
    PGK_VEC(uint64_t) addrs = {0};
    const struct pgk_counters *c = &b->counters;
    const struct pgk_pairs *const pairs[] = {&c->ranges, &c->branches};
    bool ok = true;
    for (size_t k = 0; k < PGK_COUNTOF(pairs); k++)
        for (size_t i = 0; ok && i < pairs[k]->v.n; i++)
            ok = pgk_vec_push(&addrs, pairs[k]->v.v[i].from) &&
                 pgk_vec_push(&addrs, pairs[k]->v.v[i].to);
    addrs.n = pgk_u64_set(addrs.v, addrs.n);
    int status =
        ok ? pgk_functions_open(functions, b->sym, b->elf, symbols, addrs.v, addrs.n, threads, err)
           : pgk_fail_nomem(err);
    pgk_vec_free(&addrs);
    return status;
}
