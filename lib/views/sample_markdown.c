/* A sample profile in Markdown: totals and the hottest functions. */
#include "profile_markdown.h"

#include "markdown_out.h"
#include "mem.h"
#include "pgokit/human.h"
#include "sample_tree.h"
#include "saturate.h"

#include <stdlib.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

struct row {
    uint64_t samples;
    uint32_t node;
};

static int by_samples(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
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

static void put_function(const struct pgk_sample_tree *t, const struct row *row, uint64_t all,
                         struct pgk_text_out *out)
{
    const struct pgk_sample_node *n = pgk_tree_now(t, row->node);
    pgk_text_printf(out, "| %s | %.1f %% | %s | ", COUNT(row->samples),
                    all ? 100 * (double)row->samples / (double)all : 0, COUNT(n->head));
    for (uint32_t at = row->node; at; at = t->nodes.v[at].parent) {
        if (at != row->node)
            pgk_text_lit(out, "<br>");
        pgk_md_code(out, pgk_sample_tree_name(t, at));
    }
    pgk_text_lit(out, " |\n");
}

/* `rows` has space for all nodes of the tree. */
static void put_functions(struct pgk_sample_tree *t, struct row *rows, size_t top,
                          struct pgk_text_out *out)
{
    size_t n = 0;
    uint64_t all = 0;
    for (uint32_t node = 1; node < t->nodes.n; node++)
        if (t->nodes.v[node].top) {
            rows[n] = (struct row){pgk_tree_samples_now(t, node), node};
            all = pgk_add_saturated(all, rows[n++].samples);
        }
    qsort(rows, n, sizeof *rows, by_samples);
    size_t shown = top && top < n ? top : n;
    const char *what = t->now->kind.contexts ? "context" : "function";
    pgk_text_printf(out, "\n### %s of %s %s%s, by samples\n\n"
                         "| samples | share | at its head | %s |\n|--:|--:|--:|---|\n",
                    COUNT(shown), COUNT(n), what, pgk_plural(n),
                    t->now->kind.contexts ? "function and callers" : "function");
    for (size_t i = 0; i < shown; i++)
        put_function(t, &rows[i], all, out);
}

int pgk_sample_markdown(const struct pgk_sample *profile, const struct pgk_sample_print_opts *opts,
                        struct pgk_text_out *out, struct pgk_err *err)
{
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    struct pgk_sample_tree tree;
    PGK_TRY(pgk_sample_summarise(profile, &summary, err));
    int status = pgk_sample_tree_make(&tree, profile, NULL, err);
    struct row *rows = status ? NULL : pgk_mem_alloc(tree.nodes.n, sizeof *rows);
    if (!status && !rows)
        status = pgk_fail_nomem(err);
    if (!status) {
        put_totals(profile, opts, &summary, out);
        put_functions(&tree, rows, opts->top, out);
    }
    pgk_text_flush(out);
    pgk_mem_free(rows);
    pgk_sample_tree_free(&tree);
    return status;
}
