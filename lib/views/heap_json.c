/* A heap profile as JSON, schema "pgokit-heap-1". docs/formats/heap-json.md
 *
 * Objects are made and printed one context at a time, so that memory does not grow with
 * the profile. */
#include "heap_advice.h"
#include "heap_view.h"

#include "mem.h"
#include "opts.h"

#include <inttypes.h>
#include <json-c/json.h>

static void put(struct json_object *o, const char *key, struct json_object *value)
{
    json_object_object_add(o, key, value);
}

static struct json_object *hex(uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "0x%016" PRIx64, v);
    return json_object_new_string(text);
}

static struct json_object *hex_bytes(const uint8_t *bytes, size_t n)
{
    char text[2 * 64 + 1] = "";
    for (size_t i = 0; i < n && i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_object_new_string(text);
}

static struct json_object *frame_json(const struct pgk_heap_frame *f)
{
    struct json_object *o = json_object_new_object();
    if (f->is_address) {
        if (f->build_id_size)
            put(o, "build_id", hex_bytes(f->build_id, f->build_id_size));
        put(o, "address", hex(f->address));
        return o;
    }
    if (*f->function)
        put(o, "function", json_object_new_string(f->function));
    put(o, "guid", hex(f->guid));
    put(o, "line_offset", json_object_new_uint64(f->line_offset));
    put(o, "column", json_object_new_uint64(f->column));
    if (f->discriminator)
        put(o, "discriminator", json_object_new_uint64(f->discriminator));
    put(o, "inline", json_object_new_boolean(f->inlined));
    if (*f->file) {
        put(o, "file", json_object_new_string(f->file));
        put(o, "line", json_object_new_uint64(pgk_heap_frame_line(f)));
    }
    return o;
}

static struct json_object *mib_json(const struct pgk_mib *m)
{
    struct json_object *o = json_object_new_object();
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (m->known >> id & 1)
            put(o, pgk_mib_info(id, NULL, NULL), json_object_new_uint64(m->v[id]));
    return o;
}

static void print(FILE *out, const char *indent, struct json_object *o, bool first)
{
    fprintf(out, "%s\n%s%s", first ? "" : ",", indent,
            json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(o);
}

static int print_context(const struct pgk_heap *heap, const struct pgk_file_info *info,
                         size_t context, bool first, FILE *out, struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_heap_frame *frames;
    size_t n;
    int status = pgk_heap_view_stack(heap, context, &arena, &frames, &n, err);
    if (!status) {
        const struct pgk_mib *m = pgk_heap_mib(heap, context, PGK_MIB_ROOM);
        struct json_object *o = json_object_new_object(), *stack = json_object_new_array();
        put(o, "label", json_object_new_string(pgk_mib_label_name(pgk_view_label(m, info))));
        put(o, "mib", mib_json(m));
        if (m->hist_count) {
            struct json_object *hist = json_object_new_array();
            for (uint32_t i = 0; i < m->hist_count; i++)
                json_object_array_add(hist, json_object_new_uint64(m->hist[i]));
            put(o, "histogram", hist);
        }
        for (size_t i = 0; i < n; i++)
            json_object_array_add(stack, frame_json(&frames[i]));
        put(o, "stack", stack);
        print(out, "    ", o, first);
    }
    pgk_arena_free(&arena);
    return status;
}

struct records {
    FILE *out;
    bool any;
};

static int print_record(void *ctx, const struct pgk_heap_record *r)
{
    struct records *w = ctx;
    struct json_object *o = json_object_new_object(), *allocs = json_object_new_array(),
                       *calls = json_object_new_array();
    put(o, "guid", hex(r->guid));
    if (*r->function)
        put(o, "function", json_object_new_string(r->function));
    for (size_t i = 0; i < r->n_alloc_sites; i++)
        json_object_array_add(allocs, json_object_new_uint64(r->alloc_sites[i]));
    for (size_t i = 0; i < r->n_call_sites; i++) {
        const struct pgk_heap_call_site *c = &r->call_sites[i];
        struct json_object *call = json_object_new_object(), *frames = json_object_new_array(),
                           *callees = json_object_new_array();
        for (size_t f = 0; f < c->n_frames; f++)
            json_object_array_add(frames, frame_json(&c->frames[f]));
        for (size_t k = 0; k < c->n_callees; k++)
            json_object_array_add(callees, hex(c->callees[k]));
        put(call, "frames", frames);
        put(call, "callees", callees);
        json_object_array_add(calls, call);
    }
    put(o, "alloc_sites", allocs);
    put(o, "call_sites", calls);
    print(w->out, "    ", o, !w->any);
    w->any = true;
    return 0;
}

static struct json_object *totals_json(const struct pgk_heap *heap,
                                       const struct pgk_file_info *info)
{
    struct pgk_heap_totals t;
    struct json_object *o = json_object_new_object(), *labels = json_object_new_object();
    pgk_heap_totals(heap, info, &t);
    put(o, "contexts", json_object_new_uint64(t.contexts));
    const enum pgk_mib_id sums[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize, PGK_MIB_TotalAccessCount,
                                    PGK_MIB_TotalLifetime};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (t.known >> sums[i] & 1)
            put(o, pgk_mib_info(sums[i], NULL, NULL), json_object_new_uint64(t.v[sums[i]]));
    for (enum pgk_mib_label l = 0; l < PGK_LABEL_NONE; l++) {
        struct json_object *label = json_object_new_object();
        put(label, "contexts", json_object_new_uint64(t.label_contexts[l]));
        put(label, "TotalSize", json_object_new_uint64(t.label_bytes[l]));
        put(labels, pgk_mib_label_name(l), label);
    }
    put(o, "labels", labels);
    return o;
}

static void print_member(FILE *out, const char *key, struct json_object *value)
{
    fprintf(out, "  \"%s\": %s,\n", key,
            json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(value);
}

/* As on the page and in the table: bytes at stake by rule, and the contexts. */
static int print_advice(const struct pgk_heap *heap, const struct pgk_file_info *info, FILE *out,
                        struct pgk_err *err)
{
    struct pgk_advice_list list;
    PGK_TRY(pgk_heap_advise(heap, info, &list, err));
    struct json_object *all = json_object_new_array();
    for (size_t i = 0; i < list.n; i++) {
        const struct pgk_advice *a = &list.v[i];
        struct json_object *o = json_object_new_object(), *contexts = json_object_new_array();
        put(o, "rule", json_object_new_string(pgk_advice_texts[a->rule].name));
        put(o, "bytes", json_object_new_uint64(a->bytes));
        put(o, "objects", json_object_new_uint64(a->objects));
        put(o, "action", json_object_new_string(pgk_advice_texts[a->rule].action));
        for (size_t c = 0; c < a->n; c++)
            json_object_array_add(contexts,
                                  json_object_new_uint64(list.stakes[a->first + c].context));
        put(o, "contexts", contexts);
        json_object_array_add(all, o);
    }
    pgk_advice_free(&list);
    print_member(out, "advice", all);
    return 0;
}

static struct json_object *units_json(void)
{
    struct json_object *o = json_object_new_object();
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        const char *unit, *name = pgk_mib_info(id, &unit, NULL);
        put(o, name, json_object_new_string(unit));
    }
    return o;
}

int pgk_report_heap_json(const struct pgk_heap *heap, const struct pgk_report_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_report_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    size_t *order = NULL, n = pgk_heap_contexts(heap);
    if (opts->top)
        PGK_TRY(pgk_heap_ranking(heap, opts, &order, &n, err));
    fputs("{\n", out);
    print_member(out, "schema", json_object_new_string("pgokit-heap-1"));
    if (opts->info) {
        print_member(out, "format", json_object_new_string(opts->info->format->name));
        print_member(out, "version", json_object_new_uint64(opts->info->version));
        if (opts->info->has_heap)
            print_member(out, "memprof_version",
                         json_object_new_uint64(opts->info->memprof_version));
    }
    print_member(out, "units", units_json());
    print_member(out, "totals", totals_json(heap, opts->info));
    int status =
        opts->top ? 0 : print_advice(heap, opts->info, out, err); /* by positions of contexts */
    fputs("  \"contexts\": [", out);
    for (size_t i = 0; i < n && !status; i++)
        status = print_context(heap, opts->info, order ? order[i] : i, !i, out, err);
    fputs("\n  ],\n  \"records\": [", out);
    struct records w = {.out = out};
    if (!status && !opts->top && pgk_heap_records(heap, print_record, &w) < 0)
        status = pgk_fail_nomem(err);
    fputs("\n  ]\n}\n", out);
    pgk_mem_free(order);
    return status;
}
