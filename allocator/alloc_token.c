/* The functions that clang 22 calls with -fsanitize=alloc-token: the same functions with a token, a
 * hash of the type that is allocated. A plan knows contexts, which says more; without one, tokens
 * are not used. The objects are freed as all others are. */
#include "alloc_object.h"
#include "guest_memory.h"

#define GROUP   pgal_group_of_stack(PGG_HERE)
#define IGNORED __attribute__((unused))
#define TOKEN(name, params, result)                  \
    PGAL_EXPORT void *__alloc_token_##name params;   \
    void *__alloc_token_##name params                \
    {                                                \
        return result;                               \
    }

TOKEN(malloc, (size_t n, u64 token IGNORED), pgal_alloc_in(GROUP, n, 0))
TOKEN(calloc, (size_t n, size_t size, u64 token IGNORED), pgal_calloc(n, size, GROUP))
TOKEN(realloc, (void *p, size_t n, u64 token IGNORED), pgal_realloc(p, n, GROUP))
TOKEN(aligned_alloc, (size_t align, size_t n, u64 token IGNORED), pgal_alloc_in(GROUP, n, align))
TOKEN(memalign, (size_t align, size_t n, u64 token IGNORED), pgal_alloc_in(GROUP, n, align))
TOKEN(valloc, (size_t n, u64 token IGNORED), pgal_alloc_in(GROUP, n, pgg_page()))
TOKEN(pvalloc, (size_t n, u64 token IGNORED),
      pgal_alloc_in(GROUP, (n + pgg_page() - 1) & ~(pgg_page() - 1), pgg_page()))
