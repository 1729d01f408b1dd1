/* JSON, written as it is made, so that memory does not grow with what is written. The writer knows
 * where commas, colons and blanks belong; the caller names the members in their order.
 *
 *   struct pgk_json j;
 *   pgk_json_begin(&j, &text, PGK_JSON_SPACED);
 *   pgk_json_object(&j, NULL);
 *   pgk_json_number(&j, "samples", 7);
 *   pgk_json_array(&j, "names");
 *   pgk_json_text(&j, NULL, "main");
 *   pgk_json_end_array(&j);
 *   pgk_json_end_object(&j);         {"samples": 7, "names": ["main"]}
 *
 * A key is NULL for what stands in an array, and for the outermost value. */
#ifndef PGK_JSON_OUT_H
#define PGK_JSON_OUT_H

#include "text_out.h"

#include <stdbool.h>

enum pgk_json_layout {
    PGK_JSON_TIGHT,   /* {"a":1,"b":[1,2]} */
    PGK_JSON_SPACED,  /* {"a": 1, "b": [1, 2]} */
    PGK_JSON_OUTLINE, /* tight, with a blank after the colon of a key that begins a line */
    PGK_JSON_PRETTY,  /* each value on a line of its own, two blanks further in per level */
    PGK_JSON_AIRY,    /* the same, with a blank after colons, as LLVM prints it */
};

struct pgk_json {
    struct pgk_text_out *out;
    enum pgk_json_layout layout;
    bool some;       /* a value stands before in its object or array */
    bool breaks;     /* what comes next begins a line ... */
    unsigned blanks; /* ... after so many */
    unsigned depth;  /* open objects and arrays */
};

void pgk_json_begin(struct pgk_json *j, struct pgk_text_out *out, enum pgk_json_layout layout);

/* The next value, or the end of an object or array, begins a line. */
void pgk_json_line(struct pgk_json *j, unsigned blanks);

void pgk_json_object(struct pgk_json *j, const char *key);
void pgk_json_end_object(struct pgk_json *j);
void pgk_json_array(struct pgk_json *j, const char *key);
void pgk_json_end_array(struct pgk_json *j);

/* Bytes that are no UTF-8 become U+FFFD. */
void pgk_json_text(struct pgk_json *j, const char *key, const char *text);
void pgk_json_text_n(struct pgk_json *j, const char *key, const char *text, size_t n);
void pgk_json_number(struct pgk_json *j, const char *key, uint64_t v);
void pgk_json_flag(struct pgk_json *j, const char *key, bool v);
void pgk_json_null(struct pgk_json *j, const char *key);
/* "0x0012", of so many digits at least, as a text: addresses, hashes and GUIDs are beyond what
 * many readers of JSON take for a number. */
void pgk_json_hex(struct pgk_json *j, const char *key, uint64_t v, unsigned digits);
/* Bytes of an identifier: "00ff". */
void pgk_json_hex_bytes(struct pgk_json *j, const char *key, const uint8_t *bytes, size_t n);
/* Numbers that are not finite become null. As many digits as a double has, and a point even in
 * 1.0, by which readers know its type: */
void pgk_json_double(struct pgk_json *j, const char *key, double v);
/* So many significant digits at most, none of them a 0 at the end: */
void pgk_json_digits(struct pgk_json *j, const char *key, double v, int digits);
/* So many digits after the point: */
void pgk_json_fixed(struct pgk_json *j, const char *key, double v, int decimals);

/* Numbers of things that are alike, side by side: what `value` says of an id. */
struct pgk_json_column {
    const char *key;
    uint64_t (*value)(const void *of, uint32_t id);
};

/* A member with an array per column, over `ids`, or 0 to n - 1 where it is NULL. */
void pgk_json_columns(struct pgk_json *j, const struct pgk_json_column *columns, size_t n_columns,
                      const void *of, const uint32_t *ids, size_t n);

#endif
