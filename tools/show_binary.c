/* pgokit show for binaries: their pseudo probes. */
#include "cli.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "The pseudo probes of a program: how many of what type, how deep functions are\n"
    "inlined, and what the sections take.\n\n";

static const char examples[] =
    "  pgokit show ./app\n"
    "  pgokit show ./app --probes | less\n";

struct show {
    struct cli_common common;
    struct pgk_probes_print_opts report;
    bool json;
};

static const struct option_row rows[] = {
    {"probes", 0, NULL, "then every function with its tree of probes",
     OPTION_FLAG(struct show, report.list)},
    {"json", 0, NULL, "all of it as JSON", OPTION_FLAG(struct show, json),
     .page = "see [probes-json](../formats/probes-json.md)"},
    {0},
};
static const struct option_table table = {"show binary", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct show), {0}};

static void parse(struct show *s, int argc, char **argv)
{
    s->report = (struct pgk_probes_print_opts){.struct_size = sizeof s->report};
    option_parse(&cmd_show, groups, argc, argv, s);
    cli_need_one(&cmd_show, argc - optind);
    s->report.title = argv[optind];
    s->report.colour = cli_colour();
    s->report.width = cli_width(STDOUT_FILENO);
}

static int print(const struct show *s, const struct pgk_probes *probes, struct pgk_err *err)
{
    struct pgk_probe_index *index;
    int status = pgk_probe_index_all(&index, probes, err);
    if (status)
        return status;
    cli_for_people(s->json ? CLI_EXACT : CLI_PEOPLE);
    status = (s->json ? pgk_probes_print_json : pgk_probes_print_table)(probes, index, &s->report,
                                                                        stdout, err);
    pgk_probe_index_close(&index);
    return status;
}

/* "a program", "a library" */
static const char *kind_of_elf(const char *path, bool *runs)
{
    Elf64_Ehdr head = {0};
    Elf64_Phdr part;
    FILE *f = fopen(path, "re");
    const bool whole = f && fread(&head, sizeof head, 1, f) == 1;
    *runs = whole && head.e_type == ET_EXEC;
    for (unsigned i = 0; whole && i < head.e_phnum && !*runs; i++)
        *runs = !fseek(f, (long)(head.e_phoff + i * sizeof part), SEEK_SET) &&
                fread(&part, sizeof part, 1, f) == 1 && part.p_type == PT_INTERP;
    if (f)
        fclose(f);
    return head.e_type == ET_REL    ? "an object file"
           : head.e_type == ET_CORE ? "a core dump"
           : *runs                  ? "a program"
                                    : "a library";
}

/* Most who name a program want a profile of it. */
static void say_what_it_is(struct pgk_err *err, const char *path)
{
    bool runs;
    if (err->status != PGK_E_EMPTY)
        return;
    const char *kind = kind_of_elf(path, &runs);
    err->format[0] = err->field[0] = err->record[0] = 0;
    err->offset = PGK_NO_OFFSET;
    snprintf(err->found, sizeof err->found, "%s without pseudo probes", kind);
    snprintf(err->expected, sizeof err->expected, "a profile");
    if (runs)
        snprintf(err->hint, sizeof err->hint,
                 "pgokit record heap -- %s%.100s records a profile of it, with -b it names what "
                 "is in one, and pgokit disasm shows its code", strchr(path, '/') ? "" : "./",
                 path);
    else
        snprintf(err->hint, sizeof err->hint,
                 "give it with -b and name a profile%s",
                 strcmp(kind, "a library") ? "" : "; pgokit disasm shows its code");
}

static int run(int argc, char **argv)
{
    struct show s = {0};
    struct pgk_err err = {0};
    struct pgk_probes *probes = NULL;
    parse(&s, argc, argv);
    int status = pgk_probes_open(&probes, s.report.title, &err);
    if (status)
        say_what_it_is(&err, s.report.title);
    else
        status = print(&s, probes, &err);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (!status && pgk_probes_check(probes, &err) && !s.common.quiet) {
        fputs("pgokit: warning: ", stderr);
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
        exit_code = EXIT_INCOMPLETE;
    }
    pgk_probes_close(&probes);
    cli_common_free(&s.common);
    return exit_code;
}

const struct cli_action show_binary = {
    PGK_KIND_BINARY, help, .run = run, .groups = groups, .examples = examples};
