/* The sample profile model: nodes, and adding to them. */
#include "sample_model.h"

#include "hash.h"
#include "intern.h"
#include "sample_recs.h"

#include <assert.h>

int pgk_sample_new(struct pgk_sample **profile, struct pgk_err *err)
{
    struct pgk_sample *p = pgk_mem_zalloc(1, sizeof *p);
    if (!p || !pgk_vec_push(&p->nodes, (struct pgk_sample_node){0})) {
        pgk_mem_free(p);
        return pgk_fail_nomem(err);
    }
    *profile = p;
    return 0;
}

void pgk_sample_close(struct pgk_sample **profile)
{
    struct pgk_sample *p = *profile;
    if (!p)
        return;
    pgk_sample_names_free(&p->names);
    pgk_vec_free(&p->nodes);
    pgk_index_free(&p->index);
    pgk_index_free(&p->paths);
    pgk_vec_free(&p->function_of);
    pgk_rec_heap_free(&p->recs);
    if (p->symbols)
        pgk_intern_free(p->symbols);
    pgk_mem_free(p->symbols);
    pgk_vec_free(&p->origins);
    pgk_intern_free(&p->files);
    pgk_vec_free(&p->rank);
    pgk_vec_free(&p->by_identity);
    pgk_vec_free(&p->by_heat);
    pgk_vec_free(&p->by_age);
    pgk_mem_free(p);
    *profile = NULL;
}

/* ---- nodes ---- */

static uint64_t place_hash(uint32_t parent, uint64_t loc, uint32_t name, uint32_t flags)
{
    uint64_t at = loc ^ (loc >> 29);
    return pgk_hash_pair((uint64_t)parent << 32 | name, at << 1 | (flags & PGK_NODE_CONTEXT));
}

static bool is_at(const struct pgk_sample_node *n, uint32_t parent, uint64_t loc, uint32_t name,
                  uint32_t flags)
{
    return n->name == name && n->loc == loc && n->parent == parent &&
           (n->flags & PGK_NODE_CONTEXT) == flags;
}

/* Reserves space for all that a new node needs, so that a failure leaves the model as it was. */
static uint32_t new_node(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name,
                         uint32_t flags, uint64_t checksum)
{
    if (p->nodes.n >= PGK_INDEX_NONE)
        return 0;
    uint32_t id = (uint32_t)p->nodes.n;
    if (!pgk_vec_push(&p->nodes, (struct pgk_sample_node){.loc = loc, .name = name,
                                                          .parent = parent, .flags = flags,
                                                          .checksum = checksum}))
        return 0;
    if (parent && !(flags & PGK_NODE_CONTEXT)) {
        struct pgk_sample_node *up = &p->nodes.v[parent];
        if (up->last_child)
            p->nodes.v[up->last_child].next = id;
        else
            up->first_child = id;
        up->last_child = id;
    }
    return id;
}

/* The first of the nodes at a place, whatever its checksum, or 0. */
static uint32_t find_at(const struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name,
                        uint32_t flags)
{
    if (!parent)
        return name < p->function_of.n ? p->function_of.v[name] : 0;
    uint64_t hash = place_hash(parent, loc, name, flags);
    PGK_INDEX_FOR (&p->index, hash, id)
        if (is_at(&p->nodes.v[id], parent, loc, name, flags) &&
            !(p->nodes.v[id].flags & PGK_NODE_VARIANT))
            return id;
    return 0;
}

static uint64_t variant_hash(uint32_t first, uint64_t checksum)
{
    return pgk_hash_pair(first, checksum);
}

/* Among the others at the place of `first`; 0: none. */
static uint32_t find_variant(const struct pgk_sample *p, uint32_t first, uint64_t checksum)
{
    const struct pgk_sample_node *f = &p->nodes.v[first];
    if (!f->variant)
        return 0;
    PGK_INDEX_FOR (&p->index, variant_hash(first, checksum), id) {
        const struct pgk_sample_node *n = &p->nodes.v[id];
        if (n->flags & PGK_NODE_VARIANT && n->checksum == checksum &&
            is_at(n, f->parent, f->loc, f->name, f->flags & PGK_NODE_CONTEXT))
            return id;
    }
    return 0;
}

/* The list is in no order. */
static uint32_t new_variant(struct pgk_sample *p, uint32_t first, uint64_t checksum)
{
    struct pgk_sample_node f = p->nodes.v[first];
    uint32_t id = new_node(p, f.parent, f.loc, f.name,
                           (f.flags & PGK_NODE_CONTEXT) | PGK_NODE_VARIANT, checksum);
    if (!id || !pgk_index_add(&p->index, variant_hash(first, checksum), id))
        return 0;
    p->nodes.v[id].variant = f.variant;
    p->nodes.v[first].variant = id;
    p->has_variants = true;
    return id;
}

static bool register_first(struct pgk_sample *p, uint32_t id)
{
    const struct pgk_sample_node *n = &p->nodes.v[id];
    if (n->parent)
        return pgk_index_add(&p->index, place_hash(n->parent, n->loc, n->name, n->flags), id);
    p->function_of.v[n->name] = id;
    return true;
}

static bool reserve_function(struct pgk_sample *p, uint32_t name)
{
    if (name < p->function_of.n)
        return true;
    size_t more = p->names.list.n - p->function_of.n;
    if (!pgk_vec_reserve(&p->function_of, more))
        return false;
    memset(p->function_of.v + p->function_of.n, 0, more * sizeof *p->function_of.v);
    p->function_of.n += more;
    return true;
}

static uint32_t first_node(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name,
                           uint32_t flags, uint64_t checksum)
{
    if (!parent && !reserve_function(p, name))
        return 0;
    uint32_t id = new_node(p, parent, loc, name, flags, checksum);
    return id && register_first(p, id) ? id : 0;
}

uint32_t pgk_sample_child(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name,
                          uint32_t flags, uint64_t checksum, uint32_t hint)
{
    assert(parent < p->nodes.n && name < p->names.list.n && hint < p->nodes.n);
    if (hint && p->nodes.v[hint].checksum == checksum &&
        is_at(&p->nodes.v[hint], parent, loc, name, flags))
        return hint;
    uint32_t first = find_at(p, parent, loc, name, flags);
    if (!first)
        return first_node(p, parent, loc, name, flags, checksum);
    struct pgk_sample_node *n = &p->nodes.v[first];
    if (n->checksum == checksum)
        return first;
    /* A place on the path to a context has no checksum of its own yet. */
    if (flags & PGK_NODE_CONTEXT && !(n->flags & PGK_NODE_TOP) && !n->variant) {
        n->checksum = checksum;
        return first;
    }
    uint32_t id = find_variant(p, first, checksum);
    return id ? id : new_variant(p, first, checksum);
}

/* For building without checksums in mind: the first of those at the place. */
static uint32_t any_child(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name,
                          uint32_t flags)
{
    assert(parent < p->nodes.n && name < p->names.list.n);
    uint32_t id = find_at(p, parent, loc, name, flags);
    return id ? id : first_node(p, parent, loc, name, flags, 0);
}

uint32_t pgk_sample_root(struct pgk_sample *p, uint32_t name)
{
    return any_child(p, 0, 0, name, PGK_NODE_CONTEXT);
}

uint32_t pgk_sample_function(struct pgk_sample *p, uint32_t name)
{
    uint32_t id = pgk_sample_root(p, name);
    if (id)
        pgk_sample_make_top(p, id);
    return id;
}

uint32_t pgk_sample_inlinee(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name)
{
    return any_child(p, parent, loc, name, 0);
}

uint32_t pgk_sample_context(struct pgk_sample *p, uint32_t caller, uint64_t loc, uint32_t name)
{
    return any_child(p, caller, loc, name, PGK_NODE_CONTEXT);
}

static uint32_t build_context(struct pgk_sample *p, const struct pgk_sample_frame *frames, size_t n)
{
    uint32_t id = pgk_sample_root(p, frames[0].name);
    for (size_t i = 1; i < n && id; i++)
        id = pgk_sample_context(p, id, frames[i - 1].loc, frames[i].name);
    return id;
}

struct pgk_sample_path pgk_sample_path(const struct pgk_sample *p,
                                       const struct pgk_sample_frame *frames, size_t n)
{
    struct pgk_sample_path path = {.hash = n};
    for (size_t i = 0; i < n; i++) {
        uint64_t loc = i + 1 < n ? frames[i].loc : 0, other = path.other_hash;
        path.hash = pgk_hash_pair(path.hash,
                                  loc << 1 ^ frames[i].name * UINT64_C(0x9e3779b97f4a7c15));
        other = (other ^ loc ^ (uint64_t)frames[i].name << 24) * UINT64_C(0xd6e8feb86659fd93);
        path.other_hash = other ^ other >> 32;
    }
    path.hash |= 1;
    if (p->paths.slots)
        __builtin_prefetch(&p->paths.slots[pgk_index_tag(path.other_hash) >> p->paths.shift]);
    return path;
}

uint32_t pgk_sample_context_at(struct pgk_sample *p, struct pgk_sample_path path,
                               const struct pgk_sample_frame *frames, size_t n)
{
    assert(n > 0);
    PGK_INDEX_FOR (&p->paths, path.other_hash, id)
        if (p->nodes.v[id].path == path.hash && p->nodes.v[id].name == frames[n - 1].name)
            return id;
    uint32_t id = build_context(p, frames, n);
    if (!id || !pgk_index_add(&p->paths, path.other_hash, id))
        return 0;
    p->nodes.v[id].path = path.hash;
    return id;
}

uint32_t pgk_sample_context_of(struct pgk_sample *p, const struct pgk_sample_frame *frames,
                               size_t n)
{
    return pgk_sample_context_at(p, pgk_sample_path(p, frames, n), frames, n);
}

void pgk_sample_make_top(struct pgk_sample *p, uint32_t node)
{
    assert(node && node < p->nodes.n && p->nodes.v[node].flags & PGK_NODE_CONTEXT);
    p->nodes.v[node].flags |= PGK_NODE_TOP;
}

/* ---- records ---- */

bool pgk_sample_add(struct pgk_sample *p, uint32_t node, uint64_t loc, uint32_t what,
                    uint64_t count)
{
    assert(node && node < p->nodes.n && (what & ~PGK_REC_VTABLE) <= p->names.list.n);
    return pgk_recs_add(&p->recs, &p->nodes.v[node].recs,
                        (struct pgk_sample_rec){.loc = loc, .what = what, .count = count});
}

bool pgk_sample_add_target(struct pgk_sample *p, uint32_t node, uint64_t loc, uint32_t name,
                           uint64_t count)
{
    assert(name); /* 0 would be samples of the line */
    return pgk_sample_add_body(p, node, loc, 0) && pgk_sample_add(p, node, loc, name, count);
}

bool pgk_sample_add_vtable(struct pgk_sample *p, uint32_t node, uint64_t loc, uint32_t name,
                           uint64_t count)
{
    assert(name && !(name & PGK_REC_VTABLE));
    p->has_vtables = true;
    return pgk_sample_add(p, node, loc, name | PGK_REC_VTABLE, count);
}

bool pgk_sample_add_sorted(struct pgk_sample *p, uint32_t node, const struct pgk_sample_rec *v,
                           size_t n, uint64_t weight)
{
    assert(node && node < p->nodes.n);
    return pgk_recs_add_sorted(&p->recs, &p->nodes.v[node].recs, v, n, weight);
}

bool pgk_sample_settle(struct pgk_sample *p, struct pgk_sample_recs *recs)
{
    return pgk_recs_settle(&p->recs, recs);
}

void pgk_sample_clear_recs(struct pgk_sample *p, uint32_t node)
{
    pgk_recs_clear(&p->recs, &p->nodes.v[node].recs);
}

/* ---- the profile as a whole ---- */

static const char *kind_text(bool contexts, bool probes)
{
    if (contexts)
        return probes ? "a context-sensitive profile with probes" : "a context-sensitive profile";
    return probes ? "a profile with probes" : "a profile by lines";
}

int pgk_sample_set_kind(struct pgk_sample *p, bool contexts, bool probes, const char *file,
                        struct pgk_err *err)
{
    if (p->kind.known && (p->kind.contexts != contexts || p->kind.probes != probes))
        return pgk_fail(err, PGK_E_MISMATCH, .file = file, .found = kind_text(contexts, probes),
                        .expected = PGK_F("%s, as the files before it",
                                          kind_text(p->kind.contexts, p->kind.probes)),
                        .hint = "merge profiles of one kind; pgokit convert --layout=flat makes "
                                "one without contexts");
    p->kind = (struct pgk_sample_kind){.known = true, .contexts = contexts, .probes = probes};
    return 0;
}

bool pgk_sample_add_symbol(struct pgk_sample *p, const char *s, size_t len)
{
    if (!p->symbols)
        p->symbols = pgk_mem_zalloc(1, sizeof *p->symbols);
    p->has_symbols = p->symbols != NULL;
    return p->symbols && pgk_intern(p->symbols, s, len) != PGK_INDEX_NONE;
}

size_t pgk_sample_unspelled_symbols(const struct pgk_sample *p)
{
    uint64_t guid;
    size_t n = 0;
    for (size_t i = 1; p->symbols && i < p->symbols->strs.n; i++)
        n += pgk_sample_name_is_guid(p->symbols->strs.v[i].s, p->symbols->strs.v[i].len, &guid);
    return n;
}
