/* Profiles of OpenTelemetry: a message ProfilesData of the newest layout with a profile for each
 * type of value, all of which share the dictionary. docs/formats/otlp.md */
#include "exporters.h"

#include "proto_out.h"

enum {
#define PGK_OTLP_FIELD(message, field, number, json, form, inner) message##_##field = (number),
#include "otlp.def"
};

struct otlp {
    struct pgk_stacks *s;
    struct pgk_proto all, tables, part, inner;
    PGK_VEC(uint32_t) modules; /* text ids; mapping - 1, and attribute - 1 */
};

static uint64_t text(struct otlp *o, const char *t)
{
    uint32_t id = pgk_intern_cstr(&o->s->strings, t);
    o->all.full |= id == PGK_INDEX_NONE;
    return id;
}

static uint64_t value(uint64_t v)
{
    return v < INT64_MAX ? v : INT64_MAX;
}

static uint64_t mapping(struct otlp *o, uint32_t module)
{
    size_t i = 0;
    while (i < o->modules.n && o->modules.v[i] != module)
        i++;
    if (i == o->modules.n && !pgk_vec_push(&o->modules, module))
        o->all.full = true;
    return i + 1;
}

static void put_address(struct otlp *o, uint32_t module, uint64_t address)
{
    pgk_proto_number(&o->part, LOCATION_MAPPING, mapping(o, module));
    pgk_proto_number(&o->part, LOCATION_ADDRESS, address);
}

static void put_frame(struct otlp *o, const struct pgk_stack_frame *frame)
{
    uint32_t module = o->s->funcs.v[frame->func].module;
    if (module) {
        put_address(o, module, frame->address);
        return;
    }
    pgk_proto_number(&o->inner, LINE_FUNCTION, frame->func + 1);
    pgk_proto_number(&o->inner, LINE_LINE, frame->line);
    pgk_proto_number(&o->inner, LINE_COLUMN, frame->column);
    pgk_proto_message(&o->part, LOCATION_LINES, &o->inner);
}

/* Position 0 of each table stands for nothing; that of locations already has none. */
static void put_locations(struct otlp *o)
{
    pgk_proto_message(&o->tables, TABLES_LOCATION_TABLE, &o->part);
    for (size_t l = 1; l < o->s->locations.n; l++) {
        const struct pgk_stack_location *location = &o->s->locations.v[l];
        if (location->module)
            put_address(o, location->module, location->address);
        for (uint32_t i = 0; i < location->n; i++)
            put_frame(o, &o->s->frames.v[o->s->frames_of.v[location->first + i]]);
        pgk_proto_message(&o->tables, TABLES_LOCATION_TABLE, &o->part);
    }
}

static void put_functions(struct otlp *o)
{
    pgk_proto_message(&o->tables, TABLES_FUNCTION_TABLE, &o->part);
    for (size_t i = 0; i < o->s->funcs.n; i++) {
        const struct pgk_stack_func *f = &o->s->funcs.v[i];
        pgk_proto_number(&o->part, FUNCTION_NAME, f->name);
        pgk_proto_number(&o->part, FUNCTION_SYSTEM_NAME, f->linkage ? f->linkage : f->name);
        pgk_proto_number(&o->part, FUNCTION_FILENAME, f->file);
        pgk_proto_number(&o->part, FUNCTION_START_LINE, f->first_line);
        pgk_proto_message(&o->tables, TABLES_FUNCTION_TABLE, &o->part);
    }
}

static void put_stacks(struct otlp *o)
{
    const struct pgk_stack_node *paths = o->s->paths.nodes.v;
    pgk_proto_message(&o->tables, TABLES_STACK_TABLE, &o->part);
    for (size_t i = 0; i < o->s->stacks.n; i++) {
        for (uint32_t at = o->s->stacks.v[i].path; at; at = paths[at].parent)
            pgk_proto_varint(&o->inner, paths[at].frame);
        pgk_proto_message(&o->part, STACK_LOCATIONS, &o->inner);
        pgk_proto_message(&o->tables, TABLES_STACK_TABLE, &o->part);
    }
}

/* A mapping for each build id, which is its attribute. */
static void put_mappings(struct otlp *o)
{
    const uint64_t key = text(o, "process.executable.build_id.gnu");
    pgk_proto_message(&o->tables, TABLES_MAPPING_TABLE, &o->part);
    pgk_proto_message(&o->tables, TABLES_ATTRIBUTE_TABLE, &o->part);
    for (size_t i = 0; i < o->modules.n; i++) {
        const uint32_t id = o->modules.v[i];
        pgk_proto_varint(&o->inner, i + 1);
        pgk_proto_message(&o->part, MAPPING_ATTRIBUTES, &o->inner);
        pgk_proto_message(&o->tables, TABLES_MAPPING_TABLE, &o->part);
        pgk_proto_number(&o->part, ATTRIBUTE_KEY, key);
        pgk_proto_bytes(&o->inner, ANY_STRING, pgk_stacks_text(o->s, id),
                        pgk_intern_len(&o->s->strings, id));
        pgk_proto_message(&o->part, ATTRIBUTE_VALUE, &o->inner);
        pgk_proto_message(&o->tables, TABLES_ATTRIBUTE_TABLE, &o->part);
    }
}

static void put_strings(struct otlp *o)
{
    const struct pgk_intern *strings = &o->s->strings;
    pgk_proto_bytes(&o->tables, TABLES_STRING_TABLE, "", 0);
    for (uint32_t id = 1; id < strings->strs.n; id++)
        pgk_proto_bytes(&o->tables, TABLES_STRING_TABLE, pgk_intern_str(strings, id),
                        pgk_intern_len(strings, id));
}

/* Stacks that have nothing of this type are no samples of it. */
static void put_samples(struct otlp *o, size_t type, struct pgk_proto *profile)
{
    for (size_t i = 0; i < o->s->stacks.n; i++) {
        const uint64_t v = pgk_stacks_value(o->s, i, type);
        if (!v)
            continue;
        pgk_proto_number(&o->part, SAMPLE_STACK_INDEX, i + 1);
        pgk_proto_varint(&o->inner, value(v));
        pgk_proto_message(&o->part, SAMPLE_VALUES, &o->inner);
        pgk_proto_message(profile, PROFILE_SAMPLES, &o->part);
    }
}

/* Of a sampled heap profile, whose values go with their weights. */
static void put_period(struct otlp *o, struct pgk_proto *profile)
{
    if (!o->s->sample_bytes)
        return;
    pgk_proto_number(&o->part, VALUE_TYPE_TYPE, text(o, "space"));
    pgk_proto_number(&o->part, VALUE_TYPE_UNIT, text(o, "bytes"));
    pgk_proto_message(profile, PROFILE_PERIOD_TYPE, &o->part);
    pgk_proto_number(profile, PROFILE_PERIOD, value(o->s->sample_bytes));
}

static void put_profiles(struct otlp *o)
{
    struct pgk_proto profile = {0}, scope = {0};
    for (size_t t = 0; t < o->s->n_types; t++) {
        pgk_proto_number(&o->part, VALUE_TYPE_TYPE, text(o, o->s->types[t].type));
        pgk_proto_number(&o->part, VALUE_TYPE_UNIT, text(o, o->s->types[t].unit));
        pgk_proto_message(&profile, PROFILE_SAMPLE_TYPE, &o->part);
        put_samples(o, t, &profile);
        put_period(o, &profile);
        pgk_proto_message(&scope, SCOPE_PROFILE_PROFILES, &profile);
    }
    pgk_proto_message(&o->part, RESOURCE_PROFILE_SCOPE_PROFILES, &scope);
    pgk_proto_message(&o->all, DATA_RESOURCE_PROFILES, &o->part);
    pgk_vec_free(&profile.bytes);
    pgk_vec_free(&scope.bytes);
}

static void put_all(struct otlp *o)
{
    put_profiles(o);
    put_locations(o);
    put_functions(o);
    put_stacks(o);
    put_mappings(o);
    put_strings(o);
    pgk_proto_message(&o->all, DATA_DICTIONARY, &o->tables);
}

int pgk_export_otlp(struct pgk_stacks *s, struct pgk_sink *out, struct pgk_err *err)
{
    struct otlp o = {.s = s};
    put_all(&o);
    const bool full = o.all.full || o.tables.full || o.part.full || o.inner.full;
    if (!full)
        pgk_sink_bytes(out, o.all.bytes.v, o.all.bytes.n);
    pgk_vec_free(&o.all.bytes);
    pgk_vec_free(&o.tables.bytes);
    pgk_vec_free(&o.part.bytes);
    pgk_vec_free(&o.inner.bytes);
    pgk_vec_free(&o.modules);
    return full ? pgk_fail_nomem(err) : 0;
}
