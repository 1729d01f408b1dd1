/* pgokit check for sample profiles. */
#include "cli.h"

#include <stdio.h>

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
        printf("%s: %ssound%s: %s, %s, %s %s%s, %s samples; read by %s\n", safe,
               CLI_STYLE(CLI_GOOD), CLI_STYLE(CLI_PLAIN),
               pgk_file_info_text(about, text, sizeof text),
               pgk_human_bytes(size, (double)pgk_file_info_size_bytes(about)),
               pgk_human_count(functions, info.functions), kind_text(&info),
               info.probes ? " with probes" : "",
               pgk_human_count(samples, summary.total_count),
               pgk_file_info_readers(about, readers, sizeof readers));
        /* Compilers take hot and cold from the stored one. */
        if (stored && !pgk_sample_summaries_agree(stored, &summary))
            printf("%s: note: the stored summary is not that of the samples; pgokit merge writes "
                   "the right one\n",
                   safe);
    }
    pgk_sample_close(&profile);
    return status;
}

const struct cli_check check_sample = {PGK_KIND_SAMPLE, run};
