/* Recordings as an order of functions for the linker. docs/formats/function-order.md */
#include "gen_empty.h"
#include "gen_priv.h"
#include "hot_pages.h"
#include "order_write.h"
#include "saturate.h"

/* ---- the graph of calls ---- */

static bool count_runs(struct pgk_call_graph *graph, const struct pgk_layout_functions *functions,
                       const struct pgk_pairs *ranges)
{
    if (!pgk_vec_reserve(&graph->functions, functions->list.n))
        return false;
    for (size_t i = 0; i < functions->list.n; i++) {
        const struct pgk_layout_function *f = &functions->list.v[i];
        graph->functions.v[graph->functions.n++] =
            (struct pgk_graph_function){.size = f->high - f->low};
    }
    for (size_t i = 0; i < ranges->list.n; i++) {
        const struct pgk_pair *r = &ranges->list.v[i];
        uint32_t f = pgk_layout_function_at(functions, r->from);
        if (f != PGK_LAYOUT_NONE)
            graph->functions.v[f].count = pgk_add_saturated(graph->functions.v[f].count, r->count);
    }
    return true;
}

/* A branch to the start of another function is a call, or a jump instead of one. */
static bool count_calls(struct pgk_call_graph *graph, const struct pgk_layout_functions *functions,
                        const struct pgk_pairs *branches)
{
    for (size_t i = 0; i < branches->list.n; i++) {
        const struct pgk_pair *b = &branches->list.v[i];
        uint32_t from = pgk_layout_function_at(functions, b->from),
                 to = pgk_layout_function_at(functions, b->to);
        if (from == PGK_LAYOUT_NONE || to == PGK_LAYOUT_NONE || from == to ||
            b->to != functions->list.v[to].low)
            continue;
        struct pgk_graph_call c = {from, to, b->from - functions->list.v[from].low, b->count};
        if (!pgk_vec_push(&graph->calls, c))
            return false;
    }
    return true;
}

/* ---- all of it ---- */

static int write(const struct pgk_layout_functions *functions, const pgk_layout_list *order,
                 const struct pgk_call_graph *graph, enum pgk_order_form form, const char *path,
                 struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    pgk_order_write(functions, order, graph, form, out);
    return pgk_sink_commit(&out, err);
}

static int write_order(struct pgk_gen *g, const struct pgk_gen_binary *b,
                       const struct pgk_layout_functions *functions, enum pgk_order_form form,
                       const char *path, struct pgk_err *err)
{
    struct pgk_call_graph graph = {0};
    pgk_layout_list order = {0};
    int status = count_runs(&graph, functions, &b->counters.ranges) &&
                         count_calls(&graph, functions, &b->counters.branches) &&
                         pgk_layout_order(&order, &graph) &&
                         pgk_hot_pages(&g->stats.hot_pages, &g->stats.ordered_pages, functions,
                                       &graph, &order)
                     ? 0
                     : pgk_fail_nomem(err);
    if (!status && !order.n)
        status = pgk_gen_no_samples(g, err);
    if (!status)
        status = write(functions, &order, &graph, form, path, err);
    if (!status)
        g->stats.functions += order.n;
    pgk_vec_free(&order);
    pgk_call_graph_free(&graph);
    return status;
}

int pgk_gen_write_order(struct pgk_gen *g, uint32_t binary, enum pgk_order_form form,
                        const char *path, struct pgk_err *err)
{
    struct pgk_layout_functions functions;
    PGK_TRY(pgk_gen_need_counters(g, err));
    if (!pgk_gen_counted(g, binary))
        return pgk_gen_no_samples(g, err);
    if (g->contexts)
        return pgk_fail(err, PGK_E_ARG, .field = "counters", .found = "of calling contexts",
                        .expected = "plain ones, for an order of functions",
                        .hint = "leave contexts out, as with --mode autofdo");
    PGK_TRY(pgk_gen_settle_counters(g, binary, err));
    const struct pgk_gen_binary *b = &g->images.v[binary];
    PGK_TRY(pgk_layout_functions_open(&functions, b->elf, err));
    int status = write_order(g, b, &functions, form, path, err);
    pgk_layout_functions_close(&functions);
    return status;
}
