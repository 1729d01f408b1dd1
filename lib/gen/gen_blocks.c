/* Recordings as lists of blocks for clang, and of symbols for lld. docs/formats/propeller.md */
#include "gen_empty.h"
#include "gen_priv.h"
#include "opts.h"
#include "propeller_write.h"

static void take_figures(struct pgk_gen *g, const struct pgk_block_order *order,
                         const struct pgk_block_flow *flow, const struct pgk_propeller_written *w)
{
    struct pgk_gen_stats *s = &g->stats;
    s->functions += w->functions;
    s->blocks_listed += w->blocks;
    s->functions_nameless += w->nameless;
    s->functions_repeated += w->repeated;
    s->ways += order->all;
    s->ways_taken += flow->taken;
    s->ways_taken_ordered += order->taken;
    s->score_now += (uint64_t)order->score_now;
    s->score_ordered += (uint64_t)order->score;
    if (w->nameless_example)
        pgk_gen_example(s, PGK_GEN_NAMELESS, "%s", w->nameless_example);
}

/* Neither file is there without the other. */
static int write_files(const struct pgk_propeller *p, const struct pgk_gen_blocks_opts *opts,
                       const char *path, struct pgk_propeller_written *written, struct pgk_err *err)
{
    struct pgk_sink *list = NULL, *symbols = NULL;
    PGK_TRY(pgk_sink_open(&list, path, err));
    int status = opts->symbols ? pgk_sink_open(&symbols, opts->symbols, err) : 0;
    if (!status && !pgk_propeller_write(p, list, symbols, written))
        status = pgk_fail_nomem(err);
    if (!status && !written->functions)
        status = pgk_fail(err, PGK_E_EMPTY, .file = path, .format = "list of blocks",
                          .field = "functions", .found = "none that ran and has a name of its own",
                          .expected = "at least one",
                          .hint = "compile with -funique-internal-linkage-names, and record "
                                  "longer");
    if (!status && symbols)
        status = pgk_sink_commit(&symbols, err);
    if (!status)
        return pgk_sink_commit(&list, err);
    pgk_sink_drop(&symbols);
    pgk_sink_drop(&list);
    return status;
}

static int write_order(struct pgk_gen *g, const struct pgk_propeller *p,
                       const struct pgk_block_flow *flow, const struct pgk_gen_blocks_opts *opts,
                       const char *path, struct pgk_err *err)
{
    struct pgk_propeller_written written;
    if (!p->order->functions.n)
        return pgk_gen_no_samples(g, err);
    PGK_TRY(write_files(p, opts, path, &written, err));
    take_figures(g, p->order, flow, &written);
    return 0;
}

static int make_order(struct pgk_gen *g, const struct pgk_gen_binary *b,
                      const struct pgk_block_map *map, const struct pgk_gen_blocks_opts *opts,
                      const char *path, struct pgk_err *err)
{
    struct pgk_layout_functions functions;
    struct pgk_block_flow flow;
    struct pgk_block_order order;
    PGK_TRY(pgk_layout_functions_open(&functions, b->elf, err));
    int status = pgk_block_flow_count(&flow, map, &b->counters.ranges, &b->counters.branches)
                     ? 0
                     : pgk_fail_nomem(err);
    if (!status && !pgk_block_order_make(&order, &flow)) {
        pgk_block_flow_free(&flow);
        status = pgk_fail_nomem(err);
    }
    if (!status) {
        struct pgk_propeller p = {map, &order, &functions, map->list};
        status = write_order(g, &p, &flow, opts, path, err);
        pgk_block_order_free(&order);
        pgk_block_flow_free(&flow);
    }
    pgk_layout_functions_close(&functions);
    return status;
}

int pgk_gen_write_blocks(struct pgk_gen *g, uint32_t binary,
                         const struct pgk_gen_blocks_opts *given, const char *path,
                         struct pgk_err *err)
{
    struct pgk_gen_blocks_opts opts;
    struct pgk_block_map map;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    PGK_TRY(pgk_gen_need_counters(g, err));
    if (!pgk_gen_counted(g, binary))
        return pgk_gen_no_samples(g, err);
    if (g->contexts)
        return pgk_fail(err, PGK_E_ARG, .field = "counters", .found = "of calling contexts",
                        .expected = "plain ones, for a list of blocks",
                        .hint = "leave contexts out, as with --mode autofdo");
    PGK_TRY(pgk_block_map_open(&map, g->images.v[binary].elf, err));
    int status = pgk_gen_settle_counters(g, binary, err);
    if (!status)
        status = make_order(g, &g->images.v[binary], &map, &opts, path, err);
    pgk_block_map_close(&map);
    return status;
}
