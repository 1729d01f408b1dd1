/* Counts of code to counts of source lines, without calling contexts.
 *
 *   ranges ─► + zero ranges of sampled functions ─► disjoint pieces ─► instructions
 *          ─► frames (debug information) ─► line records: maximum of the instructions of a line
 *   branches ─► call targets and heads of functions
 *
 * docs/formats/profile-generation.md section 5 */
#include "gen_binary.h"

#include "discriminator.h"
#include "source_frames.h"
#include "line_counts.h"
#include "pieces.h"
#include "u64_set.h"

#include <stdlib.h>

/* Where an instruction stands in the profile. */
struct site {
    uint64_t loc;
    uint32_t node; /* 0: nowhere */
    uint32_t copies;
    bool found;    /* the rest is known */
    bool no_lines; /* counts for the total of the node only */
};

struct lines {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_functions functions;
    pgk_piece_vec pieces;
    struct pgk_frames frames; /* of all instructions that count */
    struct site *sites;       /* of these */
    struct pgk_line_counts counts;
    struct pgk_frame_names names;
};

/* ---- frames ---- */

/* Instructions of the pieces, sources of branches, and loads of vtables. */
static int list_addresses(struct lines *l, struct pgk_err *err)
{
    struct pgk_code *code = &l->b->code;
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct pgk_piece *p = &l->pieces.v[i];
        for (uint64_t at = p->low; (at = pgk_code_first(code, at, p->high)) != UINT64_MAX;
             at += pgk_code_mark(code, at) & PGK_CODE_LENGTH)
            if (!pgk_vec_push(&l->frames.addrs, at))
                return pgk_fail_nomem(err);
    }
    const struct pgk_pairs *branches = &l->b->counters.branches;
    for (size_t i = 0; i < branches->v.n; i++)
        if (branches->v.v[i].from != PGK_ADDR_EXTERNAL &&
            !pgk_vec_push(&l->frames.addrs, branches->v.v[i].from))
            return pgk_fail_nomem(err);
    const struct pgk_call_counts *vtables = &l->b->calls.vtables;
    for (size_t i = 0; i < vtables->v.n; i++)
        if (!pgk_vec_push(&l->frames.addrs, vtables->v.v[i].from))
            return pgk_fail_nomem(err);
    return 0;
}

static uint64_t frame_loc(const struct lines *l, const struct pgk_sym_frame *f)
{
    return pgk_frame_loc(f, l->b->flow_sensitive);
}

static bool is_start_up(const char *name)
{
    return pgk_gen_is_start_up(name, strlen(name));
}

/* The node of an instruction: its outermost function, and through it what was inlined. */
static bool find_site(struct lines *l, const struct pgk_sym_chain *chain, struct site *site)
{
    uint32_t i = chain->count;
    *site = (struct site){.found = true};
    if (!i || !pgk_frame_has_name(&chain->frames[i - 1]) ||
        is_start_up(chain->frames[i - 1].function))
        return true;
    uint32_t name = pgk_frame_name(&l->names, chain->frames[--i].function);
    uint32_t node = name ? pgk_sample_function(l->p, name) : 0;
    for (; node && i && pgk_frame_has_name(&chain->frames[i - 1]); i--) {
        if ((site->no_lines = is_start_up(chain->frames[i - 1].function)))
            break;
        name = pgk_frame_name(&l->names, chain->frames[i - 1].function);
        node = name ? pgk_sample_inlinee(l->p, node, frame_loc(l, &chain->frames[i]), name) : 0;
    }
    site->node = node;
    site->loc = frame_loc(l, &chain->frames[i]);
    site->copies = pgk_discriminator_copies(chain->frames[i].discriminator, l->b->flow_sensitive);
    return node;
}

/* Frames outside of the innermost one are the same for the code of one inlined call. */
static bool same_outer(const struct pgk_sym_chain *a, const struct pgk_sym_chain *b)
{
    if (a->count != b->count || !a->count || a->frames[0].function != b->frames[0].function)
        return false;
    for (uint32_t i = 1; i < a->count; i++) {
        const struct pgk_sym_frame *x = &a->frames[i], *y = &b->frames[i];
        if (x->function != y->function || x->line != y->line || x->decl_line != y->decl_line ||
            x->discriminator != y->discriminator)
            return false;
    }
    return pgk_frame_has_name(&a->frames[0]);
}

static int read_frames(struct lines *l, unsigned threads, struct pgk_err *err)
{
    PGK_TRY(pgk_frames_read(&l->frames, l->b->sym, threads, err));
    l->sites = pgk_mem_zalloc(l->frames.addrs.n + 1, sizeof *l->sites);
    return l->sites ? 0 : pgk_fail_nomem(err);
}

/* The site of the address number `i`, found on first use: a profile has no functions that are
 * not counted. NULL when out of memory. */
static const struct site *site_at(struct lines *l, size_t i)
{
    struct site *s = &l->sites[i];
    const struct pgk_sym_chain *chain = &l->frames.chains[i];
    if (s->found)
        return s;
    if (!i || !s[-1].found || !same_outer(chain, chain - 1))
        return find_site(l, chain, s) ? s : NULL;
    *s = s[-1];
    s->loc = frame_loc(l, &chain->frames[0]);
    s->copies = pgk_discriminator_copies(chain->frames[0].discriminator, l->b->flow_sensitive);
    return s;
}

/* The site of an address that is listed. */
static const struct site *site_of(struct lines *l, uint64_t addr)
{
    return site_at(l, pgk_u64_find(l->frames.addrs.v, l->frames.addrs.n, addr));
}

/* ---- counts ---- */

static int count_pieces(struct lines *l, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    size_t a = 0;
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct pgk_piece *p = &l->pieces.v[i];
        while (a < l->frames.addrs.n && l->frames.addrs.v[a] < p->low)
            a++;
        for (; a < l->frames.addrs.n && l->frames.addrs.v[a] <= p->high; a++) {
            const struct site *s = site_at(l, a);
            if (!s)
                return pgk_fail_nomem(err);
            uint8_t length = pgk_code_mark(&l->b->code, l->frames.addrs.v[a]) & PGK_CODE_LENGTH;
            stats->instructions += p->count != 0;
            stats->symbolised += p->count && s->node;
            if (p->count && !s->node)
                pgk_gen_no_source(stats, l->b, l->frames.addrs.v[a]);
            if (s->node &&
                (!pgk_line_counts_weight(&l->counts, s->node,
                                         pgk_sample_product(p->count, length)) ||
                 (!s->no_lines && !pgk_line_counts_body(&l->counts, s->node, s->loc,
                                                        pgk_sample_product(p->count, s->copies)))))
                return pgk_fail_nomem(err);
        }
    }
    return 0;
}

/* What a branch enters at its beginning was called, or jumped to as a tail call. */
static int count_branches(struct lines *l, struct pgk_err *err)
{
    const struct pgk_pairs *branches = &l->b->counters.branches;
    for (size_t i = 0; i < branches->v.n; i++) {
        const struct pgk_pair *b = &branches->v.v[i];
        const struct pgk_function *callee = pgk_functions_entered(&l->functions, b->to);
        if (!callee || is_start_up(callee->name))
            continue;
        uint32_t name = pgk_frame_name(&l->names, callee->name);
        uint32_t node = name ? pgk_sample_function(l->p, name) : 0;
        if (!node)
            return pgk_fail_nomem(err);
        pgk_sample_add_head(l->p, node, b->count);
        if (b->from == PGK_ADDR_EXTERNAL)
            continue;
        const struct site *s = site_of(l, b->from);
        if (!s)
            return pgk_fail_nomem(err);
        if (s->node && !s->no_lines &&
            !pgk_line_counts_target(&l->counts, s->node, s->loc, name, b->count))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int count_vtables(struct lines *l, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    const struct pgk_call_counts *vtables = &l->b->calls.vtables;
    for (size_t i = 0; i < vtables->v.n; i++) {
        const struct pgk_call_count *v = &vtables->v.v[i];
        const struct site *s = site_of(l, v->from);
        if (!s)
            return pgk_fail_nomem(err);
        if (!s->node || s->no_lines)
            continue;
        stats->vtable_samples += v->count;
        if (!pgk_sample_add_vtable(l->p, s->node, s->loc, (uint32_t)v->to, v->count))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int generate(struct lines *l, unsigned threads, struct pgk_gen_stats *stats,
                    struct pgk_err *err)
{
    PGK_TRY(pgk_gen_functions(l->b, &l->functions, false, threads, err));
    if (!pgk_pieces_make(&l->pieces, &l->b->counters.ranges, &l->functions))
        return pgk_fail_nomem(err);
    PGK_TRY(list_addresses(l, err));
    PGK_TRY(read_frames(l, threads, err));
    PGK_TRY(count_pieces(l, stats, err));
    PGK_TRY(count_branches(l, err));
    if (!pgk_line_counts_write(&l->counts))
        return pgk_fail_nomem(err);
    return count_vtables(l, stats, err);
}

int pgk_gen_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err)
{
    struct lines l = {.p = into, .b = binary, .counts = {.p = into}, .names = {.p = into}};
    into->fs |= binary->flow_sensitive;
    int status = generate(&l, threads, stats, err);
    pgk_functions_close(&l.functions);
    pgk_vec_free(&l.pieces);
    pgk_frames_free(&l.frames);
    pgk_mem_free(l.sites);
    pgk_line_counts_free(&l.counts);
    pgk_frame_names_free(&l.names);
    return status;
}
