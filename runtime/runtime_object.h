/* The header of each live object, in one of three forms.
 *
 *   small  | object ... | unused | header 8 |       up to 248 bytes, begins its block; what does
 *                                                   not fit in is beside the mark in the shadow
 *   near   | header 16 | object ... | unused |
 *   far    ... | block | header 16 | object ...     the header closes a granule of its own */
#ifndef PGRT_OBJECT_H
#define PGRT_OBJECT_H

#include "runtime_shadow.h"

#pragma GCC visibility push(hidden)

enum {
    PGRT_KIND_MAPPED = 1,  /* its block is from runtime_mapped.h */
    PGRT_KIND_SPARE = 2,   /* from the spare memory; never given back */
    PGRT_KIND_SILENT = 4,  /* is in no profile */
    PGRT_KIND_UNNOTED = 8, /* not noted when it was made, as there was no file */
};
struct pgrt_header {
    u64 size : 40, cpu : 12, kind : 4, generation : 8;
    u32 context : 24, shift : 8; /* shift: granules of its block in front of the header */
    u32 alloc_ms;
};
_Static_assert(sizeof(struct pgrt_header) == PGRT_HEADER, "the header is 16 bytes");

enum pgrt_form { PGRT_FORM_NONE, PGRT_FORM_NEAR, PGRT_FORM_FAR, PGRT_FORM_SMALL };
struct pgrt_object {
    void *at;
    enum pgrt_form form;
    struct pgrt_header h;
};

/* Of a small object, 64 bits are at the end of its granules:
 *   alloc_ms 32 | kind 2 (its upper bits) | cpu 10 (its lower bits) | context 20
 * and 16 in the word of its first granule, above the count. Counting would change them after 2^48
 * accesses, which take days of nothing else:
 *   mark 2 | granules less one 2 | unused bytes 6 | generation 4 | cpu 2 (its upper bits) */
enum {
    PGRT_SMALL_HEADER = 8,
    PGRT_SMALL_MAX = 4 * PGRT_GRANULE - PGRT_SMALL_HEADER,
    PGRT_SMALL_CONTEXTS = 1 << 20,
    PGRT_SMALL_GENERATIONS = 16,
    PGRT_COUNT_BITS = 48,
};

/* As the fields lie, in two stores: what was in the memory need not be read. */
PGG_INLINE void pgrt_header_set(struct pgrt_header *h, const struct pgrt_header *v)
{
    const u64 words[] = {(u64)v->size | (u64)v->cpu << 40 | (u64)v->kind << 52 |
                             (u64)v->generation << 56,
                         (u64)v->context | (u64)v->shift << 24 | (u64)v->alloc_ms << 32};
    __builtin_memcpy(h, words, sizeof words);
}

/* What was done with an object. */
struct pgrt_use {
    u64 accesses;
    u64 touched; /* its bytes in blocks that were accessed: of 64, or 8 with histograms */
};

PGG_INLINE struct pgrt_header *pgrt_header_of(const void *object)
{
    return (struct pgrt_header *)((uintptr_t)object - PGRT_HEADER);
}

/* Bytes of the block of a small object of n bytes. */
PGG_INLINE size_t pgrt_small_bytes(size_t n)
{
    return (n + PGRT_SMALL_HEADER + PGRT_GRANULE - 1) & ~(size_t)(PGRT_GRANULE - 1);
}

PGG_INLINE u64 *pgrt_small_header(const void *object, size_t bytes)
{
    return (u64 *)((uintptr_t)object + bytes - PGRT_SMALL_HEADER);
}

/* The stored part of the header, and in *mark the part for the shadow. */
PGG_INLINE u64 pgrt_small_pack(const struct pgrt_header *h, u64 *mark)
{
    const size_t bytes = pgrt_small_bytes(h->size);
    *mark = PGRT_MARK_SMALL | (u64)(bytes / PGRT_GRANULE - 1) << 60 |
            (u64)(bytes - PGRT_SMALL_HEADER - h->size) << 54 | (u64)h->generation << 50 |
            (u64)(h->cpu >> 10) << PGRT_COUNT_BITS;
    return (u64)h->context | (u64)(h->cpu & 0x3ff) << 20 | (u64)(h->kind >> 2) << 30 |
           (u64)h->alloc_ms << 32;
}

/* Made of two whole words: to load a word that was stored in parts waits until all of them are in
 * the cache. */
PGG_INLINE struct pgrt_header pgrt_small_unpack(u64 mark, const void *object)
{
    const size_t bytes = ((mark >> 60 & 3) + 1) * PGRT_GRANULE;
    const u64 word = *pgrt_small_header(object, bytes),
              size = bytes - PGRT_SMALL_HEADER - (mark >> 54 & 63),
              cpu = (word >> 20 & 0x3ff) | (mark >> PGRT_COUNT_BITS & 3) << 10,
              kind = (word >> 30 & 3) << 2, generation = mark >> 50 & 15,
              words[] = {size | cpu << 40 | kind << 52 | generation << 56,
                         (word & (PGRT_SMALL_CONTEXTS - 1)) | word >> 32 << 32};
    struct pgrt_header h;
    __builtin_memcpy(&h, words, sizeof h);
    return h;
}

PGG_INLINE struct pgrt_object pgrt_object_at(const void *at, enum pgrt_form form)
{
    return (struct pgrt_object){
        (void *)at, form,
        form == PGRT_FORM_SMALL ? pgrt_small_unpack(*pgrt_shadow((uintptr_t)at), at)
                                : *pgrt_header_of(at)};
}

/* No dump is to count it, from now on. */
PGG_INLINE void pgrt_object_silence(struct pgrt_object *o)
{
    o->h.kind |= PGRT_KIND_SILENT;
    if (o->form == PGRT_FORM_SMALL)
        *pgrt_small_header(o->at, pgrt_small_bytes(o->h.size)) |= (u64)PGRT_KIND_SILENT << 28;
    else
        pgrt_header_of(o->at)->kind |= PGRT_KIND_SILENT;
}

#pragma GCC visibility pop
#endif
