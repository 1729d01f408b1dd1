/* pgokit merge for counters of gcc. */
#include "cli.h"

#include <stdio.h>

static const char help[] = "The .gcda files that one object file left in several runs become one, "
                           "for gcc's -fprofile-use\n"
                           "or gcov. An input FILE@N counts N times.\n"
                           "\nExample:\n"
                           "  pgokit merge run1/app.gcda run2/app.gcda -o app.gcda\n";

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    CLI_COMMON_LONG,
    {0},
};

static int read_input(struct pgk_gcov *gcov, const char *operand, struct pgk_err *err)
{
    struct pgk_input input = cli_input(&cmd_merge, operand);
    return pgk_gcov_read(gcov, input.path, input.weight, NULL, err);
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    struct pgk_err err = {0};
    struct pgk_gcov *gcov = NULL;
    const char *output = NULL;
    while (cli_next_option(&cmd_merge, argc, argv, "o:", options, &common) != -1)
        output = optarg; /* the only option */
    if (!output)
        cli_usage(&cmd_merge, "where to? name the output with -o");
    int status = pgk_gcov_new(&gcov, &err);
    for (int i = optind; i < argc && !status; i++)
        status = read_input(gcov, argv[i], &err);
    if (!status)
        status = pgk_gcov_save(gcov, output, &err);
    pgk_gcov_close(&gcov);
    cli_common_free(&common);
    return status ? cli_fail(&err) : EXIT_DONE;
}

const struct cli_action merge_gcov = {PGK_KIND_GCOV, help, "o:", options, run};
