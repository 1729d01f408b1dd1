/* LLVM's 64-bit ids of functions in heap profiles. */
#ifndef PGK_FUNCTION_NAME_H
#define PGK_FUNCTION_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Length of the canonical part of a linkage name: compilers' suffixes .memprof.N, .llvm.N and
 * .part.N, which do not name another function, are left out. docs/formats/indexed-heap.md 3.1 */
size_t pgk_heap_canonical_len(const char *name, size_t len);

/* The GUID: MD5 of the canonical name, without file prefix for static functions. */
uint64_t pgk_heap_guid(const char *name, size_t len);

#endif
