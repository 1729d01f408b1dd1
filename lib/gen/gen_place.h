/* From an address of a sample to a place in one of the binaries. */
#ifndef PGK_GEN_PLACE_H
#define PGK_GEN_PLACE_H

#include "gen_priv.h"

/* Which windows hold for a sample: to be called before pgk_gen_place. */
void pgk_gen_choose_windows(struct pgk_gen *gen, const struct pgk_perf_sample *sample);
/* Looks for a window around `addr`, which replaces another; its number. */
unsigned pgk_gen_find_window(struct pgk_gen *gen, const struct pgk_perf_sample *sample,
                             uint64_t addr);

static inline struct pgk_gen_place pgk_gen_place(struct pgk_gen *g, const struct pgk_perf_sample *s,
                                                 uint64_t addr)
{
    unsigned i = 0;
    if (PGK_UNLIKELY(g->stats.no_mapping))
        return (struct pgk_gen_place){0, addr};
    while (i < PGK_GEN_WINDOWS && addr - g->windows[i].start >= g->window_size[i])
        i++;
    if (PGK_UNLIKELY(i == PGK_GEN_WINDOWS))
        i = pgk_gen_find_window(g, s, addr);
    g->last_of[g->windows[i].binary != PGK_NO_BINARY] = i;
    return (struct pgk_gen_place){g->windows[i].binary, addr - g->windows[i].bias};
}

#endif
