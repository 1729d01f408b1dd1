/* Writing a sample profile in any encoding, and cutting it to size. */
#include "gcc_release.h"
#include "opts.h"
#include "sample_format.h"
#include "sample_gcc.h"
#include "sample_origin.h"
#include "sample_records.h"
#include "sample_text.h"

#include <math.h>

static const char *const encoding_names[PGK_SAMPLE_ENCODINGS] = {"extbinary", "text", "binary",
                                                                 "gcc"};

const char *pgk_sample_encoding_name(enum pgk_sample_encoding encoding)
{
    return encoding_names[encoding];
}

int pgk_sample_write_for(struct pgk_sample_write_opts *opts, const char *target,
                         struct pgk_err *err)
{
    struct pgk_gcc_compiler compiler;
    unsigned release;
    int minor; /* of no account for sample profiles */
    for (int e = 0; e < PGK_SAMPLE_ENCODINGS; e++) {
        if (!strcmp(target, encoding_names[e])) {
            opts->encoding = (enum pgk_sample_encoding)e;
            opts->gcc_release = 0;
            return 0;
        }
    }
    if (!pgk_gcc_release(target, &release, &minor) || !pgk_gcc_compiler(release, &compiler))
        return pgk_fail(err, PGK_E_ARG, .field = "target", .found = target,
                        .expected = "extbinary, text, binary or gcc12 to gcc16",
                        .hint = "a profile for gcc is for a release; gcc is gcc15");
    opts->encoding = PGK_SAMPLE_GCC;
    opts->gcc_release = release;
    return 0;
}

/* A profile on its way into a file. */
struct writing {
    const struct pgk_sample *p;
    struct pgk_sample *adapted; /* for a release of gcc, then `p` is this; else NULL */
    size_t n;                   /* tops by heat that are written */
    struct pgk_sample_write_opts opts;
    struct pgk_gcc_compiler compiler;
    struct pgk_gcc_changes changes;
    size_t discriminators_cut;
};

static int adapt(struct writing *w, struct pgk_err *err)
{
    unsigned release = w->opts.gcc_release ? w->opts.gcc_release : PGK_GCC_DEFAULT_RELEASE;
    if (!pgk_gcc_compiler(release, &w->compiler))
        return pgk_fail(err, PGK_E_ARG, .field = "gcc_release", .found = PGK_F("%u", release),
                        .expected = "12 to 16", .hint = "see pgokit formats");
    if (w->compiler.lines == PGK_GCC_BY_DISCRIMINATOR)
        w->discriminators_cut = pgk_sample_gcc_cut(w->p, w->n);
    PGK_TRY(pgk_gcc_adapt(&w->adapted, w->p, &w->compiler, &w->changes, err));
    w->p = w->adapted;
    w->n = w->p->by_heat.n;
    return 0;
}

static int encode(const struct writing *w, size_t n, struct pgk_sink *out, struct pgk_err *err)
{
    switch (w->opts.encoding) {
    case PGK_SAMPLE_TEXT:
        return pgk_sample_text_write(w->p, n, w->opts.split_layout, w->opts.vtables, out, err);
    case PGK_SAMPLE_BINARY:
        return pgk_sample_raw_write(w->p, n, out, err);
    case PGK_SAMPLE_GCC:
        return pgk_sample_gcc_write(w->p, n, &w->compiler, out, err);
    case PGK_SAMPLE_EXT_BINARY:
    case PGK_SAMPLE_ENCODINGS:
        break;
    }
    return pgk_sample_ext_write(w->p, n, &w->opts, out, err);
}

static int encoded_size(const struct writing *w, size_t n, uint64_t *size, struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_memory(&out, err));
    int status = encode(w, n, out, err);
    *size = pgk_sink_tell(out);
    pgk_sink_drop(&out);
    return status;
}

/* As llvm-profdata: a file that is d times too large loses about 1 - 1/d^2 of its functions,
 * the coldest, until it fits. */
static int cut_to_size(struct writing *w, struct pgk_err *err)
{
    const uint64_t limit = w->opts.size_limit;
    uint64_t size;
    for (;;) {
        PGK_TRY(encoded_size(w, w->n, &size, err));
        if (size <= limit)
            return 0;
        double d = (double)limit / (double)size;
        size_t keep = (size_t)llround((double)w->n * d * d);
        w->n = keep < w->n ? keep : w->n - 1;
        if (!w->n)
            return pgk_fail(err, PGK_E_EMPTY,
                            .found = PGK_F("a limit of %llu bytes", (unsigned long long)limit),
                            .expected = "room for one function at least",
                            .hint = "raise the limit");
    }
}

/* Whether the form has files and times of functions. */
static bool holds_origins(const struct writing *w)
{
    return w->opts.encoding == PGK_SAMPLE_GCC && w->compiler.profile->layout == PGK_GCC_SUMMARY;
}

/* `p` is the profile as it was given. */
static void note_left_out(const struct writing *w, const struct pgk_sample *p,
                          struct pgk_sample_written *written)
{
    const struct pgk_sample_write_opts *opts = &w->opts;
    struct pgk_sample_info info = {.struct_size = sizeof info};
    bool ext = opts->encoding == PGK_SAMPLE_EXT_BINARY, text = opts->encoding == PGK_SAMPLE_TEXT;
    struct pgk_sample_sizes sizes = {.struct_size = sizeof sizes};
    pgk_sample_info(p, &info);
    if (info.vtables && !((text || ext) && opts->vtables))
        pgk_sample_sizes(p, &sizes);
    written->functions_dropped = w->p->by_heat.n - w->n;
    written->vtables_dropped = sizes.vtables;
    written->symbols_dropped = !ext && !opts->drop_symbols && info.n_symbols;
    written->checksums_dropped = !ext && !text && info.probes;
    written->attributes_dropped =
        !ext && !text && (info.preinlined || (info.contexts && !w->changes.contexts));
    written->flow_dropped = !ext && p->fs;
    written->partial_dropped = !ext && opts->partial;
    written->discriminators_cut = w->discriminators_cut;
    written->md5 = (ext || text) && !opts->md5 && info.names_missing;
    written->contexts_dropped = w->changes.contexts ? info.functions : 0;
    written->lines_merged = w->changes.lines_merged;
    written->origins_dropped = holds_origins(w) ? 0 : pgk_sample_count_origins(p, p->by_heat.n);
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

static int write_file(struct writing *w, const char *path, struct pgk_err *err)
{
    struct pgk_sink *out = NULL;
    PGK_TRY(check_version(&w->opts, path, err));
    if (w->opts.encoding == PGK_SAMPLE_GCC)
        PGK_TRY(adapt(w, err));
    if (w->opts.size_limit)
        PGK_TRY(cut_to_size(w, err));
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = encode(w, w->n, out, err);
    if (!status)
        status = pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}

int pgk_sample_write(const struct pgk_sample *p, const char *path,
                     const struct pgk_sample_write_opts *opts, struct pgk_sample_written *written,
                     struct pgk_err *err)
{
    struct writing w = {.p = p, .n = p->by_heat.n};
    struct pgk_sample_written left_out = {0};
    PGK_TRY(PGK_OPTS_TAKE(&w.opts, opts, err));
    int status = write_file(&w, path, err);
    if (!status && written)
        note_left_out(&w, p, &left_out);
    if (!status)
        PGK_RESULT_GIVE(written, &left_out);
    pgk_sample_close(&w.adapted);
    return status;
}
