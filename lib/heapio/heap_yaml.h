/* Heap profiles as YAML, as llvm-profdata 22 prints and reads them.
 * docs/formats/indexed-heap.md section 11 */
#ifndef PGK_HEAP_YAML_H
#define PGK_HEAP_YAML_H

#include "cursor.h"
#include "heap_model.h"
#include "sink.h"

struct pgk_heap_yaml_info {
    bool has_data_access;
};

/* Adds the records of a YAML profile to `h`; nothing points into `bytes` afterwards. On
 * failure `h` is only good for closing. */
PGK_MUST_USE int pgk_heap_yaml_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                    const struct pgk_source *src, struct pgk_heap_yaml_info *info,
                                    struct pgk_err *err);
/* Records by GUID, with the fields that each context knows. `comment` follows the first line;
 * without the end of its last line; NULL: none. */
PGK_MUST_USE int pgk_heap_yaml_write(const struct pgk_heap *h, const char *comment,
                                     struct pgk_sink *out, struct pgk_err *err);

#endif
