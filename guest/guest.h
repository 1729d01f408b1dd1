/* Included by every file that runs in other people's processes. docs/design/runtime.md has the
 * rules.
 *
 * guest/ is shared by the rooms in a recorded process: the heap profiler, the branch recorder and
 * the allocator. It includes nothing else of the tree, takes no memory of the C library's heap and
 * is the only place with system calls. Names begin with pgg_; code that depends on the processor is
 * in one header for each, guest_x86_64.h and guest_aarch64.h. */
#ifndef PGG_GUEST_H
#define PGG_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal names are reached without a lookup in the table of names. Each header here, and each of
 * the rooms that use them, pushes this around its declarations. */
#pragma GCC visibility push(hidden)

#define PGG_LIKELY(x) __builtin_expect(!!(x), 1)
#define PGG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PGG_INLINE static inline __attribute__((always_inline))
#define PGG_COLD __attribute__((noinline, cold))
#define PGG_TLS __thread __attribute__((tls_model("initial-exec")))
#define pgg_compiler_barrier() __asm__ volatile("" ::: "memory")

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

enum { PGG_LINE = 64 }; /* of the processor's cache */
/* The smallest page of any kernel; pgg_page() tells that of this one. */
enum { PGG_PAGE = 4096 };

/* Whether a signed number of so many bits holds it. */
PGG_INLINE bool pgg_fits(i64 v, unsigned bits)
{
    return v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
}

PGG_INLINE size_t pgg_whole_pages(size_t bytes)
{
    return (bytes + PGG_PAGE - 1) & ~(size_t)(PGG_PAGE - 1);
}

#pragma GCC visibility pop
#endif
