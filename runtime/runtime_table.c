/* The entries of contexts: a thread adds the objects it frees to entries of its own, which lie in
 * the mapped file; a dump merges the entries of all threads. */
#include "runtime_table.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_processor.h"
#include "runtime_shadow.h"
#include "runtime_store.h"
#include "runtime_thread.h"

u64 pgrt_dropped;

static u32 cut32(u64 v)
{
    return v < UINT32_MAX ? (u32)v : UINT32_MAX;
}

static u32 cpu32(u32 cpu)
{
    return cpu == PGRT_CPU_UNKNOWN ? UINT32_MAX : cpu;
}

/* The values of one object that are not simply stored. */
struct life {
    u32 lifetime;
    u64 density, lifetime_density;
};

PGG_INLINE struct life life_of(const struct pgrt_header *h, u64 accesses, u32 end_ms)
{
    struct life l = {.lifetime = end_ms - h->alloc_ms};
    if (accesses) {
        l.density = accesses * 100 / h->size;
        l.lifetime_density = l.density * 1000;
        if (l.lifetime > 1)
            l.lifetime_density /= l.lifetime;
    }
    return l;
}

void pgrt_mib_one(struct pgrt_mib *m, const struct pgrt_header *h, u64 accesses, u32 end_ms,
                  u32 end_cpu)
{
    const struct life l = life_of(h, accesses, end_ms);
    *m = (struct pgrt_mib){
        .stack_id = h->context,
        .AllocCount = 1,
        .TotalAccessCount = accesses,
        .MinAccessCount = accesses,
        .MaxAccessCount = accesses,
        .TotalSize = h->size,
        .MinSize = cut32(h->size),
        .MaxSize = cut32(h->size),
        .AllocTimestamp = h->alloc_ms,
        .DeallocTimestamp = end_ms,
        .TotalLifetime = l.lifetime,
        .MinLifetime = l.lifetime,
        .MaxLifetime = l.lifetime,
        .AllocCpuId = cpu32(h->cpu),
        .DeallocCpuId = cpu32(end_cpu),
        .NumMigratedCpu = h->cpu != end_cpu,
        .TotalAccessDensity = l.density,
        .MinAccessDensity = cut32(l.density),
        .MaxAccessDensity = cut32(l.density),
        .TotalLifetimeAccessDensity = l.lifetime_density,
        .MinLifetimeAccessDensity = cut32(l.lifetime_density),
        .MaxLifetimeAccessDensity = cut32(l.lifetime_density),
    };
}

#define LOWER(field, value)   \
    do {                      \
        if ((value) < (field)) \
            (field) = (value); \
    } while (0)
#define RAISE(field, value)   \
    do {                      \
        if ((value) > (field)) \
            (field) = (value); \
    } while (0)

/* The same as merging pgrt_mib_one, without building it. */
PGG_INLINE void add(struct pgrt_mib *m, const struct pgrt_header *h, u64 accesses, u32 end_ms,
                u32 end_cpu)
{
    const struct life l = life_of(h, accesses, end_ms);
    const u32 size = cut32(h->size), density = cut32(l.density),
              lifetime_density = cut32(l.lifetime_density), alloc_cpu = cpu32(h->cpu),
              dealloc_cpu = cpu32(end_cpu);
    m->AllocCount++;
    m->TotalAccessCount += accesses;
    LOWER(m->MinAccessCount, accesses);
    RAISE(m->MaxAccessCount, accesses);
    m->TotalSize += h->size;
    LOWER(m->MinSize, size);
    RAISE(m->MaxSize, size);
    m->TotalLifetime += l.lifetime;
    LOWER(m->MinLifetime, l.lifetime);
    RAISE(m->MaxLifetime, l.lifetime);
    m->NumMigratedCpu += alloc_cpu != dealloc_cpu;
    m->NumLifetimeOverlaps += h->alloc_ms < m->DeallocTimestamp;
    m->NumSameAllocCpu += alloc_cpu == m->AllocCpuId;
    m->NumSameDeallocCpu += dealloc_cpu == m->DeallocCpuId;
    m->AllocTimestamp = h->alloc_ms;
    m->DeallocTimestamp = end_ms;
    m->AllocCpuId = alloc_cpu;
    m->DeallocCpuId = dealloc_cpu;
    m->TotalAccessDensity += l.density;
    LOWER(m->MinAccessDensity, density);
    RAISE(m->MaxAccessDensity, density);
    m->TotalLifetimeAccessDensity += l.lifetime_density;
    LOWER(m->MinLifetimeAccessDensity, lifetime_density);
    RAISE(m->MaxLifetimeAccessDensity, lifetime_density);
}

u32 pgrt_child_objects;
enum { CHILD_OBJECTS = 64 };

PGG_COLD struct pgrt_allocated *pgrt_table_new(struct pgrt_thread *t, u32 context, bool ended)
{
    struct pgrt_slot **span = &t->table.spans[context / PGRT_TABLE_SPAN];
    if (!context || context >= pgg_contexts()) /* a program may overwrite a header */
        return NULL;
    if (pgrt_generation && !ended && !pgrt_store_is_open() &&
        __atomic_fetch_add(&pgrt_child_objects, 1, __ATOMIC_RELAXED) < CHILD_OBJECTS)
        return NULL;
    if (!*span)
        *span = pgg_map(PGRT_TABLE_SPAN * sizeof **span);
    struct pgrt_allocated *b = *span ? pgrt_sheets_allocated(t, context) : NULL;
    if (b)
        (*span)[context % PGRT_TABLE_SPAN].allocated = pgrt_sheets_place(b);
    return b;
}

/* Notes an object now if it was not noted at its start: allocated and freed go together. */
PGG_INLINE void note_end(struct pgrt_allocated *b, const struct pgrt_header *h)
{
    if (PGG_UNLIKELY(h->kind & PGRT_KIND_UNNOTED)) {
        b->objects++;
        b->bytes += h->size;
    } else {
        b->start_ms -= h->alloc_ms;
    }
}

/* Most objects are touched as a whole, or not at all. */
PGG_INLINE u64 share_of(const struct pgrt_header *h, u64 touched)
{
    return touched == h->size ? 100 : touched ? touched * 100 / h->size : 0;
}

PGG_INLINE void touch(struct pgrt_allocated *b, const struct pgrt_header *h, struct pgrt_use use)
{
    const u64 share = share_of(h, use.touched);
    if (PGG_UNLIKELY(!(b->use.touched | b->use.untouched)))
        b->use.least = share;
    LOWER(b->use.least, share);
    RAISE(b->use.most, share);
    b->use.touched += use.touched;
    b->use.untouched += h->size - use.touched;
}

struct pgrt_touched pgrt_touched_one(const struct pgrt_header *h, struct pgrt_use use)
{
    const u64 share = share_of(h, use.touched);
    return (struct pgrt_touched){use.touched, h->size - use.touched, share, share};
}

void pgrt_touched_merge(struct pgrt_touched *to, const struct pgrt_touched *more)
{
    if (!(more->touched | more->untouched))
        return;
    if (!(to->touched | to->untouched))
        to->least = more->least;
    LOWER(to->least, more->least);
    RAISE(to->most, more->most);
    to->touched += more->touched;
    to->untouched += more->untouched;
}

static PGG_COLD void add_first(struct pgrt_thread *t, const struct pgrt_header *h,
                               struct pgrt_use use, u32 end_ms, u32 end_cpu)
{
    struct pgrt_allocated *b = pgrt_table_allocated(&t->table, h->context);
    struct pgrt_mib *m = NULL;
    /* Another thread may have allocated the object. */
    if (b || (b = pgrt_table_new(t, h->context, true)))
        m = pgrt_sheets_entry(t);
    if (!m) {
        __atomic_fetch_add(&pgrt_dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    note_end(b, h);
    touch(b, h, use);
    pgrt_mib_one(m, h, use.accesses, end_ms, end_cpu);
    pgrt_sheets_publish(t); /* a kill finds the entry whole or not at all */
    t->table.spans[h->context / PGRT_TABLE_SPAN][h->context % PGRT_TABLE_SPAN].mib =
        pgrt_sheets_place(m);
}

/* Closes an object in its context's entries; the entry for what is alive, or NULL. */
PGG_INLINE struct pgrt_allocated *close_object(struct pgrt_thread *t, const struct pgrt_header *h,
                                           struct pgrt_use use, u32 end_ms, u32 end_cpu,
                                           uintptr_t object)
{
    const struct pgrt_slot *slot = pgrt_table_slot(&t->table, h->context);
    if (PGG_UNLIKELY(pgrt_histogram))
        pgrt_histogram_add(h->context, object, h->size);
    if (PGG_UNLIKELY(!slot || !slot->mib)) {
        add_first(t, h, use, end_ms, end_cpu);
        return pgrt_table_allocated(&t->table, h->context);
    }
    struct pgrt_allocated *b = pgrt_sheets_at(slot->allocated);
    struct pgrt_mib *m = pgrt_sheets_at(slot->mib);
    note_end(b, h);
    touch(b, h, use);
    add(m, h, use.accesses, end_ms, end_cpu);
    if (PGG_UNLIKELY(m->AllocCount % PGRT_COST_EVERY == 1))
        pgrt_cost_ask(t);
    return b;
}

void pgrt_table_add(struct pgrt_thread *t, const struct pgrt_header *h, struct pgrt_use use,
                    u32 end_ms, u32 end_cpu, uintptr_t object)
{
    if (PGG_UNLIKELY(t->series.armed))
        pgrt_series_peak(t);
    if (PGG_UNLIKELY(pgrt_series_due(end_ms)))
        pgrt_series_point(end_ms);
    struct pgrt_allocated *b = close_object(t, h, use, end_ms, end_cpu, object);
    if (PGG_UNLIKELY(!b || h->kind & PGRT_KIND_UNNOTED))
        return; /* was never counted as alive */
    pgrt_series_end(&t->series, b, h->size);
    b->temporary += t->series.last == (const void *)object;
}

PGG_COLD void pgrt_table_close(struct pgrt_thread *t, const struct pgrt_header *h,
                               struct pgrt_use use, u32 end_ms, u32 end_cpu, uintptr_t object)
{
    close_object(t, h, use, end_ms, end_cpu, object);
}

struct pgrt_allocated *pgrt_table_carry(struct pgrt_thread *t, u32 context)
{
    struct pgrt_allocated *b = pgrt_table_allocated(&t->table, context);
    return b ? b : pgrt_table_new(t, context, true);
}

PGG_COLD void pgrt_table_gone(struct pgrt_thread *t, const struct pgrt_header *h)
{
    struct pgrt_allocated *b = pgrt_table_carry(t, h->context);
    if (t->series.armed)
        pgrt_series_peak(t);
    if (b)
        pgrt_series_end(&t->series, b, h->size);
}

void pgrt_table_clear(struct pgrt_thread *t)
{
    struct pgrt_slot **spans = t->table.spans;
    for (u32 i = 0; i < PGG_CONTEXTS_MAX / PGRT_TABLE_SPAN; i++)
        if (spans[i]) {
            pgg_unmap(spans[i], PGRT_TABLE_SPAN * sizeof **spans);
            spans[i] = NULL;
        }
    pgrt_sheets_leave(t);
}

#define MERGE_SUM(f) a->f += b->f
#define MERGE_MIN(f) LOWER(a->f, b->f)
#define MERGE_MAX(f) RAISE(a->f, b->f)
#define MERGE_SAME(f) a->f = later ? b->f : a->f
#define MERGE_NONE(f) a->f = 0

/* Two threads' knowledge of a context: what the list calls "across", except that of the CPUs
 * the later one stays. */
void pgrt_mib_merge(struct pgrt_mib *a, const struct pgrt_mib *b)
{
    const bool later = b->DeallocTimestamp >= a->DeallocTimestamp;
    const u32 overlap = b->AllocTimestamp < a->DeallocTimestamp,
              same_alloc = b->AllocCpuId == a->AllocCpuId,
              same_dealloc = b->DeallocCpuId == a->DeallocCpuId;
#define PGK_MIB(name, type, first, sound, tag, step, across, unit, meaning) \
    MERGE_##across(name);
#include "heap_mib.def"
#undef PGK_MIB
    a->NumLifetimeOverlaps += overlap;
    a->NumSameAllocCpu += same_alloc;
    a->NumSameDeallocCpu += same_dealloc;
}

/* ---- histograms ---- */

/* Sums per context, shared by all threads: histogram mode is for looking closely, not for
 * speed. The lock is only held by threads that are inside the runtime. */
enum { HIST_SPAN = 512 };
static struct pgrt_histogram **hist_spans[PGG_CONTEXTS_MAX / HIST_SPAN];
static volatile u32 hist_lock;

struct pgrt_histogram *pgrt_histogram_of(u32 context)
{
    struct pgrt_histogram **span = hist_spans[context / HIST_SPAN];
    return span ? span[context % HIST_SPAN] : NULL;
}

static size_t hist_bytes(u64 n)
{
    return (sizeof(struct pgrt_histogram) + n * sizeof(u64) + PGG_PAGE - 1) &
           ~(size_t)(PGG_PAGE - 1);
}

/* Space for n elements; the existing ones are kept. */
static struct pgrt_histogram *reserve_histogram(u32 context, u64 n)
{
    struct pgrt_histogram ***span = &hist_spans[context / HIST_SPAN];
    if (!*span)
        *span = pgg_map(HIST_SPAN * sizeof **span);
    if (!*span)
        return NULL;
    struct pgrt_histogram **slot = &(*span)[context % HIST_SPAN], *old = *slot;
    if (old && hist_bytes(n) <= hist_bytes(old->n)) {
        if (old->n < n)
            old->n = n;
        return old;
    }
    struct pgrt_histogram *h = pgg_map(hist_bytes(n));
    if (!h)
        return old;
    if (old) {
        pgg_copy(h, old, sizeof *old + old->n * sizeof(u64));
        pgg_unmap(old, hist_bytes(old->n));
    }
    h->n = n;
    return *slot = h;
}

void pgrt_histogram_add(u32 context, uintptr_t object, size_t size)
{
    if (!context || context >= PGG_CONTEXTS_MAX)
        return;
    const uint8_t *c = (const uint8_t *)(__memprof_shadow_memory_dynamic_address + (object >> 3));
    u64 n = (size + 7) / 8;
    while (__atomic_exchange_n(&hist_lock, 1, __ATOMIC_ACQUIRE))
        pgg_pause();
    struct pgrt_histogram *h = reserve_histogram(context, n);
    for (u64 i = 0; h && i < n && i < h->n; i++)
        h->v[i] += c[i];
    __atomic_store_n(&hist_lock, 0, __ATOMIC_RELEASE);
}

void pgrt_histograms_clear(void)
{
    hist_lock = 0;
    for (u32 i = 0; i < PGG_CONTEXTS_MAX / HIST_SPAN; i++) {
        if (!hist_spans[i])
            continue;
        for (u32 j = 0; j < HIST_SPAN; j++)
            if (hist_spans[i][j])
                pgg_unmap(hist_spans[i][j], hist_bytes(hist_spans[i][j]->n));
        pgg_unmap(hist_spans[i], HIST_SPAN * sizeof **hist_spans);
        hist_spans[i] = NULL;
    }
}
