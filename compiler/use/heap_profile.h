/* Allocating calls of a heap profile: the contexts of each place, with their temperature. */
#ifndef PGC_HEAP_PROFILE_H
#define PGC_HEAP_PROFILE_H

#include "use_llvm.h"

#include <pgokit/err.h>
#include <pgokit/format.h>
#include <pgokit/use.h>

/* The temperature of objects; numbers are LLVM's, which adds them up. */
enum pgc_class { PGC_NOT_COLD = 1, PGC_COLD = 2, PGC_HOT = 4 };

struct pgc_context {
    const struct pgc_frame *frames; /* leaf first */
    size_t n;
    enum pgc_class is;
    uint64_t bytes;
    uint64_t key;      /* in records */
    enum pgk_use use;  /* its outcome in the module; PGK_USE_NO_FUNCTION: none */
    uint64_t place;    /* key of the call that it was found at; 0 none */
};

/* A call in a context: a row of an index. */
struct pgc_call_row {
    uint64_t function;
    uint32_t line, column;
    uint32_t context;
    bool allocates; /* the first frame */
};

struct pgc_heap_profile {
    struct pgc_context *contexts;
    size_t n;
    struct pgc_frame *frames; /* of all contexts */
    struct pgc_call_row *rows; /* by function; those that allocate before others; by line, column */
    size_t n_rows;
    struct pgk_heap_sum whole; /* of the profile, of which the contexts are a part */
};

/* Reads what concerns the module. False, and an error, if the file cannot be read or its frames are
 * addresses. */
bool pgc_heap_read(struct pgc_heap_profile *profile, struct pgk_file *file, LLVMModuleRef module,
                   const struct pgk_use_limits *limits, struct pgk_err *err);
void pgc_heap_close(struct pgc_heap_profile *profile);

/* Rows of calls in a function: those that allocate, or the others. */
struct pgc_call_row *pgc_heap_calls(const struct pgc_heap_profile *profile, uint64_t function,
                                    bool allocates, size_t *n);
/* Is a call of the profile at the place? `exact`: a call without a line is nowhere else. */
bool pgc_heap_knows(const struct pgc_heap_profile *profile, const struct pgc_place *place,
                    bool allocates, bool exact);

#endif
