/* pgokit check for counters of gcc. */
#include "cli.h"

#include <stdio.h>

static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    (void)common;
    struct pgk_gcov *gcov;
    struct pgk_file *file;
    char readers[80];
    char safe[512], size[PGK_HUMAN_SIZE], functions[PGK_HUMAN_SIZE];
    int status = pgk_gcov_new(&gcov, err);
    if (status)
        return status;
    status = cli_open(&file, path, err);
    if (!status)
        status = pgk_gcov_read_file(gcov, file, 1, err);
    if (!status) {
        const struct pgk_file_info *info = pgk_file_info(file);
        printf("%s: %ssound%s: %s, %s: %s function%s, %s; read by %s\n",
               pgk_human_text(safe, sizeof safe, path), CLI_STYLE(CLI_GOOD), CLI_STYLE(CLI_PLAIN),
               pgk_file_info_format(info)->name,
               pgk_human_bytes(size, (double)pgk_file_info_size_bytes(info)),
               pgk_human_count(functions, pgk_gcov_functions(gcov)),
               pgk_gcov_functions(gcov) == 1 ? "" : "s",
               pgk_gcov_has_counts(gcov) ? "counts" : "names",
               pgk_file_info_readers(info, readers, sizeof readers));
    }
    pgk_gcov_close(&gcov);
    return status;
}

const struct cli_check check_gcov = {PGK_KIND_GCOV, run};
