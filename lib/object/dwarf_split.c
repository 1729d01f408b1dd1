/* Packages of split units (.dwp): which part of which section belongs to which unit.
 *
 *     .debug_cu_index, .debug_tu_index:
 *     version (u32: 2, or u16: 5 and u16 padding) | n columns | n units | n slots
 *     slots × u64 id | slots × u32 row number, 1 based | columns × u32 section
 *     units × columns × u32 offset | units × columns × u32 size
 *
 * Version 2 is GNU's, of DWARF 4, version 5 the standard's; they number sections
 * differently. */
#include "dwarf_priv.h"
#include "search.h"

#include <dwarf.h>
#include <stdlib.h>

enum { V2_TYPES = 2 }; /* DW_SECT_TYPES; reserved in version 5 */

struct index {
    struct pgk_dw_bytes b;
    uint32_t version, columns, units, slots;
    uint64_t ids, rows, sections, offsets, sizes; /* of the tables */
};

static uint32_t u32_at(const struct index *ix, uint64_t off)
{
    uint32_t v;
    memcpy(&v, ix->b.p + off, sizeof v);
    return v;
}

static bool open_index(struct index *ix)
{
    if (ix->b.n < 16)
        return false;
    ix->version = u32_at(ix, 0);
    if (ix->version != 2)
        ix->version &= 0xffff;
    ix->columns = u32_at(ix, 4);
    ix->units = u32_at(ix, 8);
    ix->slots = u32_at(ix, 12);
    if ((ix->version != 2 && ix->version != 5) || ix->columns > 16)
        return false;
    ix->ids = 16;
    ix->rows = ix->ids + UINT64_C(8) * ix->slots;
    ix->sections = ix->rows + UINT64_C(4) * ix->slots;
    ix->offsets = ix->sections + UINT64_C(4) * ix->columns;
    ix->sizes = ix->offsets + UINT64_C(4) * ix->columns * ix->units;
    return ix->sizes + UINT64_C(4) * ix->columns * ix->units <= ix->b.n;
}

/* One section of one unit, by the number that the column has. */
static void read_column(const struct index *ix, uint32_t section, uint32_t off, uint32_t size,
                        struct pgk_dw_package_row *row)
{
    switch (section) { /* these numbers are common to both versions */
    case DW_SECT_INFO:
        row->unit_off = off;
        row->unit_size = size;
        break;
    case V2_TYPES:
        if (ix->version == 2) {
            row->types_section = true;
            row->unit_off = off;
            row->unit_size = size;
        }
        break;
    case DW_SECT_ABBREV:
        row->abbrev = off;
        break;
    case DW_SECT_LINE:
        row->line = off;
        break;
    case DW_SECT_STR_OFFSETS:
        row->str_offsets = off;
        break;
    case DW_SECT_RNGLISTS: /* 8; in version 2 macros */
        if (ix->version == 5)
            row->rnglists = off;
        break;
    default:
        break;
    }
}

/* The rows of all units of a package (.debug_cu_index, .debug_tu_index); none if the table does not
 * fit its section. */
static void read_index(struct pgk_dw_file *f, struct pgk_dw_bytes bytes)
{
    struct index ix = {.b = bytes};
    if (!open_index(&ix))
        return;
    for (uint32_t slot = 0; slot < ix.slots; slot++) {
        uint32_t n = u32_at(&ix, ix.rows + UINT64_C(4) * slot);
        if (n == 0 || n > ix.units)
            continue;
        struct pgk_dw_package_row row = {0};
        memcpy(&row.id, ix.b.p + ix.ids + UINT64_C(8) * slot, sizeof row.id);
        for (uint32_t c = 0; c < ix.columns; c++) {
            uint64_t cell = (UINT64_C(4) * ix.columns) * (n - 1) + UINT64_C(4) * c;
            read_column(&ix, u32_at(&ix, ix.sections + UINT64_C(4) * c),
                        u32_at(&ix, ix.offsets + cell), u32_at(&ix, ix.sizes + cell), &row);
        }
        if (!pgk_vec_push(&f->package, row)) {
            f->starved = true;
            return;
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct pgk_dw_package_row *x = a, *y = b;
    if (x->types_section != y->types_section)
        return (int)x->types_section - (int)y->types_section;
    return x->unit_off < y->unit_off ? -1 : x->unit_off > y->unit_off;
}

void pgk_dw_package_read(struct pgk_dw_file *f)
{
    read_index(f, f->sec[PGK_DW_CU_INDEX]);
    read_index(f, f->sec[PGK_DW_TU_INDEX]);
    if (f->package.n)
        qsort(f->package.v, f->package.n, sizeof *f->package.v, compare_rows);
}

/* The contribution that holds the unit: in a version 5 file one row may cover several. */
const struct pgk_dw_package_row *pgk_dw_package_find(const struct pgk_dw_file *f, bool types,
                                                     uint64_t unit_off)
{
    const struct pgk_dw_package_row *v = f->package.v;
    /* the first row after it */
    PGK_SEARCH(low, f->package.n, mid, v[mid].types_section < types ||
               (v[mid].types_section == types && v[mid].unit_off <= unit_off))
    if (!low)
        return NULL;
    const struct pgk_dw_package_row *r = &f->package.v[low - 1];
    return r->types_section == types && unit_off - r->unit_off < r->unit_size ? r : NULL;
}
