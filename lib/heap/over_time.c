/* How the heap of processes was over time. */
#include "over_time.h"

#include "heap_model.h"
#include "opts.h"
#include "saturate.h"

#include <inttypes.h>

void pgk_over_time_free(struct pgk_over_time *t)
{
    pgk_vec_free(&t->points);
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Which of two is kept: above 0 if that is `a`. */
static int compare_curves(const struct pgk_over_time *a, const struct pgk_over_time *b)
{
    int order = compare(a->peak_bytes, b->peak_bytes);
    order = order ? order : compare(a->peak_objects, b->peak_objects);
    order = order ? order : compare(a->peak_ms, b->peak_ms);
    order = order ? order : compare(a->points.n, b->points.n);
    if (order || !a->points.n)
        return order;
    return memcmp(a->points.v, b->points.v, a->points.n * sizeof *a->points.v);
}

bool pgk_over_time_merge(struct pgk_over_time *into, const struct pgk_over_time *from)
{
    if (!from->processes)
        return true;
    if (!into->processes || compare_curves(into, from) < 0) {
        into->points.n = 0;
        if (!pgk_vec_reserve(&into->points, from->points.n))
            return false;
        if (from->points.n)
            memcpy(into->points.v, from->points.v, from->points.n * sizeof *from->points.v);
        into->points.n = from->points.n;
        into->peak_ms = from->peak_ms;
        into->peak_bytes = from->peak_bytes;
        into->peak_objects = from->peak_objects;
    }
    into->processes = pgk_add_saturated(into->processes, from->processes);
    return true;
}

/* ---- the public side ---- */

void pgk_heap_over_time(const struct pgk_heap *heap, struct pgk_heap_times *times)
{
    const struct pgk_over_time *t = &heap->over_time;
    const struct pgk_heap_times given = {
        .processes = t->processes,
        .peak_ms = t->peak_ms,
        .peak_bytes = t->peak_bytes,
        .peak_objects = t->peak_objects,
        .points = t->points.v,
        .n_points = t->points.n,
    };
    PGK_RESULT_GIVE(times, &given);
}

int pgk_heap_build_over_time(struct pgk_heap *heap, const struct pgk_heap_times *given,
                             struct pgk_err *err)
{
    struct pgk_heap_times t;
    PGK_TRY(PGK_OPTS_TAKE(&t, given, err));
    if (!t.processes)
        return pgk_fail(err, PGK_E_ARG, .format = "heap profile", .record = "times",
                        .field = "processes", .found = "0", .expected = "1 at least");
    struct pgk_over_time own = {
        .processes = t.processes,
        .peak_ms = t.peak_ms,
        .peak_bytes = t.peak_bytes,
        .peak_objects = t.peak_objects,
    };
    for (size_t i = 0; i < t.n_points; i++) {
        if (i && t.points[i].ms <= t.points[i - 1].ms) {
            pgk_over_time_free(&own);
            return pgk_fail(err, PGK_E_ARG, .format = "heap profile",
                            .record = PGK_F("point %zu", i), .field = "ms",
                            .found = PGK_F("%" PRIu64, t.points[i].ms),
                            .expected = "times that rise from point to point");
        }
        if (!pgk_vec_push(&own.points, t.points[i])) {
            pgk_over_time_free(&own);
            return pgk_fail_nomem(err);
        }
    }
    bool ok = pgk_over_time_merge(&heap->over_time, &own);
    pgk_over_time_free(&own);
    return ok ? 0 : pgk_fail_nomem(err);
}
