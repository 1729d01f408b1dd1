/* Functions of a binary as a linker can move them: each with all its names. */
#include "layout_functions.h"

#include "fail.h"
#include "search.h"

#include <elf.h>
#include <stdlib.h>

struct symbol {
    uint64_t low, high;
    const char *name;
    uint32_t order; /* in the table */
};
typedef PGK_VEC(struct symbol) symbols;

struct reader {
    const struct pgk_elf *elf;
    symbols symbols;
};

static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    struct reader *r = ctx;
    if ((e->type != STT_FUNC && e->type != STT_GNU_IFUNC) || !*e->name ||
        e->section == SHN_UNDEF || e->section >= pgk_elf_section_count(r->elf))
        return 0;
    struct pgk_elf_section_info section = pgk_elf_section_at(r->elf, e->section);
    uint64_t end = section.addr + section.size;
    if (!(section.flags & SHF_EXECINSTR) || e->addr < section.addr || e->addr >= end)
        return 0;
    uint64_t size = e->size < end - e->addr ? e->size : end - e->addr;
    struct symbol s = {e->addr, e->addr + size, e->name, (uint32_t)r->symbols.n};
    return pgk_vec_push(&r->symbols, s) ? 0 : PGK_E_NOMEM;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* A symbol within a function is another entry of it. One without a size reaches to the next. */
static bool add_function(struct pgk_layout_functions *f, const symbols *all, size_t i)
{
    const struct symbol *s = &all->v[i];
    struct pgk_layout_function *last = f->list.n ? &f->list.v[f->list.n - 1] : NULL;
    bool same = last && last->low == s->low;
    if (last && !same && s->low < last->high)
        return true;
    if (!pgk_vec_push(&f->names, s->name))
        return false;
    if (same) {
        last->high = s->high > last->high ? s->high : last->high;
        last->n_names++;
        return true;
    }
    uint64_t high = s->high > s->low    ? s->high
                    : i + 1 < all->n ? all->v[i + 1].low
                                     : s->low + 1;
    struct pgk_layout_function new = {s->low, high, (uint32_t)f->names.n - 1, 1};
    return pgk_vec_push(&f->list, new);
}

int pgk_layout_functions_open(struct pgk_layout_functions *f, const struct pgk_elf *elf,
                              struct pgk_err *err)
{
    struct reader r = {.elf = elf};
    *f = (struct pgk_layout_functions){0};
    bool ok = !pgk_elf_entries(elf, add_symbol, &r);
    if (ok && r.symbols.n)
        qsort(r.symbols.v, r.symbols.n, sizeof *r.symbols.v, compare_symbols);
    for (size_t i = 0; ok && i < r.symbols.n; i++)
        ok = add_function(f, &r.symbols, i);
    pgk_vec_free(&r.symbols);
    if (ok && f->list.n)
        return 0;
    pgk_layout_functions_close(f);
    return !ok ? pgk_fail_nomem(err)
               : pgk_fail(err, PGK_E_NODEBUG, .file = pgk_elf_path(elf), .format = "ELF",
                          .field = "symbols", .found = "none of a function",
                          .expected = "a symbol table, by which linkers know functions",
                          .hint = "give the program before it was stripped, or its debug file "
                                  "with --debug-binary");
}

void pgk_layout_functions_close(struct pgk_layout_functions *f)
{
    pgk_vec_free(&f->list);
    pgk_vec_free(&f->names);
}

uint32_t pgk_layout_function_at(const struct pgk_layout_functions *f, uint64_t addr)
{
    PGK_SEARCH(after, f->list.n, mid, f->list.v[mid].low <= addr)
    return after && addr < f->list.v[after - 1].high ? (uint32_t)after - 1 : PGK_LAYOUT_NONE;
}
