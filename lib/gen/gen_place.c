/* From an address of a sample to a place in one of the binaries. */
#include "gen_place.h"

void pgk_gen_choose_windows(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    for (unsigned i = 0; i < PGK_GEN_WINDOWS; i++)
        g->window_size[i] = pgk_address_window_size(&g->windows[i], s->pid, s->time);
}

unsigned pgk_gen_find_window(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr)
{
    unsigned i = g->next_window++ % PGK_GEN_WINDOWS;
    g->windows[i] = pgk_address_window(&g->space, s->pid, s->time, addr);
    g->window_size[i] = g->windows[i].end - g->windows[i].start;
    return i;
}
