/* The counters of indexed profiles. */
#include "indexed.h"
#include "instr_fuzz.h"

static int read_indexed(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                        struct pgk_err *err)
{
    struct pgk_source src = {.file = "fuzz", .format = "indexed profile"};
    return pgk_indexed_read_instr(a, bytes, size, &src, NULL, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_round_trip(fuzz_read(read_indexed, bytes, size));
    return 0;
}
