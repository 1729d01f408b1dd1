/* Partial heap profiles: any bytes are read or refused with a message that names a place; what is
 * read is written, and read again as the same. */
#include "heap_partial.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct pgk_source source = {.file = "fuzz", .format = "partial heap profile"};

static struct pgk_sink *write_to_memory(const struct pgk_heap *h)
{
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL) || pgk_heap_partial_write(h, out, NULL))
        abort();
    return out;
}

static void check_round_trip(const struct pgk_heap *h)
{
    struct pgk_heap *again;
    size_t n, m;
    struct pgk_sink *first = write_to_memory(h);
    const uint8_t *a = pgk_sink_data(first, &n);
    if (pgk_heap_new(&again, NULL) || pgk_heap_partial_read(again, a, n, &source, NULL, NULL))
        abort();
    struct pgk_sink *second = write_to_memory(again);
    const uint8_t *b = pgk_sink_data(second, &m);
    if (n != m || memcmp(a, b, n))
        abort();
    pgk_sink_drop(&first);
    pgk_sink_drop(&second);
    pgk_heap_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    if (pgk_heap_new(&h, &err))
        return 0;
    int status = pgk_heap_partial_read(h, bytes, size, &source, NULL, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    pgk_heap_member_vec members = {0};
    if (!status && !pgk_heap_members(h, &members))
        abort();
    pgk_vec_free(&members);
    if (!status)
        check_round_trip(h);
    pgk_heap_close(&h);
    return 0;
}
