/* Address ranges of a DIE: low and high, .debug_ranges, .debug_rnglists. Linkers mark
 * ranges of code they left out by -1 or -2; such ranges are skipped, as LLVM does. */
#include "dwarf_priv.h"

#include <dwarf.h>

static bool add(pgk_dw_range_vec *out, uint64_t low, uint64_t high)
{
    return low >= high || pgk_vec_push(out, (struct pgk_dw_range){low, high});
}

/* DWARF 2 to 4: pairs of addresses, relative to the unit's base. */
static bool old_list(const struct pgk_dw_unit *u, uint64_t off, pgk_dw_range_vec *out)
{
    const struct pgk_dw_unit *home = u->skeleton;
    if (home != u)
        off += home->ranges_base;
    struct pgk_dw_bytes b = pgk_dw_from(home->file->sec[PGK_DW_RANGES], off);
    uint64_t base = home->has_low ? home->low_pc : 0;
    for (uint64_t at = 0; b.n - at >= 16; at += 16) {
        uint64_t low, high;
        memcpy(&low, b.p + at, 8);
        memcpy(&high, b.p + at + 8, 8);
        if (low == 0 && high == 0)
            break;
        if (low == UINT64_MAX) {
            base = high;
            continue;
        }
        if (low == UINT64_MAX - 1 || base == UINT64_MAX - 1 || base == UINT64_MAX)
            continue;
        if (!add(out, low + base, high + base))
            return false;
    }
    return true;
}

/* DWARF 5. */
static bool new_list(const struct pgk_dw_unit *u, uint64_t off, pgk_dw_range_vec *out)
{
    struct pgk_dw_bytes b = pgk_dw_from(u->file->sec[PGK_DW_RNGLISTS], off);
    struct pgk_dw_pos at = {b.p, b.p + b.n, b.n == 0};
    uint64_t base = u->skeleton->has_low ? u->skeleton->low_pc : 0;
    while (!at.bad) {
        uint64_t low = 0, high = 0;
        bool relative = false, known = true;
        switch (pgk_dw_uint(&at, 1)) {
        case DW_RLE_end_of_list:
            return true;
        case DW_RLE_base_addressx:
            if (!pgk_dw_indexed_address(u, pgk_dw_uleb(&at), &base))
                base = UINT64_MAX;
            continue;
        case DW_RLE_base_address:
            base = pgk_dw_uint(&at, 8);
            continue;
        case DW_RLE_startx_endx:
            known = pgk_dw_indexed_address(u, pgk_dw_uleb(&at), &low);
            known = pgk_dw_indexed_address(u, pgk_dw_uleb(&at), &high) && known;
            break;
        case DW_RLE_startx_length:
            known = pgk_dw_indexed_address(u, pgk_dw_uleb(&at), &low);
            high = low + pgk_dw_uleb(&at);
            break;
        case DW_RLE_offset_pair:
            low = pgk_dw_uleb(&at);
            high = pgk_dw_uleb(&at);
            relative = true;
            break;
        case DW_RLE_start_end:
            low = pgk_dw_uint(&at, 8);
            high = pgk_dw_uint(&at, 8);
            break;
        case DW_RLE_start_length:
            low = pgk_dw_uint(&at, 8);
            high = low + pgk_dw_uleb(&at);
            break;
        default:
            return true;
        }
        if (at.bad || !known || low == UINT64_MAX || (relative && base == UINT64_MAX))
            continue;
        if (!add(out, low + (relative ? base : 0), high + (relative ? base : 0)))
            return false;
    }
    return true;
}

/* A list by its number: an offset, relative to the base, in the table at the base. */
static bool numbered_list(const struct pgk_dw_unit *u, uint64_t number, pgk_dw_range_vec *out)
{
    struct pgk_dw_bytes b = pgk_dw_from(u->file->sec[PGK_DW_RNGLISTS], u->rnglists_base);
    if (number >= b.n / u->off_size)
        return true;
    uint64_t off = 0;
    memcpy(&off, b.p + number * u->off_size, u->off_size);
    return off >= b.n || new_list(u, u->rnglists_base + off, out);
}

bool pgk_dw_ranges(const struct pgk_dw_unit *u, const struct pgk_dw_pc *pc, pgk_dw_range_vec *out)
{
    uint64_t low, high, off;
    if (pgk_dw_address(u, &pc->low, &low) && low != UINT64_MAX && pc->high.form) {
        if (pgk_dw_address(u, &pc->high, &high))
            return add(out, low, high);
        if (pgk_dw_constant(&pc->high, &high))
            return add(out, low, low + high);
    }
    if (pc->ranges.form == DW_FORM_rnglistx)
        return numbered_list(u, pc->ranges.u, out);
    if (!pgk_dw_section_offset(&pc->ranges, &off))
        return true;
    if (u->version < 5)
        return old_list(u, off, out);
    /* In a package the offset counts from the unit's own part. */
    return new_list(u, off + (u->row ? u->row->rnglists : 0), out);
}
