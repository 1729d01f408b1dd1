/* The entries of contexts: a thread adds the objects it frees to entries of its own. */
#ifndef PGRT_TABLE_H
#define PGRT_TABLE_H

#include "runtime_cost.h"
#include "runtime_depot.h"
#include "runtime_object.h"
#include "runtime_raw.h"
#include "runtime_series.h"
#include "runtime_sheets.h"

#pragma GCC visibility push(hidden)

enum { PGRT_TABLE_SPAN = 512 };
/* Places in the store; 0 until there is something to say. */
struct pgrt_slot {
    u32 mib, allocated;
};
/* Of a thread: by context, in two levels. */
struct pgrt_table {
    struct pgrt_slot *spans[PGG_CONTEXTS_MAX / PGRT_TABLE_SPAN];
};
struct pgrt_thread;

extern u64 pgrt_dropped;       /* objects that no context took */
extern u32 pgrt_child_objects; /* made since the fork, while there is no file */
/* NULL: no space, or no file so far. A child opens a file when an object ends, or when it has
 * allocated CHILD_OBJECTS objects, so a child that only runs another program leaves none. */
struct pgrt_allocated *pgrt_table_new(struct pgrt_thread *t, u32 context, bool ended);
/* An object that ended: its life and accesses go to its context. */
void pgrt_table_add(struct pgrt_thread *t, const struct pgrt_header *h, struct pgrt_use use,
                    u32 end_ms, u32 end_cpu, uintptr_t object);
void pgrt_table_clear(struct pgrt_thread *t);
void pgrt_mib_one(struct pgrt_mib *m, const struct pgrt_header *h, u64 accesses, u32 end_ms,
                  u32 end_cpu);
void pgrt_mib_merge(struct pgrt_mib *a, const struct pgrt_mib *b);
/* How much of the objects of a context was touched: one of them, or several. */
struct pgrt_touched pgrt_touched_one(const struct pgrt_header *h, struct pgrt_use use);
void pgrt_touched_merge(struct pgrt_touched *to, const struct pgrt_touched *more);

/* Histogram elements of a context, for the next dump; NULL when out of memory. */
struct pgrt_histogram {
    u64 n;
    u64 v[];
};
void pgrt_histogram_add(u32 context, uintptr_t object, size_t size);
struct pgrt_histogram *pgrt_histogram_of(u32 context);
void pgrt_histograms_clear(void);

/* As pgrt_table_add for an object that lives on, but that no later dump shall count. */
void pgrt_table_close(struct pgrt_thread *t, const struct pgrt_header *h, struct pgrt_use use,
                      u32 end_ms, u32 end_cpu, uintptr_t object);
/* An object that an earlier dump has counted ends. */
void pgrt_table_gone(struct pgrt_thread *t, const struct pgrt_header *h);
/* The context's entry in the thread's file for objects that were alive at a dump; NULL: no
 * space. */
struct pgrt_allocated *pgrt_table_carry(struct pgrt_thread *t, u32 context);

/* NULL: the thread knows nothing of so many contexts. */
PGG_INLINE const struct pgrt_slot *pgrt_table_slot(const struct pgrt_table *table, u32 context)
{
    const struct pgrt_slot *span = table->spans[context / PGRT_TABLE_SPAN];
    return span ? &span[context % PGRT_TABLE_SPAN] : NULL;
}

/* NULL: the thread has allocated nothing in the context. */
PGG_INLINE struct pgrt_allocated *pgrt_table_allocated(const struct pgrt_table *table, u32 context)
{
    const struct pgrt_slot *slot = pgrt_table_slot(table, context);
    return slot && slot->allocated ? pgrt_sheets_at(slot->allocated) : NULL;
}

/* An object of the context is probably made next. */
PGG_INLINE void pgrt_table_expect(const struct pgrt_table *table, u32 context)
{
    const char *allocated = (const char *)pgrt_table_allocated(table, context);
    __builtin_prefetch(allocated);
    __builtin_prefetch(allocated + PGG_LINE - sizeof(u64));
}

/* An object is made; `table` and `series` are the thread's. False if it was not noted. */
PGG_INLINE bool pgrt_table_begin(struct pgrt_thread *t, const struct pgrt_table *table,
                                 struct pgrt_series *series, u32 context, size_t size, u32 now_ms)
{
    struct pgrt_allocated *b = pgrt_table_allocated(table, context);
    if (PGG_UNLIKELY(!b) && !(b = pgrt_table_new(t, context, false)))
        return false;
    if (PGG_UNLIKELY(++b->objects % PGRT_COST_EVERY == 1))
        pgrt_cost_ask(t);
    b->bytes += size;
    b->start_ms += now_ms;
    b->last_ms = now_ms;
    pgrt_series_begin(series, b, size);
    if (PGG_UNLIKELY(pgrt_series_bytes(series) >= series->limit))
        pgrt_series_look(t);
    if (PGG_UNLIKELY(pgrt_series_due(now_ms)))
        pgrt_series_point(now_ms);
    return true;
}

#pragma GCC visibility pop
#endif
