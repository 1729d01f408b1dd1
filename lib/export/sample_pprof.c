/* A sample profile as profile.proto of pprof, gzipped: a sample per line that has samples.
 * Inlinees share the location of the function they are inlined into. Line numbers are the
 * profile's: offsets from the first lines of functions, or probe ids. */
#include "sample_export.h"

#include "deflate_out.h"
#include "hash.h"
#include "pgokit/human.h"
#include "proto_out.h"

/* A place in a node of the tree. */
struct location {
    uint32_t node, line;
};

struct pprof {
    struct pgk_sample_tree *tree;
    struct pgk_proto all, part, inner;
    PGK_VEC(struct location) locations; /* id - 1 */
    struct pgk_index index;
};

static uint64_t text(struct pprof *p, const char *t)
{
    uint32_t id = pgk_intern_cstr(&p->tree->strings, t);
    p->all.full |= id == PGK_INDEX_NONE;
    return id;
}

/* Values are signed there. */
static uint64_t value(uint64_t v)
{
    return v < INT64_MAX ? v : INT64_MAX;
}

static uint64_t location(struct pprof *p, uint32_t node, uint64_t loc)
{
    struct location l = {node, pgk_sample_line(loc)};
    uint64_t hash = pgk_hash_pair(l.node, l.line);
    PGK_INDEX_FOR (&p->index, hash, i)
        if (p->locations.v[i].node == l.node && p->locations.v[i].line == l.line)
            return i + 1;
    if (p->locations.n >= PGK_INDEX_NONE || !pgk_vec_push(&p->locations, l) ||
        !pgk_index_add(&p->index, hash, (uint32_t)p->locations.n - 1))
        p->all.full = true;
    return p->locations.n;
}

/* The node outside of which the code of `node` is called rather than inlined. */
static uint32_t outermost(const struct pgk_sample_tree *t, uint32_t node)
{
    while (!t->nodes.v[node].context)
        node = t->nodes.v[node].parent;
    return node;
}

static void put_sample(struct pprof *p, uint32_t node, const struct pgk_sample_rec *r)
{
    const struct pgk_sample_tree *t = p->tree;
    uint64_t loc = r->loc;
    for (uint32_t at = node; at;) {
        pgk_proto_varint(&p->inner, location(p, at, loc));
        uint32_t context = outermost(t, at);
        loc = t->nodes.v[context].loc;
        at = t->nodes.v[context].parent;
    }
    pgk_proto_message(&p->part, SAMPLE_LOCATION_ID, &p->inner);
    pgk_proto_varint(&p->inner, value(r->count));
    pgk_proto_message(&p->part, SAMPLE_VALUE, &p->inner);
    pgk_proto_message(&p->all, PROFILE_SAMPLE, &p->part);
}

static void put_samples(struct pprof *p)
{
    for (uint32_t n = 1; n < p->tree->nodes.n; n++) {
        const struct pgk_sample_recs *recs = &pgk_tree_now(p->tree, n)->recs;
        for (uint32_t r = 0; r < recs->n; r++)
            if (recs->v[r].what == PGK_REC_BODY && recs->v[r].count)
                put_sample(p, n, &recs->v[r]);
    }
}

static void put_line(struct pprof *p, uint32_t node, uint32_t line)
{
    pgk_proto_number(&p->inner, LINE_FUNCTION_ID, p->tree->nodes.v[node].func + 1);
    pgk_proto_number(&p->inner, LINE_LINE, line);
    pgk_proto_message(&p->part, LOCATION_LINE, &p->inner);
}

static void put_locations(struct pprof *p)
{
    const struct pgk_sample_tree_node *nodes = p->tree->nodes.v;
    for (size_t i = 0; i < p->locations.n; i++) {
        uint32_t node = p->locations.v[i].node;
        pgk_proto_number(&p->part, LOCATION_ID, i + 1);
        put_line(p, node, p->locations.v[i].line);
        for (; !nodes[node].context; node = nodes[node].parent)
            put_line(p, nodes[node].parent, pgk_sample_line(nodes[node].loc));
        pgk_proto_message(&p->all, PROFILE_LOCATION, &p->part);
    }
}

static void put_functions(struct pprof *p)
{
    for (size_t i = 0; i < p->tree->funcs.n; i++) {
        const struct pgk_sample_func *f = &p->tree->funcs.v[i];
        pgk_proto_number(&p->part, FUNCTION_ID, i + 1);
        pgk_proto_number(&p->part, FUNCTION_NAME, f->name);
        pgk_proto_number(&p->part, FUNCTION_SYSTEM_NAME, f->linkage ? f->linkage : f->name);
        pgk_proto_message(&p->all, PROFILE_FUNCTION, &p->part);
    }
}

static void put_strings(struct pprof *p)
{
    const struct pgk_intern *strings = &p->tree->strings;
    pgk_proto_bytes(&p->all, PROFILE_STRING_TABLE, "", 0);
    for (uint32_t id = 1; id < strings->strs.n; id++)
        pgk_proto_bytes(&p->all, PROFILE_STRING_TABLE, pgk_intern_str(strings, id),
                        pgk_intern_len(strings, id));
}

static void write_gzip(void *sink, const uint8_t *bytes, size_t n)
{
    pgk_sink_bytes(sink, bytes, n);
}

static int write_profile(struct pprof *p, const char *title, struct pgk_sink *out,
                         struct pgk_err *err)
{
    char safe[1024];
    pgk_proto_number(&p->part, VALUE_TYPE_TYPE, text(p, "samples"));
    pgk_proto_number(&p->part, VALUE_TYPE_UNIT, text(p, "count"));
    pgk_proto_message(&p->all, PROFILE_SAMPLE_TYPE, &p->part);
    put_samples(p);
    put_locations(p);
    put_functions(p);
    if (title)
        pgk_proto_number(&p->all, PROFILE_COMMENT,
                         text(p, pgk_human_text(safe, sizeof safe, title)));
    put_strings(p);
    if (p->all.full || p->part.full || p->inner.full)
        return pgk_fail_nomem(err);
    return pgk_deflate(p->all.bytes.v, p->all.bytes.n, true, write_gzip, out, err);
}

int pgk_sample_pprof(struct pgk_sample_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct pprof p = {.tree = &s->tree};
    int status = write_profile(&p, s->opts->title, out, err);
    pgk_vec_free(&p.all.bytes);
    pgk_vec_free(&p.part.bytes);
    pgk_vec_free(&p.inner.bytes);
    pgk_vec_free(&p.locations);
    pgk_index_free(&p.index);
    return status;
}
