/* Lines of texts that tools print, and what stands in them. Everything is checked against the end
 * of the line. */
#ifndef PGK_TEXT_FIELDS_H
#define PGK_TEXT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pgk_text_line {
    const char *at, *end; /* what is not taken yet, without the newline */
    uint64_t off;         /* of the line in the file */
    bool whole;           /* a newline ends it */
};

/* The next line of the text from `start` to `end`, which stands at `base_off` of its file; false
 * past the last one. */
static inline bool pgk_text_next(const char **next, const char *start, const char *end,
                                 uint64_t base_off, struct pgk_text_line *l)
{
    if (*next == end)
        return false;
    const char *stop = memchr(*next, '\n', (size_t)(end - *next));
    *l = (struct pgk_text_line){*next, stop ? stop : end, base_off + (uint64_t)(*next - start),
                                stop != NULL};
    *next = stop ? stop + 1 : end;
    return true;
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
