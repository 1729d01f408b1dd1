/* What is known of a call stack: sums over its objects, each of which stands for several. */
#include "sampler_sums.h"

#include "guest_memory.h"
#include "sampler_time.h"

enum {
    SPAN = 128,
    PEAK_STEP = 100, /* a new peak is higher by one part in so many */
};

struct pgsm_peak pgsm_peak;
static struct pgsm_sum *spans[PGG_CONTEXTS_MAX / SPAN];
static double live_bytes, live_objects; /* of the process */

struct pgsm_sum *pgsm_sum_of(u32 context)
{
    struct pgsm_sum *span = spans[context / SPAN];
    return span && span[context % SPAN].samples ? &span[context % SPAN] : NULL;
}

struct pgsm_sum *pgsm_sum_have(u32 context)
{
    struct pgsm_sum **span = &spans[context / SPAN];
    if (!*span)
        *span = pgg_map(pgg_whole_pages(SPAN * sizeof **span));
    return *span ? &(*span)[context % SPAN] : NULL;
}

void pgsm_sums_clear(void)
{
    for (u32 i = 0; i < PGG_CONTEXTS_MAX / SPAN; i++)
        if (spans[i]) {
            pgg_unmap(spans[i], pgg_whole_pages(SPAN * sizeof **spans));
            spans[i] = NULL;
        }
    live_bytes = live_objects = 0;
    pgsm_peak = (struct pgsm_peak){0};
}

/* ---- what is alive, and was at the peak ---- */

/* The peak's part of a context is kept by the first change after it. */
static void keep_peak(struct pgsm_sum *s)
{
    if (s->snapshot == pgsm_peak.snapshot)
        return;
    s->peak_bytes = s->live_bytes;
    s->peak_objects = s->live_objects;
    s->snapshot = pgsm_peak.snapshot;
}

/* A heap that grows is not at its peak yet: the peak is taken when the next object ends. */
void pgsm_sums_look(u32 now_ms)
{
    if (live_bytes <= pgsm_peak.bytes + pgsm_peak.bytes / PEAK_STEP)
        return;
    pgsm_peak.bytes = live_bytes;
    pgsm_peak.objects = live_objects;
    pgsm_peak.ms = now_ms;
    pgsm_peak.snapshot++;
}

void pgsm_sum_live(const struct pgsm_sum *s, double *bytes, double *objects, bool at_peak)
{
    const bool kept = at_peak && s->snapshot == pgsm_peak.snapshot;
    *bytes = kept ? s->peak_bytes : s->live_bytes;
    *objects = kept ? s->peak_objects : s->live_objects;
}

static void change_live(struct pgsm_sum *s, const struct pgsm_note *note, double sign)
{
    const double objects = sign * note->times, bytes = objects * (double)note->size;
    keep_peak(s);
    s->live_objects += objects;
    s->live_bytes += bytes;
    live_objects += objects;
    live_bytes += bytes;
}

/* With p = 1 / times: (1 - p) / p^2 = times^2 - times. */
static double variance_of(const struct pgsm_note *note)
{
    return note->times * note->times - note->times;
}

void pgsm_sum_begin(struct pgsm_sum *s, const struct pgsm_note *note)
{
    const double variance = variance_of(note), size = (double)note->size;
    change_live(s, note, 1);
    s->samples++;
    s->count_variance += variance;
    s->size_variance += variance * size * size;
}

/* ---- objects that end ---- */

static u32 cut32(double v)
{
    return v < (double)UINT32_MAX ? (u32)v : UINT32_MAX;
}

#define LOWER(field, value) ((field) = s->ended && (field) < (value) ? (field) : (value))
#define RAISE(field, value) ((field) = s->ended && (field) > (value) ? (field) : (value))

void pgsm_sum_add(struct pgsm_sum *s, const struct pgsm_note *note, u32 now_ms, u32 cpu)
{
    struct pgrt_mib *m = &s->mib;
    const double times = note->times, size = (double)note->size,
                 accesses = note->loads + note->stores;
    const u32 lifetime = now_ms - note->born_ms;
    const double density = size > 0 ? accesses * 100 / size : 0,
                 over_time = density * 1000 / (lifetime > 1 ? lifetime : 1);
    const u64 whole = (u64)accesses;
    LOWER(m->MinAccessCount, whole);
    RAISE(m->MaxAccessCount, whole);
    LOWER(m->MinSize, cut32(size));
    RAISE(m->MaxSize, cut32(size));
    LOWER(m->MinLifetime, lifetime);
    RAISE(m->MaxLifetime, lifetime);
    LOWER(m->MinAccessDensity, cut32(density));
    RAISE(m->MaxAccessDensity, cut32(density));
    LOWER(m->MinLifetimeAccessDensity, cut32(over_time));
    RAISE(m->MaxLifetimeAccessDensity, cut32(over_time));
    s->overlaps += s->ended && note->born_ms < m->DeallocTimestamp ? times : 0;
    s->same_alloc += s->ended && note->cpu == m->AllocCpuId ? times : 0;
    s->same_dealloc += s->ended && cpu == m->DeallocCpuId ? times : 0;
    s->migrated += note->cpu != cpu ? times : 0;
    m->AllocTimestamp = note->born_ms;
    m->DeallocTimestamp = now_ms;
    m->AllocCpuId = note->cpu;
    m->DeallocCpuId = cpu;
    s->objects += times;
    s->bytes += times * size;
    s->accesses += times * accesses;
    s->lifetime += times * lifetime;
    s->density += times * density;
    s->lifetime_density += times * over_time;
    s->access_variance += variance_of(note) * accesses * accesses;
    s->ended = 1;
}

void pgsm_sum_end(struct pgsm_sum *s, const struct pgsm_note *note, u32 now_ms, u32 cpu)
{
    pgsm_sums_look(now_ms);
    change_live(s, note, -1);
    pgsm_sum_add(s, note, now_ms, cpu);
}
