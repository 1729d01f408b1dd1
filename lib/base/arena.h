/* Arena: memory that is given back all at once. Not thread-safe. */
#ifndef PGK_ARENA_H
#define PGK_ARENA_H

#include <stddef.h>

struct pgk_arena_block;
struct pgk_arena {
    struct pgk_arena_block *head;
    char *at, *end; /* free part of the newest block */
    size_t bytes;   /* handed out so far */
};

/* A zeroed struct is an empty arena. */
void pgk_arena_free(struct pgk_arena *a);
/* Uninitialised, aligned to 8 bytes; NULL when out of memory. */
void *pgk_arena_alloc(struct pgk_arena *a, size_t count, size_t size);
/* A copy of `len` bytes, terminated by a NUL; aligned to 1. */
char *pgk_arena_copy(struct pgk_arena *a, const char *bytes, size_t len);

#endif
