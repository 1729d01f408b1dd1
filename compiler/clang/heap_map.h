/* Numbers of things that the compiler knows by address. */
#ifndef PGC_HEAP_MAP_H
#define PGC_HEAP_MAP_H

#include <stddef.h>
#include <stdint.h>

struct pgc_map {
    const void **keys;
    uint32_t *numbers;
    size_t size; /* a power of two; 0: empty */
    uint32_t n;
};

/* Of a thing that is new: how many were known before. */
uint32_t pgc_map_number(struct pgc_map *m, const void *key);
void pgc_map_close(struct pgc_map *m);

#endif
