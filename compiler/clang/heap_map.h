/* Numbers of things that the compiler knows by address, and of parts of them. */
#ifndef PGC_HEAP_MAP_H
#define PGC_HEAP_MAP_H

#include <stddef.h>
#include <stdint.h>

struct pgc_map_row {
    const void *thing; /* NULL: none */
    int64_t part;
    uint32_t number;
};

struct pgc_map {
    struct pgc_map_row *rows;
    size_t size; /* a power of two; 0: empty */
    uint32_t n;
};

/* Of a part that is new: how many were known before. */
uint32_t pgc_map_number(struct pgc_map *m, const void *thing, int64_t part);
void pgc_map_close(struct pgc_map *m);

#endif
