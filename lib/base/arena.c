/* Arena: blocks of growing size, filled front to back and freed together. */
#include "arena.h"

#include "mem.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Blocks are as large as all before them, up to BLOCK_MAX; then they are large pages. */
enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20, ALIGNMENT = 8 };

struct pgk_arena_block {
    struct pgk_arena_block *older;
    size_t size; /* of `bytes`, a multiple of ALIGNMENT */
    _Alignas(16) char bytes[];
};

void pgk_arena_free(struct pgk_arena *a)
{
    struct pgk_arena_block *b = a->head;
    while (b) {
        struct pgk_arena_block *older = b->older;
        pgk_mem_free(b);
        b = older;
    }
    memset(a, 0, sizeof *a);
}

static struct pgk_arena_block *new_block(size_t size)
{
    struct pgk_arena_block *b = pgk_mem_alloc(1, sizeof *b + size);
    if (b)
        b->size = size;
    return b;
}

static struct pgk_arena_block *new_large_block(void)
{
    struct pgk_arena_block *b = pgk_mem_large(PGK_MEM_LARGE);
    if (b)
        b->size = PGK_MEM_LARGE - sizeof *b;
    return b;
}

/* Memory for a request that does not fit into the newest block. A large request gets a block of its
 * own after the newest one, whose free part stays in use. */
static char *take_slow(struct pgk_arena *a, size_t need)
{
    size_t space;
    if (__builtin_add_overflow(need, ALIGNMENT - 1, &space) || space > PTRDIFF_MAX)
        return NULL;
    space &= ~(size_t)(ALIGNMENT - 1);
    if (a->head && space >= BLOCK_MAX / 4) {
        struct pgk_arena_block *b = new_block(space);
        if (!b)
            return NULL;
        b->older = a->head->older;
        a->head->older = b;
        return b->bytes;
    }

    size_t size = a->bytes > BLOCK_MIN ? a->bytes & ~(size_t)(ALIGNMENT - 1) : BLOCK_MIN;
    if (size < space)
        size = space;
    struct pgk_arena_block *b = a->head && size > BLOCK_MAX ? new_large_block() : new_block(size);
    if (!b)
        return NULL;
    b->older = a->head;
    a->head = b;
    a->at = b->bytes + need;
    a->end = b->bytes + b->size;
    return b->bytes;
}

static char *take(struct pgk_arena *a, size_t need, size_t alignment)
{
    assert(alignment && !(alignment & (alignment - 1)));
    size_t pad = -(uintptr_t)a->at & (alignment - 1);
    char *p;
    if (a->head && need <= (size_t)(a->end - a->at) - pad) {
        p = a->at + pad;
        a->at = p + need;
    } else {
        p = take_slow(a, need);
    }
    if (p)
        a->bytes += need;
    return p;
}

void *pgk_arena_alloc(struct pgk_arena *a, size_t count, size_t size)
{
    size_t need;
    if (__builtin_mul_overflow(count, size, &need))
        return NULL;
    return take(a, need, ALIGNMENT);
}

char *pgk_arena_copy(struct pgk_arena *a, const char *bytes, size_t len)
{
    if (len == SIZE_MAX)
        return NULL;
    char *p = take(a, len + 1, 1);
    if (!p)
        return NULL;
    if (len)
        memcpy(p, bytes, len);
    p[len] = '\0';
    return p;
}
