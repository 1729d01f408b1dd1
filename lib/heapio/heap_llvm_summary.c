/* The summary that LLVM makes of a heap profile. */
#include "heap_llvm_summary.h"

#include "estimate.h"

void pgk_heap_llvm_summary(const struct pgk_heap *h, struct pgk_heap_llvm_summary *s)
{
    *s = (struct pgk_heap_llvm_summary){.contexts = h->contexts.n};
    for (size_t i = 0; i < h->contexts.n; i++) {
        const struct pgk_mib *m = pgk_heap_mib(h, i, PGK_MIB_SPACE);
        bool cold = pgk_mib_is_cold(m) && !pgk_mib_is_levelled(m);
        uint64_t size = pgk_mib_file_value(m, PGK_MIB_TotalSize),
                 *largest = cold ? &s->largest_cold : &s->largest_warm;
        s->cold += cold;
        if (size > *largest)
            *largest = size;
    }
}
