/* Counts of code by calling context to counts of pseudo probes by calling context.
 *
 *   node of the tree of calls ─► addresses of calls ─► + calls that tail calls hide
 *     ─► call probes with what they are inlined into ─► frames of the callers
 *   ranges under the node ─► disjoint pieces ─► probes in them, grouped by copies of functions
 *
 * docs/formats/profile-generation.md section 7 */
#include "gen_binary.h"

#include "context_path.h"
#include "missing_frames.h"
#include "pieces.h"
#include "sample_recs.h"
#include "saturate.h"

#include <stdlib.h>

enum { ENTRY_PROBE = 1 };
#define NO_FUNCTION UINT32_MAX

/* The context of a copy of a function under the node in hand. */
struct context {
    uint32_t function; /* by address, for calls that are hidden */
    uint32_t next;     /* of the same copy in another function; PGK_INDEX_NONE: none */
    uint32_t node;     /* in the profile */
    bool is_plain;     /* no caller of it is there twice, and all are known and kept */
    bool has_profile;
};

/* Contexts of a copy of a function, if `owner` is the node in hand. */
struct contexts_of_copy {
    uint32_t owner, first;
};

/* A call on the path to a node. Contexts in a row have their outer callers in common. */
struct caller {
    uint64_t call;
    size_t first, end; /* frames up to it, among `caller_frames` */
};

enum { SEEN_WORDS = 32 };

struct contexts {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    bool find_missing;
    const struct pgk_probe_index *index;
    struct pgk_missing_frames missing;
    struct pgk_context_path path;
    uint32_t *names;  /* by descriptor; 0: not looked up */
    uint64_t *counts; /* by probe, of the node in hand */

    /* Of the node in hand: */
    pgk_addr_vec calls, complete, hidden;
    uint32_t owner;    /* number of it, from 1 */
    uint32_t function; /* that the calls lead to */
    bool has_callers;  /* `callers` are those of `complete`, for `function` */
    PGK_VEC(struct caller) callers;
    pgk_context_vec caller_frames, outer; /* outer: those that count */
    bool is_plain; /* no frame of `outer` is there twice */
    uint64_t seen[SEEN_WORDS]; /* bits of hashes of `outer` */
    PGK_VEC(struct context) known;
    struct contexts_of_copy *copies; /* by node of the index */
    const struct pgk_function_range *range; /* of the last probe */
    struct pgk_pairs ranges;
    pgk_piece_vec pieces;
    PGK_VEC(uint32_t) probes; /* with counts */
    pgk_context_vec frames;
    PGK_VEC(struct pgk_sample_rec) recs;
};

/* ---- contexts ---- */

static uint32_t name_of(struct contexts *c, uint32_t desc)
{
    if (!c->names[desc]) {
        struct pgk_probe_desc d = pgk_probe_desc_at(c->b->probes, desc);
        c->names[desc] = pgk_sample_name(c->p, d.name, d.name_len);
    }
    return c->names[desc];
}

/* Appends the frames of a place in a copy of a function. A call site that is not known (0) hides
 * everything outside of it: `first` is set to where the frames begin. */
static bool add_frames(struct contexts *c, uint32_t copy, uint32_t at, pgk_context_vec *frames,
                       size_t *first)
{
    struct pgk_probe_frame inlined[PGK_PROBE_MAX_DEPTH];
    size_t n = pgk_probe_context(c->index, copy, inlined, PGK_PROBE_MAX_DEPTH);
    for (size_t i = 0; i <= n; i++) {
        uint32_t desc = i < n ? inlined[i].desc : pgk_probe_function(c->index, copy);
        uint32_t site = i < n ? inlined[i].site : at, name = name_of(c, desc);
        if (!site && i < n)
            *first = frames->n;
        else if (!name ||
                 !pgk_vec_push(frames, (struct pgk_context_frame){pgk_sample_loc(site, 0), name}))
            return false;
    }
    return true;
}

/* A call without a probe hides everything outside of it. */
static bool add_caller(struct contexts *c, uint64_t call)
{
    struct caller *outer = c->callers.n ? &c->callers.v[c->callers.n - 1] : NULL;
    struct caller added = {call, outer ? outer->first : 0, 0};
    uint32_t number = pgk_probe_call_at(c->index, call);
    c->caller_frames.n = outer ? outer->end : 0;
    if (number == PGK_PROBE_NONE) {
        added.first = c->caller_frames.n;
    } else {
        struct pgk_probe probe = pgk_probe_get(c->index, number);
        if (!add_frames(c, probe.node, probe.index, &c->caller_frames, &added.first))
            return false;
    }
    added.end = c->caller_frames.n;
    return pgk_vec_push(&c->callers, added);
}

static bool same_frame(struct pgk_context_frame a, struct pgk_context_frame b)
{
    return a.loc == b.loc && a.name == b.name;
}

/* Whether a frame is one of the first `n` of `outer`; one bit is enough to reject most. */
static bool is_outer(struct contexts *c, struct pgk_context_frame frame, size_t n, bool add)
{
    uint64_t hash = (frame.loc + frame.name * UINT64_C(0xd6e8feb86659fd93)) *
                    UINT64_C(0x9e3779b97f4a7c15);
    uint64_t *word = &c->seen[hash >> 59], bit = UINT64_C(1) << (hash >> 53 & 63);
    if (*word & bit)
        while (n-- > 0)
            if (same_frame(c->outer.v[n], frame))
                return true;
    if (add)
        *word |= bit;
    return false;
}

static bool list_outer(struct contexts *c)
{
    const struct caller *last = c->callers.n ? &c->callers.v[c->callers.n - 1] : NULL;
    size_t n = last ? last->end - last->first : 0;
    c->outer.n = 0;
    c->is_plain = !c->path.limits.frames; /* inlined frames may be cut off, too */
    memset(c->seen, 0, sizeof c->seen);
    if (!pgk_vec_reserve(&c->outer, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        c->outer.v[i] = c->caller_frames.v[last->first + i];
        c->is_plain = c->is_plain && !is_outer(c, c->outer.v[i], i, true);
    }
    c->outer.n = n;
    return true;
}

static bool make_callers(struct contexts *c)
{
    size_t same = 0;
    while (same < c->complete.n && same < c->callers.n &&
           c->callers.v[same].call == c->complete.v[same])
        same++;
    c->callers.n = same;
    for (; same < c->complete.n; same++)
        if (!add_caller(c, c->complete.v[same]))
            return false;
    return c->has_callers = list_outer(c);
}

/* Puts the calls that lead to `addr`, in `function`, into `complete`, and their frames into
 * `outer`. */
static bool complete_calls(struct contexts *c, uint64_t addr, uint32_t function)
{
    size_t known = c->complete.n - c->hidden.n;
    if (c->has_callers && c->function == function)
        return true;
    c->function = function;
    if (c->find_missing && c->calls.n) {
        pgk_addr_vec more = {0};
        bool ok = pgk_missing_frames_add(&c->missing, c->calls.v[c->calls.n - 1], addr, &more);
        bool same = ok && more.n == c->hidden.n &&
                    (!more.n || !memcmp(more.v, c->hidden.v, more.n * sizeof *more.v));
        if (!ok || (!same && !pgk_vec_reserve(&c->complete, more.n))) {
            pgk_vec_free(&more);
            return false;
        }
        if (!same) {
            if (more.n)
                memcpy(c->complete.v + known, more.v, more.n * sizeof *more.v);
            c->complete.n = known + more.n;
            c->has_callers = false;
        }
        pgk_vec_free(&c->hidden);
        c->hidden.v = more.v, c->hidden.n = more.n, c->hidden.cap = more.cap;
    }
    return c->has_callers || make_callers(c);
}

/* The node of the profile for a copy of a function, by all frames around it. 0 when out of
 * memory. */
static uint32_t node_by_frames(struct contexts *c, uint32_t copy)
{
    size_t first = 0;
    c->frames.n = 0;
    if (!pgk_vec_reserve(&c->frames, c->outer.n))
        return 0;
    if (c->outer.n)
        memcpy(c->frames.v, c->outer.v, c->outer.n * sizeof *c->frames.v);
    c->frames.n = c->outer.n;
    if (!add_frames(c, copy, 0, &c->frames, &first))
        return 0;
    return pgk_context_node(&c->path, c->frames.v + first, c->frames.n - first);
}

/* Whether the call of a copy that is inlined into `up` is in the callers of `up` already. */
static bool is_recursion(struct contexts *c, uint32_t up, struct pgk_context_frame call)
{
    if (is_outer(c, call, c->outer.n, false))
        return true;
    for (uint32_t outer; (outer = pgk_probe_parent(c->index, up)) != PGK_PROBE_NONE; up = outer)
        if (pgk_probe_site(c->index, up) == pgk_sample_line(call.loc) &&
            name_of(c, pgk_probe_function(c->index, outer)) == call.name)
            return true;
    return false;
}

/* The context of a copy for the function in hand: that of what it is inlined into, and the call.
 * Recursion is compressed, which takes all frames. PGK_INDEX_NONE when out of memory. */
static uint32_t find_context(struct contexts *c, uint32_t copy)
{
    struct contexts_of_copy *of = &c->copies[copy];
    if (of->owner != c->owner)
        *of = (struct contexts_of_copy){c->owner, PGK_INDEX_NONE};
    for (uint32_t i = of->first; i != PGK_INDEX_NONE; i = c->known.v[i].next)
        if (c->known.v[i].function == c->function)
            return i;
    uint32_t up = pgk_probe_parent(c->index, copy), site = pgk_probe_site(c->index, copy);
    struct context added = {.function = c->function, .is_plain = c->is_plain};
    if (up != PGK_PROBE_NONE) {
        uint32_t outer = find_context(c, up);
        uint32_t name = name_of(c, pgk_probe_function(c->index, copy));
        uint32_t caller = name_of(c, pgk_probe_function(c->index, up));
        struct pgk_context_frame call = {pgk_sample_loc(site, 0), caller};
        if (outer == PGK_INDEX_NONE || !name || !caller)
            return PGK_INDEX_NONE;
        added.is_plain = c->known.v[outer].is_plain && site && !is_recursion(c, up, call);
        if (added.is_plain)
            added.node = pgk_sample_context(c->p, c->known.v[outer].node, call.loc, name);
    }
    if (!added.node && !(added.node = node_by_frames(c, copy)))
        return PGK_INDEX_NONE;
    added.next = of->first;
    of->first = (uint32_t)c->known.n;
    return pgk_vec_push(&c->known, added) ? of->first : PGK_INDEX_NONE;
}

static void make_profile(struct contexts *c, struct context *context, uint32_t copy)
{
    struct pgk_sample_node *n = &c->p->nodes.v[context->node];
    n->checksum = pgk_probe_desc_at(c->b->probes, pgk_probe_function(c->index, copy)).hash;
    if (pgk_probe_parent(c->index, copy) != PGK_PROBE_NONE)
        n->attributes |= PGK_SAMPLE_WAS_INLINED;
    pgk_sample_make_top(c->p, context->node);
    context->has_profile = true;
}

/* The node of the profile for a probe under the node in hand; 0 when out of memory. */
static uint32_t context_of(struct contexts *c, const struct pgk_probe *probe)
{
    const struct pgk_function_range *r =
        c->find_missing ? pgk_functions_at_next(&c->b->functions, probe->addr, &c->range) : NULL;
    if (!complete_calls(c, probe->addr, r ? r->function : NO_FUNCTION))
        return 0;
    uint32_t found = find_context(c, probe->node);
    if (found == PGK_INDEX_NONE)
        return 0;
    struct context *context = &c->known.v[found];
    if (!context->has_profile)
        make_profile(c, context, probe->node);
    return context->node;
}

/* Calls between which others are hidden get these. */
static bool enter_node(struct contexts *c, uint32_t node)
{
    c->known.n = c->hidden.n = c->complete.n = 0;
    c->owner++;
    c->has_callers = false;
    if (!pgk_call_trie_path(&c->b->calls, node, &c->calls))
        return false;
    c->calls.n = pgk_context_calls(&c->path.limits, c->calls.v, c->calls.n);
    for (size_t i = 0; i < c->calls.n; i++)
        if ((i && c->find_missing &&
             !pgk_missing_frames_add(&c->missing, c->calls.v[i - 1], c->calls.v[i],
                                     &c->complete)) ||
            !pgk_vec_push(&c->complete, c->calls.v[i]))
            return false;
    return true;
}

/* ---- counts ---- */

/* An inlined function that was entered was called by its caller, if there was no call. `caller` is
 * the copy of it that it is inlined into. */
static bool count_entry(struct contexts *c, uint32_t node, uint32_t caller, uint64_t count)
{
    pgk_sample_add_head(c->p, node, count);
    struct pgk_sample_node n = c->p->nodes.v[node];
    if (caller == PGK_PROBE_NONE || !n.parent)
        return true;
    c->p->nodes.v[n.parent].checksum =
        pgk_probe_desc_at(c->b->probes, pgk_probe_function(c->index, caller)).hash;
    pgk_sample_make_top(c->p, n.parent);
    pgk_sample_add_total(c->p, n.parent, count);
    return pgk_sample_add_body(c->p, n.parent, n.loc, count) &&
           pgk_sample_add_target(c->p, n.parent, n.loc, n.name, count);
}

/* All probes of a copy of a function, those that were not hit with 0. `probes` are those with
 * counts, of which the ones of the context `node` are taken and set to 0. */
static bool count_copy(struct contexts *c, uint32_t node, const uint32_t *probes, size_t n)
{
    struct pgk_probe p = pgk_probe_get(c->index, probes[0]);
    uint32_t copy = p.node, parent = pgk_probe_parent(c->index, copy), first = probes[0];
    uint64_t total = 0;
    while (first && pgk_probe_get(c->index, first - 1).node == copy)
        first--;
    c->recs.n = 0;
    for (size_t i = first; i < pgk_probe_count(c->index); i++) {
        p = pgk_probe_get(c->index, (uint32_t)i);
        if (p.node != copy)
            break;
        if (!pgk_vec_push(&c->recs, (struct pgk_sample_rec){
                                        .loc = pgk_sample_loc(p.index, p.discriminator)}))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        p = pgk_probe_get(c->index, probes[i]);
        uint64_t *count = &c->counts[probes[i]];
        if (!*count || context_of(c, &p) != node)
            continue;
        c->recs.v[probes[i] - first].count = *count;
        total = pgk_add_saturated(total, *count);
        if (p.index == ENTRY_PROBE && !count_entry(c, node, parent, *count))
            return false;
        *count = 0;
    }
    pgk_sample_add_total(c->p, node, total);
    c->recs.n = pgk_recs_sort(c->recs.v, c->recs.n);
    return pgk_sample_add_sorted(c->p, node, c->recs.v, c->recs.n, 1);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Probes of blocks by copies of functions; those of calls have the counts of branches. */
static bool count_probes(struct contexts *c)
{
    size_t n = c->probes.n, end;
    if (n)
        qsort(c->probes.v, n, sizeof *c->probes.v, compare_numbers);
    for (size_t i = 0; i < n; i = end) {
        uint32_t copy = pgk_probe_get(c->index, c->probes.v[i]).node;
        for (end = i; end < n && pgk_probe_get(c->index, c->probes.v[end]).node == copy; end++)
            continue;
        for (size_t k = i; k < end; k++) {
            struct pgk_probe p = pgk_probe_get(c->index, c->probes.v[k]);
            if (!c->counts[c->probes.v[k]])
                continue; /* was in the context of one before */
            uint32_t node = context_of(c, &p);
            if (!node || !count_copy(c, node, &c->probes.v[i], end - i))
                return false;
        }
    }
    return true;
}

static bool add_probe_counts(struct contexts *c, struct pgk_gen_stats *stats)
{
    size_t n = pgk_probe_count(c->index);
    c->probes.n = 0;
    for (size_t i = 0; i < c->pieces.n; i++) {
        const struct pgk_piece *p = &c->pieces.v[i];
        for (size_t at = pgk_probe_lower_bound(c->index, p->low);
             p->count && at < n && pgk_probe_address_at(c->index, at) <= p->high; at++) {
            uint32_t number = pgk_probe_by_address(c->index, at);
            stats->instructions++;
            stats->symbolised++;
            if (pgk_probe_get(c->index, number).type != PGK_PROBE_BLOCK)
                continue;
            if (!c->counts[number] && !pgk_vec_push(&c->probes, number))
                return false;
            c->counts[number] = pgk_add_saturated(c->counts[number], p->count);
        }
    }
    return true;
}

static bool count_ranges(struct contexts *c, const struct pgk_call_count *v, size_t n,
                         struct pgk_gen_stats *stats)
{
    c->ranges.list.n = c->pieces.n = 0;
    if (!pgk_vec_reserve(&c->ranges.list, n))
        return false;
    for (size_t i = 0; i < n; i++)
        c->ranges.list.v[c->ranges.list.n++] = (struct pgk_pair){v[i].from, v[i].to, v[i].count};
    return pgk_pieces_make(&c->pieces, &c->ranges, NULL) && add_probe_counts(c, stats) &&
           count_probes(c);
}

static bool count_branches(struct contexts *c, const struct pgk_call_count *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t call = v[i].from != PGK_ADDR_EXTERNAL ? pgk_probe_call_at(c->index, v[i].from)
                                                       : PGK_PROBE_NONE;
        if (call == PGK_PROBE_NONE)
            continue;
        struct pgk_probe probe = pgk_probe_get(c->index, call);
        uint32_t node = context_of(c, &probe);
        const struct pgk_function *callee = pgk_functions_entered(&c->b->functions, v[i].to);
        uint32_t name =
            callee ? pgk_sample_name(c->p, callee->name,
                                     pgk_sample_drop_suffixes(callee->name, strlen(callee->name)))
                   : 0;
        if (!node || (callee && !name) ||
            !pgk_sample_add_body(c->p, node, pgk_sample_loc(probe.index, 0), v[i].count) ||
            (callee &&
             !pgk_sample_add_target(c->p, node, pgk_sample_loc(probe.index, probe.discriminator),
                                    name, v[i].count)))
            return false;
        pgk_sample_add_total(c->p, node, v[i].count);
    }
    return true;
}

/* ---- types of objects ---- */

static bool count_vtables(struct contexts *c, const struct pgk_call_count *v, size_t n,
                          uint64_t *counted)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t call = pgk_gen_call_behind(c->b, c->index, v[i].from);
        if (call == PGK_PROBE_NONE)
            continue;
        struct pgk_probe probe = pgk_probe_get(c->index, call);
        uint32_t node = context_of(c, &probe);
        if (!node || !pgk_sample_add_vtable(c->p, node, pgk_sample_loc(probe.index, 0),
                                            (uint32_t)v[i].to, v[i].count))
            return false;
        *counted = pgk_add_saturated(*counted, v[i].count);
    }
    return true;
}

/* ---- */

static size_t run_of(const struct pgk_call_counts *c, size_t first, uint32_t node)
{
    size_t end = first;
    while (end < c->list.n && c->list.v[end].node == node)
        end++;
    return end - first;
}

static const struct pgk_call_count *from_on(const struct pgk_call_counts *c, size_t first)
{
    return c->list.n ? c->list.v + first : NULL;
}

static int count_all(struct contexts *c, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    const struct pgk_call_trie *t = &c->b->calls;
    size_t r = 0, b = 0, v = 0, w = 0;
    for (uint32_t node = 0; node < t->nodes.n; node++) {
        size_t nr = run_of(&t->ranges, r, node), nb = run_of(&t->branches, b, node);
        size_t nv = run_of(&t->vtables, v, node), nw = run_of(&t->recovered, w, node);
        if (!nr && !nb && !nv && !nw)
            continue;
        if (!enter_node(c, node) || !count_ranges(c, from_on(&t->ranges, r), nr, stats) ||
            !count_branches(c, from_on(&t->branches, b), nb) ||
            !count_vtables(c, from_on(&t->vtables, v), nv, &stats->vtable_samples) ||
            !count_vtables(c, from_on(&t->recovered, w), nw, &stats->recovered_types))
            return pgk_fail_nomem(err);
        r += nr;
        b += nb;
        v += nv;
        w += nw;
    }
    return 0;
}

static int generate(struct contexts *c, unsigned threads, struct pgk_gen_stats *stats,
                    struct pgk_err *err)
{
    PGK_TRY(pgk_gen_functions(c->b, &c->b->functions, true, threads, err));
    PGK_TRY(pgk_gen_probe_index(c->b, &c->b->functions, &c->b->index, err));
    c->index = c->b->index;
    c->names = pgk_mem_zalloc(pgk_probe_descs(c->b->probes) + 1, sizeof *c->names);
    c->counts = pgk_mem_zalloc(pgk_probe_count(c->index) + 1, sizeof *c->counts);
    c->copies = pgk_mem_zalloc(pgk_probe_node_count(c->index) + 1, sizeof *c->copies);
    if (!c->names || !c->counts || !c->copies)
        return pgk_fail_nomem(err);
    if (c->find_missing)
        PGK_TRY(pgk_missing_frames_open(&c->missing, &c->b->functions, &c->b->code,
                                        &c->b->calls.branches, err));
    return count_all(c, stats, err);
}

int pgk_gen_context_probes(struct pgk_sample *into, struct pgk_gen_binary *binary,
                           const struct pgk_gen_opts *opts, struct pgk_gen_stats *stats,
                           struct pgk_err *err)
{
    struct contexts c = {
        .p = into,
        .b = binary,
        .find_missing = !opts->no_missing_frames,
        .path = {.p = into, .limits = pgk_context_limits(opts)}};
    into->fs |= binary->flow_sensitive;
    int status = generate(&c, opts->threads, stats, err);
    pgk_missing_frames_close(&c.missing);
    pgk_context_path_free(&c.path);
    pgk_mem_free(c.names);
    pgk_mem_free(c.counts);
    pgk_vec_free(&c.calls);
    pgk_vec_free(&c.complete);
    pgk_vec_free(&c.hidden);
    pgk_vec_free(&c.callers);
    pgk_vec_free(&c.caller_frames);
    pgk_vec_free(&c.known);
    pgk_mem_free(c.copies);
    pgk_vec_free(&c.outer);
    pgk_pairs_free(&c.ranges);
    pgk_vec_free(&c.pieces);
    pgk_vec_free(&c.probes);
    pgk_vec_free(&c.frames);
    pgk_vec_free(&c.recs);
    return status;
}
