/* The sample profile model, struct pgk_sample: a tree of nodes with sorted records.
 *
 *     main                      a function's profile        (top)
 *      ├─ 4    parse   inlinee                               its samples are the inlined code's
 *      │   └─ 2.1  peek   inlinee
 *      └─ 9    parse   context                         (top) calling context [main:9 @ parse]
 *
 * A node is a function at a place: a function on its own, a function inlined at a call site,
 * or a function called from a call site (a context of a context-sensitive profile). What a
 * profile lists on its left margin is a top: a function or a context that has a profile.
 *
 * Each node has a list of records (struct pgk_sample_rec, 20 bytes): samples of a line, call
 * targets and vtables, distinguished by `what` and ordered by place. A list is a sorted part and
 * an unsorted tail of keys that the sorted part does not have; adding finds a record of the
 * sorted part or appends, and the tail is worked in when it gets long.
 *
 * How to build a profile from scratch, in any order:
 *
 *     struct pgk_sample *p;
 *     pgk_sample_new(&p, &err);
 *     uint32_t main = pgk_sample_name(p, "main", 4), parse = pgk_sample_name(p, "parse", 5);
 *     uint32_t f = pgk_sample_function(p, main);
 *     pgk_sample_add_head(p, f, 1);
 *     pgk_sample_add_body(p, f, pgk_sample_loc(4, 0), 120);
 *     pgk_sample_add_target(p, f, pgk_sample_loc(9, 0), parse, 70);
 *     uint32_t g = pgk_sample_inlinee(p, f, pgk_sample_loc(4, 0), parse);
 *     pgk_sample_add_body(p, g, pgk_sample_loc(1, 0), 80);
 *     pgk_sample_add_vtable(p, g, pgk_sample_loc(1, 0), vtable, 3);
 *     pgk_sample_add_total(p, g, 80);      // totals are what they are set to:
 *     pgk_sample_add_total(p, f, 200);     // a caller's includes its inlinees'
 *     pgk_sample_finish(p, &err);          // before writing and viewing
 *
 * Names and nodes are 0 and adding is false when out of memory. All sums stop at 2^64 - 1.
 * Not thread-safe for changes; reading a finished profile from many threads is fine. */
#ifndef PGK_SAMPLE_MODEL_H
#define PGK_SAMPLE_MODEL_H

#include "fail.h"
#include "intern.h"
#include "pgokit/sample.h"
#include "sample_names.h"
#include "saturate.h"

/* A place in a function: line offset, or probe id, and discriminator. */
enum { PGK_SAMPLE_MAX_LINE = 0xffff };
static inline uint64_t pgk_sample_loc(uint32_t line, uint32_t discriminator)
{
    return (uint64_t)line << 32 | discriminator;
}
static inline uint32_t pgk_sample_line(uint64_t loc)
{
    return (uint32_t)(loc >> 32);
}
static inline uint32_t pgk_sample_discriminator(uint64_t loc)
{
    return (uint32_t)loc;
}

/* The kind of a record: 0: samples of the line, a name the calls of that function, a name with the
 * vtable bit the objects of that type. */
#define PGK_REC_BODY 0u
#define PGK_REC_VTABLE (UINT32_C(1) << 31)

struct __attribute__((packed, aligned(4))) pgk_sample_rec {
    uint64_t loc, count;
    uint32_t what;
};

static inline bool pgk_rec_is_target(const struct pgk_sample_rec *r)
{
    return r->what && !(r->what & PGK_REC_VTABLE);
}
static inline bool pgk_rec_is_vtable(const struct pgk_sample_rec *r)
{
    return r->what & PGK_REC_VTABLE;
}
static inline uint32_t pgk_rec_name(const struct pgk_sample_rec *r)
{
    return r->what & ~PGK_REC_VTABLE;
}
/* Field by field: what is written in small pieces and read in a large one makes processors wait. */
static inline void pgk_rec_set(struct pgk_sample_rec *r, uint64_t loc, uint32_t what,
                               uint64_t count)
{
    r->loc = loc;
    r->what = what;
    r->count = count;
}
/* <0, 0, >0 by place, then kind and name id. */
static inline int pgk_rec_compare_key(const struct pgk_sample_rec *a, uint64_t loc, uint32_t what)
{
    if (a->loc != loc)
        return a->loc < loc ? -1 : 1;
    return a->what < what ? -1 : a->what > what;
}
static inline int pgk_rec_compare(const struct pgk_sample_rec *a, const struct pgk_sample_rec *b)
{
    return pgk_rec_compare_key(a, b->loc, b->what);
}

struct pgk_sample_recs {
    struct pgk_sample_rec *v;
    uint32_t n, sorted; /* v[0 .. sorted) is sorted; the rest is the tail */
    uint32_t size_class;
};

enum pgk_sample_flag {
    PGK_NODE_CONTEXT = 1, /* a function or a context, not an inlinee */
    PGK_NODE_TOP = 2,     /* has a profile of its own */
    PGK_NODE_LOST = 4,    /* was replaced by a profile of another checksum */
    PGK_NODE_VARIANT = 8, /* not the first of those with different checksums */
};

struct pgk_sample_node {
    uint64_t loc;          /* of the call in the parent */
    uint64_t total, head;
    uint64_t checksum;     /* 0: none */
    uint32_t name;
    uint32_t parent;       /* 0: none */
    uint32_t attributes;
    uint32_t flags;
    uint32_t first_child;  /* inlinees, ordered once the profile is finished */
    uint32_t last_child;
    uint32_t next;         /* sibling among inlinees; 0: none */
    uint32_t variant;      /* same place and function, other checksum; 0: none */
    uint64_t path;         /* hash of the frames, once the context was found by them; else 0 */
    struct pgk_sample_recs recs;
};

/* Memory of record lists: size classes with free lists in one arena. */
enum { PGK_REC_CLASSES = 64 };
struct pgk_rec_heap {
    struct pgk_arena arena;
    struct pgk_sample_rec *free[PGK_REC_CLASSES];
    PGK_VEC(struct pgk_sample_rec) scratch;
};

/* The kind of the profile; set by the first file that has it. */
struct pgk_sample_kind {
    bool known;
    bool contexts;      /* context-sensitive */
    bool probes;        /* probe-based: functions carry checksums */
};

/* Where a function is, and when it ran first: sample_origin.h. */
struct pgk_sample_origin {
    uint64_t first_run; /* in any unit; 0 unknown */
    uint32_t file;      /* 0 unknown */
};

struct pgk_sample {
    struct pgk_sample_names names;
    PGK_VEC(struct pgk_sample_node) nodes; /* [0] is not used */
    struct pgk_index index;                /* of nodes that have a parent */
    struct pgk_index paths;                /* of contexts that were found by their frames */
    PGK_VEC(uint32_t) function_of;         /* by name: its function's node, or 0 */
    struct pgk_rec_heap recs;
    struct pgk_sample_kind kind;
    bool preinlined;    /* some function should be inlined */
    bool fs;            /* flow-sensitive discriminators */
    bool partial;       /* profile of shared code */
    bool has_vtables;
    bool has_variants;  /* some node has several checksums */
    size_t unknown_blocks; /* of composite profiles, or sections, which no field here holds */
    bool passes_sections;  /* such sections are passed over, not refused */
    bool has_symbols;   /* there is a symbol list, maybe empty */
    struct pgk_intern *symbols; /* NULL: none */
    PGK_VEC(struct pgk_sample_origin) origins; /* by name, as far as any is known */
    struct pgk_intern files;                   /* of these */
    size_t lost;        /* profiles that were replaced, counted by finish */
    uint64_t lost_samples;
    bool finished;

    /* From here on: made by finish. */
    PGK_VEC(uint32_t) rank;         /* by name: its place in LLVM's order */
    PGK_VEC(uint32_t) by_identity;  /* tops in order of name or context */
    PGK_VEC(uint32_t) by_heat;      /* tops in order of total samples, then identity */
    PGK_VEC(uint32_t) by_age;       /* tops as they came, which is how they lie in memory */
};

/* ---- building ---- */

static inline uint32_t pgk_sample_name(struct pgk_sample *p, const char *s, size_t len)
{
    return pgk_sample_names_add(&p->names, s, len);
}
static inline uint32_t pgk_sample_name_guid(struct pgk_sample *p, uint64_t guid)
{
    return pgk_sample_names_add_guid(&p->names, guid);
}

/* The function on its own: a top. */
uint32_t pgk_sample_function(struct pgk_sample *p, uint32_t name);
/* The function `name` inlined into `parent` at `loc`. */
uint32_t pgk_sample_inlinee(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name);
/* The function `name` called from `caller` at `loc`, which must be a function or a context. It
 * becomes a top when pgk_sample_make_top says so; callers on the path need not be tops. */
uint32_t pgk_sample_context(struct pgk_sample *p, uint32_t caller, uint64_t loc, uint32_t name);
/* A frame of a context: a function, and where it calls the next one. */
struct pgk_sample_frame {
    uint64_t loc;
    uint32_t name;
};
/* The context of these frames, outermost first; `n` is 1 at least. A context that was found
 * before is found by one look into a table, in which 96 bits of a hash stand for its frames. */
uint32_t pgk_sample_context_of(struct pgk_sample *p, const struct pgk_sample_frame *frames,
                               size_t n);
/* pgk_sample_context_of in two steps, so that the table can be prefetched for many contexts at
 * once. */
struct pgk_sample_path {
    uint64_t hash, other_hash;
};
struct pgk_sample_path pgk_sample_path(const struct pgk_sample *p,
                                       const struct pgk_sample_frame *frames, size_t n);
uint32_t pgk_sample_context_at(struct pgk_sample *p, struct pgk_sample_path path,
                               const struct pgk_sample_frame *frames, size_t n);
void pgk_sample_make_top(struct pgk_sample *p, uint32_t node);
/* A function or context that is no top yet; pgk_sample_function = this and make_top. */
uint32_t pgk_sample_root(struct pgk_sample *p, uint32_t name);

bool pgk_sample_add(struct pgk_sample *p, uint32_t node, uint64_t loc, uint32_t what,
                    uint64_t count);
static inline bool pgk_sample_add_body(struct pgk_sample *p, uint32_t node, uint64_t loc,
                                       uint64_t count)
{
    return pgk_sample_add(p, node, loc, PGK_REC_BODY, count);
}
/* The line gets a record of samples, too, if it has none. */
bool pgk_sample_add_target(struct pgk_sample *p, uint32_t node, uint64_t loc, uint32_t name,
                           uint64_t count);
bool pgk_sample_add_vtable(struct pgk_sample *p, uint32_t node, uint64_t loc, uint32_t name,
                           uint64_t count);
static inline void pgk_sample_add_total(struct pgk_sample *p, uint32_t node, uint64_t count)
{
    p->nodes.v[node].total = pgk_add_saturated(p->nodes.v[node].total, count);
}
static inline void pgk_sample_add_head(struct pgk_sample *p, uint32_t node, uint64_t count)
{
    p->nodes.v[node].head = pgk_add_saturated(p->nodes.v[node].head, count);
}

/* Works the tail into the sorted part. False when out of memory. */
bool pgk_sample_settle(struct pgk_sample *p, struct pgk_sample_recs *recs);
/* Gives the list's memory back. */
void pgk_sample_clear_recs(struct pgk_sample *p, uint32_t node);

/* ---- merging ---- */

/* Adds sorted records, each key once, times `weight`. */
bool pgk_sample_add_sorted(struct pgk_sample *p, uint32_t node, const struct pgk_sample_rec *v,
                           size_t n, uint64_t weight);
/* The node of that place, function and checksum, added if new; `hint` (may be 0) is a node
 * that it probably is. flags: PGK_NODE_CONTEXT or 0. */
uint32_t pgk_sample_child(struct pgk_sample *p, uint32_t parent, uint64_t loc, uint32_t name,
                          uint32_t flags, uint64_t checksum, uint32_t hint);
/* Asks for the memory of a node, which is wanted soon. */
static inline void pgk_sample_prefetch_node(const struct pgk_sample *p, uint32_t node)
{
    const char *bytes = (const char *)&p->nodes.v[node];
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
}
/* Asks for the memory of the node's first records; what follows them the processor foresees. */
static inline void pgk_sample_prefetch_records(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    const char *v = (const char *)recs->v, *end = (const char *)(recs->v + recs->n);
    for (unsigned line = 0; line < 6 && v < end; line++, v += 64)
        __builtin_prefetch(v);
}
/* Says that what is added is of this kind; PGK_E_MISMATCH if the profile is of another. */
PGK_MUST_USE int pgk_sample_set_kind(struct pgk_sample *p, bool contexts, bool probes,
                                     const char *file, struct pgk_err *err);
bool pgk_sample_add_symbol(struct pgk_sample *p, const char *s, size_t len);
/* Of a finished profile: whether there is a type of an object. */
bool pgk_sample_any_vtables(const struct pgk_sample *p);
/* Symbols that are known by their GUID alone. */
size_t pgk_sample_unspelled_symbols(const struct pgk_sample *p);
/* Those of another profile's list. */
bool pgk_sample_take_symbols(struct pgk_sample *into, const struct pgk_sample *from);

/* ---- reading ---- */

/* After pgk_sample_finish. */
static inline const struct pgk_sample_node *pgk_sample_node(const struct pgk_sample *p,
                                                            uint32_t node)
{
    return &p->nodes.v[node];
}
static inline bool pgk_sample_is_top(const struct pgk_sample *p, uint32_t node)
{
    return (p->nodes.v[node].flags & (PGK_NODE_TOP | PGK_NODE_LOST)) == PGK_NODE_TOP;
}
/* For walks over the first `n` tops by heat, which is no order of memory: when the ith is
 * processed, prefetches the memory of some later ones. */
static inline void pgk_sample_prefetch_behind(const struct pgk_sample *p, size_t i, size_t n)
{
    enum { NODES = 12, RECORDS = 6 };
    if (i + NODES < n)
        pgk_sample_prefetch_node(p, p->by_heat.v[i + NODES]);
    if (i + RECORDS < n)
        pgk_sample_prefetch_records(p, p->by_heat.v[i + RECORDS]);
}
/* The first `n` tops by heat in whatever order is fastest to walk. */
static inline const uint32_t *pgk_sample_hottest(const struct pgk_sample *p, size_t n)
{
    return n == p->by_age.n ? p->by_age.v : p->by_heat.v;
}
/* The children that count: for (uint32_t c = pgk_sample_first(p, n); c; c = ..._next(p, c)) */
static inline uint32_t pgk_sample_first(const struct pgk_sample *p, uint32_t node)
{
    return p->nodes.v[node].first_child;
}
static inline uint32_t pgk_sample_next(const struct pgk_sample *p, uint32_t node)
{
    return p->nodes.v[node].next;
}
/* End of the records of the place that v[i] is at. */
static inline uint32_t pgk_sample_same_place(const struct pgk_sample_recs *recs, uint32_t i)
{
    uint64_t loc = recs->v[i].loc;
    while (i < recs->n && recs->v[i].loc == loc)
        i++;
    return i;
}

/* As pgk_sample_finish, but profiles of all checksums stay: for writing all there is. */
PGK_MUST_USE int pgk_sample_finish_variants(struct pgk_sample *p, struct pgk_err *err);

/* pgk_sample_summarise of the first `n` tops by heat. */
PGK_MUST_USE int pgk_sample_summarise_hottest(const struct pgk_sample *p, size_t n,
                                              struct pgk_sample_summary *summary,
                                              struct pgk_err *err);
/* Samples of the coldest of the lines that make up `ppm` millionths of all, which are rounded up to
 * a row of the summary as LLVM does; 0 if that is more than the last row has. */
uint64_t pgk_sample_count_at(const struct pgk_sample_summary *summary, uint64_t ppm);

/* Numbers of inlined functions, and of records of each kind. */
struct pgk_sample_sizes {
    size_t inlinees, lines, targets, vtables;
};
/* Of a finished profile; a walk over all of its records. */
struct pgk_sample_sizes pgk_sample_sizes(const struct pgk_sample *p);

/* ---- changing ---- */

/* Leaves only that function, in all contexts, or the context in brackets; PGK_E_EMPTY, which names
 * `file` if that is not NULL, if there is none. */
PGK_MUST_USE int pgk_sample_keep_function(struct pgk_sample *p, const char *function,
                                          const char *file, struct pgk_err *err);

/* Inlinees may nest this deep; the deepest real ones have some twenty levels. */
enum { PGK_SAMPLE_MAX_DEPTH = 1000 };

#endif
