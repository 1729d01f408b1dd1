/* Bounded reader over bytes in memory with a sticky error.
 *
 * A read past the end gives zero and remembers where and for which field; all
 * later reads give zero too, and no bytes are left, so that a loop over what is left
 * ends. Code reads straight down the layout and asks pgk_cur_check once per record.
 * Little-endian; nothing need be aligned. */
#ifndef PGK_CURSOR_H
#define PGK_CURSOR_H

#include "fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Names the source of the bytes in messages. */
struct pgk_source {
    const char *file;    /* path as the user typed it */
    const char *format;  /* "raw heap profile" */
    uint32_t version;    /* 0: not known yet */
    uint64_t base_off;   /* file offset of the first byte of the cursor's window */
};

enum pgk_cur_failure {
    PGK_CUR_SHORT,   /* fewer than `need` bytes left */
    PGK_CUR_ITEMS,   /* fewer bytes left than `need` items take */
    PGK_CUR_LEB,     /* a LEB128 number beyond 64 bits */
    PGK_CUR_OUTSIDE, /* file offset `need` is not in the window */
};

struct pgk_cursor {
    const uint8_t *start, *at, *end;
    struct pgk_source src;
    /* the first failure */
    bool failed;
    enum pgk_cur_failure fail_kind;
    const char *fail_field;
    uint64_t fail_off;     /* file offset */
    uint64_t fail_need;    /* what was wanted there */
    uint64_t fail_left;    /* bytes that were left there */
    size_t fail_item_size; /* of PGK_CUR_ITEMS */
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes are read as they lie in memory");

void pgk_cur_init(struct pgk_cursor *c, const void *bytes, size_t size,
                  const struct pgk_source *src);

static inline size_t pgk_cur_left(const struct pgk_cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* File offset of the next byte. */
static inline uint64_t pgk_cur_off(const struct pgk_cursor *c)
{
    return c->src.base_off + (uint64_t)(c->at - c->start);
}

/* Notes that `need` bytes are not there, unless something failed before. */
void pgk_cur_fail(struct pgk_cursor *c, uint64_t need, const char *field);

/* Address of the next `n` bytes, which are consumed; NULL if there are not as many. */
static inline const uint8_t *pgk_cur_take(struct pgk_cursor *c, uint64_t n, const char *field)
{
    if (PGK_UNLIKELY(c->failed || n > pgk_cur_left(c))) {
        pgk_cur_fail(c, n, field);
        return NULL;
    }
    const uint8_t *p = c->at;
    c->at += n;
    return p;
}

#define PGK_CUR_INT(name, type)                                                \
    static inline type pgk_cur_##name(struct pgk_cursor *c, const char *field) \
    {                                                                          \
        type v = 0;                                                            \
        const uint8_t *p = pgk_cur_take(c, sizeof v, field);                   \
        if (PGK_LIKELY(p != NULL))                                             \
            memcpy(&v, p, sizeof v);                                           \
        return v;                                                              \
    }
PGK_CUR_INT(u8, uint8_t)
PGK_CUR_INT(u16, uint16_t)
PGK_CUR_INT(u32, uint32_t)
PGK_CUR_INT(u64, uint64_t)
#undef PGK_CUR_INT

/* LEB128; more than 10 bytes, or bits beyond 64, are a failure. */
uint64_t pgk_cur_uleb(struct pgk_cursor *c, const char *field);
int64_t pgk_cur_sleb(struct pgk_cursor *c, const char *field);

/* A u64 that says how many items of at least `item_size` bytes follow: a count
 * that cannot fit into the bytes left is a failure, so it is safe to allocate by. */
uint64_t pgk_cur_count(struct pgk_cursor *c, size_t item_size, const char *field);
uint64_t pgk_cur_uleb_count(struct pgk_cursor *c, size_t item_size, const char *field);

/* Address of `count` items of `item_size` bytes, which are consumed; NULL and failed if there are
 * not as many. For counts that stood elsewhere. */
const uint8_t *pgk_cur_take_items(struct pgk_cursor *c, uint64_t count, size_t item_size,
                                  const char *field);

/* Moves to an absolute file offset inside the window; false and failed if outside. */
bool pgk_cur_seek(struct pgk_cursor *c, uint64_t file_off, const char *field);

/* 0, or err filled from the first failure: PGK_E_TRUNCATED where bytes are missing,
 * PGK_E_CORRUPT for a LEB128 number or an offset that cannot be right. The name of the record is
 * evaluated on failure only, as formatting one for each record of a file would cost its reader
 * a tenth of its time. */
#define pgk_cur_check(c, err, record) \
    (PGK_UNLIKELY((c)->failed) ? pgk_cur_report((c), (err), (record)) : 0)
PGK_MUST_USE int pgk_cur_report(const struct pgk_cursor *c, struct pgk_err *err,
                                const char *record);

/* Fails with `status` at the cursor's source; the offset is that of `at`. */
#define pgk_cur_reject(c, err, code, off, ...)                                   \
    pgk_fail((err), (code), .file = (c)->src.file, .format = (c)->src.format,    \
             .version = (c)->src.version, .offset = &(uint64_t){(off)}, __VA_ARGS__)

#endif
