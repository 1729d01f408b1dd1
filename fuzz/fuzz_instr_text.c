/* Text counters. */
#include "instr_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_round_trip(fuzz_read(fuzz_read_text, bytes, size));
    return 0;
}
