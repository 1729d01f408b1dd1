/* pgokit disasm: machine code with what profiles say about it. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: pgokit disasm BINARY [OPTION]...\n\n"
    "Disassembles a program for x86-64 or AArch64, and shows at each instruction the\n"
    "pseudo probes and source lines that belong to it.\n\n";

static const char examples[] =
    "  pgokit disasm ./app --probes --function 'Cache::lookup'\n"
    "  pgokit disasm ./app --profile app.afdo --top 5\n"
    "  pgokit disasm ./app --format llvm --probes > app.probes.txt\n"
    "  pgokit disasm ./app --json --source | jq '.functions[].name'\n";

struct disasm {
    struct cli_common common;
    struct cli_list functions, source_dirs;
    struct pgk_disasm_opts opts;
    const char *path, *profile_path;
    struct pgk_sample *profile;
};

static const struct option_choice formats[] = {
    {"text", PGK_DISASM_TEXT}, {"llvm", PGK_DISASM_LLVM}, {"json", PGK_DISASM_JSON}, {0}};

static const struct option_row rows[] = {
    {"function", 'f', "NAME",
     "only this function, by its linkage name or as a programmer writes it, without parameters; "
     "may be repeated", OPTION_LIST(struct disasm, functions),
     .page = "tags such as `[abi:cxx11]` are left out, too. If a function is inlined everywhere, "
             "the "
             "message lists the places"},
    {"probes", 0, NULL, "the pseudo probes before each instruction",
     OPTION_FLAG(struct disasm, opts.probes)},
    {"source", 0, NULL, "the source line, its text, and what is inlined into what",
     OPTION_FLAG(struct disasm, opts.source),
     .page = "they are shown wherever one of them changes"},
    {"source-dir", 0, "DIR",
     "where to look for sources, besides where they were compiled; may be repeated; --source is "
     "then implied", OPTION_LIST(struct disasm, source_dirs)},
    {"format", 0, "FORMAT",
     "text (default), json, or llvm: what llvm-profgen 22 prints when it shows disassembly only",
     OPTION_CHOICE(struct disasm, opts.format, formats),
     .page = "see [disasm-json](../formats/disasm-json.md)"},
    {"json", 0, NULL, "the same as --format json",
     OPTION_VALUE(struct disasm, opts.format, PGK_DISASM_JSON)},
    {"profile", 0, "FILE",
     "the samples of a sample profile at each instruction, or each probe if it is a profile by "
     "probes; not with --format llvm", OPTION_TEXT(struct disasm, profile_path)},
    {"top", 0, "N", "only the N functions with the most samples, hottest first",
     OPTION_NUMBER(struct disasm, opts.top, 1, 1000000000),
     .page = "functions without samples are left out"},
    {0},
};
static const struct option_table table = {"disasm", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct disasm), {0}};

/* The binary is the operand, or that of -b. */
static void take_binary(struct disasm *d, int argc, char **argv)
{
    size_t given = d->common.binaries.n + (size_t)(argc - optind);
    if (given != 1)
        cli_usage(&cmd_disasm, "disasm takes one binary, not %zu", given);
    d->path = optind < argc ? argv[optind] : d->common.binaries.v[0];
}

static void parse(struct disasm *d, int argc, char **argv)
{
    d->opts = (struct pgk_disasm_opts){.struct_size = sizeof d->opts};
    option_parse(&cmd_disasm, groups, argc, argv, d);
    d->opts.source |= d->source_dirs.n != 0;
    take_binary(d, argc, argv);
    if (d->profile_path && d->opts.format == PGK_DISASM_LLVM)
        cli_usage(&cmd_disasm, "--profile is for the formats text and json: llvm-profgen shows "
                               "no counts");
    if (d->opts.top && !d->profile_path)
        cli_usage(&cmd_disasm, "--top needs a --profile, whose samples say which functions");
    d->opts.functions = d->functions.v;
    d->opts.n_functions = d->functions.n;
    d->opts.source_dirs = d->source_dirs.v;
    d->opts.n_source_dirs = d->source_dirs.n;
    d->opts.debug_dirs = d->common.debug_dirs.v;
    d->opts.n_debug_dirs = d->common.debug_dirs.n;
    d->opts.packages = d->common.packages.v;
    d->opts.n_packages = d->common.packages.n;
    d->opts.use_caches = true;
    d->opts.download = !d->common.no_debuginfod;
    if (d->common.debug_files.n > 1)
        cli_usage(&cmd_disasm, "one program has one --debug-binary");
    if (d->common.debug_files.n)
        d->opts.debug_file = d->common.debug_files.v[0];
    d->opts.threads = d->common.threads;
    d->opts.colour = cli_colour();
    d->opts.width = cli_width(STDOUT_FILENO);
    cli_for_people(CLI_EXACT);
    if (!d->common.quiet)
        cli_show_progress(&cmd_disasm);
}

/* What was left out; true if something was. */
static bool note_incomplete(const struct disasm *d, const struct pgk_disasm_done *done)
{
    char n[PGK_HUMAN_SIZE];
    if (done->invalid_runs)
        fprintf(stderr, "pgokit: warning: %s pieces of code are not valid instructions\n",
                pgk_human_count(n, done->invalid_runs));
    if (done->lost_probes)
        fprintf(stderr,
                "pgokit: warning: %s probes belong to code that is not in the program; "
                "pgokit check %s says more\n",
                pgk_human_count(n, done->lost_probes), d->path);
    if (done->stale_functions)
        fprintf(stderr,
                "pgokit: warning: %s functions have other code than the program that was "
                "profiled; their counts may belong to other places\n",
                pgk_human_count(n, done->stale_functions));
    if (done->stripped)
        fprintf(stderr,
                "pgokit: warning: %s is stripped: code without a dynamic symbol is not shown, or "
                "is shown as part of the function before it\n",
                d->path);
    return done->invalid_runs || done->lost_probes || done->stale_functions || done->stripped;
}

static int disassemble(struct disasm *d, struct pgk_disasm_done *done, struct pgk_err *err)
{
    int status = 0;
    if (d->profile_path) {
        status = pgk_sample_new(&d->profile, err);
        if (!status)
            status = pgk_sample_read(d->profile, d->profile_path, 1, err);
        if (!status)
            status = pgk_sample_finish(d->profile, err);
        d->opts.profile = d->profile;
    }
    return status ? status : pgk_disasm(d->path, &d->opts, stdout, done, err);
}

static int run(int argc, char **argv)
{
    struct disasm d = {0};
    struct pgk_err err = {0};
    struct pgk_disasm_done done = {.struct_size = sizeof done};
    parse(&d, argc, argv);
    int exit_code = disassemble(&d, &done, &err) ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE && note_incomplete(&d, &done) && d.opts.format != PGK_DISASM_LLVM)
        exit_code = EXIT_INCOMPLETE;
    pgk_sample_close(&d.profile);
    cli_list_free(&d.functions);
    cli_list_free(&d.source_dirs);
    cli_common_free(&d.common);
    return exit_code;
}

const struct cli_verb cmd_disasm = {
    .name = "disasm",
    .summary = "shows machine code with its counts and probes",
    .help = help,
    .exit_help = "0 done, 1 done but some parts are not code, have no place or were profiled with "
                 "other code, 2 failed",
    .run = run,
    .groups = groups,
    .examples = examples,
};
