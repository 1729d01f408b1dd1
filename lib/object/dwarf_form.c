/* Attribute values: every form of DWARF 2 to 5 and the GNU extensions. */
#include "dwarf_priv.h"

#include <dwarf.h>

uint64_t pgk_dw_uleb_long(struct pgk_dw_pos *at)
{
    uint64_t v = 0;
    for (unsigned shift = 0; !at->bad && at->p < at->end; shift += 7) {
        uint8_t b = *at->p++;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    at->bad = true;
    return 0;
}

int64_t pgk_dw_sleb(struct pgk_dw_pos *at)
{
    uint64_t v = 0;
    for (unsigned shift = 0; !at->bad && at->p < at->end;) {
        uint8_t b = *at->p++;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (!(b & 0x80)) {
            if ((b & 0x40) && shift < 64)
                v |= ~UINT64_C(0) << shift;
            return (int64_t)v;
        }
    }
    at->bad = true;
    return 0;
}

const char *pgk_dw_cstr(struct pgk_dw_pos *at)
{
    const uint8_t *zero = at->bad || at->p == at->end
                              ? NULL
                              : memchr(at->p, 0, (size_t)(at->end - at->p));
    if (!zero) {
        at->bad = true;
        return NULL;
    }
    const char *s = (const char *)at->p;
    at->p = zero + 1;
    return s;
}

int pgk_dw_form_size(const struct pgk_dw_unit *u, uint16_t form)
{
    switch (form) {
    case DW_FORM_implicit_const:
    case DW_FORM_flag_present:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return u->addr_size;
    case DW_FORM_ref_addr: /* in DWARF 2 as wide as an address */
        return u->version <= 2 ? u->addr_size : u->off_size;
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return u->off_size;
    default:
        return -1;
    }
}

bool pgk_dw_form_read(const struct pgk_dw_unit *u, uint16_t form, int64_t implicit,
                      struct pgk_dw_pos *at, struct pgk_dw_value *v)
{
    v->p = NULL;
    v->u = 0;
    if (form == DW_FORM_indirect) {
        uint64_t real = pgk_dw_uleb(at);
        /* One level is all that makes sense; more could loop. */
        form = real == DW_FORM_indirect || real > UINT16_MAX ? 0 : (uint16_t)real;
        implicit = form == DW_FORM_implicit_const ? pgk_dw_sleb(at) : 0;
    }
    v->form = form;
    int size = pgk_dw_form_size(u, form);
    if (size >= 0 && size <= 8) {
        v->u = pgk_dw_uint(at, (unsigned)size);
        if (form == DW_FORM_implicit_const)
            v->u = (uint64_t)implicit;
        else if (form == DW_FORM_flag_present)
            v->u = 1;
        return !at->bad;
    }
    switch (form) {
    case DW_FORM_data16:
        v->p = pgk_dw_take(at, v->u = 16);
        break;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        v->u = pgk_dw_uleb(at);
        break;
    case DW_FORM_sdata:
        v->u = (uint64_t)pgk_dw_sleb(at);
        break;
    case DW_FORM_string:
        v->p = (const uint8_t *)pgk_dw_cstr(at);
        break;
    case DW_FORM_block1:
        v->p = pgk_dw_take(at, v->u = pgk_dw_uint(at, 1));
        break;
    case DW_FORM_block2:
        v->p = pgk_dw_take(at, v->u = pgk_dw_uint(at, 2));
        break;
    case DW_FORM_block4:
        v->p = pgk_dw_take(at, v->u = pgk_dw_uint(at, 4));
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        v->p = pgk_dw_take(at, v->u = pgk_dw_uleb(at));
        break;
    default: /* of unknown size: nothing after it can be read */
        at->bad = true;
        break;
    }
    return !at->bad;
}

void pgk_dw_form_skip(const struct pgk_dw_unit *u, uint16_t form, struct pgk_dw_pos *at)
{
    if (form == DW_FORM_exprloc) {
        pgk_dw_take(at, pgk_dw_uleb(at));
    } else {
        struct pgk_dw_value v;
        pgk_dw_form_read(u, form, 0, at, &v);
    }
}

static const char *string_at(struct pgk_dw_bytes b, uint64_t off)
{
    /* String sections were cut after their last zero when the file was opened. */
    return off < b.n ? (const char *)b.p + off : NULL;
}

static const char *indexed_string(const struct pgk_dw_unit *u, uint64_t index)
{
    struct pgk_dw_bytes b = pgk_dw_from(u->file->sec[PGK_DW_STR_OFFSETS], u->str_base);
    if (index >= b.n / u->off_size)
        return NULL;
    uint64_t off = 0;
    memcpy(&off, b.p + index * u->off_size, u->off_size);
    return string_at(u->file->sec[PGK_DW_STR], off);
}

const char *pgk_dw_string(const struct pgk_dw_unit *u, const struct pgk_dw_value *v)
{
    switch (v->form) {
    case DW_FORM_string:
        return (const char *)v->p;
    case DW_FORM_strp:
        return string_at(u->file->sec[PGK_DW_STR], v->u);
    case DW_FORM_line_strp:
        return string_at(u->file->sec[PGK_DW_LINE_STR], v->u);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        return u->file->alt ? string_at(u->file->alt->sec[PGK_DW_STR], v->u) : NULL;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        return indexed_string(u, v->u);
    default:
        return NULL;
    }
}

bool pgk_dw_indexed_address(const struct pgk_dw_unit *unit, uint64_t index, uint64_t *addr)
{
    const struct pgk_dw_unit *u = unit->skeleton;
    struct pgk_dw_bytes b = pgk_dw_from(u->file->sec[PGK_DW_ADDR], u->addr_base);
    if (index >= b.n / sizeof *addr)
        return false;
    memcpy(addr, b.p + index * sizeof *addr, sizeof *addr);
    return true;
}

bool pgk_dw_address(const struct pgk_dw_unit *u, const struct pgk_dw_value *v, uint64_t *addr)
{
    switch (v->form) {
    case DW_FORM_addr:
        *addr = v->u;
        return true;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
        return pgk_dw_indexed_address(u, v->u, addr);
    default:
        return false;
    }
}

bool pgk_dw_constant(const struct pgk_dw_value *v, uint64_t *n)
{
    switch (v->form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_implicit_const:
        *n = v->u;
        return true;
    default:
        return false;
    }
}

/* Before DWARF 4 offsets were written as plain numbers. */
bool pgk_dw_section_offset(const struct pgk_dw_value *v, uint64_t *off)
{
    if (v->form != DW_FORM_sec_offset && v->form != DW_FORM_data4 && v->form != DW_FORM_data8)
        return false;
    *off = v->u;
    return true;
}

static bool die_at(const struct pgk_dw_unit *u, uint64_t off, struct pgk_dw_die *die)
{
    if (!u || !u->usable || off < u->die || off >= u->end)
        return false;
    *die = (struct pgk_dw_die){u, off};
    return true;
}

bool pgk_dw_reference(const struct pgk_dw_unit *u, const struct pgk_dw_value *v,
                      struct pgk_dw_die *die)
{
    switch (v->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        return v->u < u->end - u->off && die_at(u, u->off + v->u, die);
    case DW_FORM_ref_addr:
        return die_at(pgk_dw_unit_at(u->file, v->u), v->u, die);
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
        return u->file->alt && die_at(pgk_dw_unit_at(u->file->alt, v->u), v->u, die);
    case DW_FORM_ref_sig8: {
        const struct pgk_dw_unit *t = pgk_dw_unit_by_signature(u->file, v->u);
        return t && die_at(t, t->type_die, die);
    }
    default:
        return false;
    }
}

bool pgk_dw_iter_start_in(struct pgk_dw_iter *it, const struct pgk_dw_unit *u, uint64_t off,
                          const struct pgk_dw_abbrevs *table)
{
    struct pgk_dw_bytes b = pgk_dw_unit_bytes(u);
    *it = (struct pgk_dw_iter){.unit = u};
    if (!table || off < u->die || off >= u->end)
        return false;
    it->pos = (struct pgk_dw_pos){b.p + off, b.p + u->end, false};
    uint64_t code = pgk_dw_uleb(&it->pos);
    it->abbrev = it->pos.bad ? NULL : pgk_dw_abbrev_find(table, code);
    if (!it->abbrev)
        return false;
    it->spec = table->specs.v + it->abbrev->spec;
    it->spec_end = it->spec + it->abbrev->n_specs;
    return true;
}

bool pgk_dw_iter_start(struct pgk_dw_iter *it, const struct pgk_dw_unit *u, uint64_t off)
{
    return pgk_dw_iter_start_in(it, u, off, pgk_dw_unit_abbrevs(u));
}

bool pgk_dw_iter_next(struct pgk_dw_iter *it)
{
    if (it->spec == it->spec_end)
        return false;
    const struct pgk_dw_spec *s = it->spec++;
    it->at = s->at;
    return pgk_dw_form_read(it->unit, s->form, s->implicit, &it->pos, &it->value);
}
