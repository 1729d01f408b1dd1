/* Sample profiles as GCC's -fauto-profile reads them: what is read can be written for every
 * release, and what was written for one stays as it is when it is read and written again. */
#include "sample_fuzz.h"
#include "sample_gcc.h"

static int read_gcc(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                    const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    return pgk_sample_gcc_read(p, bytes, size, src, weight, NULL, err);
}

/* The file that is written for a release; NULL if some names are GUIDs. */
static struct pgk_sink *written(const struct pgk_sample *p, unsigned release)
{
    struct pgk_gcc_compiler compiler;
    struct pgk_gcc_changes changes;
    struct pgk_sample *adapted;
    struct pgk_sink *out;
    struct pgk_err err = {0};
    if (!pgk_gcc_compiler(release, &compiler))
        abort();
    int status = pgk_gcc_adapt(&adapted, p, &compiler, &changes, &err);
    if (status == PGK_E_ARG)
        return NULL;
    if (status || pgk_sink_memory(&out, NULL) ||
        pgk_sample_gcc_write(adapted, adapted->by_heat.n, &compiler, out, NULL))
        abort();
    pgk_sample_close(&adapted);
    return out;
}

/* Once written it stays as it is. */
static void write_again(const struct pgk_sample *p, unsigned release)
{
    struct pgk_sample *again;
    struct pgk_sink *out = written(p, release);
    size_t n1, n2;
    if (!out)
        return;
    const uint8_t *bytes = pgk_sink_data(out, &n1);
    if (pgk_sample_new(&again, NULL) || read_gcc(again, bytes, n1, &fuzz_source, 1, NULL) ||
        pgk_sample_finish(again, NULL))
        abort();
    struct pgk_sink *out2 = written(again, release);
    const uint8_t *bytes2 = pgk_sink_data(out2, &n2);
    if (n1 != n2 || memcmp(bytes, bytes2, n1))
        abort();
    pgk_sink_drop(&out);
    pgk_sink_drop(&out2);
    pgk_sample_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_sample *p;
    fuzz_read(read_gcc, bytes, size);
    if (pgk_sample_new(&p, NULL))
        return 0;
    if (!read_gcc(p, bytes, size, &fuzz_source, 1, NULL) && !pgk_sample_finish(p, NULL))
        for (unsigned release = 12; release <= 16; release++)
            write_again(p, release);
    pgk_sample_close(&p);
    return 0;
}
