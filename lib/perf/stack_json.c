/* Readers of JSON that viewers load: profiles of Firefox's profiler, as samply writes them, and of
 * speedscope. docs/formats/viewer-stacks.md
 *
 * Firefox keeps tables as columns, which refer to rows of other tables by number. */
#include "json_in.h"
#include "stack_profile.h"

#include <inttypes.h>

#define NO_ROW UINT64_MAX

typedef PGK_VEC(uint64_t) column;

struct viewer {
    struct pgk_stack_reader *out;
    const struct pgk_json_value *root;
    uint64_t off; /* of the part in hand, for messages */
};

static int fail(const struct viewer *v, const char *record, const char *field, uint64_t n,
                size_t below)
{
    return pgk_fail(v->out->err, PGK_E_CORRUPT, .file = v->out->src->file,
                    .format = v->out->src->format, .offset = &v->off, .record = record,
                    .field = field, .found = PGK_F("%" PRIu64, n),
                    .expected = PGK_F("below %zu, the number of rows", below),
                    .hint = "the file is damaged; write it again");
}

/* The numbers of a column; NO_ROW for what is none. */
static int take_column(struct viewer *v, const struct pgk_json_value *table, const char *name,
                       column *into)
{
    const struct pgk_json_value *array = pgk_json_in_member(table, name);
    into->n = 0;
    if (array)
        v->off = array->off;
    for (const struct pgk_json_value *item = array ? array->first : NULL; item; item = item->next) {
        uint64_t n = NO_ROW;
        if (!pgk_json_in_integer(item, &n) || n > INT64_MAX)
            n = NO_ROW;
        if (!pgk_vec_push(into, n))
            return pgk_fail_nomem(v->out->err);
    }
    return 0;
}

static struct pgk_perf_name text_of(const struct pgk_json_value *v)
{
    return v && v->kind == PGK_JSON_TEXT ? (struct pgk_perf_name){v->text, v->n}
                                         : (struct pgk_perf_name){"", 0};
}

/* ---- Firefox ---- */

struct tables {
    column address, func, resource, lib, frame, prefix;
    PGK_VEC(uint32_t) regions; /* of libraries */
};

static void free_tables(struct tables *t)
{
    column *all[] = {&t->address, &t->func, &t->resource, &t->lib, &t->frame, &t->prefix};
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        pgk_vec_free(all[i]);
    pgk_vec_free(&t->regions);
}

/* Newer files keep tables once for all threads. */
static const struct pgk_json_value *table_of(const struct viewer *v,
                                             const struct pgk_json_value *thread, const char *name)
{
    const struct pgk_json_value *own = pgk_json_in_member(thread, name);
    return own ? own : pgk_json_in_member(pgk_json_in_member(v->root, "shared"), name);
}

static int map_libraries(struct viewer *v, const struct pgk_json_value *thread, struct tables *t)
{
    const struct pgk_json_value *libs = pgk_json_in_member(thread, "libs");
    if (!libs)
        libs = pgk_json_in_member(v->root, "libs");
    t->regions.n = 0;
    for (const struct pgk_json_value *lib = libs ? libs->first : NULL; lib; lib = lib->next) {
        struct pgk_stack_mapping m = {.path = text_of(pgk_json_in_member(lib, "path")),
                                      .from_base = true};
        uint32_t region;
        if (!m.path.n)
            m.path = text_of(pgk_json_in_member(lib, "name"));
        pgk_stacks_in_build_id(&m, text_of(pgk_json_in_member(lib, "codeId")));
        PGK_TRY(pgk_stacks_in_map(v->out, &m, &region));
        if (!pgk_vec_push(&t->regions, region))
            return pgk_fail_nomem(v->out->err);
    }
    return 0;
}

static int take_tables(struct viewer *v, const struct pgk_json_value *thread, struct tables *t)
{
    const struct {
        const char *table, *name;
        column *into;
    } all[] = {
        {"frameTable", "address", &t->address},  {"frameTable", "func", &t->func},
        {"funcTable", "resource", &t->resource}, {"resourceTable", "lib", &t->lib},
        {"stackTable", "frame", &t->frame},      {"stackTable", "prefix", &t->prefix},
    };
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        PGK_TRY(take_column(v, table_of(v, thread, all[i].table), all[i].name, all[i].into));
    return map_libraries(v, thread, t);
}

static uint64_t row(const column *c, uint64_t at)
{
    return at < c->n ? c->v[at] : NO_ROW;
}

static int push_frame(struct viewer *v, const struct tables *t, uint64_t frame)
{
    const uint64_t address = row(&t->address, frame),
                   lib = row(&t->lib, row(&t->resource, row(&t->func, frame)));
    if (frame >= t->address.n)
        return fail(v, "stack", "frame", frame, t->address.n);
    return pgk_stacks_in_push(
        v->out, lib < t->regions.n && address != NO_ROW ? t->regions.v[lib] : PGK_STACK_NOWHERE,
        address == NO_ROW ? 0 : address, v->off);
}

/* A prefix comes before what it is the prefix of, so that stacks end. */
static int push_stack(struct viewer *v, const struct tables *t, uint64_t stack)
{
    while (stack != NO_ROW) {
        if (stack >= t->frame.n)
            return fail(v, "sample", "stack", stack, t->frame.n);
        PGK_TRY(push_frame(v, t, t->frame.v[stack]));
        const uint64_t prefix = row(&t->prefix, stack);
        if (prefix != NO_ROW && prefix >= stack)
            return fail(v, "stackTable", "prefix", prefix, (size_t)stack);
        stack = prefix;
    }
    return 0;
}

struct samples {
    column stack, weight, busy;
};

static int pass_samples(struct viewer *v, const struct pgk_json_value *thread,
                        const struct tables *t, struct samples *s)
{
    const struct pgk_json_value *table = pgk_json_in_member(thread, "samples");
    const bool weighs = pgk_json_in_is(pgk_json_in_member(table, "weightType"), "samples");
    PGK_TRY(take_column(v, table, "weight", &s->weight));
    PGK_TRY(take_column(v, table, "threadCPUDelta", &s->busy));
    PGK_TRY(take_column(v, table, "stack", &s->stack));
    for (size_t i = 0; i < s->stack.n; i++) {
        const uint64_t weight = weighs && s->weight.n ? row(&s->weight, i) : 1;
        if (s->stack.v[i] == NO_ROW || weight == NO_ROW || (s->busy.n && !row(&s->busy, i)))
            continue; /* it waited */
        pgk_stacks_in_begin(v->out);
        PGK_TRY(push_stack(v, t, s->stack.v[i]));
        PGK_TRY(pgk_stacks_in_label(v->out, (struct pgk_perf_name){"pid", 3},
                                    text_of(pgk_json_in_member(thread, "pid"))));
        PGK_TRY(pgk_stacks_in_label(v->out, (struct pgk_perf_name){"process_name", 12},
                                    text_of(pgk_json_in_member(thread, "processName"))));
        PGK_TRY(pgk_stacks_in_pass(v->out, weight, 0));
    }
    return 0;
}

static int read_firefox(struct viewer *v)
{
    const struct pgk_json_value *threads = pgk_json_in_member(v->root, "threads");
    struct tables t = {0};
    struct samples s = {0};
    int status = 0;
    for (const struct pgk_json_value *thread = threads ? threads->first : NULL; thread && !status;
         thread = thread->next) {
        status = take_tables(v, thread, &t);
        if (!status)
            status = pass_samples(v, thread, &t, &s);
    }
    free_tables(&t);
    pgk_vec_free(&s.stack);
    pgk_vec_free(&s.weight);
    pgk_vec_free(&s.busy);
    return status;
}

/* ---- speedscope ---- */

struct place {
    uint32_t region;
    uint64_t address;
};
typedef PGK_VEC(struct place) place_vec;

static int take_frames(struct viewer *v, place_vec *places)
{
    const struct pgk_json_value *frames =
        pgk_json_in_member(pgk_json_in_member(v->root, "shared"), "frames");
    for (const struct pgk_json_value *f = frames ? frames->first : NULL; f; f = f->next) {
        struct place p;
        PGK_TRY(pgk_stacks_in_named(v->out, text_of(pgk_json_in_member(f, "name")), &p.region,
                                    &p.address));
        if (!pgk_vec_push(places, p))
            return pgk_fail_nomem(v->out->err);
    }
    return 0;
}

/* A sample is a list of frames, the outermost first. */
static int pass_sampled(struct viewer *v, const struct pgk_json_value *sample,
                        const place_vec *places, uint64_t weight, column *frames)
{
    frames->n = 0;
    v->off = sample->off;
    for (const struct pgk_json_value *f = sample->first; f; f = f->next) {
        uint64_t n = NO_ROW;
        if (!pgk_json_in_integer(f, &n) || n >= places->n)
            return fail(v, "sample", "frame", n, places->n);
        if (!pgk_vec_push(frames, n))
            return pgk_fail_nomem(v->out->err);
    }
    pgk_stacks_in_begin(v->out);
    for (size_t i = frames->n; i-- > 0;) {
        const struct place *p = &places->v[frames->v[i]];
        PGK_TRY(pgk_stacks_in_push(v->out, p->region, p->address, v->off));
    }
    return pgk_stacks_in_pass(v->out, weight, 0);
}

static int read_profile(struct viewer *v, const struct pgk_json_value *profile,
                        const place_vec *places, column *frames, column *weights)
{
    const struct pgk_json_value *samples = pgk_json_in_member(profile, "samples");
    const bool counts = pgk_json_in_is(pgk_json_in_member(profile, "unit"), "none");
    size_t i = 0;
    PGK_TRY(take_column(v, profile, "weights", weights));
    for (const struct pgk_json_value *s = samples ? samples->first : NULL; s; s = s->next, i++) {
        const uint64_t weight = counts && weights->n ? row(weights, i) : 1;
        PGK_TRY(pass_sampled(v, s, places, weight == NO_ROW ? 0 : weight, frames));
    }
    return 0;
}

static int read_speedscope(struct viewer *v)
{
    const struct pgk_json_value *profiles = pgk_json_in_member(v->root, "profiles");
    place_vec places = {0};
    column frames = {0}, weights = {0};
    int status = take_frames(v, &places);
    for (const struct pgk_json_value *p = profiles ? profiles->first : NULL; p && !status;
         p = p->next)
        status = read_profile(v, p, &places, &frames, &weights);
    pgk_vec_free(&places);
    pgk_vec_free(&frames);
    pgk_vec_free(&weights);
    return status;
}

/* ---- files ---- */

static int read(struct pgk_stack_reader *out, const uint8_t *bytes, size_t size)
{
    struct viewer v = {.out = out};
    struct pgk_arena arena = {0};
    struct pgk_cursor c;
    pgk_cur_init(&c, bytes, size, out->src);
    int status = pgk_json_in_next(&c, &arena, &v.root, out->err);
    if (status == 1)
        status = pgk_json_in_member(v.root, "threads") ? read_firefox(&v) : read_speedscope(&v);
    pgk_arena_free(&arena);
    return status;
}

static bool has(const uint8_t *bytes, size_t size, const char *key)
{
    return memmem(bytes, size, key, strlen(key));
}

static bool sniff(const uint8_t *bytes, size_t size)
{
    if (!size || *bytes != '{')
        return false;
    return (has(bytes, size, "\"threads\"") && has(bytes, size, "\"frameTable\"")) ||
           (has(bytes, size, "speedscope.app/file-format-schema.json") &&
            has(bytes, size, "\"samples\""));
}

const struct pgk_stack_form pgk_stack_json = {"JSON of a viewer", sniff, read};
