/* Memory of a compiler's plugin. Without it the compiler stops. */
#ifndef PGC_PLAN_MEMORY_H
#define PGC_PLAN_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

static inline void *pgc_zeroed(size_t n, size_t bytes)
{
    void *all = calloc(n ? n : 1, bytes);
    if (!all)
        abort();
    return all;
}

/* An array with space for more than `n` elements; `capacity` is that of now. */
static inline void *pgc_grown(void *all, size_t n, size_t *capacity, size_t bytes)
{
    if (n < *capacity)
        return all;
    *capacity = *capacity ? 2 * *capacity : 16;
    all = realloc(all, *capacity * bytes);
    if (!all)
        abort();
    return all;
}

/* Appends an element to an array. */
#define PGC_PUSH(all, n, capacity, ...) \
    ((all) = pgc_grown((all), (n), &(capacity), sizeof *(all)), (all)[(n)++] = (__VA_ARGS__))

#endif
