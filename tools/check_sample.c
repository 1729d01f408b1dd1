/* pgokit check for sample profiles. */
#include "cli.h"

#include <stdio.h>

/* Compilers take hot and cold from the stored summary. */
static bool same_summary(const struct pgk_sample_summary *a, const struct pgk_sample_summary *b)
{
    bool same = a->total_count == b->total_count && a->max_count == b->max_count &&
                a->max_function_count == b->max_function_count && a->num_counts == b->num_counts &&
                a->num_functions == b->num_functions;
    for (size_t i = 0; i < a->n_cutoffs && same; i++)
        same = a->n_cutoffs != b->n_cutoffs || a->cutoffs[i].ppm != b->cutoffs[i].ppm ||
               (a->cutoffs[i].min_count == b->cutoffs[i].min_count &&
                a->cutoffs[i].num_counts == b->cutoffs[i].num_counts);
    return same;
}

static const char *kind_text(const struct pgk_sample_info *info)
{
    bool one = info->functions == 1;
    if (info->contexts)
        return one ? "context" : "contexts";
    return one ? "function" : "functions";
}

static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    (void)common;
    struct pgk_sample *profile;
    struct pgk_file *file;
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    struct pgk_sample_info info = {.struct_size = sizeof info};
    char text[160], readers[80], safe[512], size[PGK_HUMAN_SIZE], functions[PGK_HUMAN_SIZE],
        samples[PGK_HUMAN_SIZE];
    int status = pgk_sample_new(&profile, err);
    if (status)
        return status;
    status = cli_open(&file, path, err);
    if (!status)
        status = pgk_sample_read_file(profile, file, 1, err);
    if (!status)
        status = pgk_sample_finish(profile, err);
    if (!status)
        status = pgk_sample_summarise(profile, &summary, err);
    if (!status) {
        const struct pgk_file_info *about = pgk_file_info(file);
        const struct pgk_sample_summary *stored = pgk_file_info_summary(about);
        pgk_sample_info(profile, &info);
        pgk_human_text(safe, sizeof safe, path);
        printf("%s: sound: %s, %s, %s %s%s, %s samples; read by %s\n", safe,
               pgk_file_info_text(about, text, sizeof text),
               pgk_human_bytes(size, (double)pgk_file_info_size_bytes(about)),
               pgk_human_count(functions, info.functions), kind_text(&info),
               info.probes ? " with probes" : "",
               pgk_human_count(samples, summary.total_count),
               pgk_file_info_readers(about, readers, sizeof readers));
        if (stored && !same_summary(stored, &summary))
            printf("%s: note: the stored summary is not that of the samples; pgokit merge writes "
                   "the right one\n",
                   safe);
    }
    pgk_sample_close(&profile);
    return status;
}

const struct cli_check check_sample = {PGK_KIND_SAMPLE, run};
