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

struct pgk_salvage;
/* As pgk_heaptrack_read of the file up to its damage. What is lost is reported; then it is not
 * known what was alive at the end. PGK_E_EMPTY if no allocation is left. */
PGK_MUST_USE int pgk_heaptrack_salvage(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                       const struct pgk_source *src,
                                       struct pgk_salvage *salvage, uint32_t *version,
                                       struct pgk_err *err);

#endif
