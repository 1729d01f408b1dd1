/* profile.proto of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto),
 * gzipped: a sample per context with a value per weight. Frames that are inlined share the
 * location of the function they are inlined into. */
#include "heap_export.h"

#include "deflate_out.h"
#include "heap_view.h"
#include "pgokit/human.h"
#include "proto_out.h"

struct pprof {
    struct pgk_stacks_of *s;
    struct pgk_proto all, part, inner;
    struct pgk_stack_tree locations; /* a node: a location, as the path of its frames */
    PGK_VEC(uint32_t) chain;         /* frames of the current location, leaf first */
    PGK_VEC(uint32_t) modules;       /* text ids; mapping id - 1 */
};

static uint64_t text(struct pprof *p, const char *t)
{
    uint32_t id = pgk_intern_cstr(&p->s->frames.strings, t);
    p->all.full |= id == PGK_INDEX_NONE;
    return id;
}

/* Values are signed there. */
static uint64_t value(uint64_t v)
{
    return v < INT64_MAX ? v : INT64_MAX;
}

static void put_sample_types(struct pprof *p)
{
    for (enum pgk_heap_weight w = 0; w < PGK_WEIGHTS; w++) {
        pgk_proto_number(&p->part, VALUE_TYPE_TYPE, text(p, pgk_weight_texts[w].type));
        pgk_proto_number(&p->part, VALUE_TYPE_UNIT, text(p, pgk_weight_texts[w].unit));
        pgk_proto_message(&p->all, PROFILE_SAMPLE_TYPE, &p->part);
    }
    pgk_proto_number(&p->all, PROFILE_DEFAULT_SAMPLE_TYPE,
                     text(p, pgk_weight_texts[PGK_WEIGHT_BYTES].type));
}

/* The location of the frame at `*node` with what it is inlined into; moves on to the first
 * frame that is not part of it. Its path in the tree has the outermost function first. */
static uint32_t next_location(struct pprof *p, uint32_t *node)
{
    const struct pgk_stack_node *nodes = p->s->frames.stacks.nodes.v;
    uint32_t location = 0;
    bool inlined = true;
    p->chain.n = 0;
    for (; *node && inlined; *node = nodes[*node].parent) {
        inlined = pgk_frames_at(&p->s->frames, *node)->inlined;
        if (!pgk_vec_push(&p->chain, nodes[*node].frame))
            return PGK_NODE_NONE;
    }
    for (size_t i = p->chain.n; i-- > 0 && location != PGK_NODE_NONE;)
        location = pgk_stack_push(&p->locations, location, p->chain.v[i]);
    return location;
}

static void put_labels(struct pprof *p, const struct pgk_mib *m)
{
    const char *label = pgk_mib_label_name(pgk_view_label(m, p->s->opts->info));
    if (*label) {
        pgk_proto_number(&p->inner, LABEL_KEY, text(p, "label"));
        pgk_proto_number(&p->inner, LABEL_STR, text(p, label));
        pgk_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
    }
    if (m->v[PGK_MIB_AllocCount]) { /* the size of an object, as Go's heap profiles have it */
        pgk_proto_number(&p->inner, LABEL_KEY, text(p, "bytes"));
        pgk_proto_number(&p->inner, LABEL_NUM,
                         value(m->v[PGK_MIB_TotalSize] / m->v[PGK_MIB_AllocCount]));
        pgk_proto_number(&p->inner, LABEL_NUM_UNIT, text(p, "bytes"));
        pgk_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
    }
}

static int put_samples(struct pprof *p, struct pgk_err *err)
{
    for (size_t c = 0; c < pgk_heap_contexts(p->s->heap); c++) {
        const struct pgk_mib *m = pgk_heap_mib(p->s->heap, c, PGK_MIB_ROOM);
        for (uint32_t node = p->s->nodes[c]; node;) {
            uint32_t location = next_location(p, &node);
            if (location == PGK_NODE_NONE)
                return pgk_fail_nomem(err);
            pgk_proto_varint(&p->inner, location);
        }
        pgk_proto_message(&p->part, SAMPLE_LOCATION_ID, &p->inner);
        for (enum pgk_heap_weight w = 0; w < PGK_WEIGHTS; w++)
            pgk_proto_varint(&p->inner, value(pgk_heap_weight(m, w)));
        pgk_proto_message(&p->part, SAMPLE_VALUE, &p->inner);
        put_labels(p, m);
        pgk_proto_message(&p->all, PROFILE_SAMPLE, &p->part);
    }
    return 0;
}

static uint64_t mapping(struct pprof *p, uint32_t module)
{
    size_t i = 0;
    while (i < p->modules.n && p->modules.v[i] != module)
        i++;
    if (i == p->modules.n && !pgk_vec_push(&p->modules, module))
        p->all.full = true;
    return i + 1;
}

/* Every node of the tree is a location, also where it is only the outer part of one: readers
 * do not mind locations without a sample. Lines stand leaf first. */
static void put_locations(struct pprof *p)
{
    const struct pgk_heap_frames *t = &p->s->frames;
    for (uint32_t l = 1; l < p->locations.nodes.n; l++) {
        const struct pgk_view_frame *first = &t->frames.v[p->locations.nodes.v[l].frame];
        pgk_proto_number(&p->part, LOCATION_ID, l);
        if (first->is_address) {
            pgk_proto_number(&p->part, LOCATION_MAPPING_ID,
                             mapping(p, t->funcs.v[first->func].module));
            pgk_proto_number(&p->part, LOCATION_ADDRESS, first->address);
            pgk_proto_message(&p->all, PROFILE_LOCATION, &p->part);
            continue;
        }
        for (uint32_t n = l; n; n = p->locations.nodes.v[n].parent) {
            const struct pgk_view_frame *frame = &t->frames.v[p->locations.nodes.v[n].frame];
            pgk_proto_number(&p->inner, LINE_FUNCTION_ID, frame->func + 1);
            pgk_proto_number(&p->inner, LINE_LINE, frame->line);
            pgk_proto_number(&p->inner, LINE_COLUMN, frame->column);
            pgk_proto_message(&p->part, LOCATION_LINE, &p->inner);
        }
        pgk_proto_message(&p->all, PROFILE_LOCATION, &p->part);
    }
}

static void put_functions(struct pprof *p)
{
    for (size_t i = 0; i < p->s->frames.funcs.n; i++) {
        const struct pgk_view_func *f = &p->s->frames.funcs.v[i];
        if (f->module)
            continue;
        pgk_proto_number(&p->part, FUNCTION_ID, i + 1);
        pgk_proto_number(&p->part, FUNCTION_NAME, f->name);
        pgk_proto_number(&p->part, FUNCTION_SYSTEM_NAME, f->linkage ? f->linkage : f->name);
        pgk_proto_number(&p->part, FUNCTION_FILENAME, f->file);
        pgk_proto_number(&p->part, FUNCTION_START_LINE, f->decl_line);
        pgk_proto_message(&p->all, PROFILE_FUNCTION, &p->part);
    }
}

static void put_mappings(struct pprof *p)
{
    for (size_t i = 0; i < p->modules.n; i++) {
        pgk_proto_number(&p->part, MAPPING_ID, i + 1);
        pgk_proto_number(&p->part, MAPPING_BUILD_ID, p->modules.v[i]);
        pgk_proto_message(&p->all, PROFILE_MAPPING, &p->part);
    }
}

static void put_strings(struct pprof *p)
{
    const struct pgk_intern *strings = &p->s->frames.strings;
    pgk_proto_bytes(&p->all, PROFILE_STRING_TABLE, "", 0);
    for (uint32_t id = 1; id < strings->strs.n; id++)
        pgk_proto_bytes(&p->all, PROFILE_STRING_TABLE, pgk_intern_str(strings, id),
                        pgk_intern_len(strings, id));
}

static void write_gzip(void *sink, const uint8_t *bytes, size_t n)
{
    pgk_sink_bytes(sink, bytes, n);
}

static int write_profile(struct pprof *p, struct pgk_sink *out, struct pgk_err *err)
{
    char title[1024];
    if (!pgk_stack_tree_init(&p->locations))
        return pgk_fail_nomem(err);
    put_sample_types(p);
    PGK_TRY(put_samples(p, err));
    put_locations(p);
    put_functions(p);
    put_mappings(p);
    if (p->s->opts->title)
        pgk_proto_number(&p->all, PROFILE_COMMENT,
                         text(p, pgk_human_text(title, sizeof title, p->s->opts->title)));
    put_strings(p);
    if (p->all.full)
        return pgk_fail_nomem(err);
    return pgk_deflate(p->all.bytes.v, p->all.bytes.n, true, write_gzip, out, err);
}

int pgk_heap_pprof(struct pgk_stacks_of *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct pprof p = {.s = s};
    int status = write_profile(&p, out, err);
    pgk_vec_free(&p.all.bytes);
    pgk_vec_free(&p.part.bytes);
    pgk_vec_free(&p.inner.bytes);
    pgk_vec_free(&p.chain);
    pgk_vec_free(&p.modules);
    pgk_stack_tree_free(&p.locations);
    return status;
}
