/* The layout of raw heap profiles of a version, from the rows of records/heap_raw_versions.def and
 * heap_mib.def, so that no other code compares versions. */
#ifndef PGK_HEAP_RAW_LAYOUT_H
#define PGK_HEAP_RAW_LAYOUT_H

#include "mib.h"
#include "sink.h"

#include "heap_raw_versions.def"

/* How an element of a histogram is stored. */
enum pgk_raw_element { PGK_RAW_ELEMENT_NONE, PGK_RAW_ELEMENT_U64, PGK_RAW_ELEMENT_FLOAT16 };
/* The key of a module. */
enum pgk_raw_module { PGK_RAW_MODULE_FILE_OFFSET, PGK_RAW_MODULE_BUILD_ID };

struct pgk_raw_version {
    uint32_t version;
    enum pgk_raw_element element;
    enum pgk_raw_module module;
    uint32_t since, until; /* releases of LLVM that read it; until 0: none */
};
/* The row of a version, or NULL. */
const struct pgk_raw_version *pgk_raw_version(uint64_t version);
static inline bool pgk_raw_has_build_ids(const struct pgk_raw_version *v)
{
    return v->module == PGK_RAW_MODULE_BUILD_ID;
}

enum { PGK_HEAP_RAW_ID_MAX = 32 }; /* bytes of a build id */
/* Bytes of a segment. */
size_t pgk_raw_segment_size(const struct pgk_raw_version *v);

/* The fields of a MIB in file order. */
struct pgk_raw_mib {
    struct {
        uint8_t id, bytes, off;
    } fields[PGK_MIB_FIELDS];
    uint8_t absent[PGK_MIB_FIELDS]; /* ids of the others */
    size_t count, n_absent, size; /* size: bytes, without stack id and histogram */
    uint64_t known;     /* fields whose values are right */
};
struct pgk_raw_mib pgk_raw_mib(const struct pgk_raw_version *v);

/* Bytes of an element of a histogram, what one holds, writing one, and what of a count can be read
 * again afterwards: counts beyond the largest become that. */
size_t pgk_raw_element_size(enum pgk_raw_element element);
uint64_t pgk_raw_element(enum pgk_raw_element element, const uint8_t *bytes);
void pgk_raw_put_element(struct pgk_sink *out, enum pgk_raw_element element, uint64_t count);
uint64_t pgk_raw_element_kept(enum pgk_raw_element element, uint64_t count);
/* The code of a FLOAT16: each halving rounds up. */
uint16_t pgk_raw_float16(uint64_t count);

#endif
