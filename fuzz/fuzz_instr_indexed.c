/* The counters of indexed profiles. */
#include "indexed.h"
#include "instr_fuzz.h"

static int read_indexed(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                        struct pgk_err *err)
{
    struct pgk_source src = {.file = "fuzz", .format = "indexed profile"};
    return pgk_indexed_read_instr(a, bytes, size, &src, NULL, err);
}

static int take_id(void *ctx, const uint8_t *id, size_t size)
{
    (void)ctx;
    if (!size || !id)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_source src = {.file = "fuzz", .format = "indexed profile"};
    struct pgk_instr *p = fuzz_read(read_indexed, bytes, size);
    if (pgk_indexed_build_ids(bytes, size, &src, take_id, NULL, NULL) && p)
        abort(); /* of a sound file */
    fuzz_round_trip(p);
    return 0;
}
