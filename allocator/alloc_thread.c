/* Threads: their begin and end. */
#include "alloc_thread.h"

#include "alloc_group.h"
#include "guest_memory.h"

#include <pthread.h>

PGG_TLS struct pgal_thread *pgal_self;
static PGG_TLS bool ended, begins;
static pthread_key_t key;
static bool key_made;
static u32 threads;

/* Objects go back to their arenas. */
static void end(void *arg)
{
    struct pgal_thread *t = arg;
    ended = true;
    pgal_self = NULL;
    for (u32 group = 1; group < PGAL_GROUPS; group++) {
        for (u32 bin = 0; bin < PGAL_BINS; bin++)
            for (u32 i = t->bins[group][bin].n; i; i--)
                pgal_je_dallocx(t->bins[group][bin].objects[i - 1], pgal_cache_flags(t, group));
        if (t->caches[group] && t->caches[group] != PGAL_JE_NO_CACHE) {
            u32 number = (u32)(t->caches[group] >> 8) - 2;
            pgal_je_mallctl("tcache.destroy", NULL, NULL, &number, sizeof number);
        }
    }
    pgg_unmap(t, pgg_whole_pages(sizeof *t));
}

void pgal_threads_init(void)
{
    key_made = pthread_key_create(&key, end) == 0;
}

/* Without a key, memory that an ending thread keeps would not be given back. */
PGG_COLD struct pgal_thread *pgal_thread_slow(void)
{
    if (ended || begins || !key_made)
        return NULL;
    begins = true; /* the C library may allocate in here */
    struct pgal_thread *t = pgg_map(pgg_whole_pages(sizeof *t));
    if (t && pthread_setspecific(key, t)) {
        pgg_unmap(t, pgg_whole_pages(sizeof *t));
        t = NULL;
    }
    if (t)
        t->number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    pgal_self = t;
    begins = false;
    return t;
}

/* jemalloc has some 4000 caches besides those of threads; who gets none does without. */
static PGG_COLD void get_cache(struct pgal_thread *t, u32 group)
{
    unsigned number;
    size_t size = sizeof number;
    t->caches[group] = pgal_je_mallctl("tcache.create", &number, &size, NULL, 0)
                           ? PGAL_JE_NO_CACHE
                           : PGAL_JE_CACHE(number);
}

int pgal_group_flags_slow(struct pgal_thread *t, u32 group)
{
    if (t && !t->caches[group])
        get_cache(t, group);
    const u32 arena = pgal_group_arena(group, t ? t->number : 0);
    return arena ? PGAL_JE_ARENA(arena) | pgal_cache_flags(t, group) : 0;
}
