/* The types that a program allocates: the rows of .debug_pgokit_types
 * (docs/formats/heap-types.md). */
#ifndef PGK_TYPE_ROWS_H
#define PGK_TYPE_ROWS_H

#include "index.h"
#include "intern.h"

struct pgk_type_row {
    uint64_t guid;      /* of the function with the call */
    uint64_t place;     /* of the call in it, as pgk_frame_place, with 16 bits of the line */
    uint32_t type;      /* string id of its name; 0: the function returns the pointer */
    bool allocates;     /* a call of malloc, operator new and the like; else of any function */
    bool contradictory; /* rows differ, as of two calls by one macro: nothing is known */
};

/* A zeroed struct has no rows. */
struct pgk_type_rows {
    struct pgk_intern names;
    PGK_VEC(struct pgk_type_row) list;
    struct pgk_index index;
};
void pgk_type_rows_free(struct pgk_type_rows *rows);
/* Adds the rows of a section of the file at `path`. Warns of those that it cannot read, and leaves
 * them out. False when out of memory. */
bool pgk_type_rows_read(struct pgk_type_rows *rows, const void *bytes, size_t size,
                        const char *path);
/* The row of a call at a place as frames of the heap model have it; NULL: there is none. */
const struct pgk_type_row *pgk_type_rows_find(const struct pgk_type_rows *rows, uint64_t guid,
                                              uint64_t place, bool allocates);

/* The name of a type as all of its spellings have it: "a<b<c> >" becomes "a<b<c>>". A string id,
 * or PGK_INDEX_NONE when out of memory. */
uint32_t pgk_type_name_intern(struct pgk_intern *names, const char *name, size_t len);

#define PGK_TYPES_SECTION ".debug_pgokit_types"

#endif
