/* Counts of code to counts of source lines, without calling contexts.
 *
 *   ranges ─► + zero ranges of sampled functions ─► disjoint pieces ─► instructions
 *          ─► frames (debug information) ─► line records: maximum of the instructions of a line
 *   branches ─► call targets and heads of functions
 *
 * docs/formats/profile-generation.md section 5 */
#include "gen_binary.h"

#include "saturate.h"
#include "source_frames.h"
#include "line_counts.h"
#include "pieces.h"

#include <stdlib.h>

/* The place that a run of instructions counts for. */
struct place {
    uint32_t node; /* 0: nowhere */
    bool found;    /* the rest is known */
    bool no_lines; /* counts for the total of the node only */
};

struct lines {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_functions functions;
    pgk_piece_vec pieces;
    struct pgk_frames frames; /* of all instructions that count */
    struct place *places;     /* of their runs */
    struct pgk_line_counts counts;
    struct pgk_frame_names names;
};

/* ---- frames ---- */

static bool list_sources(struct lines *l, const struct pgk_call_counts *counts)
{
    for (size_t i = 0; i < counts->list.n; i++)
        if (!pgk_vec_push(&l->frames.addrs, counts->list.v[i].from))
            return false;
    return true;
}

/* Instructions of the pieces, sources of branches, loads of vtables, and comparisons. */
static int list_addresses(struct lines *l, struct pgk_err *err)
{
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct pgk_piece *p = &l->pieces.v[i];
        if (!pgk_code_list(&l->b->code, p->low, p->high, &l->frames.addrs))
            return pgk_fail_nomem(err);
    }
    const struct pgk_pairs *branches = &l->b->counters.branches;
    for (size_t i = 0; i < branches->list.n; i++)
        if (branches->list.v[i].from != PGK_ADDR_EXTERNAL &&
            !pgk_vec_push(&l->frames.addrs, branches->list.v[i].from))
            return pgk_fail_nomem(err);
    return list_sources(l, &l->b->calls.vtables) && list_sources(l, &l->b->calls.recovered)
               ? 0
               : pgk_fail_nomem(err);
}

static int read_frames(struct lines *l, unsigned threads, struct pgk_err *err)
{
    PGK_TRY(pgk_frames_read(&l->frames, l->b->sym, &l->names, l->b->plain_discriminators, threads,
                            err));
    l->places = pgk_mem_zalloc(l->frames.runs.n, sizeof *l->places);
    return l->places ? 0 : pgk_fail_nomem(err);
}

static bool is_start_up(const struct lines *l, uint64_t name)
{
    const struct pgk_sample_name *n = &l->p->names.list.v[name];
    return n->s && pgk_gen_is_start_up(n->s, n->len);
}

/* The node of the outermost function, and through it what was inlined. */
static bool find_place(struct lines *l, const struct pgk_frame_run *run, struct place *place)
{
    *place = (struct place){.found = true};
    uint64_t loc = 0;
    uint32_t node = 0;
    for (uint32_t i = 0; i < run->n; i++) {
        const struct pgk_context_frame *f =
            &l->frames.known.v[l->frames.run_frames.v[run->first + i]];
        if (is_start_up(l, f->name)) {
            place->no_lines = true;
            break;
        }
        node = i ? pgk_sample_inlinee(l->p, node, loc, (uint32_t)f->name)
                 : pgk_sample_function(l->p, (uint32_t)f->name);
        if (!node)
            return false;
        loc = f->loc;
    }
    place->node = node;
    return true;
}

/* The place of a run, found on first use: a profile has no functions that are not counted. NULL
 * when out of memory. */
static const struct place *place_of(struct lines *l, uint32_t run)
{
    struct place *place = &l->places[run];
    return place->found || find_place(l, &l->frames.runs.v[run], place) ? place : NULL;
}

/* ---- counts ---- */

static int count_instruction(struct lines *l, const struct pgk_piece *p, size_t number,
                             struct pgk_gen_stats *stats, struct pgk_err *err)
{
    const struct pgk_code_site *s = &l->frames.sites[number];
    const struct place *place = place_of(l, s->run);
    uint64_t addr = l->frames.addrs.v[number];
    if (!place)
        return pgk_fail_nomem(err);
    stats->instructions += p->count != 0;
    stats->symbolised += p->count && place->node;
    if (p->count && !place->node)
        pgk_gen_no_source(stats, l->b, addr);
    if (!place->node)
        return 0;
    uint8_t length = pgk_code_mark(&l->b->code, addr) & PGK_CODE_LENGTH;
    uint64_t samples = l->counts.sum ? p->count : pgk_multiply_saturated(p->count, s->copies);
    if (pgk_line_counts_weight(&l->counts, place->node, pgk_multiply_saturated(p->count, length)) &&
        (place->no_lines || pgk_line_counts_body(&l->counts, place->node, s->loc, samples)))
        return 0;
    return pgk_fail_nomem(err);
}

static int count_pieces(struct lines *l, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    size_t a = 0;
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct pgk_piece *p = &l->pieces.v[i];
        while (a < l->frames.addrs.n && l->frames.addrs.v[a] < p->low)
            a++;
        for (; a < l->frames.addrs.n && l->frames.addrs.v[a] <= p->high; a++)
            PGK_TRY(count_instruction(l, p, a, stats, err));
    }
    return 0;
}

/* A function that a branch enters at its beginning was called, or jumped to as a tail call. */
static int count_branches(struct lines *l, struct pgk_err *err)
{
    const struct pgk_pairs *branches = &l->b->counters.branches;
    for (size_t i = 0; i < branches->list.n; i++) {
        const struct pgk_pair *b = &branches->list.v[i];
        const struct pgk_function *callee = pgk_functions_entered(&l->functions, b->to);
        if (!callee || pgk_gen_is_start_up(callee->name, strlen(callee->name)))
            continue;
        uint32_t name = pgk_frame_name(&l->names, callee->name);
        uint32_t node = name ? pgk_sample_function(l->p, name) : 0;
        if (!node)
            return pgk_fail_nomem(err);
        pgk_sample_add_head(l->p, node, b->count);
        if (b->from == PGK_ADDR_EXTERNAL)
            continue;
        const struct pgk_code_site *s = &l->frames.sites[pgk_frames_find(&l->frames, b->from)];
        const struct place *place = place_of(l, s->run);
        if (!place || (place->node && !place->no_lines &&
                       !pgk_line_counts_target(&l->counts, place->node, s->loc, name, b->count)))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int count_vtables(struct lines *l, const struct pgk_call_counts *vtables, uint64_t *counted,
                         struct pgk_err *err)
{
    for (size_t i = 0; i < vtables->list.n; i++) {
        const struct pgk_call_count *v = &vtables->list.v[i];
        const struct pgk_code_site *s = &l->frames.sites[pgk_frames_find(&l->frames, v->from)];
        const struct place *place = place_of(l, s->run);
        if (!place)
            return pgk_fail_nomem(err);
        if (!place->node || place->no_lines)
            continue;
        *counted = pgk_add_saturated(*counted, v->count);
        if (!pgk_sample_add_vtable(l->p, place->node, s->loc, (uint32_t)v->to, v->count))
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
    if (!pgk_first_runs_add_to(&l->b->first_runs, &l->functions, &l->names, l->p))
        return pgk_fail_nomem(err);
    if (!pgk_line_counts_write(&l->counts))
        return pgk_fail_nomem(err);
    PGK_TRY(count_vtables(l, &l->b->calls.vtables, &stats->vtable_samples, err));
    return count_vtables(l, &l->b->calls.recovered, &stats->recovered_types, err);
}

int pgk_gen_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err)
{
    struct lines l = {.p = into,
                      .b = binary,
                      .counts = {.p = into, .sum = binary->sum_lines},
                      .names = {.p = into}};
    into->fs |= binary->flow_sensitive;
    int status = generate(&l, threads, stats, err);
    pgk_functions_close(&l.functions);
    pgk_vec_free(&l.pieces);
    pgk_frames_free(&l.frames);
    pgk_mem_free(l.places);
    pgk_line_counts_free(&l.counts);
    pgk_frame_names_free(&l.names);
    return status;
}
