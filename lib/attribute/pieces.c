/* Sampled ranges of code as pieces that do not overlap. */
#include "pieces.h"

#include "sample_model.h"
#include "saturate.h"

#include <stdlib.h>

struct point {
    uint64_t addr;
    bool is_end, is_zero;
    uint64_t count;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->is_end - y->is_end;
}

typedef PGK_VEC(struct point) point_vec;

static bool add_points(point_vec *points, uint64_t low, uint64_t high, uint64_t count, bool zero)
{
    return pgk_vec_push(points, (struct point){low, false, zero, count}) &&
           pgk_vec_push(points, (struct point){high, true, zero, count});
}

/* All code of a function that was sampled counts, if only zero, so that the compiler distinguishes
 * code that never ran from unknown code. */
static bool add_zero_ranges(const struct pgk_pairs *ranges, const struct pgk_functions *f,
                            point_vec *points)
{
    bool *taken = pgk_mem_zalloc(f->functions.n + 1, sizeof *taken);
    bool ok = taken;
    for (size_t i = 0; ok && i < ranges->list.n; i++) {
        const struct pgk_function_range *r = pgk_functions_at(f, ranges->list.v[i].from);
        if (!r || taken[r->function])
            continue;
        taken[r->function] = true;
        const struct pgk_function *function = &f->functions.v[r->function];
        for (uint32_t k = 0; ok && k < function->n; k++) {
            const struct pgk_function_range *all =
                &f->ranges.v[f->by_function.v[function->first + k]];
            ok = add_points(points, all->low, all->high - 1, 0, true);
        }
    }
    pgk_mem_free(taken);
    return ok;
}

/* Cuts ranges that overlap into pieces that do not. A piece counts zero where a zero range says
 * so; what lies between ranges otherwise is no piece. */
static bool cut_pieces(pgk_piece_vec *pieces, const point_vec *points)
{
    uint64_t begin = 0, count = 0;
    size_t depth = 0;
    bool open = false;
    for (size_t i = 0; i < points->n;) {
        uint64_t at = points->v[i].addr;
        if (!points->v[i].is_end) {
            if (open && at > begin &&
                !pgk_vec_push(pieces, (struct pgk_piece){begin, at - 1, count}))
                return false;
            for (; i < points->n && points->v[i].addr == at && !points->v[i].is_end; i++) {
                count = pgk_add_saturated(count, points->v[i].count);
                depth += points->v[i].is_zero;
            }
            begin = at;
            open = true;
        } else {
            if (!pgk_vec_push(pieces, (struct pgk_piece){begin, at, count}))
                return false;
            for (; i < points->n && points->v[i].addr == at; i++) {
                count -= points->v[i].count;
                depth -= points->v[i].is_zero;
            }
            begin = at + 1;
            open = count || depth;
        }
    }
    return true;
}

bool pgk_pieces_make(pgk_piece_vec *pieces, const struct pgk_pairs *ranges,
                     const struct pgk_functions *functions)
{
    point_vec points = {0};
    bool ok = !functions || add_zero_ranges(ranges, functions, &points);
    for (size_t i = 0; ok && i < ranges->list.n; i++)
        ok = add_points(&points, ranges->list.v[i].from, ranges->list.v[i].to,
                        ranges->list.v[i].count, false);
    if (ok && points.n)
        qsort(points.v, points.n, sizeof *points.v, compare_points);
    ok = ok && cut_pieces(pieces, &points);
    pgk_vec_free(&points);
    return ok;
}
