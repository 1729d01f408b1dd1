/* The state of generation for one binary. */
#include "gen_binary.h"

#include "hash.h"
#include "u64_set.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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

void pgk_gen_example(struct pgk_gen_stats *stats, enum pgk_gen_drop drop, const char *fmt, ...)
{
    va_list args;
    if (*stats->examples[drop])
        return;
    va_start(args, fmt);
    vsnprintf(stats->examples[drop], PGK_GEN_EXAMPLE_SIZE, fmt, args);
    va_end(args);
}

void pgk_gen_no_source(struct pgk_gen_stats *stats, const struct pgk_gen_binary *b, uint64_t addr)
{
    if (!*stats->examples[PGK_GEN_NO_SOURCE])
        pgk_gen_example(stats, PGK_GEN_NO_SOURCE, "0x%" PRIx64 " in %s", addr,
                        pgk_elf_path(b->elf));
}

static void bad_range(struct pgk_gen_stats *stats, const struct pgk_elf *elf, uint64_t from,
                      uint64_t to, uint64_t count)
{
    stats->ranges_bad += count;
    pgk_gen_example(stats, PGK_GEN_BAD_RANGE, "0x%" PRIx64 " to 0x%" PRIx64 " in %s, %s", from, to,
                    pgk_elf_path(elf),
                    from > to ? "backwards" : "over a call, a return or a jump");
}

static void drop_impossible(struct pgk_gen_binary *b, struct pgk_call_counts *ranges,
                            struct pgk_gen_stats *stats)
{
    size_t kept = 0;
    for (size_t i = 0; i < ranges->list.n; i++) {
        const struct pgk_call_count *r = &ranges->list.v[i];
        stats->ranges += r->count;
        if (r->impossible)
            bad_range(stats, b->elf, r->from, r->to, r->count);
        if (!r->impossible || (b->any_ranges && r->from <= r->to))
            ranges->list.v[kept++] = *r;
    }
    ranges->list.n = kept;
}

static void check_source(struct pgk_gen_binary *b, uint64_t from, uint64_t count,
                         struct pgk_gen_stats *stats)
{
    stats->in_code += count;
    if (from == PGK_ADDR_EXTERNAL ||
        pgk_code_kind(pgk_code_mark(&b->code, from)) != PGK_INSN_OTHER)
        return;
    stats->unfit += count;
    if (!*stats->examples[PGK_GEN_UNFIT])
        pgk_gen_example(stats, PGK_GEN_UNFIT, "0x%" PRIx64 " in %s does not branch", from,
                        pgk_elf_path(b->elf));
}

/* Sources of branches that do not branch are of another build. */
static void check_sources(struct pgk_gen_binary *b, struct pgk_gen_stats *stats)
{
    const struct pgk_call_counts *counts[] = {&b->calls.branches, &b->named.branches};
    for (size_t i = 0; i < b->counters.branches.list.n; i++)
        check_source(b, b->counters.branches.list.v[i].from, b->counters.branches.list.v[i].count,
                     stats);
    for (size_t k = 0; k < PGK_COUNTOF(counts); k++)
        for (size_t i = 0; i < counts[k]->list.n; i++)
            check_source(b, counts[k]->list.v[i].from, counts[k]->list.v[i].count, stats);
}

/* Ranges that control cannot have run through come of broken samples. */
static void drop_bad_ranges(struct pgk_gen_binary *b, struct pgk_gen_stats *stats)
{
    struct pgk_pairs *ranges = &b->counters.ranges;
    size_t kept = 0;
    for (size_t i = 0; i < ranges->list.n; i++) {
        const struct pgk_pair *r = &ranges->list.v[i];
        stats->ranges += r->count;
        bool possible = pgk_code_is_straight(&b->code, r->from, r->to);
        if (!possible)
            bad_range(stats, b->elf, r->from, r->to, r->count);
        if (possible || (b->any_ranges && r->from <= r->to))
            ranges->list.v[kept++] = *r;
    }
    ranges->list.n = kept;
    drop_impossible(b, &b->calls.ranges, stats);
    drop_impossible(b, &b->named.ranges, stats);
}

int pgk_gen_count_steps(struct pgk_gen_binary *b, bool contexts, struct pgk_err *err)
{
    bool ok = contexts ? pgk_call_trie_count(&b->calls, &b->steps, &b->code)
                       : pgk_step_counts_move(&b->step_counts, &b->code, &b->counters);
    pgk_steps_free(&b->steps);
    return ok ? 0 : pgk_fail_nomem(err);
}

void pgk_gen_settle(struct pgk_gen_binary *b, struct pgk_gen_stats *stats)
{
    pgk_pairs_sort(&b->counters.ranges);
    pgk_pairs_sort(&b->counters.branches);
    pgk_call_trie_settle(&b->calls);
    if (!b->hits.list.n) /* else branches are inferred */
        check_sources(b, stats);
    drop_bad_ranges(b, stats);
}

static bool list_pairs(const struct pgk_pairs *pairs, bool to, pgk_addr_vec *addrs)
{
    bool ok = pgk_vec_reserve(addrs, 2 * pairs->list.n);
    for (size_t i = 0; ok && i < pairs->list.n; i++) {
        addrs->v[addrs->n++] = pairs->list.v[i].from;
        if (to)
            addrs->v[addrs->n++] = pairs->list.v[i].to;
    }
    return ok;
}

static bool list_counts(const struct pgk_call_counts *counts, bool to, pgk_addr_vec *addrs)
{
    bool ok = pgk_vec_reserve(addrs, 2 * counts->list.n);
    for (size_t i = 0; ok && i < counts->list.n; i++) {
        addrs->v[addrs->n++] = counts->list.v[i].from;
        if (to)
            addrs->v[addrs->n++] = counts->list.v[i].to;
    }
    return ok;
}

/* What was sampled, as a set. */
static bool list_sampled(const struct pgk_gen_binary *b, bool range_ends, bool callers,
                         pgk_addr_vec *addrs)
{
    const struct pgk_call_trie *t = &b->calls;
    bool ok = list_pairs(&b->hits, false, addrs) && list_pairs(&b->hit_calls, true, addrs) &&
              list_pairs(&b->counters.ranges, range_ends, addrs) &&
              list_pairs(&b->counters.branches, true, addrs) &&
              list_counts(&t->ranges, range_ends, addrs) &&
              list_counts(&t->branches, true, addrs) &&
              list_counts(&t->vtables, false, addrs) &&
              list_counts(&b->named.ranges, range_ends, addrs) &&
              list_counts(&b->named.branches, true, addrs) &&
              pgk_vec_reserve(addrs, t->nodes.n + b->profiled.n);
    for (size_t i = 1; ok && callers && i < t->nodes.n; i++)
        addrs->v[addrs->n++] = t->nodes.v[i].addr;
    for (size_t i = 0; ok && i < b->profiled.n; i++)
        addrs->v[addrs->n++] = b->profiled.v[i];
    if (ok)
        addrs->n = pgk_u64_set(addrs->v, addrs->n);
    return ok;
}

bool pgk_gen_list_sampled(const struct pgk_gen_binary *b, pgk_addr_vec *addrs)
{
    return list_sampled(b, true, false, addrs);
}

int pgk_gen_functions(const struct pgk_gen_binary *b, struct pgk_functions *functions, bool symbols,
                      unsigned threads, struct pgk_err *err)
{
    pgk_addr_vec addrs = {0};
    int status = list_sampled(b, true, true, &addrs)
                     ? pgk_functions_open(functions, b->sym, b->elf, symbols, addrs.v, addrs.n,
                                          threads, err)
                     : pgk_fail_nomem(err);
    pgk_vec_free(&addrs);
    return status;
}

int pgk_gen_all_functions(struct pgk_gen_binary *b, struct pgk_functions *all, bool symbols,
                          unsigned threads, struct pgk_err *err)
{
    pgk_addr_vec addrs = {0};
    bool ok = pgk_vec_reserve(&addrs, b->code.regions.n);
    for (size_t i = 0; ok && i < b->code.regions.n; i++)
        addrs.v[addrs.n++] = b->code.regions.v[i].low;
    if (ok)
        addrs.n = pgk_u64_set(addrs.v, addrs.n);
    int status = ok ? pgk_functions_open(all, b->sym, b->elf, symbols, addrs.v, addrs.n, threads,
                                         err)
                    : pgk_fail_nomem(err);
    pgk_vec_free(&addrs);
    return status;
}

int pgk_gen_list_symbols(struct pgk_sample *profile, struct pgk_gen_binary *b, bool symbols,
                         unsigned threads, struct pgk_err *err)
{
    struct pgk_functions all;
    bool ok = true;
    PGK_TRY(pgk_gen_all_functions(b, &all, symbols, threads, err));
    profile->has_symbols = true;
    for (size_t i = 0; ok && i < all.functions.n; i++)
        ok = pgk_sample_add_symbol(profile, all.functions.v[i].name,
                                   strlen(all.functions.v[i].name));
    pgk_functions_close(&all);
    return ok ? 0 : pgk_fail_nomem(err);
}

bool *pgk_gen_sampled(const struct pgk_gen_binary *b, const struct pgk_functions *functions,
                      bool callers)
{
    pgk_addr_vec addrs = {0};
    bool *sampled = pgk_mem_zalloc(functions->functions.n + 1, sizeof *sampled);
    if (sampled && !list_sampled(b, false, callers, &addrs)) {
        pgk_mem_free(sampled);
        sampled = NULL;
    }
    for (size_t i = 0; sampled && i < addrs.n; i++) {
        const struct pgk_function_range *r = pgk_functions_at(functions, addrs.v[i]);
        if (r)
            sampled[r->function] = true;
    }
    pgk_vec_free(&addrs);
    return sampled;
}

/* ---- probes ---- */

struct guids {
    const struct pgk_functions *f;
    bool *taken; /* by function */
    PGK_VEC(uint64_t) list;
};

static bool add_guid(struct guids *g, const char *name, size_t len)
{
    return pgk_vec_push(&g->list, pgk_md5_low64(name, len));
}

/* Debug information may call a part of a function otherwise than its symbol does. */
static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    struct guids *g = ctx;
    const struct pgk_function_range *r = pgk_functions_at(g->f, e->addr);
    if (!r || r->low != e->addr || !g->taken[r->function])
        return 0;
    return add_guid(g, e->name, pgk_symbol_length(e->name)) ? 0 : PGK_E_NOMEM;
}

static bool list_guids(const struct pgk_gen_binary *b, struct guids *g)
{
    bool ok = (g->taken = pgk_gen_sampled(b, g->f, true)) != NULL;
    for (size_t i = 0; ok && i < g->f->functions.n; i++)
        if (g->taken[i])
            ok = add_guid(g, g->f->functions.v[i].name, strlen(g->f->functions.v[i].name));
    ok = ok && !pgk_elf_entries(b->elf, add_symbol, g);
    g->list.n = pgk_u64_set(g->list.v, g->list.n);
    return ok;
}

int pgk_gen_probe_index(const struct pgk_gen_binary *b, const struct pgk_functions *functions,
                        struct pgk_probe_index **index, struct pgk_err *err)
{
    struct guids g = {.f = functions};
    int status = list_guids(b, &g)
                     ? pgk_probe_index_functions(index, b->probes, g.list.v, g.list.n, err)
                     : pgk_fail_nomem(err);
    pgk_mem_free(g.taken);
    pgk_vec_free(&g.list);
    return status;
}

uint64_t pgk_gen_indirect_behind(struct pgk_gen_binary *b, uint64_t addr)
{
    enum { FAR = 32 }; /* instructions */
    for (unsigned i = 0; i < FAR; i++) {
        uint8_t mark = pgk_code_mark(&b->code, addr);
        enum pgk_insn_kind kind = pgk_code_kind(mark);
        if (mark & PGK_CODE_INDIRECT)
            return addr;
        if (!mark || kind == PGK_INSN_CALL || kind == PGK_INSN_RET || kind == PGK_INSN_JUMP)
            break;
        addr += mark & PGK_CODE_LENGTH;
    }
    return 0;
}

uint32_t pgk_gen_call_behind(struct pgk_gen_binary *b, const struct pgk_probe_index *index,
                             uint64_t addr)
{
    uint64_t call = pgk_gen_indirect_behind(b, addr);
    return call ? pgk_probe_call_at(index, call) : PGK_PROBE_NONE;
}
