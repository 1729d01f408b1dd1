/* The size of the code of a function. docs/formats/profile-generation.md section 7 */
#include "function_sizes.h"

#include "discriminator.h"
#include "source_frames.h"
#include "u64_set.h"

uint64_t pgk_call_site_hash(struct pgk_sample *p, uint32_t name, uint64_t loc)
{
    uint64_t site = (uint64_t)pgk_sample_discriminator(loc) << 32 | pgk_sample_line(loc);
    return pgk_sample_names_guid(&p->names, name) + (site << 5) + site;
}

static uint64_t place_hash(uint32_t parent, uint64_t loc, uint32_t name)
{
    return ((uint64_t)parent << 32 | name) + (loc ^ loc >> 29) * UINT64_C(0xd6e8feb86659fd93);
}

uint32_t pgk_function_sizes_child(const struct pgk_function_sizes *s, uint32_t parent,
                                  uint64_t loc, uint32_t name)
{
    PGK_INDEX_FOR (&s->index, place_hash(parent, loc, name), i) {
        const struct pgk_size_node *n = &s->nodes.v[i];
        if (n->parent == parent && n->loc == loc && n->name == name)
            return i;
    }
    return 0;
}

/* 0 when out of memory. */
static uint32_t need_child(struct pgk_function_sizes *s, uint32_t parent, uint64_t loc,
                           uint32_t name)
{
    uint32_t id = pgk_function_sizes_child(s, parent, loc, name);
    if (id || !name)
        return id;
    struct pgk_size_node n = {.loc = loc, .name = name, .parent = parent,
                              .hash = pgk_call_site_hash(s->p, name, loc)};
    id = (uint32_t)s->nodes.n;
    if (!pgk_vec_push(&s->nodes, n) || !pgk_index_add(&s->index, place_hash(parent, loc, name), id))
        return 0;
    struct pgk_size_node *up = &s->nodes.v[parent];
    if (!up->first_child || n.hash < s->nodes.v[up->first_child].hash)
        up->first_child = id;
    return id;
}

int pgk_function_sizes_open(struct pgk_function_sizes *s, struct pgk_sample *p,
                            struct pgk_err *err)
{
    *s = (struct pgk_function_sizes){.p = p};
    return pgk_vec_push(&s->nodes, (struct pgk_size_node){0}) ? 0 : pgk_fail_nomem(err);
}

void pgk_function_sizes_close(struct pgk_function_sizes *s)
{
    pgk_vec_free(&s->nodes);
    pgk_index_free(&s->index);
}

/* ---- code ---- */

struct code {
    struct pgk_function_sizes *sizes;
    struct pgk_gen_binary *b;
    bool *has_profile; /* by name */
    size_t n_names;
    uint32_t first; /* of the functions with code, by hash; 0: none yet */
    bool *sampled; /* by function */
    pgk_addr_vec addrs; /* of instructions */
    struct pgk_sym_chain *chains;
    struct pgk_arena arena;
    struct pgk_frame_names names;
};

static bool list_profiles(struct code *c)
{
    const struct pgk_sample *p = c->sizes->p;
    c->n_names = p->names.list.n;
    if (!(c->has_profile = pgk_mem_zalloc(c->n_names + 1, sizeof *c->has_profile)))
        return false;
    for (size_t i = 1; i < p->nodes.n; i++)
        if (p->nodes.v[i].flags & PGK_NODE_TOP)
            c->has_profile[p->nodes.v[i].name] = true;
    return true;
}

/* Sizes are asked for of functions with a profile; where nothing is known of one, LLVM takes the
 * size of the first function in its tree. */
static bool is_wanted(const struct code *c, uint32_t name)
{
    return name == c->first || (name < c->n_names && c->has_profile[name]);
}

static void note_first(struct code *c, uint32_t name)
{
    struct pgk_sample *p = c->sizes->p;
    if (!c->first || pgk_call_site_hash(p, name, 0) < pgk_call_site_hash(p, c->first, 0))
        c->first = name;
}

static bool list_code(struct code *c)
{
    const struct pgk_functions *f = &c->b->functions;
    for (size_t i = 0; i < f->ranges.n; i++) {
        const struct pgk_function_range *r = &f->ranges.v[i];
        if (c->sampled[r->function] &&
            !pgk_code_list(&c->b->code, r->low, r->high - 1, &c->addrs))
            return false;
    }
    return true;
}

static uint64_t call_site(const struct code *c, const struct pgk_sym_frame *f)
{
    return c->b->index ? pgk_sample_loc(pgk_discriminator_probe(f->discriminator), 0)
                       : pgk_sample_loc(pgk_frame_offset(f), f->discriminator);
}

/* Sets the node of an instruction; 0 if it is not wanted. False when out of memory. */
static bool find_node(struct code *c, const struct pgk_sym_chain *chain, uint32_t *node)
{
    uint32_t n = pgk_frame_count(chain);
    *node = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct pgk_sym_frame *f = &chain->frames[chain->count - n + i];
        uint32_t name = pgk_frame_name(&c->names, f->function);
        if (!i && name && !is_wanted(c, name))
            return true;
        *node = name ? need_child(c->sizes, *node, i ? call_site(c, f) : 0, name) : 0;
        if (!*node)
            return false;
    }
    return true;
}

static bool note_functions(struct code *c)
{
    const struct pgk_sym_frame *last = NULL;
    for (size_t i = 0; i < c->addrs.n; i++) {
        const struct pgk_sym_chain *chain = &c->chains[i];
        uint32_t n = chain->frames != last ? pgk_frame_count(chain) : 0;
        last = chain->frames;
        if (!n)
            continue;
        uint32_t name = pgk_frame_name(&c->names, chain->frames[chain->count - n].function);
        if (!name)
            return false;
        note_first(c, name);
    }
    return true;
}

/* Copies are nested: what comes after the code of a copy is one in it, or one that it is in. */
struct open_copy {
    const struct pgk_sym_frame *frames;
    uint32_t node;
};

static bool add_code(struct code *c)
{
    enum { DEPTH = 16 };
    struct open_copy open[DEPTH] = {0}; /* by number of frames; deeper ones share places */
    for (size_t i = 0; i < c->addrs.n; i++) {
        const struct pgk_sym_chain *chain = &c->chains[i];
        struct open_copy *at = &open[chain->count % DEPTH];
        if (chain->frames != at->frames) {
            at->frames = chain->frames;
            if (!find_node(c, chain, &at->node))
                return false;
        }
        if (!at->node)
            continue;
        uint32_t *size = &c->sizes->nodes.v[at->node].size;
        *size += !*size;
        *size += pgk_code_mark(&c->b->code, c->addrs.v[i]) & PGK_CODE_LENGTH;
    }
    return true;
}

/* A copy of a function, with the call site that leads out of it. */
struct copy {
    uint32_t name, parent, site;
    bool has_probes;
};

static bool list_copies(struct code *c, struct copy *copies, uint32_t *names)
{
    const struct pgk_probe_index *index = c->b->index;
    for (uint32_t i = 0; i < pgk_probe_node_count(index); i++) {
        uint32_t desc = pgk_probe_function(index, i);
        if (!names[desc]) {
            struct pgk_probe_desc d = pgk_probe_desc_at(c->b->probes, desc);
            names[desc] = pgk_sample_name(c->sizes->p, d.name, d.name_len);
        }
        if (!names[desc])
            return false;
        copies[i] = (struct copy){names[desc], pgk_probe_parent(index, i),
                                  pgk_probe_site(index, i), false};
    }
    for (uint32_t i = 0; i < pgk_probe_count(index); i++)
        copies[pgk_probe_get(index, i).node].has_probes = true;
    return true;
}

static bool add_copies(struct code *c, const struct copy *copies, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = 0, site = 0;
        if (!copies[i].has_probes || !is_wanted(c, copies[i].name))
            continue;
        for (uint32_t at = i; at != PGK_PROBE_NONE; at = copies[at].parent) {
            node = need_child(c->sizes, node, pgk_sample_loc(site, 0), copies[at].name);
            if (!node)
                return false;
            site = copies[at].site;
        }
        if (!c->sizes->nodes.v[node].size)
            c->sizes->nodes.v[node].size = 1;
    }
    return true;
}

/* Copies of which the optimiser left nothing but their probes have no code. */
static bool add_all(struct code *c)
{
    size_t n = c->b->index ? pgk_probe_node_count(c->b->index) : 0;
    struct copy *copies = pgk_mem_alloc(n + 1, sizeof *copies);
    uint32_t *names = n ? pgk_mem_zalloc(pgk_probe_descs(c->b->probes) + 1, sizeof *names) : NULL;
    bool ok = copies && (names || !n) && (!n || list_copies(c, copies, names)) && note_functions(c);
    for (size_t i = 0; ok && i < n; i++)
        if (copies[i].has_probes)
            note_first(c, copies[i].name);
    ok = ok && add_code(c) && add_copies(c, copies, (uint32_t)n);
    pgk_mem_free(copies);
    pgk_mem_free(names);
    return ok;
}

static int read_copies(struct code *c, unsigned threads, struct pgk_err *err)
{
    c->addrs.n = pgk_u64_set(c->addrs.v, c->addrs.n);
    c->chains = pgk_mem_zalloc(c->addrs.n + 1, sizeof *c->chains);
    if (!c->chains)
        return pgk_fail_nomem(err);
    return c->b->sym ? pgk_symbolise_copies(c->b->sym, c->addrs.v, c->addrs.n, threads, &c->arena,
                                            c->chains, err)
                     : 0;
}

int pgk_function_sizes_add(struct pgk_function_sizes *sizes, struct pgk_gen_binary *binary,
                           unsigned threads, struct pgk_err *err)
{
    struct code c = {.sizes = sizes, .b = binary, .names = {.p = sizes->p}};
    c.sampled = pgk_gen_sampled(binary, &binary->functions, binary->index != NULL);
    int status = c.sampled && list_profiles(&c) && list_code(&c) ? read_copies(&c, threads, err)
                                                                 : pgk_fail_nomem(err);
    if (!status && !add_all(&c))
        status = pgk_fail_nomem(err);
    pgk_mem_free(c.sampled);
    pgk_mem_free(c.has_profile);
    pgk_vec_free(&c.addrs);
    pgk_mem_free(c.chains);
    pgk_arena_free(&c.arena);
    pgk_frame_names_free(&c.names);
    return status;
}
