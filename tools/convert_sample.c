/* pgokit convert for sample profiles. */
#include "export_choice.h"
#include "output_sample.h"
#include "rebase.h"

#include <stdio.h>

static const char help[] =
    "Any sample profile becomes any other that can hold it.\n\n" SAMPLE_OUTPUT_HELP
    "      --to NAME            also for viewers: " CLI_VIEWERS "\n"
    REBASE_HELP
    "\nExamples:\n"
    "  pgokit convert app.afdo --to text -o -\n"
    "  pgokit convert app.afdo --to gcc16 -o app.fbdata\n"
    "  pgokit convert app.txt --vtables --compress -o app.afdo\n"
    "  pgokit convert contexts.afdo --layout=nested -o app.afdo\n"
    "  pgokit convert app.afdo --to pprof -o app.pb.gz\n"
    "  pgokit convert app.afdo --rebase-to ./app -b ./app.released -o new.afdo\n";

static const struct option options[] = {SAMPLE_OUTPUT_LONG, REBASE_LONG, CLI_COMMON_LONG, {0}};

static int write_for_viewer(struct sample_output *output, struct pgk_sample **profile,
                            const char *viewer, const char *input,
                            const struct cli_common *common)
{
    struct pgk_sample_export_opts opts = {.struct_size = sizeof opts, .title = export_title(input)};
    struct pgk_err err = {0};
    int status = sample_output_change(output, profile, common, &err);
    if (!status)
        status = pgk_sample_export(*profile, viewer, output->path, &opts, &err);
    return status ? cli_fail(&err) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    const char *viewer = NULL; /* the format, if it is for one */
    struct sample_output output = {SAMPLE_OUTPUT_INIT, .keep_partial = true};
    struct rebase_options rebase = {0};
    struct pgk_sample *profile = NULL;
    struct pgk_file *file;
    struct pgk_err err = {0};
    for (int c; (c = cli_next_option(&cmd_convert, argc, argv, "o:", options, &common)) != -1;) {
        if (c == OPT_SAMPLE_TO)
            viewer = export_is_viewer(optarg) ? optarg : NULL;
        if (!rebase_option(&rebase, c, optarg) && (c != OPT_SAMPLE_TO || !viewer))
            sample_output_option(&output, &cmd_convert, c, optarg);
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_convert, "convert takes one file");
    if (!output.path)
        cli_usage(&cmd_convert, "no output: name it with -o");
    rebase_check_options(&rebase, output.path);
    int status = pgk_sample_new(&profile, &err);
    if (!status)
        status = cli_open(&file, argv[optind], &err);
    if (!status)
        status = pgk_sample_read_file(profile, file, 1, &err);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE, of_rebase = EXIT_DONE;
    if (!status && rebase.builds.n)
        exit_code = of_rebase =
            rebase_sample(&rebase, &profile, argv[optind], output.path, &common);
    if (exit_code != EXIT_FAILED)
        exit_code = viewer ? write_for_viewer(&output, &profile, viewer, argv[optind], &common)
                           : sample_output_write(&output, &profile, &common);
    if (exit_code == EXIT_DONE)
        exit_code = of_rebase;
    cli_list_free(&rebase.builds);
    pgk_sample_close(&profile);
    cli_common_free(&common);
    return exit_code;
}

const struct cli_action convert_sample = {PGK_KIND_SAMPLE, help, "o:", options, run};
