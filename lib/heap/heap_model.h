/* The heap model, struct pgk_heap: tables of interned things, each referred to by its position.
 *
 *   strings ◄── functions ◄── frames ◄── stacks (tree) ◄── contexts
 *   modules ◄───────────────┘               ▲────────────── sites (function records)
 *
 * Readers add to it, rekey.c makes new models of old ones, writers and views read it. */
#ifndef PGK_HEAP_MODEL_H
#define PGK_HEAP_MODEL_H

#include "data_access.h"
#include "fail.h"
#include "heap_origin.h"
#include "heap_recording.h"
#include "index.h"
#include "intern.h"
#include "mib.h"
#include "over_time.h"
#include "stack_tree.h"

/* A loaded file that addresses refer to. */
struct pgk_heap_module {
    uint32_t build_id;   /* string id of the bytes; 0: the file has none */
    /* Distinguishes modules without build id: */
    uint64_t text_size;  /* bytes of the executable segment in memory */
    uint64_t text_off;   /* where it stands in the file, if by_file_off */
    bool by_file_off;    /* addresses are offsets in the file, not link addresses: what
                            profiles of versions 1 and 2 allow to know */
    uint32_t name;       /* string id of the file's name, where nothing else is known (texts) */
    /* Not part of the identity: a program that is always loaded at one place, and what that
     * adds to its addresses. */
    bool fixed;
    uint64_t bias;
    uint32_t path; /* string id: where its file was; 0 unknown. Of several the first by bytes */
};

/* An executable segment of a module, in the module's addresses. */
struct pgk_heap_text {
    uint32_t module;
    uint64_t at, size;
};

/* A module that was loaded while a raw profile was recorded; the program comes first. Identifies
 * profiles that do not belong to the given binaries. */
struct pgk_heap_loaded {
    uint32_t profile; /* string id of the file's name */
    uint32_t module;
};

/* Addresses that symbolisation gave no name. */
struct pgk_heap_unnamed_in {
    uint32_t path, build_id; /* string ids of their module; 0: unknown */
    size_t frames;
    bool file_found;
};

struct pgk_heap_func {
    uint64_t guid;
    uint32_t name, file; /* string ids; 0 unknown */
    uint32_t decl_line;  /* smallest seen; 0 unknown. Not part of the identity */
    uint32_t module_path; /* string id: file of the module that has it; 0 unknown. Of several the
                             first by bytes; not part of the identity */
};

enum pgk_frame_kind {
    PGK_FRAME_ADDRESS, /* ref: module, or PGK_INDEX_NONE; where: address */
    PGK_FRAME_CALLER,  /* ref: function; where: line offset << 32 | column */
    PGK_FRAME_INLINED, /* the same, inlined into the next frame */
    PGK_FRAME_SYMBOL,  /* ref: function; where: 0. Code without debug information in a file that has
                          some: shown to people, and in no record, as compilers do not know it */
};

struct pgk_frame {
    uint64_t where;
    uint32_t ref;
    uint32_t kind : 2;
    /* Distinguishes calls of one line and column, as DWARF does; the smallest one seen, because
     * LLVM's formats do not have it. Not part of the identity. */
    uint32_t discriminator : 30;
};
enum { PGK_DISCRIMINATOR_MAX = (1 << 30) - 1 };

static inline bool pgk_frame_has_record(const struct pgk_frame *f)
{
    return f->kind != PGK_FRAME_ADDRESS && f->kind != PGK_FRAME_SYMBOL;
}

struct pgk_heap_context {
    uint64_t known; /* bit per pgk_mib_id */
    uint32_t stack; /* node of `stacks` */
    uint32_t owned_by_chain : 1; /* stands in the record of each function of its leaf's inline
                                    chain, which is the rule; nearly no context needs a site of
                                    its own */
    uint32_t is_wide : 1;        /* v[0] is a position in `wide`, the rest of v without meaning */
    uint32_t hist : 30;          /* position in `hists` + 1; 0: none */
    uint32_t v[PGK_MIB_FIELDS];  /* see heap_context.c */
};
struct pgk_context_wide {
    uint64_t v[PGK_MIB_FIELDS];
};
enum { PGK_CONTEXT_HISTS_MAX = (1 << 30) - 1 };
struct pgk_context_hist {
    const uint64_t *v; /* in the arena */
    uint32_t n;
};

/* Membership in a function's record: of calls, and of contexts beyond the rule. */
enum pgk_site_kind { PGK_SITE_ALLOC, PGK_SITE_CALL };
struct pgk_heap_site {
    uint32_t kind;
    uint32_t func;
    uint32_t stack;     /* of the context; for a call: its inline chain */
    uint32_t n_callees;
    uint64_t *callees;  /* sorted GUIDs, in the arena */
};

/* The name of a type that a DataTypeId stands for: type_names.h. */
struct pgk_heap_type {
    uint64_t id;
    uint32_t name; /* string id */
};

/* The sums over all contexts of a profile. */
struct pgk_heap_whole {
    size_t contexts; /* 0: nothing was added up */
    uint64_t bytes;  /* at most UINT64_MAX */
    double sizes, accesses; /* bytes again, and accesses to them */
    bool columns;    /* frames have some */
};
void pgk_heap_whole_add(struct pgk_heap_whole *whole, const struct pgk_mib *mib);
/* Those of the profile that the model is a part of; else of the model. */
struct pgk_heap_whole pgk_heap_whole(const struct pgk_heap *heap);

struct pgk_heap {
    struct pgk_arena arena;
    struct pgk_intern strings;
    PGK_VEC(struct pgk_heap_module) modules;
    PGK_VEC(struct pgk_heap_loaded) loaded; /* grouped by profile */
    PGK_VEC(struct pgk_heap_text) texts;
    PGK_VEC(struct pgk_heap_func) funcs;
    PGK_VEC(struct pgk_frame) frames;
    struct pgk_stack_tree stacks;
    PGK_VEC(struct pgk_heap_context) contexts;
    PGK_VEC(struct pgk_context_wide) wide;
    PGK_VEC(struct pgk_context_hist) hists;
    PGK_VEC(struct pgk_heap_site) sites;
    struct pgk_data_access data;
    struct pgk_over_time over_time;
    struct pgk_heap_origin origin;
    struct pgk_recorded recorded;
    PGK_VEC(struct pgk_heap_unnamed_in) unnamed; /* by falling number; of symbolised ones */
    PGK_VEC(uint32_t) near; /* by frame, may be shorter: string id of the symbol that is nearest to
                               an address; 0 unknown */
    PGK_VEC(uint32_t) context_of; /* by stack node: context + 1, or 0; may be shorter. With
                                     PGK_CONTEXT_HELD while a thread changes the context */
    PGK_VEC(struct pgk_heap_type) types;
    struct pgk_index func_index, frame_index, site_index, type_index;
    /* If a profile counts only some of the accesses, readers treat them as unknown, because nothing
     * in the model, or in files that are written from it, would distinguish them from all. */
    bool no_partial_accesses;
    struct pgk_heap_whole whole; /* of the profile that this is a part of; else nothing */
    struct pgk_heap_sharing *sharing; /* while several threads add: heap_shared.h; else NULL */
};

#define PGK_CONTEXT_HELD (UINT32_C(1) << 31)

/* Each of these gives the position of an equal entry, added if new, or
 * PGK_INDEX_NONE when out of memory. */
uint32_t pgk_heap_module(struct pgk_heap *h, const struct pgk_heap_module *m);
/* Notes where the file of a module was: a string id. */
void pgk_heap_note_path(struct pgk_heap *h, uint32_t module, uint32_t path);
/* As pgk_heap_module, for a module of another model. */
uint32_t pgk_heap_copy_module(struct pgk_heap *to, const struct pgk_heap *from, uint32_t module);
/* Records that `module` was loaded in the run that wrote `profile`; false when out of memory. */
bool pgk_heap_note_loaded(struct pgk_heap *h, const char *profile, uint32_t module);
/* Notes an executable segment; false when out of memory. */
bool pgk_heap_note_text(struct pgk_heap *h, uint32_t module, uint64_t at, uint64_t size);
/* name, file: string ids. */
uint32_t pgk_heap_func(struct pgk_heap *h, uint64_t guid, uint32_t name, uint32_t file,
                       uint32_t decl_line);
/* Notes in which file a function is: a string id. */
void pgk_heap_note_func_path(struct pgk_heap *h, uint32_t func, uint32_t path);
uint32_t pgk_heap_frame(struct pgk_heap *h, enum pgk_frame_kind kind, uint32_t ref,
                        uint64_t where);
/* Notes which symbol is nearest to an address: a string id. False when out of memory. */
bool pgk_heap_note_near(struct pgk_heap *h, uint32_t frame, uint32_t symbol);

/* Notes the discriminator with which the frame was met. */
void pgk_heap_note_discriminator(struct pgk_heap *h, uint32_t frame, uint32_t discriminator);

static inline uint64_t pgk_frame_place(uint32_t line_offset, uint32_t column)
{
    return (uint64_t)line_offset << 32 | column;
}

static inline struct pgk_data_store pgk_heap_data_store(struct pgk_heap *h)
{
    return (struct pgk_data_store){&h->data, &h->strings, &h->arena};
}

/* The values of a context. */
void pgk_context_get(const struct pgk_heap *h, const struct pgk_heap_context *c,
                     struct pgk_mib *m);
uint64_t pgk_context_value(const struct pgk_heap *h, const struct pgk_heap_context *c,
                           enum pgk_mib_id id);
/* As pgk_mib_file_value; what is not known is 0 in a context anyway. */
uint64_t pgk_context_file_value(const struct pgk_heap *h, const struct pgk_heap_context *c,
                                enum pgk_mib_id id);
/* Gives a context other values; the histogram must lie in the arena. False when out of memory. */
bool pgk_context_set(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m);
/* Adds to them (rule `across`); false when out of memory. */
bool pgk_context_add(struct pgk_heap *h, struct pgk_heap_context *c, const struct pgk_mib *m);
/* Makes `c` the context of the stack with these values; the histogram is copied. */
bool pgk_context_begin(struct pgk_heap *h, struct pgk_heap_context *c, uint32_t stack,
                       const struct pgk_mib *m);
/* As pgk_context_set and pgk_context_add where nothing but the context itself changes; false, and
 * nothing is done, where more would change. */
bool pgk_context_set_narrow(struct pgk_heap_context *c, const struct pgk_mib *m);
bool pgk_context_add_narrow(struct pgk_heap_context *c, const struct pgk_mib *m);

/* For whoever adds many, as contexts lie all over the model: asks early for what adding to the
 * context of a stack will read, first its position, then the context. */
static inline void pgk_heap_prefetch_position(const struct pgk_heap *h, uint32_t stack)
{
    if (stack < h->context_of.n)
        __builtin_prefetch(&h->context_of.v[stack]);
}
static inline void pgk_context_prefetch(const struct pgk_heap *h, uint32_t context)
{
    enum { CACHE_LINE = 64 };
    for (size_t byte = 0; byte < sizeof *h->contexts.v; byte += CACHE_LINE)
        __builtin_prefetch((const char *)&h->contexts.v[context] + byte, 1);
}
static inline void pgk_heap_prefetch_context(const struct pgk_heap *h, uint32_t stack)
{
    uint32_t at = stack < h->context_of.n
                      ? __atomic_load_n(&h->context_of.v[stack], __ATOMIC_RELAXED)
                      : 0;
    if (at & ~PGK_CONTEXT_HELD)
        pgk_context_prefetch(h, (at & ~PGK_CONTEXT_HELD) - 1);
}

/* Asks early for the leaf's frame of a stack. */
static inline void pgk_heap_prefetch_leaf(const struct pgk_heap *h, uint32_t stack)
{
    __builtin_prefetch(&h->stacks.nodes.v[stack]);
}

/* Adds `mib` to the context of the stack (rule `across`); its histogram is copied. */
PGK_MUST_USE int pgk_heap_add(struct pgk_heap *h, uint32_t stack, const struct pgk_mib *mib,
                              struct pgk_err *err);
/* Reserves space in `context_of` for so many stacks. */
PGK_MUST_USE int pgk_heap_reserve_contexts(struct pgk_heap *h, size_t stacks, struct pgk_err *err);
/* Position of the context of the stack, or PGK_INDEX_NONE. */
uint32_t pgk_heap_context_at(const struct pgk_heap *h, uint32_t stack);
/* Adds a site; callees are united with those of an equal site. */
PGK_MUST_USE int pgk_heap_add_site(struct pgk_heap *h, enum pgk_site_kind kind, uint32_t func,
                                   uint32_t stack, const uint64_t *callees, size_t n_callees,
                                   struct pgk_err *err);

/* Adds a file's data about its processes; also on a shared model. */
void pgk_heap_add_origin(struct pgk_heap *h, const struct pgk_heap_origin *origin);
/* Adds the data of the whole profile, not of a context or function: the data access profile, the
 * heap over time, data about processes, and names of types. `stacks` is as for
 * pgk_over_time_merge. */
PGK_MUST_USE int pgk_heap_add_whole(struct pgk_heap *to, const struct pgk_heap *from,
                                    const uint32_t *stacks, struct pgk_err *err);

/* Puts the context of the stack into the records of its leaf's inline chain. */
void pgk_heap_own_by_chain(struct pgk_heap *h, uint32_t stack);
/* The same, and its calls into the records of the functions that make them. */
PGK_MUST_USE int pgk_heap_own_stack(struct pgk_heap *h, uint32_t stack, struct pgk_err *err);
/* The functions of the leaf's inline chain of a stack, each once, leaf first: fills at most
 * `max`, returns how many there are; where that is more than `max`, it may be too much, as those
 * that did not fit are counted each time. */
size_t pgk_heap_chain(const struct pgk_heap *h, uint32_t stack, uint32_t *funcs, size_t max);

bool pgk_heap_chain_has(const struct pgk_heap *h, uint32_t stack, uint32_t func);

/* Refuses a model that no format of function records can hold: with nothing in it, or with
 * frames that are addresses. */
PGK_MUST_USE int pgk_heap_check_writable(const struct pgk_heap *h, const char *path,
                                         const char *format, struct pgk_err *err);

/* One line of a function's record. */
struct pgk_heap_member {
    uint32_t func;
    uint32_t ref; /* context, or site with PGK_MEMBER_SITE set */
};
#define PGK_MEMBER_SITE (UINT32_C(1) << 31)
typedef PGK_VEC(struct pgk_heap_member) pgk_heap_member_vec;
/* All of them, each once: contexts in order, then sites. False when out of memory. */
bool pgk_heap_members(const struct pgk_heap *h, pgk_heap_member_vec *members);

#endif
