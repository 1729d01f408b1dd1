/* Counts of code by calling context to counts of source lines by calling context.
 *
 *   node of the tree of calls ─► frames of the calls
 *   ranges under the node ─► cut where what is inlined changes ─► context ─► disjoint pieces
 *     ─► instructions ─► line records: maximum of the instructions of a line
 *   branches ─► call targets, and heads of the callees' contexts
 *
 * docs/formats/profile-generation.md section 7 */
#include "gen_binary.h"

#include "context_path.h"
#include "discriminator.h"
#include "source_frames.h"
#include "pieces.h"
#include "sample_recs.h"

#include <stdlib.h>

/* A range of code whose instructions are all of one context. */
struct stretch {
    uint32_t node; /* of the profile */
    uint64_t from, to, count;
};

struct lines {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_frames frames;
    struct pgk_frame_names names;
    struct pgk_context_path path;
    PGK_VEC(struct stretch) stretches;

    /* Of the node of the tree of calls in hand: */
    pgk_addr_vec calls;
    pgk_context_vec callers; /* frames of `calls` */
    bool has_callers;        /* false: one of the calls has no frames */
    pgk_context_vec scratch;

    /* Of the context in hand: */
    struct pgk_pairs ranges;
    pgk_piece_vec pieces;
    PGK_VEC(struct pgk_sample_rec) recs;
};

/* ---- frames ---- */

static bool list_range(struct lines *l, uint64_t from, uint64_t to)
{
    struct pgk_code *code = &l->b->code;
    for (uint64_t at = from; (at = pgk_code_first(code, at, to)) != UINT64_MAX;
         at += pgk_code_mark(code, at) & PGK_CODE_LENGTH)
        if (!pgk_vec_push(&l->frames.addrs, at))
            return false;
    return true;
}

/* Ranges by their start: many have the same, and of these only the longest is listed. */
static bool list_ranges(struct lines *l)
{
    const struct pgk_call_counts *c = &l->b->calls.ranges;
    l->ranges.v.n = 0;
    for (size_t i = 0; i < c->v.n; i++)
        if (!pgk_vec_push(&l->ranges.v, (struct pgk_pair){c->v.v[i].from, c->v.v[i].to, 1}))
            return false;
    if (!pgk_pieces_make(&l->pieces, &l->ranges, NULL))
        return false;
    for (size_t i = 0; i < l->pieces.n; i++)
        if (!list_range(l, l->pieces.v[i].low, l->pieces.v[i].high))
            return false;
    return true;
}

static bool list_addresses(struct lines *l)
{
    const struct pgk_call_trie *t = &l->b->calls;
    if (!list_ranges(l))
        return false;
    for (size_t i = 0; i < t->branches.v.n; i++)
        if (!pgk_vec_push(&l->frames.addrs, t->branches.v.v[i].from))
            return false;
    for (size_t i = 0; i < t->vtables.v.n; i++)
        if (!pgk_vec_push(&l->frames.addrs, t->vtables.v.v[i].from))
            return false;
    for (size_t i = 1; i < t->nodes.n; i++)
        if (!pgk_vec_push(&l->frames.addrs, t->nodes.v[i].addr))
            return false;
    return true;
}

/* Appends the frames of an instruction. False when out of memory. */
static bool add_frames(struct lines *l, uint64_t addr, pgk_context_vec *frames, uint32_t *n)
{
    struct pgk_sym_chain chain = pgk_frames_of(&l->frames, addr);
    *n = pgk_frame_count(&chain);
    for (uint32_t i = 0; i < *n; i++) {
        const struct pgk_sym_frame *f = &chain.frames[chain.count - 1 - i];
        uint32_t name = pgk_frame_name(&l->names, f->function);
        struct pgk_context_frame frame = {pgk_frame_loc(f, l->b->flow_sensitive), name};
        if (!name || !pgk_vec_push(frames, frame))
            return false;
    }
    return true;
}

static bool enter_node(struct lines *l, uint32_t node)
{
    uint32_t n;
    l->callers.n = 0;
    l->has_callers = true;
    if (!pgk_call_trie_path(&l->b->calls, node, &l->calls))
        return false;
    for (size_t i = 0; i < l->calls.n && l->has_callers; i++) {
        if (!add_frames(l, l->calls.v[i], &l->callers, &n))
            return false;
        l->has_callers = n;
    }
    return true;
}

/* The context of an instruction under the node in hand: 0 if it has none. False when out of
 * memory. */
static bool find_context(struct lines *l, uint64_t addr, bool with_callers, uint32_t *node)
{
    uint32_t n, callers = with_callers ? (uint32_t)l->callers.n : 0;
    *node = 0;
    if (with_callers && !l->has_callers)
        return true;
    l->scratch.n = 0;
    if (!pgk_vec_reserve(&l->scratch, callers))
        return false;
    if (callers)
        memcpy(l->scratch.v, l->callers.v, callers * sizeof *l->scratch.v);
    l->scratch.n = callers;
    if (!add_frames(l, addr, &l->scratch, &n))
        return false;
    if (!n)
        return true;
    *node = pgk_context_node(&l->path, l->scratch.v, l->scratch.n);
    if (!*node)
        return false;
    pgk_sample_make_top(l->p, *node);
    if (n > 1)
        l->p->nodes.v[*node].attributes |= PGK_SAMPLE_WAS_INLINED;
    return true;
}

/* ---- ranges ---- */

/* The instructions are of one inlined call, or of none. */
static bool same_context(const struct pgk_sym_chain *a, const struct pgk_sym_chain *b)
{
    uint32_t n = pgk_frame_count(a);
    if (!n || n != pgk_frame_count(b))
        return false;
    for (uint32_t i = 1; i < n; i++) {
        const struct pgk_sym_frame *x = &a->frames[a->count - i], *y = &b->frames[b->count - i];
        if (x->discriminator != y->discriminator || pgk_frame_offset(x) != pgk_frame_offset(y) ||
            (x->function != y->function && strcmp(x->function, y->function) != 0))
            return false;
    }
    return true;
}

static bool add_stretch(struct lines *l, uint64_t from, uint64_t to, uint64_t count)
{
    struct stretch s = {.from = from, .to = to, .count = count};
    return find_context(l, from, true, &s.node) &&
           (!s.node || pgk_vec_push(&l->stretches, s));
}

static bool cut_range(struct lines *l, const struct pgk_call_count *r)
{
    struct pgk_code *code = &l->b->code;
    uint64_t start = r->from, last = r->from;
    struct pgk_sym_chain chain = pgk_frames_of(&l->frames, start);
    for (uint64_t at = last + (pgk_code_mark(code, last) & PGK_CODE_LENGTH);
         (at = pgk_code_first(code, at, r->to)) != UINT64_MAX;
         at += pgk_code_mark(code, at) & PGK_CODE_LENGTH) {
        struct pgk_sym_chain next = pgk_frames_of(&l->frames, at);
        if (!same_context(&chain, &next)) {
            if (!add_stretch(l, start, last, r->count))
                return false;
            start = at;
        }
        chain = next;
        last = at;
    }
    return add_stretch(l, start, last, r->count);
}

/* ---- branches ---- */

static bool count_branch(struct lines *l, const struct pgk_call_count *b)
{
    const struct pgk_function *callee = pgk_functions_entered(&l->b->functions, b->to);
    uint32_t name = callee ? pgk_frame_name(&l->names, callee->name) : 0, node = 0;
    if (callee && !name)
        return false;
    if (b->from != PGK_ADDR_EXTERNAL && !find_context(l, b->from, true, &node))
        return false;
    if (!callee)
        return true;
    if (node) {
        struct pgk_sym_chain chain = pgk_frames_of(&l->frames, b->from);
        const struct pgk_sym_frame *leaf = &chain.frames[chain.count - pgk_frame_count(&chain)];
        uint64_t loc = pgk_frame_loc(leaf, l->b->flow_sensitive);
        if (!pgk_sample_add_target(l->p, node, loc, name, b->count))
            return false;
        node = pgk_sample_context(l->p, node, loc, name);
    } else {
        node = pgk_sample_root(l->p, name);
    }
    if (!node)
        return false;
    pgk_sample_make_top(l->p, node);
    pgk_sample_add_head(l->p, node, b->count);
    return true;
}

/* A load that is not in a known context counts in its function. */
static bool count_vtable(struct lines *l, const struct pgk_call_count *v,
                         struct pgk_gen_stats *stats)
{
    uint32_t node;
    if (!find_context(l, v->from, l->has_callers, &node))
        return false;
    if (!node)
        return true;
    struct pgk_sym_chain chain = pgk_frames_of(&l->frames, v->from);
    const struct pgk_sym_frame *leaf = &chain.frames[chain.count - pgk_frame_count(&chain)];
    stats->vtable_samples += v->count;
    return pgk_sample_add_vtable(l->p, node, pgk_frame_loc(leaf, l->b->flow_sensitive),
                                 (uint32_t)v->to, v->count);
}

/* ---- lines ---- */

static int compare_stretches(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int compare_records(const void *a, const void *b)
{
    return pgk_rec_compare(a, b);
}

static bool add_instructions(struct lines *l, uint32_t node, const struct pgk_piece *piece,
                             struct pgk_gen_stats *stats)
{
    struct pgk_code *code = &l->b->code;
    for (uint64_t at = piece->low; (at = pgk_code_first(code, at, piece->high)) != UINT64_MAX;
         at += pgk_code_mark(code, at) & PGK_CODE_LENGTH) {
        struct pgk_sym_chain chain = pgk_frames_of(&l->frames, at);
        uint32_t n = pgk_frame_count(&chain);
        stats->instructions++;
        if (!n) {
            pgk_gen_no_source(stats, l->b, at);
            continue;
        }
        stats->symbolised++;
        const struct pgk_sym_frame *leaf = &chain.frames[chain.count - n];
        uint32_t copies = pgk_discriminator_copies(leaf->discriminator, l->b->flow_sensitive);
        struct pgk_sample_rec rec = {.loc = pgk_frame_loc(leaf, l->b->flow_sensitive),
                                     .count = pgk_sample_product(piece->count, copies)};
        if (!pgk_vec_push(&l->recs, rec))
            return false;
        pgk_sample_add_total(l->p, node, piece->count);
    }
    return true;
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

static bool count_stretches(struct lines *l, struct pgk_gen_stats *stats)
{
    size_t n = l->stretches.n, end;
    if (n)
        qsort(l->stretches.v, n, sizeof *l->stretches.v, compare_stretches);
    for (size_t i = 0; i < n; i = end) {
        uint32_t node = l->stretches.v[i].node;
        l->ranges.v.n = l->pieces.n = l->recs.n = 0;
        for (end = i; end < n && l->stretches.v[end].node == node; end++) {
            const struct stretch *s = &l->stretches.v[end];
            if (!pgk_vec_push(&l->ranges.v, (struct pgk_pair){s->from, s->to, s->count}))
                return false;
        }
        if (!pgk_pieces_make(&l->pieces, &l->ranges, NULL))
            return false;
        for (size_t k = 0; k < l->pieces.n; k++)
            if (l->pieces.v[k].count && !add_instructions(l, node, &l->pieces.v[k], stats))
                return false;
        if (!write_lines(l, node))
            return false;
    }
    return true;
}

/* ---- what follows of the whole ---- */

/* Entries of a context that no branch was seen to enter: of its first line, or at least one. */
static uint64_t estimate_entries(const struct pgk_sample_recs *recs)
{
    for (uint32_t i = 0; i < recs->n; i++)
        if (recs->v[i].what == PGK_REC_BODY)
            return recs->v[i].count;
    return 1;
}

/* What was inlined was not called, but it counts as a call of its caller, for which it is a
 * candidate again. Callees come behind their callers. */
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
        uint64_t entries = estimate_entries(&n->recs);
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
                    called = pgk_sample_sum(called, recs->v[k].count);
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

/* ---- */

static bool count_all(struct lines *l, struct pgk_gen_stats *stats)
{
    const struct pgk_call_trie *t = &l->b->calls;
    const struct pgk_call_count *r = t->ranges.v.v, *r_end = r + t->ranges.v.n;
    for (; r < r_end; r++)
        if (((r == t->ranges.v.v || r[-1].node != r->node) && !enter_node(l, r->node)) ||
            !cut_range(l, r))
            return false;
    if (!count_stretches(l, stats))
        return false;
    const struct pgk_call_count *b = t->branches.v.v, *b_end = b + t->branches.v.n;
    for (; b < b_end; b++)
        if (((b == t->branches.v.v || b[-1].node != b->node) && !enter_node(l, b->node)) ||
            !count_branch(l, b))
            return false;
    for (size_t i = 0; i < t->vtables.v.n; i++)
        if (!enter_node(l, t->vtables.v.v[i].node) ||
            !count_vtable(l, &t->vtables.v.v[i], stats))
            return false;
    return true;
}

static int generate(struct lines *l, unsigned threads, struct pgk_gen_stats *stats,
                    struct pgk_err *err)
{
    PGK_TRY(pgk_gen_functions(l->b, &l->b->functions, false, threads, err));
    if (!list_addresses(l))
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_frames_read(&l->frames, l->b->sym, threads, err));
    return count_all(l, stats) ? 0 : pgk_fail_nomem(err);
}

int pgk_gen_context_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                          struct pgk_gen_stats *stats, struct pgk_err *err)
{
    struct lines l = {
        .p = into, .b = binary, .names = {.p = into}, .path = {.p = into}};
    into->fs |= binary->flow_sensitive;
    int status = generate(&l, threads, stats, err);
    pgk_frames_free(&l.frames);
    pgk_frame_names_free(&l.names);
    pgk_context_path_free(&l.path);
    pgk_vec_free(&l.stretches);
    pgk_vec_free(&l.calls);
    pgk_vec_free(&l.callers);
    pgk_vec_free(&l.scratch);
    pgk_pairs_free(&l.ranges);
    pgk_vec_free(&l.pieces);
    pgk_vec_free(&l.recs);
    return status;
}
