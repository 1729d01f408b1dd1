/* Indexed profiles: what can be read can be written, and reads back as the same bytes. */
#include "indexed.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The MemProf section of `h`, at a fixed offset of a memory sink. */
static struct pgk_sink *write_section(const struct pgk_heap *h)
{
    const struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts, .full_schema = true,
        .target = {.index_version = 13, .memprof_version = 4, .frame_ids = 2}};
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL))
        return NULL;
    pgk_sink_zeros(out, 8); /* offsets are never 0 */
    if (pgk_memprof_write(h, NULL, out, &opts, NULL))
        pgk_sink_drop(&out);
    return out;
}

static struct pgk_heap *read_section(const struct pgk_sink *section)
{
    struct pgk_heap *h;
    struct pgk_cursor c;
    struct pgk_indexed_info info = {0};
    size_t size;
    const uint8_t *bytes = pgk_sink_data(section, &size);
    pgk_cur_init(&c, bytes, size, &(struct pgk_source){.file = "fuzz"});
    if (pgk_heap_new(&h, NULL))
        return NULL;
    if (pgk_memprof_read(h, &c, 8, NULL, &info, NULL))
        abort(); /* we must read what we write */
    return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "indexed profile"};
    if (pgk_heap_new(&h, &err))
        return 0;
    int status = pgk_indexed_read(h, bytes, size, &src, NULL, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    struct pgk_sink *first = status ? NULL : write_section(h);
    if (first) {
        struct pgk_heap *again = read_section(first);
        struct pgk_sink *second = again ? write_section(again) : NULL;
        size_t n = 0, m = 0;
        const uint8_t *a = pgk_sink_data(first, &n), *b = second ? pgk_sink_data(second, &m) : NULL;
        if (b && (n != m || memcmp(a, b, n)))
            abort();
        pgk_sink_drop(&second);
        pgk_heap_close(&again);
    }
    pgk_sink_drop(&first);
    pgk_heap_close(&h);
    return 0;
}
