/* The virtual tables of a binary by address. */
#include "vtable_symbols.h"

#include "sample_model.h"
#include "search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

bool pgk_is_vtable_name(const char *name)
{
    return !strncmp(name, "_ZTV", 4);
}

size_t pgk_vtable_name_length(const char *name)
{
    return pgk_sample_drop_suffixes(name, strlen(name));
}

static int add(void *ctx, const struct pgk_elf_entry *e)
{
    struct pgk_vtable_symbols *symbols = ctx;
    if (e->type != STT_OBJECT || e->section == SHN_UNDEF || !pgk_is_vtable_name(e->name))
        return 0;
    const struct pgk_vtable_symbol s = {e->addr, e->size, e->name, pgk_vtable_name_length(e->name)};
    return pgk_vec_push(&symbols->list, s) ? 0 : PGK_E_NOMEM;
}

/* Of the names of one table the last one comes first. */
static int order(const void *a, const void *b)
{
    const struct pgk_vtable_symbol *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return strcmp(y->name, x->name);
}

bool pgk_vtable_symbols_open(struct pgk_vtable_symbols *symbols, const struct pgk_elf *elf)
{
    size_t n = 0;
    *symbols = (struct pgk_vtable_symbols){0};
    bool ok = !pgk_elf_entries(elf, add, symbols);
    struct pgk_vtable_symbol *v = symbols->list.v;
    if (symbols->list.n)
        qsort(v, symbols->list.n, sizeof *v, order);
    for (size_t i = 0; i < symbols->list.n; i++)
        if (!n || v[n - 1].addr != v[i].addr)
            v[n++] = v[i];
    symbols->list.n = n;
    return ok;
}

void pgk_vtable_symbols_free(struct pgk_vtable_symbols *symbols)
{
    pgk_vec_free(&symbols->list);
}

const struct pgk_vtable_symbol *pgk_vtable_symbol_at(const struct pgk_vtable_symbols *symbols,
                                                     uint64_t addr)
{
    PGK_SEARCH(after, symbols->list.n, mid, symbols->list.v[mid].addr <= addr)
    const struct pgk_vtable_symbol *s = after ? &symbols->list.v[after - 1] : NULL;
    return s && addr - s->addr < s->size ? s : NULL;
}
