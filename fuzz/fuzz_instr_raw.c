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

static struct pgk_sink *write_raw(const struct pgk_instr *p)
{
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL) || pgk_instr_raw_write(p, out, PGK_INSTR_RAW_LAST, NULL))
        abort();
    return out;
}

static void write_and_read(const struct pgk_instr *p)
{
    size_t n, m;
    struct pgk_sink *first = write_raw(p);
    const uint8_t *a = pgk_sink_data(first, &n);
    struct pgk_instr *back = fuzz_read(read_once, a, n);
    if (!back)
        abort(); /* we must read what we write */
    struct pgk_sink *second = write_raw(back);
    const uint8_t *b = pgk_sink_data(second, &m);
    if (n != m || memcmp(a, b, n))
        abort();
    pgk_sink_drop(&first);
    pgk_sink_drop(&second);
    pgk_instr_close(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_instr *p = fuzz_read(read_raw, bytes, size);
    if (p && !pgk_instr_raw_check(p, "", NULL))
        write_and_read(p);
    fuzz_round_trip(p);
    return 0;
}
