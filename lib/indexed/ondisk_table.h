/* LLVM's on-disk chained hash table. docs/formats/indexed-heap.md section 2.
 *
 * Payload: per bucket a u16 number of items and the items; then, aligned to 8, the
 * table: u64 buckets, u64 items, a u64 file offset per bucket (0: empty). */
#ifndef PGK_ONDISK_TABLE_H
#define PGK_ONDISK_TABLE_H

#include "cursor.h"
#include "sink.h"
#include "vec.h"

/* Which lengths stand between hash and key. With NAMES the key is a string whose hash stands in
 * front, else it is the hash itself. */
enum pgk_ondisk_lengths { PGK_ONDISK_KEY_AND_DATA, PGK_ONDISK_DATA_ONLY, PGK_ONDISK_NAMES };

/* Writing: items are added in the order of insertion, then written at once. */
struct pgk_ondisk_item {
    uint64_t key;    /* or the hash of its name */
    uint32_t next;   /* in its bucket, position + 1 */
    size_t user;     /* what the writer callbacks know the item by */
    uint64_t size;   /* of its data */
};
struct pgk_ondisk_writer {
    PGK_VEC(struct pgk_ondisk_item) items;
    PGK_VEC(uint32_t) buckets; /* first item + 1 */
};
bool pgk_ondisk_add(struct pgk_ondisk_writer *w, uint64_t key, size_t user);
void pgk_ondisk_free(struct pgk_ondisk_writer *w);
/* Writes payload and table; `emit` writes the data of an item, which must be
 * `size` bytes. *table_off is the file offset of the table. Callbacks are called by several threads
 * at a time. */
struct pgk_ondisk_emit {
    enum pgk_ondisk_lengths lengths;
    uint64_t (*size)(void *ctx, size_t user);
    void (*emit)(void *ctx, size_t user, struct pgk_sink *out);
    const char *(*name)(void *ctx, size_t user, size_t *len); /* PGK_ONDISK_NAMES only */
    void *ctx;
    unsigned threads; /* 0: one per processor */
};
bool pgk_ondisk_write(struct pgk_ondisk_writer *w, struct pgk_sink *out,
                      const struct pgk_ondisk_emit *emit, uint64_t *table_off);

/* Reading: calls `fn` with a cursor over the data of each item, in bucket order; with
 * PGK_ONDISK_NAMES its window starts at the name, data->start to data->at. `payload_off` bounds
 * the payload from below. */
typedef int pgk_ondisk_item_fn(void *ctx, uint64_t key, struct pgk_cursor *data,
                               struct pgk_err *err);
PGK_MUST_USE int pgk_ondisk_read(const struct pgk_cursor *file, uint64_t payload_off,
                                 uint64_t table_off, enum pgk_ondisk_lengths lengths,
                                 const char *what, pgk_ondisk_item_fn *fn, void *ctx,
                                 struct pgk_err *err);

/* As pgk_ondisk_read for a damaged file: items that are not whole, and those for which `fn` fails,
 * are reported to `salvage` and left out. Without its table the payload is walked from
 * `payload_off` to the end. */
struct pgk_salvage;
PGK_MUST_USE int pgk_ondisk_salvage(const struct pgk_cursor *file, uint64_t payload_off,
                                    uint64_t table_off, enum pgk_ondisk_lengths lengths,
                                    const char *what, pgk_ondisk_item_fn *fn, void *ctx,
                                    struct pgk_salvage *salvage, struct pgk_err *err);

#endif
