/* Heap profiles that valgrind's massif writes. docs/formats/massif.md */
#ifndef PGK_MASSIF_READ_H
#define PGK_MASSIF_READ_H

#include "cursor.h"
#include "heap_model.h"

bool pgk_massif_sniff(const uint8_t *bytes, size_t size);

/* Adds the contexts of a file to `h`, and, where its times are milliseconds, how its heap was over
 * time. Nothing points into `bytes` afterwards; on failure `h` is only good for closing. */
PGK_MUST_USE int pgk_massif_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                 const struct pgk_source *src, struct pgk_err *err);

#endif
