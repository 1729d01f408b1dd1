/* Variables of static storage: those whose place is an address, wherever they are declared, in a
 * function, too. */
#include "dwarf_priv.h"

#include <dwarf.h>

/* A place that is an address and nothing else. Those of a thread and those that were optimised
 * away have other expressions. */
static bool static_address(const struct pgk_dw_unit *u, const struct pgk_dw_value *place,
                           uint64_t *addr)
{
    if (place->form != DW_FORM_exprloc && place->form != DW_FORM_block1)
        return false;
    struct pgk_dw_pos at = {place->p, place->p + place->u, false};
    switch (pgk_dw_uint(&at, 1)) {
    case DW_OP_addr:
        *addr = pgk_dw_uint(&at, u->addr_size);
        break;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        if (!pgk_dw_indexed_address(u, pgk_dw_uleb(&at), addr))
            return false;
        break;
    default:
        return false;
    }
    return !at.bad && at.p == at.end;
}

int pgk_dw_unit_variables(const struct pgk_dw_unit *u, pgk_dw_variable_fn *fn, void *ctx)
{
    struct pgk_dw_bytes b = pgk_dw_unit_bytes(u);
    struct pgk_dw_iter it;
    for (uint64_t off = u->die; off < u->end; off = (uint64_t)(it.pos.p - b.p)) {
        struct pgk_dw_value place = {0};
        uint64_t addr;
        if (!pgk_dw_iter_start(&it, u, off)) {
            if (b.p[off]) /* damaged; a null entry ends a list of children */
                return 0;
            continue;
        }
        bool variable = it.abbrev->tag == DW_TAG_variable;
        while (pgk_dw_iter_next(&it))
            if (it.at == DW_AT_location)
                place = it.value;
        if (it.pos.bad)
            return 0;
        if (variable && static_address(u, &place, &addr)) {
            int status = fn(ctx, addr, (struct pgk_dw_die){u, off});
            if (status)
                return status;
        }
    }
    return 0;
}
