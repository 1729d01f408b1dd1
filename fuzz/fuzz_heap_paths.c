/* Heap profiles with source positions: what can be read can be written, and reads back as the same
 * bytes. */
#include "heap_paths.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct pgk_heap *read_paths(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "heap profile of source positions"};
    if (pgk_heap_new(&h, &err))
        return NULL;
    int status = pgk_heap_paths_read(h, bytes, size, &src, NULL, &err);
    if (status && (err.status != status || (status != PGK_E_NOMEM && !*err.field)))
        abort();
    if (status)
        pgk_heap_close(&h);
    return h;
}

static struct pgk_sink *write_paths(const struct pgk_heap *h)
{
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL))
        return NULL;
    if (pgk_heap_paths_write(h, out, NULL, NULL))
        pgk_sink_drop(&out);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h = read_paths(bytes, size);
    struct pgk_sink *first = h ? write_paths(h) : NULL;
    if (first) {
        size_t n = 0, m = 0;
        const uint8_t *a = pgk_sink_data(first, &n);
        struct pgk_heap *again = read_paths(a, n);
        if (!again)
            abort(); /* we must read what we write */
        struct pgk_sink *second = write_paths(again);
        const uint8_t *b = second ? pgk_sink_data(second, &m) : NULL;
        if (b && (n != m || memcmp(a, b, n)))
            abort();
        pgk_sink_drop(&second);
        pgk_heap_close(&again);
    }
    pgk_sink_drop(&first);
    pgk_heap_close(&h);
    return 0;
}
