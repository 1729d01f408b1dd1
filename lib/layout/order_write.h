/* An order of functions as each linker takes it. docs/formats/function-order.md */
#ifndef PGK_ORDER_WRITE_H
#define PGK_ORDER_WRITE_H

#include "cache_sort.h"
#include "layout_functions.h"
#include "sink.h"

#include <pgokit/gen.h>

/* `graph` is what the order was made from. */
void pgk_order_write(const struct pgk_layout_functions *functions, const pgk_layout_list *order,
                     const struct pgk_call_graph *graph, enum pgk_order_form form,
                     struct pgk_sink *out);

#endif
