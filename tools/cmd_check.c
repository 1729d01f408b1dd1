/* pgokit check: is a file sound, and who reads it? */
#include "cli.h"

#include <stdio.h>

static const char help[] =
    "usage: pgokit check FILE...\n"
    "       pgokit check --repair OUTPUT FILE\n"
    "       pgokit check --kinds FILE...\n\n"
    "Reads each file to its last byte and says whether it is sound, what it holds,\n"
    "and which other tools read it. The files may be of different kinds.\n\n";

static const char examples[] =
    "  pgokit check memprof.profraw.* app.profdata\n"
    "  pgokit check --repair saved.profraw memprof.profraw.4711\n";

struct check {
    struct cli_common common;
    const char *output;
    bool kinds_only;
};

static const struct option_row rows[] = {
    {"repair", 0, "OUTPUT",
     "write what can be read of a damaged heap profile, record by record, in the same format and "
     "version (a heaptrack file: as a partial profile), and list what is lost",
     OPTION_TEXT(struct check, output), .is_output = true},
    {"kinds", 0, NULL,
     "say only of which kind each file is, by its first bytes: heap, instr, sample, gcov, binary, "
     "both 'instr,heap', or unknown; and the build ids that it stores",
     OPTION_FLAG(struct check, kinds_only)},
    {0},
};
static const struct option_table table = {"check", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct check), {0}};

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
    enum { AT_ONCE = 64 };
    char hex[2 * AT_ONCE + 1];
    (void)ctx;
    putchar(' ');
    for (size_t at = 0; at < size; at += AT_ONCE)
        fputs(pgk_human_hex(hex, sizeof hex, id + at, size - at < AT_ONCE ? size - at : AT_ONCE),
              stdout);
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
    struct check o = {0};
    int exit_code = EXIT_DONE;
    option_parse(&cmd_check, groups, argc, argv, &o);
    if (optind == argc)
        cli_usage(&cmd_check, "nothing to check: name at least one file");
    if (o.output && optind + 1 != argc)
        cli_usage(&cmd_check, "--repair takes one file");
    if (o.output && o.kinds_only)
        cli_usage(&cmd_check, "--repair and --kinds contradict one another");
    cli_keep_stdin(argc - optind, argv + optind);
    cli_for_people(CLI_LINES);
    if (!o.common.quiet)
        cli_show_progress(&cmd_check);
    if (o.output)
        exit_code = repair(argv[optind], o.output);
    for (int i = optind; i < argc && !o.output; i++) {
        struct pgk_err err = {0};
        if (o.kinds_only ? print_kinds(argv[i], &err) : check(argv[i], &o.common, &err))
            exit_code = cli_fail(&err);
    }
    cli_common_free(&o.common);
    return cli_finish_output(exit_code);
}

const struct cli_verb cmd_check = {
    .name = "check",
    .summary = "checks that files are sound",
    .help = help,
    .exit_help = "0 all are sound, 1 repaired with losses, 2 some are not",
    .run = run,
    .groups = groups,
    .examples = examples,
};
