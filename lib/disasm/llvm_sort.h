/* The order in which llvm-profgen prints what it sorted. */
#ifndef PGK_LLVM_SORT_H
#define PGK_LLVM_SORT_H

#include "probes.h"

/* Sorts by GUID as std::sort of GNU's C++ library does, which keeps no order among equal ones
 * but always leaves the same one. */
void pgk_llvm_sort_descs(struct pgk_probe_desc *v, size_t n);

#endif
