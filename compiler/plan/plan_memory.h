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

/* Space for one element more than n. */
static inline void *pgc_room(void *all, size_t n, size_t *room, size_t bytes)
{
    if (n < *room)
        return all;
    *room = *room ? 2 * *room : 16;
    all = realloc(all, *room * bytes);
    if (!all)
        abort();
    return all;
}

#endif
