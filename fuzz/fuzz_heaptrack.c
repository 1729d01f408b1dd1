/* heaptrack files, and what can be read of damaged ones. */
#include "heap_fuzz.h"
#include "heaptrack.h"
#include "salvage.h"

static int read_file(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_err *err)
{
    uint32_t version;
    return pgk_heaptrack_read(h, bytes, size, src, &version, err);
}

static void ignore(void *ctx, const char *what)
{
    (void)ctx;
    (void)what;
}

static int salvage_file(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, struct pgk_err *err)
{
    uint32_t version;
    struct pgk_salvage lost = {.fn = ignore};
    return pgk_heaptrack_salvage(h, bytes, size, src, &lost, &version, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pgk_heaptrack_sniff(bytes, size);
    fuzz_read(read_file, "heaptrack file", bytes, size);
    fuzz_read(salvage_file, "heaptrack file", bytes, size);
    return 0;
}
