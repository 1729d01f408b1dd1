/* Raw heap profiles: any bytes are read or refused with a message that names a place; what can be
 * read can be written as the same version, and that reads back as the same bytes. */
#include "heap_raw.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct pgk_heap *read_raw(const uint8_t *bytes, size_t size,
                                 struct pgk_heap_read_info *info)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "raw heap profile"};
    if (pgk_heap_new(&h, &err))
        return NULL;
    int status = pgk_heap_raw_read(h, bytes, size, &src, info, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    if (status)
        pgk_heap_close(&h);
    return h;
}

/* A file in which two stacks have become one has it twice: NULL, there is nothing to compare. */
static struct pgk_sink *write_raw(const struct pgk_heap *h, uint32_t version)
{
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL))
        return NULL;
    if (pgk_heap_raw_write(h, out, version, "fuzz", NULL))
        pgk_sink_drop(&out);
    return out;
}

static int take_id(void *ctx, const uint8_t *id, size_t size)
{
    (void)ctx;
    if (!size || !id)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap_read_info info;
    struct pgk_source src = {.file = "fuzz", .format = "raw heap profile"};
    struct pgk_heap *h = read_raw(bytes, size, &info);
    if (pgk_heap_raw_build_ids(bytes, size, &src, take_id, NULL, NULL) && h)
        abort(); /* of a sound file */
    for (size_t c = 0; h && c < pgk_heap_contexts(h); c++) {
        struct pgk_heap_frame frames[4];
        if (!pgk_heap_stack(h, c, frames, 4) && h->contexts.v[c].stack)
            abort();
    }
    struct pgk_sink *first = h ? write_raw(h, info.version) : NULL;
    if (first) {
        size_t n = 0, m = 0;
        const uint8_t *a = pgk_sink_data(first, &n);
        struct pgk_heap *again = a ? read_raw(a, n, &info) : NULL;
        if (a && !again)
            abort(); /* we must read what we write */
        struct pgk_sink *second =
            again && again->contexts.n == h->contexts.n ? write_raw(again, info.version) : NULL;
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
