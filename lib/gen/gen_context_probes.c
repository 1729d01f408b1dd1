/* Counts of code by calling context to counts of pseudo probes by calling context.
 *
 *   node of the tree of calls ─► addresses of calls ─► + calls that tail calls hide
 *     ─► call probes with what they are inlined into ─► frames of the callers
 *   ranges under the node ─► disjoint pieces ─► probes in them, grouped by copies of functions
 *
 * docs/formats/profile-generation.md section 7 */
#include "gen_binary.h"

#include "context_path.h"
#include "hash.h"
#include "missing_frames.h"
#include "pieces.h"
#include "sample_recs.h"

#include <stdlib.h>

enum { ENTRY_PROBE = 1 };
#define NO_FUNCTION UINT32_MAX

/* The context of a copy of a function under the node in hand. */
struct context {
    uint32_t probe_node, function; /* function: by address, for calls that are hidden */
    uint32_t node;                 /* in the profile */
};

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
    pgk_context_vec callers; /* frames of `complete`; callers.n == 0: not made */
    bool has_callers;
    PGK_VEC(struct context) known;
    struct pgk_index known_index;
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

/* Appends the frames of a probe. A call site that is not known (0) hides everything outside of
 * it. */
static bool add_frames(struct contexts *c, const struct pgk_probe *probe, pgk_context_vec *frames)
{
    struct pgk_probe_frame inlined[PGK_PROBE_MAX_DEPTH];
    size_t n = pgk_probe_context(c->index, probe->node, inlined, PGK_PROBE_MAX_DEPTH);
    for (size_t i = 0; i <= n; i++) {
        uint32_t desc = i < n ? inlined[i].desc : pgk_probe_function(c->index, probe->node);
        uint32_t site = i < n ? inlined[i].site : probe->index, name = name_of(c, desc);
        if (!site && i < n)
            frames->n = 0;
        else if (!name ||
                 !pgk_vec_push(frames, (struct pgk_context_frame){pgk_sample_loc(site, 0), name}))
            return false;
    }
    return true;
}

/* Frames of the innermost calls that have probes. */
static bool make_callers(struct contexts *c)
{
    size_t first = c->complete.n;
    while (first && pgk_probe_call_at(c->index, c->complete.v[first - 1]) != PGK_PROBE_NONE)
        first--;
    c->callers.n = 0;
    for (; first < c->complete.n; first++) {
        struct pgk_probe probe =
            pgk_probe_get(c->index, pgk_probe_call_at(c->index, c->complete.v[first]));
        if (!add_frames(c, &probe, &c->callers))
            return false;
    }
    return c->has_callers = true;
}

/* Puts the calls that lead to `addr` into `complete`, and their frames into `callers`. */
static bool complete_calls(struct contexts *c, uint64_t addr)
{
    size_t known = c->complete.n - c->hidden.n;
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

static uint32_t make_context(struct contexts *c, const struct pgk_probe *probe)
{
    if (!complete_calls(c, probe->addr) || !pgk_vec_reserve(&c->frames, c->callers.n))
        return 0;
    c->frames.n = c->callers.n;
    if (c->callers.n)
        memcpy(c->frames.v, c->callers.v, c->callers.n * sizeof *c->frames.v);
    if (!add_frames(c, probe, &c->frames))
        return 0;
    uint32_t node = pgk_context_node(&c->path, c->frames.v, c->frames.n);
    if (!node)
        return 0;
    struct pgk_sample_node *n = &c->p->nodes.v[node];
    n->checksum = pgk_probe_desc_at(c->b->probes, pgk_probe_function(c->index, probe->node)).hash;
    if (pgk_probe_parent(c->index, probe->node) != PGK_PROBE_NONE)
        n->attributes |= PGK_SAMPLE_WAS_INLINED;
    pgk_sample_make_top(c->p, node);
    return node;
}

/* The node of the profile for a probe under the node in hand; 0 when out of memory. */
static uint32_t context_of(struct contexts *c, const struct pgk_probe *probe)
{
    const struct pgk_function_range *r =
        c->find_missing ? pgk_functions_at(&c->b->functions, probe->addr) : NULL;
    struct context key = {.probe_node = probe->node, .function = r ? r->function : NO_FUNCTION};
    uint64_t hash = pgk_hash_pair(key.probe_node, key.function);
    PGK_INDEX_FOR (&c->known_index, hash, i)
        if (c->known.v[i].probe_node == key.probe_node && c->known.v[i].function == key.function)
            return c->known.v[i].node;
    key.node = make_context(c, probe);
    return key.node && pgk_vec_push(&c->known, key) &&
                   pgk_index_add(&c->known_index, hash, (uint32_t)c->known.n - 1)
               ? key.node
               : 0;
}

/* Calls between which others are hidden get these. */
static bool enter_node(struct contexts *c, uint32_t node)
{
    c->known.n = c->hidden.n = c->complete.n = 0;
    pgk_index_free(&c->known_index);
    c->has_callers = false;
    if (!pgk_call_trie_path(&c->b->calls, node, &c->calls))
        return false;
    c->calls.n = pgk_compress_recursion(c->calls.v, c->calls.n, sizeof *c->calls.v);
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
        total = pgk_sample_sum(total, *count);
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
            c->counts[number] = pgk_sample_sum(c->counts[number], p->count);
        }
    }
    return true;
}

static bool count_ranges(struct contexts *c, const struct pgk_call_count *v, size_t n,
                         struct pgk_gen_stats *stats)
{
    c->ranges.v.n = c->pieces.n = 0;
    if (!pgk_vec_reserve(&c->ranges.v, n))
        return false;
    for (size_t i = 0; i < n; i++)
        c->ranges.v.v[c->ranges.v.n++] = (struct pgk_pair){v[i].from, v[i].to, v[i].count};
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
                          struct pgk_gen_stats *stats)
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
        stats->vtable_samples += v[i].count;
    }
    return true;
}

/* ---- */

static size_t run_of(const struct pgk_call_counts *c, size_t first, uint32_t node)
{
    size_t end = first;
    while (end < c->v.n && c->v.v[end].node == node)
        end++;
    return end - first;
}

static const struct pgk_call_count *from_on(const struct pgk_call_counts *c, size_t first)
{
    return c->v.n ? c->v.v + first : NULL;
}

static int count_all(struct contexts *c, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    const struct pgk_call_trie *t = &c->b->calls;
    size_t r = 0, b = 0, v = 0;
    for (uint32_t node = 0; node < t->nodes.n; node++) {
        size_t nr = run_of(&t->ranges, r, node), nb = run_of(&t->branches, b, node);
        size_t nv = run_of(&t->vtables, v, node);
        if (!nr && !nb && !nv)
            continue;
        if (!enter_node(c, node) || !count_ranges(c, from_on(&t->ranges, r), nr, stats) ||
            !count_branches(c, from_on(&t->branches, b), nb) ||
            !count_vtables(c, from_on(&t->vtables, v), nv, stats))
            return pgk_fail_nomem(err);
        r += nr;
        b += nb;
        v += nv;
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
    if (!c->names || !c->counts)
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
        .p = into, .b = binary, .find_missing = !opts->no_missing_frames, .path = {.p = into}};
    int status = generate(&c, opts->threads, stats, err);
    pgk_missing_frames_close(&c.missing);
    pgk_context_path_free(&c.path);
    pgk_mem_free(c.names);
    pgk_mem_free(c.counts);
    pgk_vec_free(&c.calls);
    pgk_vec_free(&c.complete);
    pgk_vec_free(&c.hidden);
    pgk_vec_free(&c.callers);
    pgk_vec_free(&c.known);
    pgk_index_free(&c.known_index);
    pgk_pairs_free(&c.ranges);
    pgk_vec_free(&c.pieces);
    pgk_vec_free(&c.probes);
    pgk_vec_free(&c.frames);
    pgk_vec_free(&c.recs);
    return status;
}
