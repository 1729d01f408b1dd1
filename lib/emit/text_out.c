/* Text for a stream or a sink in large pieces. */
#include "text_out.h"

#include <stdarg.h>

void pgk_text_to_file(struct pgk_text_out *o, FILE *file)
{
    o->file = file;
    o->sink = NULL;
    o->n = 0;
}

void pgk_text_to_sink(struct pgk_text_out *o, struct pgk_sink *sink)
{
    o->file = NULL;
    o->sink = sink;
    o->n = 0;
}

static void put(struct pgk_text_out *o, const char *s, size_t n)
{
    if (o->sink)
        pgk_sink_bytes(o->sink, s, n);
    else
        (void)fwrite(s, 1, n, o->file);
}

void pgk_text_flush(struct pgk_text_out *o)
{
    if (o->n)
        put(o, o->v, o->n);
    o->n = 0;
}

void pgk_text_long(struct pgk_text_out *o, const char *s, size_t n)
{
    pgk_text_flush(o);
    if (n >= PGK_TEXT_OUT_BYTES) {
        put(o, s, n);
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
