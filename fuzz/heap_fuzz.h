/* What the fuzz targets of heap profiles without a binary share: any bytes are read or refused with
 * a message that names a place; the stacks of what is read can be walked. */
#ifndef HEAP_FUZZ_H
#define HEAP_FUZZ_H

#include "heap_model.h"
#include "cursor.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef int fuzz_read_fn(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                         const struct pgk_source *src, struct pgk_err *err);

static inline void fuzz_read(fuzz_read_fn *read, const char *format, const uint8_t *bytes,
                             size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    const struct pgk_source src = {.file = "fuzz", .format = format};
    if (pgk_heap_new(&h, &err))
        return;
    int status = read(h, bytes, size, &src, &err);
    if (status && (err.status != status || (status != PGK_E_NOMEM && !*err.field)))
        abort();
    for (size_t c = 0; !status && c < pgk_heap_contexts(h); c++) {
        struct pgk_heap_frame frames[4];
        pgk_heap_stack(h, c, frames, 4);
    }
    pgk_heap_close(&h);
}

#endif
