/* LLVM's on-disk chained hash table. */
#include "ondisk_table.h"

#include "pool.h"
#include "salvage.h"
#include "u64_set.h"

#include <assert.h>
#include <inttypes.h>

enum { FIRST_BUCKETS = 64 };

static void put_front(struct pgk_ondisk_writer *w, uint32_t item)
{
    assert(w->buckets.n && !(w->buckets.n & (w->buckets.n - 1)) && item < w->items.n);
    uint32_t *bucket = &w->buckets.v[w->items.v[item].key & (w->buckets.n - 1)];
    w->items.v[item].next = *bucket;
    *bucket = item + 1;
}

/* Buckets are walked in order and items from the front, each put at the front again:
 * the order inside buckets is part of the bytes. */
static bool set_buckets(struct pgk_ondisk_writer *w, size_t n)
{
    uint32_t *old = w->buckets.v, *fresh = pgk_mem_zalloc(n, sizeof *fresh);
    size_t n_old = w->buckets.n;
    if (!fresh)
        return false;
    w->buckets.v = fresh;
    w->buckets.n = w->buckets.cap = n;
    for (size_t b = 0; b < n_old; b++)
        for (uint32_t i = old[b], next; i; i = next) {
            next = w->items.v[i - 1].next;
            put_front(w, i - 1);
        }
    pgk_mem_free(old);
    return true;
}

bool pgk_ondisk_add(struct pgk_ondisk_writer *w, uint64_t key, size_t user)
{
    size_t count = w->items.n + 1;
    if (!w->buckets.n && !set_buckets(w, FIRST_BUCKETS))
        return false;
    if (count * 4 >= w->buckets.n * 3 && !set_buckets(w, w->buckets.n * 2))
        return false;
    if (!pgk_vec_push(&w->items, (struct pgk_ondisk_item){.key = key, .user = user}))
        return false;
    put_front(w, (uint32_t)count - 1);
    return true;
}

void pgk_ondisk_free(struct pgk_ondisk_writer *w)
{
    pgk_vec_free(&w->items);
    pgk_vec_free(&w->buckets);
}

static size_t final_buckets(size_t items)
{
    size_t n = 1;
    while (items > 2 && n < items * 4 / 3 + 1)
        n *= 2;
    return n;
}

/* The state of a table that is being written. */
struct writing {
    struct pgk_ondisk_writer *w;
    const struct pgk_ondisk_emit *emit;
    struct pgk_sink *out;
    uint64_t *offs; /* by bucket; 0: empty */
    size_t shares;  /* of the buckets */
};

#define FOR_ITEMS(w, bucket, item)                                                       \
    for (struct pgk_ondisk_item *item = item_at((w), (w)->buckets.v[bucket]); item;      \
         item = item_at((w), item->next))

static struct pgk_ondisk_item *item_at(const struct pgk_ondisk_writer *w, uint32_t pos)
{
    return pos ? &w->items.v[pos - 1] : NULL;
}

static const char *key_of(const struct pgk_ondisk_emit *emit, const struct pgk_ondisk_item *item,
                          size_t *size)
{
    *size = sizeof item->key;
    return emit->lengths == PGK_ONDISK_NAMES ? emit->name(emit->ctx, item->user, size)
                                             : (const char *)&item->key;
}

/* Says where buckets will stand, from `at` on; returns how many bytes they are. */
static uint64_t place_buckets(const struct writing *t, uint64_t at)
{
    const uint64_t begin = at, lengths = t->emit->lengths == PGK_ONDISK_DATA_ONLY ? 1 : 2;
    for (size_t b = 0; b < t->w->buckets.n; b++) {
        if (!t->w->buckets.v[b])
            continue;
        t->offs[b] = at;
        at += sizeof(uint16_t);
        FOR_ITEMS (t->w, b, item) {
            size_t key_size;
            key_of(t->emit, item, &key_size);
            item->size = t->emit->size(t->emit->ctx, item->user);
            at += sizeof item->key + lengths * sizeof(uint64_t) + key_size + item->size;
        }
    }
    return at - begin;
}

static void write_bucket(const struct writing *t, size_t b, struct pgk_sink *out)
{
    const struct pgk_ondisk_emit *emit = t->emit;
    uint16_t count = 0;
    FOR_ITEMS (t->w, b, item)
        count++;
    pgk_sink_u16(out, count);
    FOR_ITEMS (t->w, b, item) {
        size_t key_size;
        const char *key = key_of(emit, item, &key_size);
        pgk_sink_u64(out, item->key);
        if (emit->lengths != PGK_ONDISK_DATA_ONLY)
            pgk_sink_u64(out, key_size);
        pgk_sink_u64(out, item->size);
        pgk_sink_bytes(out, key, key_size);
        emit->emit(emit->ctx, item->user, out);
    }
}

static int write_share(void *ctx, size_t share, unsigned worker)
{
    const struct writing *t = ctx;
    size_t n = t->w->buckets.n, b = n * share / t->shares, end = n * (share + 1) / t->shares;
    struct pgk_sink *part;
    (void)worker;
    while (b < end && !t->offs[b])
        b++;
    if (b == end)
        return 0;
    PGK_TRY(pgk_sink_part(&part, t->out, t->offs[b]));
    for (; b < end; b++)
        if (t->offs[b])
            write_bucket(t, b, part);
    pgk_sink_end_part(&part);
    return 0;
}

/* At most so many, and about so much at least, for a thread to be worth it. */
enum { SHARES = 64, SHARE_BYTES = 1 << 20 };

bool pgk_ondisk_write(struct pgk_ondisk_writer *w, struct pgk_sink *out,
                      const struct pgk_ondisk_emit *emit, uint64_t *table_off)
{
    size_t n = final_buckets(w->items.n);
    struct writing t = {w, emit, out, .offs = pgk_mem_zalloc(n, sizeof *t.offs)};
    bool ok = t.offs && (n == w->buckets.n || set_buckets(w, n));
    if (ok) {
        uint64_t bytes = place_buckets(&t, pgk_sink_off(out));
        t.shares = bytes < SHARES * SHARE_BYTES ? bytes / SHARE_BYTES + 1 : SHARES;
        pgk_sink_leave(out, bytes);
        ok = !pgk_pool_run(emit->threads, t.shares, write_share, &t);
    }
    pgk_sink_align(out, 8);
    *table_off = pgk_sink_off(out);
    pgk_sink_u64(out, n);
    pgk_sink_u64(out, w->items.n);
    for (size_t b = 0; ok && b < n; b++)
        pgk_sink_u64(out, t.offs[b]);
    pgk_mem_free(t.offs);
    return ok;
}

/* A named item: its hash says in which bucket it is found, so that no item can stand in several. */
static int read_named(struct pgk_cursor *c, uint64_t bucket, uint64_t buckets, const char *what,
                      pgk_ondisk_item_fn *fn, void *ctx, struct pgk_err *err)
{
    uint64_t at = pgk_cur_off(c), hash = pgk_cur_u64(c, "hash"),
             name_size = pgk_cur_u64(c, "name length"), size = pgk_cur_u64(c, "data length");
    const uint8_t *name = pgk_cur_take(c, name_size, "name");
    pgk_cur_take(c, size, "data");
    PGK_TRY(pgk_cur_check(c, err, what));
    if ((hash & (buckets - 1)) != bucket)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at, .record = what, .field = "hash",
                              .found = PGK_F("0x%016" PRIx64 " in bucket %" PRIu64, hash, bucket),
                              .expected = PGK_F("bucket %" PRIu64, hash & (buckets - 1)),
                              .hint = "write the profile again");
    struct pgk_cursor item = *c;
    item.start = name;
    item.at = name + name_size;
    item.end = item.at + size;
    item.src.base_off = pgk_cur_off(c) - size - name_size;
    return fn(ctx, hash, &item, err);
}

static int read_item(struct pgk_cursor *c, enum pgk_ondisk_lengths lengths, const char *what,
                     pgk_ondisk_item_fn *fn, void *ctx, struct pgk_err *err)
{
    uint64_t at = pgk_cur_off(c);
    pgk_cur_u64(c, "hash");
    uint64_t key_size = lengths == PGK_ONDISK_KEY_AND_DATA ? pgk_cur_u64(c, "key length") : 8;
    uint64_t size = pgk_cur_u64(c, "data length");
    PGK_TRY(pgk_cur_check(c, err, what));
    if (key_size != 8)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at + 8, .record = what,
                              .field = "key length", .found = PGK_F("%" PRIu64, key_size),
                              .expected = "8", .hint = "write the profile again");
    uint64_t key = pgk_cur_u64(c, "key");
    const uint8_t *data = pgk_cur_take(c, size, "data");
    PGK_TRY(pgk_cur_check(c, err, what));
    struct pgk_cursor item = *c;
    item.start = item.at = data;
    item.end = data + size;
    item.src.base_off = pgk_cur_off(c) - size;
    return fn(ctx, key, &item, err);
}

int pgk_ondisk_read(const struct pgk_cursor *file, uint64_t payload_off, uint64_t table_off,
                    enum pgk_ondisk_lengths lengths, const char *what, pgk_ondisk_item_fn *fn,
                    void *ctx, struct pgk_err *err)
{
    struct pgk_cursor t = *file;
    pgk_cur_seek(&t, table_off, "table offset");
    uint64_t buckets = pgk_cur_u64(&t, "number of buckets");
    uint64_t items = pgk_cur_u64(&t, "number of items"), seen = 0;
    PGK_TRY(pgk_cur_check(&t, err, what));
    if (buckets > pgk_cur_left(&t) / 8 || !buckets || (buckets & (buckets - 1)))
        return pgk_cur_reject(&t, err, PGK_E_CORRUPT, table_off, .record = what,
                              .field = "number of buckets", .found = PGK_F("%" PRIu64, buckets),
                              .expected = PGK_F("a power of two, at most %zu",
                                                pgk_cur_left(&t) / 8),
                              .hint = "write the profile again");
    for (uint64_t b = 0; b < buckets; b++) {
        uint64_t slot = pgk_cur_off(&t), off = pgk_cur_u64(&t, "bucket");
        if (!off)
            continue;
        if (off < payload_off || off >= table_off)
            return pgk_cur_reject(&t, err, PGK_E_CORRUPT, slot, .record = what, .field = "bucket",
                                  .found = PGK_F("offset 0x%" PRIx64, off),
                                  .expected = PGK_F("0x%" PRIx64 " to 0x%" PRIx64, payload_off,
                                                    table_off),
                                  .hint = "write the profile again");
        struct pgk_cursor c = *file;
        pgk_cur_seek(&c, off, "bucket");
        c.end = c.start + (table_off - c.src.base_off);
        uint16_t n = pgk_cur_u16(&c, "items of the bucket");
        PGK_TRY(pgk_cur_check(&c, err, what));
        seen += n;
        if (seen > items) /* also bounds the work that overlapping buckets could ask for */
            break;
        while (n--)
            PGK_TRY(lengths == PGK_ONDISK_NAMES
                        ? read_named(&c, b, buckets, what, fn, ctx, err)
                        : read_item(&c, lengths, what, fn, ctx, err));
    }
    if (seen != items)
        return pgk_cur_reject(&t, err, PGK_E_CORRUPT, table_off + 8, .record = what,
                              .field = "number of items", .found = PGK_F("%" PRIu64, items),
                              .expected = PGK_F("%" PRIu64 ", the items in the buckets", seen),
                              .hint = "write the profile again");
    return 0;
}

typedef PGK_VEC(uint64_t) u64_vec;

/* Where buckets begin, as far as the table is there; else one, from which the others follow. */
static bool bucket_starts(const struct pgk_cursor *file, uint64_t payload_off, uint64_t end,
                          uint64_t table_off, u64_vec *starts, bool *known)
{
    struct pgk_cursor t = *file;
    pgk_cur_seek(&t, table_off, "table offset");
    uint64_t buckets = pgk_cur_u64(&t, "number of buckets");
    pgk_cur_u64(&t, "number of items");
    *known = !t.failed && buckets && buckets <= pgk_cur_left(&t) / 8;
    if (!*known)
        return pgk_vec_push(starts, payload_off);
    while (buckets--) {
        uint64_t off = pgk_cur_u64(&t, "bucket");
        if (off >= payload_off && off < end && !pgk_vec_push(starts, off))
            return false;
    }
    starts->n = pgk_u64_set(starts->v, starts->n);
    return true;
}

int pgk_ondisk_salvage(const struct pgk_cursor *file, uint64_t payload_off, uint64_t table_off,
                       enum pgk_ondisk_lengths lengths, const char *what, pgk_ondisk_item_fn *fn,
                       void *ctx, struct pgk_salvage *salvage, struct pgk_err *err)
{
    uint64_t whole = file->src.base_off + (uint64_t)(file->end - file->start),
             end = table_off < whole ? table_off : whole;
    u64_vec starts = {0};
    bool known;
    int status = bucket_starts(file, payload_off, end, table_off, &starts, &known)
                     ? 0
                     : pgk_fail_nomem(err);
    if (!status && !known)
        pgk_salvage_say(salvage, "the table of the %ss at offset 0x%" PRIx64
                        "; they are read one after the other", what, table_off);
    uint64_t reached = 0; /* buckets do not overlap */
    for (size_t i = 0; i < starts.n && !status; i++) {
        struct pgk_cursor c = *file;
        if (starts.v[i] < reached || starts.v[i] >= end)
            continue;
        pgk_cur_seek(&c, starts.v[i], "bucket");
        c.end = c.start + (end - c.src.base_off);
        do {
            struct pgk_err why = {0};
            uint16_t n = pgk_cur_left(&c) >= 2 ? pgk_cur_u16(&c, "items of the bucket") : 0;
            if (!n)
                break;
            while (n && !c.failed && !status) {
                n--;
                int item = read_item(&c, lengths, what, fn, ctx, &why);
                status = pgk_salvage_skip(salvage, item, &why);
                if (item && c.failed)
                    break;
            }
            if (n)
                pgk_salvage_say(salvage, "%u more %ss of the bucket", n, what);
        } while (!known && !c.failed && !status);
        reached = pgk_cur_off(&c);
    }
    if (status && err && !err->status)
        pgk_fail_nomem(err);
    pgk_vec_free(&starts);
    return status;
}
