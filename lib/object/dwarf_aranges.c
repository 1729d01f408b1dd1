/* address -> unit: from .debug_aranges, and for units it leaves out from the ranges of
 * the unit DIE. Where ranges of several units overlap, the choice is LLVM's: the unit
 * found for the bytes before is kept while it covers, else the first of the file. */
#include "dwarf_priv.h"
#include "search.h"

#include <dwarf.h>
#include <stdlib.h>

struct end_point {
    uint64_t addr;
    uint32_t unit;
    bool start;
};

struct building {
    PGK_VEC(struct end_point) points;
    PGK_VEC(uint32_t) active; /* units that cover the current address, sorted, with doubles */
    uint8_t *listed;          /* by unit: .debug_aranges has it */
    bool sorted;
    uint64_t limit; /* of points */
};

static bool add_range(struct building *b, uint32_t unit, uint64_t low, uint64_t high)
{
    if (low >= high || b->points.n >= b->limit)
        return true;
    if (b->points.n && b->points.v[b->points.n - 1].addr > low)
        b->sorted = false;
    return pgk_vec_push(&b->points, (struct end_point){low, unit, true}) &&
           pgk_vec_push(&b->points, (struct end_point){high, unit, false});
}

/* One set of .debug_aranges; false when out of memory. A damaged set ends the section. */
static bool read_set(struct building *b, const struct pgk_dw_file *f, struct pgk_dw_pos *at)
{
    const uint8_t *start = at->p;
    unsigned off_size = 4;
    uint64_t length = pgk_dw_uint(at, 4);
    if (length == 0xffffffff) {
        length = pgk_dw_uint(at, 8);
        off_size = 8;
    }
    if (at->bad || length > (uint64_t)(at->end - at->p)) {
        at->bad = true;
        return true;
    }
    struct pgk_dw_pos set = {at->p, at->p + length, false};
    at->p += length;
    uint64_t version = pgk_dw_uint(&set, 2);
    uint64_t off = pgk_dw_uint(&set, off_size);
    uint64_t addr_size = pgk_dw_uint(&set, 1), segment_size = pgk_dw_uint(&set, 1);
    const struct pgk_dw_unit *u = pgk_dw_unit_at(f, off);
    if (set.bad || version != 2 || addr_size != 8 || segment_size != 0 || !u || u->off != off)
        return true;
    uint32_t unit = (uint32_t)(u - f->units.v);
    b->listed[unit] = 1;
    /* Pairs are aligned to their own size, counted from the start of the set. */
    pgk_dw_take(&set, (uint64_t)(-(set.p - start) & 15));
    while (!set.bad) {
        uint64_t low = pgk_dw_uint(&set, 8), size = pgk_dw_uint(&set, 8);
        if (set.bad || (low == 0 && size == 0))
            break;
        if (low != UINT64_MAX && !add_range(b, unit, low, low + size))
            return false;
    }
    return true;
}

static bool add_unit(struct building *b, const struct pgk_dw_unit *u, uint32_t number,
                     pgk_dw_range_vec *ranges)
{
    struct pgk_dw_pc pc = {0};
    struct pgk_dw_pos at = {pgk_dw_unit_bytes(u).p + u->die, pgk_dw_unit_bytes(u).p + u->end,
                            false};
    struct pgk_dw_abbrevs *t = pgk_dw_abbrevs_read(u, pgk_dw_uleb(&at));
    struct pgk_dw_iter it;
    pgk_dw_iter_start_in(&it, u, u->die, t);
    while (pgk_dw_iter_next(&it)) {
        if (it.at == DW_AT_low_pc)
            pc.low = it.value;
        else if (it.at == DW_AT_high_pc)
            pc.high = it.value;
        else if (it.at == DW_AT_ranges)
            pc.ranges = it.value;
    }
    pgk_dw_abbrevs_free(t);
    ranges->n = 0;
    if (!pgk_dw_ranges(u, &pc, ranges))
        return false;
    for (size_t i = 0; i < ranges->n; i++)
        if (!add_range(b, number, ranges->v[i].low, ranges->v[i].high))
            return false;
    return true;
}

static int compare_points(const void *a, const void *b)
{
    const struct end_point *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Position of the first active unit not below `unit`. */
static size_t active_at(const struct building *b, uint32_t unit)
{
    PGK_SEARCH(low, b->active.n, mid, b->active.v[mid] < unit)
    return low;
}

static bool is_active(const struct building *b, uint32_t unit)
{
    size_t i = active_at(b, unit);
    return i < b->active.n && b->active.v[i] == unit;
}

static bool toggle(struct building *b, const struct end_point *e)
{
    size_t i = active_at(b, e->unit);
    if (e->start) {
        if (!pgk_vec_reserve(&b->active, 1))
            return false;
        memmove(b->active.v + i + 1, b->active.v + i, (b->active.n - i) * sizeof *b->active.v);
        b->active.v[i] = e->unit;
        b->active.n++;
    } else if (i < b->active.n && b->active.v[i] == e->unit) {
        b->active.n--;
        memmove(b->active.v + i, b->active.v + i + 1, (b->active.n - i) * sizeof *b->active.v);
    }
    return true;
}

static bool sweep(struct building *b, pgk_dw_arange_vec *out)
{
    uint64_t before = UINT64_MAX;
    for (size_t i = 0; i < b->points.n; i++) {
        const struct end_point *e = &b->points.v[i];
        if (before < e->addr && b->active.n) {
            struct pgk_dw_arange *last = out->n ? &out->v[out->n - 1] : NULL;
            if (last && last->high == before && is_active(b, last->unit))
                last->high = e->addr;
            else if (!pgk_vec_push(out, (struct pgk_dw_arange){before, e->addr, b->active.v[0]}))
                return false;
        }
        if (!toggle(b, e))
            return false;
        before = e->addr;
    }
    return true;
}

bool pgk_dw_aranges(const struct pgk_dw_file *f, pgk_dw_arange_vec *out)
{
    struct building b = {.sorted = true};
    pgk_dw_range_vec ranges = {0};
    struct pgk_dw_bytes sec = f->sec[PGK_DW_ARANGES];
    struct pgk_dw_pos at = {sec.p, sec.n ? sec.p + sec.n : sec.p, sec.n == 0};
    b.listed = pgk_mem_zalloc(f->units.n + 1, 1);
    bool ok = b.listed != NULL;
    /* Each list of ranges belongs to one unit. */
    b.limit = sec.n + f->sec[PGK_DW_RANGES].n + f->sec[PGK_DW_RNGLISTS].n + 2 * f->units.n;
    while (ok && !at.bad && at.p < at.end)
        ok = read_set(&b, f, &at);
    for (size_t i = 0; ok && i < f->n_info_units; i++) {
        const struct pgk_dw_unit *u = &f->units.v[i];
        bool code = u->usable && u->type != DW_UT_type && u->type != DW_UT_split_type;
        if (code && !b.listed[i] && (u->has_low || u->has_ranges))
            ok = add_unit(&b, u, (uint32_t)i, &ranges);
    }
    if (ok && !b.sorted && b.points.n)
        qsort(b.points.v, b.points.n, sizeof *b.points.v, compare_points);
    ok = ok && sweep(&b, out);
    pgk_vec_free(&ranges);
    pgk_vec_free(&b.points);
    pgk_vec_free(&b.active);
    pgk_mem_free(b.listed);
    return ok;
}
