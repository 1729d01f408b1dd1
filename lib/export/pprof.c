/* profile.proto of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto),
 * gzipped: a sample per stack with a value per type. Frames that are inlined share the location of
 * the function they are inlined into. */
#include "exporters.h"

#include "deflate_out.h"
#include "pgokit/human.h"
#include "proto_out.h"

enum {
#define PGK_PPROF_FIELD(name, number) name = (number),
#include "pprof.def"
#undef PGK_PPROF_FIELD
};

struct pprof {
    struct pgk_stacks *s;
    struct pgk_proto all, part, inner;
    PGK_VEC(uint32_t) modules; /* text ids; mapping id - 1 */
};

static uint64_t text(struct pprof *p, const char *t)
{
    uint32_t id = pgk_intern_cstr(&p->s->strings, t);
    p->all.full |= id == PGK_INDEX_NONE;
    return id;
}

/* Values are signed there. */
static uint64_t value(uint64_t v)
{
    return v < INT64_MAX ? v : INT64_MAX;
}

/* Of several types the first is what pprof shows unasked. */
static void put_sample_types(struct pprof *p)
{
    for (size_t t = 0; t < p->s->n_types; t++) {
        pgk_proto_number(&p->part, VALUE_TYPE_TYPE, text(p, p->s->types[t].type));
        pgk_proto_number(&p->part, VALUE_TYPE_UNIT, text(p, p->s->types[t].unit));
        pgk_proto_message(&p->all, PROFILE_SAMPLE_TYPE, &p->part);
    }
    if (p->s->n_types > 1)
        pgk_proto_number(&p->all, PROFILE_DEFAULT_SAMPLE_TYPE, text(p, p->s->types[0].type));
}

/* As heap profiles of Go have it. */
static void put_period(struct pprof *p)
{
    if (!p->s->sample_bytes)
        return;
    pgk_proto_number(&p->part, VALUE_TYPE_TYPE, text(p, "space"));
    pgk_proto_number(&p->part, VALUE_TYPE_UNIT, text(p, "bytes"));
    pgk_proto_message(&p->all, PROFILE_PERIOD_TYPE, &p->part);
    pgk_proto_number(&p->all, PROFILE_PERIOD, value(p->s->sample_bytes));
    pgk_proto_number(&p->all, PROFILE_COMMENT,
                     text(p, "sampled: values are estimates of all objects and accesses"));
}

static void put_labels(struct pprof *p, const struct pgk_weighted_stack *stack)
{
    if (*stack->label) {
        pgk_proto_number(&p->inner, LABEL_KEY, text(p, "label"));
        pgk_proto_number(&p->inner, LABEL_STR, text(p, stack->label));
        pgk_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
    }
    if (stack->has_object_bytes) { /* as Go's heap profiles have it */
        pgk_proto_number(&p->inner, LABEL_KEY, text(p, "bytes"));
        pgk_proto_number(&p->inner, LABEL_NUM, value(stack->object_bytes));
        pgk_proto_number(&p->inner, LABEL_NUM_UNIT, text(p, "bytes"));
        pgk_proto_message(&p->part, SAMPLE_LABEL, &p->inner);
    }
}

static void put_samples(struct pprof *p)
{
    const struct pgk_stack_node *paths = p->s->paths.nodes.v;
    for (size_t i = 0; i < p->s->stacks.n; i++) {
        for (uint32_t at = p->s->stacks.v[i].path; at; at = paths[at].parent)
            pgk_proto_varint(&p->inner, paths[at].frame);
        pgk_proto_message(&p->part, SAMPLE_LOCATION_ID, &p->inner);
        for (size_t t = 0; t < p->s->n_types; t++)
            pgk_proto_varint(&p->inner, value(pgk_stacks_value(p->s, i, t)));
        pgk_proto_message(&p->part, SAMPLE_VALUE, &p->inner);
        put_labels(p, &p->s->stacks.v[i]);
        pgk_proto_message(&p->all, PROFILE_SAMPLE, &p->part);
    }
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

static void put_address(struct pprof *p, uint32_t module, uint64_t address)
{
    pgk_proto_number(&p->part, LOCATION_MAPPING_ID, mapping(p, module));
    pgk_proto_number(&p->part, LOCATION_ADDRESS, address);
}

static void put_frame(struct pprof *p, const struct pgk_stack_frame *frame)
{
    uint32_t module = p->s->funcs.v[frame->func].module;
    if (module) {
        put_address(p, module, frame->address);
        return;
    }
    pgk_proto_number(&p->inner, LINE_FUNCTION_ID, frame->func + 1);
    pgk_proto_number(&p->inner, LINE_LINE, frame->line);
    pgk_proto_number(&p->inner, LINE_COLUMN, frame->column);
    pgk_proto_message(&p->part, LOCATION_LINE, &p->inner);
}

/* Also those that no sample has: readers do not mind them. */
static void put_locations(struct pprof *p)
{
    for (size_t l = 1; l < p->s->locations.n; l++) {
        const struct pgk_stack_location *location = &p->s->locations.v[l];
        pgk_proto_number(&p->part, LOCATION_ID, l);
        if (location->module)
            put_address(p, location->module, location->address);
        for (uint32_t i = 0; i < location->n; i++)
            put_frame(p, &p->s->frames.v[p->s->frames_of.v[location->first + i]]);
        pgk_proto_message(&p->all, PROFILE_LOCATION, &p->part);
    }
}

static void put_functions(struct pprof *p)
{
    for (size_t i = 0; i < p->s->funcs.n; i++) {
        const struct pgk_stack_func *f = &p->s->funcs.v[i];
        if (f->module)
            continue;
        pgk_proto_number(&p->part, FUNCTION_ID, i + 1);
        pgk_proto_number(&p->part, FUNCTION_NAME, f->name);
        pgk_proto_number(&p->part, FUNCTION_SYSTEM_NAME, f->linkage ? f->linkage : f->name);
        pgk_proto_number(&p->part, FUNCTION_FILENAME, f->file);
        pgk_proto_number(&p->part, FUNCTION_START_LINE, f->first_line);
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
    const struct pgk_intern *strings = &p->s->strings;
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
    put_sample_types(p);
    put_period(p);
    put_samples(p);
    put_locations(p);
    put_functions(p);
    put_mappings(p);
    if (p->s->title)
        pgk_proto_number(&p->all, PROFILE_COMMENT,
                         text(p, pgk_human_text(title, sizeof title, p->s->title)));
    put_strings(p);
    if (p->all.full || p->part.full || p->inner.full)
        return pgk_fail_nomem(err);
    return pgk_deflate(p->all.bytes.v, p->all.bytes.n, true, write_gzip, out, err);
}

int pgk_export_pprof(struct pgk_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct pprof p = {.s = s};
    int status = write_profile(&p, out, err);
    pgk_vec_free(&p.all.bytes);
    pgk_vec_free(&p.part.bytes);
    pgk_vec_free(&p.inner.bytes);
    pgk_vec_free(&p.modules);
    return status;
}
