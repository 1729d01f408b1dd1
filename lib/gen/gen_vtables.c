/* Types of objects: which vtable it is that an address is in. */
#include "gen_vtables.h"

#include "search.h"

#include <inttypes.h>
#include <string.h>

static bool is_vtable(const struct pgk_elf_sym *sym)
{
    return !sym->function && !strncmp(sym->name, "_ZTV", 4);
}

int pgk_gen_find_vtable(struct pgk_gen *g, struct pgk_gen_place data, uint32_t *name)
{
    const struct pgk_elf *elf = g->v.v[data.binary].elf;
    const struct pgk_elf_sym *syms;
    size_t n;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, g->err));
    PGK_SEARCH(behind, n, mid, syms[mid].addr <= data.addr)
    *name = 0;
    for (size_t i = behind; i-- && data.addr - syms[i].addr < syms[i].size;) {
        if (!is_vtable(&syms[i]))
            continue;
        *name = pgk_sample_name(g->profile, syms[i].name, strlen(syms[i].name));
        return *name ? 0 : pgk_fail_nomem(g->err);
    }
    pgk_gen_example(&g->stats, PGK_GEN_NO_VTABLE, "0x%" PRIx64 " in %s", data.addr,
                    pgk_elf_path(elf));
    return 0;
}
