/* heaptrack files. */
#include "heap_fuzz.h"
#include "heaptrack.h"

static int read_file(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_err *err)
{
    uint32_t version;
    return pgk_heaptrack_read(h, bytes, size, src, &version, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pgk_heaptrack_sniff(bytes, size);
    fuzz_read(read_file, "heaptrack file", bytes, size);
    return 0;
}
