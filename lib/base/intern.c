/* String interning. */
#include "intern.h"

#include "hash.h"
#include "pgokit/human.h"

#include <assert.h>

void pgk_intern_free(struct pgk_intern *t)
{
    pgk_arena_free(&t->arena);
    pgk_vec_free(&t->strs);
    pgk_index_free(&t->index);
}

uint32_t pgk_intern(struct pgk_intern *t, const char *s, size_t len)
{
    if (len == 0)
        return 0;
    uint64_t hash = pgk_hash_bytes(s, len);
    PGK_INDEX_FOR (&t->index, hash, id)
        if (t->strs.v[id].len == len && memcmp(t->strs.v[id].s, s, len) == 0)
            return id;

    /* Space is reserved first, so that a failure leaves the table as it was. */
    if (len > UINT32_MAX || t->strs.n >= PGK_INDEX_NONE || !pgk_vec_reserve(&t->strs, 2))
        return PGK_INDEX_NONE;
    if (t->strs.n == 0)
        t->strs.v[t->strs.n++] = (struct pgk_str){"", 0};
    if (!pgk_index_reserve(&t->index, t->index.used + 1))
        return PGK_INDEX_NONE;
    const char *copy = pgk_arena_copy(&t->arena, s, len);
    if (!copy)
        return PGK_INDEX_NONE;
    uint32_t id = (uint32_t)t->strs.n;
    if (!pgk_index_add(&t->index, hash, id))
        return PGK_INDEX_NONE;
    t->strs.v[t->strs.n++] = (struct pgk_str){copy, (uint32_t)len};
    return id;
}

uint32_t pgk_intern_cstr(struct pgk_intern *t, const char *s)
{
    return s ? pgk_intern(t, s, strlen(s)) : 0;
}

uint32_t pgk_intern_safe(struct pgk_intern *t, const char *text)
{
    size_t size = 4 * strlen(text) + 1;
    char *safe = pgk_mem_alloc(size, 1);
    if (!safe)
        return PGK_INDEX_NONE;
    uint32_t id = pgk_intern_cstr(t, pgk_human_text(safe, size, text));
    pgk_mem_free(safe);
    return id;
}

const char *pgk_intern_str(const struct pgk_intern *t, uint32_t id)
{
    assert(!id || id < t->strs.n);
    return id ? t->strs.v[id].s : "";
}

size_t pgk_intern_len(const struct pgk_intern *t, uint32_t id)
{
    assert(!id || id < t->strs.n);
    return id ? t->strs.v[id].len : 0;
}
