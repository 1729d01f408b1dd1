/* Scales counts of the branch recorder.
 *
 * Windows see one of some thousand branches. Compilers take small counts literally: if the entry of
 * a loop was not seen, they assume one entry for the few rounds that were, and some add 1 to each
 * count. So counts are scaled to the size that they have in profiles of whole runs. */
#include "branch_scale.h"

#include "saturate.h"

uint64_t pgk_branch_scale(const struct pgk_branch_header *head)
{
    const uint64_t seen = pgk_multiply_saturated(head->frequency, head->window);
    if (!seen || seen >= PGK_BRANCHES_A_SECOND)
        return 1;
    return (PGK_BRANCHES_A_SECOND + seen / 2) / seen;
}

/* ---- all counts of a generator ---- */

typedef void on_count(void *ctx, uint64_t *count);

static void each_pair(struct pgk_pairs *pairs, on_count *on, void *ctx)
{
    for (size_t i = 0; i < pairs->list.n; i++)
        on(ctx, &pairs->list.v[i].count);
}

static void each_call(struct pgk_call_counts *counts, on_count *on, void *ctx)
{
    for (size_t i = 0; i < counts->list.n; i++)
        on(ctx, &counts->list.v[i].count);
}

static void each_range(struct pgk_gen *g, on_count *on, void *ctx)
{
    for (size_t i = 0; i < g->images.n; i++) {
        each_pair(&g->images.v[i].counters.ranges, on, ctx);
        each_call(&g->images.v[i].calls.ranges, on, ctx);
        each_call(&g->images.v[i].named.ranges, on, ctx);
    }
}

static void each_other(struct pgk_gen *g, on_count *on, void *ctx)
{
    for (size_t i = 0; i < g->images.n; i++) {
        each_pair(&g->images.v[i].counters.branches, on, ctx);
        each_call(&g->images.v[i].calls.branches, on, ctx);
        each_call(&g->images.v[i].named.branches, on, ctx);
        each_call(&g->images.v[i].calls.vtables, on, ctx);
    }
}

static void add_up(void *ctx, uint64_t *count)
{
    uint64_t *sum = ctx;
    *sum = pgk_add_saturated(*sum, *count);
}

/* What was counted is not forgotten. */
static void divide(void *ctx, uint64_t *count)
{
    const uint64_t *by = ctx;
    *count = *count / *by + (*count && *count < *by);
}

void pgk_gen_note_scale(struct pgk_gen *g, uint64_t scale)
{
    if (!g->stats.branch_scale || scale < g->stats.branch_scale)
        g->stats.branch_scale = scale;
}

double pgk_gen_range_sum(struct pgk_gen *g)
{
    uint64_t sum = 0;
    each_range(g, add_up, &sum);
    return (double)sum;
}

void pgk_gen_note_windows(struct pgk_windows *w, double seen, uint64_t scale)
{
    w->seen += seen;
    w->scaled += seen * (double)scale;
}

/* The mean factor of counts that add up to `all`, in which inputs other than windows are
 * unscaled. */
static double unit_of(const struct pgk_windows *w, double all)
{
    const double seen = all - w->scaled + w->seen;
    return seen > 0 && seen < all ? all / seen : 1;
}

static double divided(double unit, uint64_t by)
{
    return unit > (double)by ? unit / (double)by : 1;
}

void pgk_gen_to_samples(uint64_t *counted, uint64_t before, double unit)
{
    *counted = before + (uint64_t)((double)(*counted - before) / unit + 0.5);
}

void pgk_gen_limit_scaled(struct pgk_gen *g)
{
    uint64_t sum = 0;
    each_range(g, add_up, &sum);
    g->unit = unit_of(&g->ranges, (double)sum);
    g->load_unit = unit_of(&g->loaded, (double)g->stats.load_samples - g->loaded.seen +
                                           g->loaded.scaled);
    if (g->stats.branch_scale <= 1)
        return;
    uint64_t by = sum / UINT32_MAX + 1;
    if (by > g->stats.branch_scale)
        by = g->stats.branch_scale;
    if (by == 1)
        return;
    each_range(g, divide, &by);
    each_other(g, divide, &by);
    g->stats.branch_scale /= by;
    g->unit = divided(g->unit, by);
    g->load_unit = divided(g->load_unit, by);
}
