/* pgokit pgo: the whole way to a faster program in one command. Builds, records, makes the profile,
 * builds again with it, and measures both. */
#include "pgo_committed.h"
#include "pgo_layers.h"
#include "pgo_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_BELOW = 3, MOST_TURNS = 10000 };

#define DEFAULT_NAME "pgo.afdo"

#define say(p, ...) pgo_say((p)->common.quiet, __VA_ARGS__)

static const char help[] =
    "usage: pgokit pgo --run COMMAND [OPTION]...\n"
    "       pgokit pgo --record -o PROFILE --run COMMAND [OPTION]...\n"
    "       pgokit pgo --use PROFILE [OPTION]...\n\n"
    "Makes a program faster: builds it, records where it spends its time, makes a\n"
    "profile, builds again with the profile, and keeps that build if it is surely\n"
    "faster. --record writes a profile to keep with the source; --use builds with it\n"
    "anywhere, without a run. The commands are run by the shell in the current\n"
    "folder. It is built as its files say: Cargo.toml, meson.build, CMakeLists.txt,\n"
    "configure, Makefile, debian/rules and others. Compilers get their flags from\n"
    "links with their names in front of PATH, so the tree keeps its own flags.\n\n";

static const char examples[] =
    "  pgokit pgo --run './bench.sh'\n"
    "  pgokit pgo --gcc --run './pgo-build/app train.txt' \\\n"
    "      --measure './pgo-build/app other.txt'\n"
    "  pgokit pgo --clean 'make clean' --build 'make app' --run './app train.txt'\n"
    "  pgokit pgo --run './server' --for 60s --measure './client'\n"
    "  pgokit pgo --record -o pgo/app.afdo --run './bench.sh'\n"
    "  pgokit pgo --use pgo/app.afdo\n";

struct pgo {
    struct cli_common common;
    const char *build, *clean, *run, *measure, *cc, *output;
    const struct pgo_project *project; /* NULL: of no known build system */
    unsigned long frequency, runs; /* runs 0: by their time */
    double for_s;                          /* of a service; 0: the command ends by itself */
    bool verbose, align, removes; /* `clean` is the project's own */
    struct pgo_limits limits;
    const char *json, *summary; /* NULL: not asked for */
    struct pgo_page page;
    unsigned recorded;          /* runs */
    struct pgo_figures figures;
    struct pgo_builder *how;
    struct timespec began;
    struct pgo_committed committed;
    struct pgo_compiler compiler;
    struct pgo_files files;
    struct record_files recordings;
    char profile[PATH_MAX]; /* absolute */
    char log[PATH_MAX];
};

/* --clang and --gcc. */
static void take_name(const struct option_given *given)
{
    *(const char **)given->into = given->row->name;
}

/* "60", "60s", "2m" or "1h". */
static void take_time(const struct option_given *given)
{
    char *end;
    double n = strtod(given->value, &end);
    const double unit = !*end || !strcmp(end, "s") ? 1 : !strcmp(end, "m") ? 60
                        : !strcmp(end, "h")        ? 3600 : 0;
    if (end == given->value || !(n * unit >= 0.1 && n * unit < 1e6))
        cli_usage(&cmd_pgo, "--for takes a time, as 60s or 5m, not '%s'", given->value);
    *(double *)given->into = n * unit;
}

static void take_status(const struct option_given *given)
{
    char *end = NULL;
    for (const char *at = given->value; at; at = *end ? end + 1 : NULL) {
        unsigned long n = strtoul(at, &end, 10);
        if (end == at || (*end && *end != ',') || n > 255)
            cli_usage(&cmd_pgo, "--expect-exit takes exit statuses, as 10 or 10,20, not '%s'",
                      given->value);
        pgo_expect_exit(n);
    }
}

static const struct option_row rows[] = {
    {"build", 0, "COMMAND", "builds the program (default: by the files in the current folder)",
     OPTION_TEXT(struct pgo, build)},
    {"clean", 0, "COMMAND", "run before each build, so that all is built anew",
     OPTION_TEXT(struct pgo, clean),
     .page = "without it, objects and programs of the first build are removed if the second one "
             "does not make them again"},
    {"run", 0, "COMMAND", "runs the program as it is used; this is recorded",
     OPTION_TEXT(struct pgo, run), .page = "the standard input of all commands is empty"},
    {"for", 0, "TIME", "the command of --run is a service: it is ended after this time, as 60s",
     OPTION_CALL_FOR(struct pgo, for_s, take_time),
     .page = "with --measure, the service runs while that command uses it, and the processor time "
             "of the service is measured"},
    {"expect-exit", 0, "N", "the commands of --run and --measure may also end with status N, or "
     "one of N,M", OPTION_CALL(take_status)},
    {"measure", 0, "COMMAND",
     "what is measured (default: the command of --run); better other input than the recorded one",
     OPTION_TEXT(struct pgo, measure)},
    {"cc", 0, "CC", "the compiler (default: $CC, else clang, else gcc)",
     OPTION_TEXT(struct pgo, cc), OPTION_WORDS(cli_compiler)},
    {"clang", 0, NULL, "the same as --cc clang", OPTION_CALL_FOR(struct pgo, cc, take_name)},
    {"gcc", 0, NULL, "the same as --cc gcc", OPTION_CALL_FOR(struct pgo, cc, take_name)},
    {"output", 'o', "FILE", "the profile (default: " DEFAULT_NAME ")",
     OPTION_TEXT(struct pgo, output), .is_output = true},
    {"binary", 'b', "FILE",
     "a program or library that the build makes; may be repeated (default: all that it made below "
     "the current folder)", OPTION_LIST(struct pgo, common.binaries)},
    {"frequency", 'F', "HZ",
     "windows for each second of processor time, where the machine has no branch records (default: "
     "250)", OPTION_NUMBER(struct pgo, frequency, 1, 10000),
     .page = "the range is 1 to 10000, but the ticks of the kernel's clock are the limit"},
    {"runs", 0, "N",
     "record N runs (default: as many as take 5 s of processor time, but 30 s at most)",
     OPTION_NUMBER(struct pgo, runs, 1, 10000)},
    {"rounds", 'n', "N",
     "measure so many turns at most, 0: not at all (default: until the difference is sure)",
     OPTION_NUMBER(struct pgo, limits.rounds, 0, MOST_TURNS)},
    {"max-time", 0, "SECONDS", "measure for so long at most (default: 60, or what six turns take)",
     OPTION_NUMBER(struct pgo, limits.seconds, 1, 1000000)},
    {"min-gain", 0, "PERCENT",
     "keep the build with the profile only if it is so much faster; else exit status 3",
     OPTION_PERCENT(struct pgo, limits.min_gain, 0, 1000000),
     OPTION_GIVEN(struct pgo, limits.has_min_gain)},
    {"max-growth", 0, "PERCENT",
     "keep it only if its code is at most so much larger; else exit status 3 (default: 2 % or 4 "
     "KiB)",
     OPTION_PERCENT(struct pgo, limits.max_growth, 0, 1000000),
     OPTION_GIVEN(struct pgo, limits.has_max_growth)},
    {"align", 0, NULL,
     "let functions begin at cache lines in both builds, so that luck of placement is not measured",
     OPTION_FLAG(struct pgo, align)},
    {"layers", 0, NULL,
     "also try small cold code, LTO, aligned functions, hints for the allocator, the order of "
     "functions and llvm-bolt, one on top of the other, and keep what surely gains",
     OPTION_FLAG(struct pgo, limits.layers)},
    {"json", 0, "FILE", "write the result as JSON, with all turns; - is standard output",
     OPTION_TEXT(struct pgo, json), .is_output = true},
    {"summary", 0, "FILE", "write the result as a table in Markdown; - is standard output",
     OPTION_TEXT(struct pgo, summary), .is_output = true},
    {"page", 0, "FILE",
     "write a page to look at: what became faster and why, function by function",
     OPTION_TEXT(struct pgo, page.path), .is_output = true,
     .page = "the build that is kept is recorded for it. See [The page](pgokit-pgo.md#the-page)"},
    {"verbose", 'v', NULL, "show what the commands print, instead of writing it to OUTPUT.log",
     OPTION_FLAG(struct pgo, verbose)},
    {0},
};
static const struct option_table table = {"pgo", NULL, rows};
static const struct option_group groups[] = {
    {&table, 0, 0},
    OPTION_GROUP(pgo_committed_options, struct pgo, committed),
    CLI_COMMON(struct pgo),
    {0},
};

static void find_project(struct pgo *p)
{
    p->project = pgo_find_project(p->build);
    if (p->build)
        return;
    if (!p->project)
        pgo_stop("there is no Cargo.toml, meson.build, CMakeLists.txt, configure, Makefile or "
                 "debian/rules here. Give --build, how the program is built");
    p->build = p->project->build;
    p->removes = !p->clean;
    if (p->removes)
        p->clean = p->project->clean;
}

static bool is_stdout(const char *path)
{
    return path && !strcmp(path, "-");
}

/* An option that is about what is measured; NULL: none was given. */
static const char *asked_of_result(const struct pgo *p)
{
    return p->limits.has_min_gain     ? "min-gain"
           : p->limits.has_max_growth ? "max-growth"
           : p->limits.layers         ? "layers"
           : p->json                  ? "json"
           : p->summary               ? "summary"
           : p->page.path             ? "page"
                                      : NULL;
}

/* What a service does in a given time says nothing; what a client costs it does. */
static void choose_service(struct pgo *p)
{
    if (p->measure) {
        pgo_measure_service(p->run);
        return;
    }
    if (asked_of_result(p))
        cli_usage(&cmd_pgo, "to measure a service takes --measure, a command that uses it");
    p->limits.rounds = 0;
    if (!p->committed.record)
        say(p, "a service is not measured without --measure, a command that uses it");
}

static void parse(struct pgo *p, int argc, char **argv)
{
    option_parse(&cmd_pgo, groups, argc, argv, p);
    if (optind != argc)
        cli_usage(&cmd_pgo, "pgo takes no file; commands of several words are quoted");
    pgo_committed_check(&p->committed, p->run, p->output,
                        p->measure ? "measure" : asked_of_result(p));
    if (!p->run && !p->committed.use.n)
        cli_usage(&cmd_pgo, "pgo needs --run, how the program is used");
    if (!p->output && !p->committed.use.n)
        p->output = DEFAULT_NAME;
    if (!p->committed.flags)
        find_project(p);
    if (!p->limits.rounds && asked_of_result(p))
        cli_usage(&cmd_pgo, "--%s needs turns that are measured, not --rounds 0",
                  asked_of_result(p));
    if (is_stdout(p->json) + is_stdout(p->summary) + is_stdout(p->page.path) > 1)
        cli_usage(&cmd_pgo, "only one of --json, --summary and --page can write to standard "
                            "output");
    if (p->for_s > 0)
        choose_service(p);
    else if (!p->measure)
        p->measure = p->run;
}

static void make_profile(struct pgo *p)
{
    char to[PGO_FORM], figures[PATH_MAX + 16];
    snprintf(figures, sizeof figures, "%s/report.json", p->how->scratch);
    pgo_form_of(&p->compiler, to);
    const struct pgo_generated made = {
        .recordings = &p->recordings,
        .files = &p->files,
        .form = !p->compiler.clang && !p->committed.record ? to : NULL,
        .output = p->profile,
        .figures = figures,
        .quiet = p->common.quiet};
    if (!pgo_generate(&made))
        pgo_stop("no profile could be made; above is why. If it is for want of debug information "
                 "or symbols: does the build strip its programs? Does it use $CC and $CFLAGS, or a "
                 "compiler that PATH has?");
    pgo_read_figures(&p->figures, figures);
}

static void open_log(struct pgo *p)
{
    const bool kept = p->committed.record || p->committed.use.n; /* where no log belongs */
    const char *of = kept ? DEFAULT_NAME : p->output;
    if ((size_t)snprintf(p->log, sizeof p->log, "%s.log", of) >= sizeof p->log)
        pgo_stop("the name is too long: %s", of);
    pgo_log_open(p->log);
    say(p, "what the commands print goes to %s", p->log);
}

static void say_use(const struct pgo *p)
{
    const struct pgo_compiler *c = &p->compiler;
    char *flags = pgo_flags(c, p->profile);
    if (p->project && p->project->is_rust)
        say(p, "to use the profile in your own build: RUSTC_BOOTSTRAP=1 "
               "RUSTFLAGS='-Zprofile-sample-use=%s'", p->profile);
    else if (c->is_debian)
        say(p, "to use the profile in your own build, of C++ with DEB_CXXFLAGS_APPEND: "
               "DEB_CFLAGS_APPEND='%s'", flags);
    else
        say(p, "to use the profile in your own build, of C++ with CXXFLAGS: CFLAGS='%s%s%s'",
            c->flags, *c->flags ? " " : "", flags);
    free(flags);
}

/* make, ninja and cargo make nothing again that is newer than its source. */
static struct timespec build_anew(struct pgo *p)
{
    p->how->removes_since = p->began;
    say(p, "removes what the build before made, as this one did not make it again");
    return pgo_build(p->how, p->profile);
}

static void build_profile(struct pgo *p, bool first)
{
    struct timespec started = pgo_build(p->how, p->profile);
    if (!first)
        return;
    if (!p->clean && !pgo_was_rebuilt(&p->files, started))
        started = build_anew(p);
    pgo_check_rebuilt(&p->files, started);
}

static enum pgo_built build_with(void *ctx, bool first, bool is_layer)
{
    struct pgo *p = ctx;
    if (!is_layer)
        build_profile(p, first);
    else if (!pgo_build_layer(p->how, p->profile))
        return PGO_BUILT_NOT;
    return pgo_differs(&p->files) ? PGO_BUILT : PGO_BUILT_SAME;
}

static struct pgk_trial *new_trial(const struct pgo *p, uint64_t plain_bytes)
{
    struct pgk_trial *trial;
    const double least = p->limits.min_gain;
    const struct pgk_trial_opts opts = {.struct_size = sizeof opts,
                                        .matters = least < PGO_MATTERS ? least : PGO_MATTERS,
                                        .bytes = plain_bytes,
                                        .build = pgo_shown_build(p->how),
                                        .run = p->run,
                                        .measured = p->measure,
                                        .compiler = p->compiler.cc ? p->compiler.cc : "rustc",
                                        .profile = p->output};
    if (pgk_trial_new(&trial, &opts, NULL))
        pgo_stop("out of memory");
    return trial;
}

static void write_report(const struct pgk_trial *trial, const char *path,
                         void (*print)(const struct pgk_trial *, FILE *))
{
    if (!path)
        return;
    struct cli_report report;
    if (!cli_report_open(&report, path))
        pgo_stop("cannot write %s: %s", path, strerror(errno));
    print(trial, report.out);
    if (!cli_report_close(&report))
        pgo_stop("cannot write %s: %s", path, strerror(errno));
}

/* Builds with the profile, measures, and leaves the faster build in place: an EXIT_... */
static int measure(struct pgo *p, const struct pgo_load *load, uint64_t plain_bytes)
{
    struct pgo_best best = {0};
    const struct pgo_layering layering = {load, &p->files, p->profile, &best, p->how};
    struct pgk_trial *trial = new_trial(p, plain_bytes);
    bool refused = false;
    const struct pgo_trying trying = {
        .compiler = &p->compiler,
        .files = &p->files,
        .build = build_with,
        .ctx = p,
        .measure = p->measure,
        .limits = &p->limits,
        .figures = &p->figures,
        .plain_bytes = plain_bytes,
        .runs = p->recorded,
        .other_input = strcmp(p->measure, p->run) != 0,
        .layering = &layering,
        .quiet = p->common.quiet,
        .human = is_stdout(p->json) || is_stdout(p->summary) || is_stdout(p->page.path)
                     ? stderr : stdout};
    const bool kept = pgo_try(&trying, trial, &refused);
    if (kept) {
        say(p, "the programs are built with the profile, %s", p->output);
        say_use(p);
    }
    write_report(trial, p->json, pgk_trial_print_json);
    write_report(trial, p->summary, pgk_trial_print_markdown);
    pgo_page_write(&p->page, trial, &layering, kept, p->common.quiet);
    pgo_forget_best(&layering);
    pgk_trial_close(&trial);
    return refused ? EXIT_BELOW : EXIT_DONE;
}

/* What compilers get by a flag. */
static void name_profile(struct pgo *p, const char *path)
{
    record_absolute(p->profile, sizeof p->profile, "the program", path, "");
    if (strpbrk(p->profile, " \t\n'\"\\$"))
        pgo_stop("compilers get the name of the profile in CFLAGS, which cannot hold '%s'; give "
                 "another with -o", p->profile);
}

/* Records; then builds again and measures, or leaves that to --use. */
static int record_and_build(struct pgo *p, struct pgo_builder *how)
{
    const struct pgo_load load = {p->run, "run", how->scratch, p->frequency, p->runs, p->for_s,
                                  p->common.quiet};
    clock_gettime(CLOCK_REALTIME_COARSE, &p->began); /* as the system dates files */
    const struct timespec started = pgo_build_first(how);
    pgo_find_files(&p->files, &p->common.binaries, started);
    pgo_keep(&p->files, how->scratch, false);
    const uint64_t plain_bytes = pgo_code_bytes(&p->files);
    pgo_build_recorded(how, &p->files);
    p->recorded = pgo_record(&load, &p->recordings);
    make_profile(p);
    pgo_page_before(&p->page, &p->files, &p->recordings);
    if (p->committed.record) {
        pgo_place(&p->files, false);
        pgo_commit(&p->committed, p->profile, p->output, p->common.quiet);
        return EXIT_DONE;
    }
    if (p->limits.rounds && p->measure == p->run)
        say(p, "measures what it was trained on, as --measure names no other command");
    if (p->limits.rounds)
        return measure(p, &load, plain_bytes);
    build_profile(p, true);
    say(p, "the programs are built with the profile, %s", p->output);
    say_use(p);
    return EXIT_DONE;
}

static int build(struct pgo *p)
{
    char own[PATH_MAX];
    const bool kept = p->committed.record || p->committed.use.n;
    if (!kept)
        name_profile(p, p->output);
    const char *scratch = pgo_start_guarded();
    struct pgo_builder how = {p->build, p->clean, p->cc, scratch, &p->compiler, p->project,
                              p->removes, p->common.quiet};
    p->how = &how;
    if ((size_t)snprintf(own, sizeof own, "%s/profile", scratch) >= sizeof own)
        pgo_stop("the name is too long: %s", scratch);
    if (kept)
        name_profile(p, own);
    pgo_wrap_compilers(scratch);
    if (!p->verbose)
        open_log(p);
    pgo_keep_former(&p->common.binaries, scratch);
    if (!p->committed.use.n)
        return record_and_build(p, &how);
    return pgo_use(&p->committed, &how, &p->common.binaries, p->profile, p->output) ? EXIT_DONE
                                                                                  : EXIT_BELOW;
}

/* Each command is run more than once, and not all of them would find the same. */
static void empty_input(void)
{
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        pgo_stop("cannot open /dev/null: %s", strerror(errno));
    if (null != STDIN_FILENO)
        close(null);
}

static int run(int argc, char **argv)
{
    struct pgo p = {.frequency = 250, .limits = {.rounds = MOST_TURNS, .max_growth = 2}};
    int exit_code = EXIT_DONE;
    parse(&p, argc, argv);
    empty_input();
    pgo_find_compiler(&p.compiler, p.cc, p.project);
    p.compiler.align = p.align;
    if (p.committed.flags) {
        name_profile(&p, p.output);
        pgo_print_flags(&p.committed, &p.compiler, p.profile);
    } else {
        exit_code = build(&p);
    }
    pgo_page_free(&p.page);
    record_files_free(&p.recordings);
    pgo_files_free(&p.files);
    cli_list_free(&p.committed.use);
    cli_common_free(&p.common);
    return cli_finish_output(exit_code);
}

const struct cli_verb cmd_pgo = {
    .name = "pgo",
    .summary = "builds a program with its own profile, and measures the gain",
    .help = help,
    .exit_help = "0 done, 2 failed, 3 refused by --min-gain, --max-growth or "
                 "--min-match",
    .run = run,
    .groups = groups,
    .examples = examples,
};
