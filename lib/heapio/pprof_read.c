/* Reader of pprof's heap profiles. docs/formats/pprof.md
 *
 * A file is one message whose parts refer to each other by number, in any order. So it is walked
 * more than once: for texts, then for functions and mappings, for locations, and for samples. */
#include "pprof_read.h"

#include "format_row.h"
#include "function_name.h"
#include "heap_origin_part.h"
#include "hex.h"
#include "pgokit/human.h"
#include "proto_in.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
#define PGK_PPROF_FIELD(name, number) name = (number),
#include "pprof.def"
#undef PGK_PPROF_FIELD
};

/* Far above what is recorded, and small enough that a small file stays cheap. */
enum { STACK_FRAMES_MAX = 16384, LOCATION_LINES_MAX = 1024, VALUES_MAX = 64 };

/* Items with an id: position in `functions`, `mappings` or `locations`, found by binary search. */
struct by_id {
    uint64_t id;
    uint32_t at;
};
typedef PGK_VEC(struct by_id) by_id_vec;

struct function {
    uint32_t func; /* of the model */
    uint32_t decl_line;
};

struct mapping {
    uint64_t start, offset;
    uint32_t module;
    bool is_known;
};

/* Frames in `frames`, the innermost first. */
struct location {
    uint32_t first, n;
};

/* Which value of a sample is what; -1: none is. */
struct columns {
    int objects, bytes, alive_objects, alive_bytes, peak_objects, peak_bytes;
};

struct reader {
    struct pgk_heap *heap;
    const struct pgk_source *src;
    struct pgk_err *err;
    struct pgk_cursor all;
    uint64_t sample_bytes;
    struct columns columns;
    size_t n_types;
    PGK_VEC(uint32_t) texts; /* string ids */
    PGK_VEC(struct function) functions;
    PGK_VEC(struct mapping) mappings;
    PGK_VEC(struct location) locations;
    by_id_vec function_ids, mapping_ids, location_ids;
    PGK_VEC(uint32_t) frames;
    PGK_VEC(uint32_t) stack;
    PGK_VEC(uint64_t) values;
};

static struct pgk_proto_in messages(const struct reader *r)
{
    return (struct pgk_proto_in){r->src, r->err};
}

static int fail(const struct reader *r, uint64_t off, const char *record, const char *field,
                const char *found, const char *expected)
{
    const struct pgk_proto_in in = messages(r);
    return pgk_proto_in_fail(&in, off, record, field, found, expected);
}

/* ---- messages ---- */

typedef int field_fn(struct reader *r, const struct pgk_proto_field *f, void *ctx);

/* Calls `fn` for each field. */
static int walk(struct reader *r, struct pgk_cursor c, const char *record, field_fn *fn, void *ctx)
{
    const struct pgk_proto_in in = messages(r);
    struct pgk_proto_field f;
    int status;
    while ((status = pgk_proto_in_next(&in, &c, record, &f)) == 1)
        PGK_TRY(fn(r, &f, ctx));
    return status;
}

/* Of a part of the file: a message. */
static int part(struct reader *r, const struct pgk_proto_field *f, const char *record, field_fn *fn,
                void *ctx)
{
    if (f->is_number)
        return fail(r, f->off, "profile", record, "a number", "a message");
    return walk(r, f->inside, record, fn, ctx);
}

static int number(const struct reader *r, const struct pgk_proto_field *f, const char *record,
                  const char *field, uint64_t *value)
{
    const struct pgk_proto_in in = messages(r);
    return pgk_proto_in_number(&in, f, record, field, value);
}

/* The text of a number in the table. */
static int text(const struct reader *r, const struct pgk_proto_field *f, const char *record,
                const char *field, uint32_t *id)
{
    uint64_t at = 0;
    PGK_TRY(number(r, f, record, field, &at));
    if (at >= r->texts.n)
        return fail(r, f->off, record, field, PGK_F("text %" PRIu64, at),
                    PGK_F("below %zu, the number of texts", r->texts.n));
    *id = r->texts.v[at];
    return 0;
}

/* ---- ids ---- */

static int by_id(const void *a, const void *b)
{
    const uint64_t x = ((const struct by_id *)a)->id, y = ((const struct by_id *)b)->id;
    return x < y ? -1 : x > y;
}

static int sort_ids(const struct reader *r, by_id_vec *ids, const char *record)
{
    if (ids->n)
        qsort(ids->v, ids->n, sizeof *ids->v, by_id);
    for (size_t i = 0; i < ids->n; i++)
        if (!ids->v[i].id || (i && ids->v[i].id == ids->v[i - 1].id))
            return fail(r, r->src->base_off, record, "id", PGK_F("%" PRIu64, ids->v[i].id),
                        ids->v[i].id ? "an id that no other one has" : "an id above 0");
    return 0;
}

static int find_id(const struct reader *r, const by_id_vec *ids, uint64_t id, uint64_t off,
                   const char *record, const char *field, uint32_t *at)
{
    const struct by_id key = {.id = id};
    const struct by_id *found =
        ids->n ? bsearch(&key, ids->v, ids->n, sizeof key, by_id) : NULL;
    if (!found)
        return fail(r, off, record, field, PGK_F("%" PRIu64, id), "an id that the file has");
    *at = found->at;
    return 0;
}

/* ---- texts, types ---- */

static int add_text(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    if (f->number != PROFILE_STRING_TABLE)
        return 0;
    if (f->is_number)
        return fail(r, f->off, "profile", "string_table", "a number", "a text");
    const size_t n = pgk_cur_left(&f->inside);
    if (n && memchr(f->inside.at, 0, n))
        return fail(r, f->off, "profile", "string_table", "a zero byte", "text");
    if (n && !r->texts.n)
        return fail(r, f->off, "profile", "string_table", PGK_F("%zu bytes", n),
                    "the empty text as the first one");
    uint32_t id = n ? pgk_intern(&r->heap->strings, (const char *)f->inside.at, n) : 0;
    return id != PGK_INDEX_NONE && pgk_vec_push(&r->texts, id) ? 0 : pgk_fail_nomem(r->err);
}

static int read_type(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    return f->number == VALUE_TYPE_TYPE ? text(r, f, "sample type", "type", ctx) : 0;
}

static void note_type(struct reader *r, const char *name)
{
    struct columns *c = &r->columns;
    const int at = (int)r->n_types++;
    const struct {
        const char *name;
        int *column;
    } known[] = {
        {"alloc_objects", &c->objects},       {"alloc_space", &c->bytes},
        {"inuse_objects", &c->alive_objects}, {"inuse_space", &c->alive_bytes},
        {"objects", &c->alive_objects},       {"space", &c->alive_bytes},
        {"peak_objects", &c->peak_objects},   {"peak_space", &c->peak_bytes},
    };
    for (size_t i = 0; i < PGK_COUNTOF(known); i++)
        if (!strcmp(name, known[i].name))
            *known[i].column = at;
}

static int add_type(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    uint32_t name = 0;
    (void)ctx;
    if (f->number == PROFILE_PERIOD)
        return number(r, f, "profile", "period", &r->sample_bytes);
    if (f->number != PROFILE_SAMPLE_TYPE)
        return 0;
    if (r->n_types == VALUES_MAX)
        return fail(r, f->off, "profile", "sample_type", "more of them",
                    PGK_F("at most %d", VALUES_MAX));
    PGK_TRY(part(r, f, "sample_type", read_type, &name));
    note_type(r, pgk_intern_str(&r->heap->strings, name));
    return 0;
}

static int read_types(struct reader *r)
{
    r->columns = (struct columns){-1, -1, -1, -1, -1, -1};
    PGK_TRY(walk(r, r->all, "profile", add_text, NULL));
    PGK_TRY(walk(r, r->all, "profile", add_type, NULL));
    if (r->columns.bytes >= 0 || r->columns.alive_bytes >= 0)
        return 0;
    return pgk_fail(r->err, PGK_E_MISMATCH, .file = r->src->file, .format = r->src->format,
                    .offset = &(uint64_t){r->src->base_off}, .record = "profile",
                    .field = "sample_type",
                    .found = PGK_F("%zu other type%s", r->n_types, pgk_plural(r->n_types)),
                    .expected = "alloc_space, inuse_space or space",
                    .hint = "of pprof's profiles those of heaps are read");
}

/* ---- functions, mappings ---- */

struct function_texts {
    uint64_t id, start_line;
    uint32_t name, linkage, file;
};

static int read_function_field(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    struct function_texts *t = ctx;
    switch (f->number) {
    case FUNCTION_ID:
        return number(r, f, "function", "id", &t->id);
    case FUNCTION_NAME:
        return text(r, f, "function", "name", &t->name);
    case FUNCTION_SYSTEM_NAME:
        return text(r, f, "function", "system_name", &t->linkage);
    case FUNCTION_FILENAME:
        return text(r, f, "function", "filename", &t->file);
    case FUNCTION_START_LINE:
        return number(r, f, "function", "start_line", &t->start_line);
    default:
        return 0;
    }
}

/* If the first line of a function is unknown, lines count from the first one of the file: readers
 * find the line again, and two files of one source have equal frames. */
static int add_function(struct reader *r, const struct pgk_proto_field *f)
{
    struct function_texts t = {0};
    PGK_TRY(part(r, f, "function", read_function_field, &t));
    const uint32_t name = t.linkage ? t.linkage : t.name;
    const char *linkage = pgk_intern_str(&r->heap->strings, name);
    struct function function = {
        .decl_line = t.start_line && t.start_line < UINT32_MAX ? (uint32_t)t.start_line : 1};
    function.func = pgk_heap_func(r->heap, pgk_heap_guid(linkage, strlen(linkage)), name, t.file,
                                  t.file ? function.decl_line : 0);
    const struct by_id id = {t.id, (uint32_t)r->functions.n};
    return function.func != PGK_INDEX_NONE && pgk_vec_push(&r->functions, function) &&
                   pgk_vec_push(&r->function_ids, id)
               ? 0
               : pgk_fail_nomem(r->err);
}

struct mapping_texts {
    struct mapping m;
    uint64_t id;
    uint32_t file, build_id;
};

static int read_mapping_field(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    struct mapping_texts *t = ctx;
    switch (f->number) {
    case MAPPING_ID:
        return number(r, f, "mapping", "id", &t->id);
    case MAPPING_MEMORY_START:
        return number(r, f, "mapping", "memory_start", &t->m.start);
    case MAPPING_FILE_OFFSET:
        return number(r, f, "mapping", "file_offset", &t->m.offset);
    case MAPPING_FILENAME:
        return text(r, f, "mapping", "filename", &t->file);
    case MAPPING_BUILD_ID:
        return text(r, f, "mapping", "build_id", &t->build_id);
    default:
        return 0;
    }
}

/* The bytes of a build id as a string; 0 for what is none, as Go's own. */
static uint32_t build_id_of(struct reader *r, uint32_t hex)
{
    uint8_t bytes[64];
    const char *at = pgk_intern_str(&r->heap->strings, hex);
    const size_t digits = strlen(at),
                 n = pgk_hex_read(at, at + digits, bytes, sizeof bytes);
    return n && 2 * n == digits ? pgk_intern(&r->heap->strings, (const char *)bytes, n) : 0;
}

/* Addresses are those of the process, and become offsets in files. A mapping that says nothing of
 * where the file was loaded has link-time addresses, as those that pgokit writes. */
static int add_mapping(struct reader *r, const struct pgk_proto_field *f)
{
    struct mapping_texts t = {0};
    PGK_TRY(part(r, f, "mapping", read_mapping_field, &t));
    struct pgk_heap_module module = {.build_id = build_id_of(r, t.build_id)};
    module.by_file_off = !module.build_id || t.m.start || t.m.offset;
    module.name = module.build_id ? 0 : t.file;
    t.m.is_known = module.build_id || module.name;
    if (module.build_id == PGK_INDEX_NONE)
        return pgk_fail_nomem(r->err);
    if (t.m.is_known) {
        t.m.module = pgk_heap_module(r->heap, &module);
        if (t.m.module == PGK_INDEX_NONE ||
            !pgk_heap_note_loaded(r->heap, r->src->file, t.m.module))
            return pgk_fail_nomem(r->err);
    }
    const struct by_id id = {t.id, (uint32_t)r->mappings.n};
    return pgk_vec_push(&r->mappings, t.m) && pgk_vec_push(&r->mapping_ids, id)
               ? 0
               : pgk_fail_nomem(r->err);
}

static int add_function_or_mapping(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    return f->number == PROFILE_FUNCTION  ? add_function(r, f)
           : f->number == PROFILE_MAPPING ? add_mapping(r, f)
                                          : 0;
}

/* ---- locations ---- */

struct place {
    uint64_t id, mapping, address;
    uint32_t first_frame;
};

struct line {
    uint64_t function, line, column;
};

static int read_line_field(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    struct line *l = ctx;
    switch (f->number) {
    case LINE_FUNCTION_ID:
        return number(r, f, "line", "function_id", &l->function);
    case LINE_LINE:
        return number(r, f, "line", "line", &l->line);
    case LINE_COLUMN:
        return number(r, f, "line", "column", &l->column);
    default:
        return 0;
    }
}

/* A function of the location. The last one is what the others are inlined into. */
static int add_line(struct reader *r, const struct pgk_proto_field *f)
{
    struct line l = {0};
    uint32_t at = 0;
    PGK_TRY(part(r, f, "line", read_line_field, &l));
    PGK_TRY(find_id(r, &r->function_ids, l.function, f->off, "line", "function_id", &at));
    const struct function *fn = &r->functions.v[at];
    const uint64_t offset = l.line > fn->decl_line ? l.line - fn->decl_line : 0;
    const uint32_t frame = pgk_heap_frame(
        r->heap, PGK_FRAME_INLINED, fn->func,
        pgk_frame_place(offset < UINT32_MAX ? (uint32_t)offset : 0,
                        l.column < UINT32_MAX ? (uint32_t)l.column : 0));
    return frame != PGK_INDEX_NONE && pgk_vec_push(&r->frames, frame) ? 0
                                                                      : pgk_fail_nomem(r->err);
}

static int read_location_field(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    struct place *p = ctx;
    switch (f->number) {
    case LOCATION_ID:
        return number(r, f, "location", "id", &p->id);
    case LOCATION_MAPPING_ID:
        return number(r, f, "location", "mapping_id", &p->mapping);
    case LOCATION_ADDRESS:
        return number(r, f, "location", "address", &p->address);
    case LOCATION_LINE:
        if (r->frames.n - p->first_frame == LOCATION_LINES_MAX)
            return fail(r, f->off, "location", "line", "more of them",
                        PGK_F("at most %d", LOCATION_LINES_MAX));
        return add_line(r, f);
    default:
        return 0;
    }
}

static int add_address(struct reader *r, const struct place *p, uint64_t off)
{
    uint32_t at = 0, module = PGK_INDEX_NONE;
    uint64_t address = p->address;
    if (p->mapping) {
        PGK_TRY(find_id(r, &r->mapping_ids, p->mapping, off, "location", "mapping_id", &at));
        const struct mapping *m = &r->mappings.v[at];
        if (m->is_known && address >= m->start) {
            address = address - m->start + m->offset;
            module = m->module;
        }
    }
    const uint32_t frame = pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, module, address);
    return frame != PGK_INDEX_NONE && pgk_vec_push(&r->frames, frame) ? 0
                                                                      : pgk_fail_nomem(r->err);
}

static int add_location(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    struct place p = {.first_frame = (uint32_t)r->frames.n};
    (void)ctx;
    if (f->number != PROFILE_LOCATION)
        return 0;
    PGK_TRY(part(r, f, "location", read_location_field, &p));
    if (r->frames.n == p.first_frame) {
        PGK_TRY(add_address(r, &p, f->off));
    } else {
        uint32_t *last = &r->frames.v[r->frames.n - 1];
        const struct pgk_frame outer = r->heap->frames.v[*last];
        *last = pgk_heap_frame(r->heap, PGK_FRAME_CALLER, outer.ref, outer.where);
        if (*last == PGK_INDEX_NONE)
            return pgk_fail_nomem(r->err);
    }
    if (r->frames.n >= PGK_INDEX_NONE)
        return pgk_fail_nomem(r->err);
    const struct location location = {p.first_frame, (uint32_t)r->frames.n - p.first_frame};
    const struct by_id id = {p.id, (uint32_t)r->locations.n};
    return pgk_vec_push(&r->locations, location) && pgk_vec_push(&r->location_ids, id)
               ? 0
               : pgk_fail_nomem(r->err);
}

/* ---- samples ---- */

static int push_location(void *ctx, uint64_t id, uint64_t off)
{
    struct reader *r = ctx;
    uint32_t at = 0;
    PGK_TRY(find_id(r, &r->location_ids, id, off, "sample", "location_id", &at));
    const struct location *l = &r->locations.v[at];
    if (r->stack.n + l->n > STACK_FRAMES_MAX)
        return fail(r, off, "sample", "location_id", PGK_F("%zu frames", r->stack.n + l->n),
                    PGK_F("at most %d", STACK_FRAMES_MAX));
    for (uint32_t i = 0; i < l->n; i++)
        if (!pgk_vec_push(&r->stack, r->frames.v[l->first + i]))
            return pgk_fail_nomem(r->err);
    return 0;
}

static int push_value(void *ctx, uint64_t value, uint64_t off)
{
    struct reader *r = ctx;
    if (value > INT64_MAX)
        return pgk_fail(r->err, PGK_E_MISMATCH, .file = r->src->file, .format = r->src->format,
                        .offset = &off, .record = "sample", .field = "value",
                        .found = PGK_F("%" PRId64, (int64_t)value),
                        .expected = "a number that is not negative",
                        .hint = "read both profiles instead of their difference");
    if (r->values.n == r->n_types)
        return fail(r, off, "sample", "value", "more of them",
                    PGK_F("%zu, one for each sample_type", r->n_types));
    return pgk_vec_push(&r->values, value) ? 0 : pgk_fail_nomem(r->err);
}

/* Numbers that stand one by one, or many in a field. */
static int read_sample_field(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    (void)ctx;
    if (f->number != SAMPLE_LOCATION_ID && f->number != SAMPLE_VALUE)
        return 0;
    const struct pgk_proto_in in = messages(r);
    return pgk_proto_in_numbers(&in, f, "sample", false,
                                f->number == SAMPLE_VALUE ? push_value : push_location, r);
}

static void set(struct pgk_mib *m, enum pgk_mib_id id, const struct reader *r, int column)
{
    if (column >= 0)
        pgk_mib_set(m, id, pgk_mib_cut(id, r->values.v[column]));
}

/* If the file lacks the total that was allocated, live objects stand for it. */
static int add_sample(struct reader *r, const struct pgk_proto_field *f, void *ctx)
{
    struct pgk_mib m = {0};
    const struct columns *c = &r->columns;
    bool any = false;
    (void)ctx;
    if (f->number != PROFILE_SAMPLE)
        return 0;
    r->stack.n = r->values.n = 0;
    PGK_TRY(part(r, f, "sample", read_sample_field, NULL));
    if (r->values.n != r->n_types)
        return fail(r, f->off, "sample", "value", PGK_F("%zu", r->values.n),
                    PGK_F("%zu, one for each sample_type", r->n_types));
    for (size_t i = 0; i < r->values.n; i++)
        any |= r->values.v[i] != 0;
    if (!any || !r->stack.n)
        return 0;
    set(&m, PGK_MIB_AllocCount, r, c->objects >= 0 ? c->objects : c->alive_objects);
    set(&m, PGK_MIB_TotalSize, r, c->bytes >= 0 ? c->bytes : c->alive_bytes);
    set(&m, PGK_MIB_ExitCount, r, c->alive_objects);
    set(&m, PGK_MIB_ExitSize, r, c->alive_bytes);
    set(&m, PGK_MIB_PeakCount, r, c->peak_objects);
    set(&m, PGK_MIB_PeakSize, r, c->peak_bytes);
    const uint32_t node = pgk_stack_add(&r->heap->stacks, r->stack.v, r->stack.n);
    if (node == PGK_NODE_NONE)
        return pgk_fail_nomem(r->err);
    PGK_TRY(pgk_heap_add(r->heap, node, &m, r->err));
    return pgk_heap_own_stack(r->heap, node, r->err);
}

static int read_message(struct reader *r)
{
    PGK_TRY(read_types(r));
    PGK_TRY(walk(r, r->all, "profile", add_function_or_mapping, NULL));
    PGK_TRY(sort_ids(r, &r->function_ids, "function"));
    PGK_TRY(sort_ids(r, &r->mapping_ids, "mapping"));
    PGK_TRY(walk(r, r->all, "profile", add_location, NULL));
    PGK_TRY(sort_ids(r, &r->location_ids, "location"));
    return walk(r, r->all, "profile", add_sample, NULL);
}

/* The type of a value, {1: text, 2: text}: few bytes that texts do not have. */
static bool begins_with_type(const uint8_t *bytes, size_t size)
{
    enum { TYPE_BYTES_MAX = 22 };
    if (size < 4 || (bytes[0] != (PROFILE_SAMPLE_TYPE << 3 | PGK_PROTO_BYTES) &&
                     bytes[0] != (PROFILE_PERIOD_TYPE << 3 | PGK_PROTO_BYTES)))
        return false;
    return bytes[1] >= 2 && bytes[1] <= TYPE_BYTES_MAX &&
           (bytes[2] == VALUE_TYPE_TYPE << 3 || bytes[2] == VALUE_TYPE_UNIT << 3);
}

/* Heap profiles have one of these strings. Its place depends on everything before it, so the whole
 * file is searched. */
bool pgk_pprof_sniff(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"\x32\x0b" "alloc_space", "\x32\x0b" "inuse_space",
                                        "\x32\x05" "space"};
    if (!begins_with_type(bytes, size))
        return false;
    for (size_t i = 0; i < PGK_COUNTOF(names); i++)
        if (memmem(bytes, size, names[i], strlen(names[i])))
            return true;
    return false;
}

int pgk_pprof_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                   const struct pgk_source *src, uint64_t *sample_bytes, struct pgk_err *err)
{
    struct reader r = {.heap = h, .src = src, .err = err};
    pgk_cur_init(&r.all, bytes, size, src);
    int status = read_message(&r);
    *sample_bytes = r.sample_bytes;
    pgk_vec_free(&r.texts);
    pgk_vec_free(&r.functions);
    pgk_vec_free(&r.mappings);
    pgk_vec_free(&r.locations);
    pgk_vec_free(&r.function_ids);
    pgk_vec_free(&r.mapping_ids);
    pgk_vec_free(&r.location_ids);
    pgk_vec_free(&r.frames);
    pgk_vec_free(&r.stack);
    pgk_vec_free(&r.values);
    return status;
}

/* ---- among the formats ---- */

/* The file does not show whether the process continued. */
static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    const struct pgk_heap_read_info found = {
        .origin = {.processes = 1, .interrupted = 1, .dumps = 1}};
    pgk_heap_origin_note(&found, info);
    PGK_TRY(pgk_pprof_read(heap, file->bytes, file->size, file->src,
                           &info->facts[PGK_FACT_SAMPLE_BYTES], err));
    pgk_heap_add_origin(heap, &found.origin);
    return 0;
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    const uint64_t bytes = info->facts[PGK_FACT_SAMPLE_BYTES];
    if (bytes > 1)
        pgk_info_add(text, ", a sample every %s",
                     pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)bytes));
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "pprof, go tool pprof");
}

const struct pgk_format_row pgk_format_pprof = {
    .format = {.name = "heap profile of pprof",
               .kind = PGK_KIND_HEAP,
               .reads = "profile.proto",
               .writes = "",
               .made_by = "Go, TCMalloc, jemalloc_pprof, pprof -proto",
               .page = "pprof.md"},
    .sniff = pgk_pprof_sniff,
    .read_heap = read,
    .wants_own_heap = true,
    .holds_origin = true,
    .describe = describe,
    .readers = readers,
};
