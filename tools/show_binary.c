/* pgokit show for binaries: their pseudo probes, or how the code lies that ran. */
#include "cli.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "The pseudo probes of a program: how many of what type, how deep functions are\n"
    "inlined, and what the sections take. With --layout how the code lies that ran.\n\n";

static const char examples[] =
    "  pgokit show ./app\n"
    "  pgokit show ./app --probes | less\n"
    "  pgokit show ./app --layout app.counts\n";

struct show {
    struct cli_common common;
    struct pgk_probes_print_opts report;
    struct cli_list recordings; /* for the layout */
    bool json;
};

static void add_recording(const struct option_given *given)
{
    struct show *s = given->into;
    cli_list_add(&s->recordings, given->value);
    cli_reads(given->value);
}

static const struct option_row rows[] = {
    {"probes", 0, NULL, "then every function with its tree of probes",
     OPTION_FLAG(struct show, report.list)},
    {"layout", 0, "RECORDING",
     "instead: on how many pages and lines the code lies that ran in this recording (of perf or "
     "record branches; may be repeated), now and in a new order, and whether that pays",
     OPTION_CALL(add_recording), .page = "see [How code lies](#how-code-lies)"},
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
    if (s->recordings.n && s->report.list)
        cli_usage(&cmd_show, "--layout and --probes show two things");
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

/* ---- how the code lies ---- */

static int measure(const struct show *s, struct pgk_binaries *binaries,
                   struct pgk_gen_layout *layout, struct pgk_err *err)
{
    struct pgk_gen *gen = NULL;
    struct pgk_gen_opts opts = {.struct_size = sizeof opts, .mode = PGK_GEN_LINES,
                                .no_vtables = true, .threads = s->common.threads};
    int status = pgk_gen_new(&gen, binaries, &opts, err);
    for (size_t i = 0; !status && i < s->recordings.n; i++)
        status = pgk_gen_add(gen, s->recordings.v[i], err);
    if (!status)
        status = pgk_gen_layout(gen, 0, layout, err);
    pgk_gen_close(&gen);
    return status;
}

static int run_layout(struct show *s)
{
    struct pgk_binaries *binaries = NULL;
    struct pgk_gen_layout layout = {.struct_size = sizeof layout};
    struct pgk_err err = {0};
    cli_list_add(&s->common.binaries, s->report.title);
    int status = cli_open_binaries(&s->common, &binaries, &err);
    if (!status)
        status = measure(s, binaries, &layout, &err);
    if (!status) {
        cli_for_people(s->json ? CLI_EXACT : CLI_PEOPLE);
        (s->json ? pgk_gen_layout_print_json : pgk_gen_layout_print)(&layout, stdout);
    }
    pgk_binaries_close(&binaries);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

/* ---- probes ---- */

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
    if (s.recordings.n)
        return run_layout(&s);
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
