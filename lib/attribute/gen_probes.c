/* Counts of code to counts of pseudo probes, without calling contexts.
 *
 *   ranges ─► + zero ranges of sampled functions ─► disjoint pieces ─► probes in them
 *   branches ─► call targets of the call probes at their sources
 *
 * docs/formats/profile-generation.md section 6 */
#include "gen_binary.h"

#include "line_counts.h"
#include "pieces.h"
#include "saturate.h"

enum { ENTRY_PROBE = 1 };

/* Where a copy of a function stands in the profile. */
struct place {
    uint32_t node; /* 0: nowhere */
    bool found;
    bool no_lines; /* counts for the total of the node only */
};

struct probes {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_functions functions;
    struct pgk_probe_index *index;
    pgk_piece_vec pieces;
    struct pgk_line_counts counts;
    PGK_VEC(struct place) places; /* by node of the index */
};

static uint32_t add_node(struct probes *l, uint32_t parent, uint32_t site,
                         const struct pgk_probe_desc *desc)
{
    uint32_t name = pgk_sample_name(l->p, desc->name, desc->name_len);
    if (!name)
        return 0;
    uint32_t node = parent ? pgk_sample_inlinee(l->p, parent, pgk_sample_loc(site, 0), name)
                           : pgk_sample_function(l->p, name);
    if (node)
        l->p->nodes.v[node].checksum = desc->hash;
    return node;
}

static bool is_start_up(const struct pgk_probe_desc *desc)
{
    return pgk_gen_is_start_up(desc->name, desc->name_len);
}

/* The place of a copy of a function in the profile. Where the call site of an inlined piece is not
 * known (0), the piece begins a profile of its own. NULL when out of memory. */
static const struct place *place_of(struct probes *l, uint32_t number)
{
    struct place *known = &l->places.v[number];
    if (known->found)
        return known;
    uint32_t up = pgk_probe_parent(l->index, number), site = pgk_probe_site(l->index, number);
    struct pgk_probe_desc desc =
        pgk_probe_desc_at(l->b->probes, pgk_probe_function(l->index, number));
    bool alone = up == PGK_PROBE_NONE || !site;
    struct place place = {.found = true, .no_lines = is_start_up(&desc)};
    if (!alone) {
        const struct place *parent = place_of(l, up);
        if (!parent)
            return NULL;
        place.node = parent->node;
        place.no_lines |= parent->no_lines;
    }
    if (!place.no_lines && !(place.node = add_node(l, alone ? 0 : place.node, site, &desc)))
        return NULL;
    *known = place;
    return known;
}

static int count_probe(struct probes *l, const struct pgk_probe *probe, uint64_t count,
                       struct pgk_err *err)
{
    const struct place *place = place_of(l, probe->node);
    if (!place)
        return pgk_fail_nomem(err);
    uint32_t node = place->node;
    if (node && !pgk_line_counts_weight(&l->counts, node, count))
        return pgk_fail_nomem(err);
    if (place->no_lines)
        return 0;
    if (probe->index == ENTRY_PROBE)
        pgk_sample_add_head(l->p, node, count);
    uint64_t loc = pgk_sample_loc(probe->index, probe->discriminator);
    return pgk_line_counts_body(&l->counts, node, loc, count) ? 0 : pgk_fail_nomem(err);
}

static int count_pieces(struct probes *l, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    size_t n = pgk_probe_count(l->index);
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct pgk_piece *p = &l->pieces.v[i];
        for (size_t at = pgk_probe_lower_bound(l->index, p->low);
             at < n && pgk_probe_address_at(l->index, at) <= p->high; at++) {
            struct pgk_probe probe = pgk_probe_get(l->index, pgk_probe_by_address(l->index, at));
            PGK_TRY(count_probe(l, &probe, p->count, err));
            stats->instructions += p->count != 0;
            stats->symbolised += p->count != 0;
        }
    }
    return 0;
}

static int count_branches(struct probes *l, struct pgk_err *err)
{
    const struct pgk_pairs *branches = &l->b->counters.branches;
    for (size_t i = 0; i < branches->list.n; i++) {
        const struct pgk_pair *b = &branches->list.v[i];
        const struct pgk_function *callee = pgk_functions_entered(&l->functions, b->to);
        uint32_t call = callee && b->from != PGK_ADDR_EXTERNAL
                            ? pgk_probe_call_at(l->index, b->from)
                            : PGK_PROBE_NONE;
        if (call == PGK_PROBE_NONE)
            continue;
        struct pgk_probe probe = pgk_probe_get(l->index, call);
        const struct place *place = place_of(l, probe.node);
        uint32_t name = pgk_sample_name(
            l->p, callee->name, pgk_sample_drop_suffixes(callee->name, strlen(callee->name)));
        if (!place || !name ||
            (!place->no_lines &&
             !pgk_line_counts_target(&l->counts, place->node, pgk_sample_loc(probe.index, 0), name,
                                     b->count)))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int count_vtables(struct probes *l, const struct pgk_call_counts *vtables,
                         uint64_t *counted, struct pgk_err *err)
{
    for (size_t i = 0; i < vtables->list.n; i++) {
        const struct pgk_call_count *v = &vtables->list.v[i];
        uint32_t call = pgk_gen_call_behind(l->b, l->index, v->from);
        if (call == PGK_PROBE_NONE)
            continue;
        struct pgk_probe probe = pgk_probe_get(l->index, call);
        const struct place *place = place_of(l, probe.node);
        if (!place)
            return pgk_fail_nomem(err);
        if (place->no_lines)
            continue;
        *counted = pgk_add_saturated(*counted, v->count);
        if (!pgk_sample_add_vtable(l->p, place->node, pgk_sample_loc(probe.index, 0),
                                   (uint32_t)v->to, v->count))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int generate(struct probes *l, unsigned threads, struct pgk_gen_stats *stats,
                    struct pgk_err *err)
{
    PGK_TRY(pgk_gen_functions(l->b, &l->functions, true, threads, err));
    if (!pgk_pieces_make(&l->pieces, &l->b->counters.ranges, &l->functions))
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_gen_probe_index(l->b, &l->functions, &l->index, err));
    pgk_elf_trim(l->b->elf); /* from here on, the profile grows */
    size_t n = pgk_probe_node_count(l->index);
    if (!pgk_vec_reserve(&l->places, n + 1))
        return pgk_fail_nomem(err);
    memset(l->places.v, 0, n * sizeof *l->places.v);
    PGK_TRY(count_pieces(l, stats, err));
    PGK_TRY(count_branches(l, err));
    if (!pgk_line_counts_write(&l->counts))
        return pgk_fail_nomem(err);
    PGK_TRY(count_vtables(l, &l->b->calls.vtables, &stats->vtable_samples, err));
    return count_vtables(l, &l->b->calls.recovered, &stats->recovered_types, err);
}

int pgk_gen_probes(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                   struct pgk_gen_stats *stats, struct pgk_err *err)
{
    struct probes l = {.p = into, .b = binary, .counts = {.p = into, .sum = true}};
    into->fs |= binary->flow_sensitive;
    int status = generate(&l, threads, stats, err);
    pgk_functions_close(&l.functions);
    pgk_probe_index_close(&l.index);
    pgk_vec_free(&l.pieces);
    pgk_line_counts_free(&l.counts);
    pgk_vec_free(&l.places);
    return status;
}
