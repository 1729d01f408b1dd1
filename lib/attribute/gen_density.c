/* The density of a profile: samples per line of the functions that make up nearly all of it. */
#include "gen_binary.h"
#include "saturate.h"

#include <stdlib.h>

enum { PPM = 1000000, HOT_PPM = 990000 };

struct function_density {
    double density;
    uint64_t sum;
    uint32_t node;
};

/* Sums up the lines of a function and of what is inlined there; nesting is limited by the reader
 * or the debug information it came from. */
static void add_lines(const struct pgk_sample *p, uint32_t node, uint64_t *sum, uint64_t *lines)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    for (uint32_t i = 0; i < recs->n; i++)
        if (recs->v[i].what == PGK_REC_BODY) {
            *sum = pgk_add_saturated(*sum, recs->v[i].count);
            ++*lines;
        }
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        add_lines(p, c, sum, lines);
}

static int densest_first(const void *a, const void *b)
{
    const struct function_density *x = a, *y = b;
    return x->density > y->density ? -1 : x->density < y->density;
}

int pgk_gen_density(const struct pgk_sample *p, uint32_t share_ppm, double *density,
                    uint32_t *function, struct pgk_err *err)
{
    const double hot_ppm = share_ppm ? share_ppm : HOT_PPM;
    size_t n = p->by_heat.n, used = 0;
    struct function_density *v = pgk_mem_alloc(n + 1, sizeof *v);
    double all = 0, seen = 0;
    if (!v)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0, lines = 0;
        add_lines(p, p->by_heat.v[i], &sum, &lines);
        all += (double)sum;
        if (lines)
            v[used++] = (struct function_density){(double)sum / (double)lines, sum,
                                                  p->by_heat.v[i]};
    }
    if (used)
        qsort(v, used, sizeof *v, densest_first);
    *density = 0;
    *function = 0;
    for (size_t i = 0; i < used && seen * PPM < all * hot_ppm; i++) {
        seen += (double)v[i].sum;
        *density = v[i].density;
        *function = v[i].node;
    }
    pgk_mem_free(v);
    return 0;
}
