/* Which counts belong to which instruction: from inline stacks to places of the profile. */
#include "disasm_counts.h"

#include "discriminator.h"
#include "mem.h"
#include "saturate.h"

/* Part of `nodes` that a copy of a function has in the profile. */
struct copy {
    uint32_t first, n;
    bool known;
};
enum staleness { NOT_COMPARED, SAME, STALE, STALE_AND_SAID };
struct body {
    uint64_t profile_hash;
    enum staleness state;
};

struct pgk_disasm_counts {
    const struct pgk_sample *profile;
    struct pgk_sample_lookup *lookup;
    struct pgk_sample_summary summary;
    uint64_t hot, cold;
    uint64_t functions_total; /* of a profile by lines more than its places have */
    const struct pgk_probes *probes;
    const struct pgk_probe_index *index;
    bool flow_sensitive;
    bool failed;
    struct copy *copies;        /* by node of the index */
    struct body *bodies;        /* by descriptor */
    uint64_t stale;
    pgk_sample_nodes_vec nodes; /* of all known copies */
    pgk_sample_nodes_vec found; /* of one stack */
    pgk_sample_recs_vec values;
    PGK_VEC(struct pgk_sample_frame) stack;
};

int pgk_disasm_counts_open(struct pgk_disasm_counts **counts, const struct pgk_sample *profile,
                           struct pgk_err *err)
{
    struct pgk_disasm_counts *c = pgk_mem_zalloc(1, sizeof *c);
    if (!c)
        return pgk_fail_nomem(err);
    c->profile = profile;
    c->summary.struct_size = sizeof c->summary;
    int status = pgk_sample_summarise(profile, &c->summary, err);
    if (!status)
        status = pgk_sample_lookup_open(&c->lookup, profile, err);
    if (status) {
        pgk_disasm_counts_close(&c);
        return status;
    }
    c->hot = pgk_sample_hot_count(&c->summary);
    c->cold = pgk_sample_cold_count(&c->summary);
    for (size_t i = 0; i < profile->by_identity.n; i++)
        c->functions_total = pgk_add_saturated(
            c->functions_total, pgk_sample_node(profile, profile->by_identity.v[i])->total);
    *counts = c;
    return 0;
}

int pgk_disasm_counts_use_probes(struct pgk_disasm_counts *c, const struct pgk_probes *probes,
                                 const struct pgk_probe_index *index, struct pgk_err *err)
{
    c->probes = probes;
    c->index = index;
    c->copies = pgk_mem_zalloc(pgk_probe_node_count(index) + 1, sizeof *c->copies);
    c->bodies = pgk_mem_zalloc(pgk_probe_descs(probes) + 1, sizeof *c->bodies);
    return c->copies && c->bodies ? 0 : pgk_fail_nomem(err);
}

void pgk_disasm_counts_use_lines(struct pgk_disasm_counts *c, bool flow_sensitive)
{
    c->flow_sensitive = flow_sensitive;
}

void pgk_disasm_counts_close(struct pgk_disasm_counts **counts)
{
    struct pgk_disasm_counts *c = *counts;
    if (!c)
        return;
    pgk_sample_lookup_close(&c->lookup);
    pgk_mem_free(c->copies);
    pgk_mem_free(c->bodies);
    pgk_vec_free(&c->nodes);
    pgk_vec_free(&c->found);
    pgk_vec_free(&c->values);
    pgk_vec_free(&c->stack);
    pgk_mem_free(c);
    *counts = NULL;
}

bool pgk_disasm_counts_failed(const struct pgk_disasm_counts *c)
{
    return c->failed;
}

static void push_frame(struct pgk_disasm_counts *c, const char *name, size_t len, uint64_t loc)
{
    struct pgk_sample_frame f = {loc, pgk_sample_lookup_name(c->lookup, name, len)};
    c->failed |= !pgk_vec_push(&c->stack, f);
}

static struct pgk_disasm_count count_at(struct pgk_disasm_counts *c, const uint32_t *nodes,
                                        size_t n, uint64_t loc)
{
    struct pgk_disasm_count count = {0};
    count.known = pgk_sample_body(c->profile, nodes, n, loc, &count.samples);
    c->failed |= !pgk_sample_values(c->profile, nodes, n, loc, &c->values);
    count.values = c->values.v;
    count.n_values = c->failed ? 0 : c->values.n;
    return count;
}

/* ---- by probes ---- */

static void push_desc(struct pgk_disasm_counts *c, uint32_t desc, uint32_t site)
{
    struct pgk_probe_desc p = pgk_probe_desc_at(c->probes, desc);
    push_frame(c, p.name, p.name_len, pgk_sample_loc(site, 0));
}

/* A piece of code that lost its call site has a profile of its own. */
static void stack_of_node(struct pgk_disasm_counts *c, uint32_t node)
{
    struct pgk_probe_frame frames[PGK_PROBE_MAX_DEPTH];
    size_t depth = pgk_probe_context(c->index, node, frames, PGK_PROBE_MAX_DEPTH);
    c->stack.n = 0;
    for (size_t i = 0; i < depth; i++) {
        if (frames[i].site)
            push_desc(c, frames[i].desc, frames[i].site);
        else
            c->stack.n = 0;
    }
    push_desc(c, pgk_probe_function(c->index, node), 0);
}

/* Inline functions may have several descriptors, of translation units that differ. */
static bool has_hash(const struct pgk_probes *probes, uint64_t guid, uint64_t hash)
{
    size_t n = pgk_probe_descs(probes);
    for (size_t i = pgk_probe_desc_by_guid(probes, guid); i < n; i++) {
        struct pgk_probe_desc p = pgk_probe_desc_at(probes, i);
        if (p.guid == guid && p.hash == hash)
            return true;
    }
    return false;
}

static void compare_hash(struct pgk_disasm_counts *c, uint32_t desc, const struct copy *copy)
{
    struct body *b = &c->bodies[desc];
    for (uint32_t i = 0; i < copy->n && b->state == NOT_COMPARED; i++)
        b->profile_hash = pgk_sample_node(c->profile, c->nodes.v[copy->first + i])->checksum;
    if (b->state != NOT_COMPARED || !b->profile_hash)
        return;
    struct pgk_probe_desc p = pgk_probe_desc_at(c->probes, desc);
    bool same = p.hash == b->profile_hash || has_hash(c->probes, p.guid, b->profile_hash);
    b->state = same ? SAME : STALE;
    c->stale += !same;
}

static const struct copy *find_copy(struct pgk_disasm_counts *c, uint32_t node)
{
    struct copy *copy = &c->copies[node];
    if (copy->known)
        return copy;
    stack_of_node(c, node);
    *copy = (struct copy){.first = (uint32_t)c->nodes.n, .known = true};
    c->failed |= !pgk_sample_lookup(c->lookup, c->stack.v, c->stack.n, &c->nodes);
    copy->n = (uint32_t)c->nodes.n - copy->first;
    compare_hash(c, pgk_probe_function(c->index, node), copy);
    return copy;
}

struct pgk_disasm_count pgk_disasm_count_probe(struct pgk_disasm_counts *c, uint32_t probe)
{
    if (!c->index)
        return (struct pgk_disasm_count){0};
    struct pgk_probe p = pgk_probe_get(c->index, probe);
    const struct copy *copy = find_copy(c, p.node);
    return count_at(c, c->nodes.v + copy->first, copy->n, pgk_sample_loc(p.index, p.discriminator));
}

static struct body *body_of(const struct pgk_disasm_counts *c, uint32_t probe)
{
    return &c->bodies[pgk_probe_function(c->index, pgk_probe_get(c->index, probe).node)];
}

bool pgk_disasm_is_stale(const struct pgk_disasm_counts *c, uint32_t probe)
{
    return c->index && body_of(c, probe)->state >= STALE;
}

bool pgk_disasm_first_stale(struct pgk_disasm_counts *c, uint32_t probe, uint64_t *profile_hash,
                            uint64_t *program_hash)
{
    if (!c->index || body_of(c, probe)->state != STALE)
        return false;
    struct body *b = body_of(c, probe);
    b->state = STALE_AND_SAID;
    *profile_hash = b->profile_hash;
    *program_hash = pgk_probe_desc_at(c->probes, (size_t)(b - c->bodies)).hash;
    return true;
}

uint64_t pgk_disasm_stale_functions(const struct pgk_disasm_counts *c)
{
    return c->stale;
}

/* ---- by lines ---- */

static uint64_t place(const struct pgk_disasm_counts *c, const struct pgk_sym_frame *f)
{
    return pgk_sample_loc((f->line - f->decl_line) & 0xffff,
                          pgk_discriminator_base(f->discriminator, c->flow_sensitive));
}

struct pgk_disasm_count pgk_disasm_count_frames(struct pgk_disasm_counts *c,
                                                const struct pgk_sym_chain *chain)
{
    c->stack.n = c->found.n = 0;
    for (uint32_t i = chain->count; i > 0; i--) {
        const struct pgk_sym_frame *f = &chain->frames[i - 1];
        const char *name = f->function ? f->function : "";
        push_frame(c, name, strlen(name), place(c, f));
    }
    if (c->failed || !chain->count)
        return (struct pgk_disasm_count){0};
    c->failed |= !pgk_sample_lookup(c->lookup, c->stack.v, c->stack.n, &c->found);
    return count_at(c, c->found.v, c->found.n, place(c, &chain->frames[0]));
}

/* ---- of functions and of all ---- */

struct pgk_disasm_heat pgk_disasm_heat(struct pgk_disasm_counts *c, const char *function)
{
    struct pgk_disasm_heat heat = {0};
    c->stack.n = c->found.n = 0;
    push_frame(c, function, strlen(function), 0);
    c->failed |= !pgk_sample_lookup(c->lookup, c->stack.v, c->stack.n, &c->found);
    heat.profiles = c->found.n;
    for (size_t i = 0; i < c->found.n; i++) {
        const struct pgk_sample_node *n = pgk_sample_node(c->profile, c->found.v[i]);
        heat.samples = pgk_add_saturated(heat.samples, n->total);
        heat.head = pgk_add_saturated(heat.head, n->head);
    }
    if (c->functions_total)
        heat.share = (double)heat.samples / (double)c->functions_total;
    return heat;
}

const struct pgk_sample *pgk_disasm_profile(const struct pgk_disasm_counts *c)
{
    return c->profile;
}

const struct pgk_sample_summary *pgk_disasm_summary(const struct pgk_disasm_counts *c)
{
    return &c->summary;
}

enum pgk_disasm_temperature pgk_disasm_temperature(const struct pgk_disasm_counts *c,
                                                   uint64_t samples)
{
    if (!samples)
        return PGK_DISASM_NEVER;
    if (samples >= c->hot)
        return PGK_DISASM_HOT;
    return samples <= c->cold ? PGK_DISASM_COLD : PGK_DISASM_WARM;
}

unsigned pgk_disasm_marks(const struct pgk_disasm_counts *c, uint64_t samples)
{
    if (!samples)
        return 0;
    unsigned marks = PGK_DISASM_MARKS;
    for (uint64_t least = c->summary.max_count / 2; marks > 1 && samples < least; least /= 4)
        marks--;
    return marks;
}
