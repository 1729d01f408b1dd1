/* The summary that LLVM makes of a heap profile: in MemProf V4, and in what llvm-profdata
 * prints. */
#ifndef PGK_HEAP_LLVM_SUMMARY_H
#define PGK_HEAP_LLVM_SUMMARY_H

#include "heap_model.h"

/* The fields of V4 in their order. The compiler's hot rule is off by default, so LLVM writes no hot
 * ones; neither do we. */
struct pgk_heap_llvm_summary {
    uint64_t contexts, cold, hot;
    uint64_t largest_cold, largest_warm, largest_hot; /* TotalSize of a context */
};
void pgk_heap_llvm_summary(const struct pgk_heap *h, struct pgk_heap_llvm_summary *s);

#endif
