/* Records of what compiles used: docs/formats/use-record.md. */
#ifndef PGK_USE_RECORD_H
#define PGK_USE_RECORD_H

#include "cursor.h"
#include "pgokit/use.h"
#include "vec.h"

/* "hinted", "no call", ...: as records have it. */
const char *pgk_use_name(enum pgk_use use);
/* What it means, in words. */
const char *pgk_use_meaning(enum pgk_use use);

/* A line of a record: what became of a context or type, at which call. */
struct pgk_use_line {
    uint64_t key, place;
    uint8_t use;
};

enum pgk_use_kind { PGK_USE_OF_HEAP, PGK_USE_OF_TYPES, PGK_USE_OF_LINK };

/* One record. */
struct pgk_use_record {
    enum pgk_use_kind kind;
    uint64_t items, weight; /* of the profile, which distinguish it from others */
    uint64_t given, missed, unlocated;
    struct pgk_use_limits limits;
    PGK_VEC(struct pgk_use_line) lines;
    PGK_VEC(uint64_t) hinted, compared; /* calls in a link, with the callers inlined there */
};
void pgk_use_record_free(struct pgk_use_record *r);

/* Reads one into a zeroed struct, which is freed also after failure. */
PGK_MUST_USE int pgk_use_record_read(struct pgk_use_record *r, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, struct pgk_err *err);

#endif
