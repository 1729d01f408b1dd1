/* Writing a profile in the format whose row is for what the caller wants. */
#include "format_rows.h"
#include "opts.h"
#include "sample_write.h"

int pgk_heap_write(const struct pgk_heap *profile, const char *path,
                   const struct pgk_heap_target *target, struct pgk_err *err)
{
    const struct pgk_format_row *row;
    for (size_t i = 0; (row = pgk_format_row_at(i)); i++)
        if (row->write_heap && row->form == target->form)
            return row->write_heap(profile, path, target, err);
    return pgk_fail(err, PGK_E_ARG, .file = path, .field = "form",
                    .found = PGK_F("%d", (int)target->form), .expected = "an enum pgk_heap_form",
                    .hint = "see pgokit/heap.h");
}

static const struct pgk_format_row *sample_row(enum pgk_sample_encoding encoding)
{
    const struct pgk_format_row *row;
    for (size_t i = 0; (row = pgk_format_row_at(i)); i++)
        if (row->sample_writer.write && row->sample_writer.encoding == encoding)
            return row;
    return NULL;
}

const char *pgk_sample_encoding_name(enum pgk_sample_encoding encoding)
{
    const struct pgk_format_row *row = sample_row(encoding);
    return row ? row->sample_writer.name : NULL;
}

/* 0 is any version of the format; others are for formats of which several are written. */
static int check_version(const struct pgk_format *format, uint32_t version, const char *path,
                         struct pgk_err *err)
{
    const uint32_t first = format->write.first, last = format->write.last;
    const bool several = first < last;
    if (!version || (several && version >= first && version <= last))
        return 0;
    return pgk_fail(err, PGK_E_ARG, .file = path, .format = format->name, .field = "version",
                    .found = PGK_F("%u", version),
                    .expected = several ? PGK_F("%u to %u", first, last)
                                        : "none, because only one version is written");
}

int pgk_sample_write(const struct pgk_sample *profile, const char *path,
                     const struct pgk_sample_write_opts *given, struct pgk_sample_written *written,
                     struct pgk_err *err)
{
    struct pgk_sample_write_opts opts;
    struct pgk_sample_written left_out = {0};
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    const struct pgk_format_row *row = sample_row(opts.encoding);
    if (!row)
        return pgk_fail(err, PGK_E_ARG, .file = path, .field = "encoding",
                        .found = PGK_F("%d", (int)opts.encoding),
                        .expected = "an enum pgk_sample_encoding", .hint = "see pgokit/sample.h");
    PGK_TRY(check_version(&row->format, opts.version, path, err));
    PGK_TRY(pgk_sample_write_as(profile, path, &row->sample_writer, &opts,
                                written ? &left_out : NULL, err));
    PGK_RESULT_GIVE(written, &left_out);
    return 0;
}
