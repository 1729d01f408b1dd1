/* Counts of code by calling context to counts of source lines by calling context.
 *
 *   node of the tree of calls ─► frames of the calls
 *   ranges under the node ─► cut where what is inlined changes ─► context ─► disjoint pieces
 *     ─► instructions ─► line records: maximum of the instructions of a line
 *   branches ─► call targets, and heads of the callees' contexts
 *
 * docs/formats/profile-generation.md section 7 */
#include "gen_binary.h"

#include "line_contexts.h"
#include "pieces.h"
#include "sample_recs.h"
#include "saturate.h"

#include <stdlib.h>

struct lines {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_line_contexts contexts;

    /* Of the context in hand: */
    struct pgk_pairs ranges; /* of numbers of instructions */
    pgk_piece_vec pieces;
    PGK_VEC(struct pgk_sample_rec) recs;
    pgk_context_vec frames; /* of a callee */
};

/* ---- lines ---- */

/* Contexts in which code ran have a profile. */
static void need_top(struct lines *l, uint32_t node, uint32_t instruction)
{
    pgk_sample_make_top(l->p, node);
    if (pgk_frames_inlined(&l->contexts.frames, instruction))
        l->p->nodes.v[node].attributes |= PGK_SAMPLE_WAS_INLINED;
}

static bool add_instructions(struct lines *l, uint32_t node, const struct pgk_piece *piece,
                             struct pgk_gen_stats *stats)
{
    const struct pgk_frames *f = &l->contexts.frames;
    uint64_t total = 0;
    if (!pgk_vec_reserve(&l->recs, piece->high - piece->low + 1))
        return false;
    for (uint64_t i = piece->low; i <= piece->high; i++) {
        const struct pgk_code_site *s = &f->sites[i];
        struct pgk_sample_rec rec = {.loc = s->loc,
                                     .count = pgk_multiply_saturated(piece->count, s->copies)};
        struct pgk_sample_rec *last = l->recs.n ? &l->recs.v[l->recs.n - 1] : NULL;
        stats->instructions++;
        if (!s->run) {
            pgk_gen_no_source(stats, l->b, f->addrs.v[i]);
            continue;
        }
        stats->symbolised++;
        total = pgk_add_saturated(total, piece->count);
        if (!last || last->loc != rec.loc)
            l->recs.v[l->recs.n++] = rec;
        else if (last->count < rec.count)
            last->count = rec.count;
    }
    pgk_sample_add_total(l->p, node, total);
    return true;
}

static int compare_records(const void *a, const void *b)
{
    return pgk_rec_compare(a, b);
}

/* A line was run as often as its most frequent instruction. */
static bool write_lines(struct lines *l, uint32_t node)
{
    size_t kept = 0;
    if (l->recs.n)
        qsort(l->recs.v, l->recs.n, sizeof *l->recs.v, compare_records);
    for (size_t i = 0; i < l->recs.n; i++) {
        if (!kept || l->recs.v[kept - 1].loc != l->recs.v[i].loc)
            l->recs.v[kept++] = l->recs.v[i];
        else if (l->recs.v[kept - 1].count < l->recs.v[i].count)
            l->recs.v[kept - 1].count = l->recs.v[i].count;
    }
    return pgk_sample_add_sorted(l->p, node, l->recs.v, kept, 1);
}

/* The ranges of one context. */
static bool count_ranges(struct lines *l, const struct pgk_context_count *v, size_t n,
                         struct pgk_gen_stats *stats)
{
    l->ranges.list.n = l->pieces.n = l->recs.n = 0;
    if (!pgk_vec_reserve(&l->ranges.list, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        l->ranges.list.v[l->ranges.list.n++] = (struct pgk_pair){v[i].from, v[i].to, v[i].count};
        need_top(l, v[i].node, v[i].from);
    }
    if (!pgk_pieces_make(&l->pieces, &l->ranges, NULL))
        return false;
    for (size_t k = 0; k < l->pieces.n; k++)
        if (l->pieces.v[k].count && !add_instructions(l, v->node, &l->pieces.v[k], stats))
            return false;
    return write_lines(l, v->node);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct pgk_context_count *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool count_all_ranges(struct lines *l, struct pgk_gen_stats *stats)
{
    struct pgk_context_count *v = l->contexts.ranges.v;
    size_t n = l->contexts.ranges.n, end;
    if (n)
        qsort(v, n, sizeof *v, compare_nodes);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && v[end].node == v[i].node; end++)
            continue;
        if (v[i].node && !count_ranges(l, &v[i], end - i, stats))
            return false;
    }
    return true;
}

/* ---- branches and types ---- */

/* The context of what is called from a place of a context, cut as all are. 0 when out of memory. */
static uint32_t callee_context(struct lines *l, uint32_t caller, uint64_t loc, uint32_t name)
{
    size_t most = l->contexts.path.limits.frames, first = most - 1;
    if (!most)
        return pgk_sample_context(l->p, caller, loc, name);
    l->frames.n = 0;
    if (!pgk_vec_reserve(&l->frames, most))
        return 0;
    l->frames.v[first] = (struct pgk_context_frame){0, name};
    for (uint32_t id = caller; id && first; id = l->p->nodes.v[id].parent) {
        l->frames.v[--first] = (struct pgk_context_frame){loc, l->p->nodes.v[id].name};
        loc = l->p->nodes.v[id].loc;
    }
    return pgk_context_place(&l->contexts.path, l->frames.v + first, most - first);
}

static bool count_branch(struct lines *l, const struct pgk_context_count *b)
{
    const struct pgk_function *callee = pgk_functions_entered(&l->b->functions, b->to);
    uint32_t name = callee ? pgk_frame_name(&l->contexts.names, callee->name) : 0;
    uint32_t node = b->node;
    if (callee && !name)
        return false;
    if (node)
        need_top(l, node, b->from);
    if (!callee)
        return true;
    if (node) {
        uint64_t loc = l->contexts.frames.sites[b->from].loc;
        if (!pgk_sample_add_target(l->p, node, loc, name, b->count))
            return false;
        node = callee_context(l, node, loc, name);
    } else {
        node = pgk_sample_root(l->p, name);
    }
    if (!node)
        return false;
    pgk_sample_make_top(l->p, node);
    pgk_sample_add_head(l->p, node, b->count);
    return true;
}

static bool count_vtable(struct lines *l, const struct pgk_context_count *v,
                         uint64_t *counted)
{
    if (!v->node)
        return true;
    need_top(l, v->node, v->from);
    *counted = pgk_add_saturated(*counted, v->count);
    return pgk_sample_add_vtable(l->p, v->node, l->contexts.frames.sites[v->from].loc,
                                 (uint32_t)v->to, v->count);
}

static bool count_all(struct lines *l, struct pgk_gen_stats *stats)
{
    if (!count_all_ranges(l, stats))
        return false;
    for (size_t i = 0; i < l->contexts.branches.n; i++)
        if (!count_branch(l, &l->contexts.branches.v[i]))
            return false;
    size_t n = l->contexts.vtables.n, loads = n - l->contexts.recovered;
    for (size_t i = 0; i < n; i++)
        if (!count_vtable(l, &l->contexts.vtables.v[i],
                          i < loads ? &stats->vtable_samples : &stats->recovered_types))
            return false;
    return true;
}

int pgk_gen_context_lines(struct pgk_sample *into, struct pgk_gen_binary *binary,
                          const struct pgk_gen_opts *opts, struct pgk_gen_stats *stats,
                          struct pgk_err *err)
{
    struct lines l = {.p = into, .b = binary};
    into->fs |= binary->flow_sensitive;
    PGK_TRY(pgk_gen_functions(binary, &binary->functions, false, opts->threads, err));
    int status = pgk_line_contexts_open(&l.contexts, into, binary, opts, err);
    if (!status && !count_all(&l, stats))
        status = pgk_fail_nomem(err);
    pgk_line_contexts_close(&l.contexts);
    pgk_pairs_free(&l.ranges);
    pgk_vec_free(&l.pieces);
    pgk_vec_free(&l.recs);
    pgk_vec_free(&l.frames);
    return status;
}

/* ---- what follows of the whole ---- */

/* Entries of a context that no branch was seen to enter: of its first line, but at least one if it
 * ran, or if nothing is known of its lines. */
static uint64_t estimate_entries(const struct pgk_sample_node *n)
{
    for (uint32_t i = 0; i < n->recs.n; i++)
        if (n->recs.v[i].what == PGK_REC_BODY)
            return n->recs.v[i].count ? n->recs.v[i].count : n->total > 0;
    return 1;
}

/* An inlined function was not called, but counts as a call of its caller, for which it is a
 * candidate again. Callees come after their callers. */
static bool infer_calls(struct pgk_sample *p)
{
    for (uint32_t id = (uint32_t)p->nodes.n; id-- > 1;) {
        struct pgk_sample_node *n = &p->nodes.v[id];
        if (!(n->flags & PGK_NODE_TOP) || n->head || !n->parent)
            continue;
        uint32_t caller = n->parent, name = n->name;
        uint64_t loc = n->loc;
        if (!pgk_sample_settle(p, &n->recs))
            return false;
        uint64_t entries = estimate_entries(n);
        pgk_sample_make_top(p, caller);
        pgk_sample_add_total(p, caller, entries);
        if (!pgk_sample_add_body(p, caller, loc, entries) ||
            !pgk_sample_add_target(p, caller, loc, name, entries))
            return false;
    }
    return true;
}

/* A line was run at least as often as it called. */
static bool raise_callers(struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++) {
        struct pgk_sample_recs *recs = &p->nodes.v[id].recs;
        if (!pgk_sample_settle(p, recs))
            return false;
        for (uint32_t i = 0, end; i < recs->n; i = end) {
            uint64_t called = 0;
            end = pgk_sample_same_place(recs, i);
            for (uint32_t k = i; k < end; k++)
                if (pgk_rec_is_target(&recs->v[k]))
                    called = pgk_add_saturated(called, recs->v[k].count);
            if (recs->v[i].what == PGK_REC_BODY && recs->v[i].count < called)
                recs->v[i].count = called;
        }
    }
    return true;
}

int pgk_gen_complete_calls(struct pgk_sample *p, struct pgk_err *err)
{
    return infer_calls(p) && raise_callers(p) ? 0 : pgk_fail_nomem(err);
}
