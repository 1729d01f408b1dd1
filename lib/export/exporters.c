/* Profiles in the formats of other viewers: the table of formats, and the call of one. */
#include "exporters.h"

#include "opts.h"
#include "profile_json.h"
#include "profile_markdown.h"
#include "sample_model.h"

#include <string.h>

static int heap_json(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                     struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts report = {
        .struct_size = sizeof report, .title = opts->title, .info = opts->info};
    struct pgk_text_out text;
    pgk_text_to_sink(&text, out);
    return pgk_heap_json(heap, &report, &text, err);
}

static int sample_json(const struct pgk_sample *profile, const struct pgk_sample_export_opts *opts,
                       struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_sample_print_opts report = {
        .struct_size = sizeof report, .title = opts->title, .info = opts->info};
    struct pgk_text_out text;
    pgk_text_to_sink(&text, out);
    return pgk_sample_json(profile, &report, &text, err);
}

/* For Markdown: the default number of contexts or functions, and of frames of each. */
enum { MARKDOWN_ROWS = 10, MARKDOWN_FRAMES = 4 };

static int heap_markdown(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                         struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts report = {
        .struct_size = sizeof report, .title = opts->title, .info = opts->info,
        .top = opts->max_contexts ? opts->max_contexts : MARKDOWN_ROWS, .depth = MARKDOWN_FRAMES};
    struct pgk_text_out text;
    pgk_text_to_sink(&text, out);
    return pgk_heap_markdown(heap, &report, &text, err);
}

static int sample_markdown(const struct pgk_sample *profile,
                           const struct pgk_sample_export_opts *opts, struct pgk_sink *out,
                           struct pgk_err *err)
{
    struct pgk_sample_print_opts report = {
        .struct_size = sizeof report, .title = opts->title, .info = opts->info,
        .top = opts->max_functions ? opts->max_functions : MARKDOWN_ROWS};
    struct pgk_text_out text;
    pgk_text_to_sink(&text, out);
    return pgk_sample_markdown(profile, &report, &text, err);
}

static const struct pgk_exporter exporters[] = {
    {.format = {"html", ".html"}, .heap = pgk_export_heap_page, .sample = pgk_export_sample_page},
    {.format = {"pprof", ".pb.gz"}, .stacks = pgk_export_pprof, .detail = PGK_STACKS_BY_LINE},
    {.format = {"otlp", ".otlp"}, .stacks = pgk_export_otlp, .detail = PGK_STACKS_BY_LINE},
    {.format = {"folded", ".folded"}, .stacks = pgk_export_folded},
    {.format = {"speedscope", ".speedscope.json"}, .stacks = pgk_export_speedscope},
    {.format = {"csv", ".csv"}, .heap = pgk_export_heap_csv, .sample = pgk_export_sample_csv},
    {.format = {"json", ".json"}, .heap = heap_json, .sample = sample_json},
    {.format = {"markdown", ".md"}, .heap = heap_markdown, .sample = sample_markdown},
};

const struct pgk_export_format *pgk_export_format_at(size_t i)
{
    return i < PGK_COUNTOF(exporters) ? &exporters[i].format : NULL;
}

int pgk_exporter_find(const struct pgk_exporter **exporter, const char *name,
                      struct pgk_err *err)
{
    for (size_t i = 0; i < PGK_COUNTOF(exporters); i++)
        if (!strcmp(exporters[i].format.name, name)) {
            *exporter = &exporters[i];
            return 0;
        }
    return pgk_fail(err, PGK_E_ARG, .field = "format", .expected = "the name of an export format",
                    .hint = "pgk_export_format_at lists them");
}

static int write_heap(const struct pgk_exporter *x, const struct pgk_heap *heap,
                      const struct pgk_heap_export_opts *opts, struct pgk_sink *out,
                      struct pgk_err *err)
{
    struct pgk_stacks stacks;
    if (x->heap)
        return x->heap(heap, opts, out, err);
    int status = pgk_stacks_of_heap(&stacks, heap, opts, err);
    if (!status)
        status = x->stacks(&stacks, out, err);
    pgk_stacks_free(&stacks);
    return status;
}

static int write_sample(const struct pgk_exporter *x, const struct pgk_sample *profile,
                        const struct pgk_sample_export_opts *opts, struct pgk_sink *out,
                        struct pgk_err *err)
{
    struct pgk_stacks stacks;
    if (x->sample)
        return x->sample(profile, opts, out, err);
    int status = pgk_stacks_of_sample(&stacks, profile, x->detail, opts, err);
    if (!status)
        status = x->stacks(&stacks, out, err);
    pgk_stacks_free(&stacks);
    return status;
}

/* The file appears if `status` of what wrote it is 0. */
static int finish(struct pgk_sink **out, int status, struct pgk_err *err)
{
    if (!status)
        return pgk_sink_commit(out, err);
    pgk_sink_drop(out);
    return status;
}

int pgk_heap_export(const struct pgk_heap *heap, const char *format, const char *path,
                    const struct pgk_heap_export_opts *given, struct pgk_err *err)
{
    struct pgk_heap_export_opts opts;
    const struct pgk_exporter *x = NULL;
    struct pgk_sink *out;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    PGK_TRY(pgk_exporter_find(&x, format, err));
    if (!pgk_heap_contexts(heap))
        return pgk_fail(err, PGK_E_EMPTY, .file = path,
                        .hint = "the profile has no allocation contexts");
    PGK_TRY(pgk_sink_open(&out, path, err));
    return finish(&out, write_heap(x, heap, &opts, out, err), err);
}

int pgk_sample_export(const struct pgk_sample *profile, const char *format, const char *path,
                      const struct pgk_sample_export_opts *given, struct pgk_err *err)
{
    struct pgk_sample_export_opts opts;
    const struct pgk_exporter *x = NULL;
    struct pgk_sink *out;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    PGK_TRY(pgk_exporter_find(&x, format, err));
    if (!profile->by_heat.n)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .hint = "the profile has no functions");
    PGK_TRY(pgk_sink_open(&out, path, err));
    return finish(&out, write_sample(x, profile, &opts, out, err), err);
}
