/* Orders of blocks and functions as clang and lld take them. docs/formats/propeller.md section 2 */
#include "propeller_write.h"

#include "hash.h"
#include "index.h"
#include "u64_set.h"

#include <string.h>

struct writer {
    const struct pgk_propeller *p;
    struct pgk_sink *list, *symbols;
    struct pgk_propeller_written *written;
    struct pgk_index names;   /* of the binary: positions in functions->names */
    bool *is_shared;          /* by name: several functions have it; of the first of them only */
    PGK_VEC(uint64_t) ids;    /* scratch */
    PGK_VEC(uint32_t) listed; /* positions in order->functions */
};

/* A name without the version that dynamic symbols have. */
static size_t length_of(const char *name)
{
    return strcspn(name, "@");
}

static uint32_t find_name(const struct writer *w, const char *name)
{
    const size_t n = length_of(name);
    const char *const *names = w->p->functions->names.v;
    PGK_INDEX_FOR (&w->names, pgk_hash_bytes(name, n), i)
        if (length_of(names[i]) == n && !memcmp(names[i], name, n))
            return i;
    return PGK_INDEX_NONE;
}

static bool index_names(struct writer *w)
{
    const struct pgk_layout_functions *f = w->p->functions;
    w->is_shared = pgk_mem_zalloc(f->names.n + 1, sizeof *w->is_shared);
    bool ok = w->is_shared;
    for (size_t i = 0; ok && i < f->list.n; i++) {
        const struct pgk_layout_function *one = &f->list.v[i];
        for (uint32_t k = one->first_name; ok && k < one->first_name + one->n_names; k++) {
            uint32_t first = find_name(w, f->names.v[k]);
            if (first == PGK_INDEX_NONE)
                ok = pgk_index_add(&w->names,
                                   pgk_hash_bytes(f->names.v[k], length_of(f->names.v[k])), k);
            else if (first < one->first_name) /* of another function */
                w->is_shared[first] = true;
        }
    }
    return ok;
}

/* Name `i` if it is of this function alone, and not a repetition of an earlier one; else NULL. */
static const char *own_name(const struct writer *w, const struct pgk_layout_function *f, uint32_t i)
{
    const char *name = w->p->functions->names.v[f->first_name + i];
    uint32_t first = find_name(w, name);
    /* Those are no names for a list: its words end with blanks, and with slashes in version 0. */
    bool plain = !strpbrk(name, " \n") && (w->p->list || !strchr(name, '/'));
    return plain && first == f->first_name + i && !w->is_shared[first] ? name : NULL;
}

static const struct pgk_layout_function *named(const struct writer *w, uint32_t function)
{
    const struct pgk_layout_functions *all = w->p->functions;
    uint64_t entry = w->p->map->functions.v[function].entry;
    uint32_t at = pgk_layout_function_at(all, entry);
    if (at == PGK_LAYOUT_NONE || all->list.v[at].low != entry)
        return NULL;
    for (uint32_t i = 0; i < all->list.v[at].n_names; i++)
        if (own_name(w, &all->list.v[at], i))
            return &all->list.v[at];
    if (!w->written->nameless_example)
        w->written->nameless_example = all->names.v[all->list.v[at].first_name];
    return NULL;
}

static bool repeats_ids(struct writer *w, const struct pgk_ordered_function *f, bool *repeats)
{
    w->ids.n = 0;
    if (!pgk_vec_reserve(&w->ids, f->n))
        return false;
    for (uint32_t i = 0; i < f->n; i++)
        w->ids.v[w->ids.n++] = w->p->map->blocks.v[w->p->order->blocks.v[f->first + i]].id;
    *repeats = pgk_u64_set(w->ids.v, w->ids.n) != f->n;
    return true;
}

static void put_names(const struct writer *w, const struct pgk_layout_function *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->n_names; i++) {
        const char *name = own_name(w, f, i);
        if (!name)
            continue;
        pgk_sink_printf(w->list, "%s%.*s",
                        any          ? (w->p->list ? " " : "/")
                        : w->p->list ? "f "
                                     : "!",
                        (int)length_of(name), name);
        any = true;
    }
    pgk_sink_printf(w->list, "\n");
}

static void put_symbols(const struct writer *w, const struct pgk_layout_function *f,
                        const char *suffix)
{
    for (uint32_t i = 0; w->symbols && i < f->n_names; i++) {
        const char *name = own_name(w, f, i);
        if (name)
            pgk_sink_printf(w->symbols, "%.*s%s\n", (int)length_of(name), name, suffix);
    }
}

static void put_blocks(const struct writer *w, const struct pgk_ordered_function *f)
{
    pgk_sink_printf(w->list, "%s", w->p->list ? "c" : "!!");
    for (uint32_t i = 0; i < f->n; i++)
        pgk_sink_printf(w->list, "%s%u", i || w->p->list ? " " : "",
                        w->p->map->blocks.v[w->p->order->blocks.v[f->first + i]].id);
    pgk_sink_printf(w->list, "\n");
}

static bool put_function(struct writer *w, uint32_t at)
{
    const struct pgk_ordered_function *f = &w->p->order->functions.v[at];
    const struct pgk_layout_function *name = named(w, f->function);
    bool repeats;
    if (!repeats_ids(w, f, &repeats))
        return false;
    w->written->nameless += !name;
    w->written->repeated += name && repeats;
    if (!name || repeats)
        return true;
    put_names(w, name);
    put_blocks(w, f);
    put_symbols(w, name, "");
    w->written->functions++;
    w->written->blocks += f->n;
    return pgk_vec_push(&w->listed, at);
}

static bool has_landing_pad(const struct writer *w, const struct pgk_ordered_function *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (w->p->map->blocks.v[w->p->order->blocks.v[f->first + i]].flags & PGK_BLOCK_LANDING_PAD)
            return true;
    return false;
}

/* Landing pads of a function have to be in one section: if some ran, they are in their own. */
static void put_parts(const struct writer *w)
{
    const struct pgk_block_order *o = w->p->order;
    for (size_t i = 0; i < w->listed.n; i++)
        if (has_landing_pad(w, &o->functions.v[w->listed.v[i]]))
            put_symbols(w, named(w, o->functions.v[w->listed.v[i]].function), ".eh");
    for (size_t i = 0; i < w->listed.n; i++)
        put_symbols(w, named(w, o->functions.v[w->listed.v[i]].function), ".cold");
}

bool pgk_propeller_write(const struct pgk_propeller *what, struct pgk_sink *list,
                         struct pgk_sink *symbols, struct pgk_propeller_written *written)
{
    struct writer w = {.p = what, .list = list, .symbols = symbols, .written = written};
    *written = (struct pgk_propeller_written){0};
    bool ok = index_names(&w);
    if (ok && what->list)
        pgk_sink_printf(list, "v%u\n", what->list);
    for (size_t i = 0; ok && i < what->order->order.n; i++)
        ok = put_function(&w, what->order->order.v[i]);
    if (ok)
        put_parts(&w);
    pgk_index_free(&w.names);
    pgk_mem_free(w.is_shared);
    pgk_vec_free(&w.ids);
    pgk_vec_free(&w.listed);
    return ok;
}
