/* pgokit disasm: machine code with what profiles say about it. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: pgokit disasm BINARY [OPTION]...\n\n"
    "Disassembles a program for x86-64 or AArch64, and shows at each instruction the pseudo\n"
    "probes and source lines that belong to it.\n\n"
    "  -f, --function NAME  only this function, by its linkage name or as a programmer writes\n"
    "                       it, without parameters; may be repeated\n"
    "      --probes         the pseudo probes before each instruction\n"
    "      --source         the source line, its text, and what is inlined into what\n"
    "      --source-dir DIR where to look for sources, besides where they were compiled; may be\n"
    "                       repeated; --source is then implied\n"
    "      --format FORMAT  text (default), json (docs/formats/disasm-json.md), or llvm: what\n"
    "                       llvm-profgen 22 prints when it shows disassembly only\n"
    "      --json           the same as --format json\n"
    "      --profile FILE   the samples of a sample profile beside each instruction, or each\n"
    "                       probe if it is a profile by probes; not with --format llvm\n"
    "      --top N          only the N functions with the most samples, hottest first\n"
    "\nExamples:\n"
    "  pgokit disasm ./app --probes --function 'Cache::lookup'\n"
    "  pgokit disasm ./app --profile app.afdo --top 5\n"
    "  pgokit disasm ./app --format llvm --probes > app.probes.txt\n"
    "  pgokit disasm ./app --json --source | jq '.functions[].name'\n";

enum { OPT_PROBES = 256, OPT_SOURCE, OPT_FORMAT, OPT_JSON, OPT_PROFILE, OPT_TOP, OPT_SOURCE_DIR };

static const struct option options[] = {
    {"function", required_argument, NULL, 'f'},
    {"probes", no_argument, NULL, OPT_PROBES},
    {"source", no_argument, NULL, OPT_SOURCE},
    {"source-dir", required_argument, NULL, OPT_SOURCE_DIR},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"json", no_argument, NULL, OPT_JSON},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"top", required_argument, NULL, OPT_TOP},
    CLI_COMMON_LONG,
    {0},
};

struct disasm {
    struct cli_common common;
    struct cli_list functions, source_dirs;
    struct pgk_disasm_opts opts;
    const char *path, *profile_path;
    struct pgk_sample *profile;
};

static enum pgk_disasm_format parse_format(const char *text)
{
    static const char *const names[] = {
        [PGK_DISASM_TEXT] = "text", [PGK_DISASM_LLVM] = "llvm", [PGK_DISASM_JSON] = "json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i]))
            return (enum pgk_disasm_format)i;
    cli_usage(&cmd_disasm, "--format takes text, llvm or json, not '%s'", text);
}

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
    for (int c; (c = cli_next_option(&cmd_disasm, argc, argv, "f:", options, &d->common)) != -1;) {
        switch (c) {
        case 'f':
            cli_list_add(&d->functions, optarg);
            break;
        case OPT_PROBES:
            d->opts.probes = true;
            break;
        case OPT_SOURCE:
            d->opts.source = true;
            break;
        case OPT_SOURCE_DIR:
            d->opts.source = true;
            cli_list_add(&d->source_dirs, optarg);
            break;
        case OPT_FORMAT:
            d->opts.format = parse_format(optarg);
            break;
        case OPT_JSON:
            d->opts.format = PGK_DISASM_JSON;
            break;
        case OPT_PROFILE:
            d->profile_path = optarg;
            break;
        case OPT_TOP:
            d->opts.top = cli_number("--top", optarg, 1, 1000000000);
            break;
        }
    }
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
    .options = options,
};
