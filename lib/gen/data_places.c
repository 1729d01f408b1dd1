#include "data_places.h"

#include "search.h"

#include <stdlib.h>
#include <string.h>

static int add(void *ctx, const struct pgk_sym_variable *v)
{
    struct pgk_data_places *p = ctx;
    const struct pgk_declaration d = {v->addr, {v->decl_file, v->decl_line}};
    return pgk_vec_push(&p->list, d) ? 0 : PGK_E_NOMEM;
}

static int order(const void *a, const void *b)
{
    const struct pgk_declaration *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    int files = strcmp(x->place.file, y->place.file);
    return files ? files : (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

/* Each unit that has a copy of a template's or an inline variable declares it. */
static void leave_out_doubles(struct pgk_data_places *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->list.n; i++)
        if (!i || order(&p->list.v[n - 1], &p->list.v[i]))
            p->list.v[n++] = p->list.v[i];
    p->list.n = n;
}

int pgk_data_places_read(struct pgk_data_places *places, struct pgk_symboliser *sym,
                         struct pgk_err *err)
{
    *places = (struct pgk_data_places){0};
    if (sym && pgk_symboliser_variables(sym, add, places, err))
        return pgk_fail_nomem(err);
    if (places->list.n)
        qsort(places->list.v, places->list.n, sizeof *places->list.v, order);
    leave_out_doubles(places);
    return 0;
}

void pgk_data_places_free(struct pgk_data_places *places)
{
    pgk_vec_free(&places->list);
    pgk_vec_free(&places->found);
}

const struct pgk_heap_data_place *pgk_data_places_at(struct pgk_data_places *places, uint64_t addr,
                                                     size_t *n)
{
    PGK_SEARCH(at, places->list.n, mid, places->list.v[mid].addr < addr)
    places->found.n = 0;
    if (!pgk_vec_reserve(&places->found, 1))
        return NULL;
    for (; at < places->list.n && places->list.v[at].addr == addr; at++)
        if (!pgk_vec_push(&places->found, places->list.v[at].place))
            return NULL;
    *n = places->found.n;
    return places->found.v;
}
