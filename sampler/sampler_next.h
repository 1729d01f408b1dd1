/* The functions of the program's own allocator: those that come after ours. */
#ifndef PGSM_NEXT_H
#define PGSM_NEXT_H

#include "pgsm.h"

#include <link.h>

#pragma GCC visibility push(hidden)

typedef void pgsm_function(void); /* of any type */
/* Until they are looked up, functions that do so. Those that the allocator lacks are NULL. */
struct pgsm_next {
    void *(*malloc)(size_t n);
    void (*free)(void *p);
    void *(*calloc)(size_t n, size_t size);
    void *(*realloc)(void *p, size_t n);
    void *(*memalign)(size_t align, size_t n);
    void *(*aligned_alloc)(size_t align, size_t n);
    int (*posix_memalign)(void **out, size_t align, size_t n);
    void *(*valloc)(size_t n);
    void *(*pvalloc)(size_t n);
    size_t (*usable)(void *p);
    const struct link_map *theirs; /* that has malloc in front of ours; NULL: none */
    /* operator new and delete are those of a library that is no allocator, and go there. */
    bool operators_are_others;
    pgsm_function *operators[32]; /* enum pgsm_operator; NULL: malloc and free do it */
    /* jemalloc's own. */
    void (*dallocx)(void *p, int flags);
    void (*sdallocx)(void *p, size_t n, int flags);
    size_t (*sallocx)(const void *p, int flags);
    void *(*rallocx)(void *p, size_t n, int flags);
    size_t (*xallocx)(void *p, size_t n, size_t more, int flags);
    void *(*mallocx)(size_t n, int flags);
};
extern struct pgsm_next pgsm_next;
void pgsm_next_find(void); /* at once, if no call came before */

/* PGSM_OPERATOR(NAME, symbol) */
#define PGSM_OPERATORS(PGSM_OPERATOR)                                                 \
    PGSM_OPERATOR(NEW, "_Znwm")                                                       \
    PGSM_OPERATOR(NEW_ARRAY, "_Znam")                                                 \
    PGSM_OPERATOR(NEW_NOTHROW, "_ZnwmRKSt9nothrow_t")                                 \
    PGSM_OPERATOR(NEW_ARRAY_NOTHROW, "_ZnamRKSt9nothrow_t")                           \
    PGSM_OPERATOR(NEW_ALIGNED, "_ZnwmSt11align_val_t")                                \
    PGSM_OPERATOR(NEW_ARRAY_ALIGNED, "_ZnamSt11align_val_t")                          \
    PGSM_OPERATOR(NEW_ALIGNED_NOTHROW, "_ZnwmSt11align_val_tRKSt9nothrow_t")          \
    PGSM_OPERATOR(NEW_ARRAY_ALIGNED_NOTHROW, "_ZnamSt11align_val_tRKSt9nothrow_t")    \
    PGSM_OPERATOR(DELETE, "_ZdlPv")                                                   \
    PGSM_OPERATOR(DELETE_ARRAY, "_ZdaPv")                                             \
    PGSM_OPERATOR(DELETE_SIZED, "_ZdlPvm")                                            \
    PGSM_OPERATOR(DELETE_ARRAY_SIZED, "_ZdaPvm")                                      \
    PGSM_OPERATOR(DELETE_NOTHROW, "_ZdlPvRKSt9nothrow_t")                             \
    PGSM_OPERATOR(DELETE_ARRAY_NOTHROW, "_ZdaPvRKSt9nothrow_t")                       \
    PGSM_OPERATOR(DELETE_ALIGNED, "_ZdlPvSt11align_val_t")                            \
    PGSM_OPERATOR(DELETE_ARRAY_ALIGNED, "_ZdaPvSt11align_val_t")                      \
    PGSM_OPERATOR(DELETE_SIZED_ALIGNED, "_ZdlPvmSt11align_val_t")                     \
    PGSM_OPERATOR(DELETE_ARRAY_SIZED_ALIGNED, "_ZdaPvmSt11align_val_t")               \
    PGSM_OPERATOR(DELETE_ALIGNED_NOTHROW, "_ZdlPvSt11align_val_tRKSt9nothrow_t")      \
    PGSM_OPERATOR(DELETE_ARRAY_ALIGNED_NOTHROW, "_ZdaPvSt11align_val_tRKSt9nothrow_t")
enum pgsm_operator {
#define PGSM_OPERATOR(name, symbol) PGSM_##name,
    PGSM_OPERATORS(PGSM_OPERATOR)
#undef PGSM_OPERATOR
    PGSM_OPERATORS_ALL
};
/* The symbol of the next library, or NULL: for operator new, which throws if there is no memory. */
pgsm_function *pgsm_operator_next(enum pgsm_operator which);

#pragma GCC visibility pop
#endif
