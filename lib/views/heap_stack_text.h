/* Call stacks on a terminal. */
#ifndef PGK_HEAP_STACK_TEXT_H
#define PGK_HEAP_STACK_TEXT_H

#include "fail.h"
#include "pgokit/heap.h"

#include <stdio.h>

struct pgk_text_style {
    FILE *out;
    unsigned width; /* columns that names are shortened to; 0: they are whole */
    size_t depth;   /* frames shown of a stack; 0: all */
    bool colour;    /* ANSI colours */
};

enum pgk_style { PGK_STYLE_BOLD, PGK_STYLE_DIM, PGK_STYLE_LABEL };
const char *pgk_style_on(const struct pgk_text_style *s, enum pgk_style style);
const char *pgk_style_off(const struct pgk_text_style *s);

/* Writes the name of a type; what begins at column `at` of a line is shortened as functions are to
 * fit `width` columns, unless that is 0. */
void pgk_print_type_name(FILE *out, const char *type, unsigned width, unsigned at);

/* A frame in each line, leaf first. */
PGK_MUST_USE int pgk_heap_print_stack(const struct pgk_heap *heap, size_t context,
                                      const struct pgk_text_style *s, struct pgk_err *err);

/* The width for printf of a field of so many columns: that is in bytes, and "µ" has two. */
static inline int pgk_field_bytes(int columns, const char *text)
{
    for (; *text; text++)
        columns += (*text & 0xc0) == 0x80;
    return columns;
}

#endif
