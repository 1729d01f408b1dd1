/* The functions of a binary as llvm-bolt names and bounds them. docs/formats/bolt.md section 2 */
#include "bolt_functions.h"

#include "hash.h"
#include "index.h"
#include "search.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    uint64_t addr, size;
    const char *name;
    uint32_t section, order; /* order: in the table */
    bool function, local;
};

struct names { /* how many local symbols of a name there were */
    struct pgk_index index;
    PGK_VEC(struct counted { const char *name; uint32_t n; }) list;
};

struct reader {
    struct pgk_bolt_functions *f;
    const struct pgk_elf *elf;
    PGK_VEC(struct symbol) symbols;
    struct names names;
};

static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    struct reader *r = ctx;
    bool known = e->type == STT_FUNC || e->type == STT_GNU_IFUNC || e->type == STT_OBJECT ||
                 e->type == STT_NOTYPE || e->type == STT_TLS;
    if (!known || !*e->name || *e->name == '$' || e->section == SHN_UNDEF ||
        e->section >= pgk_elf_section_count(r->elf))
        return 0;
    struct symbol s = {.addr = e->addr, .size = e->size, .name = e->name, .section = e->section,
                       .order = (uint32_t)r->symbols.n, .local = e->local,
                       .function = e->type == STT_FUNC || e->type == STT_GNU_IFUNC};
    return pgk_vec_push(&r->symbols, s) ? 0 : PGK_E_NOMEM;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->function != y->function)
        return x->function ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static bool is_code(const struct reader *r, const struct symbol *s, uint64_t *end)
{
    struct pgk_elf_section_info section = pgk_elf_section_at(r->elf, s->section);
    *end = section.addr + section.size;
    return section.flags & SHF_EXECINSTR && section.flags & SHF_ALLOC && s->addr >= section.addr &&
           s->addr < *end;
}

/* Local symbols are numbered by name, from 1 on, in the order of their addresses. */
static uint32_t number_of(struct names *names, const char *name)
{
    uint64_t hash = pgk_hash_bytes(name, strlen(name));
    PGK_INDEX_FOR (&names->index, hash, i)
        if (!strcmp(names->list.v[i].name, name))
            return ++names->list.v[i].n;
    return pgk_vec_push(&names->list, (struct counted){name, 1}) &&
                   pgk_index_add(&names->index, hash, (uint32_t)names->list.n - 1)
               ? 1
               : 0;
}

/* NAME, or NAME/NUMBER of a local symbol; blanks and backslashes get a backslash before them. */
static const char *written_name(struct pgk_arena *arena, const char *name, uint32_t number)
{
    enum { DIGITS = 12 };
    char *text = pgk_arena_alloc(arena, 2 * strlen(name) + DIGITS, 1), *at = text;
    for (; text && *name; *at++ = *name++)
        if (*name == ' ' || *name == '\\')
            *at++ = '\\';
    if (text && number)
        snprintf(at, DIGITS, "/%u", number);
    else if (text)
        *at = 0;
    return text;
}

/* A symbol inside of a function is another entry of it, and no function. */
static bool add_code(struct reader *r, const struct symbol *s, uint64_t end, uint32_t number)
{
    struct pgk_bolt_functions *f = r->f;
    struct pgk_bolt_function *last = f->list.n ? &f->list.v[f->list.n - 1] : NULL;
    if (last && s->addr == last->low) {
        if (s->addr + s->size > last->high && s->size <= end - s->addr)
            last->high = s->addr + s->size;
        return true;
    }
    if (last && s->addr < last->high)
        return pgk_vec_push(&f->entries, s->addr);
    if (!s->function)
        return true;
    uint64_t size = s->size <= end - s->addr ? s->size : end - s->addr;
    struct pgk_bolt_function new = {.low = s->addr, .high = s->addr + size, .limit = end,
                                    .name = written_name(&f->arena, s->name, number)};
    if (last && last->limit > s->addr)
        last->limit = s->addr;
    return new.name && pgk_vec_push(&f->list, new);
}

static bool add_all(struct reader *r)
{
    uint64_t end;
    for (size_t i = 0; i < r->symbols.n; i++) {
        const struct symbol *s = &r->symbols.v[i];
        uint32_t number = s->local ? number_of(&r->names, s->name) : 0;
        if ((s->local && !number) || (is_code(r, s, &end) && !add_code(r, s, end, number)))
            return false;
    }
    for (size_t i = 0; i < r->f->list.n; i++) /* a symbol without a size */
        if (r->f->list.v[i].high == r->f->list.v[i].low)
            r->f->list.v[i].high = r->f->list.v[i].limit;
    return true;
}

static int compare_names(const void *a, const void *b, void *ctx)
{
    const struct pgk_bolt_function *v = ctx;
    return strcmp(v[*(const uint32_t *)a].name, v[*(const uint32_t *)b].name);
}

static bool rank(struct pgk_bolt_functions *f)
{
    if (!pgk_vec_reserve(&f->by_name, f->list.n))
        return false;
    for (uint32_t i = 0; i < f->list.n; i++)
        f->by_name.v[f->by_name.n++] = i;
    if (f->list.n)
        qsort_r(f->by_name.v, f->by_name.n, sizeof *f->by_name.v, compare_names, f->list.v);
    for (uint32_t i = 0; i < f->list.n; i++)
        f->list.v[f->by_name.v[i]].rank = i;
    return true;
}

int pgk_bolt_functions_open(struct pgk_bolt_functions *f, const struct pgk_elf *elf,
                            struct pgk_err *err)
{
    struct reader r = {.f = f, .elf = elf};
    *f = (struct pgk_bolt_functions){0};
    bool ok = !pgk_elf_entries(elf, add_symbol, &r);
    if (ok && r.symbols.n)
        qsort(r.symbols.v, r.symbols.n, sizeof *r.symbols.v, compare_symbols);
    ok = ok && add_all(&r) && rank(f);
    pgk_vec_free(&r.symbols);
    pgk_vec_free(&r.names.list);
    pgk_index_free(&r.names.index);
    if (ok && f->list.n)
        return 0;
    pgk_bolt_functions_close(f);
    return !ok ? pgk_fail_nomem(err)
               : pgk_fail(err, PGK_E_NODEBUG, .file = pgk_elf_path(elf), .format = "ELF",
                          .field = "symbols", .found = "none of a function",
                          .expected = "a symbol table, by which llvm-bolt knows functions",
                          .hint = "give the program before it was stripped, or its debug file "
                                  "with --debug-binary");
}

void pgk_bolt_functions_close(struct pgk_bolt_functions *f)
{
    pgk_vec_free(&f->list);
    pgk_vec_free(&f->by_name);
    pgk_vec_free(&f->entries);
    pgk_arena_free(&f->arena);
}

uint32_t pgk_bolt_functions_at(const struct pgk_bolt_functions *f, uint64_t addr)
{
    PGK_SEARCH(after, f->list.n, mid, f->list.v[mid].low <= addr)
    return after && addr < f->list.v[after - 1].limit ? (uint32_t)after - 1
                                                     : PGK_BOLT_NO_FUNCTION;
}
