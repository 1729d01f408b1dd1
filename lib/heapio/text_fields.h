/* Lines of texts that tools print, and what stands in them. Everything is checked against the end
 * of the line. */
#ifndef PGK_TEXT_FIELDS_H
#define PGK_TEXT_FIELDS_H

#include "cursor.h"
#include "fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pgk_text_line {
    const char *at, *end; /* what is not taken yet, without the newline */
    uint64_t off;         /* of the line in the file */
    bool whole;           /* a newline ends it */
};

/* A text that is read line by line. */
struct pgk_text {
    const struct pgk_source *src; /* may be NULL where nothing is refused */
    struct pgk_err *err;
    const char *next, *start, *end; /* next: of the first line that is not read yet */
    const char *hint;               /* of errors: what to do about the file */
};

static inline struct pgk_text pgk_text_of(const uint8_t *bytes, size_t size,
                                          const struct pgk_source *src, const char *hint,
                                          struct pgk_err *err)
{
    const char *start = (const char *)bytes;
    return (struct pgk_text){src, err, start, start, start + size, hint};
}

/* The unread rest of the file, as if it were one line. */
static inline struct pgk_text_line pgk_text_rest(const struct pgk_text *t)
{
    uint64_t base_off = t->src ? t->src->base_off : 0;
    return (struct pgk_text_line){t->next, t->end, base_off + (uint64_t)(t->next - t->start),
                                  false};
}

/* The next line; false past the last one. */
static inline bool pgk_text_next(struct pgk_text *t, struct pgk_text_line *l)
{
    if (t->next == t->end)
        return false;
    const char *stop = memchr(t->next, '\n', (size_t)(t->end - t->next));
    *l = pgk_text_rest(t);
    l->end = stop ? stop : t->end;
    l->whole = stop != NULL;
    t->next = stop ? stop + 1 : t->end;
    return true;
}

/* An error in the line. */
static inline int pgk_text_fail(const struct pgk_text *t, const struct pgk_text_line *l, int code,
                                const char *record, const char *field, const char *found,
                                const char *expected)
{
    return pgk_fail(t->err, code, .file = t->src->file, .format = t->src->format,
                    .offset = &(uint64_t){l->off}, .record = record, .field = field, .found = found,
                    .expected = expected, .hint = t->hint);
}

/* The line goes on with something else. */
static inline int pgk_text_reject(const struct pgk_text *t, const struct pgk_text_line *l,
                                  const char *record, const char *field, const char *expected)
{
    int n = l->end - l->at > 60 ? 60 : (int)(l->end - l->at);
    return pgk_text_fail(t, l, l->whole ? PGK_E_CORRUPT : PGK_E_TRUNCATED, record, field,
                         PGK_F("'%.*s'", n, l->at), expected);
}

/* These take what they name, or leave the line as it is and return false. */

static inline bool pgk_text_take(struct pgk_text_line *l, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(l->end - l->at) < n || memcmp(l->at, text, n) != 0)
        return false;
    l->at += n;
    return true;
}

/* A number without sign, of lower-case digits, that 64 bits hold. */
static inline bool pgk_text_number(struct pgk_text_line *l, unsigned base, uint64_t *value)
{
    uint64_t v = 0;
    const char *at = l->at;
    for (; at < l->end; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a' + 10)
                                                    : 99;
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    if (at == l->at)
        return false;
    l->at = at;
    *value = v;
    return true;
}

#endif
