/* Writer of raw instrumentation profiles, versions 8 to 11, as a 64-bit little-endian program
 * writes them. docs/formats/instr-raw.md
 *
 * Addresses are made up, one for each name of a function and each virtual table: all that
 * readers do with them is to find the name again. */
#include "instr_raw.h"

#include "instr_parts.h"
#include "instr_raw_layout.h"
#include "instr_version.h"
#include "value_sites.h"

#include <inttypes.h>
#include <stdlib.h>

enum { POINTER = 8, TEXT_START = 0x10000, ALIGNMENT = 16, STAMP = 8 /* bytes */ };

struct writer {
    const struct pgk_instr *p;
    struct pgk_err *err;
    uint32_t version;
    struct pgk_instr_holds holds; /* of the version */
    uint32_t *order;      /* functions by name, then hash */
    uint32_t *first;      /* by name: place of its first function in `order` + 1; 0: none */
    uint64_t *stamps;     /* by place in `order`: when called first; NULL: not kept */
    size_t untraced;      /* calls of the trace that found no function */
    PGK_VEC(uint64_t) tables; /* name references of virtual tables, sorted */
    bool bytes_count;     /* counters are one byte, 0 meaning covered */
    struct pgk_raw_header h;
    struct pgk_raw_record_layout layout;
    struct pgk_values_writer values;
};

static const struct pgk_instr_func *func_at(const struct writer *w, size_t i)
{
    return &w->p->funcs.v[w->order[i]];
}

/* ---- addresses ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint64_t written_value(const void *ctx, enum pgk_value_kind kind, uint64_t value)
{
    const struct writer *w = ctx;
    if (kind == PGK_VALUE_SIZE || !value)
        return value;
    if (kind == PGK_VALUE_CALL) {
        uint32_t name = pgk_names_find(&w->p->names, value);
        return name == PGK_INDEX_NONE || !w->first[name]
                   ? 0
                   : TEXT_START + (uint64_t)w->first[name] * ALIGNMENT;
    }
    const uint64_t *at =
        bsearch(&value, w->tables.v, w->tables.n, sizeof *w->tables.v, by_number);
    return TEXT_START + (w->p->funcs.n + 1 + (size_t)(at - w->tables.v)) * ALIGNMENT;
}

/* Those with a name, and those that were seen. */
static int collect_tables(struct writer *w)
{
    const struct pgk_instr *p = w->p;
    for (size_t i = 0; i < p->vtables.list.n; i++)
        if (!pgk_vec_push(&w->tables, p->vtables.list.v[i].ref))
            return pgk_fail_nomem(w->err);
    for (size_t i = 0; i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        for (uint32_t k = 0; k < f->n_sites[PGK_VALUE_VTABLE]; k++) {
            const struct pgk_value_site *s = pgk_func_site(f, PGK_VALUE_VTABLE, k);
            for (uint32_t v = 0; v < s->n; v++)
                if (s->v[v].value && !pgk_vec_push(&w->tables, s->v[v].value))
                    return pgk_fail_nomem(w->err);
        }
    }
    if (!w->tables.n)
        return 0;
    size_t n = 1;
    qsort(w->tables.v, w->tables.n, sizeof *w->tables.v, by_number);
    for (size_t i = 1; i < w->tables.n; i++)
        if (w->tables.v[i] != w->tables.v[n - 1])
            w->tables.v[n++] = w->tables.v[i];
    w->tables.n = n;
    return 0;
}

/* ---- what is written ---- */

/* The functions of a name that was called twice are taken in their order. */
static int stamp_calls(struct writer *w)
{
    const struct pgk_instr *p = w->p;
    const struct pgk_instr_trace **traces;
    w->stamps = pgk_mem_zalloc(p->funcs.n + 1, sizeof *w->stamps);
    if (!w->stamps)
        return pgk_fail_nomem(w->err);
    PGK_TRY(pgk_instr_order_traces(p, &traces, w->err));
    for (size_t i = 0; p->traces.n && i < traces[0]->n; i++) {
        uint32_t name = pgk_names_find(&p->names, traces[0]->refs[i]);
        size_t at = name == PGK_INDEX_NONE ? 0 : w->first[name];
        while (at && at <= p->funcs.n && w->stamps[at - 1] && func_at(w, at - 1)->name == name)
            at++;
        if (at && at <= p->funcs.n && func_at(w, at - 1)->name == name)
            w->stamps[at - 1] = i + 1;
        else
            w->untraced++;
    }
    pgk_mem_free(traces);
    return 0;
}

static uint64_t counter_bytes(const struct writer *w, const struct pgk_instr_func *f)
{
    return (w->stamps ? STAMP : 0) + (uint64_t)f->n_counts * (w->bytes_count ? 1 : 8);
}

/* As the record says; a time stamp counts as so many of its bytes. */
static uint64_t counters_of(const struct writer *w, const struct pgk_instr_func *f)
{
    return counter_bytes(w, f) / (w->bytes_count ? 1 : 8);
}

static void fill_header(struct writer *w)
{
    const struct pgk_instr *p = w->p;
    uint64_t counters = 0, bitmap = 0, uniform = 0, variants = p->flags >> 32 << 32;
    bool any_uniformity = false;
    for (size_t i = 0; i < p->funcs.n; i++) {
        counters += counter_bytes(w, &p->funcs.v[i]);
        bitmap += w->holds.bitmaps ? p->funcs.v[i].n_bitmap : 0;
        uniform += counters_of(w, &p->funcs.v[i]);
        any_uniformity |= w->holds.uniformity && p->funcs.v[i].uniformity;
    }
    if (!w->stamps)
        variants &= ~(UINT64_C(1) << PGK_INDEXED_TEMPORAL);
    if (!w->holds.loop_entries)
        variants &= ~(UINT64_C(1) << PGK_INDEXED_LOOP_ENTRIES);
    w->h = (struct pgk_raw_header){
        .magic = PGK_INSTR_RAW_MAGIC_64,
        .version = variants | w->version,
        .binary_ids_size = pgk_instr_ids_size(p),
        .n_records = p->funcs.n,
        .n_counters = w->bytes_count ? counters : counters / 8,
        .pad_after_counters = -counters & 7,
        .bitmap_size = bitmap,
        .pad_after_bitmap = -bitmap & 7,
        .n_uniform = any_uniformity ? uniform : 0,
        .n_vtables = w->tables.n,
        .last_value_kind = (uint64_t)w->values.kinds - 1,
    };
    /* As if the parts lay in memory as they do in the file. */
    w->h.counters_delta = p->funcs.n * w->layout.bytes;
    w->h.bitmap_delta = w->h.counters_delta + counters + w->h.pad_after_counters;
    if (any_uniformity)
        w->h.uniform_delta = w->h.bitmap_delta + bitmap + w->h.pad_after_bitmap;
}

static void free_writer(struct writer *w)
{
    pgk_mem_free(w->order);
    pgk_mem_free(w->first);
    pgk_mem_free(w->stamps);
    pgk_vec_free(&w->tables);
    pgk_vec_free(&w->values.ranked);
}

static int prepare(struct writer *w)
{
    const struct pgk_instr *p = w->p;
    w->layout = pgk_raw_record_layout(w->version, POINTER);
    w->bytes_count = p->flags >> PGK_INDEXED_BYTE_COVERAGE & 1;
    w->values.kinds = w->holds.vtables ? PGK_VALUE_KINDS : PGK_VALUE_VTABLE;
    w->values.written = written_value;
    w->values.ctx = w;
    PGK_TRY(pgk_instr_order(p, &w->order, w->err));
    w->first = pgk_mem_zalloc(p->names.list.n + 1, sizeof *w->first);
    if (!w->first)
        return pgk_fail_nomem(w->err);
    for (size_t i = p->funcs.n; i-- > 0;)
        w->first[func_at(w, i)->name] = (uint32_t)i + 1;
    if (w->holds.vtables)
        PGK_TRY(collect_tables(w));
    if (w->holds.traces && p->flags >> PGK_INDEXED_TEMPORAL & 1)
        PGK_TRY(stamp_calls(w));
    fill_header(w);
    return 0;
}

/* ---- parts ---- */

static void write_header(const struct writer *w, struct pgk_sink *out)
{
#define PGK_INSTR_HEADER(name, first, meaning) \
    if (w->version >= (first))                 \
        pgk_sink_u64(out, w->h.name);
#include "instr_raw.def"
#undef PGK_INSTR_HEADER
}

static void put(uint8_t *record, struct pgk_raw_place place, uint64_t value)
{
    memcpy(record + place.off, &value, place.size);
}

static void write_records(const struct writer *w, struct pgk_sink *out)
{
    uint64_t counters = w->h.counters_delta, bitmap = w->h.bitmap_delta,
             uniform = w->h.uniform_delta;
    for (size_t i = 0; i < w->p->funcs.n; i++) {
        const struct pgk_instr_func *f = func_at(w, i);
        const struct pgk_raw_record_layout *l = &w->layout;
        uint8_t record[128] = {0};
        uint64_t ref = w->p->names.list.v[f->name].ref, start = i * l->bytes;
        put(record, l->name_ref, ref);
        put(record, l->hash, f->hash);
        put(record, l->counter_ptr, counters - start);
        put(record, l->uniform_ptr, w->h.n_uniform ? uniform - start : 0);
        put(record, l->bitmap_ptr, f->n_bitmap ? bitmap - start : 0);
        put(record, l->address, written_value(w, PGK_VALUE_CALL, ref));
        put(record, l->n_counters, counters_of(w, f));
        put(record, l->sites_call, f->n_sites[PGK_VALUE_CALL]);
        put(record, l->sites_size, f->n_sites[PGK_VALUE_SIZE]);
        put(record, l->sites_vtable, f->n_sites[PGK_VALUE_VTABLE]);
        put(record, l->wave_size, f->uniformity ? f->uniformity->wave_size : 0);
        put(record, l->n_bitmap, f->n_bitmap);
        pgk_sink_bytes(out, record, l->bytes);
        counters += counter_bytes(w, f);
        bitmap += l->n_bitmap.size ? f->n_bitmap : 0;
        uniform += 8 * counters_of(w, f);
    }
}

static void write_counters(const struct writer *w, struct pgk_sink *out)
{
    for (size_t i = 0; i < w->p->funcs.n; i++) {
        const struct pgk_instr_func *f = func_at(w, i);
        if (w->stamps)
            pgk_sink_u64(out, w->stamps[i]);
        if (!w->bytes_count)
            pgk_sink_bytes(out, f->counts, f->n_counts * sizeof *f->counts);
        for (uint32_t k = 0; w->bytes_count && k < f->n_counts; k++)
            pgk_sink_u8(out, f->counts[k] ? 0 : 0xff);
    }
    pgk_sink_zeros(out, w->h.pad_after_counters);
}

static void write_bitmaps(const struct writer *w, struct pgk_sink *out)
{
    for (size_t i = 0; w->h.bitmap_size && i < w->p->funcs.n; i++)
        pgk_sink_bytes(out, func_at(w, i)->bitmap, func_at(w, i)->n_bitmap);
    pgk_sink_zeros(out, w->h.pad_after_bitmap);
}

/* One for each counter of every function, because readers take it so. */
static void write_uniform(const struct writer *w, struct pgk_sink *out)
{
    for (size_t i = 0; w->h.n_uniform && i < w->p->funcs.n; i++) {
        const struct pgk_instr_func *f = func_at(w, i);
        pgk_sink_zeros(out, 8 * (counters_of(w, f) - f->n_counts));
        for (uint32_t k = 0; k < f->n_counts; k++)
            pgk_sink_u64(out, pgk_uniform_count(f, k));
    }
}

static void write_tables(const struct writer *w, struct pgk_sink *out)
{
    const struct pgk_raw_vtable_layout l = pgk_raw_vtable_layout(POINTER);
    for (size_t i = 0; i < w->tables.n; i++) {
        uint8_t record[64] = {0};
        put(record, l.name_ref, w->tables.v[i]);
        put(record, l.address, written_value(w, PGK_VALUE_VTABLE, w->tables.v[i]));
        put(record, l.size, ALIGNMENT);
        pgk_sink_bytes(out, record, l.bytes);
    }
}

static void write_values(struct writer *w, struct pgk_sink *out)
{
    for (size_t i = 0; i < w->p->funcs.n; i++) {
        const struct pgk_instr_func *f = func_at(w, i);
        bool any = false;
        for (int k = 0; k < w->values.kinds; k++)
            any |= f->n_sites[k] > 0;
        if (any)
            pgk_values_write(&w->values, f, out);
    }
}

/* Names follow the header that holds their sizes. */
static int write_all(struct writer *w, struct pgk_sink *out, struct pgk_sink *names,
                     struct pgk_sink *table_names)
{
    size_t size, table_size;
    PGK_TRY(pgk_instr_names_write(&w->p->names, w->first, names, w->err));
    if (w->holds.vtables)
        PGK_TRY(pgk_instr_names_write(&w->p->vtables, NULL, table_names, w->err));
    const uint8_t *bytes = pgk_sink_data(names, &size),
                  *table_bytes = pgk_sink_data(table_names, &table_size);
    if (!bytes || !table_bytes)
        return pgk_fail_nomem(w->err);
    w->h.names_size = size;
    w->h.vtable_names_size = table_size;
    write_header(w, out);
    PGK_TRY(pgk_instr_ids_write(w->p, out, w->err));
    write_records(w, out);
    write_counters(w, out);
    write_bitmaps(w, out);
    write_uniform(w, out);
    pgk_sink_bytes(out, bytes, size);
    pgk_sink_align(out, 8);
    write_tables(w, out);
    pgk_sink_bytes(out, table_bytes, table_size);
    pgk_sink_align(out, 8);
    write_values(w, out);
    return w->values.failed ? pgk_fail_nomem(w->err) : 0;
}

static int write_with_names(struct writer *w, struct pgk_sink *out)
{
    struct pgk_sink *names, *table_names = NULL;
    PGK_TRY(pgk_sink_memory(&names, w->err));
    int status = pgk_sink_memory(&table_names, w->err);
    if (!status)
        status = write_all(w, out, names, table_names);
    pgk_sink_drop(&names);
    pgk_sink_drop(&table_names);
    return status;
}

int pgk_instr_raw_write(const struct pgk_instr *p, uint32_t version, struct pgk_sink *out,
                        struct pgk_err *err)
{
    struct writer w = {.p = p, .version = version, .holds = pgk_raw_holds(version), .err = err};
    int status = prepare(&w);
    if (!status)
        status = write_with_names(&w, out);
    free_writer(&w);
    return status;
}

/* ---- what cannot be written ---- */

static int refuse(const struct pgk_instr_name *name, const char *path, const char *field,
                  const char *found, const char *expected, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_LIMIT, .file = path, .format = "raw counters", .record = name->s,
                    .field = field, .found = found, .expected = expected,
                    .hint = "write an indexed profile instead");
}

/* Readers refuse files with counts that no program can reach, and take marks of functions that are
 * only known to be hot or warm for such counts. */
static int check_counts(const struct pgk_instr_func *f, const struct pgk_instr_name *name,
                        uint64_t max, const char *path, struct pgk_err *err)
{
    for (uint32_t k = 0; k < f->n_counts; k++)
        if (f->counts[k] > max)
            return refuse(name, path, PGK_F("counter %u", k + 1),
                          !k && f->pseudo ? "a mark that the function is hot or warm"
                                          : PGK_F("%" PRIu64, f->counts[k]),
                          PGK_F("at most 2^56 (%" PRIu64 "), because LLVM refuses more", max), err);
    return 0;
}

int pgk_instr_raw_check(const struct pgk_instr *p, const char *path, uint32_t version,
                        struct pgk_err *err)
{
    uint64_t max = p->flags >> PGK_INDEXED_BYTE_COVERAGE & 1 ? UINT64_MAX
                                                              : pgk_raw_count_max(version);
    for (size_t i = 0; i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        const struct pgk_instr_name *name = &p->names.list.v[f->name];
        if (!name->len || memchr(name->s, 1, name->len))
            return refuse(name, path, "name", name->len ? "a name with byte 1" : "no letters",
                          "a name that can stand in a list of names", err);
        for (int k = 0; k < PGK_VALUE_KINDS; k++)
            if (f->n_sites[k] > UINT16_MAX)
                return refuse(name, path, "value sites", PGK_F("%u", f->n_sites[k]),
                              "65535 at most", err);
        PGK_TRY(check_counts(f, name, max, path, err));
    }
    return 0;
}

/* ---- what is lost ---- */

static size_t count_unknown(const struct writer *w, const struct pgk_instr_func *f)
{
    size_t unknown = 0;
    for (uint32_t i = 0; i < f->n_sites[PGK_VALUE_CALL]; i++) {
        const struct pgk_value_site *s = pgk_func_site(f, PGK_VALUE_CALL, i);
        for (uint32_t v = 0; v < s->n; v++)
            unknown += s->v[v].value && !written_value(w, PGK_VALUE_CALL, s->v[v].value);
    }
    return unknown;
}

static size_t count_above_one(const struct pgk_instr_func *f)
{
    size_t above = 0;
    for (uint32_t i = 0; i < f->n_counts; i++)
        above += f->counts[i] > 1;
    return above;
}

int pgk_instr_raw_loss(const struct pgk_instr *p, uint32_t version, struct pgk_instr_loss *loss,
                       struct pgk_err *err)
{
    struct writer w = {.p = p, .version = version, .holds = pgk_raw_holds(version), .err = err};
    int status = prepare(&w);
    loss->traces = !w.stamps ? p->traces.n : p->traces.n > 1 ? p->traces.n - 1 : 0;
    loss->traced_functions = w.untraced;
    pgk_instr_note_loss(p, &w.holds, loss);
    for (size_t i = 0; !status && i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        loss->unknown_targets += count_unknown(&w, f);
        loss->covered_twice += w.bytes_count ? count_above_one(f) : 0;
    }
    free_writer(&w);
    return status;
}
