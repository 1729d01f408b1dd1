/* Counting with fewer updates: what is added up before it is written. */
#ifndef PGC_HEAP_MERGE_H
#define PGC_HEAP_MERGE_H

#include "heap_count.h"

/* Has all accesses of the function counted that may be to the heap. */
void pgc_count_merged(struct pgc_counting *c, LLVMValueRef function);

#endif
