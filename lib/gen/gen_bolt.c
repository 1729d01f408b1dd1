/* Recordings as input of llvm-bolt. docs/formats/bolt.md */
#include "gen_bolt.h"

#include "bolt_write.h"
#include "gen_empty.h"
#include "gen_place.h"
#include "message.h"
#include "saturate.h"

#include <inttypes.h>
#include <string.h>

/* ---- counting ---- */

static uint64_t seen_from(struct pgk_gen_place place, uint32_t binary)
{
    return place.binary == binary ? place.addr : PGK_TRACE_ELSEWHERE;
}

static int add_trace(struct pgk_gen *g, uint32_t binary, struct pgk_gen_place from,
                     struct pgk_gen_place to, struct pgk_gen_place next, uint64_t count,
                     bool mispredicted)
{
    struct pgk_trace t = {.from = seen_from(from, binary),
                          .to = seen_from(to, binary),
                          .end = to.binary == binary ? seen_from(next, binary)
                                                     : PGK_TRACE_ELSEWHERE,
                          .count = count,
                          .mispredicted = mispredicted ? count : 0};
    return pgk_traces_add(&g->images.v[binary].traces, &t) ? 0 : pgk_fail_nomem(g->err);
}

/* A branch to or from the kernel is an interrupt, after which the program continues. */
static bool is_interrupt(const struct pgk_gen *g, const struct pgk_perf_branch *b)
{
    const uint64_t kernel = UINT64_C(0xffff800000000000);
    return !g->opts.kernel && (b->from >= kernel || b->to >= kernel);
}

/* A branch from one binary to another is one of both. */
static int count_branches(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_gen_place next = {PGK_NO_BINARY, 0};
    bool any = false;
    for (size_t i = 0; i < s->n_branches; i++) {
        const struct pgk_perf_branch *b = &s->branches[i];
        if (is_interrupt(g, b))
            continue;
        bool mispredicted = b->flags & PGK_PERF_BRANCH_MISPREDICTED;
        struct pgk_gen_place from = pgk_gen_place(g, s, b->from), to = pgk_gen_place(g, s, b->to);
        if (to.binary != PGK_NO_BINARY)
            PGK_TRY(add_trace(g, to.binary, from, to, next, s->count, mispredicted));
        if (from.binary != PGK_NO_BINARY && from.binary != to.binary)
            PGK_TRY(add_trace(g, from.binary, from, to, next, s->count, mispredicted));
        bool known = from.binary != PGK_NO_BINARY || to.binary != PGK_NO_BINARY;
        g->stats.branches += s->count;
        g->stats.branches_outside += known ? 0 : s->count;
        any |= known;
        next = from;
    }
    g->stats.outside += any ? 0 : s->count;
    return 0;
}

static struct pgk_perf_name event_name(const struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    const struct pgk_perf_info *info = pgk_perf_input_info(g->input);
    if (pgk_perf_input_is_text(g->input) || s->event >= info->n_events)
        return s->event_name;
    const char *name = info->events[s->event].name;
    return (struct pgk_perf_name){name, strlen(name)};
}

static int count_instruction(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_gen_place at = pgk_gen_place(g, s, s->ip);
    struct pgk_perf_name name = event_name(g, s);
    if (at.binary == PGK_NO_BINARY) {
        g->stats.outside += s->count;
        return 0;
    }
    g->hits += s->count;
    return (!name.n || pgk_intern(&g->hit_events, name.s, name.n) != PGK_INDEX_NONE) &&
                   pgk_pairs_add(&g->images.v[at.binary].hits, at.addr, 0, s->count)
               ? 0
               : pgk_fail_nomem(g->err);
}

int pgk_gen_count_traces(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    if (s->n_branches)
        return count_branches(g, s);
    if (s->mode == PGK_PERF_KERNEL && !g->opts.kernel) {
        g->stats.in_kernel += s->count;
        return 0;
    }
    if (s->has & PGK_PERF_HAS_IP)
        return count_instruction(g, s);
    g->stats.without_branches += s->count;
    return 0;
}

/* ---- writing ---- */

static bool is_traced(const struct pgk_gen_binary *b)
{
    return b->traces.list.n || b->hits.list.n || b->counters.branches.list.n ||
           b->counters.ranges.list.n;
}

/* Counts of addresses, which do not say from where control came to what ran. */
static bool add_counters(struct pgk_gen_binary *b)
{
    for (size_t i = 0; i < b->counters.branches.list.n; i++) {
        const struct pgk_pair *p = &b->counters.branches.list.v[i];
        struct pgk_trace t = {.from = p->from == PGK_ADDR_EXTERNAL ? PGK_TRACE_ELSEWHERE : p->from,
                              .to = p->to, .count = p->count};
        if (!pgk_traces_add(&b->traces, &t))
            return false;
    }
    for (size_t i = 0; i < b->counters.ranges.list.n; i++) {
        const struct pgk_pair *p = &b->counters.ranges.list.v[i];
        struct pgk_trace t = {PGK_TRACE_NO_BRANCH, p->from, p->to, p->count, 0};
        if (!pgk_traces_add(&b->traces, &t))
            return false;
    }
    pgk_counters_free(&b->counters);
    return true;
}

static void take_figures(struct pgk_gen *g, const struct pgk_gen_binary *b,
                         const struct pgk_bolt_written *w)
{
    g->stats.functions += w->functions;
    g->stats.ranges += w->ranges;
    g->stats.ranges_bad += w->ranges_bad;
    g->stats.misfit |= w->ranges_bad &&
                       (double)w->ranges_bad >=
                           PGK_GEN_UNFIT_PERCENT / 100.0 * (double)w->ranges;
    if (w->ranges_bad)
        pgk_gen_example(&g->stats, PGK_GEN_BAD_RANGE, "0x%" PRIx64 " to 0x%" PRIx64 " in %s",
                        w->bad_from, w->bad_to, pgk_elf_path(b->elf));
}

int pgk_gen_write_bolt(struct pgk_gen *g, uint32_t binary, enum pgk_bolt_form form,
                       const char *path, struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    struct pgk_bolt_written written;
    struct pgk_sink *out;
    g->err = err;
    if (!is_traced(b))
        return pgk_gen_no_samples(g, err);
    PGK_TRY(pgk_gen_need_code(g, b));
    if (!add_counters(b))
        return pgk_fail_nomem(err);
    pgk_traces_sort(&b->traces);
    pgk_pairs_sort(&b->hits);
    struct pgk_bolt_counts counts = {b->elf, &b->code, &b->traces, &b->hits, &g->hit_events};
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = (form == PGK_BOLT_FDATA ? pgk_bolt_write_fdata : pgk_bolt_write_preaggregated)(
        &counts, out, &written, err);
    if (status)
        pgk_sink_drop(&out);
    PGK_TRY(status);
    PGK_TRY(pgk_sink_commit(&out, err));
    take_figures(g, b, &written);
    return 0;
}
