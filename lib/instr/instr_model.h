/* The model of counters, struct pgk_instr: flat tables in one arena.
 *
 *   names ◄── functions ──► counters, bitmaps
 *   vtables        └──────► value sites ──► values
 *
 * Readers add records to it through pgk_instr_add, which is also what merges: adding is
 * commutative and associative, so that no order of inputs and no grouping shows.
 *
 * - Counters add up, up to PGK_COUNT_MAX. The two numbers above it are not counts: as the
 *   first counter they say that the function is hot or warm without saying how much.
 *   A function that was really counted beats one that was not.
 * - Bitmaps are united; of uniformity see uniformity.h.
 * - A site is a multiset of (value, count). Values met twice in a site, which happens to
 *   unknown call targets, stay apart; merging adds the largest count of a value to its
 *   largest, the second to the second. */
#ifndef PGK_INSTR_MODEL_H
#define PGK_INSTR_MODEL_H

#include "arena.h"
#include "fail.h"
#include "index.h"
#include "pgokit/instr.h"
#include "uniformity.h"
#include "value_data.h"
#include "variant.h"
#include "vec.h"

#define PGK_COUNT_MAX (UINT64_MAX - 2)
#define PGK_COUNT_WARM (UINT64_MAX - 1)
#define PGK_COUNT_HOT UINT64_MAX

/* Bit of a function's hash: counted in its context. */
#define PGK_HASH_CONTEXTUAL_BIT 60

/* Names by the first 8 bytes of their MD5. */
struct pgk_instr_name {
    uint64_t ref;
    const char *s; /* NUL-terminated, in the arena */
    size_t len;
    uint32_t inputs, last_input; /* in how many there is a function of it; of those the last */
};
struct pgk_instr_names {
    PGK_VEC(struct pgk_instr_name) list;
    struct pgk_index by_ref;
};

struct pgk_value_site {
    struct pgk_instr_value *v;
    uint32_t n, cap;
};

struct pgk_instr_func {
    uint64_t hash;
    uint64_t *counts;
    uint8_t *bitmap;
    struct pgk_value_site *sites; /* of all kinds, kind by kind */
    struct pgk_uniformity *uniformity; /* of code for GPUs; NULL: nothing is said */
    uint32_t name;                /* position in `names` */
    uint32_t inputs, last_input;  /* as of its name */
    uint32_t n_counts, n_bitmap;
    uint32_t n_sites[PGK_VALUE_KINDS];
    bool pseudo;   /* only known to be hot or warm */
    bool mixed;    /* that in one input, and counted in another */
    bool disputed; /* inputs contradict each other: in no output */
    bool merged;   /* of several inputs; sites are sorted by value, then largest count first.
                      Of one input: as there, which decides between equal counts */
};

struct pgk_instr_dispute {
    uint32_t name;
    uint64_t hash;
    const char *what, *file;
    uint64_t one, other;
};

struct pgk_instr_id {
    const uint8_t *bytes;
    size_t size;
};

struct pgk_instr_trace {
    uint64_t weight;
    uint64_t *refs; /* names in the order of their first call */
    size_t n;
};

/* Which algorithm of clang's front end made the hashes, as far as files record it. */
enum pgk_hash_age { PGK_HASHES_UNKNOWN = 0, PGK_HASHES_OLD = 1, PGK_HASHES_NEW = 2 };

struct pgk_instr {
    struct pgk_arena arena;
    struct pgk_instr_names names, vtables;
    PGK_VEC(struct pgk_instr_func) funcs;
    struct pgk_index func_index; /* by name ref and hash */
    PGK_VEC(struct pgk_instr_dispute) disputes;
    bool keeps_disputed; /* such functions are in outputs, as the first input has them */
    PGK_VEC(struct pgk_instr_id) binary_ids;
    struct pgk_index id_index;
    PGK_VEC(struct pgk_instr_trace) traces;
    uint64_t trace_stream;  /* traces that those were taken from */
    uint64_t flags;         /* variant bits of the version word */
    const char *flags_file; /* the first input with functions; NULL none */
    uint32_t inputs;        /* numbers the inputs, from 1 */
    uint32_t built_input;   /* the number of what the caller adds; 0: nothing yet */
    unsigned hash_age;      /* pgk_hash_age, united */
};

/* One function of one input, as a reader passes it on. */
struct pgk_instr_record {
    uint32_t name;     /* position in `names` */
    uint64_t hash;
    const void *counts; /* u64 each, little-endian, at any address */
    size_t n_counts;    /* 1 or more */
    const uint8_t *bitmap;
    size_t n_bitmap;
    const struct pgk_value_data *values; /* NULL none */
    const struct pgk_uniformity *uniformity; /* NULL none */
};

/* The target of a reader. */
struct pgk_instr_adder {
    struct pgk_instr *profile;
    uint64_t weight;
    const char *file; /* lives as long as the profile */
    uint32_t input;
    uint32_t next;    /* the function that probably comes next: files of one program are
                         alike */
};

/* A copy of the file's name is made; false when out of memory. */
bool pgk_instr_adder_init(struct pgk_instr_adder *a, struct pgk_instr *p, const char *file,
                          uint64_t weight);
PGK_MUST_USE int pgk_instr_add(struct pgk_instr_adder *a, const struct pgk_instr_record *r,
                               struct pgk_err *err);
/* Notes the variant bits of an input that has functions; refuses those that do not go
 * with the inputs before. */
PGK_MUST_USE int pgk_instr_note_flags(struct pgk_instr_adder *a, uint64_t flags,
                                      const char *format, struct pgk_err *err);

/* Position of a name, added if new; PGK_INDEX_NONE when out of memory. */
uint32_t pgk_names_add(struct pgk_instr_names *t, struct pgk_arena *arena, uint64_t ref,
                       const char *s, size_t len);
/* PGK_INDEX_NONE if there is no such. */
uint32_t pgk_names_find(const struct pgk_instr_names *t, uint64_t ref);

/* The function's position, or PGK_INDEX_NONE. */
uint32_t pgk_instr_find(const struct pgk_instr *p, uint64_t name_ref, uint64_t hash);

bool pgk_instr_add_binary_id(struct pgk_instr *p, const uint8_t *bytes, size_t size);
/* Takes a copy; a trace without names is not kept. False when out of memory. */
bool pgk_instr_add_trace(struct pgk_instr *p, uint64_t weight, const uint64_t *refs, size_t n);

struct pgk_instr_renames;
/* As pgk_instr_merge, with the new names that `renames`, which may be NULL, has. */
PGK_MUST_USE int pgk_instr_copy(struct pgk_instr *into, const struct pgk_instr *from,
                                uint64_t weight, const struct pgk_instr_renames *renames,
                                struct pgk_err *err);
/* Leaves the functions that `keep` wants; on failure the profile is as it was. */
PGK_MUST_USE int pgk_instr_squeeze(struct pgk_instr *p,
                                   bool (*keep)(const void *ctx, const struct pgk_instr_func *),
                                   const void *ctx, struct pgk_err *err);

/* Order of output: functions by name, then hash. */
PGK_MUST_USE int pgk_instr_order(const struct pgk_instr *p, uint32_t **order,
                                 struct pgk_err *err);
/* Order of output of ids and traces: by content. Pointers into the tables of `p`. */
PGK_MUST_USE int pgk_instr_order_ids(const struct pgk_instr *p, const struct pgk_instr_id ***order,
                                     struct pgk_err *err);
PGK_MUST_USE int pgk_instr_order_traces(const struct pgk_instr *p,
                                        const struct pgk_instr_trace ***order,
                                        struct pgk_err *err);
/* Refuses a profile without functions (or NULL), or with conflicts that are still in it. */
PGK_MUST_USE int pgk_instr_check_writable(const struct pgk_instr *p, const char *path,
                                          const char *format, struct pgk_err *err);

const struct pgk_value_site *pgk_func_site(const struct pgk_instr_func *f,
                                           enum pgk_value_kind kind, size_t site);

/* A site's values as files hold them: largest count first, PGK_SITE_VALUES_MAX at most. */
enum { PGK_SITE_VALUES_MAX = 255 };
struct pgk_ranked_value {
    struct pgk_instr_value v;
    uint32_t pos;
};
typedef PGK_VEC(struct pgk_ranked_value) pgk_ranked_vec;
/* False when out of memory. */
bool pgk_site_rank(const struct pgk_value_site *s, pgk_ranked_vec *ranked);

static inline uint64_t pgk_count_add(uint64_t a, uint64_t b, uint64_t weight, uint64_t max)
{
    uint64_t sum;
    if (PGK_UNLIKELY(__builtin_mul_overflow(b, weight, &b) ||
                     __builtin_add_overflow(a, b, &sum) || sum > max))
        return max;
    return sum;
}

#endif
