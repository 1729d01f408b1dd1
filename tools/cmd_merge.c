/* pgokit merge: any number of profiles of one kind into one. */
#include "merge_inputs.h"

static const char help[] =
    "usage: pgokit merge FILE|FOLDER... [-b BINARY]... -o OUTPUT\n\n"
    "Adds up profiles of one kind, of any formats and versions, into one for the\n"
    "compiler. Heap profiles and counters go into one file together. From a folder,\n"
    "all profiles in it and in the folders below are read; files that are not\n"
    "profiles are left out.\n\n";

static const struct option_group groups[] = {
    {.table = &cli_output_option}, {.table = &merge_files_option}, {0}};

static const struct cli_action *const actions[] = {
    &merge_heap,
    &merge_instr,
    &merge_gcov,
    &merge_sample,
    NULL,
};

/* Heap profiles among counters are the business of the action for counters. What cannot be read is
 * passed over as long as something can, for the action knows what to do about it. */
static int decide(int n_operands, char *const *operands, const struct pgk_format **format,
                  struct pgk_err *err)
{
    int failed = 0;
    *format = NULL;
    for (int i = 0; i < n_operands; i++) {
        const char *path = cli_input(&cmd_merge, operands[i]).path;
        const struct pgk_format *found = cli_format(CLI_GCOV, PGK_KIND_GCOV); /* of a folder */
        struct pgk_file *file = NULL;
        int status = cli_is_folder(path) ? 0 : cli_open(&file, path, failed ? NULL : err);
        failed = failed ? failed : status;
        if (status)
            continue;
        if (file)
            found = pgk_file_info_format(pgk_file_info(file));
        if (!*format || found->kind == PGK_KIND_INSTR)
            *format = found;
        if ((*format)->kind != PGK_KIND_HEAP)
            return 0;
    }
    return *format ? 0 : failed;
}

static int run(int argc, char **argv)
{
    cli_expand_files_from(&cmd_merge, &argc, &argv);
    return cli_run_action(&cmd_merge, argc, argv);
}

const struct cli_verb cmd_merge = {
    .name = "merge",
    .summary = "merges profiles into one for the compiler",
    .help = help,
    .exit_help = "0 done, 1 done but some input data are not in the output, 2 failed, "
                 "3 an input is damaged (--skip-bad)",
    .run = run,
    .actions = actions,
    .groups = groups,
    .decide = decide,
    .takes_folders = true,
};
