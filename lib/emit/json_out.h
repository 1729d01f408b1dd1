/* JSON straight into a sink, for what is too large to be built as a tree first. The caller
 * writes the punctuation that does not depend on data. */
#ifndef PGK_JSON_OUT_H
#define PGK_JSON_OUT_H

#include "sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A quoted string; `text` is valid UTF-8. */
void pgk_json_text(struct pgk_sink *s, const char *text);
void pgk_json_number(struct pgk_sink *s, uint64_t v);
/* A finite number with as many digits as a double has; others become null. */
void pgk_json_double(struct pgk_sink *s, double v);
/* A comma, unless `first`; sets it to false. */
void pgk_json_comma(struct pgk_sink *s, bool *first);
/* `"key":`, behind a comma unless `first`. */
void pgk_json_key(struct pgk_sink *s, bool *first, const char *key);
/* `,"key":"text"` and `,"key":1`. */
void pgk_json_member_text(struct pgk_sink *s, const char *key, const char *text);
void pgk_json_member_number(struct pgk_sink *s, const char *key, uint64_t v);
void pgk_json_member_double(struct pgk_sink *s, const char *key, double v);

/* Numbers of things that are alike, side by side: what `value` says of an id. */
struct pgk_json_column {
    const char *key;
    uint64_t (*value)(const void *of, uint32_t id);
};

/* `,"name":{` and `"key":[1,2,...]` for each column, over `ids`, or 0 to n - 1 where it is
 * NULL. The caller closes the object. */
void pgk_json_columns(struct pgk_sink *s, const char *name, const struct pgk_json_column *columns,
                      size_t n_columns, const void *of, const uint32_t *ids, size_t n);

#endif
