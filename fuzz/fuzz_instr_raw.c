/* Raw counters: what was read is written, and that is read and written the same. */
#include "instr_fuzz.h"
#include "instr_raw.h"

static int read_raw(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                    struct pgk_err *err)
{
    struct pgk_source src = {.file = "fuzz", .format = "raw counters"};
    return pgk_instr_raw_read(a, bytes, size, &src, NULL, err);
}

static int read_once(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                     struct pgk_err *err)
{
    a->weight = 1;
    return read_raw(a, bytes, size, err);
}

static int write_raw(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err)
{
    return pgk_instr_raw_write(p, PGK_INSTR_RAW_NOW, out, err);
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
    struct pgk_source src = {.file = "fuzz", .format = "raw counters"};
    int status = pgk_instr_raw_build_ids(bytes, size, &src, take_id, NULL, NULL);
    struct pgk_instr *p = fuzz_read(read_raw, bytes, size);
    if (p && status)
        abort(); /* of a sound file */
    if (p && !pgk_instr_raw_check(p, "", PGK_INSTR_RAW_NOW, NULL))
        fuzz_write_and_read(p, write_raw, read_once);
    fuzz_round_trip(p);
    return 0;
}
