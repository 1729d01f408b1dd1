/* Counters by calling context of functions and lines. */
#include "line_contexts.h"

#include "machine.h"
#include "pieces.h"

#include <elf.h>
#include <stdlib.h>

/* ---- instructions ---- */

static bool add_ranges(struct pgk_pairs *all, const struct pgk_call_counts *ranges)
{
    bool ok = pgk_vec_reserve(&all->list, ranges->list.n);
    for (size_t i = 0; ok && i < ranges->list.n; i++) {
        const struct pgk_call_count *r = &ranges->list.v[i];
        all->list.v[all->list.n++] = (struct pgk_pair){r->from, r->to, 1};
    }
    return ok;
}

/* Each instruction of the ranges once, though many ranges hold it. */
static bool list_ranges(struct pgk_line_contexts *c)
{
    struct pgk_pairs all = {0};
    pgk_piece_vec pieces = {0};
    bool ok = add_ranges(&all, &c->b->calls.ranges) && add_ranges(&all, &c->b->named.ranges) &&
              pgk_pieces_make(&pieces, &all, NULL);
    for (size_t i = 0; ok && i < pieces.n; i++)
        ok = pgk_code_list(&c->b->code, pieces.v[i].low, pieces.v[i].high, &c->frames.addrs);
    pgk_pairs_free(&all);
    pgk_vec_free(&pieces);
    return ok;
}

static bool list_sources(struct pgk_line_contexts *c, const struct pgk_call_counts *counts)
{
    bool ok = pgk_vec_reserve(&c->frames.addrs, counts->list.n);
    for (size_t i = 0; ok && i < counts->list.n; i++)
        c->frames.addrs.v[c->frames.addrs.n++] = counts->list.v[i].from;
    return ok;
}

static bool list_calls(struct pgk_line_contexts *c)
{
    const struct pgk_call_trie *t = &c->b->calls;
    bool ok = pgk_vec_reserve(&c->frames.addrs, t->nodes.n);
    for (size_t i = 1; ok && i < t->nodes.n; i++)
        c->frames.addrs.v[c->frames.addrs.n++] = t->nodes.v[i].addr;
    return ok;
}

/* Places of calls are frames of what they call. */
static bool place_calls(struct pgk_line_contexts *c)
{
    const struct pgk_call_trie *t = &c->b->calls;
    c->open_calls = pgk_mem_zalloc(t->nodes.n + 1, sizeof *c->open_calls);
    for (size_t i = 1; c->open_calls && i < t->nodes.n; i++) {
        const struct pgk_code_site *s =
            &c->frames.sites[pgk_frames_find(&c->frames, t->nodes.v[i].addr)];
        const struct pgk_frame_run *run = &c->frames.runs.v[s->run];
        if (!run->n)
            continue;
        uint32_t leaf = c->frames.run_frames.v[run->first + run->n - 1];
        uint32_t name = (uint32_t)c->frames.known.v[leaf].name;
        uint32_t placed = pgk_frames_frame(&c->frames, s->loc, name);
        if (placed == UINT32_MAX)
            return false;
        c->open_calls[i] = (struct pgk_open_call){s->run, placed};
    }
    return c->open_calls;
}

static int read_frames(struct pgk_line_contexts *c, unsigned threads, struct pgk_err *err)
{
    if (!list_ranges(c) || !list_sources(c, &c->b->calls.branches) ||
        !list_sources(c, &c->b->calls.vtables) || !list_sources(c, &c->b->calls.recovered) ||
        !list_sources(c, &c->b->named.branches) ||
        !list_calls(c))
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_frames_read(&c->frames, c->b->sym, &c->names, c->b->plain_discriminators, threads,
                            err));
    if (!place_calls(c))
        return pgk_fail_nomem(err);
    c->seen_in = pgk_mem_zalloc(c->frames.known.n + 1, sizeof *c->seen_in);
    c->known = pgk_mem_zalloc(c->frames.runs.n, sizeof *c->known);
    return c->seen_in && c->known ? 0 : pgk_fail_nomem(err);
}

/* ---- contexts ---- */

static bool add_caller(struct pgk_line_contexts *c, uint32_t frame)
{
    c->recurs |= c->seen_in[frame] == c->stack;
    c->seen_in[frame] = c->stack;
    return pgk_vec_push(&c->callers, frame);
}

/* A call without a source: LLVM knows no context then. On AArch64 the C library has frame pointers,
 * too, and where it is linked statically all chains begin in its start, so what lies outside is
 * left out there. */
static bool leaves_callers_out(struct pgk_line_contexts *c)
{
    if (!c->b->code.decoder.machine->framed_library)
        return false;
    c->callers.n = 0;
    c->recurs = false;
    c->stack++;
    return true;
}

/* The frames of the calls that lead to a node. False when out of memory. */
static bool enter_node(struct pgk_line_contexts *c, uint32_t node)
{
    const struct pgk_call_trie *t = &c->b->calls;
    c->callers.n = c->nodes.n = 0;
    c->has_callers = true;
    c->recurs = false;
    c->stack++;
    for (; node != PGK_CALL_ROOT && t->nodes.v[node].addr != PGK_ADDR_EXTERNAL;
         node = t->nodes.v[node].parent)
        if (t->nodes.v[node].addr && !pgk_vec_push(&c->nodes, node))
            return false;
    for (size_t i = c->nodes.n; i-- > 0 && c->has_callers;) {
        const struct pgk_open_call *call = &c->open_calls[c->nodes.v[i]];
        const struct pgk_frame_run *run = &c->frames.runs.v[call->run];
        c->has_callers = run->n || leaves_callers_out(c);
        for (uint32_t k = 0; k < run->n; k++)
            if (!add_caller(c, k + 1 < run->n ? c->frames.run_frames.v[run->first + k]
                                              : call->leaf))
                return false;
    }
    return true;
}

/* Whether one of the frames is among the callers, or there twice. */
static bool is_recursion(const struct pgk_line_contexts *c, const uint32_t *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (c->seen_in[frames[i]] == c->stack)
            return true;
        for (uint32_t k = 0; k < i; k++)
            if (frames[k] == frames[i])
                return true;
    }
    return false;
}

/* 0 when out of memory. */
static uint32_t make_context(struct pgk_line_contexts *c, const struct pgk_frame_run *run,
                             bool with_callers)
{
    const uint32_t *inner = c->frames.run_frames.v + run->first;
    uint32_t n_outer = with_callers ? (uint32_t)c->callers.n : 0;
    c->scratch.n = 0;
    if (!pgk_vec_reserve(&c->scratch, n_outer + run->n))
        return 0;
    for (uint32_t i = 0; i < n_outer; i++)
        c->scratch.v[c->scratch.n++] = c->frames.known.v[c->callers.v[i]];
    for (uint32_t i = 0; i < run->n; i++)
        c->scratch.v[c->scratch.n++] = c->frames.known.v[inner[i]];
    return c->recurs || is_recursion(c, inner, run->n - 1)
               ? pgk_context_node(&c->path, c->scratch.v, c->scratch.n)
               : pgk_context_place(&c->path, c->scratch.v, c->scratch.n);
}

/* The context of an instruction under the call stack in hand: 0 if it has none. False when out of
 * memory. */
static bool find_context(struct pgk_line_contexts *c, uint32_t number, bool with_callers,
                         uint32_t *node)
{
    uint32_t run = c->frames.sites[number].run;
    struct pgk_known_context *known = &c->known[run];
    *node = 0;
    if (!run || (with_callers && !c->has_callers))
        return true;
    if (known->stack != c->stack) {
        *known = (struct pgk_known_context){
            c->stack, make_context(c, &c->frames.runs.v[run], with_callers)};
    }
    *node = known->node;
    return *node;
}

/* ---- counts ---- */

/* Whether an instruction is inlined where the one before it is. */
static bool goes_on(const struct pgk_line_contexts *c, uint32_t number)
{
    uint32_t run = c->frames.sites[number].run, before = c->frames.sites[number - 1].run;
    return run && before && (run == before || c->frames.runs.v[run].joins);
}

/* A range is cut where what is inlined changes. As in LLVM, a part is all of the function of its
 * first instruction, though two may be inlined at one place. */
static bool add_range(struct pgk_line_contexts *c, const struct pgk_call_count *r)
{
    uint32_t last = pgk_frames_find(&c->frames, r->to);
    for (uint32_t from = pgk_frames_find(&c->frames, r->from), to; from <= last; from = to + 1) {
        struct pgk_context_count part = {.from = from, .count = r->count};
        for (to = from; to < last && goes_on(c, to + 1); to++)
            continue;
        part.to = to;
        if (!find_context(c, from, true, &part.node) || !pgk_vec_push(&c->ranges, part))
            return false;
    }
    return true;
}

static bool add_branch(struct pgk_line_contexts *c, const struct pgk_call_count *b)
{
    struct pgk_context_count branch = {.from = UINT32_MAX, .to = b->to, .count = b->count};
    if (b->from != PGK_ADDR_EXTERNAL) {
        branch.from = pgk_frames_find(&c->frames, b->from);
        if (!find_context(c, branch.from, true, &branch.node))
            return false;
    }
    return pgk_vec_push(&c->branches, branch);
}

/* A load or a comparison that is not in a known context counts in its function. */
static bool add_vtable(struct pgk_line_contexts *c, const struct pgk_call_count *v)
{
    struct pgk_context_count load = {
        .from = pgk_frames_find(&c->frames, v->from), .to = v->to, .count = v->count};
    return find_context(c, load.from, c->has_callers, &load.node) &&
           pgk_vec_push(&c->vtables, load);
}

static bool add_counts(struct pgk_line_contexts *c, const struct pgk_call_counts *counts,
                       bool (*add)(struct pgk_line_contexts *c, const struct pgk_call_count *count))
{
    const struct pgk_call_count *v = counts->list.v;
    for (size_t i = 0; i < counts->list.n; i++)
        if (((!i || v[i - 1].node != v[i].node) && !enter_node(c, v[i].node)) || !add(c, &v[i]))
            return false;
    return true;
}

static bool add_named(struct pgk_line_contexts *c)
{
    const struct pgk_call_counts *ranges = &c->b->named.ranges, *branches = &c->b->named.branches;
    for (size_t i = 0; i < ranges->list.n; i++) {
        const struct pgk_call_count *r = &ranges->list.v[i];
        struct pgk_context_count range = {r->node, pgk_frames_find(&c->frames, r->from),
                                          pgk_frames_find(&c->frames, r->to), r->count};
        if (!pgk_vec_push(&c->ranges, range))
            return false;
    }
    for (size_t i = 0; i < branches->list.n; i++) {
        const struct pgk_call_count *b = &branches->list.v[i];
        struct pgk_context_count branch = {b->node, UINT32_MAX, b->to, b->count};
        if (b->from != PGK_ADDR_EXTERNAL)
            branch.from = pgk_frames_find(&c->frames, b->from);
        if (!pgk_vec_push(&c->branches, branch))
            return false;
    }
    return true;
}

int pgk_line_contexts_open(struct pgk_line_contexts *c, struct pgk_sample *p,
                           struct pgk_gen_binary *b, const struct pgk_gen_opts *opts,
                           struct pgk_err *err)
{
    *c = (struct pgk_line_contexts){.p = p, .b = b, .names = {.p = p},
                                    .path = {.p = p, .limits = pgk_context_limits(opts)}};
    PGK_TRY(read_frames(c, opts->threads, err));
    c->recovered = b->calls.recovered.list.n;
    return add_counts(c, &b->calls.ranges, add_range) &&
                   add_counts(c, &b->calls.branches, add_branch) &&
                   add_counts(c, &b->calls.vtables, add_vtable) &&
                   add_counts(c, &b->calls.recovered, add_vtable) && add_named(c)
               ? 0
               : pgk_fail_nomem(err);
}

bool pgk_line_contexts_named(const struct pgk_line_contexts *c, struct pgk_named_counts *named)
{
    const uint64_t *addrs = c->frames.addrs.v;
    bool ok = pgk_vec_reserve(&named->ranges.list, c->ranges.n) &&
              pgk_vec_reserve(&named->branches.list, c->branches.n);
    for (size_t i = 0; ok && i < c->ranges.n; i++) {
        const struct pgk_context_count *r = &c->ranges.v[i];
        named->ranges.list.v[named->ranges.list.n++] = (struct pgk_call_count){
            .node = r->node, .from = addrs[r->from], .to = addrs[r->to], .count = r->count};
    }
    for (size_t i = 0; ok && i < c->branches.n; i++) {
        const struct pgk_context_count *b = &c->branches.v[i];
        named->branches.list.v[named->branches.list.n++] = (struct pgk_call_count){
            .node = b->node,
            .from = b->from == UINT32_MAX ? PGK_ADDR_EXTERNAL : addrs[b->from],
            .to = b->to,
            .count = b->count};
    }
    return ok;
}

void pgk_line_contexts_close(struct pgk_line_contexts *c)
{
    pgk_frames_free(&c->frames);
    pgk_frame_names_free(&c->names);
    pgk_vec_free(&c->ranges);
    pgk_vec_free(&c->branches);
    pgk_vec_free(&c->vtables);
    pgk_context_path_free(&c->path);
    pgk_mem_free(c->open_calls);
    pgk_mem_free(c->seen_in);
    pgk_mem_free(c->known);
    pgk_vec_free(&c->callers);
    pgk_vec_free(&c->nodes);
    pgk_vec_free(&c->scratch);
}
