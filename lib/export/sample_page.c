/* The data of a sample report page: which functions, inlinees and lines are on it. */
#include "sample_page.h"

#include "sample_spelling.h"
#include "saturate.h"

#include <stdlib.h>

/* Nodes beyond these limits are folded or left out, so that the page stays small and opens fast. */
enum { DEFAULT_FUNCTIONS = 50000, MAX_INLINEES = 60000, MAX_RECORDS = 120000 };

static int measure(struct pgk_sample_page_side *side, const struct pgk_sample *p,
                   struct pgk_err *err)
{
    for (size_t i = 0; i < p->by_heat.n; i++) {
        const struct pgk_sample_node *n = &p->nodes.v[p->by_heat.v[i]];
        side->heads = pgk_add_saturated(side->heads, n->head);
    }
    side->summary.struct_size = sizeof side->summary;
    PGK_TRY(pgk_sample_summarise(p, &side->summary, err));
    return pgk_sample_density(p, &side->density, err);
}

/* ---- functions ---- */

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double samples_share(const struct pgk_sample_page *p, uint32_t node)
{
    double now = share_of(pgk_tree_samples_now(&p->tree, node), p->now.summary.total_count),
           before =
               share_of(pgk_tree_samples_before(&p->tree, node), p->before.summary.total_count);
    return now > before ? now : before;
}

/* The rows' changes are found by what the comparison calls the functions. */
static int find_changes(struct pgk_sample_page *p, struct pgk_err *err)
{
    size_t n;
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(p->diff, &n);
    struct pgk_intern texts = {0};
    struct pgk_line line = {0};
    uint32_t *change_of = pgk_mem_zalloc(n + 2, sizeof *change_of); /* by text: number + 1 */
    bool ok = change_of != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        uint32_t id = pgk_intern_cstr(&texts, changes[i].function);
        ok = id != PGK_INDEX_NONE;
        if (ok)
            change_of[id] = (uint32_t)i + 1;
    }
    size_t known = texts.strs.n;
    for (size_t i = 0; i < p->n_rows && ok; i++) {
        const struct pgk_sample_tree_node *node = &p->tree.nodes.v[p->rows[i].node];
        bool now = node->now && pgk_sample_is_top(p->tree.now, node->now);
        line.bytes.n = 0;
        pgk_sample_put_identity(now ? p->tree.now : p->tree.before, now ? node->now : node->before,
                                &line);
        uint32_t id = pgk_intern(&texts, (const char *)line.bytes.v, line.bytes.n);
        ok = !line.failed && id != PGK_INDEX_NONE;
        if (ok && id < known && change_of[id])
            p->rows[i].change = &changes[change_of[id] - 1];
    }
    pgk_line_free(&line);
    pgk_intern_free(&texts);
    pgk_mem_free(change_of);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Functions that have a profile in whatever context. */
static int count_distinct(struct pgk_sample_page *p, struct pgk_err *err)
{
    bool *seen = pgk_mem_zalloc(p->tree.funcs.n + 1, sizeof *seen);
    if (!seen)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->n_rows; i++) {
        const struct pgk_sample_tree_node *node = &p->tree.nodes.v[p->rows[i].node];
        if (!node->now || !pgk_sample_is_top(p->tree.now, node->now))
            continue;
        p->distinct += !seen[node->func];
        seen[node->func] = true;
    }
    pgk_mem_free(seen);
    return 0;
}

static int by_weight(const void *pa, const void *pb)
{
    const struct pgk_sample_page_row *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int choose_rows(struct pgk_sample_page *p, struct pgk_err *err)
{
    size_t most = p->opts->max_functions ? p->opts->max_functions : DEFAULT_FUNCTIONS;
    p->rows = pgk_mem_zalloc(p->tree.nodes.n, sizeof *p->rows);
    if (!p->rows)
        return pgk_fail_nomem(err);
    for (uint32_t n = 1; n < p->tree.nodes.n; n++)
        if (p->tree.nodes.v[n].top)
            p->rows[p->n_rows++].node = n;
    PGK_TRY(count_distinct(p, err));
    if (p->diff)
        PGK_TRY(find_changes(p, err));
    for (size_t i = 0; i < p->n_rows; i++) {
        struct pgk_sample_page_row *row = &p->rows[i];
        const struct pgk_sample_change *c = row->change;
        if (p->diff)
            row->weight = !c ? 0 : c->test_share > c->base_share ? c->test_share : c->base_share;
        else
            row->weight = samples_share(p, row->node);
    }
    qsort(p->rows, p->n_rows, sizeof *p->rows, by_weight);
    p->n_shown = p->n_rows < most ? p->n_rows : most;
    return 0;
}

/* ---- the tree ---- */

enum { SHOWN = 1, KEPT = 2 }; /* of a function on the page, or in it; a node of the page */

static void keep(struct pgk_sample_page *p, uint8_t *marks, uint32_t node)
{
    for (uint32_t n = node; n && !(marks[n] & KEPT); n = p->tree.nodes.v[n].parent)
        marks[n] |= KEPT;
}

/* The inlinees with the most samples. */
static bool keep_inlinees(struct pgk_sample_page *p, uint8_t *marks)
{
    PGK_VEC(struct pgk_sample_page_row) list = {0};
    bool ok = true;
    for (uint32_t n = 1; n < p->tree.nodes.n && ok; n++) {
        const struct pgk_sample_tree_node *node = &p->tree.nodes.v[n];
        if (node->context || !(marks[node->parent] & SHOWN))
            continue;
        marks[n] |= SHOWN;
        ok = pgk_vec_push(&list, (struct pgk_sample_page_row){n, samples_share(p, n), NULL});
    }
    if (list.n > MAX_INLINEES)
        qsort(list.v, list.n, sizeof *list.v, by_weight);
    for (size_t i = 0; i < list.n && i < MAX_INLINEES; i++)
        keep(p, marks, list.v[i].node);
    for (size_t i = MAX_INLINEES; i < list.n; i++)
        p->inlinees_folded += !(marks[list.v[i].node] & KEPT);
    if (list.n > MAX_INLINEES)
        p->folded_share = list.v[MAX_INLINEES].weight;
    pgk_vec_free(&list);
    return ok;
}

/* Samples of lines add up to those of functions and of the profile; totals do not, as they count
 * instructions. */
static uint64_t own(const struct pgk_sample_node *node)
{
    return node ? pgk_sample_lines_sum(node) : 0;
}

/* A folded node adds its samples to the node that it is inlined into; children come after
 * parents. */
static void add_own(struct pgk_sample_page *p, const uint8_t *marks)
{
    for (uint32_t n = (uint32_t)p->tree.nodes.n; n-- > 1;) {
        if (!(marks[n] & SHOWN))
            continue;
        uint64_t *now = &p->own[n], *before = &p->own_before[n];
        *now = pgk_add_saturated(*now, own(pgk_tree_now(&p->tree, n)));
        *before = pgk_add_saturated(*before, own(pgk_tree_before(&p->tree, n)));
        if (marks[n] & KEPT)
            continue;
        uint32_t up = p->tree.nodes.v[n].parent;
        p->own[up] = pgk_add_saturated(p->own[up], *now);
        p->own_before[up] = pgk_add_saturated(p->own_before[up], *before);
    }
}

static int choose_nodes(struct pgk_sample_page *p, struct pgk_err *err)
{
    size_t n = p->tree.nodes.n;
    uint8_t *marks = pgk_mem_zalloc(n, 1);
    p->own = pgk_mem_zalloc(n, sizeof *p->own);
    p->own_before = pgk_mem_zalloc(n, sizeof *p->own_before);
    bool ok = marks && p->own && p->own_before && pgk_page_table_init(&p->nodes, n) &&
              pgk_page_table_add(&p->nodes, 0);
    for (size_t i = 0; i < p->n_shown && ok; i++) {
        marks[p->rows[i].node] |= SHOWN;
        keep(p, marks, p->rows[i].node);
    }
    ok = ok && keep_inlinees(p, marks);
    if (ok)
        add_own(p, marks);
    for (uint32_t i = 1; i < n && ok; i++)
        ok = !(marks[i] & KEPT) || pgk_page_table_add(&p->nodes, i);
    pgk_mem_free(marks);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* ---- lines, calls and types ---- */

static int falling(const void *pa, const void *pb)
{
    const uint64_t *a = pa, *b = pb;
    return *a > *b ? -1 : *a < *b;
}

static int choose_records(struct pgk_sample_page *p, struct pgk_err *err)
{
    PGK_VEC(uint64_t) counts = {0};
    bool ok = true;
    for (size_t i = 1; i < p->nodes.old.n && ok; i++) {
        const struct pgk_sample_recs *recs = pgk_sample_page_records(p, p->nodes.old.v[i]);
        for (uint32_t r = 0; r < recs->n && ok; r++)
            ok = pgk_vec_push(&counts, recs->v[r].count);
    }
    if (counts.n > MAX_RECORDS) {
        qsort(counts.v, counts.n, sizeof *counts.v, falling);
        p->least_count = counts.v[MAX_RECORDS] + 1;
        for (size_t i = 0; i < counts.n; i++)
            p->records_left_out += counts.v[i] < p->least_count;
    }
    pgk_vec_free(&counts);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Calls `fn` for the function of every record that is on the page and names one. */
static bool each_func(struct pgk_sample_page *p, bool (*fn)(struct pgk_sample_page *p, uint32_t f))
{
    for (size_t i = 1; i < p->nodes.old.n; i++) {
        const struct pgk_sample_recs *recs = pgk_sample_page_records(p, p->nodes.old.v[i]);
        for (uint32_t r = 0; r < recs->n; r++)
            if (recs->v[r].what && recs->v[r].count >= p->least_count &&
                !fn(p, pgk_sample_tree_func(&p->tree, pgk_rec_name(&recs->v[r]))))
                return false;
    }
    return true;
}

static bool is_there(struct pgk_sample_page *p, uint32_t func)
{
    (void)p;
    return func != PGK_INDEX_NONE;
}

static bool number_func(struct pgk_sample_page *p, uint32_t func)
{
    return pgk_page_table_add(&p->funcs, func);
}

/* Gives numbers to the functions that are referred to, once all functions are in the tree. */
static int number_funcs(struct pgk_sample_page *p, struct pgk_err *err)
{
    bool ok = each_func(p, is_there) && pgk_page_table_init(&p->funcs, p->tree.funcs.n) &&
              pgk_page_table_init(&p->texts, p->tree.strings.strs.n) &&
              pgk_page_table_add(&p->texts, 0);
    for (size_t i = 1; i < p->nodes.old.n && ok; i++)
        ok = number_func(p, p->tree.nodes.v[p->nodes.old.v[i]].func);
    ok = ok && each_func(p, number_func);
    for (size_t i = 0; i < p->funcs.old.n && ok; i++) {
        const struct pgk_sample_func *f = &p->tree.funcs.v[p->funcs.old.v[i]];
        ok = pgk_page_table_add(&p->texts, f->name) &&
             pgk_page_table_add(&p->texts, f->linkage) &&
             pgk_page_table_add(&p->texts, pgk_sample_page_place(p, p->funcs.old.v[i]).file);
    }
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_sample_page_make(struct pgk_sample_page *p, const struct pgk_sample *now,
                         struct pgk_err *err)
{
    const struct pgk_sample *before = p->opts->base;
    PGK_TRY(pgk_sample_tree_make(&p->tree, now, before, err));
    PGK_TRY(measure(&p->now, now, err));
    if (before) {
        PGK_TRY(measure(&p->before, before, err));
        PGK_TRY(pgk_sample_compare(&p->diff, before, now, err));
    }
    if (p->opts->binaries)
        PGK_TRY(pgk_sample_cover(now, p->opts->binaries, &p->coverage, err));
    PGK_TRY(choose_rows(p, err));
    PGK_TRY(choose_nodes(p, err));
    PGK_TRY(choose_records(p, err));
    PGK_TRY(pgk_sample_page_places(p, err));
    return number_funcs(p, err);
}

void pgk_sample_page_free(struct pgk_sample_page *p)
{
    pgk_sample_tree_free(&p->tree);
    pgk_sample_diff_close(&p->diff);
    pgk_mem_free(p->rows);
    pgk_mem_free(p->own);
    pgk_mem_free(p->own_before);
    pgk_mem_free(p->places);
    pgk_page_table_free(&p->nodes);
    pgk_page_table_free(&p->funcs);
    pgk_page_table_free(&p->texts);
}
