/* The heap over time, from the dumps and sheets of a raw profile. */
#include "heap_raw_times.h"

#include "saturate.h"
#include "search.h"

#include <inttypes.h>

void pgk_raw_times_free(struct pgk_raw_times_sum *sum)
{
    pgk_over_time_free(&sum->curve);
    pgk_vec_free(&sum->shares);
    pgk_vec_free(&sum->contexts);
}

/* A kill while a series was thinned leaves old points after those that were kept. */
static int add_points(struct pgk_raw_times_sum *sum, struct pgk_cursor *c, uint32_t dump,
                      const struct pgk_raw_notes *notes, struct pgk_err *err)
{
    const uint64_t points = pgk_raw_part_open(c, notes, PGK_NOTES_SERIES);
    if (!pgk_vec_reserve(&sum->curve.points, points))
        return pgk_fail_nomem(err);
    for (uint64_t i = 0; i < points; i++) {
        const struct pgk_heap_point p = pgk_raw_point_read(c, notes);
        const size_t n = sum->curve.points.n;
        if (!n || p.ms > sum->curve.points.v[n - 1].ms)
            sum->curve.points.v[sum->curve.points.n++] = p;
    }
    return pgk_cur_check(c, err, PGK_F("dump %u, series", dump));
}

static bool add_breakdown(struct pgk_raw_times_sum *sum, size_t point,
                          const struct pgk_raw_breakdown *b)
{
    for (uint64_t i = 0; i < b->shares; i++)
        if (!pgk_vec_push(&sum->shares, (struct pgk_raw_id_share){point, b->of[i].context,
                                                                  b->of[i].bytes}))
            return false;
    return true;
}

/* Each belongs to the point with its time, among those of this dump, which start at `first`. Those
 * that a kill has left after the kept ones belong to none, or are duplicates. */
static int add_breakdowns(struct pgk_raw_times_sum *sum, struct pgk_cursor *c, uint32_t dump,
                          const struct pgk_raw_notes *notes, size_t first, struct pgk_err *err)
{
    const uint64_t breakdowns = pgk_raw_part_open(c, notes, PGK_NOTES_BREAKDOWNS);
    for (uint64_t i = 0; i < breakdowns; i++) {
        struct pgk_raw_breakdown b;
        const struct pgk_heap_point *points = sum->curve.points.v + first;
        const size_t n = sum->curve.points.n - first;
        PGK_TRY(pgk_raw_breakdown_read(c, notes,
                                       PGK_F("dump %u, breakdown %" PRIu64, dump, i + 1), &b,
                                       err));
        PGK_SEARCH (at, n, mid, points[mid].ms < b.ms);
        if (at == n || points[at].ms != b.ms)
            continue;
        at += first;
        if (sum->shares.n && sum->shares.v[sum->shares.n - 1].point >= at)
            continue;
        if (!add_breakdown(sum, at, &b))
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_raw_times_add(struct pgk_raw_times_sum *sum, struct pgk_cursor *c, uint32_t dump,
                      const struct pgk_raw_notes *notes, struct pgk_err *err)
{
    const bool sheet = pgk_raw_notes_of_sheet(notes);
    const size_t first = sum->curve.points.n;
    if (sheet && notes->epoch)
        sum->epoch = notes->epoch;
    if (!sheet) {
        sum->last_dump = dump;
        sum->looked = notes->flags & PGK_NOTE_UNREACHABLE;
    }
    if (!sum->any || notes->peak_bytes > sum->curve.peak_bytes) {
        sum->curve.peak_ms = notes->peak_ms;
        sum->curve.peak_bytes = notes->peak_bytes;
        sum->curve.peak_objects = notes->peak_objects;
        sum->peak_dump = sheet ? 0 : dump;
    }
    sum->any = true;
    sum->sheets |= sheet;
    sum->curve.processes = 1;
    PGK_TRY(add_points(sum, c, dump, notes, err));
    return add_breakdowns(sum, c, dump, notes, first, err);
}

static void add_touched(struct pgk_raw_touched *to, const struct pgk_raw_touched *more)
{
    if (!(more->touched | more->untouched))
        return;
    const bool first = !(to->touched | to->untouched);
    to->least = first || more->least < to->least ? more->least : to->least;
    to->most = more->most > to->most ? more->most : to->most;
    to->touched = pgk_add_saturated(to->touched, more->touched);
    to->untouched = pgk_add_saturated(to->untouched, more->untouched);
}

bool pgk_raw_times_reserve(struct pgk_raw_times_sum *sum, size_t entries)
{
    const size_t n = sum->contexts.n;
    return pgk_vec_reserve(&sum->contexts, entries > n ? entries - n : 0);
}

/* NULL when out of memory. */
static struct pgk_raw_context_times *times_of(struct pgk_raw_times_sum *sum, size_t entry)
{
    while (sum->contexts.n <= entry)
        if (!pgk_vec_push(&sum->contexts, (struct pgk_raw_context_times){0}))
            return NULL;
    return &sum->contexts.v[entry];
}

bool pgk_raw_times_add_allocated(struct pgk_raw_times_sum *sum, size_t entry,
                                 const struct pgk_raw_allocated *allocated)
{
    struct pgk_raw_context_times *t = times_of(sum, entry);
    if (!t)
        return false;
    /* An entry that has not changed since the snapshot still has the values of then. */
    const bool changed = allocated->epoch == (uint32_t)sum->epoch;
    t->alive_bytes += allocated->alive_bytes;
    t->alive_objects += (uint32_t)allocated->alive_objects;
    t->snapshot_bytes += changed ? allocated->peak_bytes : allocated->alive_bytes;
    t->snapshot_objects += (uint32_t)(changed ? allocated->peak_objects : allocated->alive_objects);
    t->temporary = pgk_add_saturated(t->temporary, allocated->temporary);
    add_touched(&t->use, &allocated->use);
    return true;
}

bool pgk_raw_times_add_life(struct pgk_raw_times_sum *sum, size_t entry, uint32_t dump,
                            const struct pgk_raw_life *life)
{
    struct pgk_raw_context_times *t = times_of(sum, entry);
    if (!t)
        return false;
    if (dump == sum->peak_dump) {
        t->peak_dump = dump;
        t->peak_bytes = life->peak_bytes;
        t->peak_objects = life->peak_objects;
    }
    t->exit_dump = dump;
    t->exit_bytes = life->exit_bytes;
    t->exit_objects = life->exit_objects;
    t->lost = life->lost;
    t->temporary = pgk_add_saturated(t->temporary, life->temporary);
    add_touched(&t->use, &life->use);
    return true;
}

/* A sum over sheets; a kill between the two changes of an object leaves one below zero. */
static uint64_t bytes_of(uint64_t sum)
{
    return sum <= INT64_MAX ? sum : 0;
}

static uint64_t objects_of(uint32_t sum)
{
    return sum <= INT32_MAX ? sum : 0;
}

/* Nothing is known of a context none of whose objects has ended. */
static void give_touched(const struct pgk_raw_touched *use, struct pgk_mib *m)
{
    if (!(use->touched | use->untouched))
        return;
    pgk_mib_set(m, PGK_MIB_TouchedSize, use->touched);
    pgk_mib_set(m, PGK_MIB_UntouchedSize, use->untouched);
    pgk_mib_set(m, PGK_MIB_MinTouched, use->least);
    pgk_mib_set(m, PGK_MIB_MaxTouched, use->most);
}

/* A dump describes the end only if nothing came after it. */
static void give_unreachable(const struct pgk_raw_times_sum *sum,
                             const struct pgk_raw_context_times *t, struct pgk_mib *m)
{
    if (sum->sheets || !sum->looked)
        return;
    const bool last = t->exit_dump == sum->last_dump;
    pgk_mib_set(m, PGK_MIB_UnreachableSize, last ? t->lost.bytes : 0);
    pgk_mib_set(m, PGK_MIB_UnreachableCount, last ? t->lost.objects : 0);
}

void pgk_raw_times_give(const struct pgk_raw_times_sum *sum, size_t entry, struct pgk_mib *m)
{
    static const struct pgk_raw_context_times none;
    const struct pgk_raw_context_times *t =
        entry < sum->contexts.n ? &sum->contexts.v[entry] : &none;
    if (!sum->any || sum->missing)
        return;
    if (!sum->not_touched)
        give_touched(&t->use, m);
    for (enum pgk_mib_id id = PGK_MIB_PeakSize; id <= PGK_MIB_TemporaryCount; id++)
        m->known |= UINT64_C(1) << id;
    if (!sum->peak_dump) {
        m->v[PGK_MIB_PeakSize] = bytes_of(t->snapshot_bytes);
        m->v[PGK_MIB_PeakCount] = objects_of(t->snapshot_objects);
    } else if (t->peak_dump == sum->peak_dump) {
        m->v[PGK_MIB_PeakSize] = t->peak_bytes;
        m->v[PGK_MIB_PeakCount] = t->peak_objects;
    }
    if (sum->sheets) {
        m->v[PGK_MIB_ExitSize] = bytes_of(t->alive_bytes);
        m->v[PGK_MIB_ExitCount] = objects_of(t->alive_objects);
    } else if (t->exit_dump == sum->last_dump) {
        m->v[PGK_MIB_ExitSize] = t->exit_bytes;
        m->v[PGK_MIB_ExitCount] = t->exit_objects;
    }
    m->v[PGK_MIB_TemporaryCount] = t->temporary;
    give_unreachable(sum, t, m);
    /* The mean of contexts that become one, as their frames get names, says little of each. */
    if (m->known >> PGK_MIB_TotalLifetime & 1)
        pgk_mib_set(m, PGK_MIB_ShortLivedSize, pgk_mib_short_lived_bytes(m));
}

bool pgk_raw_times_give_shares(struct pgk_raw_times_sum *sum,
                               uint32_t (*stack_of)(const void *arg, uint64_t id),
                               const void *arg)
{
    for (size_t i = 0; i < sum->shares.n; i++) {
        const struct pgk_raw_id_share *s = &sum->shares.v[i];
        const uint32_t stack = stack_of(arg, s->id);
        if (stack && !pgk_vec_push(&sum->curve.shares, (struct pgk_over_time_share){
                                                           (uint32_t)s->point, stack, s->bytes}))
            return false;
    }
    return true;
}
