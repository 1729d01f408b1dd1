/* What an order of functions is worth: on how many pages the code is that runs most. */
#ifndef PGK_HOT_PAGES_H
#define PGK_HOT_PAGES_H

#include "cache_sort.h"
#include "layout_functions.h"

/* Adds the pages of 4 KiB that hold the functions with 90 % of what ran: in the binary as it is,
 * and where the functions follow each other in the order. False when out of memory. */
bool pgk_hot_pages(uint64_t *now, uint64_t *ordered, const struct pgk_layout_functions *functions,
                   const struct pgk_call_graph *graph, const pgk_layout_list *order);

#endif
