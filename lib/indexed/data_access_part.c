/* Reads and writes the data access part of MemProf V4. docs/formats/indexed-heap.md section 8 */
#include "indexed.h"

#include <inttypes.h>
#include <zlib.h>

enum { SEPARATOR = 1, PLACE_SIZE = 12, ENTRY_SIZE = 25 };
enum { NAMES_GROWTH_MAX = 64 }; /* names take at most so many times the bytes of the file */

struct reader {
    struct pgk_heap *heap;
    struct pgk_data_store to;
    struct pgk_cursor *c;
    struct pgk_err *err;
    PGK_VEC(uint32_t) names; /* string ids */
    PGK_VEC(struct pgk_data_place) places;
};

static int reject(const struct reader *r, uint64_t off, const char *field, const char *found,
                  const char *expected)
{
    return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, off, .record = "data access profile",
                          .field = field, .found = found, .expected = expected,
                          .hint = "write the profile again");
}

static int add_names(struct reader *r, uint64_t off, const char *text, size_t size)
{
    for (const char *end = text + size, *stop; text <= end; text = stop + 1) {
        stop = memchr(text, SEPARATOR, (size_t)(end - text));
        stop = stop ? stop : end;
        if (stop == text || memchr(text, 0, (size_t)(stop - text)))
            return reject(r, off, "names", stop == text ? "an empty name" : "a zero byte in a name",
                          "names");
        uint32_t id = pgk_intern(&r->heap->strings, text, (size_t)(stop - text));
        if (id == PGK_INDEX_NONE || !pgk_vec_push(&r->names, id))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int inflate_names(struct reader *r, uint64_t off, const uint8_t *packed, uint64_t size,
                         uint64_t plain_size)
{
    uint64_t max = (uint64_t)(r->c->end - r->c->start) * NAMES_GROWTH_MAX;
    if (plain_size > max)
        return reject(r, off, "length of the names", PGK_F("%" PRIu64, plain_size),
                      PGK_F("at most %" PRIu64, max));
    char *text = pgk_mem_alloc(plain_size + 1, 1);
    if (!text)
        return pgk_fail_nomem(r->err);
    uLongf got = plain_size;
    int status = uncompress((Bytef *)text, &got, packed, size) != Z_OK || got != plain_size
                     ? reject(r, off, "names", "bytes that do not unpack to the stated length",
                              PGK_F("%" PRIu64 " bytes", plain_size))
                     : add_names(r, off, text, plain_size);
    pgk_mem_free(text);
    return status;
}

static int read_names(struct reader *r, uint64_t expected, uint64_t length)
{
    struct pgk_cursor names = *r->c;
    uint64_t off = pgk_cur_off(r->c);
    const uint8_t *bytes = pgk_cur_take(r->c, length, "names");
    PGK_TRY(pgk_cur_check(r->c, r->err, "data access profile"));
    names.end = bytes + length;
    if (length) {
        uint64_t plain_size = pgk_cur_uleb(&names, "length of the names"),
                 size = pgk_cur_uleb(&names, "compressed length of the names");
        const uint8_t *text = pgk_cur_take(&names, size ? size : plain_size, "names");
        PGK_TRY(pgk_cur_check(&names, r->err, "data access profile"));
        if (size)
            PGK_TRY(inflate_names(r, off, text, size, plain_size));
        else if (plain_size)
            PGK_TRY(add_names(r, off, (const char *)text, plain_size));
    }
    if (r->names.n != expected)
        return reject(r, off, "names", PGK_F("%zu names", r->names.n), PGK_F("%" PRIu64, expected));
    pgk_cur_take(r->c, -length % 8, "padding");
    return 0;
}

static int name_at(const struct reader *r, uint64_t off, uint64_t index, const char *field,
                   uint32_t *id)
{
    if (index >= r->names.n)
        return reject(r, off, field, PGK_F("name %" PRIu64, index),
                      PGK_F("below %zu", r->names.n));
    *id = r->names.v[index];
    return 0;
}

static int read_entry(struct reader *r)
{
    struct pgk_cursor *c = r->c;
    uint64_t off = pgk_cur_off(c), name = pgk_cur_u64(c, "symbol");
    bool literal = pgk_cur_u8(c, "is a string literal");
    uint64_t count = pgk_cur_u64(c, "access count"), n = pgk_cur_count(c, PLACE_SIZE, "locations");
    uint32_t symbol = 0;
    PGK_TRY(pgk_cur_check(c, r->err, "data access profile"));
    if (!literal)
        PGK_TRY(name_at(r, off, name, "symbol", &symbol));
    r->places.n = 0;
    if (!pgk_vec_reserve(&r->places, n))
        return pgk_fail_nomem(r->err);
    while (n--) {
        struct pgk_data_place p = {0};
        off = pgk_cur_off(c);
        PGK_TRY(name_at(r, off, pgk_cur_u64(c, "file name"), "file name", &p.file));
        p.line = pgk_cur_u32(c, "line");
        r->places.v[r->places.n++] = p;
    }
    return pgk_data_access_add(&r->to, symbol, literal ? name : 0, count, r->places.v, r->places.n)
               ? 0
               : pgk_fail_nomem(r->err);
}

static int read_part(struct reader *r)
{
    struct pgk_cursor *c = r->c;
    uint64_t names = pgk_cur_u64(c, "number of names"),
             cold = pgk_cur_u64(c, "number of cold symbols"),
             length = pgk_cur_count(c, 1, "length of the names");
    PGK_TRY(pgk_cur_check(c, r->err, "data access profile"));
    PGK_TRY(read_names(r, names + cold, length));
    for (uint64_t i = names; i < r->names.n; i++)
        if (!pgk_data_access_add_cold_symbol(&r->to, r->names.v[i]))
            return pgk_fail_nomem(r->err);
    for (uint64_t n = pgk_cur_count(c, 8, "cold string hashes"); n--;)
        if (!pgk_data_access_add_cold_hash(&r->to, pgk_cur_u64(c, "cold string hash")))
            return pgk_fail_nomem(r->err);
    for (uint64_t n = pgk_cur_count(c, ENTRY_SIZE, "number of entries"); n-- && !c->failed;)
        PGK_TRY(read_entry(r));
    return pgk_cur_check(c, r->err, "data access profile");
}

int pgk_data_access_read(struct pgk_heap *h, struct pgk_cursor *c, struct pgk_err *err)
{
    struct reader r = {.heap = h, .to = pgk_heap_data_store(h), .c = c, .err = err};
    int status = read_part(&r);
    if (!status)
        pgk_data_access_sort(&r.to);
    pgk_vec_free(&r.names);
    pgk_vec_free(&r.places);
    return status;
}

/* Writing. */

struct writer {
    const struct pgk_heap *h;
    struct pgk_sink *out;
    uint64_t *number_of;     /* by string id: position + 1 among the names */
    PGK_VEC(uint32_t) names; /* in order of first use, then the cold symbols once more */
};

static bool use_name(struct writer *w, uint32_t id)
{
    if (w->number_of[id])
        return true;
    w->number_of[id] = w->names.n + 1;
    return pgk_vec_push(&w->names, id);
}

static bool number_names(struct writer *w, uint64_t *used)
{
    const struct pgk_data_access *d = &w->h->data;
    w->number_of = pgk_mem_zalloc(w->h->strings.strs.n + 1, sizeof *w->number_of);
    bool ok = w->number_of != NULL;
    for (size_t i = 0; i < d->entries.n && ok; i++) {
        const struct pgk_data_entry *e = &d->entries.v[i];
        ok = !e->symbol || use_name(w, e->symbol);
        for (uint32_t k = 0; k < e->n_places && ok; k++)
            ok = use_name(w, e->places[k].file);
    }
    for (size_t i = 0; i < d->cold_symbols.n && ok; i++)
        ok = use_name(w, d->cold_symbols.v[i]);
    *used = w->names.n;
    for (size_t i = 0; i < d->cold_symbols.n && ok; i++)
        ok = pgk_vec_push(&w->names, d->cold_symbols.v[i]);
    return ok;
}

/* LLVM packs names as well as zlib can. */
static bool pack_names(const struct writer *w, struct pgk_sink *blob)
{
    PGK_VEC(char) text = {0};
    bool ok = true;
    for (size_t i = 0; i < w->names.n && ok; i++) {
        size_t len = pgk_intern_len(&w->h->strings, w->names.v[i]);
        ok = pgk_vec_reserve(&text, len + 1);
        if (!ok)
            break;
        if (i)
            text.v[text.n++] = SEPARATOR;
        memcpy(text.v + text.n, pgk_intern_str(&w->h->strings, w->names.v[i]), len);
        text.n += len;
    }
    uLongf size = compressBound(text.n);
    Bytef *packed = pgk_mem_alloc(size, 1);
    ok = ok && packed &&
         compress2(packed, &size, (const Bytef *)text.v, text.n, Z_BEST_COMPRESSION) == Z_OK;
    if (ok) {
        pgk_sink_uleb(blob, text.n);
        pgk_sink_uleb(blob, size);
        pgk_sink_bytes(blob, packed, size);
    }
    pgk_mem_free(packed);
    pgk_vec_free(&text);
    return ok;
}

static void write_entry(const struct writer *w, const struct pgk_data_entry *e)
{
    pgk_sink_u64(w->out, e->symbol ? w->number_of[e->symbol] - 1 : e->hash);
    pgk_sink_u8(w->out, !e->symbol);
    pgk_sink_u64(w->out, e->count);
    pgk_sink_u64(w->out, e->n_places);
    for (uint32_t i = 0; i < e->n_places; i++) {
        pgk_sink_u64(w->out, w->number_of[e->places[i].file] - 1);
        pgk_sink_u32(w->out, e->places[i].line);
    }
}

static int write_part(struct writer *w, struct pgk_sink *blob, struct pgk_err *err)
{
    const struct pgk_data_access *d = &w->h->data;
    uint64_t used;
    size_t size;
    if (!number_names(w, &used) || (w->names.n && !pack_names(w, blob)))
        return pgk_fail_nomem(err);
    const uint8_t *bytes = pgk_sink_data(blob, &size);
    if (!bytes)
        return pgk_fail_nomem(err);
    pgk_sink_u64(w->out, used);
    pgk_sink_u64(w->out, d->cold_symbols.n);
    pgk_sink_u64(w->out, size);
    pgk_sink_bytes(w->out, bytes, size);
    pgk_sink_zeros(w->out, -size % 8);
    pgk_sink_u64(w->out, d->cold_hashes.n);
    for (size_t i = 0; i < d->cold_hashes.n; i++)
        pgk_sink_u64(w->out, d->cold_hashes.v[i]);
    pgk_sink_u64(w->out, d->entries.n);
    for (size_t i = 0; i < d->entries.n; i++)
        write_entry(w, &d->entries.v[i]);
    return 0;
}

int pgk_data_access_write(const struct pgk_heap *h, struct pgk_sink *out, struct pgk_err *err)
{
    struct writer w = {.h = h, .out = out};
    struct pgk_sink *blob;
    PGK_TRY(pgk_sink_memory(&blob, err));
    int status = write_part(&w, blob, err);
    pgk_sink_drop(&blob);
    pgk_mem_free(w.number_of);
    pgk_vec_free(&w.names);
    return status;
}
