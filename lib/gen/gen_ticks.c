/* Ticks by place. */
#include "gen_ticks.h"

#include "gen_place.h"
#include "saturate.h"

int pgk_gen_want_ticks(struct pgk_gen *g, struct pgk_err *err)
{
    g->ticks.in = pgk_mem_zalloc(g->images.n, sizeof *g->ticks.in);
    g->ticks.wanted = g->ticks.in != NULL;
    return g->ticks.wanted ? 0 : pgk_fail_nomem(err);
}

void pgk_gen_ticks_free(struct pgk_gen *g)
{
    for (size_t i = 0; g->ticks.in && i < g->images.n; i++)
        pgk_pairs_free(&g->ticks.in[i]);
    pgk_mem_free(g->ticks.in);
    pgk_intern_free(&g->ticks.files);
    pgk_vec_free(&g->ticks.outside);
}

static int tick_outside(struct pgk_gen *g, const char *file, uint64_t count)
{
    const uint32_t id = pgk_intern_cstr(&g->ticks.files, file);
    if (id == PGK_INDEX_NONE)
        return pgk_fail_nomem(g->err);
    while (g->ticks.outside.n <= id)
        if (!pgk_vec_push(&g->ticks.outside, 0))
            return pgk_fail_nomem(g->err);
    g->ticks.outside.v[id] = pgk_add_saturated(g->ticks.outside.v[id], count);
    return 0;
}

int pgk_gen_tick(struct pgk_gen *g, struct pgk_gen_place place, const char *file, uint64_t count)
{
    if (place.binary == PGK_NO_BINARY)
        return tick_outside(g, file, count);
    return pgk_pairs_add(&g->ticks.in[place.binary], place.addr, 0, count) ? 0
                                                                           : pgk_fail_nomem(g->err);
}

int pgk_gen_tick_sample(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    const struct pgk_gen_place at = pgk_gen_place(g, s, s->ip);
    size_t n;
    if (at.binary != PGK_NO_BINARY)
        return pgk_gen_tick(g, at, NULL, s->count);
    const struct pgk_process_place in = pgk_process_map_find(g->space.map, s->pid, s->time, s->ip);
    const struct pgk_process_file *files = pgk_process_map_files(g->space.map, &n);
    return tick_outside(g, in.mapping ? files[in.mapping->file].path : "", s->count);
}

int pgk_gen_each_tick(struct pgk_gen *g, pgk_gen_tick_fn *fn, void *ctx)
{
    for (uint32_t b = 0; b < g->images.n; b++) {
        struct pgk_pairs *in = &g->ticks.in[b];
        pgk_pairs_sort(in);
        for (size_t i = 0; i < in->list.n; i++) {
            const struct pgk_pair *p = &in->list.v[i];
            PGK_TRY(fn(ctx, &(struct pgk_gen_ticked){true, b, p->from, "", p->count}));
        }
    }
    for (uint32_t id = 0; id < g->ticks.outside.n; id++)
        if (g->ticks.outside.v[id])
            PGK_TRY(fn(ctx, &(struct pgk_gen_ticked){.file = pgk_intern_str(&g->ticks.files, id),
                                                     .count = g->ticks.outside.v[id]}));
    return 0;
}
