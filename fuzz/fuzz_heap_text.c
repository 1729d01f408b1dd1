/* Printed heap profiles. */
#include "heap_text.h"
#include "heap_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pgk_heap_text_sniff(bytes, size);
    fuzz_read(pgk_heap_text_read, "printed heap profile", bytes, size);
    return 0;
}
