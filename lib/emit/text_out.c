/* Text for a stdio stream in large pieces. */
#include "text_out.h"

#include <stdarg.h>
#include <stdbool.h>

void pgk_text_flush(struct pgk_text_out *o)
{
    if (o->n)
        (void)fwrite(o->v, 1, o->n, o->file);
    o->n = 0;
}

void pgk_text_long(struct pgk_text_out *o, const char *s, size_t n)
{
    pgk_text_flush(o);
    if (n >= PGK_TEXT_OUT_BYTES) {
        (void)fwrite(s, 1, n, o->file);
        return;
    }
    memcpy(o->v, s, n);
    o->n = n;
}

void pgk_text_fill(struct pgk_text_out *o, char c, size_t n)
{
    char some[64];
    memset(some, c, sizeof some);
    for (; n > sizeof some; n -= sizeof some)
        pgk_text_bytes(o, some, sizeof some);
    pgk_text_bytes(o, some, n);
}

void pgk_text_u64(struct pgk_text_out *o, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    pgk_text_bytes(o, digits + at, sizeof digits - at);
}

void pgk_text_hex(struct pgk_text_out *o, uint64_t v, unsigned width)
{
    char digits[16];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    while (at && sizeof digits - at < width)
        digits[--at] = ' ';
    pgk_text_bytes(o, digits + at, sizeof digits - at);
}

void pgk_text_printf(struct pgk_text_out *o, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n > 0)
        pgk_text_bytes(o, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

/* Length of the UTF-8 sequence at `s`, of `n` bytes at most; 0 if it is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || outside ? 0 : len;
}

/* How many bytes stand for themselves. */
static size_t plain_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

void pgk_text_json(struct pgk_text_out *o, const char *s, size_t n)
{
    pgk_text_lit(o, "\"");
    size_t plain = plain_length(s, n);
    pgk_text_bytes(o, s, plain);
    for (size_t i = plain; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t len = c < 0x80 ? 1 : utf8_length((const unsigned char *)s + i, n - i);
        if (c < 0x20 || c == 0x7f)
            pgk_text_printf(o, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            pgk_text_printf(o, "\\%c", c);
        else if (len)
            pgk_text_bytes(o, s + i, len);
        else
            pgk_text_lit(o, "\\ufffd");
        i += len ? len : 1;
    }
    pgk_text_lit(o, "\"");
}
