/* Functions of a build from its symbols and debug information: sizes, places, ticks. */
#include "built_code.h"

#include "functions.h"
#include "saturate.h"
#include "search.h"

#include <elf.h>
#include <stdlib.h>

struct symbol {
    uint64_t addr, size;
    const char *name;
    uint32_t order; /* in the table */
};

struct symbols {
    const struct pgk_elf *elf;
    PGK_VEC(struct symbol) list;
    uint64_t base; /* where the code begins */
};

static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    struct symbols *s = ctx;
    if ((e->type != STT_FUNC && e->type != STT_GNU_IFUNC) || !*e->name || !e->size ||
        e->section == SHN_UNDEF || e->section >= pgk_elf_section_count(s->elf))
        return 0;
    const struct pgk_elf_section_info section = pgk_elf_section_at(s->elf, e->section);
    if (!(section.flags & SHF_EXECINSTR) || e->addr < section.addr ||
        e->addr - section.addr >= section.size)
        return 0;
    const uint64_t left = section.size - (e->addr - section.addr);
    const struct symbol new = {e->addr, e->size < left ? e->size : left, e->name,
                               (uint32_t)s->list.n};
    s->base = e->addr < s->base ? e->addr : s->base;
    return pgk_vec_push(&s->list, new) ? 0 : PGK_E_NOMEM;
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Several names of one address are one function. */
static void drop_aliases(struct symbols *s)
{
    size_t kept = 0;
    if (s->list.n)
        qsort(s->list.v, s->list.n, sizeof *s->list.v, by_address);
    for (size_t i = 0; i < s->list.n; i++)
        if (!kept || s->list.v[kept - 1].addr != s->list.v[i].addr)
            s->list.v[kept++] = s->list.v[i];
    s->list.n = kept;
}

/* Chains of the addresses, which live in the arena; all empty without debug information. */
static int read_chains(struct pgk_binaries *binaries, uint32_t binary, const uint64_t *addrs,
                       size_t n, unsigned threads, struct pgk_arena *arena,
                       struct pgk_sym_chain **chains, struct pgk_err *err)
{
    struct pgk_symboliser *sym;
    struct pgk_err why = {0};
    *chains = pgk_mem_zalloc(n + 1, sizeof **chains);
    if (!*chains)
        return pgk_fail_nomem(err);
    const int status = pgk_binaries_symboliser(binaries, binary, &sym, &why);
    if (!status)
        return pgk_symbolise_copies(sym, addrs, n, threads, arena, *chains, err);
    if (status != PGK_E_NODEBUG && err)
        *err = why;
    return status == PGK_E_NODEBUG ? 0 : status;
}

static bool has_part(const char *name, const char *part)
{
    const char *at = strstr(name, part);
    const size_t n = strlen(part);
    return at && (!at[n] || at[n] == '.' || part[n - 1] == '.');
}

/* Debug information has the name that profiles have, also for a clone or another entry. */
static bool add_function(struct pgk_built *b, uint32_t binary, const struct symbols *s,
                         const struct symbol *sym, const struct pgk_sym_chain *chain)
{
    const char *known = chain->count ? chain->frames[chain->count - 1].function : NULL;
    const char *name = known ? known : sym->name;
    struct pgk_built_function *f = pgk_built_function(b, name, pgk_symbol_length(name));
    if (!f)
        return false;
    const bool is_cold = has_part(sym->name, ".cold"), is_part = has_part(sym->name, ".part.");
    f->bytes = pgk_add_saturated(f->bytes, sym->size);
    if (is_cold)
        f->cold_bytes = pgk_add_saturated(f->cold_bytes, sym->size);
    else if (is_part)
        f->part_bytes = pgk_add_saturated(f->part_bytes, sym->size);
    else if (sym->addr - s->base < f->place) {
        f->place = sym->addr - s->base;
        f->binary = binary;
    }
    return true;
}

int pgk_built_add_code(struct pgk_built *b, struct pgk_binaries *binaries, uint32_t binary,
                       unsigned threads, struct pgk_err *err)
{
    struct symbols s = {.elf = pgk_binaries_elf(binaries, binary), .base = UINT64_MAX};
    struct pgk_sym_chain *chains = NULL;
    struct pgk_arena arena = {0};
    PGK_VEC(uint64_t) addrs = {0};
    bool ok = !pgk_elf_entries(s.elf, add_symbol, &s);
    drop_aliases(&s);
    for (size_t i = 0; ok && i < s.list.n; i++)
        ok = pgk_vec_push(&addrs, s.list.v[i].addr);
    int status = ok ? read_chains(binaries, binary, addrs.v, addrs.n, threads, &arena, &chains, err)
                    : pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < s.list.n; i++)
        if (!add_function(b, binary, &s, &s.list.v[i], &chains[i]))
            status = pgk_fail_nomem(err);
    pgk_vec_free(&s.list);
    pgk_vec_free(&addrs);
    pgk_mem_free(chains);
    pgk_arena_free(&arena);
    return status;
}

/* ---- ticks ---- */

/* The symbol at an address; NULL: none. `symbols` are without aliases. */
static const char *symbol_at(const struct symbols *s, uint64_t addr)
{
    PGK_SEARCH(after, s->list.n, mid, s->list.v[mid].addr <= addr)
    const struct symbol *at = after ? &s->list.v[after - 1] : NULL;
    return at && addr - at->addr < at->size ? at->name : NULL;
}

/* The innermost frame has the code, whatever it is inlined into. */
static bool add_tick(struct pgk_built *b, const struct symbols *s, uint64_t addr, uint64_t count,
                     const struct pgk_sym_chain *chain)
{
    const char *name = chain->count ? chain->frames[0].function : symbol_at(s, addr);
    struct pgk_built_function *f =
        pgk_built_function(b, name ? name : "", name ? pgk_symbol_length(name) : 0);
    if (!f)
        return false;
    f->ticks = pgk_add_saturated(f->ticks, count);
    if (chain->count > 1)
        f->ticks_away = pgk_add_saturated(f->ticks_away, count);
    return true;
}

int pgk_built_add_ticks(struct pgk_built *b, struct pgk_binaries *binaries, uint32_t binary,
                        const struct pgk_built_ticks *ticks, unsigned threads, struct pgk_err *err)
{
    struct symbols s = {.elf = pgk_binaries_elf(binaries, binary), .base = UINT64_MAX};
    struct pgk_sym_chain *chains = NULL;
    struct pgk_arena arena = {0};
    int status = pgk_elf_entries(s.elf, add_symbol, &s) ? pgk_fail_nomem(err) : 0;
    drop_aliases(&s);
    if (!status)
        status = read_chains(binaries, binary, ticks->addrs.v, ticks->addrs.n, threads, &arena,
                             &chains, err);
    for (size_t i = 0; !status && i < ticks->addrs.n; i++)
        if (!add_tick(b, &s, ticks->addrs.v[i], ticks->counts.v[i], &chains[i]))
            status = pgk_fail_nomem(err);
    pgk_vec_free(&s.list);
    pgk_mem_free(chains);
    pgk_arena_free(&arena);
    return status;
}
