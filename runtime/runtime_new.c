/* The twenty global forms of C++'s operator new and delete, under the names a C++ compiler
 * gives them. */
#include "guest_new.h"
#include "runtime_alloc.h"

#include <stdlib.h>

/* Asks the program's handler for memory until there is some or the handler gives up. What the
 * handler allocates is below the operator and no function of ours. */
PGG_INLINE void *new_again(size_t n, size_t align, bool nothrow, const void *frame)
{
    while (pgg_call_new_handler()) {
        void *p = pgrt_alloc(n, align, false, frame);
        if (p)
            return p;
    }
    if (nothrow)
        return NULL;
    pgg_throw_bad_alloc();
    pgrt_say("operator new: out of memory", NULL);
    abort();
}

PGG_INLINE void *new_object(size_t n, size_t align, bool nothrow, const void *frame)
{
    void *p = pgrt_alloc(n, align, false, frame);
    return PGG_LIKELY(p) ? p : new_again(n, align, nothrow, frame);
}

/* name, parameters, alignment, nothrow */
#define NEW(name, params, align, nothrow)                            \
    PGRT_EXPORT void *name params;                                   \
    void *name params                                                \
    {                                                                \
        return new_object(n, align, nothrow, PGG_HERE); \
    }
#define DELETE(name, params)     \
    PGRT_EXPORT void name params; \
    void name params             \
    {                            \
        pgrt_free(p);            \
    }

NEW(_Znwm, (size_t n), 0, false)
NEW(_Znam, (size_t n), 0, false)
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *tag __attribute__((unused))), 0, true)
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *tag __attribute__((unused))), 0, true)
NEW(_ZnwmSt11align_val_t, (size_t n, size_t align), align, false)
NEW(_ZnamSt11align_val_t, (size_t n, size_t align), align, false)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
    (size_t n, size_t align, const void *tag __attribute__((unused))), align, true)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t,
    (size_t n, size_t align, const void *tag __attribute__((unused))), align, true)
/* With a hint of how often the object will be used (tcmalloc's forms, which clang calls in
 * programs optimised with a heap profile). */
NEW(_Znwm12__hot_cold_t, (size_t n, unsigned char hint __attribute__((unused))), 0, false)
NEW(_Znam12__hot_cold_t, (size_t n, unsigned char hint __attribute__((unused))), 0, false)

DELETE(_ZdlPv, (void *p))
DELETE(_ZdaPv, (void *p))
DELETE(_ZdlPvm, (void *p, size_t n __attribute__((unused))))
DELETE(_ZdaPvm, (void *p, size_t n __attribute__((unused))))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *tag __attribute__((unused))))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *tag __attribute__((unused))))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align __attribute__((unused))))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align __attribute__((unused))))
DELETE(_ZdlPvmSt11align_val_t,
       (void *p, size_t n __attribute__((unused)), size_t align __attribute__((unused))))
DELETE(_ZdaPvmSt11align_val_t,
       (void *p, size_t n __attribute__((unused)), size_t align __attribute__((unused))))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
       (void *p, size_t align __attribute__((unused)), const void *tag __attribute__((unused))))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
       (void *p, size_t align __attribute__((unused)), const void *tag __attribute__((unused))))
