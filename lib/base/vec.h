/* Growable arrays: PGK_VEC(T) is a struct {T *v; size_t n, cap;}, zeroed = empty. */
#ifndef PGK_VEC_H
#define PGK_VEC_H

#include "mem.h"

#include <stdbool.h>
#include <string.h>

#define PGK_VEC(T)     \
    struct {           \
        T *v;          \
        size_t n, cap; \
    }

/* Reserves space for `more` further elements; false when out of memory. */
#define pgk_vec_reserve(vec, more)             \
    ((size_t)(more) <= (vec)->cap - (vec)->n || \
     pgk_vec_grow(&(vec)->v, &(vec)->cap, (vec)->n, (size_t)(more), sizeof *(vec)->v))

/* Appends one element; false when out of memory. */
#define pgk_vec_push(vec, ...) \
    (pgk_vec_reserve(vec, 1) && ((vec)->v[(vec)->n++] = (__VA_ARGS__), true))

#define pgk_vec_free(vec)                \
    do {                                 \
        pgk_mem_free((vec)->v);          \
        memset((vec), 0, sizeof *(vec)); \
    } while (0)

/* Grows geometrically (half again) with overflow checks; untouched on failure.
 * `v_addr` is the address of the array's pointer, of whatever type. */
bool pgk_vec_grow(void *v_addr, size_t *cap, size_t n, size_t more, size_t elem_size);

#endif
