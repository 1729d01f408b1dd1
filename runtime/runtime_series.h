/* The heap over time: a series of what is alive, and a snapshot by context at each new peak.
 * docs/design/runtime.md, "Over time". */
#ifndef PGRT_SERIES_H
#define PGRT_SERIES_H

#include "runtime_object.h"
#include "runtime_raw.h"

#pragma GCC visibility push(hidden)

/* The bytes and objects that a thread allocated and freed since the start; their difference, summed
 * over all threads, is what is live. Written by the thread alone, read by all. */
struct pgrt_series {
    u64 made_bytes, made_objects, freed_bytes, freed_objects;
    i64 limit;                    /* of made less freed bytes: from there on all are summed up */
    const void *last;             /* the object it made last */
    bool armed;                   /* there is a new peak, which the next object to end closes */
};
struct pgrt_thread;

extern u32 pgrt_snapshot; /* number of the last one; 0: none. The file has it, too */
extern u32 pgrt_point_due; /* ms since the start */

void pgrt_series_forked(void);
void pgrt_series_look(struct pgrt_thread *t);  /* its limit is reached */
void pgrt_series_peak(struct pgrt_thread *t);  /* armed, and an object ends now */
void pgrt_series_point(u32 now_ms);            /* one is due */
void pgrt_series_close(u32 now_ms); /* before a dump, with the world stopped: brings the file up to
                                       the last moment */
void pgrt_series_open(void);        /* after it, when the store is new */

PGG_INLINE i64 pgrt_series_bytes(const struct pgrt_series *s)
{
    return (i64)(s->made_bytes - s->freed_bytes);
}

/* Only the thread itself adds, so an addition need not be one step; others see one value or the
 * other. */
PGG_INLINE void pgrt_series_count(u64 *sum, u64 more)
{
    __atomic_store_n(sum, *sum + more, __ATOMIC_RELAXED);
}

PGG_INLINE bool pgrt_series_due(u32 now_ms)
{
    return now_ms >= __atomic_load_n(&pgrt_point_due, __ATOMIC_RELAXED);
}

/* The snapshot's part of a context is saved by the first change after it. */
PGG_INLINE void pgrt_series_keep(struct pgrt_allocated *b)
{
    const u32 snapshot = __atomic_load_n(&pgrt_snapshot, __ATOMIC_RELAXED);
    if (PGG_LIKELY(b->epoch == snapshot))
        return;
    b->peak_bytes = b->alive_bytes;
    b->peak_objects = b->alive_objects;
    pgg_compiler_barrier(); /* a kill finds the old pair with the old number */
    b->epoch = snapshot;
}

PGG_INLINE void pgrt_series_begin(struct pgrt_series *s, struct pgrt_allocated *b, size_t size)
{
    pgrt_series_keep(b);
    pgrt_series_count(&b->alive_bytes, size);
    b->alive_objects++;
    pgrt_series_count(&s->made_bytes, size);
    pgrt_series_count(&s->made_objects, 1);
}

PGG_INLINE void pgrt_series_end(struct pgrt_series *s, struct pgrt_allocated *b, u64 size)
{
    pgrt_series_keep(b);
    pgrt_series_count(&b->alive_bytes, -size);
    b->alive_objects--;
    pgrt_series_count(&s->freed_bytes, size);
    pgrt_series_count(&s->freed_objects, 1);
}

#pragma GCC visibility pop
#endif
