/* String interning: equal strings have equal 32-bit ids. Id 0 is the empty
 * string and means "unknown". Strings may hold any bytes. Not thread-safe for
 * writing; concurrent reads are fine. */
#ifndef PGK_INTERN_H
#define PGK_INTERN_H

#include "arena.h"
#include "index.h"
#include "vec.h"

struct pgk_intern {
    struct pgk_arena arena;
    PGK_VEC(struct pgk_str { const char *s; uint32_t len; }) strs;
    struct pgk_index index;
};

/* A zeroed struct is an empty table. */
void pgk_intern_free(struct pgk_intern *t);
/* The id of the string, added if new; PGK_INDEX_NONE when out of memory. */
uint32_t pgk_intern(struct pgk_intern *t, const char *s, size_t len);
uint32_t pgk_intern_cstr(struct pgk_intern *t, const char *s); /* NULL = "" */
/* The text made safe to show, as pgk_human_text does. */
uint32_t pgk_intern_safe(struct pgk_intern *t, const char *text);
/* NUL-terminated; valid until the table is freed. */
const char *pgk_intern_str(const struct pgk_intern *t, uint32_t id);
size_t pgk_intern_len(const struct pgk_intern *t, uint32_t id);

#endif
