/* Functions by the symbols of a file. */
#include "symbol_names.h"

#include "search.h"

static bool is_own_function(const struct pgk_elf_sym *s)
{
    return s->function && s->addr && *s->name;
}

bool pgk_symbol_names_any(const struct pgk_elf *elf)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    if (pgk_elf_symbols(elf, &syms, &n, NULL))
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_own_function(&syms[i]))
            return true;
    return false;
}

/* The innermost function that covers the address; NULL none. Symbols of assembly may have no
 * size, and reach to the next one, unless only `sized` ones count. */
static const struct pgk_elf_sym *covering(const struct pgk_elf_sym *syms, size_t n, uint64_t addr,
                                          bool sized)
{
    PGK_SEARCH(low, n, mid, syms[mid].addr <= addr)
    while (low && !is_own_function(&syms[low - 1]))
        low--;
    const struct pgk_elf_sym *s = low ? &syms[low - 1] : NULL;
    return s && ((!s->size && !sized) || addr - s->addr < s->size) ? s : NULL;
}

int pgk_symbol_names_chains(const struct pgk_elf *elf, const uint64_t *addrs, size_t count,
                            bool by_symbol, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                            struct pgk_err *err)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, err));
    for (size_t i = 0; i < count; i++) {
        const struct pgk_elf_sym *s = covering(syms, n, addrs[i], by_symbol);
        chains[i] = (struct pgk_sym_chain){0};
        if (!s)
            continue;
        struct pgk_sym_frame *frame = pgk_arena_alloc(arena, 1, sizeof *frame);
        if (!frame)
            return pgk_fail_nomem(err);
        *frame = (struct pgk_sym_frame){.function = s->name, .by_symbol = by_symbol};
        chains[i] = (struct pgk_sym_chain){frame, 1};
    }
    return 0;
}

/* A file that is linked from one source or two; a symbol farther away says nothing. */
enum { NEAR_BYTES = 64 << 10 };

const char *pgk_symbol_names_near(const struct pgk_elf *elf, uint64_t addr)
{
    const struct pgk_elf_sym *syms;
    size_t n, before, after;
    if (pgk_elf_symbols(elf, &syms, &n, NULL))
        return "";
    PGK_SEARCH(low, n, mid, syms[mid].addr <= addr)
    for (before = low; before && !is_own_function(&syms[before - 1]);)
        before--;
    for (after = low; after < n && !is_own_function(&syms[after]);)
        after++;
    const uint64_t up = after < n ? syms[after].addr - addr : UINT64_MAX,
                   down = before ? addr - syms[before - 1].addr : UINT64_MAX;
    if (up > NEAR_BYTES && down > NEAR_BYTES)
        return "";
    return up < down ? syms[after].name : syms[before - 1].name;
}

int pgk_symbol_names_functions(const struct pgk_elf *elf, pgk_sym_function_fn *fn, void *ctx,
                               struct pgk_err *err)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, err));
    for (size_t i = 0; i < n; i++)
        if (is_own_function(&syms[i]))
            PGK_TRY(fn(ctx, &(struct pgk_sym_function){.name = syms[i].name}));
    return 0;
}
