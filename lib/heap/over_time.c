/* The heap of processes over time. */
#include "over_time.h"

#include "heap_model.h"
#include "opts.h"
#include "saturate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

void pgk_over_time_free(struct pgk_over_time *t)
{
    pgk_vec_free(&t->points);
    pgk_vec_free(&t->shares);
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Bytes in shares. */
static uint64_t broken_down(const struct pgk_over_time *t)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < t->shares.n; i++)
        bytes = pgk_add_saturated(bytes, t->shares.v[i].bytes);
    return bytes;
}

/* Which of two is kept: above 0 if that is `a`. */
static int compare_curves(const struct pgk_over_time *a, const struct pgk_over_time *b)
{
    int order = compare(a->peak_bytes, b->peak_bytes);
    order = order ? order : compare(a->peak_objects, b->peak_objects);
    order = order ? order : compare(a->peak_ms, b->peak_ms);
    order = order ? order : compare(a->points.n, b->points.n);
    if (!order && a->points.n)
        order = memcmp(a->points.v, b->points.v, a->points.n * sizeof *a->points.v);
    return order ? order : compare(broken_down(a), broken_down(b));
}

static int by_point_and_stack(const void *a, const void *b)
{
    const struct pgk_over_time_share *s = a, *t = b;
    const int order = compare(s->point, t->point);
    return order ? order : compare(s->stack, t->stack);
}

/* Contexts that have become one hold together what they held. */
static void add_up_shares(struct pgk_over_time *t)
{
    size_t kept = 0;
    if (t->shares.n)
        qsort(t->shares.v, t->shares.n, sizeof *t->shares.v, by_point_and_stack);
    for (size_t i = 0; i < t->shares.n; i++) {
        struct pgk_over_time_share *last = kept ? &t->shares.v[kept - 1] : NULL;
        if (last && !by_point_and_stack(last, &t->shares.v[i]))
            last->bytes = pgk_add_saturated(last->bytes, t->shares.v[i].bytes);
        else
            t->shares.v[kept++] = t->shares.v[i];
    }
    t->shares.n = kept;
}

static bool copy_curve(struct pgk_over_time *into, const struct pgk_over_time *from,
                       const uint32_t *stacks)
{
    into->points.n = into->shares.n = 0;
    if (!pgk_vec_reserve(&into->points, from->points.n) ||
        !pgk_vec_reserve(&into->shares, from->shares.n))
        return false;
    if (from->points.n)
        memcpy(into->points.v, from->points.v, from->points.n * sizeof *from->points.v);
    into->points.n = from->points.n;
    for (size_t i = 0; i < from->shares.n; i++) {
        struct pgk_over_time_share share = from->shares.v[i];
        share.stack = stacks ? stacks[share.stack] : share.stack;
        if (share.stack)
            into->shares.v[into->shares.n++] = share;
    }
    add_up_shares(into);
    return true;
}

bool pgk_over_time_merge(struct pgk_over_time *into, const struct pgk_over_time *from,
                         const uint32_t *stacks)
{
    if (!from->processes)
        return true;
    if (!into->processes || compare_curves(into, from) < 0) {
        if (!copy_curve(into, from, stacks))
            return false;
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
        .n_shares = t->shares.n,
    };
    PGK_RESULT_GIVE(times, &given);
}

struct pgk_heap_share pgk_heap_point_share(const struct pgk_heap *heap, size_t i)
{
    assert(i < heap->over_time.shares.n);
    const struct pgk_over_time_share *s = &heap->over_time.shares.v[i];
    return (struct pgk_heap_share){
        .point = s->point,
        .context = pgk_heap_context_at(heap, s->stack),
        .bytes = s->bytes,
    };
}

static int take_points(struct pgk_over_time *own, const struct pgk_heap_times *t,
                       struct pgk_err *err)
{
    for (size_t i = 0; i < t->n_points; i++) {
        if (i && t->points[i].ms <= t->points[i - 1].ms)
            return pgk_fail(err, PGK_E_ARG, .format = "heap profile",
                            .record = PGK_F("point %zu", i), .field = "ms",
                            .found = PGK_F("%" PRIu64, t->points[i].ms),
                            .expected = "times that rise from point to point");
        if (!pgk_vec_push(&own->points, t->points[i]))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int take_shares(struct pgk_over_time *own, const struct pgk_heap_times *t,
                       const struct pgk_heap *heap, struct pgk_err *err)
{
    for (size_t i = 0; t->shares && i < t->n_shares; i++) {
        const struct pgk_heap_share *s = &t->shares[i];
        if (s->point >= t->n_points || s->context >= heap->contexts.n)
            return pgk_fail(err, PGK_E_ARG, .format = "heap profile",
                            .record = PGK_F("share %zu", i), .field = "point, context",
                            .found = PGK_F("%zu, %zu", s->point, s->context),
                            .expected = PGK_F("below %zu, %zu", t->n_points, heap->contexts.n));
        if (!pgk_vec_push(&own->shares,
                          (struct pgk_over_time_share){(uint32_t)s->point,
                                                       heap->contexts.v[s->context].stack,
                                                       s->bytes}))
            return pgk_fail_nomem(err);
    }
    return 0;
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
    int status = take_points(&own, &t, err);
    if (!status)
        status = take_shares(&own, &t, heap, err);
    if (!status && !pgk_over_time_merge(&heap->over_time, &own, NULL))
        status = pgk_fail_nomem(err);
    pgk_over_time_free(&own);
    return status;
}
