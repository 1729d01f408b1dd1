/* pgokit convert for sample profiles. */
#include "export_choice.h"
#include "output_sample.h"
#include "rebase.h"

#include <stdio.h>

static const char help[] =
    "Any sample profile becomes any other that can hold it.\n\n";

static const char examples[] =
    "  pgokit convert app.afdo --to text -o -\n"
    "  pgokit convert app.afdo --to gcc16 -o app.fbdata\n"
    "  pgokit convert app.txt --vtables --compress -o app.afdo\n"
    "  pgokit convert contexts.afdo --layout=nested -o app.afdo\n"
    "  pgokit convert app.afdo --to pprof -o app.pb.gz\n"
    "  pgokit convert app.afdo --rebase-to ./app -b ./app.released -o new.afdo\n";

struct convert {
    struct cli_common common;
    const char *viewer; /* the format, if it is for one */
    struct sample_output output;
    struct rebase_options rebase;
};

static void take_to(const struct option_given *given)
{
    struct convert *c = given->into;
    struct option_given of_file = *given;
    of_file.into = &c->output;
    c->viewer = export_is_viewer(given->value) ? given->value : NULL;
    if (!c->viewer)
        sample_output_to(&of_file);
}

static const char *to_word(size_t i)
{
    size_t before = 0;
    while (before < i && sample_output_word(before))
        before++;
    const char *word = sample_output_word(before);
    return word ? word : export_viewer(i - before);
}

static const struct option_row rows[] = {
    {"to", 0, "NAME",
     "extbinary (default), text, binary, llvm14 to llvm24 (extbinary with what it reads), or "
     "for -fauto-profile of gcc gcc11 (for 5 to 11) to gcc16 "
     "(gcc: gcc15); or for viewers: " CLI_VIEWERS, OPTION_CALL(take_to),
     OPTION_WORDS(to_word),
     .page = "see [pgokit report](pgokit-report.md)"},
    {0},
};
static const struct option_table table = {"convert samples", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(cli_output_option, struct convert, output.path),
    {&table, 0, 0},
    OPTION_GROUP(sample_file_options, struct convert, output),
    OPTION_GROUP(sample_output_options, struct convert, output),
    OPTION_GROUP(rebase_option_table, struct convert, rebase),
    CLI_COMMON(struct convert),
    {0},
};

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

static void parse(struct convert *c, int argc, char **argv)
{
    option_parse(&cmd_convert, groups, argc, argv, c);
    if (optind + 1 != argc)
        cli_usage(&cmd_convert, "convert takes one file");
    if (!c->output.path)
        cli_usage(&cmd_convert, "no output: name it with -o");
    rebase_check_options(&c->rebase, c->output.path);
}

static int run(int argc, char **argv)
{
    struct convert c = {.output = {SAMPLE_OUTPUT_INIT, .keep_partial = true}};
    struct pgk_sample *profile = NULL;
    struct pgk_file *file;
    struct pgk_err err = {0};
    parse(&c, argc, argv);
    int status = pgk_sample_new(&profile, &err);
    if (!status)
        status = cli_open(&file, argv[optind], &err);
    if (!status)
        status = pgk_sample_read_file(profile, file, 1, &err);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE, of_rebase = EXIT_DONE;
    if (!status && c.rebase.builds.n)
        exit_code = of_rebase =
            rebase_sample(&c.rebase, &profile, argv[optind], c.output.path, &c.common);
    if (exit_code != EXIT_FAILED)
        exit_code = c.viewer
                        ? write_for_viewer(&c.output, &profile, c.viewer, argv[optind], &c.common)
                        : sample_output_write(&c.output, &profile, &c.common);
    if (exit_code == EXIT_DONE)
        exit_code = of_rebase;
    cli_list_free(&c.rebase.builds);
    pgk_sample_close(&profile);
    cli_common_free(&c.common);
    return exit_code;
}

const struct cli_action convert_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
