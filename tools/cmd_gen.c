/* pgokit gen: a sample profile from recordings of perf. */
#include "output_code.h"
#include "output_each.h"
#include "output_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char help[] =
    "usage: pgokit gen INPUT... [-b BINARY]... -o OUTPUT\n\n"
    "Makes a sample profile for -fprofile-sample-use= from perf.data, from text of\n"
    "perf script and perf report -D, or from recordings of pgokit record branches.\n"
    "Branch stacks (perf record -b) give counts of lines and call targets, samples of\n"
    "loads give types of objects at virtual calls. Without branch stacks, counts are\n"
    "inferred from where the program was interrupted. Without -b the program is found\n"
    "where it was, or by its build id.\n\n";

static const char examples[] =
    "  perf record -e cpu-clock:u -F 5000 -- ./app; pgokit gen perf.data -o app.afdo\n"
    "  perf record -b -e branches:u -- ./app; pgokit gen perf.data -o app.afdo\n"
    "  pgokit record branches -o app.counts -- ./app\n"
    "  pgokit gen app.counts -b ./app -o app.afdo\n"
    "  pgokit gen perf.data -b ./app -b ./lib.so --format bolt -o counts/\n";

/* Of shares: the last row of a summary; of frames: as many as readers take. */
enum { MOST_EVENTS = 64, MOST_LABELS = 16, MOST_SHARE = 999999, MOST_FRAMES = 1000 };

struct gen {
    struct cli_common common;
    struct sample_output output;
    bool json, raw, verbose, no_next, llvm_density, llvm_warnings;
    const struct code_output_form *code; /* NULL: a sample profile */
    const char *symbols; /* of forms with a second file: its path */
    const char *report_to; /* NULL: the terminal alone */
    double min_density;
    const char *events[MOST_EVENTS];
    struct pgk_gen_map *maps;
    struct pgk_gen_label labels[MOST_LABELS];
    struct pgk_gen_opts opts;
};

/* RECORDED=FILE; the argument is cut in two. */
static void add_map(const struct option_given *given)
{
    struct gen *g = given->into;
    char *text = optarg, *equals = strchr(text, '=');
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

static const struct option_choice modes[] = {
    {"auto", PGK_GEN_AUTO}, {"autofdo", PGK_GEN_LINES}, {"probe", PGK_GEN_PROBES},
    {"cs", PGK_GEN_CONTEXTS}, {"cs-autofdo", PGK_GEN_CONTEXT_LINES}, {0}};

static const struct option_choice raw_bases[] = {
    {"executable", PGK_GEN_RAW_EXECUTABLE}, {"loadable", PGK_GEN_RAW_LOADABLE},
    {"none", PGK_GEN_RAW_NONE}, {0}};

static void add_event_named(struct gen *g, const char *name)
{
    if (g->opts.n_events == MOST_EVENTS)
        cli_usage(&cmd_gen, "--perf-event takes at most %d events", MOST_EVENTS);
    g->events[g->opts.n_events++] = name;
    g->opts.events = g->events;
}

/* KEY=VALUE; the argument is cut in two. */
static void add_label(const struct option_given *given)
{
    struct gen *g = given->into;
    char *text = optarg, *equals = strchr(text, '=');
    if (!equals || equals == text)
        cli_usage(&cmd_gen, "--label takes KEY=VALUE, not '%s'", text);
    if (g->opts.n_labels == MOST_LABELS)
        cli_usage(&cmd_gen, "--label takes at most %d labels", MOST_LABELS);
    *equals = '\0';
    g->labels[g->opts.n_labels++] = (struct pgk_gen_label){text, equals + 1};
    g->opts.labels = g->labels;
}

/* Nanoseconds after 1970. */
static uint64_t time_of(const char *option, const char *text)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S",
                                        "%Y-%m-%dT%H:%M", "%Y-%m-%d", "%s"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (!end || *end)
            continue;
        const long long seconds = strcmp(forms[i], "%s") ? timegm(&tm) : strtoll(text, NULL, 10);
        if (seconds > 0 && seconds < INT64_MAX / 1000000000)
            return (uint64_t)seconds * 1000000000;
    }
    cli_usage(&cmd_gen, "%s takes a time such as 2026-11-27T16:00, not '%s'", option, text);
}

static void take_since(const struct option_given *given)
{
    ((struct gen *)given->into)->opts.since_ns = time_of("--since", given->value);
}

static void take_until(const struct option_given *given)
{
    ((struct gen *)given->into)->opts.until_ns = time_of("--until", given->value);
}

static void add_event(const struct option_given *given)
{
    add_event_named(given->into, given->value);
}

static void add_events(const struct option_given *given)
{
    for (char *rest = optarg, *name; (name = strsep(&rest, ",")) != NULL;)
        add_event_named(given->into, name);
}

/* A profile, or what code_output_form() knows. */
static void take_to(const struct option_given *given)
{
    struct gen *g = given->into;
    struct option_given of_profile = *given;
    of_profile.into = &g->output;
    g->code = code_output_form(given->value);
    if (!g->code)
        sample_output_to(&of_profile);
}

/* What it takes; --to names profiles alone. */
static const char *to_word(size_t i)
{
    size_t before = 0;
    while (before < i && sample_output_word(before))
        before++;
    const char *word = sample_output_word(before);
    return word ? word : code_output_word(i - before);
}

/* Nor are they looked for. */
static void leave_out_vtables(const struct option_given *given)
{
    struct gen *g = given->into;
    g->output.drop_vtables = g->opts.no_vtables = true;
}

static void take_recursion(const struct option_given *given)
{
    struct pgk_gen_opts *o = given->into;
    o->recursion = (unsigned)cli_number("--recursion", given->value, 0, MOST_FRAMES);
    o->keep_recursion = !o->recursion;
}

static const struct option_row output_rows[] = {
    {"output", 'o', "FILE",
     "the profile to write; - for standard output; DIR/: of each binary that was sampled",
     OPTION_TEXT(struct gen, output.path), .is_output = true,
     .page = "with a folder, the files are `DIR/NAME.afdo`; a library without debug information, "
             "or without samples in functions, is named in a warning (exit status 1)"},
    {"to", 0, "NAME",
     "extbinary (default), text, binary, llvm14 to llvm24 (extbinary with what it reads), or "
     "for -fauto-profile of gcc gcc11 (for 5 to 11) to gcc16 "
     "(gcc: gcc15)", OPTION_CALL(take_to), OPTION_WORDS(sample_output_word),
     .page = "for gcc, the profile is by lines, unless another `--mode` is given, and "
             "discriminators are plain numbers"},
    {"format", 0, "NAME",
     "the same as --to; bolt, counts of branches for llvm-bolt -data, or preaggregated, for "
     "perf2bolt -pa; order, functions in an order for ld.lld, order-gold or order-ld, for GNU ld, "
     "or the calls, order-calls; "
     "propeller, blocks in an order for clang, and functions for ld.lld; "
     "call stacks: pprof, also for go build -pgo, otlp, folded or speedscope",
     OPTION_CALL(take_to), OPTION_WORDS(to_word),
     .page = "see [For BOLT](#for-bolt), [For linkers](#for-linkers) and [Call stacks, and "
             "Go](#call-stacks-and-go)"},
    {"symbol-order", 0, "FILE",
     "with --format propeller: where the order of functions goes (OUTPUT.order)",
     OPTION_TEXT(struct gen, symbols), .is_output = true},
    {"no-vtables", 0, NULL, "leave types of objects out without a warning",
     OPTION_CALL(leave_out_vtables)},
    {"symbols", 0, NULL,
     "list all functions of the programs in the profile, so that compilers take those without "
     "samples for cold", OPTION_FLAG(struct gen, opts.symbols)},
    {"raw", 0, NULL, "unsymbolised address counts, which gen reads later",
     OPTION_FLAG(struct gen, raw),
     .page = "llvm-profgen reads them as unsymbolised profiles. Debug information is needed for "
             "the names of calling contexts only"},
    {"raw-base", 0, "WHERE",
     "addresses of such counts begin at the first executable segment, the first loadable one, or "
     "at none: they are those of the file", OPTION_CHOICE(struct gen, opts.raw_base, raw_bases),
     .page = "both where they are written and where they are read; `executable` is the default"},
    {"any-ranges", 0, NULL,
     "count such ranges as they are, even if control cannot have run through them",
     OPTION_FLAG(struct gen, opts.any_ranges),
     .page = "also those that begin or end within an instruction. Otherwise they are left out, and "
             "counts of another build are refused"},
    {"all-functions", 0, NULL, "by lines: functions without samples, too, with 0 on each line",
     OPTION_FLAG(struct gen, opts.all_functions)},
    {"sum-totals", 0, NULL, "totals of functions are the sums of their lines",
     OPTION_FLAG(struct gen, opts.sum_totals),
     .page = "otherwise they are what was sampled in them, weighed by the length of instructions"},
    {"mark-inlined", 0, NULL, "mark all functions and inlinees as worth inlining",
     OPTION_FLAG(struct gen, opts.mark_inlined)},
    {"data", 0, NULL,
     "from samples of loads: which static data are hot and cold, for -fmemory-profile-use= of "
     "clang 22 and later", OPTION_FLAG(struct gen, opts.data),
     .page = "see [Static data](#static-data)"},
    {0},
};
static const struct option_table output_table = {"gen output", NULL, output_rows};

static const struct option_row input_rows[] = {
    {"mode", 0, "NAME",
     "autofdo: by source lines; probe: by pseudo probes; cs: with calling contexts, by probes or "
     "else by lines; cs-autofdo: by lines; auto (default): what the recording and the program "
     "allow", OPTION_CHOICE(struct gen, opts.mode, modes),
     .page = "`auto` makes contexts if samples have call chains"},
    {"no-probes", 0, NULL, "with --mode auto: by source lines, whatever probes the program has",
     OPTION_FLAG(struct gen, opts.no_probes)},
    {"skip-frameless", 0, NULL,
     "leave out samples where a frame is being set up with --ignore-stack, too",
     OPTION_FLAG(struct gen, opts.skip_frameless),
     .page = "as llvm-profgen does. Their call chain lacks a caller, but their branches are sound"},
    {"ignore-stack", 0, NULL, "call chains do not make it context-sensitive",
     OPTION_FLAG(struct gen, opts.ignore_chains),
     .page = "without branch stacks, targets of indirect calls are then inferred from tables of "
             "virtual functions only"},
    {"pid", 0, "N", "only samples of this process",
     OPTION_NUMBER(struct gen, opts.pid, 1, INT32_MAX)},
    {"comm", 0, "NAME", "only samples of processes of this name",
     OPTION_TEXT(struct gen, opts.comm),
     .page = "text without names of processes is counted whole"},
    {"perf-event", 0, "NAME", "only samples of this event, as perf names it; repeatable",
     OPTION_CALL(add_event), .page = "`perf script -F event` prints the names"},
    {"perf-events", 0, "LIST", "the same, with commas", OPTION_CALL(add_events)},
    {"label", 0, "KEY=VALUE",
     "of CPU profiles of other profilers: only samples with this label; repeatable",
     OPTION_CALL(add_label),
     .page = "as `service.name=checkout`; labels of pprof, attributes of OTLP"},
    {"since", 0, "TIME", "of these: only samples from this time on", OPTION_CALL(take_since),
     .page = "`2026-11-27`, `2026-11-27T16:00` or seconds after 1970; all in UTC"},
    {"until", 0, "TIME", "of these: only samples before this time", OPTION_CALL(take_until)},
    {"build-id", 0, "HEX", "without -b: the program with this build id",
     OPTION_TEXT(struct gen, opts.build_id),
     .page = "otherwise the one with most samples"},
    {"leading-ip-only", 0, NULL, "count where samples were taken, as of mispredicted branches",
     OPTION_FLAG(struct gen, opts.leading_ip_only)},
    {"map", 0, "RECORDED=FILE",
     "FILE, which is used as with -b, was recorded as RECORDED: a path or its last part; may be "
     "repeated", OPTION_CALL(add_map),
     .page = "this is for programs that were renamed or recorded in a container. The kernel's "
             "suffix ` (deleted)` needs no option"},
    {"kernel", 0, NULL, "the first binary is the kernel (vmlinux); samples of it count",
     OPTION_FLAG(struct gen, opts.kernel)},
    {"no-recovered-types", 0, NULL,
     "leave out types that code compares where calls were promoted",
     OPTION_FLAG(struct gen, opts.no_recovered_types),
     .page = "see [Types of objects](#types-of-objects)"},
    {"no-scale", 0, NULL, "of record branches: counts as its windows saw them",
     OPTION_FLAG(struct gen, opts.no_scale),
     .page = "otherwise they stand for [all that ran]"
             "(../formats/profile-generation.md#12-counts-of-windows)"},
    {"vtable-scale", 0, NULL, "give counts of types the scale of those of branches",
     OPTION_FLAG(struct gen, opts.scale_vtables), .page = "both need sampling periods"},
    {"min-density", 0, "N", "samples a line below which the report asks for more (50)",
     OPTION_NUMBER(struct gen, min_density, 0, UINT32_MAX)},
    {"density-share", 0, "N",
     "millionths of all samples whose functions the density is of (990000)",
     OPTION_NUMBER(struct gen, opts.density_share, 1, 1000000)},
    {"llvm-density", 0, NULL, "report the density in llvm-profgen's words, too",
     OPTION_FLAG(struct gen, llvm_density)},
    {"verbose", 'v', NULL, "name the first of each kind of samples that were left out",
     OPTION_FLAG(struct gen, verbose)},
    {"llvm-warnings", 0, NULL, "and say what llvm-profgen would warn of in its words, too",
     OPTION_FLAG(struct gen, llvm_warnings)},
    {"no-next", 0, NULL, "do not say how compilers take the profile",
     OPTION_FLAG(struct gen, no_next)},
    {"skip-other-builds", 0, NULL,
     "leave out recordings of other builds of the program, and report how many",
     OPTION_FLAG(struct gen, opts.skip_other_builds)},
    {"report", 0, "FILE", "write the report as JSON to FILE, too",
     OPTION_TEXT(struct gen, report_to), .is_output = true},
    {"json", 0, NULL, "the report as JSON on standard output", OPTION_FLAG(struct gen, json),
     .page = "it has counts by name, and examples"},
    {0},
};
static const struct option_table input_table = {"gen", NULL, input_rows};

static const struct option_row hot_rows[] = {
    {"trim-cold", 0, NULL, "leave out contexts that are not hot, or functions that are cold",
     OPTION_FLAG(struct gen, opts.trim_cold),
     .page = "such functions are colder than any line that is not cold"},
    {"hot-count", 0, "N", "samples from which a line is hot",
     OPTION_NUMBER(struct gen, opts.hot_count, 0, UINT64_MAX),
     OPTION_GIVEN(struct gen, opts.hot_count_given)},
    {"cold-count", 0, "N", "samples up to which a line is cold",
     OPTION_NUMBER(struct gen, opts.cold_count, 0, UINT64_MAX),
     OPTION_GIVEN(struct gen, opts.cold_count_given),
     .page = "the pre-inliner keeps no colder call"},
    {"hot-share", 0, "N",
     "else: millionths of all samples that the hottest lines have, the last being just hot "
     "(990000)", OPTION_NUMBER(struct gen, opts.hot_share, 1, MOST_SHARE),
     .page = "it is rounded up to 10000, 100000, 200000 to 900000, 950000, 990000, 999000, 999900, "
             "999990 or 999999"},
    {"cold-share", 0, "N", "the same, the last being cold (999999)",
     OPTION_NUMBER(struct gen, opts.cold_share, 1, MOST_SHARE)},
    {0},
};
static const struct option_table hot_table = {"gen hot", "What is hot and cold", hot_rows};

static const struct option_row context_rows[] = {
    {"no-preinline", 0, NULL, "keep contexts that are not worth inlining",
     OPTION_FLAG(struct gen, opts.no_preinliner)},
    {"keep-cold", 0, NULL, "without the pre-inliner, do not merge cold contexts",
     OPTION_FLAG(struct gen, opts.keep_cold_contexts)},
    {"cold-depth", 0, "N", "frames that merged cold contexts keep (1)",
     OPTION_NUMBER(struct gen, opts.cold_depth, 1, MOST_FRAMES),
     .page = "contexts are merged with `--no-preinline` only"},
    {"context-depth", 0, "N", "frames that contexts keep (all)",
     OPTION_NUMBER(struct gen, opts.context_depth, 1, MOST_FRAMES),
     .page = "these are the innermost ones; 1 is the function alone"},
    {"stack-depth", 0, "N", "functions of a call stack that contexts keep; for probes (all)",
     OPTION_NUMBER(struct gen, opts.stack_depth, 1, MOST_FRAMES),
     .page = "these are the innermost ones, each with what is inlined into it"},
    {"recursion", 0, "N",
     "calls of the longest repetition that becomes one round; 0: none (any)",
     OPTION_CALL_FOR(struct gen, opts, take_recursion)},
    {"inline-hot-size", 0, "N", "bytes up to which the hottest calls are worth inlining (1500)",
     OPTION_NUMBER(struct gen, opts.inline_hot_size, 1, INT32_MAX)},
    {"inline-cold-size", 0, "N", "bytes up to which cold calls are (0)",
     OPTION_NUMBER(struct gen, opts.inline_cold_size, 0, INT32_MAX)},
    {"contexts", 0, NULL, "keep contexts, do not turn them into inlinees",
     OPTION_FLAG(struct gen, opts.keep_contexts)},
    {"no-tail-calls", 0, NULL, "do not look for callers that tail calls hide",
     OPTION_FLAG(struct gen, opts.no_missing_frames)},
    {0},
};
static const struct option_table context_table = {
    "gen contexts", "For profiles with calling contexts", context_rows};

static const struct option_group groups[] = {
    {&output_table, 0, 0},
    OPTION_GROUP(sample_file_options, struct gen, output),
    {&input_table, 0, 0},
    {&hot_table, 0, 0},
    {&context_table, 0, 0},
    CLI_COMMON(struct gen),
    {0},
};

/* What the options mean together, and which cannot be together. */
static void settle(struct gen *g, int argc)
{
    g->opts.plain_discriminators = g->output.write.encoding == PGK_SAMPLE_GCC;
    g->opts.first_runs = pgk_sample_write_holds_times(&g->output.write);
    if (g->output.write.encoding == PGK_SAMPLE_GCC && g->opts.mode == PGK_GEN_AUTO)
        g->opts.mode = PGK_GEN_LINES; /* all that gcc takes */
    g->opts.no_recovered_types |= !g->output.write.vtables; /* they would only be left out again */
    if (g->code)
        code_output_needs(g->code, &g->opts);
    g->opts.threads = g->common.threads;
    g->opts.maps = g->maps;
    if (optind == argc)
        cli_usage(&cmd_gen, "nothing to read: name a recording");
    if (!g->output.path)
        cli_usage(&cmd_gen, "no output: name it with -o");
    if (g->json && !strcmp(g->output.path, "-"))
        cli_usage(&cmd_gen, "--json and -o - both write to standard output");
    if (g->opts.data && (g->code || g->raw))
        cli_usage(&cmd_gen, "--data and %s are two kinds of output", g->raw ? "--raw" : "--format");
    if (g->symbols && (!g->code || !g->code->next_symbols))
        cli_usage(&cmd_gen, "--symbol-order is of --format propeller");
    if (g->symbols && output_is_folder(g->output.path))
        cli_usage(&cmd_gen, "--symbol-order is one file, and a folder has one for each binary");
    if (g->code && g->raw)
        cli_usage(&cmd_gen, "--raw and --format %s are two kinds of output", g->code->name);
    if (g->common.binaries.n && g->opts.build_id)
        cli_usage(&cmd_gen, "--build-id chooses a program where none is given with -b");
    if (!g->common.binaries.n && g->opts.kernel)
        cli_usage(&cmd_gen, "--kernel takes the kernel that was recorded (-b vmlinux)");
}

static void parse(struct gen *g, int argc, char **argv)
{
    g->opts.struct_size = sizeof g->opts;
    g->min_density = 50;
    option_parse(&cmd_gen, groups, argc, argv, g);
    settle(g, argc);
    if (!g->common.quiet)
        cli_show_progress(&cmd_gen);
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
            pgk_human_function(safe, sizeof safe, s->density_function));
    if (g->llvm_density && s->density > 0 && s->density < g->min_density)
        fprintf(stderr,
                "Sample PGO is estimated to optimize better with %.1fx more samples. Please "
                "consider increasing sampling rate or profiling for longer duration to get more "
                "samples.\n",
                g->min_density / s->density);
    if (g->llvm_density)
        fprintf(stderr, "Functions with density >= %.1f account for %.2f%% total sample counts.\n",
                s->density, (g->opts.density_share ? g->opts.density_share : 990000) / 10000.0);
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

/* The example begins with the address. */
static void warn_as_llvm(const struct pgk_gen_stats *s)
{
    const char *cut = s->examples[PGK_GEN_STACK_CUT];
    if (*cut)
        fprintf(stderr, "warning: Truncated stack sample due to invalid return address at %.*s, "
                "likely caused by frame pointer omission\n", (int)strcspn(cut, " "), cut);
}

static void report(const struct gen *g, const struct pgk_gen_stats *s)
{
    struct pgk_gen_figure figure = {.struct_size = sizeof figure};
    for (size_t i = 0; pgk_gen_figure_at(s, i, &figure); i++)
        if (figure.n || (!i && !s->functions))
            report_line(&figure, g->verbose);
    if (!g->raw && !g->code && !g->opts.data && !s->inferred) /* which has a scale of its own */
        report_density(g, s);
    if (g->verbose && *s->examples[PGK_GEN_NO_SOURCE])
        fprintf(stderr, "  the first code without a source: %s\n", s->examples[PGK_GEN_NO_SOURCE]);
    if (g->verbose && *s->examples[PGK_GEN_NO_VTABLE])
        fprintf(stderr, "  the first load that is not of a vtable: %s\n",
                s->examples[PGK_GEN_NO_VTABLE]);
    if (g->llvm_warnings)
        warn_as_llvm(s);
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

static void report_use(const struct gen *g, const char *options)
{
    char safe[PATH_MAX];
    if (strcmp(g->output.path, "-") != 0 && !g->no_next)
        fprintf(stderr, "next: %s%s ...\n", options,
                pgk_human_text(safe, sizeof safe, g->output.path));
}

/* How compilers take it. */
static void report_next(const struct gen *g, const struct pgk_sample *profile)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(profile, &info);
    report_use(g,
               g->output.write.encoding == PGK_SAMPLE_GCC ? "gcc -O2 -g -fauto-profile="
               : info.probes ? "clang -O2 -fpseudo-probe-for-profiling -fprofile-sample-use="
                             : "clang -O2 -gline-tables-only -fdebug-info-for-profiling "
                               "-fprofile-sample-use=");
}

/* How compilers and linkers take the files. */
static void report_code(const struct gen *g, const struct code_output *code)
{
    char symbols[PATH_MAX] = "", safe[PATH_MAX], options[2 * PATH_MAX];
    if (code->form->next_symbols)
        code_output_symbols(symbols, code, g->output.path);
    snprintf(options, sizeof options, "%s%s%s", *symbols ? code->form->next_symbols : "",
             pgk_human_text(safe, sizeof safe, symbols), code->form->next);
    report_use(g, options);
}

static bool write_report(const char *path, const struct pgk_gen_stats *s)
{
    struct cli_report report;
    if (cli_report_open(&report, path)) {
        pgk_gen_print_json(s, report.out);
        if (cli_report_close(&report))
            return true;
    }
    fprintf(stderr, "pgokit: cannot write the report to %s: %s\n", path, strerror(errno));
    return false;
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
    const char *check =
        found->by_build_id ? "" : "; its build cannot be checked, as it has no build id";
    pgk_human_text(safe, sizeof safe, path);
    if (found->most_percent > 0)
        fprintf(stderr,
                "pgokit: note: the counts of %s are of %s, which has %.1f %%, as its program has "
                "less than a tenth; choose another with -b%s\n",
                recording, safe, found->most_percent, check);
    else
        fprintf(stderr, "pgokit: note: the program of %s is %s%s\n", recording, safe, check);
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

static bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
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
    struct code_output code = {NULL, g.code, g.symbols};
    int status = cli_open_binaries(&g.common, &binaries, &err);
    if (!status && !g.common.binaries.n)
        status = find_programs(&g, binaries, argv + optind, argc - optind, &err);
    if (!status)
        status = pgk_gen_new(&gen, binaries, &g.opts, &err);
    code.gen = gen;
    for (int i = optind; !status && i < argc; i++)
        status = is_folder(argv[i]) ? pgk_gen_add_folder(gen, argv[i], &err)
                                    : pgk_gen_add(gen, argv[i], &err);
    if (!status)
        status = g.code        ? code_output_write(&code, binaries, g.output.path, &err)
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
    if (exit_code != EXIT_FAILED && g.report_to && !write_report(g.report_to, pgk_gen_stats(gen)))
        exit_code = EXIT_FAILED;
    if (!status && profile && !g.json && !g.common.quiet)
        report_next(&g, profile);
    if (!status && g.code && g.code->next && !g.json && !g.common.quiet &&
        !output_is_folder(g.output.path))
        report_code(&g, &code);
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
    .exit_help = "0 done, 1 done but parts were left out, or the recording does not fit or is "
                 "unreadable in part, 2 failed",
    .summary = "turns recordings of perf or record branches into a sample profile",
    .help = help,
    .run = run,
    .groups = groups,
    .examples = examples,
};
