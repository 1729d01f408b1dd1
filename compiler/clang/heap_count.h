/* Code that counts. */
#ifndef PGC_HEAP_COUNT_H
#define PGC_HEAP_COUNT_H

#include "heap_access.h"
#include "heap_pass.h"

#include <stdint.h>

/* How code is put into one function. */
struct pgc_counting {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTypeRef byte, word; /* i8, i64 */
    bool histogram, tally, near;
    LLVMValueRef function;
    LLVMValueRef base; /* where counters begin, an integer; NULL before the first use */
};

void pgc_counting_begin(struct pgc_counting *c, LLVMModuleRef module,
                        const struct pgc_options *options);
void pgc_counting_end(struct pgc_counting *c);

/* From here on code is put into this function. */
void pgc_counting_function_is(struct pgc_counting *c, LLVMValueRef function);

/* Where the builder is: the pointer as a number, the granule that this is in, and adding to the
 * counter of that. */
LLVMValueRef pgc_address(struct pgc_counting *c, LLVMValueRef pointer);
LLVMValueRef pgc_granule(struct pgc_counting *c, LLVMValueRef address);
void pgc_add(struct pgc_counting *c, LLVMValueRef granule, LLVMValueRef amount);
/* The start of the counters, read in the first block of the function. */
LLVMValueRef pgc_base(struct pgc_counting *c, LLVMBasicBlockRef first);
LLVMValueRef pgc_word(const struct pgc_counting *c, unsigned long long value);

/* Before the instruction, the pointer to so many bytes further on. */
LLVMValueRef pgc_further(struct pgc_counting *c, LLVMValueRef at, LLVMValueRef pointer,
                         unsigned bytes);

/* Counts an access where it is. */
void pgc_count_access(struct pgc_counting *c, const struct pgc_access *access);

/* Has the runtime do what a memcpy, memmove or memset does, and count it. */
void pgc_count_in_function(struct pgc_counting *c, LLVMValueRef intrinsic, const char *function);

/* In place of a short memcpy or memset of fixed length, one that the compiler writes out, so that
 * nothing is called that would count; NULL if it is another one, or the release cannot. `counts` is
 * what either side counts. */
LLVMValueRef pgc_write_out(struct pgc_counting *c, LLVMValueRef intrinsic, uint32_t *counts);

#endif
