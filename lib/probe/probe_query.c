/* Queries of an index. */
#include "probe_index.h"
#include "search.h"

#include <assert.h>
#include <stdio.h>

const char *pgk_probe_type_name(enum pgk_probe_type type)
{
    assert((unsigned)type <= PGK_PROBE_DIRECT_CALL);
    static const char *const names[] = {"Block", "IndirectCall", "DirectCall"};
    return names[type];
}

size_t pgk_probe_count(const struct pgk_probe_index *ix)
{
    return ix->n_probes;
}

size_t pgk_probe_node_count(const struct pgk_probe_index *ix)
{
    return ix->n_nodes;
}

static uint32_t discriminator_of(const struct pgk_probe_index *ix, uint32_t probe)
{
    assert(ix->discriminators.n && ix->discriminators.v[ix->discriminators.n - 1].probe >= probe);
    PGK_SEARCH(from, ix->discriminators.n, mid, ix->discriminators.v[mid].probe < probe)
    return ix->discriminators.v[from].value;
}

struct pgk_probe pgk_probe_get(const struct pgk_probe_index *ix, uint32_t number)
{
    assert(number < ix->n_probes);
    const struct pgk_probe_packed *p = &ix->probes[number];
    return (struct pgk_probe){
        .addr = ix->base + p->addr_off,
        .node = p->node,
        .index = p->bits >> PGK_PROBE_INDEX_SHIFT,
        .discriminator = p->bits & PGK_PROBE_DISCRIMINATOR_BIT ? discriminator_of(ix, number) : 0,
        .type = p->bits & PGK_PROBE_TYPE_BITS,
    };
}

/* The first probe of node `number` or of a later one. */
static uint32_t first_probe(const struct pgk_probe_index *ix, uint32_t number)
{
    PGK_SEARCH(from, ix->n_probes, mid, ix->probes[mid].node < number)
    return (uint32_t)from;
}

struct pgk_probe_node pgk_probe_node_at(const struct pgk_probe_index *ix, uint32_t number)
{
    assert(number < ix->n_nodes);
    const struct pgk_probe_packed_node *n = &ix->nodes[number];
    uint32_t first = first_probe(ix, number);
    return (struct pgk_probe_node){
        .guid = ix->source->descs.v[n->desc].guid,
        .desc = n->desc,
        .parent = n->parent,
        .site = n->site,
        .first_probe = first,
        .probes = first_probe(ix, number + 1) - first,
    };
}

uint32_t pgk_probe_function(const struct pgk_probe_index *ix, uint32_t node)
{
    assert(node < ix->n_nodes);
    return ix->nodes[node].desc;
}

uint32_t pgk_probe_parent(const struct pgk_probe_index *ix, uint32_t node)
{
    assert(node < ix->n_nodes);
    return ix->nodes[node].parent;
}

uint32_t pgk_probe_site(const struct pgk_probe_index *ix, uint32_t node)
{
    assert(node < ix->n_nodes);
    return ix->nodes[node].site;
}

uint32_t pgk_probe_by_address(const struct pgk_probe_index *ix, size_t position)
{
    assert(position < ix->n_probes);
    return ix->order[position];
}

uint64_t pgk_probe_address_at(const struct pgk_probe_index *ix, size_t position)
{
    assert(position < ix->n_probes);
    return ix->base + ix->probes[ix->order[position]].addr_off;
}

size_t pgk_probe_lower_bound(const struct pgk_probe_index *ix, uint64_t addr)
{
    if (addr <= ix->base)
        return 0;
    if (addr - ix->base > ix->span)
        return ix->n_probes;
    uint32_t off = (uint32_t)(addr - ix->base);
    PGK_SEARCH(from, ix->n_probes, mid, ix->probes[ix->order[mid]].addr_off < off)
    return from;
}

size_t pgk_probe_at(const struct pgk_probe_index *ix, uint64_t addr, size_t *first)
{
    size_t at = pgk_probe_lower_bound(ix, addr), n = 0;
    *first = at;
    while (at + n < ix->n_probes && pgk_probe_address_at(ix, at + n) == addr)
        n++;
    return n;
}

uint32_t pgk_probe_call_at(const struct pgk_probe_index *ix, uint64_t addr)
{
    size_t first, n = pgk_probe_at(ix, addr, &first);
    for (size_t i = first; i < first + n; i++)
        if ((ix->probes[ix->order[i]].bits & PGK_PROBE_TYPE_BITS) != PGK_PROBE_BLOCK)
            return ix->order[i];
    return PGK_PROBE_NONE;
}

size_t pgk_probe_context(const struct pgk_probe_index *ix, uint32_t node,
                         struct pgk_probe_frame *frames, size_t max)
{
    assert(node < ix->n_nodes);
    size_t depth = 0;
    for (uint32_t n = node; ix->nodes[n].parent != PGK_PROBE_NONE; n = ix->nodes[n].parent)
        depth++;
    size_t at = depth;
    for (uint32_t n = node; ix->nodes[n].parent != PGK_PROBE_NONE; n = ix->nodes[n].parent)
        if (--at < max)
            frames[at] =
                (struct pgk_probe_frame){ix->nodes[ix->nodes[n].parent].desc, ix->nodes[n].site};
    return depth;
}

uint32_t pgk_probe_next_copy(const struct pgk_probe_index *ix, uint64_t guid, uint32_t after)
{
    uint32_t desc = pgk_probe_desc_by_guid(ix->source, guid);
    if (desc == PGK_PROBE_NONE)
        return PGK_PROBE_NONE;
    for (size_t n = after == PGK_PROBE_NONE ? 0 : (size_t)after + 1; n < ix->n_nodes; n++)
        if (ix->nodes[n].desc == desc)
            return (uint32_t)n;
    return PGK_PROBE_NONE;
}

uint32_t pgk_probe_copies(const struct pgk_probe_index *ix, uint32_t probe)
{
    assert(probe < ix->n_probes);
    uint32_t node = ix->probes[probe].node, bits = ix->probes[probe].bits, copies = 0;
    for (size_t i = first_probe(ix, node); i < ix->n_probes && ix->probes[i].node == node; i++)
        copies += ix->probes[i].bits >> PGK_PROBE_INDEX_SHIFT == bits >> PGK_PROBE_INDEX_SHIFT;
    return copies;
}
