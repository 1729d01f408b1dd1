/* Functions of a binary by address. */
#include "functions.h"

#include "hash.h"
#include "index.h"
#include "mem.h"
#include "sample_names.h"
#include "search.h"

#include <stdlib.h>
#include <string.h>

/* The suffixes in this order, each at the last place where it stands, and only if it ends the name
 * but for a number. */
size_t pgk_symbol_length(const char *name)
{
    static const char *const suffixes[] = {".cleanup",    ".destroy",  ".resume", ".cold",
                                           ".warm",       ".llvm.",    ".part.",  ".isra.",
                                           ".constprop.", ".lto_priv."};
    size_t len = strlen(name);
    for (size_t i = 0; i < PGK_COUNTOF(suffixes); i++) {
        size_t n = strlen(suffixes[i]);
        const char *last = NULL, *dot = memrchr(name, '.', len);
        for (const char *p = name; (p = memmem(p, len - (size_t)(p - name), suffixes[i], n)); p++)
            last = p;
        if (last && (dot == last || dot == last + n - 1))
            len = (size_t)(last - name);
    }
    return len;
}

static uint32_t function_of(struct pgk_functions *f, struct pgk_index *by_name, const char *name)
{
    uint64_t hash = pgk_hash_bytes(name, strlen(name));
    PGK_INDEX_FOR (by_name, hash, i)
        if (!strcmp(f->functions.v[i].name, name))
            return i;
    uint32_t added = (uint32_t)f->functions.n;
    return pgk_vec_push(&f->functions, (struct pgk_function){.name = name}) &&
                   pgk_index_add(by_name, hash, added)
               ? added
               : PGK_INDEX_NONE;
}

struct ordered {
    struct pgk_sym_code code; /* begins with its lowest address */
    size_t order;
};

typedef PGK_VEC(struct ordered) ordered_vec;

typedef struct {
    PGK_VEC(uint64_t) addrs;
    PGK_VEC(size_t) first;
} folded_vec;

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->code.low != y->code.low)
        return x->code.low < y->code.low ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Ranges by address; the first of those that start at one address stays. */
static int add_ranges(struct pgk_functions *f, const ordered_vec *all, struct pgk_err *err)
{
    const struct ordered *v = all->v;
    size_t n = all->n;
    struct pgk_index by_name = {0};
    int status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        if (i && v[i].code.low == v[i - 1].code.low) {
            f->same_start++;
            continue;
        }
        uint32_t function = function_of(f, &by_name, v[i].code.function);
        struct pgk_function_range r = {v[i].code.low, v[i].code.high, function, false};
        if (function == PGK_INDEX_NONE || !pgk_vec_push(&f->ranges, r))
            status = pgk_fail_nomem(err);
        else
            f->functions.v[function].n++;
    }
    pgk_index_free(&by_name);
    return status;
}

/* The ranges of each function, one after the other. */
static int group(struct pgk_functions *f, struct pgk_err *err)
{
    uint32_t first = 0;
    if (!pgk_vec_reserve(&f->by_function, f->ranges.n))
        return pgk_fail_nomem(err);
    f->by_function.n = f->ranges.n;
    for (size_t i = 0; i < f->functions.n; i++) {
        f->functions.v[i].first = first;
        first += f->functions.v[i].n;
        f->functions.v[i].n = 0;
    }
    for (size_t i = 0; i < f->ranges.n; i++) {
        struct pgk_function *function = &f->functions.v[f->ranges.v[i].function];
        f->by_function.v[function->first + function->n++] = (uint32_t)i;
    }
    return 0;
}

/* Length of the name of the function that a symbol enters: clones that gcc made have its code. */
static size_t length_of_entered(const char *name)
{
    static const char *const clones[] = {".isra.", ".constprop.", ".lto_priv."};
    size_t len = strlen(name), plain;
    while ((plain = pgk_sample_drop_numbered(name, len, clones, PGK_COUNTOF(clones))) < len)
        len = plain;
    return pgk_sample_drop_suffixes(name, len);
}

/* A symbol says that a range is entered: always if it is the function's only one, else if it is
 * the symbol of that name, so that the cold part of a split function does not count. */
static int mark_entry(void *ctx, const struct pgk_elf_entry *e)
{
    struct pgk_functions *f = ctx;
    struct pgk_function_range *r =
        (struct pgk_function_range *)(uintptr_t)pgk_functions_at(f, e->addr);
    if (!r || r->is_entry)
        return 0;
    const struct pgk_function *function = &f->functions.v[r->function];
    size_t len = length_of_entered(e->name);
    r->is_entry = function->n == 1 ||
                  (strlen(function->name) == len && !memcmp(function->name, e->name, len));
    return 0;
}

struct symbols {
    struct pgk_functions *f;
    ordered_vec *all;
    size_t n_debug; /* of `all`, which are of debug information and sorted */
};

/* The number of records, of `n` that are `size` bytes apart and ascending by the address that each
 * begins with, that start at `addr` or before. */
static size_t count_up_to(const void *records, size_t n, size_t size, uint64_t addr)
{
    uint64_t start;
    PGK_SEARCH(count, n, mid,
               (memcpy(&start, (const char *)records + mid * size, sizeof start), start <= addr))
    return count;
}

static bool is_inside(const ordered_vec *all, size_t n, uint64_t addr)
{
    size_t before = count_up_to(all->v, n, sizeof *all->v, addr);
    return before && addr < all->v[before - 1].code.high;
}

static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    enum { FUNCTION = 2 }; /* STT_FUNC */
    struct symbols *s = ctx;
    if (e->type != FUNCTION || !e->size || !e->section || !*e->name ||
        is_inside(s->all, s->n_debug, e->addr))
        return 0;
    char *name = pgk_arena_copy(&s->f->arena, e->name, pgk_symbol_length(e->name));
    struct pgk_sym_code code = {e->addr, e->addr + e->size, name};
    return name && pgk_vec_push(s->all, (struct ordered){code, s->all->n}) ? 0 : PGK_E_NOMEM;
}

static int add_debug(struct pgk_functions *f, struct pgk_symboliser *sym, const uint64_t *addrs,
                     size_t n, unsigned threads, ordered_vec *all, struct pgk_err *err)
{
    struct pgk_sym_code *code;
    size_t n_code;
    PGK_TRY(pgk_symboliser_code(sym, addrs, n, threads, &f->arena, &code, &n_code, err));
    for (size_t i = 0; i < n_code; i++)
        if (code[i].function && !pgk_vec_push(all, (struct ordered){code[i], i}))
            return pgk_fail_nomem(err);
    return 0;
}

static void sort_ordered(ordered_vec *all)
{
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, compare_ordered);
}

/* Addresses at which several functions begin, because a linker folded them into one. `first` of
 * each is the position of the first function. */
static bool list_folded(const ordered_vec *all, folded_vec *folded)
{
    for (size_t i = 1; i < all->n; i++) {
        const bool again = all->v[i].code.low == all->v[i - 1].code.low;
        if (again && (i < 2 || all->v[i - 2].code.low != all->v[i].code.low) &&
            (!pgk_vec_push(&folded->addrs, all->v[i].code.low) ||
             !pgk_vec_push(&folded->first, i - 1)))
            return false;
    }
    return true;
}

/* The name that is entered is the one that lines of the code are of. */
static int name_folded(struct pgk_functions *f, struct pgk_symboliser *sym, unsigned threads,
                       ordered_vec *all, struct pgk_err *err)
{
    folded_vec folded = {0};
    struct pgk_sym_chain *chains = NULL;
    int status = list_folded(all, &folded) ? 0 : pgk_fail_nomem(err);
    const size_t n = folded.addrs.n;
    if (!status && n && !(chains = pgk_mem_alloc(n, sizeof *chains)))
        status = pgk_fail_nomem(err);
    if (!status && n)
        status = pgk_symbolise_copies(sym, folded.addrs.v, n, threads, &f->arena, chains, err);
    for (size_t i = 0; i < n && !status; i++) {
        const struct pgk_sym_chain *c = &chains[i];
        if (c->count && c->frames[c->count - 1].function)
            all->v[folded.first.v[i]].code.function = c->frames[c->count - 1].function;
    }
    pgk_mem_free(chains);
    pgk_vec_free(&folded.addrs);
    pgk_vec_free(&folded.first);
    return status;
}

int pgk_functions_open(struct pgk_functions *f, struct pgk_symboliser *sym,
                       const struct pgk_elf *elf, bool symbols, const uint64_t *addrs, size_t n,
                       unsigned threads, struct pgk_err *err)
{
    ordered_vec all = {0};
    *f = (struct pgk_functions){0};
    int status = sym ? add_debug(f, sym, addrs, n, threads, &all, err) : 0;
    sort_ordered(&all);
    if (!status && sym)
        status = name_folded(f, sym, threads, &all, err);
    if (!status && symbols) {
        if (pgk_elf_entries(elf, add_symbol, &(struct symbols){f, &all, all.n}))
            status = pgk_fail_nomem(err);
        sort_ordered(&all);
    }
    if (!status)
        status = add_ranges(f, &all, err);
    if (!status)
        status = group(f, err);
    if (!status)
        (void)pgk_elf_entries(elf, mark_entry, f);
    pgk_vec_free(&all);
    if (status)
        pgk_functions_close(f);
    return status;
}

void pgk_functions_close(struct pgk_functions *f)
{
    pgk_arena_free(&f->arena);
    pgk_vec_free(&f->ranges);
    pgk_vec_free(&f->by_function);
    pgk_vec_free(&f->functions);
}

const struct pgk_function_range *pgk_functions_at(const struct pgk_functions *f, uint64_t addr)
{
    size_t before = count_up_to(f->ranges.v, f->ranges.n, sizeof *f->ranges.v, addr);
    const struct pgk_function_range *r = before ? &f->ranges.v[before - 1] : NULL;
    return r && addr < r->high ? r : NULL;
}

const struct pgk_function *pgk_functions_entered(const struct pgk_functions *f, uint64_t addr)
{
    const struct pgk_function_range *r = pgk_functions_at(f, addr);
    return r && r->low == addr && r->is_entry ? &f->functions.v[r->function] : NULL;
}
