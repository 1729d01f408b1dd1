/* Sample profiles as the compact binary of LLVM 13 to 16. */
#include "sample_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(pgk_sample_compact_read, bytes, size);
    return 0;
}
