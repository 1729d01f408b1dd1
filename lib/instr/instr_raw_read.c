/* Reader of raw instrumentation profiles, versions 8 to 11, of either byte order and pointer
 * size. docs/formats/instr-raw.md */
#include "instr_raw.h"

#include "format_row.h"
#include "hash.h"
#include "instr_raw_layout.h"
#include "instr_version.h"
#include "name_blocks.h"
#include "search.h"

#include <inttypes.h>
#include <stdlib.h>

/* One function's address, or a virtual table's with its end. */
struct symbol {
    uint64_t start, end, ref;
};
struct symbols {
    PGK_VEC(struct symbol) list;
    struct pgk_index by_start; /* of functions */
    bool made;
};

/* A part of the file. */
struct part {
    const uint8_t *bytes;
    uint64_t size, off;
};

struct stamp {
    uint64_t when, ref;
};

struct reader {
    struct pgk_instr_adder *a;
    struct pgk_cursor *c;
    struct pgk_err *err;
    uint32_t image;
    bool swap;        /* the other byte order */
    unsigned pointer; /* bytes */
    bool bytes_count; /* counters are one byte, 0 meaning covered */
    bool stamped;     /* 8 bytes of counters are a time stamp */
    struct pgk_raw_header h;
    struct pgk_raw_record_layout layout;
    struct part records, counters, bitmap, uniform, names, vtables, vtable_names;
    bool names_read;
    uint64_t counters_used, bitmap_used, uniform_used;
    struct symbols functions, tables;
    struct pgk_value_data values;
    PGK_VEC(uint64_t) counts, uniform_counts;
    struct pgk_uniformity uniformity; /* of the function that is being read */
    PGK_VEC(struct stamp) stamps;
};

#define RECORD(r, what, i) PGK_F("image %u, %s %" PRIu64, (r)->image, (what), (uint64_t)(i) + 1)

/* ---- numbers ---- */

static inline uint64_t number(const struct reader *r, const uint8_t *p, unsigned size)
{
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (size) {
    case 2:
        memcpy(&half, p, sizeof half);
        return r->swap ? __builtin_bswap16(half) : half;
    case 4:
        memcpy(&word, p, sizeof word);
        return r->swap ? __builtin_bswap32(word) : word;
    case 8:
        memcpy(&wide, p, sizeof wide);
        return r->swap ? __builtin_bswap64(wide) : wide;
    }
    return 0;
}

#define FIELD(r, bytes, layout, name) number((r), (bytes) + (layout)->name.off, (layout)->name.size)

/* ---- header and parts ---- */

static bool known_magic(uint64_t magic, bool *swap, unsigned *pointer)
{
    for (int other = 0; other < 2; other++, magic = __builtin_bswap64(magic))
        if (magic == PGK_INSTR_RAW_MAGIC_64 || magic == PGK_INSTR_RAW_MAGIC_32) {
            *swap = other;
            *pointer = magic == PGK_INSTR_RAW_MAGIC_64 ? 8 : 4;
            return true;
        }
    return false;
}

bool pgk_instr_raw_sniff(const uint8_t *bytes, size_t size)
{
    uint64_t magic;
    bool swap;
    unsigned pointer;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return known_magic(magic, &swap, &pointer);
}

static uint64_t header_u64(struct reader *r, const char *field)
{
    uint64_t v = pgk_cur_u64(r->c, field);
    return r->swap ? __builtin_bswap64(v) : v;
}

/* By a cursor of its own: the byte order and the version decide how the header is read at all. */
static int read_version(struct reader *r, uint32_t *version)
{
    struct pgk_cursor start = *r->c;
    uint64_t off = pgk_cur_off(r->c), magic = pgk_cur_u64(&start, "magic"),
             word = pgk_cur_u64(&start, "version");
    PGK_TRY(pgk_cur_check(&start, r->err, PGK_F("image %u, header", r->image)));
    if (!known_magic(magic, &r->swap, &r->pointer))
        return pgk_cur_reject(r->c, r->err, r->image > 1 ? PGK_E_CORRUPT : PGK_E_FORMAT, off,
                              .record = PGK_F("image %u, header", r->image), .field = "magic",
                              .found = PGK_F("0x%016" PRIx64, magic),
                              .expected = PGK_F("0x%016" PRIx64 " or 0x%016" PRIx64,
                                                PGK_INSTR_RAW_MAGIC_64, PGK_INSTR_RAW_MAGIC_32),
                              .hint = "the file is damaged between two images, or not a raw "
                                      "profile");
    if (r->swap)
        word = __builtin_bswap64(word);
    *version = (uint32_t)word;
    if (*version < PGK_INSTR_RAW_FIRST || *version > PGK_INSTR_RAW_NOW)
        return pgk_cur_reject(
            r->c, r->err, PGK_E_VERSION, off + 8, .record = PGK_F("image %u, header", r->image),
            .field = "version", .found = PGK_F("%u", *version),
            .expected = PGK_F("%d to %d", PGK_INSTR_RAW_FIRST, PGK_INSTR_RAW_NOW),
            .hint = "see pgokit formats for what is read");
    PGK_TRY(pgk_instr_check_variant(r->c, word, off + 8, PGK_F("image %u, header", r->image),
                                    r->err));
    if (word >> PGK_INDEXED_DEBUG_INFO & 1)
        return pgk_cur_reject(r->c, r->err, PGK_E_VERSION, off + 8,
                              .record = PGK_F("image %u, header", r->image), .field = "version",
                              .found = "a profile whose names are in debug information",
                              .expected = "one with names",
                              .hint = "build without -debug-info-correlate, or use "
                                      "llvm-profdata merge --debug-info");
    return 0;
}

static struct part take_part(struct reader *r, uint64_t count, size_t size, const char *field)
{
    struct part p = {.off = pgk_cur_off(r->c), .size = count * size};
    p.bytes = pgk_cur_take_items(r->c, count, size, field);
    return p;
}

static void pad(struct reader *r, uint64_t size, const char *field)
{
    pgk_cur_take(r->c, -size & 7, field);
}

static int each_id(const struct reader *r, const struct part *ids, pgk_build_id_fn *fn, void *ctx)
{
    struct pgk_cursor c = *r->c;
    c.start = c.at = ids->bytes;
    c.end = ids->bytes + ids->size;
    c.src.base_off = ids->off;
    while (pgk_cur_left(&c)) {
        const uint8_t *word = pgk_cur_take(&c, 8, "length of binary id");
        uint64_t size = word ? number(r, word, 8) : 0, at = pgk_cur_off(&c) - 8;
        const uint8_t *id = pgk_cur_take(&c, size, "binary id");
        pgk_cur_take(&c, -size & 7, "padding of binary id");
        PGK_TRY(pgk_cur_check(&c, r->err, PGK_F("image %u, binary ids", r->image)));
        if (!size)
            return pgk_cur_reject(&c, r->err, PGK_E_CORRUPT, at,
                                  .record = PGK_F("image %u, binary ids", r->image),
                                  .field = "length of binary id", .found = "0",
                                  .expected = "1 or more", .hint = "record the profile again");
        PGK_TRY(fn(ctx, id, size));
    }
    return 0;
}

static int add_id(void *ctx, const uint8_t *id, size_t size)
{
    struct reader *r = ctx;
    return pgk_instr_add_binary_id(r->a->profile, id, size) ? 0 : pgk_fail_nomem(r->err);
}

/* Parts are taken in their order in the file, and so that sizes are checked against the bytes left
 * before anything is read of them. Those that a version lacks have no bytes. */
static int read_parts(struct reader *r)
{
    const struct pgk_raw_header *h = &r->h;
    size_t vtable_size = pgk_raw_vtable_layout(r->pointer).bytes;
    struct part ids = take_part(r, h->binary_ids_size, 1, "binary_ids_size");
    r->records = take_part(r, h->n_records, r->layout.bytes, "n_records");
    take_part(r, h->pad_before_counters, 1, "pad_before_counters");
    r->counters = take_part(r, h->n_counters, r->bytes_count ? 1 : 8, "n_counters");
    take_part(r, h->pad_after_counters, 1, "pad_after_counters");
    r->bitmap = take_part(r, h->bitmap_size, 1, "bitmap_size");
    take_part(r, h->pad_after_bitmap, 1, "pad_after_bitmap");
    r->uniform = take_part(r, h->n_uniform, 8, "n_uniform");
    take_part(r, h->pad_after_uniform, 1, "pad_after_uniform");
    r->names = take_part(r, h->names_size, 1, "names_size");
    pad(r, h->names_size, "names_size");
    r->vtables = take_part(r, h->n_vtables, vtable_size, "n_vtables");
    r->vtable_names = take_part(r, h->vtable_names_size, 1, "vtable_names_size");
    pad(r, h->vtable_names_size, "vtable_names_size");
    PGK_TRY(pgk_cur_check(r->c, r->err, PGK_F("image %u, header", r->image)));

    return each_id(r, &ids, add_id, r);
}

static int read_fields(struct reader *r)
{
    uint32_t version = 0;
    struct pgk_raw_header *h = &r->h;
    PGK_TRY(read_version(r, &version));
#define PGK_INSTR_HEADER(name, first, meaning) \
    h->name = version >= (first) ? header_u64(r, #name) : 0;
#include "instr_raw.def"
#undef PGK_INSTR_HEADER
    PGK_TRY(pgk_cur_check(r->c, r->err, PGK_F("image %u, header", r->image)));
    r->c->src.version = version;
    return 0;
}

static int read_header(struct reader *r)
{
    const struct pgk_raw_header *h = &r->h;
    PGK_TRY(read_fields(r));
    const uint32_t version = r->c->src.version;
    r->layout = pgk_raw_record_layout(version, r->pointer);
    r->bytes_count = h->version >> PGK_INDEXED_BYTE_COVERAGE & 1;
    r->stamped = h->version >> PGK_INDEXED_TEMPORAL & 1;
    PGK_TRY(read_parts(r));
    if (!h->n_records)
        return 0;
    r->a->profile->hash_age |= pgk_raw_holds(version).hashes;
    return pgk_instr_note_flags(r->a, h->version >> 32 << 32, r->c->src.format, r->err);
}

/* ---- names ---- */

struct name_sink {
    struct pgk_instr *profile;
    struct pgk_instr_names *table;
    struct pgk_err *err;
};

static int add_name(void *ctx, const char *name, size_t len)
{
    const struct name_sink *s = ctx;
    return pgk_names_add(s->table, &s->profile->arena, pgk_md5_low64(name, len), name, len) ==
                   PGK_INDEX_NONE
               ? pgk_fail_nomem(s->err)
               : 0;
}

static int read_names(struct reader *r, const struct part *part, struct pgk_instr_names *table)
{
    struct pgk_cursor c = *r->c;
    struct name_sink sink = {r->a->profile, table, r->err};
    c.start = c.at = part->bytes;
    c.end = part->bytes + part->size;
    c.src.base_off = part->off;
    return pgk_name_blocks_read(&c, PGK_F("image %u, names", r->image), add_name, &sink, r->err);
}

/* Names are only decoded when the first comes that is not known: most files of a set are of one
 * program. */
static int find_name(struct reader *r, uint64_t ref, uint64_t i, uint32_t *name)
{
    const struct pgk_instr *p = r->a->profile;
    if (r->a->next < p->funcs.n && p->names.list.v[p->funcs.v[r->a->next].name].ref == ref) {
        *name = p->funcs.v[r->a->next].name;
        return 0;
    }
    *name = pgk_names_find(&p->names, ref);
    if (*name == PGK_INDEX_NONE && !r->names_read) {
        PGK_TRY(read_names(r, &r->names, &r->a->profile->names));
        r->names_read = true;
        *name = pgk_names_find(&p->names, ref);
    }
    if (*name == PGK_INDEX_NONE)
        return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, r->records.off + i * r->layout.bytes,
                              .record = RECORD(r, "function", i), .field = "name_ref",
                              .found = PGK_F("0x%016" PRIx64, ref),
                              .expected = "a name of the names section",
                              .hint = "the program's names were stripped or the file is damaged; "
                                      "build and record again");
    return 0;
}

/* ---- values ---- */

static int make_functions(struct reader *r)
{
    struct symbols *s = &r->functions;
    s->made = true;
    if (r->h.n_records >= PGK_INDEX_NONE ||
        !pgk_index_reserve(&s->by_start, (uint32_t)r->h.n_records))
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < r->h.n_records; i++) {
        const uint8_t *p = r->records.bytes + i * r->layout.bytes;
        uint64_t start = FIELD(r, p, &r->layout, address), ref = FIELD(r, p, &r->layout, name_ref);
        if (!start)
            continue;
        if (!pgk_vec_push(&s->list, (struct symbol){start, start, ref}) ||
            !pgk_index_add(&s->by_start, pgk_hash_u64(start), (uint32_t)s->list.n - 1))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

/* If functions were folded into one, the one with the lowest name reference. */
static uint64_t function_at(const struct reader *r, uint64_t address)
{
    const struct symbols *s = &r->functions;
    uint64_t ref = 0;
    PGK_INDEX_FOR (&s->by_start, pgk_hash_u64(address), i)
        if (s->list.v[i].start == address && (!ref || s->list.v[i].ref < ref))
            ref = s->list.v[i].ref;
    return ref;
}

static int by_start(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int make_tables(struct reader *r)
{
    const struct pgk_raw_vtable_layout l = pgk_raw_vtable_layout(r->pointer);
    struct symbols *s = &r->tables;
    s->made = true;
    if (!pgk_vec_reserve(&s->list, r->h.n_vtables))
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < r->h.n_vtables; i++) {
        const uint8_t *p = r->vtables.bytes + i * l.bytes;
        uint64_t start = FIELD(r, p, &l, address);
        s->list.v[s->list.n++] =
            (struct symbol){start, start + FIELD(r, p, &l, size), FIELD(r, p, &l, name_ref)};
    }
    if (s->list.n)
        qsort(s->list.v, s->list.n, sizeof *s->list.v, by_start);
    return 0;
}

static uint64_t table_at(const struct reader *r, uint64_t address)
{
    PGK_SEARCH(low, r->tables.list.n, mid, r->tables.list.v[mid].start <= address)
    const struct symbol *s = low ? &r->tables.list.v[low - 1] : NULL;
    return s && address < s->end ? s->ref : 0;
}

/* Addresses of the process become name references. */
static int name_values(struct reader *r)
{
    struct pgk_value_data *d = &r->values;
    if (d->kind[PGK_VALUE_CALL].values.n && !r->functions.made)
        PGK_TRY(make_functions(r));
    for (size_t i = 0; i < d->kind[PGK_VALUE_CALL].values.n; i++) {
        struct pgk_instr_value *v = &d->kind[PGK_VALUE_CALL].values.v[i];
        v->value = function_at(r, v->value);
    }
    if (d->kind[PGK_VALUE_VTABLE].values.n && !r->tables.made)
        PGK_TRY(make_tables(r));
    for (size_t i = 0; i < d->kind[PGK_VALUE_VTABLE].values.n; i++) {
        struct pgk_instr_value *v = &d->kind[PGK_VALUE_VTABLE].values.v[i];
        v->value = table_at(r, v->value);
    }
    return 0;
}

static int read_values(struct reader *r, const uint8_t *record, uint32_t name, bool *any)
{
    const char *function = r->a->profile->names.list.v[name].s;
    const struct pgk_raw_record_layout *l = &r->layout;
    const uint64_t sites[PGK_VALUE_KINDS] = {FIELD(r, record, l, sites_call),
                                             FIELD(r, record, l, sites_size),
                                             FIELD(r, record, l, sites_vtable)};
    *any = sites[0] || sites[1] || sites[2];
    if (!*any)
        return 0;
    uint64_t at = pgk_cur_off(r->c);
    PGK_TRY(pgk_value_data_read(&r->values, r->c, r->swap, function, r->err));
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (r->values.kind[k].counts.n != sites[k])
            return pgk_cur_reject(
                r->c, r->err, PGK_E_CORRUPT, at, .record = function, .field = "value sites",
                .found = PGK_F("%zu of %s", r->values.kind[k].counts.n,
                               pgk_value_kind_name((enum pgk_value_kind)k)),
                .expected = PGK_F("%" PRIu64 ", as the function's record says", sites[k]),
                .hint = "record the profile again");
    return name_values(r);
}

/* ---- counters ---- */

/* The place in its part that a pointer of record `i` leads to; checks that `size` bytes are there,
 * and that all functions together use no more than there is. */
static int locate(struct reader *r, const struct part *part, uint64_t pointer, uint64_t delta,
                  uint64_t i, uint64_t size, uint64_t *used, const char *field, const uint8_t **at)
{
    uint64_t off = pointer - delta + i * r->layout.bytes;
    if (r->pointer == 4)
        off = (uint32_t)off;
    if (off > part->size || size > part->size - off || size > part->size - *used)
        return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, r->records.off + i * r->layout.bytes,
                              .record = RECORD(r, "function", i), .field = field,
                              .found = PGK_F("%" PRIu64 " bytes at 0x%" PRIx64, size, off),
                              .expected =
                                  PGK_F("a range of its own in %" PRIu64 " bytes", part->size),
                              .hint = "the file is damaged; record the profile again");
    *used += size;
    *at = part->bytes + off;
    return 0;
}

static uint64_t counter_at(const struct reader *r, const uint8_t *p, uint64_t i)
{
    return r->bytes_count ? !p[i] : number(r, p + i * 8, 8);
}

/* No program counts so far: what is larger comes from damage. */
static int check_counts(struct reader *r, uint64_t i, const uint8_t *p, uint64_t n)
{
    uint64_t max = pgk_raw_count_max(r->c->src.version), k = 0;
    while (k < n && counter_at(r, p, k) <= max)
        k++;
    if (k == n)
        return 0;
    return pgk_cur_reject(
        r->c, r->err, PGK_E_CORRUPT, r->counters.off + (uint64_t)(p - r->counters.bytes) + k * 8,
        .record = RECORD(r, "function", i), .field = PGK_F("counter %" PRIu64, k + 1),
        .found = PGK_F("%" PRIu64, counter_at(r, p, k)),
        .expected = PGK_F("at most 2^56 (%" PRIu64 "), as LLVM requires", max),
        .hint = "the file is damaged; record the profile again");
}

/* Counters that stand as the model has them are not copied. */
static int read_counters(struct reader *r, const uint8_t *record, uint64_t i,
                         struct pgk_instr_record *out)
{
    const uint8_t *p;
    uint64_t n = FIELD(r, record, &r->layout, n_counters);
    unsigned each = r->bytes_count ? 1 : 8, stamp = r->stamped ? 8 / each : 0;
    if (n <= stamp)
        return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, r->records.off + i * r->layout.bytes,
                              .record = RECORD(r, "function", i), .field = "n_counters",
                              .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at least %u", stamp + 1),
                              .hint = "the file is damaged; record the profile again");
    PGK_TRY(locate(r, &r->counters, FIELD(r, record, &r->layout, counter_ptr), r->h.counters_delta,
                   i, n * each, &r->counters_used, "counter_ptr", &p));
    if (r->stamped) {
        uint64_t when = number(r, p, 8);
        if (when && when != UINT64_MAX &&
            !pgk_vec_push(&r->stamps, (struct stamp){when, FIELD(r, record, &r->layout, name_ref)}))
            return pgk_fail_nomem(r->err);
        p += 8;
        n -= stamp;
    }
    PGK_TRY(check_counts(r, i, p, n));
    out->counts = p;
    out->n_counts = n;
    if (!r->swap && !r->bytes_count && !r->uniform.size)
        return 0;
    r->counts.n = 0;
    if (!pgk_vec_reserve(&r->counts, n))
        return pgk_fail_nomem(r->err);
    for (uint64_t k = 0; k < n; k++)
        r->counts.v[k] = counter_at(r, p, k);
    out->counts = r->counts.v;
    return 0;
}

/* If a file has uniform counters, each counter has one, also that of a time stamp. */
static int read_uniformity(struct reader *r, const uint8_t *record, uint64_t i,
                           struct pgk_instr_record *out)
{
    const uint8_t *p;
    uint64_t n = FIELD(r, record, &r->layout, n_counters);
    if (!r->uniform.size)
        return 0;
    PGK_TRY(locate(r, &r->uniform, FIELD(r, record, &r->layout, uniform_ptr), r->h.uniform_delta, i,
                   n * 8, &r->uniform_used, "uniform_ptr", &p));
    p += (n - out->n_counts) * 8;
    r->uniform_counts.n = 0;
    if (!pgk_vec_reserve(&r->uniform_counts, out->n_counts))
        return pgk_fail_nomem(r->err);
    for (size_t k = 0; k < out->n_counts; k++)
        r->uniform_counts.v[k] = number(r, p + k * 8, 8);
    r->uniformity = (struct pgk_uniformity){
        .counts = r->counts.v,
        .uniform = r->uniform_counts.v,
        .wave_size = (uint16_t)FIELD(r, record, &r->layout, wave_size),
    };
    out->uniformity = &r->uniformity;
    return 0;
}

static int read_function(struct reader *r, uint64_t i)
{
    const uint8_t *record = r->records.bytes + i * r->layout.bytes;
    struct pgk_instr_record out = {.hash = FIELD(r, record, &r->layout, hash)};
    bool any_values;
    PGK_TRY(find_name(r, FIELD(r, record, &r->layout, name_ref), i, &out.name));
    PGK_TRY(read_counters(r, record, i, &out));
    PGK_TRY(read_uniformity(r, record, i, &out));
    out.n_bitmap = FIELD(r, record, &r->layout, n_bitmap);
    if (out.n_bitmap)
        PGK_TRY(locate(r, &r->bitmap, FIELD(r, record, &r->layout, bitmap_ptr), r->h.bitmap_delta,
                       i, out.n_bitmap, &r->bitmap_used, "bitmap_ptr", &out.bitmap));
    PGK_TRY(read_values(r, record, out.name, &any_values));
    out.values = any_values ? &r->values : NULL;
    return pgk_instr_add(r->a, &out, r->err);
}

static int read_image(struct reader *r)
{
    r->names_read = false;
    r->counters_used = r->bitmap_used = r->uniform_used = 0;
    r->functions.list.n = r->tables.list.n = 0;
    r->functions.made = r->tables.made = false;
    pgk_index_free(&r->functions.by_start);
    PGK_TRY(read_header(r));
    if (r->vtable_names.size)
        PGK_TRY(read_names(r, &r->vtable_names, &r->a->profile->vtables));
    for (uint64_t i = 0; i < r->h.n_records; i++)
        PGK_TRY(read_function(r, i));
    return 0;
}

/* ---- the file ---- */

static int by_time(const void *a, const void *b)
{
    const struct stamp *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

/* All images of a file are of one run. */
static int add_trace(struct reader *r)
{
    struct pgk_instr *p = r->a->profile;
    if (!r->stamps.n)
        return 0;
    qsort(r->stamps.v, r->stamps.n, sizeof *r->stamps.v, by_time);
    r->counts.n = 0;
    if (!pgk_vec_reserve(&r->counts, r->stamps.n))
        return pgk_fail_nomem(r->err);
    for (size_t i = 0; i < r->stamps.n; i++)
        r->counts.v[r->counts.n++] = r->stamps.v[i].ref;
    p->trace_stream = pgk_count_add(p->trace_stream, 1, 1, UINT64_MAX);
    return pgk_instr_add_trace(p, r->a->weight, r->counts.v, r->counts.n) ? 0
                                                                          : pgk_fail_nomem(r->err);
}

int pgk_instr_raw_read(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                       const struct pgk_source *src, struct pgk_instr_raw_info *info,
                       struct pgk_err *err)
{
    struct pgk_cursor c;
    struct reader r = {.a = a, .c = &c, .err = err};
    int status = 0;
    pgk_cur_init(&c, bytes, size, src);
    do {
        r.image++;
        status = read_image(&r);
        while (!status && pgk_cur_left(&c) && !*c.at)
            c.at++;
    } while (!status && pgk_cur_left(&c));
    if (!status)
        status = add_trace(&r);
    if (!status && info)
        *info = (struct pgk_instr_raw_info){c.src.version, r.image};
    pgk_vec_free(&r.functions.list);
    pgk_index_free(&r.functions.by_start);
    pgk_vec_free(&r.tables.list);
    pgk_value_data_free(&r.values);
    pgk_vec_free(&r.counts);
    pgk_vec_free(&r.uniform_counts);
    pgk_vec_free(&r.stamps);
    return status;
}

int pgk_instr_raw_build_ids(const uint8_t *bytes, size_t size, const struct pgk_source *src,
                            pgk_build_id_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct reader r = {.c = &c, .err = err, .image = 1};
    pgk_cur_init(&c, bytes, size, src);
    PGK_TRY(read_fields(&r));
    struct part ids = take_part(&r, r.h.binary_ids_size, 1, "binary_ids_size");
    PGK_TRY(pgk_cur_check(&c, err, "image 1, header"));
    return each_id(&r, &ids, fn, ctx);
}

/* ---- among the formats ---- */

static int build_ids(const struct pgk_file_bytes *file, pgk_build_id_fn *fn, void *ctx,
                     struct pgk_err *err)
{
    return pgk_instr_raw_build_ids(file->bytes, file->size, file->src, fn, ctx, err);
}

static int read(struct pgk_instr_adder *adder, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_instr_raw_info raw;
    PGK_TRY(pgk_instr_raw_read(adder, file->bytes, file->size, file->src, &raw, err));
    info->version = raw.version;
    info->facts[PGK_FACT_IMAGES] = raw.images;
    return 0;
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_IMAGES] > 1)
        pgk_info_add(text, ", %u images", (unsigned)info->facts[PGK_FACT_IMAGES]);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    switch (info->version) {
#define PGK_INSTR_RAW_VERSION(version, hashes, counts, since, until) \
    case version:                                                    \
        pgk_info_add_releases(text, since, until);                   \
        break;
#include "instr_raw.def"
#undef PGK_INSTR_RAW_VERSION
    }
}

const struct pgk_format_row pgk_format_instr_raw = {
    .format = {.name = "raw counters",
               .kind = PGK_KIND_INSTR,
               .reads = PGK_VERSION_TEXT(PGK_INSTR_RAW_FIRST) " to " PGK_VERSION_TEXT(
                   PGK_INSTR_RAW_NOW),
               .writes = PGK_VERSION_TEXT(PGK_INSTR_RAW_FIRST) " to " PGK_VERSION_TEXT(
                   PGK_INSTR_RAW_NOW),
               .made_by = "runtimes of clang 14 to " PGK_LLVM_NOW_TEXT ", pgokit",
               .page = "instr-raw.md",
               .read = {PGK_INSTR_RAW_FIRST, PGK_INSTR_RAW_NOW},
               .write = {PGK_INSTR_RAW_FIRST, PGK_INSTR_RAW_NOW}},
    .sniff = pgk_instr_raw_sniff,
    .build_ids = build_ids,
    .read_instr = read,
    .instr_writer = {.form = PGK_INSTR_RAW,
                     .name = "raw",
                     .usual_version = PGK_INSTR_RAW_NOW,
                     .check = pgk_instr_raw_check,
                     .write = pgk_instr_raw_write,
                     .loss = pgk_instr_raw_loss},
    .describe = describe,
    .readers = readers,
};
