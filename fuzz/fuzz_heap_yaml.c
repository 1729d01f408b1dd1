/* YAML heap profiles: what can be read can be written, and reads back. */
#include "heap_yaml.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h, *again;
    struct pgk_sink *out;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "YAML heap profile"};
    if (pgk_heap_new(&h, &err))
        return 0;
    int status = pgk_heap_yaml_read(h, bytes, size, &src, NULL, &err);
    if (status && (err.status != status || (status != PGK_E_NOMEM && !*err.field)))
        abort();
    if (!status && !pgk_sink_memory(&out, NULL)) {
        size_t n = 0;
        if (!pgk_heap_yaml_write(h, NULL, out, NULL) && !pgk_heap_new(&again, NULL)) {
            const uint8_t *text = pgk_sink_data(out, &n);
            if (pgk_heap_yaml_read(again, text, n, &src, NULL, &err) ||
                again->contexts.n != h->contexts.n)
                abort(); /* we must read what we write */
            pgk_heap_close(&again);
        }
        pgk_sink_drop(&out);
    }
    pgk_heap_close(&h);
    return 0;
}
