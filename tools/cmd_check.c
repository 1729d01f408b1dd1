/* pgokit check: is a file sound, and who reads it? */
#include "cli.h"

#include <stdio.h>

static const char help[] =
    "usage: pgokit check FILE...\n\n"
    "Reads each file to its last byte and says whether it is sound, what it holds, and which\n"
    "other tools read it. The files may be of different kinds.\n\n"
    "  pgokit check memprof.profraw.* app.profdata\n";

static const struct option options[] = {CLI_COMMON_LONG, {0}};

static const struct cli_check *const kinds[] = {
    &check_heap,
    &check_sample,
    &check_binary,
    NULL,
};

static int check(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    const struct pgk_format *format;
    int status = pgk_format_detect(path, &format, err);
    if (status)
        return status;
    for (size_t i = 0; kinds[i]; i++)
        if (kinds[i]->kind == format->kind)
            return kinds[i]->run(path, common, err);
    *err = (struct pgk_err){.status = PGK_E_ARG, .offset = PGK_NO_OFFSET};
    snprintf(err->file, sizeof err->file, "%s", path);
    snprintf(err->found, sizeof err->found, "a file of the kind %s, which check does not know",
             pgk_kind_name(format->kind));
    return err->status;
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    int exit_code = EXIT_DONE;
    while (cli_next_option(&cmd_check, argc, argv, "", options, &common) != -1)
        continue;
    if (optind == argc)
        cli_usage(&cmd_check, "nothing to check: name one file at least");
    cli_keep_stdin(argc - optind, argv + optind);
    for (int i = optind; i < argc; i++) {
        struct pgk_err err = {0};
        if (check(argv[i], &common, &err))
            exit_code = cli_fail(&err);
    }
    cli_common_free(&common);
    return cli_finish_output(exit_code);
}

const struct cli_verb cmd_check = {
    .name = "check",
    .summary = "says whether files are sound",
    .help = help,
    .exit_help = "0 all are sound, 2 some are not",
    .run = run,
};
