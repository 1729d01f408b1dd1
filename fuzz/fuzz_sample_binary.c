/* Binary sample profiles of all encodings: any bytes are read or refused with a message that
 * names a place; what is read can be written, and reads the same again. */
#include "sample_binary.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct pgk_source src = {.file = "fuzz", .format = "sample profile"};

static struct pgk_sink *write(struct pgk_sample *p, const uint8_t **bytes, size_t *size)
{
    struct pgk_sink *out;
    struct pgk_sample_write_opts opts = {.struct_size = sizeof opts, .vtables = true};
    if (pgk_sample_finish(p, NULL) || pgk_sink_memory(&out, NULL) ||
        pgk_sample_ext_write(p, p->by_heat.n, &opts, out, NULL))
        abort();
    *bytes = pgk_sink_data(out, size);
    return out;
}

static void check_round_trip(struct pgk_sample *p)
{
    struct pgk_sample *again;
    struct pgk_err err = {0};
    const uint8_t *a, *b;
    size_t na, nb;
    struct pgk_sink *out = write(p, &a, &na);
    if (pgk_sample_new(&again, &err) ||
        pgk_sample_ext_read(again, a, na, &src, 1, NULL, &err))
        abort();
    struct pgk_sink *out2 = write(again, &b, &nb);
    if (na != nb || memcmp(a, b, na))
        abort();
    pgk_sink_drop(&out);
    pgk_sink_drop(&out2);
    pgk_sample_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (int encoding = 0; encoding < 5; encoding++) {
        struct pgk_sample *p;
        struct pgk_err err = {0};
        int status = -1;
        if (pgk_sample_new(&p, &err))
            return 0;
        switch (encoding) {
        case 0: status = pgk_sample_ext_read(p, bytes, size, &src, 1, NULL, &err); break;
        case 1: status = pgk_sample_raw_read(p, bytes, size, &src, 1, &err); break;
        case 2: status = pgk_sample_compact_read(p, bytes, size, &src, 1, &err); break;
        case 3: status = pgk_sample_gcc_read(p, bytes, size, &src, 1, &err); break;
        case 4: status = pgk_sample_ext_read_function(p, bytes, size, &src, "main", NULL, &err); break;
        }
        if (status && (err.status != status || (!*err.field && !*err.found)))
            abort();
        if (!status && encoding < 4)
            check_round_trip(p);
        pgk_sample_close(&p);
    }
    return 0;
}
