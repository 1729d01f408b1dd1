/* operator new and delete of C++, under the names that a C++ compiler gives them. Where the C++
 * library has them, they are malloc and free, and its own new is called when there is no memory: it
 * lets the program's handler free some, and throws. An allocator that brings its own keeps them. */
#include "sampler_new.h"

#include "sampler_next.h"
#include "sampler_object.h"
#include "sampler_slow.h"

#include <stdlib.h>

/* The form without alignment and without a second parameter that is used: what a function does not
 * take is in a register that it does not read. */
typedef void *new_function(size_t n, const void *tag);
typedef void *new_aligned_function(size_t n, size_t align, const void *tag);
typedef void delete_function(void *p, size_t a, size_t b);

static const char tag; /* std::nothrow, which nobody reads */

static PGG_COLD void *without_memory(u32 which, size_t n, size_t align)
{
    pgsm_function *function = pgsm_operator_next(which);
    if (!function) {
        pgsm_say("operator new: out of memory", NULL);
        abort();
    }
    return which < PGSM_NEW_ALIGNED ? ((new_function *)function)(n, &tag)
                                    : ((new_aligned_function *)function)(n, align, &tag);
}

void *pgsm_new_next(size_t n, u32 which)
{
    new_function *other = (new_function *)pgsm_next.operators[which];
    if (other)
        return other(n, &tag);
    void *p = pgsm_next.malloc(n);
    return PGG_LIKELY(p) ? p : without_memory(which, n, 0);
}

void *pgsm_new_aligned_next(size_t n, size_t align, u32 which)
{
    new_aligned_function *other = (new_aligned_function *)pgsm_next.operators[which];
    if (other)
        return other(n, align, &tag);
    void *p = n <= PTRDIFF_MAX && pgsm_next.aligned_alloc
                  ? pgsm_next.aligned_alloc(align, (n + align - 1) & -align)
                  : NULL;
    return PGG_LIKELY(p) ? p : without_memory(which, n, align);
}

#define IGNORED __attribute__((unused))
#define NEW(name, params, which)                                            \
    PGSM_EXPORT void *name params;                                          \
    void *name params                                                       \
    {                                                                       \
        if (PGG_LIKELY(pgsm_next.operators_are_others || !pgsm_count(n)))   \
            return pgsm_new_next(n, which);                                 \
        return pgsm_slow_new(n, which);                                     \
    }
#define NEW_ALIGNED(name, params, which)                                    \
    PGSM_EXPORT void *name params;                                          \
    void *name params                                                       \
    {                                                                       \
        if (PGG_LIKELY(pgsm_next.operators_are_others || !pgsm_count(n)))   \
            return pgsm_new_aligned_next(n, align, which);                  \
        return pgsm_slow_new_aligned(n, align, which);                      \
    }
#define DELETE(name, params, a, b, which)                                              \
    PGSM_EXPORT void name params;                                                      \
    void name params                                                                   \
    {                                                                                  \
        if (PGG_UNLIKELY(pgsm_is_inside(p)))                                           \
            pgsm_end(p);                                                               \
        else if (PGG_UNLIKELY(pgsm_next.operators[which]))                             \
            ((delete_function *)pgsm_next.operators[which])(p, a, b);                  \
        else                                                                           \
            pgsm_next.free(p);                                                         \
    }

#define TAG const void *t IGNORED

NEW(_Znwm, (size_t n), PGSM_NEW)
NEW(_Znam, (size_t n), PGSM_NEW_ARRAY)
NEW(_ZnwmRKSt9nothrow_t, (size_t n, TAG), PGSM_NEW_NOTHROW)
NEW(_ZnamRKSt9nothrow_t, (size_t n, TAG), PGSM_NEW_ARRAY_NOTHROW)
NEW_ALIGNED(_ZnwmSt11align_val_t, (size_t n, size_t align), PGSM_NEW_ALIGNED)
NEW_ALIGNED(_ZnamSt11align_val_t, (size_t n, size_t align), PGSM_NEW_ARRAY_ALIGNED)
NEW_ALIGNED(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, TAG),
            PGSM_NEW_ALIGNED_NOTHROW)
NEW_ALIGNED(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t align, TAG),
            PGSM_NEW_ARRAY_ALIGNED_NOTHROW)

DELETE(_ZdlPv, (void *p), 0, 0, PGSM_DELETE)
DELETE(_ZdaPv, (void *p), 0, 0, PGSM_DELETE_ARRAY)
DELETE(_ZdlPvm, (void *p, size_t n), n, 0, PGSM_DELETE_SIZED)
DELETE(_ZdaPvm, (void *p, size_t n), n, 0, PGSM_DELETE_ARRAY_SIZED)
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, TAG), (size_t)t, 0, PGSM_DELETE_NOTHROW)
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, TAG), (size_t)t, 0, PGSM_DELETE_ARRAY_NOTHROW)
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align), align, 0, PGSM_DELETE_ALIGNED)
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align), align, 0, PGSM_DELETE_ARRAY_ALIGNED)
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t align), n, align,
       PGSM_DELETE_SIZED_ALIGNED)
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t align), n, align,
       PGSM_DELETE_ARRAY_SIZED_ALIGNED)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, TAG), align, (size_t)t,
       PGSM_DELETE_ALIGNED_NOTHROW)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, TAG), align, (size_t)t,
       PGSM_DELETE_ARRAY_ALIGNED_NOTHROW)
