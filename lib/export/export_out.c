/* What the exports of all kinds of profiles share: names of formats, and how they are written. */
#include "export_out.h"

#include "page_pack.h"
#include "pgokit/report.h"

#include <string.h>

static const char *const format_names[PGK_EXPORTS] = {
    [PGK_EXPORT_HTML] = "html",     [PGK_EXPORT_PPROF] = "pprof",
    [PGK_EXPORT_FOLDED] = "folded", [PGK_EXPORT_SPEEDSCOPE] = "speedscope",
    [PGK_EXPORT_CSV] = "csv",       [PGK_EXPORT_JSON] = "json",
};

const char *pgk_export_name(enum pgk_export format)
{
    return format_names[format];
}

int pgk_export_save(const char *path, pgk_write_fn *write, const void *ctx, struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = write(ctx, out, err);
    if (status) {
        pgk_sink_drop(&out);
        return status;
    }
    return pgk_sink_commit(&out, err);
}

int pgk_export_page(struct pgk_sink *out, pgk_write_fn *json, const void *ctx, struct pgk_err *err)
{
    struct pgk_sink *memory;
    size_t size;
    PGK_TRY(pgk_sink_memory(&memory, err));
    int status = json(ctx, memory, err);
    if (!status) {
        const uint8_t *text = pgk_sink_data(memory, &size);
        status = text ? pgk_page_write(out, text, size, err) : pgk_fail_nomem(err);
    }
    pgk_sink_drop(&memory);
    return status;
}

static ssize_t write_to_sink(void *sink, const char *bytes, size_t n)
{
    pgk_sink_bytes(sink, bytes, n);
    return (ssize_t)n;
}

int pgk_export_stream(FILE **stream, struct pgk_sink *out, struct pgk_err *err)
{
    *stream = fopencookie(out, "w", (cookie_io_functions_t){.write = write_to_sink});
    return *stream ? 0 : pgk_fail_errno(err, NULL, "cannot open a stream");
}

int pgk_export_stream_end(FILE *stream, int status, struct pgk_err *err)
{
    return fclose(stream) && !status ? pgk_fail_nomem(err) : status;
}

void pgk_folded_name(struct pgk_sink *out, const char *name)
{
    for (; *name; name++)
        pgk_sink_u8(out, *name == ';' ? ':' : (uint8_t)*name);
}

void pgk_csv_text(struct pgk_sink *out, const char *text)
{
    if (*text && strchr("=+-@", *text))
        pgk_sink_u8(out, ' ');
    for (; *text; text++) {
        if (*text == '"')
            pgk_sink_u8(out, '"');
        pgk_sink_u8(out, (uint8_t)*text);
    }
}

void pgk_csv_cell(struct pgk_sink *out, const char *text)
{
    pgk_sink_u8(out, '"');
    pgk_csv_text(out, text);
    pgk_sink_u8(out, '"');
}
