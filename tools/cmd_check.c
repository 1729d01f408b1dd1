/* pgokit check: is a file sound, and who reads it? */
#include "cli.h"

#include <stdio.h>

static const char help[] =
    "usage: pgokit check FILE...\n"
    "       pgokit check --repair OUTPUT FILE\n"
    "       pgokit check --kinds FILE...\n\n"
    "Reads each file to its last byte and says whether it is sound, what it holds, and which\n"
    "other tools read it. The files may be of different kinds.\n\n"
    "      --repair OUTPUT  write what can be read of a damaged heap profile, record by record,\n"
    "                       in the same format and version (a heaptrack file: as a partial\n"
    "                       profile), and list what is lost\n"
    "      --kinds          say only of which kind each file is, by its first bytes: heap,\n"
    "                       instr, sample, gcov, binary, both 'instr,heap', or unknown; and\n"
    "                       the build ids that it stores\n"
    "\nExamples:\n"
    "  pgokit check memprof.profraw.* app.profdata\n"
    "  pgokit check --repair saved.profraw memprof.profraw.4711\n";

enum { OPT_REPAIR = 256, OPT_KINDS };

static const struct option options[] = {
    {"repair", required_argument, NULL, OPT_REPAIR},
    {"kinds", no_argument, NULL, OPT_KINDS},
    CLI_COMMON_LONG,
    {0},
};

static const struct cli_check *const kinds[] = {
    &check_heap,
    &check_instr,
    &check_gcov,
    &check_sample,
    &check_binary,
    NULL,
};

/* The row for the kind of the file. */
static int find_kind(const char *path, const struct cli_check **kind, struct pgk_err *err)
{
    struct pgk_file *file;
    int status = cli_open(&file, path, err);
    if (status)
        return status;
    const struct pgk_format *format = pgk_file_info_format(pgk_file_info(file));
    for (size_t i = 0; kinds[i]; i++)
        if (kinds[i]->kind == format->kind)
            return *kind = kinds[i], 0;
    *err = (struct pgk_err){.status = PGK_E_ARG, .offset = PGK_NO_OFFSET};
    snprintf(err->file, sizeof err->file, "%s", path);
    snprintf(err->found, sizeof err->found, "a file of the kind %s, which check does not know",
             pgk_kind_name(format->kind));
    return err->status;
}

static int check(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    const struct cli_check *kind;
    int status = find_kind(path, &kind, err);
    return status ? status : kind->run(path, common, err);
}

static int print_id(void *ctx, const uint8_t *id, size_t size)
{
    (void)ctx;
    putchar(' ');
    for (size_t i = 0; i < size; i++)
        printf("%02x", id[i]);
    return 0;
}

/* A line for each file, also for one that is none. */
static int print_kinds(const char *path, struct pgk_err *err)
{
    char safe[512];
    struct pgk_file *file;
    const char *between = "";
    printf("%s: ", pgk_human_text(safe, sizeof safe, path));
    int status = cli_open(&file, path, err);
    if (status) {
        puts("unknown");
        return status;
    }
    /* The format's own kind comes first. */
    const enum pgk_kind own = pgk_file_info_format(pgk_file_info(file))->kind;
    for (unsigned i = 0; i < PGK_KINDS; i++) {
        const enum pgk_kind kind = (enum pgk_kind)(((unsigned)own + i) % PGK_KINDS);
        if (pgk_file_holds(file, kind)) {
            printf("%s%s", between, pgk_kind_name(kind));
            between = ",";
        }
    }
    status = pgk_file_build_ids(file, print_id, NULL, err);
    putchar('\n');
    return status;
}

static int repair(const char *path, const char *output)
{
    struct pgk_err err = {0};
    const struct cli_check *kind;
    int status = find_kind(path, &kind, &err);
    if (!status && !kind->repair)
        cli_usage(&cmd_check, "--repair does not work on %s", pgk_kind_plural(kind->kind));
    if (!status)
        status = kind->repair(path, output, &err);
    return status < 0 ? cli_fail(&err) : status ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    int exit_code = EXIT_DONE;
    const char *output = NULL;
    bool kinds_only = false;
    for (int c; (c = cli_next_option(&cmd_check, argc, argv, "", options, &common)) != -1;)
        if (c == OPT_REPAIR)
            output = optarg;
        else
            kinds_only = true;
    if (optind == argc)
        cli_usage(&cmd_check, "nothing to check: name at least one file");
    if (output && optind + 1 != argc)
        cli_usage(&cmd_check, "--repair takes one file");
    if (output && kinds_only)
        cli_usage(&cmd_check, "--repair and --kinds contradict one another");
    cli_keep_stdin(argc - optind, argv + optind);
    if (output)
        exit_code = repair(argv[optind], output);
    for (int i = optind; i < argc && !output; i++) {
        struct pgk_err err = {0};
        if (kinds_only ? print_kinds(argv[i], &err) : check(argv[i], &common, &err))
            exit_code = cli_fail(&err);
    }
    cli_common_free(&common);
    return cli_finish_output(exit_code);
}

const struct cli_verb cmd_check = {
    .name = "check",
    .summary = "checks that files are sound",
    .help = help,
    .exit_help = "0 all are sound, 1 repaired with losses, 2 some are not",
    .run = run,
    .options = options,
};
