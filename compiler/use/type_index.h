/* Types of objects at places, by the calls through which the function of the place is inlined. */
#ifndef PGC_TYPE_INDEX_H
#define PGC_TYPE_INDEX_H

#include "use_place.h"

#include <pgokit/use.h>

/* A type, by LLVM's id of its virtual table, and how many objects of it there were. */
struct pgc_type_count {
    uint64_t type, count;
};
enum { PGC_TYPES = 6 }; /* of one place; as many as LLVM looks at */

/* A function of a profile, or one that is inlined into its caller at a place there. */
struct pgc_type_context {
    uint64_t function;
    uint32_t line, discriminator;
    uint32_t caller; /* number of its context; 0: none */
};

struct pgc_type_row {
    uint64_t function;
    uint32_t line, discriminator;
    uint32_t context;
    bool local;          /* of an anonymous namespace */
    enum pgk_use use;    /* its outcome; PGK_USE_NO_FUNCTION: none */
    uint64_t key, place; /* of the row and of its call, in records */
    struct pgc_type_count of;
};

struct pgc_type_range {
    struct pgc_type_row *first, *end;
};

struct pgc_type_index {
    bool probes;                /* lines are numbers of probes */
    struct pgc_type_row *all;   /* after pgc_type_index_sort: by place, then by context */
    size_t n, capacity;
    struct pgc_type_context *contexts; /* by number, which are small */
    size_t n_contexts, context_capacity;
    struct pgc_type_range found[PGC_PLACES + 1]; /* by the last pgc_type_index_at */
    size_t n_found;
};

void pgc_type_index_context(struct pgc_type_index *rows, uint32_t number,
                            struct pgc_type_context context);
void pgc_type_index_add(struct pgc_type_index *rows, struct pgc_type_row row);
void pgc_type_index_sort(struct pgc_type_index *rows);
void pgc_type_index_close(struct pgc_type_index *rows);

/* The rows of a function. */
struct pgc_type_range pgc_type_index_of(const struct pgc_type_index *rows, uint64_t function);
/* Types at the place of an instruction, the most frequent first: those of its very chain of inlined
 * calls, or else those of all contexts that may be it, added up; either may go further up than the
 * other. Returns how many, at most PGC_TYPES. */
size_t pgc_type_index_at(struct pgc_type_index *rows, const struct pgc_place *chain, size_t n,
                        struct pgc_type_count types[PGC_TYPES]);

#endif
