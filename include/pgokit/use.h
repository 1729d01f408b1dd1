/* What the compiles of a program used of a profile. pgokit's plugin for clang writes a record for
 * each module (docs/formats/use-record.md); here these are added up and set against the profile.
 *
 *     struct pgk_used *used;
 *     if (!pgk_used_heap(&used, heap, "records", &err))
 *         ... pgk_used_percent(used) ...
 *     pgk_used_close(&used); */
#ifndef PGOKIT_USE_H
#define PGOKIT_USE_H

#include "pgokit/err.h"
#include "pgokit/format.h"
#include "pgokit/heap.h"
#include "pgokit/match.h"
#include "pgokit/sample.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What became of a context of a heap profile, or of a type at a place of a sample profile. Of what
 * several modules say the first in this order counts. */
enum pgk_use {
    PGK_USE_COMPARED,     /* type: a link compares the virtual table */
    PGK_USE_HINTED,       /* context: the call that allocates has its hint */
    PGK_USE_GIVEN,        /* type: LLVM got it; no link is known to have used it */
    PGK_USE_IN_LINK,      /* context: callers differ, which is left to a link */
    PGK_USE_LOCAL_TABLE,  /* type: given, but its table is a local one of another module */
    PGK_USE_CALLERS,      /* context: callers differ, and there is no link with LTO */
    PGK_USE_BY_NAME,      /* context: the compiler may not replace the call */
    PGK_USE_RARE,         /* type: less than a twentieth of its call */
    PGK_USE_MANY,         /* type: of a call with more types than LLVM looks at */
    PGK_USE_TAKEN,        /* type: the load has others already */
    PGK_USE_OTHER_CALLER, /* the call is there, inlined through other callers alone */
    PGK_USE_NO_PLACE,     /* the function has such calls without debug information */
    PGK_USE_NO_CALL,      /* the function is there, and no such call at the line */
    PGK_USE_NO_FUNCTION,  /* no module has the function */
    PGK_USE_SHORT_LIVED,  /* context: not cold, as its objects live too short */
    PGK_USE_ACCESSED,     /* context: not cold, as its objects are accessed too often */
    PGK_USE_UNKNOWN,      /* context: its accesses are not known */
    PGK_USE_UNDECIDED,    /* context: more samples are needed to know whether it is cold or hot */
    PGK_USES,             /* number of them */
};
/* Up to this one it is used. */
#define PGK_USE_LAST_USED PGK_USE_GIVEN
/* From this one on there is nothing to use. */
#define PGK_USE_FIRST_UNWANTED PGK_USE_SHORT_LIVED

/* When objects are cold, or hot. */
struct pgk_use_limits {
    size_t struct_size;   /* sizeof(struct pgk_use_limits) */
    double cold_lifetime; /* seconds that cold objects live on average, at least */
    double cold_share;    /* accesses per byte, by the mean of all bytes, that they have at most */
    double cold_density;  /* if it is not 0, instead: accesses per byte and second */
    double hot_density;   /* accesses per byte and second of hot ones, at least; 0: none is hot */
};
/* For each context: PGK_USE_HINTED if its objects are cold, PGK_USE_GIVEN if hot, else why not.
 * `limits` may be NULL: nothing is cold then. PGK_E_ARG for limits that this library does not
 * know. */
int pgk_use_classify(const struct pgk_heap *heap, const struct pgk_use_limits *limits,
                     uint8_t *classes, struct pgk_err *err);

/* Keys of records are hashes: that of a part of a chain, and what comes next. 0 is that of nothing.
 * Thread-safe. */
uint64_t pgk_use_key(uint64_t key, uint64_t next);
/* The key of a context by its stack, leaf first. Thread-safe. */
uint64_t pgk_use_context_key(const struct pgk_heap_frame *stack, size_t n);
/* The key of a type at its place, of a node and a record of it (PGK_SAMPLE_TYPE). */
uint64_t pgk_use_type_key(const struct pgk_sample *profile, uint32_t node,
                          const struct pgk_sample_record *record);
/* Reads a sample profile as compilers use it: names without what they append, one discriminator
 * for each place. Finished. The caller closes it. */
int pgk_use_read_sample(struct pgk_sample **profile, struct pgk_file *file, struct pgk_err *err);
/* Like pgk_use_read_sample, but reads only what the file has of some functions, by their GUIDs,
 * which are those of names without the suffixes that compilers append: on their own, and inlined
 * into others, of which all is read then. There may be others. Of an extensible binary without
 * contexts nothing else goes into the profile, and no checksums or attributes do; other formats are
 * read as a whole. */
int pgk_use_read_functions(struct pgk_sample **profile, struct pgk_file *file,
                           const uint64_t *functions, size_t n, struct pgk_err *err);

struct pgk_used;

/* Adds up the records in `folder` that are of this profile. Keeps `heap`, which must stay as it is
 * until `used` is closed. PGK_E_EMPTY if there is none, PGK_E_MISMATCH if all are of other
 * profiles. */
int pgk_used_heap(struct pgk_used **used, const struct pgk_heap *heap, const char *folder,
                  struct pgk_err *err);
/* The same of a sample profile from pgk_use_read_sample(). */
int pgk_used_sample(struct pgk_used **used, const struct pgk_sample *profile, const char *folder,
                    struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_used_close(struct pgk_used **used);

/* What of the weight is used, per cent of what there is to use; of items if no weight is known. */
double pgk_used_percent(const struct pgk_used *used);

/* Prints shares by outcome, and what was not used. `against` of the options is what the folder is
 * called, `top` how many are listed. JSON has the schema "pgokit-used-1". */
int pgk_used_print(const struct pgk_used *used, const struct pgk_match_print_opts *opts, FILE *out,
                   struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
