/* Writing a sample profile in any encoding, and cutting it to size. */
#include "sample_binary.h"
#include "opts.h"
#include "sample_format.h"
#include "sample_records.h"
#include "sample_text.h"

#include <math.h>

const char *pgk_sample_encoding_name(enum pgk_sample_encoding encoding)
{
    static const char *const names[PGK_SAMPLE_ENCODINGS] = {"extbinary", "text", "binary", "gcc"};
    return names[encoding];
}

static int encode(const struct pgk_sample *p, size_t n, const struct pgk_sample_write_opts *opts,
                  struct pgk_sink *out, struct pgk_err *err)
{
    switch (opts->encoding) {
    case PGK_SAMPLE_TEXT:
        return pgk_sample_text_write(p, n, opts->split_layout, opts->vtables, out, err);
    case PGK_SAMPLE_BINARY:
        return pgk_sample_raw_write(p, n, out, err);
    case PGK_SAMPLE_GCC:
        return pgk_sample_gcc_write(p, n, out, err);
    case PGK_SAMPLE_EXT_BINARY:
    case PGK_SAMPLE_ENCODINGS:
        break;
    }
    return pgk_sample_ext_write(p, n, opts, out, err);
}

static int encoded_size(const struct pgk_sample *p, size_t n,
                        const struct pgk_sample_write_opts *opts, uint64_t *size,
                        struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_memory(&out, err));
    int status = encode(p, n, opts, out, err);
    *size = pgk_sink_tell(out);
    pgk_sink_drop(&out);
    return status;
}

/* As llvm-profdata: a file that is d times too large loses about 1 - 1/d^2 of its functions,
 * the coldest, until it fits. */
static int cut_to_size(const struct pgk_sample *p, const struct pgk_sample_write_opts *opts,
                       size_t *n, struct pgk_err *err)
{
    uint64_t size;
    for (;;) {
        PGK_TRY(encoded_size(p, *n, opts, &size, err));
        if (size <= opts->size_limit)
            return 0;
        double d = (double)opts->size_limit / (double)size;
        size_t keep = (size_t)llround((double)*n * d * d);
        *n = keep < *n ? keep : *n - 1;
        if (!*n)
            return pgk_fail(err, PGK_E_EMPTY, .found = PGK_F("a limit of %llu bytes",
                                                             (unsigned long long)opts->size_limit),
                            .expected = "room for one function at least",
                            .hint = "raise the limit");
    }
}

static void note_left_out(const struct pgk_sample *p, size_t n,
                          const struct pgk_sample_write_opts *opts, struct pgk_sample_written *w)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    bool ext = opts->encoding == PGK_SAMPLE_EXT_BINARY, text = opts->encoding == PGK_SAMPLE_TEXT;
    struct pgk_sample_sizes sizes = {.struct_size = sizeof sizes};
    pgk_sample_info(p, &info);
    if (info.vtables && !((text || ext) && opts->vtables))
        pgk_sample_sizes(p, &sizes);
    w->functions_dropped = p->by_heat.n - n;
    w->vtables_dropped = sizes.vtables;
    w->symbols_dropped = !ext && !opts->drop_symbols && info.n_symbols;
    w->checksums_dropped = !ext && !text && info.probes;
    w->attributes_dropped = !ext && !text && (info.preinlined || info.contexts);
    w->flow_dropped = !ext && p->fs;
    w->partial_dropped = !ext && opts->partial;
    w->discriminators_cut =
        opts->encoding == PGK_SAMPLE_GCC ? pgk_sample_gcc_cut(p, n) : 0;
    w->md5 = (ext || text) && !opts->md5 && info.names_missing;
}

static int check_version(const struct pgk_sample_write_opts *opts, const char *path,
                         struct pgk_err *err)
{
    bool ext = opts->encoding == PGK_SAMPLE_EXT_BINARY;
    if (!opts->version || (ext && pgk_sample_version_since(opts->version)))
        return 0;
    return pgk_fail(err, PGK_E_ARG, .file = path, .format = "sample profile", .field = "version",
                    .found = PGK_F("%u", opts->version),
                    .expected = ext ? PGK_F("%d to %d", PGK_SAMPLE_VERSION, PGK_SAMPLE_NOW)
                                    : "none, because only extensible binaries have it");
}

int pgk_sample_write(const struct pgk_sample *p, const char *path,
                     const struct pgk_sample_write_opts *given, struct pgk_sample_written *written,
                     struct pgk_err *err)
{
    struct pgk_sample_write_opts opts;
    struct pgk_sink *out = NULL;
    size_t n = p->by_heat.n;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    PGK_TRY(check_version(&opts, path, err));
    if (opts.size_limit)
        PGK_TRY(cut_to_size(p, &opts, &n, err));
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = encode(p, n, &opts, out, err);
    if (!status)
        status = pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    struct pgk_sample_written left_out = {0};
    if (!status && written)
        note_left_out(p, n, &opts, &left_out);
    if (!status)
        PGK_RESULT_GIVE(written, &left_out);
    return status;
}
