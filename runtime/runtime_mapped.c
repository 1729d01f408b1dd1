/* Blocks that are pages of their own. */
#include "runtime_mapped.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_sys.h"

enum { BLOCKS_MAX = 16 << 10 }; /* of the 65530 ranges that a process has by default */
static u32 blocks;

/* The pages of an object of n bytes. */
struct pages {
    uintptr_t start, end;
};

static struct pages pages_of(const void *object, size_t n)
{
    const uintptr_t page = pgg_page(), at = (uintptr_t)object;
    return (struct pages){(at - PGRT_HEADER) & ~(page - 1), (at + n + page - 1) & ~(page - 1)};
}

void *pgrt_mapped_new(size_t n, const void *like)
{
    const struct pages wanted = pages_of(like, n);
    if (__atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED) <= BLOCKS_MAX) {
        const long start = pgg_sys_pages(wanted.end - wanted.start);
        if (start >= 0)
            return (char *)start + ((uintptr_t)like - wanted.start);
    }
    __atomic_fetch_sub(&blocks, 1, __ATOMIC_RELAXED);
    return NULL;
}

bool pgrt_mapped_resize(const struct pgrt_object *o, size_t n)
{
    const struct pages now = pages_of(o->at, o->h.size), then = pages_of(o->at, n);
    const uintptr_t page = pgg_page();
    if (then.end <= now.end)
        return now.end == then.end || !pgg_sys_unmap((void *)then.end, now.end - then.end);
    /* Pages that were moved are a range of their own for the kernel: the last one grows. */
    return pgg_sys_resize_pages((void *)(now.end - page), page, then.end - now.end + page) >= 0;
}

void pgrt_mapped_free(const struct pgrt_object *o)
{
    const struct pages p = pages_of(o->at, o->h.size);
    pgg_sys_unmap((void *)p.start, p.end - p.start);
    __atomic_fetch_sub(&blocks, 1, __ATOMIC_RELAXED);
}

/* Pages that hold nothing but the object, from there. Its own stay, empty, as they are still of its
 * block. */
void pgrt_mapped_move(void *to, const struct pgrt_object *from)
{
    const uintptr_t page = pgg_page(), at = (uintptr_t)from->at, end = at + from->h.size,
                    first = (at + page - 1) & ~(page - 1), last = end & ~(page - 1);
    char *const there = (char *)to - at;
    if (last <= first || ((uintptr_t)there & (page - 1)) ||
        pgg_sys_move_pages((void *)first, last - first, there + first) < 0) {
        pgg_copy_fast(to, from->at, from->h.size);
        return;
    }
    pgg_copy_fast(to, from->at, first - at);
    pgg_copy_fast(there + last, (const void *)last, end - last);
}
