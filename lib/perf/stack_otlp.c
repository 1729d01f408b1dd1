/* Reader of OpenTelemetry's profiles: messages, and files of collectors, which hold many of them
 * with their lengths, or JSON. docs/formats/otlp.md
 *
 * All parts refer to tables by position. Numbers of fields differ between versions of the schema;
 * each field is looked up by the number that it has in the newest one. */
#include "stack_otlp.h"

#include "proto_in.h"
#include "stack_profile.h"

#include <inttypes.h>
#include <stdio.h>

enum layout { LAYOUT_NOW, LAYOUT_STACKS, LAYOUT_DICTIONARY, LAYOUTS };
enum { NUMBERS = 16 };

static const struct {
    enum layout layout;
    enum pgk_otlp_message message;
    unsigned there, now;
} moved[] = {
#define PGK_OTLP_MOVED(layout, message, number, field) \
    {LAYOUT_##layout, PGK_OTLP_##message, number, PGK_OTLP_##message##_##field},
#include "otlp.def"
};

struct mapping {
    struct pgk_stack_mapping m;
    uint32_t region;
};

struct location {
    uint64_t mapping, address;
};

/* Of `indices`. */
struct stack {
    size_t first, n;
};

struct attribute {
    struct pgk_perf_name key, text;
    uint64_t number;
};

struct profile {
    struct pgk_stack_value type, period_type;
    uint64_t time_ns, period;
    struct stack locations; /* that slices of samples are of */
};

struct otlp {
    struct pgk_stack_reader *out;
    struct pgk_proto_in in;
    enum layout layout;
    uint16_t number_now[PGK_OTLP_MESSAGES][NUMBERS]; /* by the file's number */
    PGK_VEC(struct pgk_perf_name) texts;
    PGK_VEC(struct attribute) attributes, resource;
    PGK_VEC(struct mapping) mappings;
    PGK_VEC(struct location) locations;
    PGK_VEC(struct stack) stacks;
    PGK_VEC(uint64_t) indices;
    size_t table_indices;         /* of these, those of tables */
    uint64_t samples_of[LAYOUTS]; /* votes: what samples look like */
    uint64_t cpu_profiles;
    char found[200]; /* types that are not of processors */

    /* Of the sample in hand: */
    struct stack stack;
    bool has_slice;
    uint64_t stack_index;
    PGK_VEC(uint64_t) values, times, labels;
};

typedef int part_fn(struct otlp *o, const struct pgk_proto_field *f, void *ctx);

static int fail(const struct otlp *o, uint64_t off, const char *record, const char *field,
                const char *found, const char *expected)
{
    return pgk_proto_in_fail(&o->in, off, record, field, found, expected);
}

static void choose_layout(struct otlp *o, enum layout layout)
{
    o->layout = layout;
    for (unsigned m = 0; m < PGK_OTLP_MESSAGES; m++)
        for (unsigned i = 0; i < NUMBERS; i++)
            o->number_now[m][i] = (uint16_t)i;
    for (size_t i = 0; i < PGK_COUNTOF(moved); i++)
        if (moved[i].layout == layout)
            o->number_now[moved[i].message][moved[i].there] = (uint16_t)moved[i].now;
}

static int walk(struct otlp *o, struct pgk_cursor c, enum pgk_otlp_message message,
                const char *record, part_fn *fn, void *ctx)
{
    struct pgk_proto_field f;
    int status;
    while ((status = pgk_proto_in_next(&o->in, &c, record, &f)) == 1) {
        if (f.number < NUMBERS)
            f.number = o->number_now[message][f.number];
        PGK_TRY(fn(o, &f, ctx));
    }
    return status;
}

static int part(struct otlp *o, const struct pgk_proto_field *f, enum pgk_otlp_message message,
                const char *record, part_fn *fn, void *ctx)
{
    if (f->is_number)
        return fail(o, f->off, "profiles", record, "a number", "a message");
    return walk(o, f->inside, message, record, fn, ctx);
}

static int number(struct otlp *o, const struct pgk_proto_field *f, const char *record,
                  const char *field, uint64_t *value)
{
    return pgk_proto_in_number(&o->in, f, record, field, value);
}

static int text_at(struct otlp *o, const struct pgk_proto_field *f, const char *record,
                   const char *field, struct pgk_perf_name *name)
{
    uint64_t at = 0;
    PGK_TRY(number(o, f, record, field, &at));
    if (at >= o->texts.n)
        return fail(o, f->off, record, field, PGK_F("text %" PRIu64, at),
                    PGK_F("below %zu, the number of texts", o->texts.n));
    *name = o->texts.v[at];
    return 0;
}

static struct pgk_perf_name text_of(const struct pgk_proto_field *f)
{
    return f->is_number
               ? (struct pgk_perf_name){"", 0}
               : (struct pgk_perf_name){(const char *)f->inside.at, pgk_cur_left(&f->inside)};
}

static int push_index(void *ctx, uint64_t value, uint64_t off)
{
    struct otlp *o = ctx;
    (void)off;
    return pgk_vec_push(&o->indices, value) ? 0 : pgk_fail_nomem(o->in.err);
}

/* ---- which layout ---- */

/* What a sample's fields look like, by how they lie in the file. */
struct shape {
    bool two_is_number, three_is_number, four_is_number, has_three, has_four;
    size_t in_two, in_five; /* numbers packed there */
};

static size_t count_packed(const struct pgk_cursor *c)
{
    size_t n = 0;
    for (const uint8_t *at = c->at; at < c->end; at++)
        n += !(*at & 0x80);
    return n;
}

static int note_shape(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct shape *s = ctx;
    (void)o;
    s->two_is_number |= f->number == 2 && f->is_number;
    s->has_three |= f->number == 3;
    s->three_is_number |= f->number == 3 && f->is_number;
    s->has_four |= f->number == 4;
    if (f->number == 2 && !f->is_number)
        s->in_two += count_packed(&f->inside);
    if (f->number == 5 && !f->is_number)
        s->in_five += pgk_cur_left(&f->inside) / sizeof(uint64_t);
    s->four_is_number |= f->number == 4 && f->is_number;
    return 0;
}

/* Lists are packed. Field 2 is the length of a slice in the oldest layout. Later, one of the fields
 * 3 and 4 is the number of a link, the other one a list. Field 2 has the values, of which there are
 * as many as times, or attributes. */
static int vote(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct shape s = {0};
    (void)ctx;
    if (f->number != PGK_OTLP_PROFILE_SAMPLES || f->is_number)
        return 0;
    PGK_TRY(walk(o, f->inside, PGK_OTLP_NONE, "sample", note_shape, &s));
    if (s.two_is_number)
        o->samples_of[LAYOUT_DICTIONARY]++;
    else if ((s.has_three && !s.three_is_number) || s.four_is_number)
        o->samples_of[LAYOUT_STACKS]++;
    else if (s.has_four || s.three_is_number || (s.in_two && s.in_five && s.in_two != s.in_five))
        o->samples_of[LAYOUT_NOW]++;
    return 0;
}

static int vote_profile(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    return f->number == PGK_OTLP_SCOPE_PROFILE_PROFILES
               ? part(o, f, PGK_OTLP_NONE, "profile", vote, ctx)
               : 0;
}

static int vote_scope(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    return f->number == PGK_OTLP_RESOURCE_PROFILE_SCOPE_PROFILES
               ? part(o, f, PGK_OTLP_NONE, "scope profiles", vote_profile, ctx)
               : 0;
}

static int vote_resource(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    return f->number == PGK_OTLP_DATA_RESOURCE_PROFILES
               ? part(o, f, PGK_OTLP_NONE, "resource profiles", vote_scope, ctx)
               : 0;
}

/* Samples with nothing but a stack and a list of values are those of 1.8 and 1.9: later ones have
 * values in field 4. */
static int find_layout(struct otlp *o, struct pgk_cursor all)
{
    choose_layout(o, LAYOUT_NOW);
    PGK_TRY(walk(o, all, PGK_OTLP_NONE, "profiles", vote_resource, NULL));
    choose_layout(o, o->samples_of[LAYOUT_DICTIONARY] ? LAYOUT_DICTIONARY
                     : o->samples_of[LAYOUT_NOW]      ? LAYOUT_NOW
                                                      : LAYOUT_STACKS);
    return 0;
}

/* ---- attributes ---- */

static int read_any(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct attribute *a = ctx;
    switch (f->number) {
    case PGK_OTLP_ANY_STRING:
        a->text = text_of(f);
        return 0;
    case PGK_OTLP_ANY_STRING_INDEX:
        return text_at(o, f, "attribute", "string_value_strindex", &a->text);
    case PGK_OTLP_ANY_INT:
        return number(o, f, "attribute", "int_value", &a->number);
    default:
        return 0;
    }
}

/* Keys are texts or numbers of texts. */
static int read_attribute(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct attribute *a = ctx;
    switch (f->number) {
    case PGK_OTLP_ATTRIBUTE_KEY:
    case PGK_OTLP_ATTRIBUTE_KEY_TEXT:
    case PGK_OTLP_KEY_VALUE_KEY_INDEX:
        if (f->is_number)
            return text_at(o, f, "attribute", "key", &a->key);
        a->key = text_of(f);
        return 0;
    case PGK_OTLP_ATTRIBUTE_VALUE:
        return part(o, f, PGK_OTLP_ANY, "attribute value", read_any, a);
    default:
        return 0;
    }
}

static int take_attribute(struct otlp *o, const struct pgk_proto_field *f, struct attribute *a)
{
    *a = (struct attribute){{"", 0}, {"", 0}, 0};
    return part(o, f, PGK_OTLP_ATTRIBUTE, "attribute", read_attribute, a);
}

/* ---- tables ---- */

static int add_text(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    if (f->number != PGK_OTLP_TABLES_STRING_TABLE)
        return 0;
    return pgk_vec_push(&o->texts, text_of(f)) ? 0 : pgk_fail_nomem(o->in.err);
}

static int add_attribute(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct attribute a;
    (void)ctx;
    if (f->number != PGK_OTLP_TABLES_ATTRIBUTE_TABLE)
        return 0;
    PGK_TRY(take_attribute(o, f, &a));
    return pgk_vec_push(&o->attributes, a) ? 0 : pgk_fail_nomem(o->in.err);
}

struct mapping_part {
    struct pgk_stack_mapping *m;
    struct otlp *o;
};

/* Of the build ids that a mapping may have, the one in the file is known to debuggers, too. */
static int take_build_id(void *ctx, uint64_t value, uint64_t off)
{
    struct mapping_part *p = ctx;
    if (value >= p->o->attributes.n)
        return fail(p->o, off, "mapping", "attribute_indices", PGK_F("attribute %" PRIu64, value),
                    PGK_F("below %zu, the number of attributes", p->o->attributes.n));
    const struct attribute *a = &p->o->attributes.v[value];
    if (pgk_name_is(a->key, "process.executable.build_id.gnu"))
        pgk_stacks_in_build_id(p->m, a->text);
    return 0;
}

static int read_mapping(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct mapping_part p = {ctx, o};
    switch (f->number) {
    case PGK_OTLP_MAPPING_MEMORY_START:
        return number(o, f, "mapping", "memory_start", &p.m->start);
    case PGK_OTLP_MAPPING_MEMORY_LIMIT:
        return number(o, f, "mapping", "memory_limit", &p.m->limit);
    case PGK_OTLP_MAPPING_FILE_OFFSET:
        return number(o, f, "mapping", "file_offset", &p.m->offset);
    case PGK_OTLP_MAPPING_FILENAME:
        return text_at(o, f, "mapping", "filename_strindex", &p.m->path);
    case PGK_OTLP_MAPPING_ATTRIBUTES:
        return pgk_proto_in_numbers(&o->in, f, "mapping", false, take_build_id, &p);
    default:
        return 0;
    }
}

static int add_mapping(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct mapping m = {.m.path = {"", 0}, .region = PGK_STACK_NOWHERE};
    (void)ctx;
    if (f->number != PGK_OTLP_TABLES_MAPPING_TABLE)
        return 0;
    PGK_TRY(part(o, f, PGK_OTLP_MAPPING, "mapping", read_mapping, &m.m));
    return pgk_vec_push(&o->mappings, m) ? 0 : pgk_fail_nomem(o->in.err);
}

static int read_location(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct location *l = ctx;
    return f->number == PGK_OTLP_LOCATION_MAPPING
               ? number(o, f, "location", "mapping_index", &l->mapping)
           : f->number == PGK_OTLP_LOCATION_ADDRESS
               ? number(o, f, "location", "address", &l->address)
               : 0;
}

static int add_location(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct location l = {0};
    (void)ctx;
    if (f->number != PGK_OTLP_TABLES_LOCATION_TABLE)
        return 0;
    PGK_TRY(part(o, f, PGK_OTLP_LOCATION, "location", read_location, &l));
    if (l.mapping && l.mapping >= o->mappings.n)
        return fail(o, f->off, "location", "mapping_index", PGK_F("%" PRIu64, l.mapping),
                    PGK_F("below %zu, the number of mappings", o->mappings.n));
    if (l.mapping < o->mappings.n && l.address) {
        struct pgk_stack_mapping *m = &o->mappings.v[l.mapping].m;
        m->linked |= pgk_stacks_in_is_linked(m, l.address);
    }
    return pgk_vec_push(&o->locations, l) ? 0 : pgk_fail_nomem(o->in.err);
}

static int read_stack(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    return f->number == PGK_OTLP_STACK_LOCATIONS
               ? pgk_proto_in_numbers(&o->in, f, "stack", false, push_index, o)
               : 0;
}

static int add_stack(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct stack s = {.first = o->indices.n};
    (void)ctx;
    if (f->number != PGK_OTLP_TABLES_STACK_TABLE || o->layout == LAYOUT_DICTIONARY)
        return 0;
    PGK_TRY(part(o, f, PGK_OTLP_STACK, "stack", read_stack, NULL));
    s.n = o->indices.n - s.first;
    return pgk_vec_push(&o->stacks, s) ? 0 : pgk_fail_nomem(o->in.err);
}

/* In an order in which what a part refers to is known. */
static int read_tables(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    static part_fn *const passes[] = {add_text, add_attribute, add_mapping, add_location,
                                      add_stack};
    (void)ctx;
    if (f->number != PGK_OTLP_DATA_DICTIONARY)
        return 0;
    for (size_t i = 0; i < PGK_COUNTOF(passes); i++)
        PGK_TRY(part(o, f, PGK_OTLP_TABLES, "dictionary", passes[i], NULL));
    for (size_t i = 0; i < o->mappings.n; i++)
        PGK_TRY(pgk_stacks_in_map(o->out, &o->mappings.v[i].m, &o->mappings.v[i].region));
    return 0;
}

/* ---- samples ---- */

static int push_value(void *ctx, uint64_t value, uint64_t off)
{
    struct otlp *o = ctx;
    if (value > INT64_MAX)
        return fail(o, off, "sample", "values", PGK_F("%" PRId64, (int64_t)value),
                    "a number that is not negative");
    return pgk_vec_push(&o->values, value) ? 0 : pgk_fail_nomem(o->in.err);
}

static int push_time(void *ctx, uint64_t value, uint64_t off)
{
    struct otlp *o = ctx;
    (void)off;
    return pgk_vec_push(&o->times, value) ? 0 : pgk_fail_nomem(o->in.err);
}

static int push_attribute(void *ctx, uint64_t value, uint64_t off)
{
    struct otlp *o = ctx;
    if (value >= o->attributes.n)
        return fail(o, off, "sample", "attribute_indices", PGK_F("attribute %" PRIu64, value),
                    PGK_F("below %zu, the number of attributes", o->attributes.n));
    return pgk_vec_push(&o->labels, value) ? 0 : pgk_fail_nomem(o->in.err);
}

static int read_sample(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    uint64_t n = 0;
    (void)ctx;
    switch (f->number) {
    case PGK_OTLP_SAMPLE_STACK_INDEX:
        return number(o, f, "sample", "stack_index", &o->stack_index);
    case PGK_OTLP_SAMPLE_FIRST_LOCATION:
        PGK_TRY(number(o, f, "sample", "locations_start_index", &n));
        o->stack.first = (size_t)n;
        return 0;
    case PGK_OTLP_SAMPLE_LOCATIONS:
        PGK_TRY(number(o, f, "sample", "locations_length", &n));
        o->stack.n = (size_t)n;
        o->has_slice = true;
        return 0;
    case PGK_OTLP_SAMPLE_VALUES:
        return pgk_proto_in_numbers(&o->in, f, "sample", false, push_value, o);
    case PGK_OTLP_SAMPLE_TIMESTAMPS:
        return pgk_proto_in_numbers(&o->in, f, "sample", true, push_time, o);
    case PGK_OTLP_SAMPLE_TIMESTAMP_NUMBERS:
        return pgk_proto_in_numbers(&o->in, f, "sample", false, push_time, o);
    case PGK_OTLP_SAMPLE_ATTRIBUTE_INDICES:
        return pgk_proto_in_numbers(&o->in, f, "sample", false, push_attribute, o);
    default:
        return 0;
    }
}

/* Where the stack lies in `indices`. */
static int find_stack(struct otlp *o, const struct profile *p, uint64_t off, struct stack *s)
{
    if (o->has_slice) {
        if (o->stack.first > p->locations.n || o->stack.n > p->locations.n - o->stack.first)
            return fail(o, off, "sample", "locations_length",
                        PGK_F("%zu from %zu on", o->stack.n, o->stack.first),
                        PGK_F("at most %zu, the number of location_indices", p->locations.n));
        *s = (struct stack){p->locations.first + o->stack.first, o->stack.n};
        return 0;
    }
    if (o->stack_index >= o->stacks.n)
        return o->stack_index
                   ? fail(o, off, "sample", "stack_index", PGK_F("%" PRIu64, o->stack_index),
                          PGK_F("below %zu, the number of stacks", o->stacks.n))
                   : 0;
    *s = o->stacks.v[o->stack_index];
    return 0;
}

static int push_frames(struct otlp *o, const struct profile *p, uint64_t off)
{
    struct stack s = {0};
    PGK_TRY(find_stack(o, p, off, &s));
    for (size_t i = 0; i < s.n; i++) {
        const uint64_t at = o->indices.v[s.first + i];
        if (at >= o->locations.n)
            return fail(o, off, "stack", "location_indices", PGK_F("location %" PRIu64, at),
                        PGK_F("below %zu, the number of locations", o->locations.n));
        const struct location *l = &o->locations.v[at];
        const uint32_t region =
            l->mapping < o->mappings.n ? o->mappings.v[l->mapping].region : PGK_STACK_NOWHERE;
        PGK_TRY(pgk_stacks_in_push(o->out, region, l->address, off));
    }
    return 0;
}

static int push_label(struct otlp *o, const struct attribute *a)
{
    if (a->text.n)
        return pgk_stacks_in_label(o->out, a->key, a->text);
    pgk_stacks_in_number_label(o->out, a->key, a->number);
    return 0;
}

/* Values belong to times, if there are as many; without values each time is one sample. */
static int pass_sample(struct otlp *o, const struct profile *p)
{
    uint64_t sum = 0;
    const bool each = o->times.n && (!o->values.n || o->values.n == o->times.n);
    for (size_t i = 0; each && i < o->times.n; i++) {
        const uint64_t n =
            o->values.n ? pgk_stacks_in_count(&p->type, o->values.v[i], &p->period_type, p->period)
                        : 1;
        PGK_TRY(pgk_stacks_in_pass(o->out, n, o->times.v[i]));
    }
    if (each)
        return 0;
    for (size_t i = 0; i < o->values.n; i++)
        sum += o->values.v[i] < UINT64_MAX - sum ? o->values.v[i] : UINT64_MAX - sum;
    return pgk_stacks_in_pass(o->out,
                              pgk_stacks_in_count(&p->type, sum, &p->period_type, p->period),
                              o->times.n ? o->times.v[0] : p->time_ns);
}

static int add_sample(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    const struct profile *p = ctx;
    if (f->number != PGK_OTLP_PROFILE_SAMPLES)
        return 0;
    pgk_stacks_in_begin(o->out);
    o->stack = (struct stack){0};
    o->stack_index = o->values.n = o->times.n = o->labels.n = 0;
    o->has_slice = false;
    PGK_TRY(part(o, f, PGK_OTLP_SAMPLE, "sample", read_sample, NULL));
    PGK_TRY(push_frames(o, p, f->off));
    for (size_t i = 0; i < o->resource.n; i++)
        PGK_TRY(push_label(o, &o->resource.v[i]));
    for (size_t i = 0; i < o->labels.n; i++)
        PGK_TRY(push_label(o, &o->attributes.v[o->labels.v[i]]));
    return pass_sample(o, p);
}

/* ---- profiles ---- */

static int read_type(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct pgk_stack_value *v = ctx;
    return f->number == PGK_OTLP_VALUE_TYPE_TYPE
               ? text_at(o, f, "sample type", "type_strindex", &v->type)
           : f->number == PGK_OTLP_VALUE_TYPE_UNIT
               ? text_at(o, f, "sample type", "unit_strindex", &v->unit)
               : 0;
}

static int read_head(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct profile *p = ctx;
    switch (f->number) {
    case PGK_OTLP_PROFILE_SAMPLE_TYPE:
        return part(o, f, PGK_OTLP_VALUE_TYPE, "sample_type", read_type, &p->type);
    case PGK_OTLP_PROFILE_PERIOD_TYPE:
        return part(o, f, PGK_OTLP_VALUE_TYPE, "period_type", read_type, &p->period_type);
    case PGK_OTLP_PROFILE_PERIOD:
        return number(o, f, "profile", "period", &p->period);
    case PGK_OTLP_PROFILE_TIME:
        return number(o, f, "profile", "time_unix_nano", &p->time_ns);
    case PGK_OTLP_PROFILE_LOCATION_INDICES:
        return pgk_proto_in_numbers(&o->in, f, "profile", false, push_index, o);
    default:
        return 0;
    }
}

static int add_profile(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    static const struct pgk_stack_value none = {{"", 0}, {"", 0}};
    struct profile p = {.type = none, .period_type = none};
    (void)ctx;
    if (f->number != PGK_OTLP_SCOPE_PROFILE_PROFILES)
        return 0;
    o->indices.n = p.locations.first = o->table_indices;
    PGK_TRY(part(o, f, PGK_OTLP_PROFILE, "profile", read_head, &p));
    p.locations.n = o->indices.n - p.locations.first;
    if (!pgk_stacks_in_rank(&p.type)) {
        if (!*o->found)
            snprintf(o->found, sizeof o->found, "%.*s/%.*s", (int)p.type.type.n, p.type.type.s,
                     (int)p.type.unit.n, p.type.unit.s);
        return 0;
    }
    o->cpu_profiles++;
    return part(o, f, PGK_OTLP_PROFILE, "profile", add_sample, &p);
}

static int add_resource_attribute(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    struct attribute a;
    (void)ctx;
    if (f->number != PGK_OTLP_RESOURCE_INFO_ATTRIBUTES)
        return 0;
    PGK_TRY(take_attribute(o, f, &a));
    return pgk_vec_push(&o->resource, a) ? 0 : pgk_fail_nomem(o->in.err);
}

static int add_resource(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    return f->number == PGK_OTLP_RESOURCE_PROFILE_RESOURCE
               ? part(o, f, PGK_OTLP_RESOURCE_INFO, "resource", add_resource_attribute, NULL)
               : 0;
}

static int add_scope(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    return f->number == PGK_OTLP_RESOURCE_PROFILE_SCOPE_PROFILES
               ? part(o, f, PGK_OTLP_SCOPE_PROFILE, "scope profiles", add_profile, ctx)
               : 0;
}

static int add_resource_profiles(struct otlp *o, const struct pgk_proto_field *f, void *ctx)
{
    if (f->number != PGK_OTLP_DATA_RESOURCE_PROFILES)
        return 0;
    o->resource.n = 0;
    PGK_TRY(part(o, f, PGK_OTLP_RESOURCE_PROFILE, "resource profiles", add_resource, ctx));
    return part(o, f, PGK_OTLP_RESOURCE_PROFILE, "resource profiles", add_scope, ctx);
}

static int read_message(struct otlp *o, struct pgk_cursor all)
{
    o->texts.n = o->attributes.n = o->mappings.n = o->locations.n = o->stacks.n = 0;
    o->indices.n = 0;
    memset(o->samples_of, 0, sizeof o->samples_of);
    PGK_TRY(find_layout(o, all));
    PGK_TRY(walk(o, all, PGK_OTLP_DATA, "profiles", read_tables, NULL));
    o->table_indices = o->indices.n;
    return walk(o, all, PGK_OTLP_DATA, "profiles", add_resource_profiles, NULL);
}

/* ---- files ---- */

/* A message after its length, as collectors write many into a file. */
static bool take_length(struct pgk_cursor *c, uint32_t *length)
{
    if (pgk_cur_left(c) < 4)
        return false;
    *length =
        (uint32_t)c->at[0] << 24 | (uint32_t)c->at[1] << 16 | (uint32_t)c->at[2] << 8 | c->at[3];
    return true;
}

static int read_with_lengths(struct otlp *o, struct pgk_cursor c)
{
    uint32_t length;
    while (take_length(&c, &length)) {
        struct pgk_cursor message;
        pgk_cur_take(&c, 4, "length");
        struct pgk_source src = c.src;
        src.base_off = pgk_cur_off(&c);
        const uint8_t *bytes = pgk_cur_take(&c, length, "message");
        PGK_TRY(pgk_cur_check(&c, o->in.err, "message"));
        pgk_cur_init(&message, bytes, length, &src);
        PGK_TRY(read_message(o, message));
    }
    pgk_cur_take(&c, pgk_cur_left(&c) ? 4 : 0, "length");
    return pgk_cur_check(&c, o->in.err, "message");
}

/* What is wrong with the message that JSON stands for is said of the place of the JSON. */
static int read_json_value(struct otlp *o, const struct pgk_json_value *v)
{
    struct pgk_proto bytes = {0};
    struct pgk_source src = *o->out->src;
    const struct pgk_proto_in file = o->in;
    struct pgk_err why = {0};
    struct pgk_cursor c;
    if (!pgk_otlp_message_of(&bytes, v)) {
        pgk_vec_free(&bytes.bytes);
        return pgk_fail_nomem(file.err);
    }
    src.base_off = v->off;
    o->in = (struct pgk_proto_in){&src, &why};
    pgk_cur_init(&c, bytes.bytes.v, bytes.bytes.n, &src);
    int status = read_message(o, c);
    o->in = file;
    if (status == PGK_E_CORRUPT || status == PGK_E_TRUNCATED)
        status =
            pgk_fail(file.err, status, .file = src.file, .format = src.format, .offset = &v->off,
                     .record = why.record, .field = why.field, .found = why.found,
                     .expected = why.expected, .hint = "the file is damaged; write it again");
    else if (status && file.err && why.status)
        *file.err = why;
    pgk_vec_free(&bytes.bytes);
    return status;
}

static int read_json(struct otlp *o, struct pgk_cursor c)
{
    int status = 1;
    while (status == 1) {
        struct pgk_arena arena = {0};
        const struct pgk_json_value *v = NULL;
        status = pgk_json_in_next(&c, &arena, &v, o->in.err);
        if (status == 1) {
            const int read = read_json_value(o, v);
            status = read ? read : 1;
        }
        pgk_arena_free(&arena);
    }
    return status;
}

static bool is_json(const uint8_t *bytes, size_t size)
{
    return size && *bytes == '{'; /* a line feed is the first byte of a message */
}

static int read(struct pgk_stack_reader *out, const uint8_t *bytes, size_t size)
{
    struct otlp o = {.out = out, .in = {out->src, out->err}};
    struct pgk_cursor c;
    pgk_cur_init(&c, bytes, size, out->src);
    int status = is_json(bytes, size) ? read_json(&o, c)
                 : *bytes             ? read_message(&o, c)
                                      : read_with_lengths(&o, c);
    if (!status && !o.cpu_profiles)
        status = pgk_stacks_in_no_cpu(out, o.found);
    pgk_vec_free(&o.texts);
    pgk_vec_free(&o.attributes);
    pgk_vec_free(&o.resource);
    pgk_vec_free(&o.mappings);
    pgk_vec_free(&o.locations);
    pgk_vec_free(&o.stacks);
    pgk_vec_free(&o.indices);
    pgk_vec_free(&o.values);
    pgk_vec_free(&o.times);
    pgk_vec_free(&o.labels);
    return status;
}

/* Two kinds of parts, and a dictionary whose texts begin with the empty one. */
static bool sniff_message(const uint8_t *bytes, size_t size)
{
    const struct pgk_source src = {.file = "", .format = ""};
    const struct pgk_proto_in in = {&src, NULL};
    struct pgk_proto_field f, inner;
    struct pgk_cursor c;
    bool texts = false;
    pgk_cur_init(&c, bytes, size, &src);
    while (pgk_proto_in_next(&in, &c, "", &f) == 1) {
        if (f.is_number || f.number > PGK_OTLP_DATA_DICTIONARY)
            return false;
        while (f.number == PGK_OTLP_DATA_DICTIONARY && !texts &&
               pgk_proto_in_next(&in, &f.inside, "", &inner) == 1) {
            texts = inner.number == PGK_OTLP_TABLES_STRING_TABLE && !inner.is_number &&
                    !pgk_cur_left(&inner.inside);
            if (inner.number == PGK_OTLP_TABLES_STRING_TABLE && !texts)
                return false;
        }
    }
    return texts;
}

static bool sniff(const uint8_t *bytes, size_t size)
{
    static const char key[] = "\"resourceProfiles\"", other[] = "\"dictionary\"";
    enum { HEAD = 1 << 16 };
    const size_t head = size < HEAD ? size : HEAD;
    struct pgk_cursor c;
    uint32_t length;
    if (is_json(bytes, size))
        return memmem(bytes, head, key, sizeof key - 1) ||
               memmem(bytes, head, other, sizeof other - 1);
    pgk_cur_init(&c, bytes, size, NULL);
    if (size && !*bytes && take_length(&c, &length) && length <= size - 4)
        return sniff_message(bytes + 4, length);
    return size && *bytes && sniff_message(bytes, size);
}

const struct pgk_stack_form pgk_stack_otlp = {"OTLP profiles", sniff, read};
