/* Heap profiles of pprof: messages of profile.proto. docs/formats/pprof.md */
#ifndef PGK_PPROF_READ_H
#define PGK_PPROF_READ_H

#include "cursor.h"
#include "heap_model.h"

bool pgk_pprof_sniff(const uint8_t *bytes, size_t size);

/* Adds the contexts of a file, which is decompressed, to `h`. *sample_bytes becomes the bytes from
 * one sample to the next, on average; 0 or 1: everything is counted. Nothing points into `bytes`
 * afterwards; on failure `h` is only good for closing. */
PGK_MUST_USE int pgk_pprof_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                const struct pgk_source *src, uint64_t *sample_bytes,
                                struct pgk_err *err);

#endif
