/* libpgokit_alloc: malloc and its family, on jemalloc, with objects of a plan's groups apart from
 * one another. docs/man/libpgokit_alloc.md says what it does.
 *
 *   alloc_malloc.c, alloc_new.c, alloc_token.c    what programs call
 *   alloc_stats.c                                 what they ask about memory
 *   alloc_object.c                                an object of a group
 *   alloc_plan.c, alloc_lookup.h                  the group of a call stack
 *   alloc_group.c                                 a group's arenas and address range
 *   alloc_check.c                                 frees of what is no object
 *   alloc_cache.c                                 jemalloc's cache of a thread
 *   alloc_thread.c                                what a thread keeps for itself
 *
 * Names begin with pgal_. The rules of docs/design/runtime.md hold here, too. */
#ifndef PGAL_H
#define PGAL_H

#include "guest.h"

#pragma GCC visibility push(hidden)

#define PGAL_EXPORT __attribute__((visibility("default")))
/* "pgokit_alloc: A: B" */
void pgal_say(const char *a, const char *b);

/* Group 0 is all that no plan and no hint says anything of. bench/placement compares with a build
 * that has more, for PGOKIT_ALLOC_HASH. */
#ifndef PGAL_GROUPS_BUILT
#define PGAL_GROUPS_BUILT 16
#endif
enum { PGAL_COLD = 14, PGAL_HOT = 15, PGAL_GROUPS = PGAL_GROUPS_BUILT };

/* ---- jemalloc, which has this prefix here ---- */
enum { PGAL_JE_ZERO = 0x40, PGAL_JE_NO_CACHE = 1 << 8 };
#define PGAL_JE_CACHE(n) ((int)(((n) + 2) << 8))
#define PGAL_JE_ARENA(n) ((int)(((n) + 1) << 20))
void *pgal_je_malloc(size_t n);
void *pgal_je_calloc(size_t n, size_t size);
void *pgal_je_realloc(void *p, size_t n);
void pgal_je_free(void *p);
void *pgal_je_mallocx(size_t n, int flags);
void pgal_je_dallocx(void *p, int flags);
void pgal_je_sdallocx(void *p, size_t n, int flags);
size_t pgal_je_sallocx(const void *p, int flags);
size_t pgal_je_nallocx(size_t n, int flags);
int pgal_je_mallctl(const char *name, void *old, size_t *old_size, void *to, size_t to_size);

#pragma GCC visibility pop
#endif
