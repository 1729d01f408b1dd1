/* Text for a stdio stream or a sink in large pieces: what prints millions of lines has no time for
 * printf. Errors are those of the stream or sink. End with pgk_text_flush. */
#ifndef PGK_TEXT_OUT_H
#define PGK_TEXT_OUT_H

#include "sink.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PGK_TEXT_OUT_BYTES = 1 << 14 };

struct pgk_text_out {
    FILE *file;
    struct pgk_sink *sink; /* instead of a file */
    size_t n;              /* bytes in `v` */
    char v[PGK_TEXT_OUT_BYTES];
};

void pgk_text_to_file(struct pgk_text_out *o, FILE *file);
void pgk_text_to_sink(struct pgk_text_out *o, struct pgk_sink *sink);
void pgk_text_flush(struct pgk_text_out *o);
void pgk_text_long(struct pgk_text_out *o, const char *s, size_t n);

static inline void pgk_text_bytes(struct pgk_text_out *o, const char *s, size_t n)
{
    if (PGK_UNLIKELY(n > PGK_TEXT_OUT_BYTES - o->n)) {
        pgk_text_long(o, s, n);
        return;
    }
    memcpy(o->v + o->n, s, n);
    o->n += n;
}

/* A string literal. */
#define pgk_text_lit(o, literal) pgk_text_bytes((o), (literal), sizeof(literal) - 1)

static inline void pgk_text_str(struct pgk_text_out *o, const char *s)
{
    pgk_text_bytes(o, s, strlen(s));
}

void pgk_text_fill(struct pgk_text_out *o, char c, size_t n);
void pgk_text_u64(struct pgk_text_out *o, uint64_t v);
/* Lower-case hexadecimal, right-aligned in `width` columns. */
void pgk_text_hex(struct pgk_text_out *o, uint64_t v, unsigned width);
void pgk_text_printf(struct pgk_text_out *o, const char *fmt, ...) PGK_PRINTF(2, 3);

#endif
