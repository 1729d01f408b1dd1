/* A sample profile in Markdown: totals and the hottest functions. */
#include "profile_markdown.h"

#include "markdown_out.h"
#include "mem.h"
#include "pgokit/human.h"
#include "sample_tree.h"
#include "saturate.h"

#include <stdlib.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static int by_total(const void *a, const void *b, void *tree)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t p = pgk_tree_now(tree, x)->total, q = pgk_tree_now(tree, y)->total;
    if (p != q)
        return p > q ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void put_totals(const struct pgk_sample *p, const struct pgk_sample_print_opts *opts,
                       const struct pgk_sample_summary *summary, struct pgk_text_out *out)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    const struct pgk_sample_sizes sizes = pgk_sample_sizes(p);
    pgk_sample_info(p, &info);
    pgk_text_lit(out, "## Sample profile\n\n| profile | ");
    pgk_md_code(out, opts->title ? opts->title : "profile");
    pgk_text_printf(out, " |\n|---|--:|\n| samples | %s |\n| %s | %s |\n| %s | %s |\n"
                         "| hot | lines with %s samples or more |\n",
                    COUNT(summary->total_count), info.contexts ? "contexts" : "functions",
                    COUNT(info.functions), info.probes ? "probes" : "lines", COUNT(sizes.lines),
                    COUNT(pgk_sample_hot_count(summary)));
}

static void put_function(const struct pgk_sample_tree *t, uint32_t node, uint64_t all,
                         struct pgk_text_out *out)
{
    const struct pgk_sample_node *n = pgk_tree_now(t, node);
    pgk_text_printf(out, "| %s | %.1f %% | %s | ", COUNT(n->total),
                    all ? 100 * (double)n->total / (double)all : 0, COUNT(n->head));
    for (uint32_t at = node; at; at = t->nodes.v[at].parent) {
        if (at != node)
            pgk_text_lit(out, "<br>");
        pgk_md_code(out, pgk_sample_tree_name(t, at));
    }
    pgk_text_lit(out, " |\n");
}

/* `order` has space for all nodes of the tree. */
static void put_functions(struct pgk_sample_tree *t, uint32_t *order, size_t top,
                          struct pgk_text_out *out)
{
    size_t n = 0;
    uint64_t all = 0;
    for (uint32_t node = 1; node < t->nodes.n; node++)
        if (t->nodes.v[node].top) {
            order[n++] = node;
            all = pgk_add_saturated(all, pgk_tree_now(t, node)->total);
        }
    qsort_r(order, n, sizeof *order, by_total, t);
    size_t shown = top && top < n ? top : n;
    const char *what = t->now->kind.contexts ? "context" : "function";
    pgk_text_printf(out, "\n### %s of %s %s%s, by samples\n\n"
                         "| samples | share | at its head | %s |\n|--:|--:|--:|---|\n",
                    COUNT(shown), COUNT(n), what, pgk_plural(n),
                    t->now->kind.contexts ? "function and callers" : "function");
    for (size_t i = 0; i < shown; i++)
        put_function(t, order[i], all, out);
}

int pgk_sample_markdown(const struct pgk_sample *profile, const struct pgk_sample_print_opts *opts,
                        struct pgk_text_out *out, struct pgk_err *err)
{
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    struct pgk_sample_tree tree;
    PGK_TRY(pgk_sample_summarise(profile, &summary, err));
    int status = pgk_sample_tree_make(&tree, profile, NULL, err);
    uint32_t *order = status ? NULL : pgk_mem_alloc(tree.nodes.n, sizeof *order);
    if (!status && !order)
        status = pgk_fail_nomem(err);
    if (!status) {
        put_totals(profile, opts, &summary, out);
        put_functions(&tree, order, opts->top, out);
    }
    pgk_text_flush(out);
    pgk_mem_free(order);
    pgk_sample_tree_free(&tree);
    return status;
}
