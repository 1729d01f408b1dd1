/* Walking sample profiles: the public side of the finished model. */
#include "hash.h"
#include "opts.h"
#include "sample_origin.h"

static bool is_node(const struct pgk_sample *p, uint32_t node)
{
    return p->finished && node && node < p->nodes.n;
}

static const char *spelling(const struct pgk_sample *p, uint32_t name)
{
    const char *s = p->names.list.v[name].s;
    return s ? s : "";
}

/* Only for a name without spelling, because the MD5 of all others takes time. */
static uint64_t guid_alone(const struct pgk_sample *p, uint32_t name)
{
    return p->names.list.v[name].s ? 0 : p->names.list.v[name].guid;
}

uint64_t pgk_sample_guid(const char *name)
{
    uint64_t guid;
    size_t len = strlen(name);
    return pgk_sample_name_is_guid(name, len, &guid) ? guid : pgk_md5_low64(name, len);
}

size_t pgk_sample_functions(const struct pgk_sample *p)
{
    return p->by_heat.n;
}

uint32_t pgk_sample_function_at(const struct pgk_sample *p, size_t i)
{
    return i < p->by_heat.n ? p->by_heat.v[i] : 0;
}

uint32_t pgk_sample_find_function(const struct pgk_sample *p, const char *name)
{
    uint32_t id = pgk_sample_names_find(&p->names, name, strlen(name));
    uint32_t node = id && id < p->function_of.n ? p->function_of.v[id] : 0;
    /* Of several checksums the one that was kept. */
    while (node && p->finished && !pgk_sample_is_top(p, node))
        node = p->nodes.v[node].variant;
    return is_node(p, node) ? node : 0;
}

bool pgk_sample_get(const struct pgk_sample *p, uint32_t node, struct pgk_sample_function *f)
{
    if (!is_node(p, node))
        return false;
    const struct pgk_sample_node *n = &p->nodes.v[node];
    struct pgk_sample_function result = {
        .name = spelling(p, n->name),
        .guid = guid_alone(p, n->name),
        .total = n->total,
        .head = n->head,
        .checksum = n->checksum,
        .attributes = n->attributes,
        .caller = n->parent,
        .line = pgk_sample_line(n->loc),
        .discriminator = pgk_sample_discriminator(n->loc),
        .inlined = n->parent && !(n->flags & PGK_NODE_CONTEXT),
        .file = pgk_sample_file(p, n->name),
        .first_run = pgk_sample_origin(p, n->name).first_run,
    };
    PGK_RESULT_GIVE(f, &result);
    return true;
}

uint32_t pgk_sample_first_inlinee(const struct pgk_sample *p, uint32_t node)
{
    return is_node(p, node) ? pgk_sample_first(p, node) : 0;
}

uint32_t pgk_sample_next_inlinee(const struct pgk_sample *p, uint32_t inlinee)
{
    return is_node(p, inlinee) ? pgk_sample_next(p, inlinee) : 0;
}

bool pgk_sample_next_record(const struct pgk_sample *p, struct pgk_sample_record *r)
{
    if (!is_node(p, r->node) || r->position >= p->nodes.v[r->node].recs.n)
        return false;
    const struct pgk_sample_rec *rec = &p->nodes.v[r->node].recs.v[r->position];
    uint32_t name = pgk_rec_name(rec);
    struct pgk_sample_record result = {
        .node = r->node,
        .position = r->position + 1,
        .kind = pgk_rec_is_vtable(rec)   ? PGK_SAMPLE_TYPE
                : pgk_rec_is_target(rec) ? PGK_SAMPLE_TARGET
                                         : PGK_SAMPLE_LINE,
        .line = pgk_sample_line(rec->loc),
        .discriminator = pgk_sample_discriminator(rec->loc),
        .count = rec->count,
        .name = name ? spelling(p, name) : "",
        .guid = name ? guid_alone(p, name) : 0,
    };
    PGK_RESULT_GIVE(r, &result);
    return true;
}

const char *pgk_sample_symbol_at(const struct pgk_sample *p, size_t i)
{
    return p->symbols && i + 1 < p->symbols->strs.n ? pgk_intern_str(p->symbols, (uint32_t)i + 1)
                                                    : NULL;
}
