/* Raw counters. */
#include "instr_fuzz.h"
#include "instr_raw.h"

static int read_raw(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                    struct pgk_err *err)
{
    struct pgk_source src = {.file = "fuzz", .format = "raw counters"};
    return pgk_instr_raw_read(a, bytes, size, &src, NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_round_trip(fuzz_read(read_raw, bytes, size));
    return 0;
}
