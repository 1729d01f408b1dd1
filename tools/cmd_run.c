/* pgokit run: a program with the allocator that uses a plan. */
#include "record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALLOCATOR "libpgokit_alloc.so"

static const char help[] =
    "usage: pgokit run [--plan FILE] -- PROGRAM [ARGUMENT]...\n\n"
    "Runs PROGRAM and its children with libpgokit_alloc for malloc and operator new: jemalloc,\n"
    "in which objects that a plan (pgokit plan) tells apart have memory of their own. Nothing\n"
    "else of the program changes.\n\n"
    "      --plan FILE      the plan; without one all is as with jemalloc\n"
    "      --stats          say at the end of each process what its groups hold\n"
    "      --stats-signal N  say it whenever a process gets signal number N\n"
    "\nExamples:\n"
    "  pgokit run --plan app.plan -- ./app input\n"
    "  pgokit run --plan app.plan --stats -- ./app input\n";

enum { OPT_PLAN = 256, OPT_STATS, OPT_STATS_SIGNAL };

static const struct option options[] = {
    {"plan", required_argument, NULL, OPT_PLAN},
    {"stats", no_argument, NULL, OPT_STATS},
    {"stats-signal", required_argument, NULL, OPT_STATS_SIGNAL},
    CLI_COMMON_LONG,
    {0},
};

static _Noreturn void refuse(int exit_code, const char *program, const char *why)
{
    char safe[512];
    fprintf(stderr, "pgokit: cannot run %s: %s\n", pgk_human_text(safe, sizeof safe, program),
            why);
    exit(exit_code);
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1))
        refuse(EXIT_RECORD_FAILED, name, strerror(errno));
}

/* A program may change its folder before it starts another. */
static void set_plan(const char *plan)
{
    char *path = realpath(plan, NULL);
    if (!path)
        refuse(EXIT_RECORD_FAILED, plan, strerror(errno));
    set("PGOKIT_ALLOC_PLAN", path);
    free(path);
}

/* Into a program that is linked statically, or to another C library, nothing is preloaded. */
static void check(const char *program)
{
    struct pgk_program found = {.struct_size = sizeof found};
    struct pgk_err err;
    if (!strchr(program, '/') || pgk_program_inspect(&found, program, &err))
        return;
    if (*found.other_linker)
        refuse(EXIT_NOT_EXECUTABLE, program,
               "its C library is not glibc, so nothing can be preloaded");
    if (found.kind == PGK_PROGRAM_STATIC)
        refuse(EXIT_NOT_EXECUTABLE, program,
               "it is statically linked, so nothing can be preloaded. Link it with "
               "libpgokit_alloc.a");
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    const char *plan = NULL;
    unsigned long stats_signal = 0;
    char path[PATH_MAX];
    bool stats = false;
    for (int c; (c = cli_next_option(&cmd_run, argc, argv, "+", options, &common)) != -1;) {
        if (c == OPT_PLAN)
            plan = optarg;
        if (c == OPT_STATS_SIGNAL)
            stats_signal = cli_number("--stats-signal", optarg, 1, SIGRTMAX);
        stats |= c == OPT_STATS;
    }
    if (optind == argc)
        cli_usage(&cmd_run, "no program: name it after --");
    check(argv[optind]);
    if (plan)
        set_plan(plan);
    if (stats)
        set("PGOKIT_ALLOC_STATS", "1");
    if (stats_signal) {
        char number[24];
        snprintf(number, sizeof number, "%lu", stats_signal);
        set("PGOKIT_ALLOC_STATS_SIGNAL", number);
    }
    if (!heap_runtime_find(path, ALLOCATOR))
        refuse(EXIT_RECORD_FAILED, argv[optind],
               ALLOCATOR " is nowhere. Set PGOKIT_RUNTIME to the folder where it is");
    record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
    cli_common_free(&common);
    execvp(argv[optind], argv + optind);
    refuse(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, argv[optind], strerror(errno));
}

const struct cli_verb cmd_run = {
    .name = "run",
    .summary = "runs a program with the allocator that uses such a layout",
    .help = help,
    .exit_help = "that of the program; 125 pgokit failed, 126 the program cannot be run,\n"
                 "127 there is no such program, 2 wrong usage",
    .run = run,
    .options = options};
