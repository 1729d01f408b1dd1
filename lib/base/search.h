/* Binary search. */
#ifndef PGK_SEARCH_H
#define PGK_SEARCH_H

#include <stddef.h>

/* Declares `at` and makes it the first of `n` positions where `is_before`, an expression of `mid`,
 * is false; `n` if there is none. It has to be true up to there and false from there on. */
#define PGK_SEARCH(at, n, mid, is_before)                 \
    size_t at = 0;                                        \
    for (size_t at##_end = (n), mid; at < at##_end;) {    \
        mid = at + (at##_end - at) / 2;                   \
        if (is_before)                                    \
            at = mid + 1;                                 \
        else                                              \
            at##_end = mid;                               \
    }

#endif
