/* An allocator that takes hints, and asks the one behind it for the memory in a function for each
 * hint. So a recorder of the heap that is preloaded, too, has the hint of an object in its call
 * stack: the functions of this file are the beginning of it. Needs -fno-builtin. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COLD = 1, HOT = 254 }; /* as LLVM has them */

struct request {
    enum { MALLOC, CALLOC, REALLOC, ALIGNED_ALLOC } function;
    size_t n, other; /* bytes; objects or alignment */
    void *p;
};

static inline void *ask(const struct request *r)
{
    void *p = r->function == CALLOC    ? calloc(r->other, r->n)
              : r->function == REALLOC ? realloc(r->p, r->n)
              : r->function == MALLOC  ? malloc(r->n)
                                       : aligned_alloc(r->other, r->n);
    __asm__ volatile("" : "+r"(p)); /* a jump to these functions would not be in call stacks */
    return p;
}

#define ASKS(name) \
    __attribute__((noinline)) static void *name(const struct request *r) { return ask(r); }
ASKS(hint_is_cold)
ASKS(hint_is_hot)
ASKS(hint_is_other)

static inline void *object(uint8_t hint, const struct request *r)
{
    void *p = hint == COLD ? hint_is_cold(r) : hint == HOT ? hint_is_hot(r) : hint_is_other(r);
    __asm__ volatile("" : "+r"(p));
    return p;
}

#define HINTED(name, params, ...)                                \
    void *name params;                                           \
    void *name params                                            \
    {                                                            \
        return object(hint, &(const struct request){__VA_ARGS__}); \
    }

HINTED(pgokit_malloc_hint, (size_t n, uint8_t hint), MALLOC, n)
HINTED(pgokit_calloc_hint, (size_t n, size_t size, uint8_t hint), CALLOC, size, n)
HINTED(pgokit_realloc_hint, (void *p, size_t n, uint8_t hint), REALLOC, n, 0, p)
HINTED(pgokit_aligned_alloc_hint, (size_t align, size_t n, uint8_t hint), ALIGNED_ALLOC, n, align)
HINTED(_Znwm12__hot_cold_t, (size_t n, uint8_t hint), MALLOC, n)
HINTED(_Znam12__hot_cold_t, (size_t n, uint8_t hint), MALLOC, n)
HINTED(_ZnwmRKSt9nothrow_t12__hot_cold_t,
       (size_t n, const void *tag __attribute__((unused)), uint8_t hint), MALLOC, n)
HINTED(_ZnamRKSt9nothrow_t12__hot_cold_t,
       (size_t n, const void *tag __attribute__((unused)), uint8_t hint), MALLOC, n)
HINTED(_ZnwmSt11align_val_t12__hot_cold_t, (size_t n, size_t align, uint8_t hint), ALIGNED_ALLOC, n,
       align)
HINTED(_ZnamSt11align_val_t12__hot_cold_t, (size_t n, size_t align, uint8_t hint), ALIGNED_ALLOC, n,
       align)

char *pgokit_strdup_hint(const char *s, uint8_t hint);
char *pgokit_strdup_hint(const char *s, uint8_t hint)
{
    size_t n = strlen(s) + 1;
    char *p = object(hint, &(const struct request){MALLOC, n});
    return p ? memcpy(p, s, n) : NULL;
}
