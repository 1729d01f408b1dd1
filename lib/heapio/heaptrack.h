/* Heap profiles that heaptrack records. docs/formats/heaptrack.md */
#ifndef PGK_HEAPTRACK_H
#define PGK_HEAPTRACK_H

#include "cursor.h"
#include "heap_model.h"

bool pgk_heaptrack_sniff(const uint8_t *bytes, size_t size);

/* Adds the contexts of a file to `h`, and how its heap was over time. *version becomes that of the
 * file. Nothing points into `bytes` afterwards; on failure `h` is only good for closing. */
PGK_MUST_USE int pgk_heaptrack_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                    const struct pgk_source *src, uint32_t *version,
                                    struct pgk_err *err);

#endif
