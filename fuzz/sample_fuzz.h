/* What the fuzz targets of binary sample profiles share: any bytes are read or refused with a
 * message that names a place; what is read can be written, and reads the same again. */
#ifndef SAMPLE_FUZZ_H
#define SAMPLE_FUZZ_H

#include "sample_binary.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct pgk_source fuzz_source = {.file = "fuzz", .format = "sample profile"};

/* `next`: as LLVM 24 brought it. */
static inline struct pgk_sink *fuzz_write(struct pgk_sample *p, bool next, const uint8_t **bytes,
                                          size_t *size)
{
    struct pgk_sink *out;
    struct pgk_sample_write_opts opts = {.struct_size = sizeof opts,
                                         .vtables = true,
                                         .indexed = next,
                                         .symbol_guids = next,
                                         .composite = next,
                                         .split_layout = next && !p->kind.contexts};
    if (pgk_sample_finish(p, NULL) || pgk_sink_memory(&out, NULL) ||
        pgk_sample_ext_write(p, p->by_heat.n, &opts, out, NULL))
        abort();
    *bytes = pgk_sink_data(out, size);
    return out;
}

/* What p is as a file, and reads as; the same file again, unless some of its names are GUIDs and
 * some not: then all are GUIDs in the file, and have another order from there on. */
static inline struct pgk_sample *fuzz_again(struct pgk_sample *p, bool next, bool same)
{
    struct pgk_sample *again;
    struct pgk_err err = {0};
    const uint8_t *a, *b;
    size_t na, nb;
    struct pgk_sink *out = fuzz_write(p, next, &a, &na);
    if (pgk_sample_new(&again, &err) ||
        pgk_sample_ext_read(again, a, na, &fuzz_source, 1, NULL, &err))
        abort();
    struct pgk_sink *out2 = fuzz_write(again, next, &b, &nb);
    if (same && (na != nb || memcmp(a, b, na)))
        abort();
    pgk_sink_drop(&out);
    pgk_sink_drop(&out2);
    return again;
}

static inline void fuzz_round_trip(struct pgk_sample *p)
{
    struct pgk_sample *again = fuzz_again(p, false, !pgk_sample_names_unspelled(&p->names));
    struct pgk_sample *third = fuzz_again(again, false, true);
    struct pgk_sample *next = fuzz_again(p, true, false);
    struct pgk_sample *fifth = fuzz_again(next, true, true);
    pgk_sample_close(&again);
    pgk_sample_close(&third);
    pgk_sample_close(&next);
    pgk_sample_close(&fifth);
}

static inline void fuzz_check_error(int status, const struct pgk_err *err)
{
    if (status && (err->status != status || (!*err->field && !*err->found)))
        abort();
}

typedef int fuzz_read_fn(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                         const struct pgk_source *src, uint64_t weight, struct pgk_err *err);

static inline void fuzz_read(fuzz_read_fn *read, const uint8_t *bytes, size_t size)
{
    struct pgk_sample *p;
    struct pgk_err err = {0};
    if (pgk_sample_new(&p, &err))
        return;
    int status = read(p, bytes, size, &fuzz_source, 1, &err);
    fuzz_check_error(status, &err);
    if (!status)
        fuzz_round_trip(p);
    pgk_sample_close(&p);
}

#endif
