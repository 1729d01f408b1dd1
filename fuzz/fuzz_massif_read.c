/* massif's files. */
#include "heap_fuzz.h"
#include "massif_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pgk_massif_sniff(bytes, size);
    fuzz_read(pgk_massif_read, "massif file", bytes, size);
    return 0;
}
