/* What lies in front of each object. */
#ifndef PGRT_OBJECT_H
#define PGRT_OBJECT_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

enum {
    PGRT_KIND_FAR = 1,     /* block start is in the word before the header */
    PGRT_KIND_SPARE = 2,   /* from the spare memory; never given back */
    PGRT_KIND_SILENT = 4,  /* is in no profile */
    PGRT_KIND_UNBEGUN = 8, /* not noted when it was made, as there was no file */
};
struct pgrt_header {
    u64 size : 40, cpu : 12, kind : 4, generation : 8;
    u32 context : 24, shift : 8; /* shift: granules of its block in front of the header */
    u32 alloc_ms;
};
_Static_assert(sizeof(struct pgrt_header) == PGRT_HEADER, "the header is 16 bytes");

/* As the fields lie, in two stores: what was in the memory need not be read. */
PGG_INLINE void pgrt_header_set(struct pgrt_header *h, const struct pgrt_header *v)
{
    const u64 words[] = {(u64)v->size | (u64)v->cpu << 40 | (u64)v->kind << 52 |
                             (u64)v->generation << 56,
                         (u64)v->context | (u64)v->shift << 24 | (u64)v->alloc_ms << 32};
    __builtin_memcpy(h, words, sizeof words);
}

PGG_INLINE struct pgrt_header *pgrt_header_of(const void *object)
{
    return (struct pgrt_header *)((uintptr_t)object - PGRT_HEADER);
}

#pragma GCC visibility pop
#endif
