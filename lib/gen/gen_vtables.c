/* Types of objects: which vtable it is that an address is in. */
#include "gen_vtables.h"

#include <inttypes.h>

int pgk_gen_need_vtables(struct pgk_gen_binary *b, struct pgk_err *err)
{
    if (!b->has_vtables && !pgk_vtable_symbols_open(&b->vtables, b->elf))
        return pgk_fail_nomem(err);
    b->has_vtables = true;
    return 0;
}

int pgk_gen_find_vtable(struct pgk_gen *g, struct pgk_gen_place data, uint32_t *name)
{
    struct pgk_gen_binary *b = &g->images.v[data.binary];
    *name = 0;
    PGK_TRY(pgk_gen_need_vtables(b, g->err));
    const struct pgk_vtable_symbol *table = pgk_vtable_symbol_at(&b->vtables, data.addr);
    if (table) {
        *name = pgk_sample_name(g->profile, table->name, table->len);
        return *name ? 0 : pgk_fail_nomem(g->err);
    }
    pgk_gen_example(&g->stats, PGK_GEN_NO_VTABLE, "0x%" PRIx64 " in %s", data.addr,
                    pgk_elf_path(b->elf));
    return 0;
}
