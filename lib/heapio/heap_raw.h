/* Raw heap profiles, written by the runtime of -fmemory-profile. docs/formats/raw-heap.md */
#ifndef PGK_HEAP_RAW_H
#define PGK_HEAP_RAW_H

#include "cursor.h"
#include "heap_model.h"
#include "heap_origin_part.h"
#include "heap_raw_layout.h"
#include "pgokit/format.h"
#include "sink.h"

#define PGK_HEAP_RAW_MAGIC UINT64_C(0xff6d70726f667281)
struct pgk_heap_raw_header {
#define PGK_RAW_HEADER(name, type, meaning) uint64_t name;
#include "heap_raw.def"
#undef PGK_RAW_HEADER
};

/* Adds all dumps of a raw profile to `h` as contexts with address frames. Blocks of one
 * stack id are merged in the order of the file first (rule `step`), then added to
 * the model (rule `across`). Nothing points into `bytes` afterwards. On failure `h`
 * holds a part of the file and is only good for closing. */
PGK_MUST_USE int pgk_heap_raw_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                   const struct pgk_source *src, struct pgk_heap_read_info *info,
                                   struct pgk_err *err);

/* The build ids of the first dump, as pgk_file_build_ids gives them. */
PGK_MUST_USE int pgk_heap_raw_build_ids(const uint8_t *bytes, size_t size,
                                        const struct pgk_source *src, pgk_build_id_fn *fn,
                                        void *ctx, struct pgk_err *err);

/* Where a part of a module was, as the file says it. */
struct pgk_raw_place {
    uint64_t start, end, offset;
    const uint8_t *id; /* build id */
    size_t id_size;
};
/* Gives `fn` those of the first dump; what it returns ends that, unless it is 0. */
PGK_MUST_USE int pgk_heap_raw_places(const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src,
                                     int (*fn)(void *ctx, const struct pgk_raw_place *place),
                                     void *ctx, struct pgk_err *err);

/* Writes one dump of the version. PGK_E_ARG for a version that is not, and where a frame is a
 * place in a function; addresses in modules that this version cannot describe (see
 * pgk_heap_rebase) are written as addresses in no module. `path` is for messages. */
PGK_MUST_USE int pgk_heap_raw_write(const struct pgk_heap *h, struct pgk_sink *out,
                                    uint32_t version, const char *path, struct pgk_err *err);
#endif
