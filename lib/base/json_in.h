/* JSON, read into a tree of values in an arena. A file may hold several values one after the other,
 * as JSON Lines does. What a value does not have, such as a member of a number, is NULL or 0, so
 * that readers ask straight down and look once at what they got. */
#ifndef PGK_JSON_IN_H
#define PGK_JSON_IN_H

#include "arena.h"
#include "cursor.h"

enum pgk_json_kind { PGK_JSON_NULL, PGK_JSON_FALSE, PGK_JSON_TRUE, PGK_JSON_NUMBER, PGK_JSON_TEXT,
                     PGK_JSON_ARRAY, PGK_JSON_OBJECT };

struct pgk_json_value {
    enum pgk_json_kind kind;
    uint32_t n;         /* items, members, or bytes of a text or of the digits of a number */
    uint32_t key_bytes;
    const char *key;    /* of a member; not NUL-terminated */
    const char *text;   /* of a text, without escapes, or the digits of a number */
    struct pgk_json_value *first, *next; /* of an array or object; of what it is an item of */
    uint64_t off;       /* in the file */
};

/* The next value: 1, 0 at the end, or PGK_E_CORRUPT. Values live as long as the arena, and point
 * into the bytes. */
PGK_MUST_USE int pgk_json_in_next(struct pgk_cursor *c, struct pgk_arena *arena,
                                  const struct pgk_json_value **value, struct pgk_err *err);

/* NULL if `value` is no object or has no such member. */
const struct pgk_json_value *pgk_json_in_member(const struct pgk_json_value *value,
                                                const char *key);
/* A number, or a text that is one: as 64-bit numbers are written. Negative ones as two's
 * complement; a fraction is cut off. False if it is none. */
bool pgk_json_in_integer(const struct pgk_json_value *value, uint64_t *number);
bool pgk_json_in_is(const struct pgk_json_value *value, const char *text);

#endif
