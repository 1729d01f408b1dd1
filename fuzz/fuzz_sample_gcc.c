/* Sample profiles as GCC's -fauto-profile reads them. */
#include "sample_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(pgk_sample_gcc_read, bytes, size);
    return 0;
}
