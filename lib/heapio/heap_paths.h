/* Heap profiles whose frames are source positions: file, line, column and discriminator, over a
 * tree of path components. docs/formats/heap-paths.md */
#ifndef PGK_HEAP_PATHS_H
#define PGK_HEAP_PATHS_H

#include "cursor.h"
#include "heap_model.h"
#include "heap_origin_part.h"
#include "sink.h"

#define PGK_HEAP_PATHS_MAGIC UINT64_C(0x31736874617067ff) /* ff 'gpaths1' */
#define PGK_HEAP_PATHS_VERSION 5

enum pgk_paths_section {
#define PGK_PATHS_SECTION(name, number, meaning) PGK_PATHS_##name = (number),
#include "heap_paths.def"
#undef PGK_PATHS_SECTION
    PGK_PATHS_SECTIONS_END
};

/* Bits of a frame's, a context's and a site's flags. */
enum { PGK_PATHS_INLINED = 1 };
enum { PGK_PATHS_OWNED_BY_CHAIN = 1, PGK_PATHS_HISTOGRAM = 2 };

/* Adds the profile to `h`; nothing points into `bytes` afterwards. On failure `h` is only good
 * for closing. */
PGK_MUST_USE int pgk_heap_paths_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src,
                                     struct pgk_heap_read_info *info, struct pgk_err *err);
/* `size` may be NULL. */
PGK_MUST_USE int pgk_heap_paths_write(const struct pgk_heap *h, struct pgk_sink *out,
                                      struct pgk_heap_paths_size *size, struct pgk_err *err);

#endif
