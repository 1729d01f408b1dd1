/* pgokit pgo: the whole way to a faster program in one command. Builds, records, makes the profile,
 * builds again with it, and measures both. */
#include "pgo.h"

#include "perf_check.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_BELOW = 3 };

#define RECORDER     "libpgokit_branches.so"
#define DEFAULT_NAME "pgo.afdo"

static const char help[] =
    "usage: pgokit pgo --run COMMAND [OPTION]...\n\n"
    "Makes a program faster: builds it, records where it spends its time, makes a\n"
    "profile, builds again with the profile, and measures both builds in turn. The\n"
    "commands are run by the shell in the current folder. It is built as its files\n"
    "say: Cargo.toml, meson.build, CMakeLists.txt, configure or Makefile. The flags\n"
    "are in CFLAGS and the like, and links with the names of compilers, in front of\n"
    "PATH, add them in builds that do not use these variables.\n\n";

static const char examples[] =
    "  pgokit pgo --run './bench.sh'\n"
    "  pgokit pgo --gcc --run './pgo-build/app train.txt' \\\n"
    "      --measure './pgo-build/app other.txt'\n"
    "  pgokit pgo --clean 'make clean' --build 'make app' --run './app train.txt'\n";

struct pgo {
    struct cli_common common;
    const char *build, *clean, *run, *measure, *cc, *output;
    const struct pgo_project *project; /* NULL: of no known build system */
    unsigned long frequency, rounds, runs; /* runs 0: by their time */
    bool verbose, has_least, removes; /* `clean` is the project's own */
    double least; /* per cent of gain */
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

static void take_percent(const struct option_given *given)
{
    char *end;
    double n = strtod(given->value, &end);
    if (end == given->value || (*end && strcmp(end, "%") != 0) || !(n > -100 && n < 1e6))
        cli_usage(&cmd_pgo, "--fail-below takes a percentage, as 5 or 5%%, not '%s'", given->value);
    *(double *)given->into = n;
}

static const struct option_row rows[] = {
    {"build", 0, "COMMAND", "builds the program (default: by the files in the current folder)",
     OPTION_TEXT(struct pgo, build)},
    {"clean", 0, "COMMAND", "run before each build, so that all is built anew",
     OPTION_TEXT(struct pgo, clean)},
    {"run", 0, "COMMAND", "runs the program as it is used; this is recorded",
     OPTION_TEXT(struct pgo, run)},
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
    {"record", 0, "N", "record N runs (default: as many as take 5 s together, at most 20)",
     OPTION_NUMBER(struct pgo, runs, 1, 10000)},
    {"rounds", 'n', "N", "measure each build so often, 0: not at all (default: 7)",
     OPTION_NUMBER(struct pgo, rounds, 0, 10000)},
    {"fail-below", 0, "PERCENT", "exit status 3 if the program becomes less than this faster",
     OPTION_CALL_FOR(struct pgo, least, take_percent), OPTION_GIVEN(struct pgo, has_least)},
    {"verbose", 'v', NULL, "show what the commands print, instead of writing it to OUTPUT.log",
     OPTION_FLAG(struct pgo, verbose)},
    {0},
};
static const struct option_table table = {"pgo", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct pgo), {0}};

/* Removed when we end, unless we are killed. */
static char scratch[PATH_MAX];
static bool has_scratch;

static void remove_scratch(void)
{
    struct record_ended ended;
    const char *const words[] = {"rm", "-rf", scratch, NULL};
    if (has_scratch)
        (void)pgo_log_run("/bin/rm", words, false, &ended);
}

/* While a command runs, signals are passed on to it, and its end is ours. */
static void end_by(int sig)
{
    remove_scratch();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void make_scratch(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction ours = {.sa_handler = end_by};
    const char *folder = record_environment("TMPDIR");
    struct sigaction was;
    if ((size_t)snprintf(scratch, sizeof scratch, "%s/pgokit-pgo-XXXXXX",
                         *folder ? folder : "/tmp") < sizeof scratch)
        has_scratch = mkdtemp(scratch) != NULL;
    if (!has_scratch || atexit(remove_scratch))
        pgo_stop("cannot make a folder in %s: %s", *folder ? folder : "/tmp", strerror(errno));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &was) && was.sa_handler != SIG_IGN)
            sigaction(ends[i], &ours, NULL);
}

_Noreturn void pgo_stop(const char *fmt, ...)
{
    va_list args;
    fputs("pgokit: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    if (pgo_log_path())
        fprintf(stderr, "pgokit: all that the commands printed is in %s\n", pgo_log_path());
    exit(EXIT_FAILED);
}

void pgo_shell(const char *what, const char *command, struct record_ended *ended)
{
    const char *const words[] = {"sh", "-c", command, NULL};
    if (!pgo_log_run("/bin/sh", words, true, ended))
        pgo_stop("cannot run /bin/sh: %s", strerror(errno));
    if (ended->signal || ended->exit_code)
        pgo_log_show_end();
    if (ended->signal)
        pgo_stop("%s was ended by signal %d (%s)", what, ended->signal, strsignal(ended->signal));
    if (ended->exit_code)
        pgo_stop("%s failed with exit status %d: %s", what, ended->exit_code, command);
}

static void find_project(struct pgo *p)
{
    p->project = pgo_find_project();
    if (p->build)
        return;
    if (!p->project)
        pgo_stop("there is no Cargo.toml, meson.build, CMakeLists.txt, configure or Makefile here. "
                 "Give --build, how the program is built");
    p->build = p->project->build;
    p->removes = !p->clean;
    if (p->removes)
        p->clean = p->project->clean;
}

static void parse(struct pgo *p, int argc, char **argv)
{
    option_parse(&cmd_pgo, groups, argc, argv, p);
    if (optind != argc)
        cli_usage(&cmd_pgo, "pgo takes no file; commands of several words are quoted");
    if (!p->run)
        cli_usage(&cmd_pgo, "pgo needs --run, how the program is used");
    find_project(p);
    if (p->has_least && !p->rounds)
        cli_usage(&cmd_pgo, "--fail-below needs rounds that are measured, not --rounds 0");
    if (!p->measure)
        p->measure = p->run;
}

static void say(const struct pgo *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct pgo *p, const char *fmt, ...)
{
    va_list args;
    if (p->common.quiet)
        return;
    va_start(args, fmt);
    fputs("pgokit: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

static struct timespec now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME_COARSE, &t); /* as the system dates files */
    return t;
}

static void put_back(const char *name, char *value)
{
    if (value ? setenv(name, value, 1) : unsetenv(name))
        pgo_stop("out of memory");
    free(value);
}

static char *saved(const char *name)
{
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

static struct timespec build(const struct pgo *p, const char *profile)
{
    struct record_ended ended;
    char bin[PATH_MAX + 8];
    pgo_set_flags(&p->compiler, profile);
    if (p->clean)
        pgo_shell(p->removes ? "removing what an earlier build made" : "the command of --clean",
                  p->clean, &ended);
    struct timespec started = now();
    say(p, "builds %s the profile: %s", profile ? "with" : "without", p->build);
    char *path = saved("PATH");
    snprintf(bin, sizeof bin, "%s/bin", scratch);
    record_join("PATH", bin, record_environment("PATH"));
    pgo_shell(profile ? "the build with the profile" : "the build", p->build, &ended);
    put_back("PATH", path);
    return started;
}

static bool takes_profile(void *ctx, const char *name)
{
    const struct pgo *p = ctx;
    return pgo_takes_same_profile(&p->compiler, name);
}

static bool take_any(void *ctx, const char *name)
{
    char **found = ctx;
    *found = strdup(name);
    return true;
}

/* The first build, by the compiler that the build uses if it does not ask for ours. */
static struct timespec build_first(struct pgo *p)
{
    char *used = NULL;
    struct timespec started = build(p, NULL);
    if (pgo_any_used(scratch, takes_profile, p) || !pgo_any_used(scratch, take_any, &used))
        return started;
    const char *name = pgo_compiler_of_c(used);
    free(used);
    if (p->cc)
        pgo_stop("the build uses %s, not %s; change that, or give --cc %s", name, p->cc, name);
    say(p, "the build uses %s, so the profile is for that", name);
    pgo_change_compiler(&p->compiler, name);
    return build(p, NULL);
}

/* ---- recording ---- */

static void load_recorder(const struct pgo *p)
{
    char path[PATH_MAX], ours[2 * PATH_MAX];
    const char quote = record_quote(scratch);
    snprintf(ours, sizeof ours, "out=%c%s/run.%%p%c:frequency=%lu", quote, scratch, quote,
             p->frequency);
    record_join("PGOKIT_BRANCHES_OPTIONS", record_environment("PGOKIT_BRANCHES_OPTIONS"), ours);
    record_find_runtime("the program", path, RECORDER);
    record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
}

/* One run with perf's branch records, or with our recorder. */
static double record_once(const struct pgo *p, const char *event, unsigned run)
{
    struct record_ended ended;
    if (!event) {
        pgo_shell("the recorded command", p->run, &ended);
        return record_cpu_s(&ended);
    }
    char output[2 * PATH_MAX];
    snprintf(output, sizeof output, "%s/run.%u", scratch, run);
    const char *const words[] = {"env",    "perf", "record", "-q", "-b", "-e", event,  "-c",
                                 "100003", "-o",   output,   "--", "sh", "-c", p->run, NULL};
    if (!pgo_log_run("/usr/bin/env", words, true, &ended) || ended.exit_code) {
        pgo_log_show_end();
        pgo_stop("perf record failed, or the recorded command: %s", p->run);
    }
    return record_cpu_s(&ended);
}

static void record(struct pgo *p)
{
    enum { SECONDS = 5, RUNS_MAX = 20 };
    const char *event = perf_check_branches();
    char template[sizeof scratch + 16];
    char *preload = saved("LD_PRELOAD"), *recorder = saved("PGOKIT_BRANCHES_OPTIONS");
    snprintf(template, sizeof template, "%s/run.%%p", scratch);
    say(p, "records %s: %s",
        event ? "the branch records of this machine" : "branches in the program", p->run);
    if (!event)
        load_recorder(p);
    record_files_before(&p->recordings, template);
    double total = 0;
    unsigned n = 0;
    do
        total += record_once(p, event, n++);
    while (p->runs ? n < p->runs : total < SECONDS && n < RUNS_MAX);
    put_back("LD_PRELOAD", preload);
    put_back("PGOKIT_BRANCHES_OPTIONS", recorder);
    record_files_after(&p->recordings, template);
    if (!p->recordings.n)
        pgo_stop("nothing was recorded. Is the program linked statically? Does --run start it, and "
                 "run it for 20 ms or more?");
    say(p, "recorded %u run%s, %.1f s of processor time", n, n == 1 ? "" : "s", total);
}

/* `pgokit gen`, with its own report. */
static void generate(const struct pgo *p)
{
    struct record_ended ended;
    char to[32];
    const char **words = calloc(p->recordings.n + 2 * p->files.n + 9, sizeof *words);
    size_t n = 0;
    if (!words)
        pgo_stop("out of memory");
    snprintf(to, sizeof to, "gcc%lu", p->compiler.release > 16 ? 16 : p->compiler.release);
    words[n++] = "pgokit";
    words[n++] = "gen";
    words[n++] = "--no-next"; /* this compiles */
    if (p->common.quiet)
        words[n++] = "-q";
    for (size_t i = 0; i < p->recordings.n; i++)
        words[n++] = p->recordings.v[i].path;
    for (size_t i = 0; i < p->files.n; i++) {
        words[n++] = "-b";
        words[n++] = p->files.v[i].path;
    }
    words[n++] = "-o";
    words[n++] = p->profile;
    if (!p->compiler.clang) {
        words[n++] = "--to";
        words[n++] = to;
    }
    if (!pgo_log_run("/proc/self/exe", words, false, &ended))
        pgo_stop("cannot run pgokit gen: %s", strerror(errno));
    if (ended.exit_code > EXIT_INCOMPLETE)
        pgo_stop("no profile could be made; above is why. If it is for want of debug information "
                 "or symbols: does the build strip its programs? Does it use $CC and $CFLAGS, or a "
                 "compiler that PATH has?");
    free(words);
}

static void open_log(struct pgo *p)
{
    if ((size_t)snprintf(p->log, sizeof p->log, "%s.log", p->output) >= sizeof p->log)
        pgo_stop("the name is too long: %s", p->output);
    pgo_log_open(p->log);
    say(p, "what the commands print goes to %s", p->log);
}

/* The flags are still those of the second build. */
static void say_use(const struct pgo *p)
{
    if (p->project && p->project->is_rust)
        say(p, "to use the profile in your own build: RUSTC_BOOTSTRAP=1 "
               "RUSTFLAGS='-Zprofile-sample-use=%s'", p->profile);
    else
        say(p, "to use the profile in your own build, of C++ with CXXFLAGS: CFLAGS='%s'",
            getenv("CFLAGS"));
}

/* What to do with what was found: an EXIT_... */
static int measure(const struct pgo *p)
{
    const struct pgo_gain gain =
        pgo_measure(&p->files, p->measure, (unsigned)p->rounds, p->common.quiet);
    const bool too_little = p->has_least && gain.percent < p->least;
    if (too_little)
        fprintf(stderr, "pgokit: the gain of %+.1f %% is below the %g %% of --fail-below\n",
                gain.percent, p->least);
    if (gain.high < 0) {
        pgo_place(&p->files, false);
        puts("slower with the profile: the build without it is in place again");
    } else {
        say_use(p);
    }
    return too_little ? EXIT_BELOW : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct pgo p = {.frequency = 250, .rounds = 7, .output = DEFAULT_NAME};
    parse(&p, argc, argv);
    pgo_find_compiler(&p.compiler, p.cc, p.project && p.project->is_rust);
    record_absolute(p.profile, sizeof p.profile, "the program", p.output, "");
    if (strpbrk(p.profile, " \t\n'\"\\$"))
        pgo_stop("compilers get the name of the profile in CFLAGS, which cannot hold '%s'; give "
                 "another with -o", p.profile);
    make_scratch();
    pgo_wrap_compilers(scratch);
    if (!p.verbose)
        open_log(&p);
    struct timespec started = build_first(&p);
    pgo_find_files(&p.files, &p.common.binaries, started);
    pgo_keep(&p.files, scratch, false);
    record(&p);
    generate(&p);
    started = build(&p, p.profile);
    pgo_check_rebuilt(&p.files, started);
    pgo_keep(&p.files, scratch, true);
    say(&p, "the programs are built with the profile, %s", p.output);
    int exit_code = EXIT_DONE;
    if (p.rounds)
        exit_code = measure(&p);
    else
        say_use(&p);
    record_files_free(&p.recordings);
    pgo_files_free(&p.files);
    cli_common_free(&p.common);
    return cli_finish_output(exit_code);
}

const struct cli_verb cmd_pgo = {
    .name = "pgo",
    .summary = "builds a program with its own profile, and measures the gain",
    .help = help,
    .exit_help = "0 done, 2 failed, 3 done and the gain is less than --fail-below",
    .run = run,
    .groups = groups,
    .examples = examples,
};
