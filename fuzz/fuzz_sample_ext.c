/* Sample profiles as extensible binary, as a whole and one function alone. */
#include "sample_fuzz.h"

static int read_whole(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                      const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    return pgk_sample_ext_read(p, bytes, size, src, weight, NULL, err);
}

static int read_main(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    (void)weight;
    return pgk_sample_ext_read_function(p, bytes, size, src, "main", NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(read_whole, bytes, size);
    fuzz_read(read_main, bytes, size);
    return 0;
}
