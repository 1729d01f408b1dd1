/* Heap profiles: allocation contexts and what is known of each.
 *
 * A heap profile is a set of contexts. A context is a call stack and a memory info
 * block (MIB) that sums up all objects allocated there. A stack is a list of frames,
 * leaf first. A frame is either an address in a module (raw profiles before
 * symbolisation) or a place in a function.
 *
 * Ids are positions 0 .. count-1, valid until the profile is changed. Strings belong
 * to the profile. A profile may be read by any number of threads while none changes
 * it. */
#ifndef PGOKIT_HEAP_H
#define PGOKIT_HEAP_H

#include "pgokit/binaries.h"
#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Fields of a MIB, named as in LLVM's files; their units are in pgk_mib_info. Those from PeakSize
 * to AccessVariance are pgokit's alone, and LLVM's files do not hold them. Values stay: new
 * fields, LLVM's or pgokit's, are added before PGK_MIB_FIELDS, so they are not the tags of LLVM's
 * files. */
enum pgk_mib_id {
    PGK_MIB_AllocCount, /* objects: objects allocated */
    PGK_MIB_TotalAccessCount, /* accesses: loads and stores of all objects */
    PGK_MIB_MinAccessCount, /* accesses: of the least accessed object */
    PGK_MIB_MaxAccessCount, /* accesses: of the most accessed object */
    PGK_MIB_TotalSize, /* B: requested bytes of all objects */
    PGK_MIB_MinSize, /* B: of the smallest object */
    PGK_MIB_MaxSize, /* B: of the largest object */
    PGK_MIB_AllocTimestamp, /* ms: allocation, since the process started */
    PGK_MIB_DeallocTimestamp, /* ms: end, since the process started */
    PGK_MIB_TotalLifetime, /* ms: lifetimes of all objects */
    PGK_MIB_MinLifetime, /* ms: of the shortest-lived object */
    PGK_MIB_MaxLifetime, /* ms: of the longest-lived object */
    PGK_MIB_AllocCpuId, /* CPU: that allocated; all ones: unknown */
    PGK_MIB_DeallocCpuId, /* CPU: that freed; all ones: unknown */
    PGK_MIB_NumMigratedCpu, /* objects: freed on another CPU */
    PGK_MIB_NumLifetimeOverlaps, /* objects: alive with the one before */
    PGK_MIB_NumSameAllocCpu, /* objects: allocated on the CPU of the last */
    PGK_MIB_NumSameDeallocCpu, /* objects: freed on the CPU of the last */
    PGK_MIB_DataTypeId, /* id: type of the object; 0: unknown */
    PGK_MIB_TotalAccessDensity, /* accesses per 100 B: of all objects */
    PGK_MIB_MinAccessDensity, /* accesses per 100 B: smallest */
    PGK_MIB_MaxAccessDensity, /* accesses per 100 B: largest */
    PGK_MIB_TotalLifetimeAccessDensity, /* accesses per 100 B s: of all objects */
    PGK_MIB_MinLifetimeAccessDensity, /* accesses per 100 B s: smallest */
    PGK_MIB_MaxLifetimeAccessDensity, /* accesses per 100 B s: largest */
    PGK_MIB_AccessHistogramSize, /* elements: of the histogram, one per 8 B */
    PGK_MIB_AccessHistogram, /* address: in the profiled process */
    PGK_MIB_PeakSize, /* B: alive at the peak of the process; over processes each at its own */
    PGK_MIB_PeakCount, /* objects: alive at the peak of the process */
    PGK_MIB_ExitSize, /* B: alive when the process ended */
    PGK_MIB_ExitCount, /* objects: alive when the process ended */
    PGK_MIB_TemporaryCount, /* objects: freed by their thread before it allocated again */
    PGK_MIB_TouchedSize, /* B: in blocks of 64 bytes that were accessed (with histograms: of 8) */
    PGK_MIB_UntouchedSize, /* B: in blocks that never were; with TouchedSize all that is known */
    PGK_MIB_MinTouched, /* %: of an object's bytes in accessed blocks; of the least touched one */
    PGK_MIB_MaxTouched, /* %: the same of the most touched object */
    PGK_MIB_UnreachableSize, /* B: alive when the process ended, and no pointer led there */
    PGK_MIB_UnreachableCount, /* objects: these */
    PGK_MIB_ShortLivedSize, /* B: freed, of stacks of addresses whose objects are short-lived */
    PGK_MIB_CutSize, /* B: of stacks that have more frames than were kept */
    PGK_MIB_SampleCount, /* objects: drawn, from which figures are estimated; of sampled profiles */
    PGK_MIB_SampleHits, /* accesses: seen, from which accesses are estimated */
    PGK_MIB_CountVariance, /* objects^2: of the estimate of objects, at most 2^64 - 1 */
    PGK_MIB_SizeVariance, /* B^2: of the estimate of bytes, at most 2^64 - 1 */
    PGK_MIB_AccessVariance, /* accesses^2: of the estimate of accesses, at most 2^64 - 1 */
    PGK_MIB_FIELDS, /* number of them */
};

/* Name, unit ("B", "ms", "accesses", ...) and one-line meaning of a field. */
const char *pgk_mib_info(enum pgk_mib_id id, const char **unit, const char **meaning);
/* Finds a field by its name in LLVM's files ("TotalSize"); false, with `*id` as it was, if this
 * library has none of that name. Thread-safe. */
bool pgk_mib_find(const char *name, enum pgk_mib_id *id);

/* What a context is, by the first rule that holds: COLD and HOT are the compiler's rules for
 * -fmemory-profile-use. */
enum pgk_mib_label {
    PGK_LABEL_COLD, /* hardly accessed, long lived */
    PGK_LABEL_HOT, /* accessed very often */
    PGK_LABEL_UNUSED, /* never accessed */
    PGK_LABEL_SHORT_LIVED, /* gone at once */
    PGK_LABEL_NONE, /* none of these */
    PGK_LABEL_UNDECIDED, /* of a sampled profile: more samples are needed to know */
    PGK_LABELS, /* number of them */
};
const char *pgk_mib_label_name(enum pgk_mib_label label); /* "cold", ...; "" for NONE */

/* A figure of a sampled profile, which is an estimate. In an array, so it does not grow. */
struct pgk_heap_estimate {
    double value;     /* the estimate, in the field's unit */
    double low, high; /* the figure of all objects is from low to high in 95 of 100 cases; high is
                         infinite where nothing is known of it */
};

struct pgk_heap;

/* An empty profile, owned by the caller. */
int pgk_heap_new(struct pgk_heap **heap, struct pgk_err *err);
/* A new profile that holds what `from` does. */
int pgk_heap_copy(struct pgk_heap **into, const struct pgk_heap *from, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_heap_close(struct pgk_heap **heap);

/* Contexts, in the order in which they were first met (by whichever thread was first). */
size_t pgk_heap_contexts(const struct pgk_heap *heap);
/* What a profile adds up to. */
struct pgk_heap_sum {
    size_t struct_size; /* sizeof(struct pgk_heap_sum), set by the caller */
    size_t contexts;    /* number of them */
    uint64_t bytes;     /* that they allocated; at most UINT64_MAX */
    double accesses_per_byte; /* over the life of objects, on average of all bytes */
    bool columns;       /* there are frames whose column is known */
};
/* The totals; of a part of a profile (pgk_heap_read_functions) those of the whole profile. */
void pgk_heap_sum(const struct pgk_heap *heap, struct pgk_heap_sum *totals);
/* The value of a field of a context's MIB, in the unit that pgk_mib_info() says; 0 if the profile
 * does not have it, see pgk_heap_knows(). */
uint64_t pgk_heap_value(const struct pgk_heap *heap, size_t context, enum pgk_mib_id id);
/* True if the profile has this field of the context. */
bool pgk_heap_knows(const struct pgk_heap *heap, size_t context, enum pgk_mib_id id);
/* Accesses to each 8 bytes of a context's objects, `*count` of them; NULL and 0 if there is no
 * histogram. Belongs to the profile. */
const uint64_t *pgk_heap_histogram(const struct pgk_heap *heap, size_t context, size_t *count);
/* What a context is by the values that are known; of a sampled profile what it is for certain, by
 * intervals of 95 %, else PGK_LABEL_UNDECIDED. */
enum pgk_mib_label pgk_heap_label(const struct pgk_heap *heap, size_t context);

/* How sure a figure of a context of a sampled profile is: AllocCount, TotalSize or
 * TotalAccessCount (docs/design/intervals.md). False, and `*estimate` has the figure alone as all
 * three, where all objects of the context were counted, or for another field. Thread-safe for a
 * profile that none changes. */
bool pgk_heap_estimate(const struct pgk_heap *heap, size_t context, enum pgk_mib_id figure,
                       struct pgk_heap_estimate *estimate);
/* How a profile was sampled. */
struct pgk_heap_sampling {
    size_t struct_size;    /* sizeof(struct pgk_heap_sampling), set by the caller */
    uint64_t processes;    /* of which a part of the objects was recorded; 0: all are exact, or it
                              is not known */
    uint64_t samples;      /* objects drawn, in all contexts */
    uint64_t hits;         /* accesses seen, in all contexts */
    uint64_t sample_bytes; /* mean bytes from one drawn object to the next, at most so in all of the
                              processes; 0 unknown */
    bool exact;            /* the first two totals are exact: processes counted what they made */
    struct pgk_heap_estimate objects, bytes, accesses; /* of the whole profile; where exact, low and
                                                          high are the value */
};
/* Fills it; false if no context stands on samples. Thread-safe for a profile that none changes. */
bool pgk_heap_sampling(const struct pgk_heap *heap, struct pgk_heap_sampling *sampling);

/* A frame of a call stack. In an array, so it does not grow. */
struct pgk_heap_frame {
    bool is_address; /* else a place in a function */
    bool inlined;         /* into the next frame */
    bool by_symbol; /* a place: of code without debug information in a file that has some, so that
                       the function has no record. Not for building */
    /* a place in a function */
    uint64_t guid;        /* LLVM's 64-bit function id */
    const char *function; /* linkage name; "" unknown */
    const char *file;     /* of the function's declaration; "" unknown */
    uint32_t decl_line;   /* of the function; 0 unknown */
    uint32_t line_offset; /* line - decl_line modulo 2^32 */
    uint32_t column;      /* 0 unknown */
    uint32_t discriminator; /* 0 none, or unknown */
    /* an address in a module */
    uint64_t address;         /* link-time address; load address without module */
    const uint8_t *build_id;  /* of the module */
    size_t build_id_size;     /* 0: no id, or no module */
    const char *module_path;  /* where the module's file was, also of a place; of a function that
                                 several have, the first by bytes; "" unknown. Not for building */
    const char *near_symbol;  /* the linkage name nearest to an address that has none; "" unknown.
                                 Not for building */
};

/* Frames of the stack of a context, leaf first: fills at most `max`, returns the
 * number there are. */
size_t pgk_heap_stack(const struct pgk_heap *heap, size_t context,
                      struct pgk_heap_frame *frames, size_t max);

/* A field's value, for building. */
struct pgk_heap_value {
    enum pgk_mib_id field; /* not PGK_MIB_AccessHistogram */
    uint64_t value;        /* in the field's unit */
};
/* What one call stack allocated, for building. */
struct pgk_heap_allocation {
    size_t struct_size;                  /* sizeof(struct pgk_heap_allocation) */
    const struct pgk_heap_frame *frames; /* leaf first. A place needs a function name or else a
                                              GUID; the GUID of a name is computed */
    size_t n_frames;                     /* 1 to 100,000 */
    const struct pgk_heap_value *values; /* the fields that are known */
    size_t n_values; /* number of them */
    const uint64_t *histogram; /* accesses to each 8 bytes of the objects; NULL: none */
    size_t n_histogram;        /* elements of it */
};
/* Adds a context to the profile: what is given is copied. Values of a stack that is there already
 * are added to it as pgk_heap_merge() does. PGK_E_ARG for frames and values that files could not
 * hold, PGK_E_NOMEM; the profile can be added to after that. One thread per profile. */
int pgk_heap_build_context(struct pgk_heap *heap, const struct pgk_heap_allocation *allocation,
                           struct pgk_err *err);

/* A call that allocations go through, and which functions were called there, for building. */
struct pgk_heap_call {
    size_t struct_size;                  /* sizeof(struct pgk_heap_call) */
    const struct pgk_heap_frame *frames; /* its inline chain, leaf first: places, of which all but
                                              the last one are inlined */
    size_t n_frames;                     /* 1 to 100,000 */
    const uint64_t *callees;             /* GUIDs of the functions called */
    size_t n_callees;                    /* number of them; 0: not recorded */
    uint64_t guid;                       /* function of the chain in whose record the call stands;
                                              0: in those of all of them */
};
/* Adds a call site to function records, or callees to one that is there already: those of the
 * stacks that were added are, without callees. Only MemProf V4 and YAML can hold callees. Errors as
 * pgk_heap_build_context. */
int pgk_heap_build_call_site(struct pgk_heap *heap, const struct pgk_heap_call *call,
                             struct pgk_err *err);

/* Function records, sorted by GUID: what an indexed profile stores. `alloc_sites` are
 * context ids; a call site is an inline chain (leaf first) with the GUIDs of
 * the functions called through it (0 of them if not recorded). */
struct pgk_heap_call_site {
    const struct pgk_heap_frame *frames; /* the inline chain, leaf first */
    size_t n_frames; /* number of them */
    const uint64_t *callees; /* GUIDs of functions called through it */
    size_t n_callees; /* number of them; 0: not recorded */
};
/* What an indexed profile stores of a function. */
struct pgk_heap_record {
    uint64_t guid; /* of the function */
    const char *function; /* linkage name; "" unknown */
    const size_t *alloc_sites; /* contexts that it allocates */
    size_t n_alloc_sites; /* number of them */
    const struct pgk_heap_call_site *call_sites; /* calls that allocations go through */
    size_t n_call_sites; /* number of them */
};
/* Calls `fn` for each record; what it is given lives during the call only. `fn`
 * returns 0 to go on, else its result is returned. */
typedef int pgk_heap_record_fn(void *ctx, const struct pgk_heap_record *record);
/* Calls `fn` for each record, sorted by GUID; PGK_E_NOMEM, or what `fn` returned. */
int pgk_heap_records(const struct pgk_heap *heap, pgk_heap_record_fn *fn, void *ctx);

/* Can that MemProf version hold callees of call sites, and a data access profile? */
bool pgk_memprof_holds_callees(uint32_t memprof_version);
/* Callees of all call sites: what only MemProf V4 and YAML can hold. */
size_t pgk_heap_callees(const struct pgk_heap *heap);

/* What happened in pgk_heap_symbolise. */
struct pgk_heap_symbolised {
    size_t struct_size; /* sizeof(struct pgk_heap_symbolised), set by the caller */
    size_t addresses, addresses_resolved; /* distinct ones; in the given binaries */
    size_t contexts_dropped;              /* had no frame left */
    uint64_t bytes_dropped;               /* TotalSize of those */
};

/* What pgk_heap_find_binaries found. */
struct pgk_heap_found {
    size_t struct_size; /* sizeof(struct pgk_heap_found), set by the caller */
    size_t modules, modules_found;     /* programs and libraries that addresses of stacks lie in */
    size_t addresses, addresses_found; /* distinct ones; in modules that were found */
    bool program; /* one of those that were found has a function main, or is what the recording says
                     that ran: libraries alone would only name what the program has to do with
                     them */
    bool at_path; /* one of them was where the profile says that its file was */
    const char *nameless; /* the file of one that was not found, the program's if it is that: it is
                             where the profile says, but has no debug information, without which the
                             set takes none; NULL: there is none. Lives as long as the profile */
    bool nameless_symbols; /* that file has symbols */
};
/* Looks for each program and library that addresses of call stacks lie in by its build id, as the
 * options of the set say, and adds to the set what it finds. `found` may be NULL. */
int pgk_heap_find_binaries(const struct pgk_heap *heap, struct pgk_binaries *binaries,
                           struct pgk_heap_found *found, struct pgk_err *err);

/* How addresses become source frames. */
struct pgk_heap_symbolise_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_symbolise_opts) */
    bool for_llvm;      /* the profile will be written as LLVM's indexed or YAML form and nothing
                           else: already here, functions of one GUID become one and line offsets
                           are cut to 16 bits. Takes half the memory where that joins anything */
    bool keep_unnamed;  /* addresses without a name stay in stacks, as addresses: for people */
    bool spare_binaries; /* no warning of binaries that the profile does not need: they may be for
                            another one */
};

/* Addresses of a module that pgk_heap_symbolise gave no name. */
struct pgk_heap_unnamed {
    size_t struct_size;      /* sizeof(struct pgk_heap_unnamed), set by the caller */
    const char *path;        /* where the module's file was; "" unknown */
    const uint8_t *build_id; /* of the module */
    size_t build_id_size;    /* 0: no id, or no module */
    size_t frames;           /* distinct addresses */
    bool file_found;         /* the module's file is one of the binaries, and does not name them */
};
/* Fills in module i of those with some, by falling number; false: there are no more. What it points
 * to lives as long as the profile. */
bool pgk_heap_unnamed_at(const struct pgk_heap *heap, size_t i, struct pgk_heap_unnamed *unnamed);

/* True if binary `number` of the set was loaded in a run of the profile, which was not symbolised:
 * by its build id or, where the profile has none, by its name or the place of its code. Thread-safe
 * for a profile that none changes. */
bool pgk_heap_was_loaded(const struct pgk_heap *heap, const struct pgk_binaries *set,
                         size_t number);

/* Replaces the profile by one in which address frames are source frames, by the binaries' debug
 * information, and contexts with equal stacks are added up. Frames of the profiling runtime and
 * addresses without a name are dropped, as LLVM does (docs/formats/raw-heap.md section 9), unless
 * the options keep the latter. Whoever needs the addresses afterwards makes a copy before
 * (pgk_heap_copy). PGK_E_MISMATCH if the profile has addresses but none lies in a given binary;
 * PGK_E_NODEBUG; PGK_E_EMPTY if no context is left. On failure `*heap` is only good for closing.
 * `opts` and `done` may be NULL. */
int pgk_heap_symbolise(struct pgk_heap **heap, struct pgk_binaries *binaries,
                       const struct pgk_heap_symbolise_opts *opts,
                       struct pgk_heap_symbolised *done, struct pgk_err *err);

/* Functions that LLVM's formats take for another one of the profile, because they know functions
 * by a hash of the linkage name alone: statics of one name in several files. */
struct pgk_heap_same_named {
    size_t struct_size; /* sizeof(struct pgk_heap_same_named), set by the caller */
    size_t functions;      /* that are not the first of their name; 0: none */
    const char *name;      /* of one of them, */
    const char *files[2];  /* and where it and the other are declared; "" unknown */
};
/* Finds functions that LLVM takes for one another. Thread-safe for a profile that none changes. */
int pgk_heap_same_named(const struct pgk_heap *heap, struct pgk_heap_same_named *found,
                        struct pgk_err *err);

/* True if of no context it is known how often its objects were accessed, as in programs without
 * instrumentation. */
bool pgk_heap_lacks_accesses(const struct pgk_heap *heap);
/* Contexts that compilers take for cold only because the profile does not know their density of
 * accesses, which files hold as 0: raw version 1 and printed texts. */
size_t pgk_heap_cold_by_default(const struct pgk_heap *heap);

/* A new profile in which the addresses of modules are counted as raw profiles of that version do:
 * 1 and 2 know a module by the place of its code in the file, later ones by its build id.
 * What a module is in the other form is read from its binary; those without are kept as they
 * are. PGK_E_MISMATCH if there are modules to convert and no binary is one of them. `from` is not
 * changed; `binaries` may be NULL. */
int pgk_heap_rebase(struct pgk_heap **into, const struct pgk_heap *from,
                    struct pgk_binaries *binaries, uint32_t raw_version, struct pgk_err *err);
/* Build ids of modules that a raw profile of the version does not hold. */
size_t pgk_heap_build_ids_lost(const struct pgk_heap *heap, uint32_t raw_version);

/* Adds all of `from` to `into`; stacks that are equal become one context. */
int pgk_heap_merge(struct pgk_heap *into, const struct pgk_heap *from, struct pgk_err *err);

/* Makes the profile count `times` times (at least 1): what merging so many copies gives. Copies of
 * samples make nothing surer, so intervals grow as the figures do. */
int pgk_heap_scale(struct pgk_heap *heap, uint64_t times, struct pgk_err *err);

/* What to leave out of a profile; zero or false: nothing. */
struct pgk_heap_prune_opts {
    size_t struct_size; /* sizeof(struct pgk_heap_prune_opts) */
    uint64_t min_bytes;        /* contexts of fewer bytes (TotalSize) */
    uint64_t min_count;        /* contexts of fewer objects (AllocCount) */
    bool cold_only, hot_only;  /* other contexts than these; both: all that are neither */
    struct pgk_binaries *leaves_in; /* contexts whose leaf is no function of these; may be NULL */
    bool collapse_recursion;   /* frames that repeat the ones before, alone or as a group */
    size_t max_depth;          /* frames further from the leaf; an inlined frame stays with
                                  the function it is inlined into */
    bool named_only;           /* frames that compilers do not know: addresses, and code without
                                  debug information; contexts that have no others */
};
/* What was left out. */
struct pgk_heap_pruned {
    size_t struct_size; /* sizeof(struct pgk_heap_pruned), set by the caller */
    size_t contexts, contexts_left; /* before and after */
    uint64_t bytes, bytes_left; /* TotalSize, saturating */
    size_t stacks_shortened;    /* of contexts that stay */
};

/* A new profile without what the options name. Contexts are chosen by their own numbers first;
 * then stacks are shortened, and those that are equal now are added up. Call sites that no
 * stack runs through any more go, too. Only for symbolised profiles, which may have addresses
 * that no binary has named. `from` is not changed;
 * PGK_E_EMPTY if nothing is left. `done` may be NULL. */
int pgk_heap_prune(struct pgk_heap **into, const struct pgk_heap *from,
                   const struct pgk_heap_prune_opts *opts, struct pgk_heap_pruned *done,
                   struct pgk_err *err);

/* Fills in function names, files and lines, which indexed profiles lack, for the GUIDs
 * that the binaries' debug information knows. */
int pgk_heap_name_functions(struct pgk_heap *heap, struct pgk_binaries *binaries,
                            struct pgk_err *err);

/* Finds out which type the objects of contexts have, as far as the binaries say it
 * (docs/formats/heap-types.md): fills in PGK_MIB_DataTypeId, and names for it. `by_names`: also
 * where names of functions of the C++ library say it, which profiles need not hold, as it can be
 * found again. Without binaries (NULL) these names are asked for contexts without a type only. For
 * symbolised profiles. PGK_E_NOMEM. */
int pgk_heap_find_types(struct pgk_heap *heap, struct pgk_binaries *binaries, bool by_names,
                        struct pgk_err *err);
/* The name of the type with this DataTypeId; "" unknown. Belongs to the profile. */
const char *pgk_heap_type_name(const struct pgk_heap *heap, uint64_t id);

/* The forms of heap profiles on disk; `version` is that of raw files, or of MemProf. */
enum pgk_heap_form {
    PGK_HEAP_RAW,     /* as runtimes write it */
    PGK_HEAP_INDEXED, /* LLVM's .profdata */
    PGK_HEAP_YAML,    /* as llvm-profdata 22 prints it */
    PGK_HEAP_PARTIAL, /* of pgokit merge --partial; docs/formats/partial-heap.md */
};
/* What a profile is to be written as. */
struct pgk_heap_target {
    enum pgk_heap_form form; /* the form */
    uint32_t version;        /* of raw files, or of MemProf */
    bool full_schema;        /* indexed: all MIB fields, not only the compiler's */
    uint32_t index_version;  /* indexed; for pgk_heap_write */
};
/* Receives what is lost, to be read after "lost: ". */
typedef void pgk_heap_loss_fn(void *ctx, const char *what);
/* Calls `fn` for everything in the profile that the target cannot hold; returns how
 * many such things there are, or a negative status. */
int pgk_heap_losses(const struct pgk_heap *heap, const struct pgk_heap_target *target,
                    pgk_heap_loss_fn *fn, void *ctx, struct pgk_err *err);

/* ---- data access profiles ----
 *
 * How often sampled loads and stores hit each global variable or string literal, and which are
 * known not to be hit. Only MemProf V4, YAML and partial profiles hold one. */

/* True if there is a data access profile. */
bool pgk_heap_has_data_access(const struct pgk_heap *heap);

/* Where a variable is declared. In an array, so it does not grow. */
struct pgk_heap_data_place {
    const char *file; /* name of the source file */
    uint32_t line;    /* in it, from 1 on */
};
/* A global variable or a string literal. In an array, so it does not grow. */
struct pgk_heap_data {
    const char *symbol; /* linkage name of a variable; "", for building also NULL: a literal */
    uint64_t literal;   /* hash that compilers know a literal by; 0 for a variable */
    uint64_t accesses;  /* sampled loads and stores; sums stop at 2^64 - 1 */
    bool cold;          /* known not to be accessed, and nothing else */
    const struct pgk_heap_data_place *places; /* for building; else see pgk_heap_data_places() */
    size_t n_places;    /* number of declarations */
};
/* Variables and literals: first those with accesses, the most accessed one first. */
size_t pgk_heap_data_items(const struct pgk_heap *heap);
/* Fills in item 0 <= i < pgk_heap_data_items(), but for `places`, which becomes NULL. */
void pgk_heap_data_item(const struct pgk_heap *heap, size_t i, struct pgk_heap_data *item);
/* Declarations of item i, ordered by file and line: fills at most `max`, returns how many there
 * are. */
size_t pgk_heap_data_places(const struct pgk_heap *heap, size_t i,
                            struct pgk_heap_data_place *places, size_t max);
/* Adds `n` items, which are copied; accesses of what is there already are added up, and places
 * united. PGK_E_ARG for names and numbers that files could not hold, PGK_E_NOMEM; the items before
 * the one that failed are added then. One thread per profile. */
int pgk_heap_build_data(struct pgk_heap *heap, const struct pgk_heap_data *data, size_t n,
                        struct pgk_err *err);

/* ---- the heap over time ----
 *
 * What was alive when. Raw profiles of pgokit's runtime, partial profiles and those of source
 * positions hold it. */

/* What was alive at a time. Where bytes are alive and the other three are 0, these are not known.
 * In an array, so it does not grow. */
struct pgk_heap_point {
    uint64_t ms;                /* since the process started */
    uint64_t bytes;             /* alive */
    uint64_t objects;           /* alive */
    uint64_t allocated_bytes;   /* since the process started, freed ones too */
    uint64_t allocated_objects; /* since the process started, freed ones too */
};
/* What a context held at a point. In an array, so it does not grow. */
struct pgk_heap_share {
    size_t point;   /* position among the points */
    size_t context; /* position of the context in the profile */
    uint64_t bytes; /* alive */
};
/* How the heap was over time. Of several processes it is that of the process with the highest
 * peak; each context's PGK_MIB_PeakSize is the sum over all processes, each at its own peak. */
struct pgk_heap_times {
    size_t struct_size;    /* sizeof(struct pgk_heap_times), set by the caller */
    uint64_t processes;    /* that the profile has this of; 0: none */
    uint64_t peak_ms;      /* when most was alive, since the process started */
    uint64_t peak_bytes;   /* alive then */
    uint64_t peak_objects; /* alive then */
    const struct pgk_heap_point *points; /* the curve; times rise. Belongs to the profile, until it
                                            is changed; given for building it is copied */
    size_t n_points;       /* number of them; 0: no curve */
    const struct pgk_heap_share *shares; /* given for building, where it is copied; else NULL, and
                                            pgk_heap_point_share gives them */
    size_t n_shares;       /* number of them. Some points have shares: those of the contexts that
                              held most then, 24 at most as the runtime records them */
};
/* Fills in how the heap was over time. Thread-safe for a profile that none changes. */
void pgk_heap_over_time(const struct pgk_heap *heap, struct pgk_heap_times *times);

/* The process that was recorded; of several merged ones the one that started first. */
struct pgk_heap_recording {
    size_t struct_size;       /* sizeof(struct pgk_heap_recording) */
    const char *program;      /* path of its file; "" unknown */
    const char *host;         /* name of the machine; "" unknown */
    const char *command_line; /* as a shell reads it, cut at about 600 bytes; "" unknown */
    uint64_t start_ms;        /* when it started, in ms since 1970; 0 unknown */
};
/* Fills it; false if nothing of it is known, as of all profiles but those of pgokit's runtime. Its
 * texts live as long as the profile. */
bool pgk_heap_recording(const struct pgk_heap *heap, struct pgk_heap_recording *recording);
/* A context's share of a point, by position: by point, each context of a point once. `i` is below
 * n_shares. Thread-safe for a profile that none changes. */
struct pgk_heap_share pgk_heap_point_share(const struct pgk_heap *heap, size_t i);
/* Adds that of other processes. PGK_E_ARG without processes, where times do not rise, or for a
 * share of a point or context that is not there, PGK_E_NOMEM; the profile is as before then. One
 * thread per profile. */
int pgk_heap_build_over_time(struct pgk_heap *heap, const struct pgk_heap_times *times,
                             struct pgk_err *err);

/* True if a stack has address frames, so that binaries are needed to go on. */
bool pgk_heap_needs_binaries(const struct pgk_heap *heap);

/* What an indexed profile is written for. */
struct pgk_indexed_target {
    const char *name;           /* "any", "llvm14" (counters only), "llvm16", "llvm19",
                                   "llvm22" */
    const char *readers;        /* who accepts it, for people */
    uint32_t index_version;     /* 7 to 14 */
    uint32_t memprof_version;   /* 0 to 4 */
    uint32_t frame_ids;         /* generation: 1 up to LLVM 19, 2 LLVM 22; 0: by the versions */
};
/* The target of that name; NULL if there is none. */
const struct pgk_indexed_target *pgk_indexed_target(const char *name);

/* How an indexed profile is written. */
struct pgk_indexed_write_opts {
    size_t struct_size; /* sizeof(struct pgk_indexed_write_opts) */
    struct pgk_indexed_target target; /* index_version 0: "any" */
    bool full_schema; /* all MIB fields; default only those the compiler uses */
    unsigned threads; /* to use at most; 0: one per processor. Changes no byte */
    struct pgk_heap *consumed; /* NULL, or the heap profile that is written, if it is not needed
                                  afterwards: takes less memory, and leaves it without contexts,
                                  good for pgk_heap_same_named and closing alone */
};

/* Writes a raw profile of version 1 to 5 to `path` ("-": standard output), whole or not at all,
 * from a profile that was not symbolised. Deterministic. PGK_E_EMPTY without contexts, PGK_E_ARG
 * for another version or where a frame is a place in a function. Addresses in modules that
 * this version cannot describe are written as addresses in no module; pgk_heap_rebase avoids it. */
int pgk_heap_write_raw(const struct pgk_heap *heap, const char *path, uint32_t version,
                       struct pgk_err *err);

/* Writes the profile as YAML, as llvm-profdata 22 prints it, to `path` ("-": standard
 * output), whole or not at all; for people, for tests and for llvm-profdata 22. Deterministic.
 * Errors as pgk_indexed_write. */
int pgk_heap_write_yaml(const struct pgk_heap *heap, const char *path, struct pgk_err *err);

/* How a profile names the files that it was read from, of which a partial profile says what was
 * loaded in each. */
enum pgk_run_names {
    PGK_RUN_NAMES_FULL,     /* as they were given; what is read has these */
    PGK_RUN_NAMES_BASENAME, /* without folders */
    PGK_RUN_NAMES_NONE,     /* not at all: modules are known to be loaded in some run or other */
};
/* Shortens these names, so that bytes do not depend on where files lie. With PGK_RUN_NAMES_NONE,
 * pgk_heap_symbolise only notices binaries that fit none of all runs. PGK_E_NOMEM. */
int pgk_heap_name_runs(struct pgk_heap *heap, enum pgk_run_names names, struct pgk_err *err);

/* Writes all that the profile holds, addresses and functions alike, as a partial profile
 * (docs/formats/partial-heap.md) to `path` ("-": standard output), whole or not at all. Merging
 * partial profiles gives what merging their inputs gives. Deterministic; equal profiles give
 * equal bytes in whatever order they were filled. */
int pgk_heap_write_partial(const struct pgk_heap *heap, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
