/* Orders blocks of made-up functions by ext-TSP, and prints how long that takes and what it gains.
 *
 *     build/bench/order_scale [BLOCKS [BLOCKS_A_FUNCTION]]      (1000000, 100)
 *
 * Jumps are as in code: a block goes on to the next one and to one close by, and every eighth jumps
 * back. Counts vary by loops. */
#include "ext_tsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct made {
    PGK_VEC(struct pgk_tsp_block) blocks;
    PGK_VEC(struct pgk_tsp_jump) jumps;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool add_jump(struct made *m, uint32_t from, uint32_t to, uint64_t count)
{
    return pgk_vec_push(&m->jumps, (struct pgk_tsp_jump){from, to, count});
}

static bool make_function(struct made *m, uint32_t n, uint64_t *seed)
{
    m->blocks.n = m->jumps.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t count = UINT64_C(1) << next_random(seed) % 12;
        uint32_t near = i + 2 + (uint32_t)(next_random(seed) % 5);
        uint32_t back = i > 6 ? i - 1 - (uint32_t)(next_random(seed) % 6) : 0;
        struct pgk_tsp_block b = {4 + next_random(seed) % 60, count};
        if (!pgk_vec_push(&m->blocks, b) ||
            (back && !(i % 8) && !add_jump(m, i, back, count / 3 + 1)) ||
            (i + 1 < n && !add_jump(m, i, i + 1, count / 2 + 1)) ||
            (near < n && i % 3 && !add_jump(m, i, near, next_random(seed) % count + 1)))
            return false;
    }
    return true;
}

static bool order_function(const struct made *m, double *before, double *after)
{
    struct pgk_tsp_graph g = {m->blocks.v, m->blocks.n, m->jumps.v, m->jumps.n};
    pgk_layout_list order = {0};
    double score = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < g.n; i++)
        ok = pgk_vec_push(&order, i);
    ok = ok && pgk_ext_tsp_score(&score, order.v, order.n, &g);
    *before += score;
    order.n = 0;
    ok = ok && pgk_ext_tsp_order(&order, &g) && pgk_ext_tsp_score(&score, order.v, order.n, &g);
    *after += score;
    pgk_vec_free(&order);
    return ok;
}

int main(int argc, char **argv)
{
    long blocks = argc > 1 ? atol(argv[1]) : 1000000, each = argc > 2 ? atol(argv[2]) : 100;
    struct made made = {0};
    double before = 0, after = 0;
    uint64_t seed = 1;
    bool ok = blocks > 0 && each > 0;
    for (long left = blocks; ok && left > 0; left -= each)
        ok = make_function(&made, (uint32_t)(left < each ? left : each), &seed) &&
             order_function(&made, &before, &after);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    if (ok)
        printf("%ld blocks, %ld a function: %.2f s of processor time, %ld MiB; score %.4g, was "
               "%.4g\n",
               blocks, each, (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6,
               use.ru_maxrss / 1024, after, before);
    pgk_vec_free(&made.blocks);
    pgk_vec_free(&made.jumps);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
