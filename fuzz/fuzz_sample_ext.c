/* Sample profiles as extensible binary, as a whole, one function alone, and in part. */
#include "sample_fuzz.h"

#include "u64_set.h"

static int read_whole(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                      const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    return pgk_sample_ext_read(p, bytes, size, src, weight, NULL, err);
}

/* The function is spelled then, even where the file has GUIDs, which come in another order: so
 * what is written of it need not be written the same again. */
static void read_main(const uint8_t *bytes, size_t size)
{
    struct pgk_sample *p;
    struct pgk_err err = {0};
    size_t written;
    if (pgk_sample_new(&p, &err))
        return;
    int status = pgk_sample_ext_read_function(p, bytes, size, &fuzz_source, "main", NULL, &err);
    fuzz_check_error(status, &err);
    if (!status) {
        struct pgk_sink *out = fuzz_write(p, false, &bytes, &written);
        pgk_sink_drop(&out);
    }
    pgk_sample_close(&p);
}

/* What concerns two functions. */
static void read_part(const uint8_t *bytes, size_t size)
{
    uint64_t functions[] = {pgk_sample_guid("main"), pgk_sample_guid("_Z3fooi")};
    struct pgk_sample *p;
    struct pgk_sample_ext_info info;
    struct pgk_err err = {0};
    size_t written;
    if (pgk_sample_new(&p, &err))
        return;
    int status = pgk_sample_ext_read_functions(p, bytes, size, &fuzz_source, functions,
                                               pgk_u64_set(functions, 2), &info, &err);
    fuzz_check_error(status, &err);
    if (!status) {
        struct pgk_sink *out = fuzz_write(p, false, &bytes, &written);
        pgk_sink_drop(&out);
    }
    pgk_sample_close(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(read_whole, bytes, size);
    read_main(bytes, size);
    read_part(bytes, size);
    return 0;
}
