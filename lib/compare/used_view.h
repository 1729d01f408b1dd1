/* What the views of uses share. */
#ifndef PGK_USED_VIEW_H
#define PGK_USED_VIEW_H

#include "match_view.h"
#include "pgokit/use.h"
#include "use_sum.h"

/* A call on the path to an allocation, or to an object's virtual call; leaf first. */
struct pgk_used_call {
    const char *function; /* linkage name; "" unknown */
    uint64_t guid;
    uint32_t line;        /* offset, or probe */
    uint32_t column;      /* of a context; 0 unknown */
    uint32_t discriminator; /* of a type; 0 none */
};
/* The chain of what was not used, in memory that the caller frees with pgk_mem_free; NULL when out
 * of memory. */
struct pgk_used_call *pgk_used_chain(const struct pgk_used *used, const struct pgk_used_left *left,
                                     size_t *n);

void pgk_used_json(const struct pgk_used *used, const struct pgk_match_print_opts *opts, FILE *out);

#endif
