/* Heap profiles that allocators write: jemalloc, gperftools. docs/formats/allocator-heap.md */
#ifndef PGK_ALLOCATOR_HEAP_H
#define PGK_ALLOCATOR_HEAP_H

#include "cursor.h"
#include "heap_model.h"

bool pgk_allocator_heap_sniff(const uint8_t *bytes, size_t size);

/* Adds the contexts of a text to `h`, with addresses for frames. Nothing points into `bytes`
 * afterwards; on failure `h` is only good for closing. */
PGK_MUST_USE int pgk_allocator_heap_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                         const struct pgk_source *src, struct pgk_err *err);

#endif
