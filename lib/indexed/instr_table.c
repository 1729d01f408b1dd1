/* The counters of an indexed profile: summaries, the table of functions, and the parts after the
 * heap data. docs/formats/instr-indexed.md */
#include "indexed.h"

#include "hash.h"
#include "instr_parts.h"
#include "instr_summary.h"
#include "instr_version.h"
#include "name_blocks.h"
#include "ondisk_table.h"
#include "opts.h"
#include "value_sites.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- reading ---- */

struct reader {
    struct pgk_instr_adder *a;
    struct pgk_err *err;
    struct pgk_instr_holds holds;
    uint64_t functions; /* of all names */
    struct pgk_value_data values;
    PGK_VEC(uint8_t) bitmap, bits;
    struct pgk_uniformity uniformity; /* of the function that is being read */
    PGK_VEC(uint64_t) refs;
};

/* Each is counts, then cutoffs; what they say follows from the counters. */
static int skip_summary(struct pgk_cursor *c, struct pgk_err *err)
{
    uint64_t fields = pgk_cur_count(c, 8, "summary fields"),
             cutoffs = pgk_cur_count(c, 24, "summary cutoffs");
    if (!c->failed) {
        pgk_cur_take(c, fields * 8, "summary fields");
        pgk_cur_take(c, cutoffs * 24, "summary cutoffs");
    }
    return pgk_cur_check(c, err, "summary");
}

/* Names are checked once each: the compiler looks them up by their MD5. */
static int find_name(struct reader *r, uint64_t ref, const struct pgk_cursor *item, uint32_t *name)
{
    struct pgk_instr *p = r->a->profile;
    const char *s = (const char *)item->start;
    size_t len = (size_t)(item->at - item->start);
    *name = r->a->next < p->funcs.n ? p->funcs.v[r->a->next].name : PGK_INDEX_NONE;
    if (*name == PGK_INDEX_NONE || p->names.list.v[*name].ref != ref)
        *name = pgk_names_find(&p->names, ref);
    bool sound = *name == PGK_INDEX_NONE
                     ? pgk_md5_low64(s, len) == ref
                     : p->names.list.v[*name].len == len &&
                           !memcmp(p->names.list.v[*name].s, s, len);
    if (!sound)
        return pgk_cur_reject(item, r->err, PGK_E_CORRUPT, item->src.base_off, .record = "function",
                              .field = "name",
                              .found = PGK_F("'%.*s'", (int)(len < 100 ? len : 100), s),
                              .expected = PGK_F("the name whose hash is 0x%016" PRIx64, ref),
                              .hint = "the profile is damaged; write it again");
    if (*name == PGK_INDEX_NONE)
        *name = pgk_names_add(&p->names, &p->arena, ref, s, len);
    return *name == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

/* A number of bytes, the bytes, and zeros to a multiple of 8 bytes. */
static const uint8_t *take_packed(struct pgk_cursor *c, const char *field, size_t *n)
{
    *n = pgk_cur_count(c, 1, field);
    const uint8_t *bytes = pgk_cur_take(c, *n, field);
    pgk_cur_take(c, -*n & 7, field);
    return bytes;
}

/* A byte of a bitmap takes eight. */
static int read_wide_bitmap(struct reader *r, struct pgk_cursor *c, const char *record,
                            struct pgk_instr_record *out)
{
    uint64_t n = pgk_cur_count(c, 8, "bitmap bytes");
    const uint8_t *p = c->failed ? NULL : pgk_cur_take(c, n * 8, "bitmap bytes");
    PGK_TRY(pgk_cur_check(c, r->err, record));
    if (!pgk_vec_reserve(&r->bitmap, n))
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t byte;
        memcpy(&byte, p + i * 8, 8);
        if (byte > UINT8_MAX)
            return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, pgk_cur_off(c) - (n - i) * 8,
                                  .record = record, .field = "bitmap byte",
                                  .found = PGK_F("%" PRIu64, byte), .expected = "0 to 255",
                                  .hint = "the profile is damaged; write it again");
        r->bitmap.v[i] = (uint8_t)byte;
    }
    out->bitmap = r->bitmap.v;
    out->n_bitmap = n;
    return 0;
}

static int read_bitmap(struct reader *r, struct pgk_cursor *c, const char *record,
                       struct pgk_instr_record *out)
{
    if (!r->holds.bitmaps)
        return 0;
    if (!r->holds.packed_bitmaps)
        return read_wide_bitmap(r, c, record, out);
    out->bitmap = take_packed(c, "bitmap bytes", &out->n_bitmap);
    return pgk_cur_check(c, r->err, record);
}

static int read_uniformity(struct reader *r, struct pgk_cursor *c, const char *record,
                           struct pgk_instr_record *out)
{
    size_t n, wanted = pgk_uniformity_bytes(out->n_counts);
    uint64_t at = pgk_cur_off(c);
    if (!r->holds.uniformity)
        return 0;
    const uint8_t *bits = take_packed(c, "uniformity bytes", &n);
    PGK_TRY(pgk_cur_check(c, r->err, record));
    if (!n)
        return 0;
    if (n != wanted)
        return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, at, .record = record,
                              .field = "uniformity bytes", .found = PGK_F("%zu", n),
                              .expected =
                                  PGK_F("0, or %zu for %zu counters", wanted, out->n_counts),
                              .hint = "the profile is damaged; write it again");
    r->bits.n = 0;
    if (!pgk_vec_reserve(&r->bits, n))
        return pgk_fail_nomem(r->err);
    memcpy(r->bits.v, bits, n);
    r->uniformity.bits = r->bits.v;
    out->uniformity = &r->uniformity;
    return 0;
}

static int read_record(struct reader *r, struct pgk_cursor *c, uint32_t name)
{
    const char *record = r->a->profile->names.list.v[name].s;
    struct pgk_instr_record out = {.name = name, .hash = pgk_cur_u64(c, "function hash")};
    uint64_t at = pgk_cur_off(c);
    out.n_counts = r->holds.several_hashes ? pgk_cur_count(c, 8, "number of counters")
                                           : pgk_cur_left(c) / 8;
    out.counts = c->failed ? NULL : pgk_cur_take(c, out.n_counts * 8, "counters");
    PGK_TRY(pgk_cur_check(c, r->err, record));
    if (!out.n_counts || out.n_counts > UINT32_MAX)
        return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, at, .record = record,
                              .field = "number of counters", .found = PGK_F("%zu", out.n_counts),
                              .expected = "1 or more",
                              .hint = "the profile is damaged; write it again");
    PGK_TRY(read_bitmap(r, c, record, &out));
    PGK_TRY(read_uniformity(r, c, record, &out));
    if (r->holds.values) {
        PGK_TRY(pgk_value_data_read(&r->values, c, false, record, r->err));
        out.values = &r->values;
    }
    return pgk_instr_add(r->a, &out, r->err);
}

static int read_item(void *ctx, uint64_t ref, struct pgk_cursor *c, struct pgk_err *err)
{
    struct reader *r = ctx;
    uint32_t name;
    (void)err;
    PGK_TRY(find_name(r, ref, c, &name));
    while (pgk_cur_left(c))
        PGK_TRY(read_record(r, c, name));
    return 0;
}

int pgk_instr_part_ids(const struct pgk_cursor *file, uint64_t off, pgk_build_id_fn *fn, void *ctx,
                       struct pgk_err *err)
{
    struct pgk_cursor c = *file;
    if (!off)
        return 0;
    pgk_cur_seek(&c, off, "binary ids");
    uint64_t size = pgk_cur_count(&c, 1, "size of binary ids");
    PGK_TRY(pgk_cur_check(&c, err, "binary ids"));
    c.end = c.at + size;
    while (pgk_cur_left(&c)) {
        uint64_t at = pgk_cur_off(&c), n = pgk_cur_count(&c, 1, "length of binary id");
        const uint8_t *id = pgk_cur_take(&c, n, "binary id");
        pgk_cur_take(&c, -n & 7, "padding of binary id");
        PGK_TRY(pgk_cur_check(&c, err, "binary ids"));
        if (!n)
            return pgk_cur_reject(&c, err, PGK_E_CORRUPT, at, .record = "binary ids",
                                  .field = "length of binary id", .found = "0",
                                  .expected = "1 or more", .hint = "write the profile again");
        PGK_TRY(fn(ctx, id, n));
    }
    return 0;
}

static int add_id(void *ctx, const uint8_t *id, size_t size)
{
    struct reader *r = ctx;
    return pgk_instr_add_binary_id(r->a->profile, id, size) ? 0 : pgk_fail_nomem(r->err);
}

static int add_vtable(void *ctx, const char *name, size_t len)
{
    struct reader *r = ctx;
    struct pgk_instr *p = r->a->profile;
    return pgk_names_add(&p->vtables, &p->arena, pgk_md5_low64(name, len), name, len) ==
                   PGK_INDEX_NONE
               ? pgk_fail_nomem(r->err)
               : 0;
}

static int read_vtable_names(struct reader *r, const struct pgk_cursor *file, uint64_t off)
{
    struct pgk_cursor c = *file;
    if (!off)
        return 0;
    pgk_cur_seek(&c, off, "vtable names");
    uint64_t size = pgk_cur_count(&c, 1, "size of vtable names");
    PGK_TRY(pgk_cur_check(&c, r->err, "vtable names"));
    c.end = c.at + size;
    return pgk_name_blocks_read(&c, "vtable names", add_vtable, r, r->err);
}

/* The weight of an input is that of its traces; the size of the stream is not weighted, because it
 * says how many traces there were to choose from. */
static int read_traces(struct reader *r, const struct pgk_cursor *file, uint64_t off)
{
    struct pgk_instr *p = r->a->profile;
    struct pgk_cursor c = *file;
    pgk_cur_seek(&c, off, "temporal traces");
    uint64_t traces = pgk_cur_count(&c, 16, "number of traces"),
             stream = pgk_cur_u64(&c, "size of the stream of traces");
    PGK_TRY(pgk_cur_check(&c, r->err, "temporal traces"));
    p->trace_stream = pgk_count_add(p->trace_stream, stream, 1, UINT64_MAX);
    while (traces--) {
        uint64_t weight = pgk_cur_u64(&c, "weight of the trace"),
                 n = pgk_cur_count(&c, 8, "functions of the trace");
        const uint8_t *refs = c.failed ? NULL : pgk_cur_take(&c, n * 8, "functions of the trace");
        PGK_TRY(pgk_cur_check(&c, r->err, "temporal traces"));
        r->refs.n = 0;
        if (!pgk_vec_reserve(&r->refs, n))
            return pgk_fail_nomem(r->err);
        if (n)
            memcpy(r->refs.v, refs, n * 8);
        if (!pgk_instr_add_trace(p, pgk_count_add(0, weight, r->a->weight, UINT64_MAX), r->refs.v,
                                 n))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_parts(struct reader *r, const struct pgk_cursor *file,
                      const struct pgk_indexed_header *h)
{
    struct pgk_cursor c = *file;
    if (r->holds.summary)
        PGK_TRY(skip_summary(&c, r->err));
    if (h->flags >> PGK_INDEXED_CONTEXT_SENSITIVE & 1)
        PGK_TRY(skip_summary(&c, r->err));
    PGK_TRY(pgk_ondisk_read(file, pgk_cur_off(&c), h->function_table_off, PGK_ONDISK_NAMES,
                            "function table", read_item, r, r->err));
    PGK_TRY(pgk_instr_part_ids(file, h->binary_ids_off, add_id, r, r->err));
    PGK_TRY(read_vtable_names(r, file, h->vtable_names_off));
    if (h->temporal_off && h->flags >> PGK_INDEXED_TEMPORAL & 1)
        PGK_TRY(read_traces(r, file, h->temporal_off));
    return 0;
}

int pgk_instr_parts_read(struct pgk_instr_adder *a, const struct pgk_cursor *c,
                         const struct pgk_indexed_header *h, struct pgk_err *err)
{
    struct reader r = {.a = a, .err = err, .holds = pgk_index_holds(h->index_version)};
    struct pgk_cursor table = *c;
    pgk_cur_seek(&table, h->function_table_off, "function_table_off");
    pgk_cur_u64(&table, "number of buckets");
    if (pgk_cur_u64(&table, "number of items")) {
        PGK_TRY(pgk_instr_note_flags(a, h->flags, c->src.format, err));
        a->profile->hash_age |= r.holds.hashes;
    }
    int status = read_parts(&r, c, h);
    pgk_value_data_free(&r.values);
    pgk_vec_free(&r.bitmap);
    pgk_vec_free(&r.bits);
    pgk_vec_free(&r.refs);
    return status;
}

/* ---- writing ---- */

struct writer {
    const struct pgk_instr *p;
    struct pgk_instr_holds holds; /* of the version */
    uint32_t *order; /* functions by name, then hash */
    struct pgk_values_writer values;
};

uint64_t pgk_instr_variant_bits(const struct pgk_instr *p, uint32_t index_version)
{
    const struct pgk_instr_holds holds = pgk_index_holds(index_version);
    uint64_t flags = p ? p->flags : 0;
    if (!holds.traces)
        flags &= ~(UINT64_C(1) << PGK_INDEXED_TEMPORAL);
    if (!holds.loop_entries)
        flags &= ~(UINT64_C(1) << PGK_INDEXED_LOOP_ENTRIES);
    return flags;
}

int pgk_instr_parts_loss(const struct pgk_instr *p, uint32_t index_version,
                         struct pgk_instr_loss *loss, struct pgk_err *err)
{
    const struct pgk_instr_holds holds = pgk_index_holds(index_version);
    (void)err;
    loss->traces = holds.traces ? 0 : p->traces.n;
    loss->binary_ids = holds.binary_ids ? 0 : p->binary_ids.n;
    pgk_instr_note_loss(p, &holds, loss);
    return 0;
}

static int write_summary(const struct pgk_instr *p, bool contextual, struct pgk_sink *out,
                         struct pgk_err *err)
{
    struct pgk_instr_summary s;
    struct pgk_summary_cutoff cutoffs[PGK_SUMMARY_CUTOFFS];
    PGK_TRY(pgk_instr_summarise_written(p, contextual, &s, cutoffs, err));
    const uint64_t fields[] = {s.functions, s.counters,        s.max_entry_count,
                               s.max_count, s.max_inner_count, s.total_count};
    pgk_sink_u64(out, PGK_COUNTOF(fields));
    pgk_sink_u64(out, PGK_COUNTOF(cutoffs));
    pgk_sink_bytes(out, fields, sizeof fields);
    for (size_t i = 0; i < PGK_COUNTOF(cutoffs); i++) {
        pgk_sink_u64(out, cutoffs[i].ppm);
        pgk_sink_u64(out, cutoffs[i].min_count);
        pgk_sink_u64(out, cutoffs[i].n_counts);
    }
    return 0;
}

/* Bytes, after their number. */
static uint64_t packed_size(uint64_t n)
{
    return n + (-n & 7);
}

static uint64_t bitmap_size(const struct writer *w, const struct pgk_instr_func *f)
{
    if (!w->holds.bitmaps)
        return 0;
    return 8 + (w->holds.packed_bitmaps ? packed_size(f->n_bitmap) : 8 * (uint64_t)f->n_bitmap);
}

static void write_bitmap(const struct writer *w, const struct pgk_instr_func *f,
                         struct pgk_sink *out)
{
    if (!w->holds.bitmaps)
        return;
    pgk_sink_u64(out, f->n_bitmap);
    if (!w->holds.packed_bitmaps) {
        for (uint32_t i = 0; i < f->n_bitmap; i++)
            pgk_sink_u64(out, f->bitmap[i]);
        return;
    }
    pgk_sink_bytes(out, f->bitmap, f->n_bitmap);
    pgk_sink_pad(out, f->n_bitmap);
}

static uint64_t uniformity_size(const struct writer *w, const struct pgk_instr_func *f)
{
    if (!w->holds.uniformity)
        return 0;
    return 8 + (f->uniformity ? packed_size(pgk_uniformity_bytes(f->n_counts)) : 0);
}

static void write_uniformity(const struct writer *w, const struct pgk_instr_func *f,
                             struct pgk_sink *out)
{
    if (!w->holds.uniformity)
        return;
    size_t n = f->uniformity ? pgk_uniformity_bytes(f->n_counts) : 0;
    pgk_sink_u64(out, n);
    for (size_t i = 0; i < n; i++)
        pgk_sink_u8(out, pgk_uniformity_byte(f, i));
    pgk_sink_pad(out, n);
}

static void write_record(struct writer *w, const struct pgk_instr_func *f, struct pgk_sink *out)
{
    pgk_sink_u64(out, f->hash);
    pgk_sink_u64(out, f->n_counts);
    pgk_sink_bytes(out, f->counts, f->n_counts * sizeof *f->counts);
    write_bitmap(w, f, out);
    write_uniformity(w, f, out);
    pgk_values_write(&w->values, f, out);
}

/* An item is a name: its functions follow each other in the order, from position `first`. */
static const struct pgk_instr_func *func_at(const struct writer *w, size_t first, size_t i)
{
    if (i >= w->p->funcs.n)
        return NULL;
    const struct pgk_instr_func *f = &w->p->funcs.v[w->order[i]];
    return f->name == w->p->funcs.v[w->order[first]].name ? f : NULL;
}

static uint64_t item_size(void *ctx, size_t first)
{
    const struct writer *w = ctx;
    const struct pgk_instr_func *f;
    uint64_t size = 0;
    for (size_t i = first; (f = func_at(w, first, i)); i++)
        size += 16 + 8 * (uint64_t)f->n_counts + bitmap_size(w, f) + uniformity_size(w, f) +
                pgk_values_size(f, w->values.kinds);
    return size;
}

static void emit_item(void *ctx, size_t first, struct pgk_sink *out)
{
    struct writer *w = ctx;
    const struct pgk_instr_func *f;
    for (size_t i = first; (f = func_at(w, first, i)); i++)
        write_record(w, f, out);
}

static const char *item_name(void *ctx, size_t first, size_t *len)
{
    const struct writer *w = ctx;
    const struct pgk_instr_name *name = &w->p->names.list.v[w->p->funcs.v[w->order[first]].name];
    *len = name->len;
    return name->s;
}

static int write_table(struct writer *w, struct pgk_sink *out, uint64_t *table_off,
                       struct pgk_err *err)
{
    struct pgk_ondisk_writer table = {0};
    struct pgk_ondisk_emit emit = {PGK_ONDISK_NAMES, item_size, emit_item, item_name, w,
                                   .threads = 1}; /* values are ranked in one place */
    size_t n = w->p ? w->p->funcs.n : 0;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        uint32_t name = w->p->funcs.v[w->order[i]].name;
        if (!i || w->p->funcs.v[w->order[i - 1]].name != name)
            ok = pgk_ondisk_add(&table, w->p->names.list.v[name].ref, i);
    }
    ok = ok && pgk_ondisk_write(&table, out, &emit, table_off) && !w->values.failed;
    pgk_ondisk_free(&table);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_instr_table_write(const struct pgk_instr *p, struct pgk_sink *out, uint32_t index_version,
                          uint64_t *table_off, struct pgk_err *err)
{
    struct writer w = {.p = p, .holds = pgk_index_holds(index_version)};
    w.values.kinds = w.holds.vtables ? PGK_VALUE_KINDS : PGK_VALUE_VTABLE;
    PGK_TRY(write_summary(p, false, out, err));
    if (p && p->flags >> PGK_INDEXED_CONTEXT_SENSITIVE & 1)
        PGK_TRY(write_summary(p, true, out, err));
    if (p)
        PGK_TRY(pgk_instr_order(p, &w.order, err));
    int status = write_table(&w, out, table_off, err);
    pgk_mem_free(w.order);
    pgk_vec_free(&w.values.ranked);
    return status;
}

static int write_binary_ids(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err)
{
    pgk_sink_u64(out, p ? pgk_instr_ids_size(p) : 0);
    return p ? pgk_instr_ids_write(p, out, err) : 0;
}

static int write_vtable_names(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err)
{
    uint64_t at = pgk_sink_off(out);
    pgk_sink_u64(out, 0);
    if (p)
        PGK_TRY(pgk_instr_names_write(&p->vtables, NULL, out, err));
    uint64_t blob = pgk_sink_off(out) - at - 8;
    pgk_sink_patch_u64(out, at, blob);
    pgk_sink_pad(out, blob);
    return 0;
}

static int write_traces(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err)
{
    const struct pgk_instr_trace **order;
    PGK_TRY(pgk_instr_order_traces(p, &order, err));
    pgk_sink_u64(out, p->traces.n);
    pgk_sink_u64(out, p->trace_stream);
    for (size_t i = 0; i < p->traces.n; i++) {
        pgk_sink_u64(out, order[i]->weight);
        pgk_sink_u64(out, order[i]->n);
        pgk_sink_bytes(out, order[i]->refs, order[i]->n * sizeof *order[i]->refs);
    }
    pgk_mem_free(order);
    return 0;
}

int pgk_instr_rest_write(const struct pgk_instr *p, struct pgk_sink *out,
                         struct pgk_indexed_header *h, struct pgk_err *err)
{
    const struct pgk_instr_holds holds = pgk_index_holds(h->index_version);
    if (holds.binary_ids) {
        h->binary_ids_off = pgk_sink_off(out);
        PGK_TRY(write_binary_ids(p, out, err));
    }
    if (holds.vtables) {
        h->vtable_names_off = pgk_sink_off(out);
        PGK_TRY(write_vtable_names(p, out, err));
    }
    if (h->version >> PGK_INDEXED_TEMPORAL & 1) {
        h->temporal_off = pgk_sink_off(out);
        PGK_TRY(write_traces(p, out, err));
    }
    return 0;
}
