/* pgokit check for counters of gcc. */
#include "cli.h"

#include <stdio.h>

static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    (void)common;
    struct pgk_gcov *gcov;
    struct pgk_file_info info;
    char safe[512], size[PGK_HUMAN_SIZE], functions[PGK_HUMAN_SIZE];
    int status = pgk_gcov_new(&gcov, err);
    if (status)
        return status;
    status = pgk_gcov_read(gcov, path, 1, &info, err);
    if (!status)
        printf("%s: sound: %s, %s: %s functions, %s; read by gcc 12\n",
               pgk_human_text(safe, sizeof safe, path), info.format->name,
               pgk_human_bytes(size, (double)info.size_bytes),
               pgk_human_count(functions, pgk_gcov_functions(gcov)),
               pgk_gcov_has_counts(gcov) ? "counts" : "names");
    pgk_gcov_close(&gcov);
    return status;
}

const struct cli_check check_gcov = {PGK_KIND_GCOV, run};
