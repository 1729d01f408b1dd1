/* The data of a heap report page: which contexts are on it, and what they refer to. */
#include "heap_page.h"

#include <stdlib.h>

enum { DEFAULT_CONTEXTS = 50000 };

static double share(const struct pgk_mib *m, const struct pgk_heap_totals *t, enum pgk_mib_id id)
{
    return t->v[id] && (m->known >> id & 1) ? (double)m->v[id] / (double)t->v[id] : 0;
}

static double largest_share(const struct pgk_mib *m, const struct pgk_heap_totals *t)
{
    static const enum pgk_mib_id ids[] = {PGK_MIB_TotalSize, PGK_MIB_AllocCount,
                                          PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime};
    double largest = 0;
    for (size_t i = 0; m && i < PGK_COUNTOF(ids); i++)
        if (share(m, t, ids[i]) > largest)
            largest = share(m, t, ids[i]);
    return largest;
}

/* The order of two contexts that are otherwise equal: as in the profile, gone ones last. */
static int by_context(const struct pgk_heap_page_row *x, const struct pgk_heap_page_row *y)
{
    if (x->pair.now != y->pair.now)
        return x->pair.now < y->pair.now ? -1 : 1;
    return x->pair.before < y->pair.before ? -1 : x->pair.before > y->pair.before;
}

static int by_weight(const void *a, const void *b)
{
    const struct pgk_heap_page_row *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return by_context(x, y);
}

static int by_bytes(const void *a, const void *b)
{
    const struct pgk_heap_page_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return by_context(x, y);
}

static int choose_rows(struct pgk_heap_page *p, struct pgk_err *err)
{
    size_t most = p->opts->max_contexts ? p->opts->max_contexts : DEFAULT_CONTEXTS;
    p->n_rows = p->align.n;
    p->n_shown = p->n_rows < most ? p->n_rows : most;
    p->rows = pgk_mem_zalloc(p->n_rows + 1, sizeof *p->rows);
    p->row_of = pgk_mem_alloc(p->totals.contexts + 1, sizeof *p->row_of);
    p->row_of_before = pgk_mem_alloc(p->totals_before.contexts + 1, sizeof *p->row_of_before);
    if (!p->rows || !p->row_of || !p->row_of_before)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->n_rows; i++) {
        p->rows[i].pair = p->align.pairs[i];
        const struct pgk_mib *now = pgk_heap_page_now(p, i, PGK_MIB_SPACE),
                             *before = pgk_heap_page_before(p, i, PGK_MIB_SPACE);
        double old = largest_share(before, &p->totals_before);
        p->rows[i].weight = largest_share(now, &p->totals);
        if (old > p->rows[i].weight)
            p->rows[i].weight = old;
        p->rows[i].bytes = (now ? now : before)->v[PGK_MIB_TotalSize];
    }
    qsort(p->rows, p->n_rows, sizeof *p->rows, by_weight);
    qsort(p->rows, p->n_shown, sizeof *p->rows, by_bytes);
    for (size_t i = 0; i < p->n_rows; i++) {
        const struct pgk_heap_pair *pair = &p->rows[i].pair;
        if (pair->now != PGK_NO_CONTEXT)
            p->row_of[pair->now] = (uint32_t)i;
        if (pair->before != PGK_NO_CONTEXT)
            p->row_of_before[pair->before] = (uint32_t)i;
    }
    return 0;
}

bool pgk_heap_page_text(struct pgk_heap_page *p, uint32_t id, uint32_t *number)
{
    if (!pgk_page_table_add(&p->texts, id))
        return false;
    *number = p->texts.number_of[id] - 1;
    return true;
}

/* Nodes keep their order, in which parents stand before their children. */
static bool number_nodes(struct pgk_heap_page *p)
{
    const struct pgk_stack_tree *tree = &p->align.frames.stacks;
    enum { USED = 1 };
    p->nodes.number_of[0] = USED;
    for (size_t i = 0; i < p->n_shown; i++)
        for (uint32_t n = p->rows[i].pair.node; !p->nodes.number_of[n]; n = tree->nodes.v[n].parent)
            p->nodes.number_of[n] = USED;
    for (uint32_t n = 0; n < tree->nodes.n; n++) {
        if (!p->nodes.number_of[n])
            continue;
        if (!pgk_vec_push(&p->nodes.old, n))
            return false;
        p->nodes.number_of[n] = (uint32_t)p->nodes.old.n;
    }
    return true;
}

static int number_all(struct pgk_heap_page *p, struct pgk_err *err)
{
    const struct pgk_heap_frames *t = &p->align.frames;
    uint32_t ignored;
    bool fits = pgk_page_table_init(&p->nodes, t->stacks.nodes.n) &&
                pgk_page_table_init(&p->frames, t->frames.n) &&
                pgk_page_table_init(&p->funcs, t->funcs.n) &&
                pgk_page_table_init(&p->texts, t->strings.strs.n) &&
                pgk_heap_page_text(p, 0, &ignored) && number_nodes(p);
    for (size_t i = 1; fits && i < p->nodes.old.n; i++)
        fits = pgk_page_table_add(&p->frames, t->stacks.nodes.v[p->nodes.old.v[i]].frame);
    for (size_t i = 0; fits && i < p->frames.old.n; i++)
        fits = pgk_page_table_add(&p->funcs, t->frames.v[p->frames.old.v[i]].func);
    for (size_t i = 0; fits && i < p->funcs.old.n; i++) {
        const struct pgk_view_func *f = &t->funcs.v[p->funcs.old.v[i]];
        fits = pgk_page_table_add(&p->texts, pgk_heap_page_named(f) ? f->name : f->near) &&
               pgk_page_table_add(&p->texts, f->linkage) &&
               pgk_page_table_add(&p->texts, f->file) && pgk_page_table_add(&p->texts, f->module) &&
               pgk_page_table_add(&p->texts, f->path);
    }
    for (size_t i = 0; fits && i < p->all_types.n; i++)
        fits = pgk_page_table_add(&p->texts, p->all_types.v[i].name);
    return fits ? 0 : pgk_fail_nomem(err);
}

int pgk_heap_page_make(struct pgk_heap_page *p, struct pgk_err *err)
{
    p->before = p->opts->base;
    pgk_heap_totals(p->now, p->opts->info, &p->totals);
    if (p->before)
        pgk_heap_totals(p->before, p->opts->info, &p->totals_before);
    PGK_TRY(pgk_heap_align(&p->align, p->now, p->before, err));
    PGK_TRY(pgk_heap_advise(p->now, p->opts->info, &p->advice, err));
    PGK_TRY(choose_rows(p, err));
    PGK_TRY(pgk_heap_page_types(p, err));
    PGK_TRY(pgk_heap_page_threads(p, err));
    return number_all(p, err);
}

void pgk_heap_page_free(struct pgk_heap_page *p)
{
    pgk_heap_alignment_free(&p->align);
    pgk_advice_free(&p->advice);
    pgk_mem_free(p->rows);
    pgk_mem_free(p->row_of);
    pgk_mem_free(p->row_of_before);
    pgk_page_table_free(&p->nodes);
    pgk_page_table_free(&p->frames);
    pgk_page_table_free(&p->funcs);
    pgk_page_table_free(&p->texts);
    pgk_heap_page_types_free(p);
    pgk_heap_page_threads_free(p);
}
