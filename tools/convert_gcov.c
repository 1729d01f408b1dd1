/* pgokit convert for counters of gcc. */
#include "output_gcov.h"

static const char help[] =
    "The .gcda file of one release of gcc becomes that of another. The program must have the same\n"
    "functions to both compilers, which they check by function.\n\n" GCOV_TO_HELP
    "\nExample:\n"
    "  pgokit convert app.gcda --to gcc16.2 -o build-16/app.gcda\n";

enum { OPT_TO = 256 };
static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"to", required_argument, NULL, OPT_TO},
    CLI_COMMON_LONG,
    {0},
};

static int convert(const char *input, const char *to, const char *output, int *exit_code,
                   struct pgk_err *err)
{
    struct pgk_gcov *gcov;
    struct pgk_file *file;
    int status = pgk_gcov_new(&gcov, err);
    if (status)
        return status;
    status = cli_open(&file, input, err);
    if (!status)
        status = pgk_gcov_read_file(gcov, file, 1, err);
    if (!status)
        status = gcov_output_release(gcov, to, exit_code, err);
    if (!status)
        status = pgk_gcov_write(gcov, output, err);
    pgk_gcov_close(&gcov);
    return status;
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    struct pgk_err err = {0};
    const char *to = NULL, *output = NULL;
    int exit_code = EXIT_DONE;
    for (int c; (c = cli_next_option(&cmd_convert, argc, argv, "o:", options, &common)) != -1;)
        *(c == 'o' ? &output : &to) = optarg;
    if (optind + 1 != argc)
        cli_usage(&cmd_convert, "convert takes one file");
    if (!output)
        cli_usage(&cmd_convert, "no output: name it with -o");
    if (!to)
        cli_usage(&cmd_convert, "for which release of gcc? name it with --to");
    int status = convert(argv[optind], to, output, &exit_code, &err);
    cli_common_free(&common);
    return status ? cli_fail(&err) : exit_code;
}

const struct cli_action convert_gcov = {PGK_KIND_GCOV, help, "o:", options, run};
