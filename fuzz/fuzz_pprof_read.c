/* pprof's heap profiles. */
#include "heap_fuzz.h"
#include "pprof_read.h"

static int read_file(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_err *err)
{
    uint64_t sample_bytes;
    return pgk_pprof_read(h, bytes, size, src, &sample_bytes, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pgk_pprof_sniff(bytes, size);
    fuzz_read(read_file, "heap profile of pprof", bytes, size);
    return 0;
}
