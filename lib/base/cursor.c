/* Bounded reader: the variable-length reads and the message of the first failure. */
#include "cursor.h"

#include <inttypes.h>

void pgk_cur_init(struct pgk_cursor *c, const void *bytes, size_t size,
                  const struct pgk_source *src)
{
    /* An empty window needs an address of its own: arithmetic on NULL is undefined. */
    static const uint8_t nothing[1];
    const uint8_t *start = bytes && size ? bytes : nothing;
    *c = (struct pgk_cursor){.start = start, .at = start, .end = start + size};
    if (src)
        c->src = *src;
}

static void fail_at(struct pgk_cursor *c, enum pgk_cur_failure kind, const uint8_t *at,
                    uint64_t need, const char *field)
{
    if (c->failed)
        return;
    c->failed = true;
    c->fail_kind = kind;
    c->fail_field = field;
    c->fail_off = c->src.base_off + (uint64_t)(at - c->start);
    c->fail_need = need;
    c->fail_left = (uint64_t)(c->end - at);
    c->at = c->end;
}

void pgk_cur_fail(struct pgk_cursor *c, uint64_t need, const char *field)
{
    fail_at(c, PGK_CUR_SHORT, c->at, need, field);
}

enum { LEB_MAX_BYTES = 10 };

/* The bits of a LEB128 number; false and failed if it does not end in the window or is
 * too long. `*last` is its last byte and `*bits` the number of bits it has. */
static bool read_leb(struct pgk_cursor *c, const char *field, uint64_t *value, uint8_t *last,
                     unsigned *bits)
{
    const uint8_t *start = c->at;
    *value = 0;
    for (unsigned i = 0; i < LEB_MAX_BYTES; i++) {
        if (c->at == c->end) {
            fail_at(c, PGK_CUR_SHORT, start, (uint64_t)i + 1, field);
            return false;
        }
        *last = *c->at++;
        *bits = 7 * (i + 1);
        *value |= (uint64_t)(*last & 0x7f) << (7 * i);
        if (!(*last & 0x80))
            return true;
    }
    fail_at(c, PGK_CUR_LEB, start, 0, field);
    return false;
}

uint64_t pgk_cur_uleb(struct pgk_cursor *c, const char *field)
{
    const uint8_t *start = c->at;
    uint64_t value;
    uint8_t last;
    unsigned bits;
    if (!read_leb(c, field, &value, &last, &bits))
        return 0;
    if (bits > 64 && last > 1) {
        fail_at(c, PGK_CUR_LEB, start, 0, field);
        return 0;
    }
    return value;
}

int64_t pgk_cur_sleb(struct pgk_cursor *c, const char *field)
{
    const uint8_t *start = c->at;
    uint64_t value;
    uint8_t last;
    unsigned bits;
    if (!read_leb(c, field, &value, &last, &bits))
        return 0;
    if (bits > 64 && last != 0 && last != 0x7f) {
        fail_at(c, PGK_CUR_LEB, start, 0, field);
        return 0;
    }
    if (bits < 64 && (last & 0x40))
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

/* `count` was read at `start`. */
static uint64_t check_count(struct pgk_cursor *c, const uint8_t *start, uint64_t count,
                            size_t item_size, const char *field)
{
    size_t size = item_size ? item_size : 1;
    if (count <= pgk_cur_left(c) / size)
        return count;
    c->fail_item_size = size;
    uint64_t left = pgk_cur_left(c);
    fail_at(c, PGK_CUR_ITEMS, start, count, field);
    c->fail_left = left;
    return 0;
}

uint64_t pgk_cur_count(struct pgk_cursor *c, size_t item_size, const char *field)
{
    const uint8_t *start = c->at;
    uint64_t count = pgk_cur_u64(c, field);
    return check_count(c, start, count, item_size, field);
}

uint64_t pgk_cur_uleb_count(struct pgk_cursor *c, size_t item_size, const char *field)
{
    const uint8_t *start = c->at;
    uint64_t count = pgk_cur_uleb(c, field);
    return check_count(c, start, count, item_size, field);
}

const uint8_t *pgk_cur_take_items(struct pgk_cursor *c, uint64_t count, size_t item_size,
                                  const char *field)
{
    if (count <= pgk_cur_left(c) / item_size)
        return pgk_cur_take(c, count * item_size, field);
    c->fail_item_size = c->failed ? c->fail_item_size : item_size;
    fail_at(c, PGK_CUR_ITEMS, c->at, count, field);
    return NULL;
}

bool pgk_cur_seek(struct pgk_cursor *c, uint64_t file_off, const char *field)
{
    if (c->failed)
        return false;
    uint64_t size = (uint64_t)(c->end - c->start);
    if (file_off < c->src.base_off || file_off - c->src.base_off > size) {
        fail_at(c, PGK_CUR_OUTSIDE, c->at, file_off, field);
        return false;
    }
    c->at = c->start + (file_off - c->src.base_off);
    return true;
}

#define CUT_SHORT "the file is cut short; copy it again, or run the program to its end"
#define DAMAGED   "the file is cut short or damaged; copy it again, or create it again"

int pgk_cur_report(const struct pgk_cursor *c, struct pgk_err *err, const char *record)
{
    uint64_t left = c->fail_left, need = c->fail_need;
    uint64_t first = c->src.base_off, last = first + (uint64_t)(c->end - c->start);
    const char *hint = CUT_SHORT;
    char found[sizeof err->found], expected[sizeof err->expected];
    pgk_format(found, sizeof found, "%" PRIu64 " byte%s left", left, pgk_plural(left));
    int status = PGK_E_TRUNCATED;
    switch (c->fail_kind) {
    case PGK_CUR_SHORT:
        pgk_format(expected, sizeof expected, "%" PRIu64 " byte%s", need, pgk_plural(need));
        break;
    case PGK_CUR_ITEMS:
        pgk_format(expected, sizeof expected, "%" PRIu64 " item%s of at least %zu byte%s", need,
                   pgk_plural(need), c->fail_item_size, pgk_plural(c->fail_item_size));
        hint = DAMAGED;
        break;
    case PGK_CUR_LEB:
        status = PGK_E_CORRUPT;
        pgk_format(found, sizeof found, "a LEB128 number of more than 64 bits");
        pgk_format(expected, sizeof expected, "at most 64 bits");
        hint = DAMAGED;
        break;
    case PGK_CUR_OUTSIDE:
        if (need < first)
            status = PGK_E_CORRUPT;
        pgk_format(found, sizeof found, "a reference to offset 0x%" PRIx64, need);
        pgk_format(expected, sizeof expected, "an offset from 0x%" PRIx64 " to 0x%" PRIx64, first,
                   last);
        hint = DAMAGED;
        break;
    }
    return pgk_cur_reject(c, err, status, c->fail_off, .record = record, .field = c->fail_field,
                          .found = found, .expected = expected, .hint = hint);
}
