/* Sample profiles as raw binary. */
#include "sample_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(pgk_sample_raw_read, bytes, size);
    return 0;
}
