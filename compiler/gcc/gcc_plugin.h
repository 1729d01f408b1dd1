/* Shared by the files of the plugin for gcc: gcc's headers in the order that they need, and the
 * functions of each file. gcc's headers are C++, so the files are; they are written as C. */
#ifndef PGC_GCC_PLUGIN_H
#define PGC_GCC_PLUGIN_H

#include <gcc-plugin.h>

#include <tree.h>

#include <gimple.h>

#include <basic-block.h>
#include <cgraph.h>
#include <context.h>
#include <diagnostic-core.h>
#include <fold-const.h>
#include <gimple-iterator.h>
#include <gimple-ssa.h>
#include <gimplify-me.h>
#include <gimplify.h>
#include <internal-fn.h>
#include <plugin-version.h>
#include <ssa.h>
#include <stringpool.h>

#include <attribs.h>
#include <tree-dfa.h>
#include <tree-eh.h>
#include <tree-iterator.h>
#include <tree-pass.h>
#include <tree-ssa-address.h>
#include <varasm.h>

struct pgc_options {
    bool histogram;   /* a counter for each 8 bytes */
    bool coalesce;    /* one update for several accesses through one pointer */
    const char *file; /* what names of profiles begin with */
};

/* One or more accesses by a statement that count together. */
struct pgc_access {
    gimple *at;   /* counted before it */
    tree ref;     /* the accessed expression; NULL: `pointer` has the address */
    tree pointer; /* a value */
    tree mask;    /* of a vector: lanes that take part; NULL: all */
    unsigned lane_bytes;
    unsigned times; /* how often it counts */
    bool whole;     /* copied as a whole: each of the `times` is of a word of 8 bytes */
    bool alone;     /* volatile, atomic or whole: never counted together with others */
};
enum { PGC_ACCESSES_MAX = 16 };
struct pgc_accesses {
    struct pgc_access v[PGC_ACCESSES_MAX];
    unsigned n;
};

/* An access of a statement to memory that may be heap memory. */
void pgc_accesses_of(gimple *statement, struct pgc_accesses *found);
/* Calls of memcpy, memmove and memset count in the runtime from now on. */
bool pgc_count_in_runtime(gimple *statement);
/* Whether memory may be given back, or control may leave the block, in a statement. */
bool pgc_ends_run(gimple *statement);

/* Reports an error, by `name`, if the unit has other instrumentation that cannot be in one program
 * with the heap profiler. */
void pgc_refuse_unit(const char *name);

/* Code that counts, for one function. */
struct pgc_counting {
    const struct pgc_options *options;
    tree base; /* where the counters begin, read at the function's entry; NULL: not yet */
};
void pgc_count(struct pgc_counting *counting, const struct pgc_access *access);
/* The parts that an object file has once. Its constructor calls the runtime. */
void pgc_finish_unit(const struct pgc_options *options);

/* The pass; the second answers whether it has counted in any function of the unit. */
opt_pass *pgc_pass(const struct pgc_options *options);
bool pgc_any_counted(void);

/* The pass that writes the types of allocated objects into a section next to the debug
 * information. */
opt_pass *pgc_types_pass(void);

#endif
