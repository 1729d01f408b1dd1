/* How the heap was over time, as pgokit's own forms hold it. docs/formats/partial-heap.md */
#include "over_time_part.h"

#include <inttypes.h>
#include <stdlib.h>

void pgk_over_time_write(const struct pgk_over_time *t, struct pgk_sink *out)
{
    uint64_t before = 0;
    pgk_sink_uleb(out, t->processes);
    pgk_sink_uleb(out, t->peak_ms);
    pgk_sink_uleb(out, t->peak_bytes);
    pgk_sink_uleb(out, t->peak_objects);
    pgk_sink_uleb(out, t->points.n);
    for (size_t i = 0; i < t->points.n; i++) {
        const struct pgk_heap_point *p = &t->points.v[i];
        pgk_sink_uleb(out, p->ms - before);
        pgk_sink_uleb(out, p->bytes);
        pgk_sink_uleb(out, p->objects);
        pgk_sink_uleb(out, p->allocated_bytes);
        pgk_sink_uleb(out, p->allocated_objects);
        before = p->ms;
    }
}

static int read_points(struct pgk_cursor *c, const char *record, const char *hint,
                       struct pgk_over_time *t, struct pgk_err *err)
{
    enum { LEAST_BYTES = 5 };
    uint64_t n = pgk_cur_uleb_count(c, LEAST_BYTES, "points"), ms = 0;
    PGK_TRY(pgk_cur_check(c, err, record));
    if (!pgk_vec_reserve(&t->points, n))
        return pgk_fail_nomem(err);
    while (t->points.n < n) {
        uint64_t off = pgk_cur_off(c), more = pgk_cur_uleb(c, "ms");
        struct pgk_heap_point p = {.ms = ms + more};
        p.bytes = pgk_cur_uleb(c, "bytes");
        p.objects = pgk_cur_uleb(c, "objects");
        p.allocated_bytes = pgk_cur_uleb(c, "allocated bytes");
        p.allocated_objects = pgk_cur_uleb(c, "allocated objects");
        PGK_TRY(pgk_cur_check(c, err, record));
        if (t->points.n && p.ms <= ms)
            return pgk_cur_reject(c, err, PGK_E_CORRUPT, off,
                                  .record = PGK_F("%s, point %zu", record, t->points.n),
                                  .field = "ms", .found = PGK_F("%" PRIu64 " more", more),
                                  .expected = "a later time than that of the point before",
                                  .hint = hint);
        ms = p.ms;
        t->points.v[t->points.n++] = p;
    }
    return 0;
}

int pgk_over_time_read(struct pgk_cursor *c, const char *record, const char *hint,
                       struct pgk_over_time *t, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c);
    t->processes = pgk_cur_uleb(c, "processes");
    t->peak_ms = pgk_cur_uleb(c, "peak, ms");
    t->peak_bytes = pgk_cur_uleb(c, "peak, bytes");
    t->peak_objects = pgk_cur_uleb(c, "peak, objects");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (!t->processes)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = record, .field = "processes",
                              .found = "0", .expected = "1 at least", .hint = hint);
    return read_points(c, record, hint, t, err);
}

struct file_share {
    uint64_t point, node, bytes;
};

static int by_point_and_node(const void *a, const void *b)
{
    const struct file_share *s = a, *t = b;
    if (s->point != t->point)
        return s->point < t->point ? -1 : 1;
    return s->node < t->node ? -1 : s->node > t->node;
}

bool pgk_over_time_write_shares(const struct pgk_over_time *t, const uint32_t *nodes,
                                struct pgk_sink *out)
{
    const size_t n = t->shares.n;
    uint64_t before = 0;
    struct file_share *shares = pgk_mem_alloc(n + 1, sizeof *shares);
    if (!shares)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct pgk_over_time_share *s = &t->shares.v[i];
        shares[i] = (struct file_share){s->point, nodes[s->stack], s->bytes};
    }
    qsort(shares, n, sizeof *shares, by_point_and_node);
    pgk_sink_uleb(out, n);
    for (size_t i = 0; i < n; i++) {
        pgk_sink_uleb(out, shares[i].point - before);
        pgk_sink_uleb(out, shares[i].node);
        pgk_sink_uleb(out, shares[i].bytes);
        before = shares[i].point;
    }
    pgk_mem_free(shares);
    return true;
}

int pgk_over_time_read_shares(struct pgk_cursor *c, const char *record, const char *hint,
                              struct pgk_over_time *t,
                              uint32_t (*stack_of)(const void *arg, uint64_t node),
                              const void *arg, struct pgk_err *err)
{
    enum { LEAST_BYTES = 3 };
    uint64_t n = pgk_cur_uleb_count(c, LEAST_BYTES, "shares"), point = 0;
    PGK_TRY(pgk_cur_check(c, err, record));
    if (!pgk_vec_reserve(&t->shares, n))
        return pgk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t off = pgk_cur_off(c), more = pgk_cur_uleb(c, "point"),
                 node = pgk_cur_uleb(c, "stack"), bytes = pgk_cur_uleb(c, "bytes");
        PGK_TRY(pgk_cur_check(c, err, record));
        const char *share = PGK_F("%s, share %" PRIu64, record, i);
        if (more >= t->points.n - point)
            return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = share, .field = "point",
                                  .found = PGK_F("%" PRIu64 " more", more),
                                  .expected = PGK_F("one of %zu points", t->points.n),
                                  .hint = hint);
        point += more;
        const uint32_t stack = stack_of(arg, node);
        if (!stack)
            return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = share, .field = "stack",
                                  .found = PGK_F("%" PRIu64, node),
                                  .expected = "the stack of a context", .hint = hint);
        t->shares.v[t->shares.n++] = (struct pgk_over_time_share){(uint32_t)point, stack, bytes};
    }
    return 0;
}
