/* pgokit convert for counters of gcc. */
#include "output_gcov.h"

static const char help[] =
    "The .gcda file of one release of gcc becomes that of another. The program must\n"
    "have the same functions to both compilers, which they check by function.\n\n";

static const char examples[] =
    "  pgokit convert app.gcda --to gcc16.2 -o build-16/app.gcda\n";

struct convert {
    struct cli_common common;
    const char *to, *output;
};

static const struct option_row rows[] = {GCOV_TO_ROW(struct convert, to), {0}};
static const struct option_table table = {"convert gcc", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(cli_output_option, struct convert, output),
    {&table, 0, 0},
    CLI_COMMON(struct convert),
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
    struct convert c = {0};
    struct pgk_err err = {0};
    int exit_code = EXIT_DONE;
    option_parse(&cmd_convert, groups, argc, argv, &c);
    if (optind + 1 != argc)
        cli_usage(&cmd_convert, "convert takes one file");
    if (!c.output)
        cli_usage(&cmd_convert, "no output: name it with -o");
    if (!c.to)
        cli_usage(&cmd_convert, "for which release of gcc? name it with --to");
    int status = convert(argv[optind], c.to, c.output, &exit_code, &err);
    cli_common_free(&c.common);
    return status ? cli_fail(&err) : exit_code;
}

const struct cli_action convert_gcov = {
    PGK_KIND_GCOV, help, .run = run, .groups = groups, .examples = examples};
