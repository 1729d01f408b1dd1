/* Random graphs of control flow for tests. */
#ifndef PGK_PLAN_GRAPHS_H
#define PGK_PLAN_GRAPHS_H

#include "plan_graph.h"

/* Each block leads to the next one, or not, and to up to two others: loops, exits from the middle
 * of them, blocks that nothing leads to, and entries into the middle of loops. */
static inline void random_edges(struct pgc_graph *g, uint32_t blocks, uint64_t *state)
{
    for (uint32_t b = 0; b < blocks; b++) {
        unsigned more = test_random(state) % 3;
        if (b + 1 < blocks && test_random(state) % 8)
            pgc_graph_edge(g, b, b + 1);
        for (unsigned i = 0; i < more && b + 1 < blocks; i++) {
            /* Back by little or on by little, so that many loops are natural ones. */
            uint32_t to = b + test_random(state) % 5;
            to = to < 3 ? 1 : to - (test_random(state) % 2 ? 2 : 0);
            pgc_graph_edge(g, b, to >= blocks ? blocks - 1 : to ? to : 1);
        }
    }
}

#endif
