/* Partial heap profiles: the whole heap model as a file of our own, so that a merge of merges is
 * the merge of all. docs/formats/partial-heap.md */
#ifndef PGK_HEAP_PARTIAL_H
#define PGK_HEAP_PARTIAL_H

#include "cursor.h"
#include "heap_model.h"
#include "heap_origin_part.h"
#include "sink.h"

#define PGK_HEAP_PARTIAL_MAGIC UINT64_C(0x706165686b6770ff) /* ff "pgkheap" */
#define PGK_HEAP_PARTIAL_VERSION 1

/* Lines of the file's list of parts. */
enum pgk_partial_part {
#define PGK_PARTIAL_PART(name, least, meaning) PGK_PARTIAL_##name,
#include "heap_partial.def"
#undef PGK_PARTIAL_PART
    PGK_PARTIAL_PARTS
};

/* Flags of a context. */
enum { PGK_PARTIAL_OWNED_BY_CHAIN = 1, PGK_PARTIAL_HISTOGRAM = 2, PGK_PARTIAL_FLAGS_END = 4 };

/* Line offsets of 32 bits with the sign in the lowest bit, so that small ones of either sign are
 * short. */
static inline uint32_t pgk_partial_line(uint32_t line_offset)
{
    return line_offset << 1 ^ (uint32_t)-(line_offset >> 31);
}

static inline uint32_t pgk_partial_line_offset(uint32_t line)
{
    return line >> 1 ^ (uint32_t)-(line & 1);
}

/* Adds the content to `h`, and tells what was found, unless `info` is NULL; nothing points into
 * `bytes` afterwards. On failure `h` is only good for closing. */
PGK_MUST_USE int pgk_heap_partial_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                       const struct pgk_source *src,
                                       struct pgk_heap_read_info *info, struct pgk_err *err);
/* Equal models give equal bytes, in whatever order they were filled. */
PGK_MUST_USE int pgk_heap_partial_write(const struct pgk_heap *h, struct pgk_sink *out,
                                        struct pgk_err *err);

#endif
