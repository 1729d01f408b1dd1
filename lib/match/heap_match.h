/* Where the contexts of a heap profile are in the other build. */
#ifndef PGK_HEAP_MATCH_H
#define PGK_HEAP_MATCH_H

#include "pgokit/match.h"

/* The level of one context, by its number in the profile. */
enum pgk_match_level pgk_match_level(const struct pgk_match *match, size_t context);
/* The stack of a context in terms of the other build, leaf first: fills at most `max` frames,
 * returns the number there are; 0 if the context was not found. Strings belong to the match. */
size_t pgk_match_stack(const struct pgk_match *match, size_t context,
                       struct pgk_heap_frame *frames, size_t max);

#endif
