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
    "Runs PROGRAM and its children with libpgokit_alloc for malloc and operator new:\n"
    "jemalloc, in which objects that a plan (pgokit plan) separates have memory of\n"
    "their own. Nothing else of the program changes.\n\n";

static const char examples[] =
    "  pgokit run --plan app.plan -- ./app input\n"
    "  pgokit run --plan app.plan --stats -- ./app input\n";

struct run {
    struct cli_common common;
    const char *plan;
    unsigned long stats_signal;
    bool stats;
};

static const struct option_row rows[] = {
    {"plan", 0, "FILE", "the plan; without one all is as with jemalloc",
     OPTION_TEXT(struct run, plan), .page = "[pgokit plan](pgokit-plan.md) makes it"},
    {"stats", 0, NULL, "say at the end of each process what its groups hold",
     OPTION_FLAG(struct run, stats)},
    {"stats-signal", 0, "N", "say it whenever a process gets signal number N",
     OPTION_NUMBER(struct run, stats_signal, 1, _NSIG - 1),
     .page = "12 is SIGUSR2. The process says it at the next object that it allocates or frees "
             "in a "
             "group. A program "
             "that handles the signal itself prints nothing"},
    {0},
};
static const struct option_table table = {"run", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct run), {0}};

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

/* The file that has the code: of a script, its interpreter. False: it is not found, or is nothing
 * that we know, which the system reports. */
static bool inspect(struct pgk_program *found, char path[PATH_MAX], const char *name)
{
    struct pgk_err err;
    bool seen;
    if (strchr(name, '/'))
        snprintf(path, PATH_MAX, "%s", name);
    else if (!record_find_in_path(path, name, &seen))
        return false;
    if (pgk_program_inspect(found, path, &err))
        return false;
    if (found->kind != PGK_PROGRAM_SCRIPT)
        return true;
    snprintf(path, PATH_MAX, "%s", found->interpreter);
    return !pgk_program_inspect(found, path, &err);
}

/* Into a program that is linked statically, or to another C library, nothing is preloaded. */
static void check(const char *name)
{
    struct pgk_program found = {.struct_size = sizeof found};
    char path[PATH_MAX];
    if (!inspect(&found, path, name))
        return;
    if (*found.other_linker)
        refuse(EXIT_NOT_EXECUTABLE, path,
               "its C library is not glibc, so nothing can be preloaded");
    if (found.kind == PGK_PROGRAM_STATIC)
        refuse(EXIT_NOT_EXECUTABLE, path,
               "it is statically linked, so nothing can be preloaded. Link it with "
               "libpgokit_alloc.a");
}

static int run(int argc, char **argv)
{
    struct run o = {0};
    char path[PATH_MAX];
    option_parse(&cmd_run, groups, argc, argv, &o);
    if (optind == argc)
        cli_usage(&cmd_run, "no program: name it after --");
    check(argv[optind]);
    if (o.plan)
        set_plan(o.plan);
    if (o.stats)
        set("PGOKIT_ALLOC_STATS", "1");
    if (o.stats_signal) {
        char number[24];
        snprintf(number, sizeof number, "%lu", o.stats_signal);
        set("PGOKIT_ALLOC_STATS_SIGNAL", number);
    }
    if (!heap_runtime_find(path, ALLOCATOR))
        refuse(EXIT_RECORD_FAILED, argv[optind],
               ALLOCATOR " is nowhere. Set PGOKIT_RUNTIME to the folder where it is");
    record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
    cli_common_free(&o.common);
    execvp(argv[optind], argv + optind);
    refuse(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, argv[optind], strerror(errno));
}

const struct cli_verb cmd_run = {
    .name = "run",
    .summary = "runs a program with the allocator that uses such a layout",
    .help = help,
    .exit_help = "that of the program; 125 pgokit failed, 126 the program cannot be run, "
                 "127 there is no such program, 2 wrong usage",
    .run = run,
    .groups = groups,
    .examples = examples,
    .stops_at_operand = true};
