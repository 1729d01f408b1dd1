/* The heap over time: points of a series, which is thinned when it is full, and snapshots.
 *
 * A snapshot costs no walk over contexts: it gets a number, and the first change of a context
 * after it saves what the context had. Whoever reads the file takes what was saved under the last
 * number, or what a context has where nothing has changed it since. */
#include "runtime_series.h"

#include "runtime_breakdown.h"
#include "runtime_start.h"
#include "runtime_sheets.h"
#include "runtime_thread.h"

enum {
    PEAK_STEP = 100,  /* a new peak is higher by one part in so many */
    SHARE_STEP = 128, /* with several threads, how far one may grow unseen, as part of the peak */
};

u32 pgrt_snapshot;
u32 pgrt_point_due;
static u32 interval_ms = 1;
static volatile u32 lock; /* of points, and of snapshots: whoever finds it taken goes on without */
static u64 next_peak_bytes = 1; /* looked at without the lock, too */

static u64 *points_of(struct pgrt_notes *notes)
{
    return &notes->part[PGK_NOTES_SERIES].records;
}

static bool try_lock(void)
{
    return !__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static u64 next_peak(void)
{
    return __atomic_load_n(&next_peak_bytes, __ATOMIC_RELAXED);
}

struct total {
    u64 bytes, objects, made_bytes, made_objects;
    u32 threads;
};

static struct total total(void)
{
    struct total sum = {0};
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t)) {
        const struct pgrt_series *s = &t->series;
        sum.bytes -= __atomic_load_n(&s->freed_bytes, __ATOMIC_RELAXED);
        sum.objects -= __atomic_load_n(&s->freed_objects, __ATOMIC_RELAXED);
        sum.made_bytes += __atomic_load_n(&s->made_bytes, __ATOMIC_RELAXED);
        sum.made_objects += __atomic_load_n(&s->made_objects, __ATOMIC_RELAXED);
        sum.threads++;
    }
    sum.bytes += sum.made_bytes;
    sum.objects += sum.made_objects;
    /* A thread may have freed what another one is about to count. */
    if ((i64)sum.bytes < 0)
        sum.bytes = 0;
    if ((i64)sum.objects < 0)
        sum.objects = 0;
    return sum;
}

static void set_limit(struct pgrt_series *s, const struct total *now)
{
    const u64 peak = next_peak(), space = peak > now->bytes ? peak - now->bytes : 1;
    u64 step = space;
    if (now->threads > 1) {
        const u64 least = peak / SHARE_STEP / now->threads + 1;
        step = space / now->threads < least ? least : space / now->threads;
        step = step < 4 * least ? step : 4 * least;
    }
    s->limit = pgrt_series_bytes(s) + (i64)step;
}

/* Unless an earlier one was higher: peaks are noticed in steps, points of the series are not. */
static void snapshot(const struct total *now, u32 now_ms)
{
    struct pgrt_notes *notes = pgrt_sheets_notes();
    if (!notes || now->bytes <= notes->facts.peak_bytes)
        return;
    notes->facts.peak_ms = now_ms;
    notes->facts.peak_bytes = now->bytes;
    notes->facts.peak_objects = now->objects;
    notes->facts.epoch = pgrt_snapshot + 1;
    __atomic_store_n(&pgrt_snapshot, pgrt_snapshot + 1, __ATOMIC_RELEASE);
}

/* Another thread may have been here in the meantime. */
static void snapshot_of_peak(struct total *now)
{
    if (now->bytes < next_peak() || !try_lock())
        return;
    *now = total();
    if (now->bytes >= next_peak()) {
        __atomic_store_n(&next_peak_bytes, now->bytes + now->bytes / PEAK_STEP + 1,
                         __ATOMIC_RELAXED);
        snapshot(now, pgrt_now_ms());
    }
    unlock();
}

static void peak(struct pgrt_thread *t, struct total now)
{
    snapshot_of_peak(&now);
    t->series.armed = false;
    set_limit(&t->series, &now);
}

/* While the heap of one thread grows, it is the next end of an object that makes a peak of it; so
 * that a kill before that finds one, too, growth beyond a second step is a peak by itself. */
PGG_COLD void pgrt_series_look(struct pgrt_thread *t)
{
    const struct total now = total();
    if (now.bytes >= next_peak() && now.threads == 1 && !t->series.armed) {
        t->series.armed = true;
        t->series.limit = pgrt_series_bytes(&t->series) + (i64)(next_peak() / PEAK_STEP) + 1;
        return;
    }
    peak(t, now);
}

PGG_COLD void pgrt_series_peak(struct pgrt_thread *t)
{
    peak(t, total());
}

/* Of two neighbours the later one stays, and so do the breakdowns of those that stay. The number of
 * points changes last: until then a reader finds early points that are later than some after
 * them. */
static void thin(struct pgrt_notes *notes, struct pgrt_point *points)
{
    for (u32 i = 0; i < PGRT_POINTS_MAX / 2; i++) {
        points[i] = points[2 * i + 1];
        pgg_compiler_barrier();
    }
    *points_of(notes) = PGRT_POINTS_MAX / 2;
    struct pgrt_breakdown *breakdowns = pgrt_sheets_breakdowns(notes);
    for (u32 i = 0; i < PGRT_BREAKDOWNS_MAX / 2; i++)
        pgrt_breakdown_copy(&breakdowns[i], &breakdowns[2 * i + 1]);
    pgg_compiler_barrier();
    notes->part[PGK_NOTES_BREAKDOWNS].records = PGRT_BREAKDOWNS_MAX / 2;
    interval_ms *= 2;
}

/* Of the point that was added last. */
static void break_down(struct pgrt_notes *notes, u32 now_ms)
{
    const u64 n = *points_of(notes) / PGRT_BREAKDOWN_EVERY;
    pgrt_breakdown_take(&pgrt_sheets_breakdowns(notes)[n - 1], now_ms);
    pgg_compiler_barrier();
    notes->part[PGK_NOTES_BREAKDOWNS].records = n;
}

/* A point that is higher than the last peak, but not by a step, is a peak as well: no point is ever
 * above the peak. */
static void add_point(u32 now_ms)
{
    struct pgrt_point *points;
    struct pgrt_notes *notes = pgrt_sheets_notes();
    if (!notes)
        return;
    points = pgrt_sheets_points(notes);
    if (*points_of(notes) == PGRT_POINTS_MAX)
        thin(notes, points);
    const struct total now = total();
    snapshot(&now, now_ms);
    points[*points_of(notes)] = (struct pgrt_point){
        .ms = now_ms,
        .bytes = now.bytes,
        .objects = now.objects,
        .allocated_bytes = now.made_bytes,
        .allocated_objects = now.made_objects,
    };
    pgg_compiler_barrier();
    ++*points_of(notes);
    if (*points_of(notes) % PGRT_BREAKDOWN_EVERY == 0)
        break_down(notes, now_ms);
}

PGG_COLD void pgrt_series_point(u32 now_ms)
{
    if (!try_lock())
        return;
    if (pgrt_series_due(now_ms)) {
        add_point(now_ms);
        __atomic_store_n(&pgrt_point_due, now_ms + interval_ms, __ATOMIC_RELAXED);
    }
    unlock();
}

void pgrt_series_close(u32 now_ms)
{
    struct pgrt_notes *notes = pgrt_sheets_notes();
    if (!notes)
        return;
    if (*points_of(notes) && pgrt_sheets_points(notes)[*points_of(notes) - 1].ms == now_ms)
        --*points_of(notes);
    add_point(now_ms);
}

/* The peak of a dump is that since the one before it. */
void pgrt_series_open(void)
{
    pgrt_snapshot = 0;
    __atomic_store_n(&next_peak_bytes, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&pgrt_point_due, 0, __ATOMIC_RELAXED);
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t)) {
        t->series.armed = false;
        t->series.limit = INT64_MIN;
    }
}

void pgrt_series_forked(void)
{
    lock = 0;
    interval_ms = 1;
    pgrt_breakdown_forked();
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t))
        t->series = (struct pgrt_series){0};
    pgrt_series_open();
}
