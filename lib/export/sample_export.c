/* Sample profiles in the formats of other viewers: the choice of one, and what they share. */
#include "sample_export.h"

#include "opts.h"
#include "sample_page.h"

int pgk_sample_each_stack(const struct pgk_sample_tree *t, pgk_sample_stack_fn *fn, void *ctx,
                          struct pgk_err *err)
{
    PGK_VEC(uint32_t) way = {0};
    int status = 0;
    for (uint32_t n = 1; n < t->nodes.n && !status; n++) {
        uint64_t samples = pgk_sample_lines_sum(pgk_tree_now(t, n));
        size_t depth = 0;
        if (!samples)
            continue;
        for (uint32_t up = n; up; up = t->nodes.v[up].parent)
            depth++;
        way.n = 0;
        if (!pgk_vec_reserve(&way, depth)) {
            status = pgk_fail_nomem(err);
            break;
        }
        way.n = depth;
        for (uint32_t up = n; up; up = t->nodes.v[up].parent)
            way.v[--depth] = up;
        status = fn(ctx, way.v, way.n, samples);
    }
    pgk_vec_free(&way);
    return status;
}

struct request {
    const struct pgk_sample *profile;
    enum pgk_export format;
    const struct pgk_sample_export_opts *opts;
};

static int export_stacks(const struct request *r, pgk_sample_export_fn *write, struct pgk_sink *out,
                         struct pgk_err *err)
{
    struct pgk_sample_stacks stacks = {.opts = r->opts};
    int status = pgk_sample_tree_make(&stacks.tree, r->profile, NULL, err);
    if (!status)
        status = write(&stacks, out, err);
    pgk_sample_tree_free(&stacks.tree);
    return status;
}

static int page_json(const void *ctx, struct pgk_sink *out, struct pgk_err *err)
{
    const struct request *r = ctx;
    struct pgk_sample_page page = {.opts = r->opts, .out = out};
    int status = pgk_sample_page_make(&page, r->profile, err);
    if (!status)
        pgk_sample_page_json(&page);
    pgk_sample_page_free(&page);
    return status;
}

static int export_json(const struct request *r, struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_report_sample_opts report = {
        .struct_size = sizeof report, .title = r->opts->title, .info = r->opts->info};
    FILE *stream;
    PGK_TRY(pgk_export_stream(&stream, out, err));
    return pgk_export_stream_end(stream, pgk_report_sample_json(r->profile, &report, stream, err),
                                 err);
}

static int export_to(const void *ctx, struct pgk_sink *out, struct pgk_err *err)
{
    const struct request *r = ctx;
    switch (r->format) {
    case PGK_EXPORT_HTML:
        return pgk_export_page(out, page_json, r, err);
    case PGK_EXPORT_PPROF:
        return export_stacks(r, pgk_sample_pprof, out, err);
    case PGK_EXPORT_FOLDED:
        return export_stacks(r, pgk_sample_folded, out, err);
    case PGK_EXPORT_SPEEDSCOPE:
        return export_stacks(r, pgk_sample_speedscope, out, err);
    case PGK_EXPORT_CSV:
        return export_stacks(r, pgk_sample_csv, out, err);
    case PGK_EXPORT_JSON:
        return export_json(r, out, err);
    case PGK_EXPORTS:
        break;
    }
    return pgk_fail(err, PGK_E_ARG, .field = "format", .expected = "a format of the list");
}

int pgk_sample_export_save(const struct pgk_sample *profile, enum pgk_export format,
                           const char *path, const struct pgk_sample_export_opts *given,
                           struct pgk_err *err)
{
    struct pgk_sample_export_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct request request = {profile, format, opts};
    if (!profile->by_heat.n)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .hint = "the profile has no functions");
    return pgk_export_save(path, export_to, &request, err);
}
