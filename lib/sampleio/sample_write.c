/* Writing a sample profile as the row of a format does, and cutting it to size. */
#include "sample_write.h"
#include "sample_model.h"
#include "sample_origin.h"
#include "sink.h"

#include <math.h>

static int encoded_size(const struct pgk_sample *p, size_t n,
                        const struct pgk_sample_writer *writer,
                        const struct pgk_sample_write_opts *opts, uint64_t *size,
                        struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_memory(&out, err));
    int status = writer->write(p, n, opts, out, err);
    *size = pgk_sink_off(out);
    pgk_sink_drop(&out);
    return status;
}

/* As llvm-profdata: a file that is d times too large loses about 1 - 1/d^2 of its functions,
 * the coldest, until it fits. */
static int cut_to_size(const struct pgk_sample *p, const struct pgk_sample_writer *writer,
                       const struct pgk_sample_write_opts *opts, size_t *n, struct pgk_err *err)
{
    uint64_t size;
    for (;;) {
        PGK_TRY(encoded_size(p, *n, writer, opts, &size, err));
        if (size <= opts->size_limit)
            return 0;
        double d = (double)opts->size_limit / (double)size;
        size_t keep = (size_t)llround((double)*n * d * d);
        *n = keep < *n ? keep : *n - 1;
        if (!*n)
            return pgk_fail(err, PGK_E_EMPTY, .found = PGK_F("a limit of %llu bytes",
                                                             (unsigned long long)opts->size_limit),
                            .expected = "space for one function at least",
                            .hint = "raise the limit");
    }
}

/* `p` is the given profile; `adapt` may have reported some of its losses already. */
static void note_left_out(const struct pgk_sample *p, const struct pgk_sample_writer *writer,
                          const struct pgk_sample_write_opts *opts, struct pgk_sample_written *w)
{
    if (p->has_vtables && !(writer->vtables && opts->vtables))
        w->vtables_dropped = pgk_sample_sizes(p).vtables;
    w->symbols_dropped =
        !writer->symbols && !opts->drop_symbols && p->symbols && p->symbols->strs.n > 1;
    w->checksums_dropped = !writer->checksums && p->kind.probes;
    w->attributes_dropped =
        !writer->attributes && (p->preinlined || (p->kind.contexts && !w->contexts_dropped));
    w->flow_dropped = !writer->flow && p->fs;
    w->partial_dropped = !writer->partial && opts->partial;
    w->md5 = writer->guids && !opts->md5 && !opts->indexed && pgk_sample_names_unspelled(&p->names);
    if (writer->symbols && !opts->drop_symbols && !opts->symbol_guids)
        w->symbols_unspelled = pgk_sample_unspelled_symbols(p);
    w->blocks_dropped = p->unknown_blocks;
    if (!writer->origins)
        w->origins_dropped = pgk_sample_count_origins(p, p->by_heat.n);
}

static int write_file(const struct pgk_sample *p, const char *path,
                      const struct pgk_sample_writer *writer,
                      const struct pgk_sample_write_opts *opts,
                      struct pgk_sample_written *left_out, struct pgk_err *err)
{
    struct pgk_sink *out = NULL;
    size_t n = p->by_heat.n;
    if (opts->size_limit)
        PGK_TRY(cut_to_size(p, writer, opts, &n, err));
    if (left_out)
        left_out->functions_dropped = p->by_heat.n - n;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = writer->write(p, n, opts, out, err);
    if (!status)
        status = pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}

int pgk_sample_write_as(const struct pgk_sample *p, const char *path,
                        const struct pgk_sample_writer *writer,
                        const struct pgk_sample_write_opts *opts,
                        struct pgk_sample_written *left_out, struct pgk_err *err)
{
    struct pgk_sample *adapted = NULL;
    if (writer->adapt)
        PGK_TRY(writer->adapt(&adapted, p, opts, left_out, err));
    int status = write_file(adapted ? adapted : p, path, writer, opts, left_out, err);
    if (!status && left_out)
        note_left_out(p, writer, opts, left_out);
    pgk_sample_close(&adapted);
    return status;
}
