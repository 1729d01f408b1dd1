/* The heap profiler runtime: included by all of its files. docs/design/runtime.md has the picture.
 *
 * The runtime runs below malloc in other people's processes: no libc heap, no stdio, no locale, no
 * lock on the path of an allocation. Each file has a header that declares what others may use. It
 * also declares the struct that the file keeps for each thread; no other file accesses its fields.
 * Functions that object files and programs may call are marked PGRT_EXPORT where they are defined
 * and listed in exports.txt. */
#ifndef PGRT_H
#define PGRT_H

#include "guest.h"
#include "guest_text.h"

#pragma GCC visibility push(hidden)

#define PGRT_EXPORT __attribute__((visibility("default"), used))
/* UBSan, XRay and coverage bring functions of the same name, which are taken then. */
#define PGRT_EXPORT_WEAK __attribute__((visibility("default"), used, weak))
#define PGRT_WHO "pgokit heap profiler"

enum {
    PGRT_GRANULE = 64, /* bytes of memory with one counter; no two objects share one */
    PGRT_HEADER = 16,  /* bytes in front of an object */
    PGRT_WORD = 8,     /* bytes with one counter in histogram mode */
    PGRT_CPU_UNKNOWN = 0xfff,
};
#define PGRT_SIZE_MAX ((UINT64_C(1) << 40) - 1)

/* "pgokit heap profiler: A: B" on standard error, where B may be NULL. */
static inline void pgrt_say(const char *a, const char *b)
{
    pgg_say(PGRT_WHO, a, b);
}

#pragma GCC visibility pop
#endif
