/* Printed heap profiles: any bytes are read or refused with a message that names a place. */
#include "heap_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "printed heap profile"};
    pgk_heap_text_sniff(bytes, size);
    if (pgk_heap_new(&h, &err))
        return 0;
    int status = pgk_heap_text_read(h, bytes, size, &src, &err);
    if (status && (err.status != status || (status != PGK_E_NOMEM && !*err.field)))
        abort();
    for (size_t c = 0; !status && c < pgk_heap_contexts(h); c++) {
        struct pgk_heap_frame frames[4];
        pgk_heap_stack(h, c, frames, 4);
    }
    pgk_heap_close(&h);
    return 0;
}
