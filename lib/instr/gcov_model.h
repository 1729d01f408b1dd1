/* The model behind struct pgk_gcov. docs/formats/gcov.md */
#ifndef PGK_GCOV_MODEL_H
#define PGK_GCOV_MODEL_H

#include "arena.h"
#include "cursor.h"
#include "index.h"
#include "pgokit/gcov.h"
#include "vec.h"

#define PGK_GCDA_MAGIC UINT32_C(0x67636461)
#define PGK_GCNO_MAGIC UINT32_C(0x67636e6f)

enum { PGK_GCOV_LIST_MAX = 32 }; /* values that gcc keeps of a list */

struct pgk_gcov_list {
    uint64_t total;
    bool cut; /* some values are not in the list; the total is negative in the file */
    struct pgk_gcov_value *v; /* most frequent first, then by value */
    uint32_t n;
};

struct pgk_gcov_counters {
    bool present; /* the file has the record, which may be empty */
    uint32_t n;
    int64_t *v;                  /* NULL of lists */
    struct pgk_gcov_list *lists;
};

struct pgk_gcov_func {
    uint32_t ident, lineno_checksum, cfg_checksum;
    uint32_t line;
    const char *name, *source; /* NULL unknown */
    bool counted;
    struct pgk_gcov_counters kind[PGK_GCOV_KINDS];
};

struct pgk_gcov {
    struct pgk_arena arena;
    PGK_VEC(struct pgk_gcov_func) funcs;
    struct pgk_index by_ident;
    uint32_t version, stamp, checksum;
    const char *first_file; /* which said what the stamp is */
    uint64_t runs, sum_max;
    bool has_counts;
};

static inline bool pgk_gcov_is_list(enum pgk_gcov_kind kind)
{
    return kind == PGK_GCOV_TOP || kind == PGK_GCOV_CALLS;
}

bool pgk_gcov_sniff(const uint8_t *bytes, size_t size);
/* Either kind of file. */
PGK_MUST_USE int pgk_gcov_add(struct pgk_gcov *g, const uint8_t *bytes, size_t size,
                              const struct pgk_source *src, uint64_t weight, struct pgk_err *err);

#endif
