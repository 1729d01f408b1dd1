/* Reader of pprof's CPU profiles. docs/formats/pprof.md
 *
 * A file is one message whose parts refer to each other by number, in any order. So it is walked
 * more than once: for texts, then for mappings and types, for locations, and for samples. */
#include "proto_in.h"
#include "stack_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
#define PGK_PPROF_FIELD(name, number) name = (number),
#include "pprof.def"
#undef PGK_PPROF_FIELD
};

/* Far above what is recorded. */
enum { VALUES_MAX = 64 };

/* Items with an id: position among mappings or locations, found by binary search. */
struct by_id {
    uint64_t id;
    uint32_t at;
};
typedef PGK_VEC(struct by_id) by_id_vec;

struct mapping {
    struct pgk_stack_mapping m;
    uint32_t region;
};

struct location {
    uint64_t address, mapping; /* position; UINT64_MAX: of none */
};

struct pprof {
    struct pgk_stack_reader *out;
    struct pgk_proto_in in;
    struct pgk_cursor all;
    PGK_VEC(struct pgk_perf_name) texts;
    PGK_VEC(struct mapping) mappings;
    PGK_VEC(struct location) locations;
    by_id_vec mapping_ids, location_ids;
    struct pgk_stack_value types[VALUES_MAX], period_type;
    size_t n_types;
    uint64_t period, time_ns;
    unsigned column; /* of the types */
    PGK_VEC(uint64_t) values;
    PGK_VEC(uint64_t) stack;
};

typedef int part_fn(struct pprof *p, const struct pgk_proto_field *f, void *ctx);

static int fail(const struct pprof *p, uint64_t off, const char *record, const char *field,
                const char *found, const char *expected)
{
    return pgk_proto_in_fail(&p->in, off, record, field, found, expected);
}

static int walk(struct pprof *p, struct pgk_cursor c, const char *record, part_fn *fn, void *ctx)
{
    struct pgk_proto_field f;
    int status;
    while ((status = pgk_proto_in_next(&p->in, &c, record, &f)) == 1)
        PGK_TRY(fn(p, &f, ctx));
    return status;
}

static int part(struct pprof *p, const struct pgk_proto_field *f, const char *record, part_fn *fn,
                void *ctx)
{
    if (f->is_number)
        return fail(p, f->off, "profile", record, "a number", "a message");
    return walk(p, f->inside, record, fn, ctx);
}

static int text(const struct pprof *p, const struct pgk_proto_field *f, const char *record,
                const char *field, struct pgk_perf_name *name)
{
    uint64_t at = 0;
    PGK_TRY(pgk_proto_in_number(&p->in, f, record, field, &at));
    if (at >= p->texts.n)
        return fail(p, f->off, record, field, PGK_F("text %" PRIu64, at),
                    PGK_F("below %zu, the number of texts", p->texts.n));
    *name = p->texts.v[at];
    return 0;
}

/* ---- ids ---- */

static int by_id(const void *a, const void *b)
{
    const uint64_t x = ((const struct by_id *)a)->id, y = ((const struct by_id *)b)->id;
    return x < y ? -1 : x > y;
}

static int sort_ids(const struct pprof *p, by_id_vec *ids, const char *record)
{
    if (ids->n)
        qsort(ids->v, ids->n, sizeof *ids->v, by_id);
    for (size_t i = 0; i < ids->n; i++)
        if (!ids->v[i].id || (i && ids->v[i].id == ids->v[i - 1].id))
            return fail(p, p->in.src->base_off, record, "id", PGK_F("%" PRIu64, ids->v[i].id),
                        ids->v[i].id ? "an id that no other one has" : "an id above 0");
    return 0;
}

static int find_id(const struct pprof *p, const by_id_vec *ids, uint64_t id, uint64_t off,
                   const char *record, const char *field, uint64_t *at)
{
    const struct by_id key = {.id = id};
    const struct by_id *found = ids->n ? bsearch(&key, ids->v, ids->n, sizeof key, by_id) : NULL;
    if (!found)
        return fail(p, off, record, field, PGK_F("%" PRIu64, id), "an id that the file has");
    *at = found->at;
    return 0;
}

/* ---- texts, types ---- */

static int add_text(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    if (f->number != PROFILE_STRING_TABLE)
        return 0;
    if (f->is_number)
        return fail(p, f->off, "profile", "string_table", "a number", "a text");
    const struct pgk_perf_name name = {(const char *)f->inside.at, pgk_cur_left(&f->inside)};
    return pgk_vec_push(&p->texts, name) ? 0 : pgk_fail_nomem(p->in.err);
}

static int read_type(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    struct pgk_stack_value *v = ctx;
    return f->number == VALUE_TYPE_TYPE   ? text(p, f, "sample type", "type", &v->type)
           : f->number == VALUE_TYPE_UNIT ? text(p, f, "sample type", "unit", &v->unit)
                                          : 0;
}

static int add_type(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    switch (f->number) {
    case PROFILE_PERIOD:
        return pgk_proto_in_number(&p->in, f, "profile", "period", &p->period);
    case PROFILE_TIME_NANOS:
        return pgk_proto_in_number(&p->in, f, "profile", "time_nanos", &p->time_ns);
    case PROFILE_PERIOD_TYPE:
        return part(p, f, "period_type", read_type, &p->period_type);
    case PROFILE_SAMPLE_TYPE:
        if (p->n_types == VALUES_MAX)
            return fail(p, f->off, "profile", "sample_type", "more of them",
                        PGK_F("at most %d", VALUES_MAX));
        p->types[p->n_types] = (struct pgk_stack_value){{"", 0}, {"", 0}};
        return part(p, f, "sample_type", read_type, &p->types[p->n_types++]);
    default:
        return 0;
    }
}

static int choose_value(struct pprof *p)
{
    unsigned best = 0;
    char found[200] = "";
    for (size_t i = 0; i < p->n_types; i++) {
        const unsigned rank = pgk_stacks_in_rank(&p->types[i]);
        const size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%.*s/%.*s", used ? ", " : "",
                 (int)p->types[i].type.n, p->types[i].type.s, (int)p->types[i].unit.n,
                 p->types[i].unit.s);
        if (rank && (!best || rank < best)) {
            best = rank;
            p->column = (unsigned)i;
        }
    }
    return best ? 0 : pgk_stacks_in_no_cpu(p->out, found);
}

/* ---- mappings, locations ---- */

struct mapping_texts {
    uint64_t id;
    struct pgk_stack_mapping m;
};

static int read_mapping(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    struct mapping_texts *t = ctx;
    struct pgk_perf_name digits = {0};
    switch (f->number) {
    case MAPPING_ID:
        return pgk_proto_in_number(&p->in, f, "mapping", "id", &t->id);
    case MAPPING_MEMORY_START:
        return pgk_proto_in_number(&p->in, f, "mapping", "memory_start", &t->m.start);
    case MAPPING_MEMORY_LIMIT:
        return pgk_proto_in_number(&p->in, f, "mapping", "memory_limit", &t->m.limit);
    case MAPPING_FILE_OFFSET:
        return pgk_proto_in_number(&p->in, f, "mapping", "file_offset", &t->m.offset);
    case MAPPING_FILENAME:
        return text(p, f, "mapping", "filename", &t->m.path);
    case MAPPING_BUILD_ID:
        PGK_TRY(text(p, f, "mapping", "build_id", &digits));
        pgk_stacks_in_build_id(&t->m, digits);
        return 0;
    default:
        return 0;
    }
}

static int add_mapping(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    struct mapping_texts t = {.m.path = {"", 0}};
    (void)ctx;
    if (f->number != PROFILE_MAPPING)
        return 0;
    PGK_TRY(part(p, f, "mapping", read_mapping, &t));
    const struct by_id id = {t.id, (uint32_t)p->mappings.n};
    return pgk_vec_push(&p->mappings, (struct mapping){t.m, PGK_STACK_NOWHERE}) &&
                   pgk_vec_push(&p->mapping_ids, id)
               ? 0
               : pgk_fail_nomem(p->in.err);
}

struct location_ids {
    uint64_t id, mapping, address;
};

static int read_location(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    struct location_ids *l = ctx;
    return f->number == LOCATION_ID ? pgk_proto_in_number(&p->in, f, "location", "id", &l->id)
           : f->number == LOCATION_MAPPING_ID
               ? pgk_proto_in_number(&p->in, f, "location", "mapping_id", &l->mapping)
           : f->number == LOCATION_ADDRESS
               ? pgk_proto_in_number(&p->in, f, "location", "address", &l->address)
               : 0;
}

static int add_location(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    struct location_ids l = {0};
    struct location location = {.mapping = UINT64_MAX};
    (void)ctx;
    if (f->number != PROFILE_LOCATION)
        return 0;
    PGK_TRY(part(p, f, "location", read_location, &l));
    location.address = l.address;
    if (l.mapping && l.address) {
        PGK_TRY(find_id(p, &p->mapping_ids, l.mapping, f->off, "location", "mapping_id",
                        &location.mapping));
        struct pgk_stack_mapping *m = &p->mappings.v[location.mapping].m;
        m->linked |= pgk_stacks_in_is_linked(m, l.address);
    }
    const struct by_id id = {l.id, (uint32_t)p->locations.n};
    return pgk_vec_push(&p->locations, location) && pgk_vec_push(&p->location_ids, id)
               ? 0
               : pgk_fail_nomem(p->in.err);
}

static int map_all(struct pprof *p)
{
    for (size_t i = 0; i < p->mappings.n; i++)
        PGK_TRY(pgk_stacks_in_map(p->out, &p->mappings.v[i].m, &p->mappings.v[i].region));
    return 0;
}

/* ---- samples ---- */

static int push_location(void *ctx, uint64_t id, uint64_t off)
{
    struct pprof *p = ctx;
    uint64_t at = 0;
    PGK_TRY(find_id(p, &p->location_ids, id, off, "sample", "location_id", &at));
    const struct location *l = &p->locations.v[at];
    return pgk_stacks_in_push(
        p->out, l->mapping == UINT64_MAX ? PGK_STACK_NOWHERE : p->mappings.v[l->mapping].region,
        l->address, off);
}

static int push_value(void *ctx, uint64_t value, uint64_t off)
{
    struct pprof *p = ctx;
    if (value > INT64_MAX)
        return pgk_fail(p->in.err, PGK_E_MISMATCH, .file = p->in.src->file,
                        .format = p->in.src->format, .offset = &off, .record = "sample",
                        .field = "value", .found = PGK_F("%" PRId64, (int64_t)value),
                        .expected = "a number that is not negative",
                        .hint = "read both profiles instead of their difference");
    if (p->values.n == p->n_types)
        return fail(p, off, "sample", "value", "more of them",
                    PGK_F("%zu, one for each sample_type", p->n_types));
    return pgk_vec_push(&p->values, value) ? 0 : pgk_fail_nomem(p->in.err);
}

struct label {
    struct pgk_perf_name key, text;
    uint64_t number;
};

static int read_label(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    struct label *l = ctx;
    switch (f->number) {
    case LABEL_KEY:
        return text(p, f, "label", "key", &l->key);
    case LABEL_STR:
        return text(p, f, "label", "str", &l->text);
    case LABEL_NUM:
        return pgk_proto_in_number(&p->in, f, "label", "num", &l->number);
    default:
        return 0;
    }
}

static int add_label(struct pprof *p, const struct pgk_proto_field *f)
{
    struct label l = {.key = {"", 0}, .text = {"", 0}};
    PGK_TRY(part(p, f, "label", read_label, &l));
    if (l.text.n)
        return pgk_stacks_in_label(p->out, l.key, l.text);
    pgk_stacks_in_number_label(p->out, l.key, l.number);
    return 0;
}

static int read_sample(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    if (f->number == SAMPLE_LABEL)
        return add_label(p, f);
    if (f->number != SAMPLE_LOCATION_ID && f->number != SAMPLE_VALUE)
        return 0;
    return pgk_proto_in_numbers(&p->in, f, "sample", false,
                                f->number == SAMPLE_VALUE ? push_value : push_location, p);
}

static int add_sample(struct pprof *p, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    if (f->number != PROFILE_SAMPLE)
        return 0;
    pgk_stacks_in_begin(p->out);
    p->values.n = 0;
    PGK_TRY(part(p, f, "sample", read_sample, NULL));
    if (p->values.n != p->n_types)
        return fail(p, f->off, "sample", "value", PGK_F("%zu", p->values.n),
                    PGK_F("%zu, one for each sample_type", p->n_types));
    return pgk_stacks_in_pass(p->out,
                              pgk_stacks_in_count(&p->types[p->column], p->values.v[p->column],
                                                  &p->period_type, p->period),
                              p->time_ns);
}

static int read_all(struct pprof *p)
{
    PGK_TRY(walk(p, p->all, "profile", add_text, NULL));
    PGK_TRY(walk(p, p->all, "profile", add_type, NULL));
    PGK_TRY(choose_value(p));
    PGK_TRY(walk(p, p->all, "profile", add_mapping, NULL));
    PGK_TRY(sort_ids(p, &p->mapping_ids, "mapping"));
    PGK_TRY(walk(p, p->all, "profile", add_location, NULL));
    PGK_TRY(sort_ids(p, &p->location_ids, "location"));
    PGK_TRY(map_all(p));
    return walk(p, p->all, "profile", add_sample, NULL);
}

static int read(struct pgk_stack_reader *out, const uint8_t *bytes, size_t size)
{
    struct pprof p = {.out = out, .in = {out->src, out->err}, .period_type = {{"", 0}, {"", 0}}};
    pgk_cur_init(&p.all, bytes, size, out->src);
    int status = read_all(&p);
    pgk_vec_free(&p.texts);
    pgk_vec_free(&p.mappings);
    pgk_vec_free(&p.locations);
    pgk_vec_free(&p.mapping_ids);
    pgk_vec_free(&p.location_ids);
    pgk_vec_free(&p.values);
    pgk_vec_free(&p.stack);
    return status;
}

/* Parts of a profile and nothing else, from the beginning to the end or to where the file is
 * damaged: types, and texts of which the first is empty. */
static bool sniff(const uint8_t *bytes, size_t size)
{
    const struct pgk_source src = {.file = "", .format = ""};
    const struct pgk_proto_in in = {&src, NULL};
    struct pgk_proto_field f;
    struct pgk_cursor c;
    bool types = false, texts = false;
    int status;
    pgk_cur_init(&c, bytes, size, &src);
    while ((status = pgk_proto_in_next(&in, &c, "", &f)) == 1) {
        const bool part = f.number <= PROFILE_STRING_TABLE;
        if (f.number > PROFILE_DEFAULT_SAMPLE_TYPE + 1 || (part && f.is_number))
            return false;
        types |= f.number == PROFILE_SAMPLE_TYPE;
        if (f.number == PROFILE_STRING_TABLE && !texts && pgk_cur_left(&f.inside))
            return false;
        texts |= f.number == PROFILE_STRING_TABLE;
    }
    return types && texts;
}

const struct pgk_stack_form pgk_stack_pprof = {"pprof", sniff, read};
