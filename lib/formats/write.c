/* Writing a profile in the format whose row is for what the caller wants. */
#include "format_rows.h"
#include "gcc_release.h"
#include "instr_model.h"
#include "opts.h"
#include "sample_gcc.h"
#include "sample_versions.def"
#include "sample_write.h"
#include "sink.h"

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

/* 0 is any version of the format; others are for formats of which several are written, unless the
 * reader that the profile is adapted for decides. */
static int check_version(const struct pgk_format_row *row, uint32_t version, const char *path,
                         struct pgk_err *err)
{
    const struct pgk_format *format = &row->format;
    const uint32_t first = format->write.first, last = format->write.last;
    const bool adapted = row->sample_writer.adapt, several = first < last && !adapted;
    if (!version || (several && version >= first && version <= last))
        return 0;
    return pgk_fail(err, PGK_E_ARG, .file = path, .format = format->name, .field = "version",
                    .found = PGK_F("%u", version),
                    .expected = several   ? PGK_F("%u to %u", first, last)
                                : adapted ? "none, because the release that reads it decides"
                                          : "none, because only one version is written");
}

/* ---- counters ---- */

static const struct pgk_format_row *instr_row(enum pgk_instr_form form)
{
    const struct pgk_format_row *row;
    for (size_t i = 0; (row = pgk_format_row_at(i)); i++)
        if (row->instr_writer.write && row->instr_writer.form == form)
            return row;
    return NULL;
}

const char *pgk_instr_form_name(enum pgk_instr_form form)
{
    const struct pgk_format_row *row = instr_row(form);
    return row ? row->instr_writer.name : NULL;
}

static int check_target(const struct pgk_format_row *row, const struct pgk_instr_target *target,
                        const char *path, struct pgk_err *err)
{
    if (!row)
        return pgk_fail(err, PGK_E_ARG, .file = path, .field = "form",
                        .found = PGK_F("%d", (int)target->form),
                        .expected = "an enum pgk_instr_form", .hint = "see pgokit/instr.h");
    return check_version(row, target->version, path, err);
}

static uint32_t chosen_version(const struct pgk_format_row *row,
                               const struct pgk_instr_target *target)
{
    return target->version ? target->version : row->instr_writer.usual_version;
}

int pgk_instr_write(const struct pgk_instr *profile, const char *path,
                    const struct pgk_instr_target *target, struct pgk_err *err)
{
    const struct pgk_format_row *row = instr_row(target->form);
    struct pgk_sink *out;
    PGK_TRY(check_target(row, target, path, err));
    const struct pgk_instr_writer *writer = &row->instr_writer;
    const uint32_t version = chosen_version(row, target);
    PGK_TRY(pgk_instr_check_writable(profile, path, row->format.name, err));
    if (writer->check)
        PGK_TRY(writer->check(profile, path, version, err));
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = writer->write(profile, version, out, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}

int pgk_instr_loss(const struct pgk_instr *profile, const struct pgk_instr_target *target,
                   struct pgk_instr_loss *loss, struct pgk_err *err)
{
    const struct pgk_format_row *row = instr_row(target->form);
    struct pgk_instr_loss left_out = {0};
    PGK_TRY(check_target(row, target, "", err));
    PGK_TRY(row->instr_writer.loss(profile, chosen_version(row, target), &left_out, err));
    PGK_RESULT_GIVE(loss, &left_out);
    return 0;
}

/* ---- samples ---- */

static const struct pgk_format_row *sample_row(enum pgk_sample_encoding encoding)
{
    const struct pgk_format_row *row;
    for (size_t i = 0; (row = pgk_format_row_at(i)); i++)
        if (row->sample_writer.write && row->sample_writer.encoding == encoding)
            return row;
    return NULL;
}

/* "llvm24" is 24; 0: no such release. */
static unsigned llvm_release(const char *target)
{
#define PGK_LLVM_RELEASE(number, index, memprof, frame_ids, readers) \
    if (!strcmp(target, "llvm" #number))                             \
        return number;
#include "llvm_releases.def"
#undef PGK_LLVM_RELEASE
    return 0;
}

int pgk_sample_write_for(struct pgk_sample_write_opts *opts, const char *target,
                         struct pgk_err *err)
{
    const struct pgk_format_row *row;
    struct pgk_gcc_compiler compiler;
    unsigned release;
    int minor; /* of no account for sample profiles */
    for (size_t i = 0; (row = pgk_format_row_at(i)); i++) {
        if (row->sample_writer.write && !strcmp(target, row->sample_writer.name)) {
            opts->encoding = row->sample_writer.encoding;
            opts->gcc_release = 0;
            return 0;
        }
    }
    release = llvm_release(target);
    if (release) {
        opts->encoding = PGK_SAMPLE_EXT_BINARY;
        opts->gcc_release = 0;
        opts->vtables |= release >= PGK_SAMPLE_VTABLES_SINCE;
        opts->indexed |= release >= PGK_SAMPLE_INDEXED_SINCE;
        opts->symbol_guids |= release >= PGK_SAMPLE_INDEXED_SINCE;
        return 0;
    }
    if (!pgk_gcc_release(target, &release, &minor) || !pgk_gcc_compiler(release, &compiler))
        return pgk_fail(err, PGK_E_ARG, .field = "target", .found = target,
                        .expected = PGK_F("extbinary, text, binary, llvm14 to llvm%d, or gcc%d to "
                                          "gcc%d (gcc is gcc%d)",
                                          PGK_SAMPLE_INDEXED_SINCE, PGK_GCC_OLDEST, PGK_GCC_NEWEST,
                                          PGK_GCC_DEFAULT),
                        .hint = "a profile for gcc is for a release");
    opts->encoding = PGK_SAMPLE_GCC;
    opts->gcc_release = release;
    return 0;
}

bool pgk_sample_write_holds_times(const struct pgk_sample_write_opts *opts)
{
    struct pgk_gcc_compiler compiler;
    return opts->encoding == PGK_SAMPLE_GCC && pgk_gcc_compiler(opts->gcc_release, &compiler) &&
           compiler.profile->layout == PGK_GCC_SUMMARY;
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
    PGK_TRY(check_version(row, opts.version, path, err));
    PGK_TRY(pgk_sample_write_as(profile, path, &row->sample_writer, &opts,
                                written ? &left_out : NULL, err));
    PGK_RESULT_GIVE(written, &left_out);
    return 0;
}
