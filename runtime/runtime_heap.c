/* All objects that are alive. */
#include "runtime_heap.h"

#include "runtime_alloc.h"
#include "runtime_shadow.h"
#include "runtime_thread.h"

/* Header of the object whose granule has this shadow word, or NULL. */
static struct pgrt_header *header_of_mark(u64 word, uintptr_t granule)
{
    bool far;
    if (pgrt_histogram) {
        if ((word & 0xff) != PGRT_HIST_NEAR && (word & 0xff) != PGRT_HIST_FAR)
            return NULL;
        far = (word & 0xff) == PGRT_HIST_FAR;
    } else {
        if (!(word & PGRT_MARK_NEAR))
            return NULL;
        far = (word & PGRT_MARK_BITS) == PGRT_MARK_FAR;
    }
    return (struct pgrt_header *)(granule + (far ? PGRT_GRANULE - PGRT_HEADER : 0));
}

static u32 regions(void)
{
    return pgrt_region_count < PGRT_REGIONS_MAX ? pgrt_region_count : PGRT_REGIONS_MAX;
}

/* The first object that is the one, or NULL. */
PGG_INLINE struct pgrt_header *find(bool (*is_it)(void *arg, struct pgrt_header *h), void *arg)
{
    for (u32 i = 0; i < regions(); i++) {
        uintptr_t at = (uintptr_t)pgrt_region_list[i] << PGRT_REGION_SHIFT,
                  end = at + ((uintptr_t)1 << PGRT_REGION_SHIFT);
        for (const u64 *word = pgrt_shadow(at); at < end; at += PGRT_GRANULE, word++) {
            struct pgrt_header *h = *word ? header_of_mark(*word, at) : NULL;
            if (h && is_it(arg, h))
                return h;
        }
    }
    return NULL;
}

struct visit {
    void (*f)(void *arg, struct pgrt_header *h);
    void *arg;
};

static bool visit(void *arg, struct pgrt_header *h)
{
    const struct visit *v = arg;
    v->f(v->arg, h);
    return false;
}

void pgrt_heap_each(void (*f)(void *arg, struct pgrt_header *h), void *arg)
{
    struct visit all = {f, arg};
    find(visit, &all);
}

static bool contains(void *address, struct pgrt_header *h)
{
    return (uintptr_t)address - (uintptr_t)(h + 1) < h->size;
}

/* False, with the world running, if it cannot be stopped. */
static bool stop_world(void)
{
    if (!pgrt_can_stop())
        return false;
    pgrt_stop_world();
    if (pgrt_gate_now() == PGRT_GATE_STOP)
        return true;
    pgrt_start_world();
    return false;
}

static void add_size(void *sum, struct pgrt_header *h)
{
    *(u64 *)sum += h->size;
}

bool pgrt_heap_bytes(u64 *asked, u64 *taken)
{
    *asked = 0;
    if (!stop_world())
        return false;
    pgrt_heap_each(add_size, asked);
    *taken = (u64)regions() << PGRT_REGION_SHIFT;
    pgrt_start_world();
    return true;
}

const void *pgrt_heap_begin(const void *address)
{
    if (!stop_world())
        return NULL;
    const struct pgrt_header *h = find(contains, (void *)address);
    pgrt_start_world();
    return h ? h + 1 : NULL;
}
