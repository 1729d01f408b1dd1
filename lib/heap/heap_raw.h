/* Raw heap profiles: what the runtime of -fmemory-profile leaves behind.
 * docs/formats/raw-heap.md */
#ifndef PGK_HEAP_RAW_H
#define PGK_HEAP_RAW_H

#include "cursor.h"
#include "heap_model.h"

#define PGK_HEAP_RAW_MAGIC UINT64_C(0xff6d70726f667281)
#define PGK_HEAP_RAW_FIRST 1 /* versions read */
#define PGK_HEAP_RAW_LAST 5

struct pgk_heap_raw_info {
    uint32_t version; /* of the last dump */
    uint32_t dumps;
    bool interrupted;       /* the process ended before it wrote its last dump */
    bool library_accesses;  /* accesses are those of library functions only */
};

/* Adds all dumps of a raw profile to `h` as contexts with address frames. Blocks of one
 * stack id are merged in the order of the file first (rule `step`), then added to
 * the model (rule `across`). Nothing points into `bytes` afterwards. On failure `h`
 * holds a part of the file and is only good for closing. */
PGK_MUST_USE int pgk_heap_raw_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                   const struct pgk_source *src, struct pgk_heap_raw_info *info,
                                   struct pgk_err *err);

#endif
