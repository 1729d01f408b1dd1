/* The global forms of C++'s operator new and delete, under the names a C++ compiler gives them:
 * those of the standard, those with a hint (__hot_cold_t, which clang calls in programs optimised
 * with a heap profile), and those that return a size. */
#include "alloc_hint.h"
#include "guest_new.h"

#include <stdlib.h>
#include <string.h>

/* Asks the program's handler for memory until there is some or the handler gives up. */
static PGG_COLD void *new_again(size_t n, size_t align, bool nothrow, u32 group)
{
    while (pgg_call_new_handler()) {
        void *p = pgal_alloc_in(group, n, align);
        if (p)
            return p;
    }
    if (nothrow)
        return NULL;
    pgg_throw_bad_alloc();
    pgal_say("operator new: out of memory", NULL);
    abort();
}

PGG_INLINE void *new_object(size_t n, size_t align, bool nothrow, u32 group)
{
    void *p = pgal_alloc_in(group, n, align);
    return PGG_LIKELY(p) ? p : new_again(n, align, nothrow, group);
}

#define FRAME   PGG_HERE
#define IGNORED __attribute__((unused))
/* name, parameters, alignment, nothrow; with and without a hint */
#define NEW(name, params, align, nothrow)                                     \
    PGAL_EXPORT void *name params;                                            \
    void *name params                                                         \
    {                                                                         \
        return new_object(n, align, nothrow, pgal_group_of_stack(FRAME));     \
    }
#define NEW_HINT(name, params, align, nothrow)                                \
    PGAL_EXPORT void *name params;                                            \
    void *name params                                                         \
    {                                                                         \
        return new_object(n, align, nothrow, pgal_group_of_hint(hint, FRAME)); \
    }
#define DELETE(name, params)      \
    PGAL_EXPORT void name params; \
    void name params              \
    {                             \
        pgal_free(p);             \
    }

#define TAG const void *tag IGNORED

NEW(_Znwm, (size_t n), 0, false)
NEW(_Znam, (size_t n), 0, false)
NEW(_ZnwmRKSt9nothrow_t, (size_t n, TAG), 0, true)
NEW(_ZnamRKSt9nothrow_t, (size_t n, TAG), 0, true)
NEW(_ZnwmSt11align_val_t, (size_t n, size_t align), align, false)
NEW(_ZnamSt11align_val_t, (size_t n, size_t align), align, false)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, TAG), align, true)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, TAG), align, true)

NEW_HINT(_Znwm12__hot_cold_t, (size_t n, uint8_t hint), 0, false)
NEW_HINT(_Znam12__hot_cold_t, (size_t n, uint8_t hint), 0, false)
NEW_HINT(_ZnwmRKSt9nothrow_t12__hot_cold_t, (size_t n, TAG, uint8_t hint), 0, true)
NEW_HINT(_ZnamRKSt9nothrow_t12__hot_cold_t, (size_t n, TAG, uint8_t hint), 0, true)
NEW_HINT(_ZnwmSt11align_val_t12__hot_cold_t, (size_t n, size_t align, uint8_t hint), align, false)
NEW_HINT(_ZnamSt11align_val_t12__hot_cold_t, (size_t n, size_t align, uint8_t hint), align, false)
NEW_HINT(_ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t,
         (size_t n, size_t align, TAG, uint8_t hint), align, true)
NEW_HINT(_ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t,
         (size_t n, size_t align, TAG, uint8_t hint), align, true)

/* clang -fsanitize=alloc-token: see alloc_token.c. */
#define TOKEN u64 token IGNORED
NEW(__alloc_token__Znwm, (size_t n, TOKEN), 0, false)
NEW(__alloc_token__Znam, (size_t n, TOKEN), 0, false)
NEW(__alloc_token__ZnwmRKSt9nothrow_t, (size_t n, TAG, TOKEN), 0, true)
NEW(__alloc_token__ZnamRKSt9nothrow_t, (size_t n, TAG, TOKEN), 0, true)
NEW(__alloc_token__ZnwmSt11align_val_t, (size_t n, size_t align, TOKEN), align, false)
NEW(__alloc_token__ZnamSt11align_val_t, (size_t n, size_t align, TOKEN), align, false)
NEW(__alloc_token__ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, TAG, TOKEN), align,
    true)
NEW(__alloc_token__ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, TAG, TOKEN), align,
    true)

DELETE(_ZdlPv, (void *p))
DELETE(_ZdaPv, (void *p))
DELETE(_ZdlPvm, (void *p, size_t n IGNORED))
DELETE(_ZdaPvm, (void *p, size_t n IGNORED))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, TAG))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, TAG))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align IGNORED))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align IGNORED))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n IGNORED, size_t align IGNORED))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n IGNORED, size_t align IGNORED))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align IGNORED, TAG))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align IGNORED, TAG))

/* ---- those that return a size: of what may be used of the object ---- */

struct sized {
    void *p;
    size_t n;
};
#define SIZED(name, params, align, group)                                     \
    PGAL_EXPORT struct sized name params;                                     \
    struct sized name params                                                  \
    {                                                                         \
        void *p = new_object(n, align, false, group);                         \
        return (struct sized){p, pgal_je_sallocx(p, 0)};                      \
    }

SIZED(__size_returning_new, (size_t n), 0, pgal_group_of_stack(FRAME))
SIZED(__size_returning_new_aligned, (size_t n, size_t align), align, pgal_group_of_stack(FRAME))
SIZED(__size_returning_new_hot_cold, (size_t n, uint8_t hint), 0, pgal_group_of_hint(hint, FRAME))
SIZED(__size_returning_new_aligned_hot_cold, (size_t n, size_t align, uint8_t hint), align,
      pgal_group_of_hint(hint, FRAME))

/* ---- the same for C: what compilers and programs call with a hint ---- */

PGAL_EXPORT void *pgokit_malloc_hint(size_t n, uint8_t hint);
PGAL_EXPORT void *pgokit_calloc_hint(size_t n, size_t size, uint8_t hint);
PGAL_EXPORT void *pgokit_realloc_hint(void *p, size_t n, uint8_t hint);
PGAL_EXPORT void *pgokit_aligned_alloc_hint(size_t align, size_t n, uint8_t hint);
PGAL_EXPORT char *pgokit_strdup_hint(const char *s, uint8_t hint);

void *pgokit_malloc_hint(size_t n, uint8_t hint)
{
    return pgal_alloc_in(pgal_group_of_hint(hint, FRAME), n, 0);
}

void *pgokit_calloc_hint(size_t n, size_t size, uint8_t hint)
{
    return pgal_calloc(n, size, pgal_group_of_hint(hint, FRAME));
}

void *pgokit_realloc_hint(void *p, size_t n, uint8_t hint)
{
    return pgal_realloc(p, n, pgal_group_of_hint(hint, FRAME));
}

void *pgokit_aligned_alloc_hint(size_t align, size_t n, uint8_t hint)
{
    return align & (align - 1) ? NULL : pgal_alloc_in(pgal_group_of_hint(hint, FRAME), n, align);
}

char *pgokit_strdup_hint(const char *s, uint8_t hint)
{
    const size_t n = strlen(s) + 1;
    char *p = pgal_alloc_in(pgal_group_of_hint(hint, FRAME), n, 0);
    return PGG_LIKELY(p) ? memcpy(p, s, n) : NULL;
}
