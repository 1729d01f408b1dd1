/* How often functions ran and called each other. */
#include "call_graph.h"

void pgk_call_graph_free(struct pgk_call_graph *graph)
{
    pgk_vec_free(&graph->functions);
    pgk_vec_free(&graph->calls);
}
