/* pgokit gen: a sample profile from recordings of perf. */
#include "output_bolt.h"
#include "output_each.h"
#include "output_sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pgokit gen INPUT... [-b BINARY]... -o OUTPUT\n\n"
    "Makes a sample profile for -fprofile-sample-use= from perf.data, or from text of perf script\n"
    "and perf report -D. Branch stacks (perf record -b) give counts of lines and call targets,\n"
    "samples of loads give types of objects at virtual calls. Without branch stacks, counts are\n"
    "inferred from where the program was interrupted. Without -b the program is found where it\n"
    "was, or by its build id.\n\n"
    "  -o, --output FILE   the profile to write; - for standard output; DIR/: of each binary\n"
    SAMPLE_FILE_HELP
    "      --format NAME   the same as --to, or counts of branches: bolt, for llvm-bolt -data, or\n"
    "                      preaggregated, for perf2bolt -pa\n"
    "      --symbols       list all functions of the programs in the profile, so that compilers\n"
    "                      take those without samples for cold\n"
    "      --mode NAME     autofdo: by source lines; probe: by pseudo probes; cs: with calling\n"
    "                      contexts, by probes or else by lines; cs-autofdo: by lines;\n"
    "                      auto (default): what the recording and the program allow\n"
    "      --ignore-stack  call chains do not make it context-sensitive\n"
    "      --pid N         only samples of this process\n"
    "      --comm NAME     only samples of processes of this name\n"
    "      --perf-event NAME  only samples of this event, as perf names it; repeatable\n"
    "      --perf-events LIST  the same, with commas\n"
    "      --leading-ip-only  count where samples were taken, as of mispredicted branches\n"
    "      --map RECORDED=FILE  FILE, which is used as with -b, was recorded as RECORDED: a path\n"
    "                      or its last part; may be repeated\n"
    "      --kernel        the first binary is the kernel (vmlinux); samples of it count\n"
    "      --no-recovered-types  leave out types that code compares where calls were promoted\n"
    "      --no-scale      of record branches: counts as its windows saw them\n"
    "      --vtable-scale  give counts of types the scale of those of branches\n"
    "      --min-density N  samples a line below which the report asks for more (50)\n"
    "      --data          from samples of loads: which static data are hot and cold, for\n"
    "                      -fmemory-profile-use= of clang 22 and 23\n"
    "  -v, --verbose       name the first of each kind of samples that were left out\n"
    "      --raw           unsymbolised address counts, which gen reads later\n"
    "      --json          the report as JSON on standard output\n"
    "\nWhat is hot and cold:\n"
    "      --trim-cold     leave out contexts that are not hot, or functions that are cold\n"
    "      --hot-count N   samples from which a line is hot\n"
    "      --cold-count N  samples up to which a line is cold\n"
    "      --hot-share N, --cold-share N  else: millionths of all samples that the hottest lines\n"
    "                      have, the last being just hot (990000), or cold (999999)\n"
    "\nFor profiles with calling contexts:\n"
    "      --no-preinline  keep contexts that are not worth inlining\n"
    "      --keep-cold     without the pre-inliner, do not merge cold contexts\n"
    "      --cold-depth N  frames that merged cold contexts keep (1)\n"
    "      --context-depth N  frames that contexts keep (all)\n"
    "      --stack-depth N  functions of a call stack that contexts keep; for probes (all)\n"
    "      --recursion N   calls of the longest repetition that becomes one round; 0: none (any)\n"
    "      --contexts      keep contexts, do not turn them into inlinees\n"
    "      --no-tail-calls  do not look for callers that tail calls hide\n"
    "\nExamples:\n"
    "  perf record -e cpu-clock:u -F 5000 -- ./app; pgokit gen perf.data -o app.afdo\n"
    "  perf record -b -e branches:u -- ./app; pgokit gen perf.data -o app.afdo\n"
    "  pgokit gen perf.data -b ./app -b ./lib.so --format bolt -o counts/\n";

enum { OPT_MODE = 256, OPT_PID, OPT_IGNORE_STACK, OPT_NO_PREINLINE, OPT_KEEP_COLD, OPT_CONTEXTS,
       OPT_NO_TAIL_CALLS, OPT_JSON, OPT_RAW, OPT_COMM, OPT_KERNEL, OPT_VTABLE_SCALE,
       OPT_MIN_DENSITY, OPT_EVENT, OPT_EVENTS, OPT_LEADING_IP, OPT_MAP, OPT_LIST_SYMBOLS,
       OPT_NO_SCALE,
       OPT_HOT_COUNT, OPT_COLD_COUNT, OPT_HOT_SHARE, OPT_COLD_SHARE, OPT_CONTEXT_DEPTH,
       OPT_STACK_DEPTH, OPT_RECURSION, OPT_FORMAT, OPT_DATA,
       OPT_NO_RECOVERED };

static const struct option options[] = {
    SAMPLE_FILE_LONG,
    {"format", required_argument, NULL, OPT_FORMAT},
    {"symbols", no_argument, NULL, OPT_LIST_SYMBOLS},
    {"cold-depth", required_argument, NULL, OPT_COLD_DEPTH},
    {"map", required_argument, NULL, OPT_MAP},
    {"mode", required_argument, NULL, OPT_MODE},
    {"pid", required_argument, NULL, OPT_PID},
    {"json", no_argument, NULL, OPT_JSON},
    {"data", no_argument, NULL, OPT_DATA},
    {"raw", no_argument, NULL, OPT_RAW},
    {"comm", required_argument, NULL, OPT_COMM},
    {"kernel", no_argument, NULL, OPT_KERNEL},
    {"no-recovered-types", no_argument, NULL, OPT_NO_RECOVERED},
    {"no-scale", no_argument, NULL, OPT_NO_SCALE},
    {"vtable-scale", no_argument, NULL, OPT_VTABLE_SCALE},
    {"min-density", required_argument, NULL, OPT_MIN_DENSITY},
    {"perf-event", required_argument, NULL, OPT_EVENT},
    {"perf-events", required_argument, NULL, OPT_EVENTS},
    {"leading-ip-only", no_argument, NULL, OPT_LEADING_IP},
    {"verbose", no_argument, NULL, 'v'},
    {"ignore-stack", no_argument, NULL, OPT_IGNORE_STACK},
    {"no-preinline", no_argument, NULL, OPT_NO_PREINLINE},
    {"keep-cold", no_argument, NULL, OPT_KEEP_COLD},
    {"trim-cold", no_argument, NULL, OPT_TRIM_COLD},
    {"hot-count", required_argument, NULL, OPT_HOT_COUNT},
    {"cold-count", required_argument, NULL, OPT_COLD_COUNT},
    {"hot-share", required_argument, NULL, OPT_HOT_SHARE},
    {"cold-share", required_argument, NULL, OPT_COLD_SHARE},
    {"context-depth", required_argument, NULL, OPT_CONTEXT_DEPTH},
    {"stack-depth", required_argument, NULL, OPT_STACK_DEPTH},
    {"recursion", required_argument, NULL, OPT_RECURSION},
    {"contexts", no_argument, NULL, OPT_CONTEXTS},
    {"no-tail-calls", no_argument, NULL, OPT_NO_TAIL_CALLS},
    CLI_COMMON_LONG,
    {0},
};

enum { MOST_EVENTS = 64 };

struct gen {
    struct cli_common common;
    struct sample_output output;
    bool json, raw, verbose;
    const struct bolt_output_form *bolt; /* NULL: a sample profile */
    double min_density;
    const char *events[MOST_EVENTS];
    struct pgk_gen_map *maps;
    struct pgk_gen_opts opts;
};

/* RECORDED=FILE; the argument is cut in two. */
static void add_map(struct gen *g, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        cli_usage(&cmd_gen, "--map takes RECORDED=FILE, not '%s'", text);
    *equals = '\0';
    g->maps = realloc(g->maps, (g->opts.n_maps + 1) * sizeof *g->maps);
    if (!g->maps)
        cli_usage(&cmd_gen, "out of memory");
    g->maps[g->opts.n_maps++] = (struct pgk_gen_map){text, equals + 1};
    cli_list_add(&g->common.binaries, equals + 1);
    cli_reads(equals + 1);
}

static enum pgk_gen_mode parse_mode(const char *text)
{
    for (enum pgk_gen_mode m = 0; m < PGK_GEN_MODES; m++)
        if (!strcmp(text, pgk_gen_mode_name(m)))
            return m;
    cli_usage(&cmd_gen, "--mode takes auto, autofdo, probe, cs or cs-autofdo, not '%s'", text);
}

static void add_event(struct gen *g, const char *name)
{
    if (g->opts.n_events == MOST_EVENTS)
        cli_usage(&cmd_gen, "--perf-event takes at most %d events", MOST_EVENTS);
    g->events[g->opts.n_events++] = name;
    g->opts.events = g->events;
}

/* Options that take a number: true if it was one of them. */
static bool number_option(struct pgk_gen_opts *o, int c, const char *value)
{
    enum { MOST_SHARE = 999999, MOST_FRAMES = 1000 }; /* the last row of a summary; as a reader */
    switch (c) {
    case OPT_COLD_DEPTH:
        o->cold_depth = (unsigned)cli_number("--cold-depth", value, 1, MOST_FRAMES);
        return true;
    case OPT_CONTEXT_DEPTH:
        o->context_depth = (unsigned)cli_number("--context-depth", value, 1, MOST_FRAMES);
        return true;
    case OPT_STACK_DEPTH:
        o->stack_depth = (unsigned)cli_number("--stack-depth", value, 1, MOST_FRAMES);
        return true;
    case OPT_RECURSION:
        o->recursion = (unsigned)cli_number("--recursion", value, 0, MOST_FRAMES);
        o->keep_recursion = !o->recursion;
        return true;
    case OPT_HOT_COUNT:
        o->hot_count = cli_number("--hot-count", value, 1, UINT64_MAX);
        return true;
    case OPT_COLD_COUNT:
        o->cold_count = cli_number("--cold-count", value, 1, UINT64_MAX);
        return true;
    case OPT_HOT_SHARE:
        o->hot_share = (uint32_t)cli_number("--hot-share", value, 1, MOST_SHARE);
        return true;
    case OPT_COLD_SHARE:
        o->cold_share = (uint32_t)cli_number("--cold-share", value, 1, MOST_SHARE);
        return true;
    case OPT_PID:
        o->pid = (int32_t)cli_number("--pid", value, 1, INT32_MAX);
        return true;
    }
    return false;
}

/* What the options mean together, and which cannot be together. */
static void settle(struct gen *g, int argc)
{
    g->opts.plain_discriminators = g->output.write.encoding == PGK_SAMPLE_GCC;
    g->opts.first_runs = pgk_sample_write_holds_times(&g->output.write);
    if (g->output.write.encoding == PGK_SAMPLE_GCC && g->opts.mode == PGK_GEN_AUTO)
        g->opts.mode = PGK_GEN_LINES; /* all that gcc takes */
    g->opts.no_recovered_types |= !g->output.write.vtables; /* they would only be left out again */
    g->opts.traces = g->bolt;
    g->opts.threads = g->common.threads;
    g->opts.maps = g->maps;
    if (optind == argc)
        cli_usage(&cmd_gen, "nothing to read: name a recording");
    if (!g->output.path)
        cli_usage(&cmd_gen, "no output: name it with -o");
    if (g->json && !strcmp(g->output.path, "-"))
        cli_usage(&cmd_gen, "--json and -o - both write to standard output");
    if (g->opts.data && (g->bolt || g->raw))
        cli_usage(&cmd_gen, "--data and %s are two kinds of output", g->raw ? "--raw" : "--format");
    if (g->bolt && g->raw)
        cli_usage(&cmd_gen, "--raw and --format %s are two kinds of output", g->bolt->name);
    if (!g->common.binaries.n && g->opts.kernel)
        cli_usage(&cmd_gen, "--kernel takes the kernel that was recorded (-b vmlinux)");
}

static void parse(struct gen *g, int argc, char **argv)
{
    g->opts.struct_size = sizeof g->opts;
    g->min_density = 50;
    for (int c; (c = cli_next_option(&cmd_gen, argc, argv, "o:v", options, &g->common)) != -1;) {
        if ((c == OPT_FORMAT || c == OPT_SAMPLE_TO) && (g->bolt = bolt_output_form(optarg)) != NULL)
            continue;
        (void)sample_file_option(&g->output, &cmd_gen, c == OPT_FORMAT ? OPT_SAMPLE_TO : c, optarg);
        (void)number_option(&g->opts, c, optarg);
        switch (c) {
        case OPT_LIST_SYMBOLS:
            g->opts.symbols = true;
            break;
        case OPT_MAP:
            add_map(g, optarg);
            break;
        case OPT_MODE:
            g->opts.mode = parse_mode(optarg);
            break;
        case OPT_NO_VTABLES: /* nor are they looked for */
            g->opts.no_vtables = true;
            break;
        case OPT_DATA:
            g->opts.data = true;
            break;
        case OPT_JSON:
            g->json = true;
            break;
        case 'v':
            g->verbose = true;
            break;
        case OPT_COMM:
            g->opts.comm = optarg;
            break;
        case OPT_KERNEL:
            g->opts.kernel = true;
            break;
        case OPT_VTABLE_SCALE:
            g->opts.scale_vtables = true;
            break;
        case OPT_NO_RECOVERED:
            g->opts.no_recovered_types = true;
            break;
        case OPT_NO_SCALE:
            g->opts.no_scale = true;
            break;
        case OPT_MIN_DENSITY:
            g->min_density = (double)cli_number("--min-density", optarg, 0, UINT32_MAX);
            break;
        case OPT_EVENT:
            add_event(g, optarg);
            break;
        case OPT_EVENTS:
            for (char *rest = optarg, *name; (name = strsep(&rest, ",")) != NULL;)
                add_event(g, name);
            break;
        case OPT_LEADING_IP:
            g->opts.leading_ip_only = true;
            break;
        case OPT_RAW:
            g->raw = true;
            break;
        case OPT_IGNORE_STACK:
            g->opts.ignore_chains = true;
            break;
        case OPT_NO_PREINLINE:
            g->opts.no_preinliner = true;
            break;
        case OPT_KEEP_COLD:
            g->opts.keep_cold_contexts = true;
            break;
        case OPT_TRIM_COLD:
            g->opts.trim_cold = true;
            break;
        case OPT_CONTEXTS:
            g->opts.keep_contexts = true;
            break;
        case OPT_NO_TAIL_CALLS:
            g->opts.no_missing_frames = true;
            break;
        }
    }
    settle(g, argc);
}

static void report_line(const struct pgk_gen_figure *l, bool verbose)
{
    char text[PGK_HUMAN_SIZE];
    fprintf(stderr, "  %-22s %s", l->text, pgk_human_count(text, l->n));
    if (l->of)
        fprintf(stderr, " (%.1f %%)", 100.0 * (double)l->n / (double)l->of);
    fputc('\n', stderr);
    if (verbose && l->example && *l->example)
        fprintf(stderr, "    the first: %s\n", l->example);
}

/* How many times as long to record; something is missing, so that it is never "1.0 times". */
static const char *times_as_long(double times, char text[static PGK_HUMAN_SIZE])
{
    if (times < 10)
        snprintf(text, PGK_HUMAN_SIZE, "%.1f", times < 1.1 ? 1.1 : times);
    else
        pgk_human_count(text, (uint64_t)(times + 0.5));
    return text;
}

static void report_density(const struct gen *g, const struct pgk_gen_stats *s)
{
    char times[PGK_HUMAN_SIZE], safe[PGK_GEN_EXAMPLE_SIZE];
    fprintf(stderr, "  %-22s %.1f samples a line%s%s\n", "density", s->density,
            *s->density_function ? " in " : "",
            pgk_human_text(safe, sizeof safe, s->density_function));
    if (s->density > 0 && s->density < g->min_density)
        fprintf(stderr,
                "  more samples would help the compiler: record %s times as long, or as often\n",
                times_as_long(g->min_density / s->density, times));
}

static void report_inferred(const struct pgk_gen_stats *s)
{
    fputs("  counts are inferred: without branch stacks, the flow of control that fits the\n"
          "  samples best\n", stderr);
    char times[PGK_HUMAN_SIZE];
    if (s->record_more > 1)
        fprintf(stderr, "  of the functions with 90 %% of the samples, %.0f %% have the %d samples "
                        "that settle\n  their counts: record %s times as long, or as often, to "
                        "settle all of them\n",
                100.0 * (double)s->settled / (double)s->settling, PGK_GEN_SETTLED,
                times_as_long(s->record_more, times));
}

static void report(const struct gen *g, const struct pgk_gen_stats *s)
{
    struct pgk_gen_figure figure = {.struct_size = sizeof figure};
    for (size_t i = 0; pgk_gen_figure_at(s, i, &figure); i++)
        if (figure.n || (!i && !s->functions))
            report_line(&figure, g->verbose);
    if (!g->raw && !g->bolt && !g->opts.data && !s->inferred) /* which has a scale of its own */
        report_density(g, s);
    if (g->verbose && *s->examples[PGK_GEN_NO_SOURCE])
        fprintf(stderr, "  the first code without a source: %s\n", s->examples[PGK_GEN_NO_SOURCE]);
    if (g->verbose && *s->examples[PGK_GEN_NO_VTABLE])
        fprintf(stderr, "  the first load that is not of a vtable: %s\n",
                s->examples[PGK_GEN_NO_VTABLE]);
    if (s->branch_scale > 1)
        fprintf(stderr, "  counts of windows were multiplied by %" PRIu64 "\n", s->branch_scale);
    if (s->vtable_scale > 0)
        fprintf(stderr, "  counts of types were multiplied by %.3g\n", s->vtable_scale);
    if (s->inferred)
        report_inferred(s);
    if (s->no_mapping)
        fputs("  the recording has no mapping of the binary: addresses were used unchanged\n",
              stderr);
}

/* Lines that cannot be read: a few do no harm; of many, the profile lacks what they tell. */
static int check_lines(const struct gen *g, const struct pgk_gen_stats *s)
{
    enum { MOST_OF_A_HUNDRED = 1 };
    bool many = s->unreadable > s->lines * MOST_OF_A_HUNDRED / 100;
    if (s->unreadable && (many || !g->common.quiet))
        fprintf(stderr,
                "pgokit: %" PRIu64 " of %" PRIu64 " lines of text cannot be read%s; the "
                "first is line %" PRIu64 ": %s\n",
                s->unreadable, s->lines,
                many ? ", more than 1 %, and the profile lacks their samples" : "",
                s->unreadable_line, s->unreadable_example);
    return many ? EXIT_INCOMPLETE : EXIT_DONE;
}

/* A profile of the wrong program is worse than none: what was sampled of it is on other lines. */
static int warn_of_misfit(const struct pgk_gen_stats *s)
{
    if (!s->misfit)
        return EXIT_DONE;
    fprintf(stderr,
            "pgokit: warning: the recording does not fit the program: of what was sampled in its "
            "code %.1f %% is at no instruction or at one that does not branch, and %.1f %% of the "
            "code between branches cannot have run; %d %% of either is too much. Give exactly the "
            "files that were recorded; programs linked with -Wl,--build-id are recognised\n",
            s->in_code ? 100.0 * (double)s->unfit / (double)s->in_code : 0,
            s->ranges ? 100.0 * (double)s->ranges_bad / (double)s->ranges : 0,
            PGK_GEN_UNFIT_PERCENT);
    return EXIT_INCOMPLETE;
}

/* A heap profile that has nothing but data, of the first version that can hold them. */
static int write_data(struct pgk_gen *gen, const char *path, struct pgk_err *err)
{
    struct pgk_heap *heap = NULL;
    const struct pgk_indexed_target *target = pgk_indexed_target("llvm22");
    int status = pgk_gen_data_profile(gen, &heap, err);
    if (!status)
        status = pgk_heap_write(heap, path,
                                &(struct pgk_heap_target){.form = PGK_HEAP_INDEXED,
                                                          .version = target->memprof_version,
                                                          .index_version = target->index_version},
                                err);
    pgk_heap_close(&heap);
    return status;
}

/* ---- a profile of each binary ---- */

struct each {
    struct sample_output *output;
    struct pgk_sample **profiles; /* by binary; NULL: it has none */
    bool quiet;
    int exit_code; /* of the worst */
};

static int write_profile(void *ctx, uint32_t binary, const char *path, struct pgk_err *err)
{
    struct each *e = ctx;
    (void)err;
    if (!e->profiles[binary])
        return 0;
    e->output->path = path;
    int written = sample_file_write(e->output, e->profiles[binary], e->quiet);
    e->exit_code = written > e->exit_code ? written : e->exit_code;
    return 0;
}

/* Makes all profiles before the first is written; `errors` are why there is none, by binary. */
static int make_profiles(struct pgk_gen *gen, size_t n, struct each *e, struct pgk_err *errors,
                         struct pgk_err *err)
{
    size_t made = 0, last = n;
    for (uint32_t i = 0; i < n; i++) {
        if (!pgk_gen_counted(gen, i))
            continue;
        last = i;
        int status = pgk_gen_profile_of(gen, i, &e->profiles[i], &errors[i]);
        made += !status;
        if (status && status != PGK_E_EMPTY && status != PGK_E_NODEBUG)
            break;
    }
    if (made)
        return 0;
    if (last == n) /* which says why */
        return pgk_gen_profile(gen, &e->profiles[0], err);
    *err = errors[last];
    return err->status;
}

/* Libraries of which there is nothing to tell, where another binary has a profile. */
static void warn_of_missing(const struct pgk_gen *gen, size_t n, const struct pgk_err *errors,
                            struct each *e)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!errors[i].status)
            continue;
        fprintf(stderr, "pgokit: warning: there is no profile of %s: ", pgk_gen_counted(gen, i));
        pgk_err_print(&errors[i], stderr);
        fputc('\n', stderr);
        e->exit_code = EXIT_INCOMPLETE;
    }
}

static int write_each(struct gen *g, struct pgk_gen *gen, size_t n, int *exit_code,
                      struct pgk_err *err)
{
    const char *folder = g->output.path;
    struct pgk_err *errors = calloc(n + 1, sizeof *errors);
    struct each e = {.output = &g->output,
                     .profiles = calloc(n + 1, sizeof(struct pgk_sample *)),
                     .quiet = g->common.quiet};
    int status = errors && e.profiles
                     ? make_profiles(gen, n, &e, errors, err)
                     : output_fail(err, PGK_E_NOMEM, folder, "no memory", "give fewer binaries");
    if (!status)
        status = output_each(gen, n, folder, ".afdo", write_profile, &e, err);
    if (!status)
        warn_of_missing(gen, n, errors, &e);
    for (size_t i = 0; e.profiles && i < n; i++)
        pgk_sample_close(&e.profiles[i]);
    free(e.profiles);
    free(errors);
    *exit_code = e.exit_code;
    return status;
}

/* ---- the program, where nobody gave it ---- */

/* Says which, because output depends on it. */
static void note_program(const char *recording, const struct pgk_gen_found *found,
                         const struct pgk_binaries *binaries)
{
    char safe[256], libraries[sizeof found->libraries];
    const char *path = pgk_binaries_path(binaries, pgk_binaries_count(binaries) - 1);
    fprintf(stderr, "pgokit: note: the program of %s is %s%s\n", recording,
            pgk_human_text(safe, sizeof safe, path),
            found->by_build_id ? "" : "; its build cannot be checked, as it has no build id");
    if (*found->libraries)
        fprintf(stderr,
                "pgokit: note: other samples of it are in %s; to count them, give the program and "
                "these with -b\n",
                pgk_human_text(libraries, sizeof libraries, found->libraries));
}

static int find_programs(const struct gen *g, struct pgk_binaries *binaries, char **recordings,
                         int n, struct pgk_err *err)
{
    for (int i = 0; i < n; i++) {
        struct pgk_gen_found found = {.struct_size = sizeof found};
        const size_t before = pgk_binaries_count(binaries);
        if (!strcmp(recordings[i], "-"))
            cli_usage(&cmd_gen, "standard input is read once, and cannot be searched for its "
                                "program first: give it with -b");
        int status = pgk_gen_find_program(recordings[i], binaries, &g->opts, &found, err);
        if (status)
            return status;
        if (!g->common.quiet && pgk_binaries_count(binaries) > before)
            note_program(recordings[i], &found, binaries);
    }
    return 0;
}

static int run(int argc, char **argv)
{
    struct gen g = {.output = {.generated = true}};
    struct pgk_err err = {0};
    struct pgk_binaries *binaries = NULL;
    struct pgk_gen *gen = NULL;
    struct pgk_sample *profile = NULL;
    int exit_code = EXIT_DONE;
    parse(&g, argc, argv);
    int status = cli_open_binaries(&g.common, &binaries, &err);
    if (!status && !g.common.binaries.n)
        status = find_programs(&g, binaries, argv + optind, argc - optind, &err);
    if (!status)
        status = pgk_gen_new(&gen, binaries, &g.opts, &err);
    for (int i = optind; !status && i < argc; i++)
        status = pgk_gen_add(gen, argv[i], &err);
    if (!status)
        status = g.bolt        ? bolt_output_write(gen, g.bolt, binaries, g.output.path, &err)
                 : g.opts.data ? write_data(gen, g.output.path, &err)
                 : g.raw       ? pgk_gen_write_counts(gen, g.output.path, &err)
                 : output_is_folder(g.output.path)
                     ? write_each(&g, gen, pgk_binaries_count(binaries), &exit_code, &err)
                     : pgk_gen_profile(gen, &profile, &err);
    int fits = status ? cli_fail(&err) : warn_of_misfit(pgk_gen_stats(gen));
    exit_code = fits > exit_code ? fits : exit_code;
    if (!status && profile) {
        int written = sample_file_write(&g.output, profile, g.common.quiet);
        exit_code = written > exit_code ? written : exit_code;
    }
    if (exit_code != EXIT_FAILED && g.json)
        pgk_gen_print_json(pgk_gen_stats(gen), stdout);
    else if (exit_code != EXIT_FAILED && !g.common.quiet)
        report(&g, pgk_gen_stats(gen));
    if (!status && check_lines(&g, pgk_gen_stats(gen)) > exit_code)
        exit_code = EXIT_INCOMPLETE;
    pgk_sample_close(&profile);
    pgk_gen_close(&gen);
    pgk_binaries_close(&binaries);
    free(g.maps);
    cli_common_free(&g.common);
    return exit_code;
}

const struct cli_verb cmd_gen = {
    .name = "gen",
    .summary = "turns perf recordings into a sample profile",
    .help = help,
    .run = run,
    .options = options,
};
