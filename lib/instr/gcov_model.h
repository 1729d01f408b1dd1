/* The model of counters by gcc, struct pgk_gcov. docs/formats/gcov.md */
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

/* The version word: four characters, stored last first. 'A' and a tenth of the major number, its
 * last digit, the minor number, and '*' for a release. */
#define PGK_GCOV_VERSION(major, minor)                                                     \
    (('A' + (uint32_t)(major) / 10) << 24 | ('0' + (uint32_t)(major) % 10) << 16 |         \
     ('0' + (uint32_t)(minor)) << 8 | '*')
static inline uint32_t pgk_gcov_major(uint32_t version)
{
    return ((version >> 24) - 'A') * 10 + ((version >> 16 & 0xff) - '0');
}
static inline uint32_t pgk_gcov_minor(uint32_t version)
{
    return (version >> 8 & 0xff) - '0';
}
/* Is it a release of records/gcov.def, whatever its minor number? */
bool pgk_gcov_is_version(uint32_t version);

enum pgk_gcov_merging {
    PGK_GCOV_ADD, PGK_GCOV_OR_BITS, PGK_GCOV_EARLIEST, PGK_GCOV_BY_VALUE
};
enum pgk_gcov_merging pgk_gcov_merging(enum pgk_gcov_kind kind);

static inline bool pgk_gcov_is_list(enum pgk_gcov_kind kind)
{
    return pgk_gcov_merging(kind) == PGK_GCOV_BY_VALUE;
}

bool pgk_gcov_sniff(const uint8_t *bytes, size_t size);
/* Either kind of file. */
PGK_MUST_USE int pgk_gcov_add(struct pgk_gcov *g, const uint8_t *bytes, size_t size,
                              const struct pgk_source *src, uint64_t weight, struct pgk_err *err);

#endif
