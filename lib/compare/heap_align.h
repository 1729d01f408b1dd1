/* Two heap profiles side by side: which context of the one is which of the other. */
#ifndef PGK_HEAP_ALIGN_H
#define PGK_HEAP_ALIGN_H

#include "heap_frames.h"
#include "mib.h"

#define PGK_NO_CONTEXT UINT32_MAX

enum pgk_heap_change {
    PGK_CHANGE_NEW,    /* a context of the new profile only */
    PGK_CHANGE_GONE,   /* of the old one only */
    PGK_CHANGE_GREW,   /* 10 % more bytes or more */
    PGK_CHANGE_SHRANK, /* 10 % fewer bytes or more */
    PGK_CHANGE_COOLED, /* bytes alike; accesses per byte fell to a half or less */
    PGK_CHANGE_WARMED, /* bytes alike; accesses per byte doubled or more */
    PGK_CHANGE_SAME,
    PGK_CHANGES
};
const char *pgk_heap_change_name(enum pgk_heap_change change);

struct pgk_heap_pair {
    uint32_t now, before; /* context numbers; PGK_NO_CONTEXT: it has none */
    uint32_t node;        /* the stack, as `now` has it if there is one */
    bool moved;           /* the same functions, at other lines */
};

struct pgk_heap_alignment {
    struct pgk_heap_frames frames; /* of both */
    struct pgk_heap_pair *pairs;   /* contexts of `now` in order, then those that are gone */
    size_t n;
};

/* Contexts with equal stacks are the same. Of those left over, the ones that go through
 * the same functions are paired in order of their lines, because code moves between builds.
 * `before` may be NULL. */
PGK_MUST_USE int pgk_heap_align(struct pgk_heap_alignment *a, const struct pgk_heap *now,
                                const struct pgk_heap *before, struct pgk_err *err);
/* Accepts a zeroed struct. */
void pgk_heap_alignment_free(struct pgk_heap_alignment *a);

/* NULL for a side that has no such context. */
enum pgk_heap_change pgk_heap_change(const struct pgk_mib *now, const struct pgk_mib *before);

/* The overlap of both profiles: the sum over contexts of the smaller share of the bytes, 0 to 1; 1
 * for two empty profiles. */
double pgk_heap_overlap(const struct pgk_heap_alignment *a, const struct pgk_heap *now,
                        const struct pgk_heap *before);

#endif
