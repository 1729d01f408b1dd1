/* Virtual tables: each begins with offsets, ends its head with the object's type, and continues
 * with functions; tables of second bases follow it in one symbol. */
#include "vtables.h"

#include "data_words.h"
#include "search.h"

#include <elf.h>
#include <stdlib.h>

enum { WORD = PGK_WORD, HEAD = 2 * WORD /* offset to the whole object, type */ };

struct type { /* a symbol _ZTI... */
    uint64_t at, size;
};

struct table { /* of a whole object */
    uint64_t type, slots; /* slots: bytes of functions */
};

struct tables {
    struct pgk_vtables *into;
    struct pgk_data_words data;
    PGK_VEC(struct type) types; /* ascending, once all are there */
    PGK_VEC(struct table) tables; /* ascending, once sorted */
    uint64_t words; /* of tables that were read */
    bool ok;
};

static int compare_entries(const void *a, const void *b)
{
    const struct pgk_vtable_entry *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int compare_families(const void *a, const void *b)
{
    const struct pgk_vtable_entry *x = a, *y = b;
    int order = compare_entries(a, b);
    return order ? order : x->family < y->family ? -1 : x->family > y->family;
}

static bool is_object(const struct pgk_elf_entry *e, const char *prefix)
{
    return !strncmp(e->name, prefix, 4) && e->section != SHN_UNDEF;
}

static int add_type(void *ctx, const struct pgk_elf_entry *e)
{
    struct tables *t = ctx;
    t->ok = !is_object(e, "_ZTI") || pgk_vec_push(&t->types, (struct type){e->addr, e->size});
    return !t->ok;
}

static int compare_types(const void *a, const void *b)
{
    const struct type *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

static const struct type *find_type(const struct tables *t, uint64_t addr)
{
    PGK_SEARCH(low, t->types.n, mid, t->types.v[mid].at < addr)
    return low < t->types.n && t->types.v[low].at == addr ? &t->types.v[low] : NULL;
}

static bool is_type(const struct tables *t, uint64_t addr)
{
    return find_type(t, addr) != NULL;
}

/* A small negative number: the offset of a second base in the whole object. */
static bool is_offset(uint64_t word)
{
    enum { LARGEST_OBJECT_BITS = 24 };
    return word >> LARGEST_OBJECT_BITS == UINT64_MAX >> LARGEST_OBJECT_BITS;
}

/* A word of a type; 0 after its end, where other data may follow. */
static uint64_t word_of(struct tables *t, uint64_t addr, uint64_t off)
{
    const struct type *type = find_type(t, addr);
    return type && off + WORD <= type->size ? pgk_data_word(&t->data, addr + off) : 0;
}

/* For a type: the only base or, after flags, the first of a list, whose items end with flags. */
enum { SINGLE = 2 * WORD, FIRST = 3 * WORD, ITEM = 2 * WORD, MOST_BASES = 64 };
enum { VIRTUAL = 1, OFFSET_SHIFT = 8 };

/* The base that holds offset `*off` of an object; `*off` becomes the offset in the base. 0: none
 * that is known. */
static uint64_t base_around(struct tables *t, uint64_t type, uint64_t *off)
{
    uint64_t base = word_of(t, type, SINGLE), found = 0, begin = 0;
    if (is_type(t, base))
        return base;
    for (uint64_t item = FIRST; is_type(t, base = word_of(t, type, item)); item += ITEM) {
        uint64_t flags = word_of(t, type, item + WORD), at = flags >> OFFSET_SHIFT;
        if (flags & VIRTUAL || at > *off || (found && at < begin))
            continue;
        found = base;
        begin = at;
    }
    *off -= begin;
    return found;
}

/* The base that begins at offset `off` of an object; 0: none that is known. */
static uint64_t base_at(struct tables *t, uint64_t type, uint64_t off)
{
    for (int i = 0; i < MOST_BASES && type && off; i++)
        type = base_around(t, type, &off);
    return off ? 0 : type;
}

static int add_table(void *ctx, const struct pgk_elf_entry *e)
{
    enum { MOST_WORDS = 1 << 22 }; /* of all together: the largest programs have a quarter */
    struct tables *t = ctx;
    uint64_t start = e->addr + HEAD, words = e->size / WORD;
    if (!is_object(e, "_ZTV") || words > MOST_WORDS - t->words ||
        !pgk_data_words_have(&t->data, e->addr))
        return 0;
    t->words += words;
    uint64_t type = 0, owner = 0, whole = start, off = 0;
    for (uint64_t i = 0, at = e->addr; i < words; i++, at += WORD) {
        uint64_t word = pgk_data_word(&t->data, at);
        if (is_offset(word)) {
            start = at + HEAD;
            off = -word;
        } else if (is_type(t, word)) {
            whole = type ? whole : at + WORD;
            type = word;
            owner = base_at(t, type, off);
            owner = owner ? owner : at + WORD; /* the table for itself */
            start = at + WORD;
        } else if (word && !pgk_is_foreign(word) && at >= start) {
            t->ok &= pgk_vec_push(&t->into->list,
                                  (struct pgk_vtable_entry){at - start, word, owner});
            if (start == whole && type)
                t->ok &= pgk_vec_push(&t->tables, (struct table){type, at - start + WORD});
        }
    }
    return !t->ok;
}

/* ---- families ---- */

static int compare_tables(const void *a, const void *b)
{
    const struct table *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return x->slots > y->slots ? -1 : x->slots < y->slots;
}

/* Only the largest of each type is left. */
static void sort_tables(struct tables *t)
{
    size_t n = 0;
    if (t->tables.n)
        qsort(t->tables.v, t->tables.n, sizeof *t->tables.v, compare_tables);
    for (size_t i = 0; i < t->tables.n; i++)
        if (!n || t->tables.v[n - 1].type != t->tables.v[i].type)
            t->tables.v[n++] = t->tables.v[i];
    t->tables.n = n;
}

static uint64_t slots_of(const struct tables *t, uint64_t type)
{
    PGK_SEARCH(low, t->tables.n, mid, t->tables.v[mid].type < type)
    return low < t->tables.n && t->tables.v[low].type == type ? t->tables.v[low].slots : 0;
}

/* The base that an object begins with, whose table it continues; 0: none that is known. */
static uint64_t base_of(struct tables *t, uint64_t type)
{
    uint64_t base = word_of(t, type, SINGLE), flags = word_of(t, type, FIRST + WORD);
    if (is_type(t, base))
        return base;
    base = word_of(t, type, FIRST);
    return is_type(t, base) && !(flags >> OFFSET_SHIFT) && !(flags & VIRTUAL) ? base : 0;
}

/* The furthest base that has the slot. Tables of abstract types are often left out by linkers: then
 * the nearest base is taken to have it. */
static uint64_t family_of(struct tables *t, uint64_t type, uint64_t slot)
{
    uint64_t root = type, base = type;
    for (int i = 0; i < MOST_BASES && (base = base_of(t, base)) != 0; i++) {
        uint64_t slots = slots_of(t, base);
        if (slots && slots <= slot)
            break;
        if (slots || root == type)
            root = base;
    }
    return root;
}

static void find_families(struct tables *t)
{
    for (size_t i = 0; i < t->into->list.n; i++) {
        struct pgk_vtable_entry *e = &t->into->list.v[i];
        if (slots_of(t, e->family) > e->slot)
            e->family = family_of(t, e->family, e->slot);
    }
}

static void sort(struct pgk_vtables *vtables)
{
    size_t n = 0;
    if (!vtables->list.n)
        return;
    qsort(vtables->list.v, vtables->list.n, sizeof *vtables->list.v, compare_families);
    for (size_t i = 0; i < vtables->list.n; i++)
        if (!n || compare_entries(&vtables->list.v[n - 1], &vtables->list.v[i]) ||
            vtables->list.v[n - 1].family != vtables->list.v[i].family)
            vtables->list.v[n++] = vtables->list.v[i];
    vtables->list.n = n;
}

int pgk_vtables_read(struct pgk_vtables *vtables, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct tables t = {.into = vtables, .ok = true};
    bool ok = pgk_data_words_open(&t.data, elf) && !pgk_elf_entries(elf, add_type, &t);
    if (t.types.n)
        qsort(t.types.v, t.types.n, sizeof *t.types.v, compare_types);
    ok = ok && !pgk_elf_entries(elf, add_table, &t);
    sort_tables(&t);
    find_families(&t);
    pgk_data_words_free(&t.data);
    pgk_vec_free(&t.tables);
    pgk_vec_free(&t.types);
    sort(vtables);
    return ok ? 0 : pgk_fail_nomem(err);
}

void pgk_vtables_free(struct pgk_vtables *vtables)
{
    pgk_vec_free(&vtables->list);
}

const struct pgk_vtable_entry *pgk_vtables_at(const struct pgk_vtables *vtables, uint64_t slot,
                                              size_t *n)
{
    PGK_SEARCH(low, vtables->list.n, mid, vtables->list.v[mid].slot < slot)
    for (*n = 0; low + *n < vtables->list.n && vtables->list.v[low + *n].slot == slot;)
        ++*n;
    return vtables->list.v ? &vtables->list.v[low] : NULL;
}

bool pgk_vtables_have(const struct pgk_vtables *vtables, uint64_t slot, uint64_t function)
{
    const struct pgk_vtable_entry key = {slot, function, 0};
    return vtables->list.n &&
           bsearch(&key, vtables->list.v, vtables->list.n, sizeof key, compare_entries);
}
