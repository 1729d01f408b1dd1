/* pgokit record branches: runs a program with the branch recorder. */
#include "record_branches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDER     "libpgokit_branches.so"
#define DEFAULT_NAME "branches.counts"

static const char help[] =
    "usage: pgokit record branches [OPTION]... -- PROGRAM [ARGUMENT]...\n\n"
    "Runs PROGRAM and counts in it where control branches and what runs between branches, in\n"
    "short windows at random times. It needs no hardware, no rights and no other build: the\n"
    "recorder is preloaded into PROGRAM and its children, on x86-64. Writes the counts of\n"
    "PROGRAM for pgokit gen, and says on standard error how it went. If PROGRAM has less\n"
    "than a tenth of the branches, the counts are of the library or child with the most.\n\n"
    "  -o, --output FILE    the counts; default " DEFAULT_NAME "\n"
    "  -b, --binary FILE    count this library or program instead of PROGRAM\n"
    "  -F, --frequency HZ   windows for each second of a thread's processor time (100);\n"
    "                       the kernel's clock, of 100 to 1000 ticks a second, is the limit\n"
    "  -n, --branches N     branches of a window, 2 to 4096 (512)\n"
    "  -d, --seconds N      record for so many seconds from the start, then only run\n"
    "      --real-time      windows for each second on the clock: more than the kernel's ticks,\n"
    "                       for short runs; calls that wait may be interrupted\n"
    "      --loads          note which data of programs and libraries loads hit: vtables, of\n"
    "                       which pgokit gen --vtables makes types of objects, and variables,\n"
    "                       for --data. They are in the recordings, so --keep is implied\n"
    "      --callchain      count by calling context, of which pgokit gen makes profiles\n"
    "                       with contexts; frame pointers are not needed\n"
    "      --no-scale       count what windows saw, not what they stand for\n"
    "      --perf           write the windows of each process as samples of perf, too, with\n"
    "                       branch stacks of 32: FILE.PROCESS.perf, for perf script and others;\n"
    "                       it grows with time, by 13 KB for each window\n"
    "      --keep           keep the recording of each process, FILE.PROCESS, which has all\n"
    "                       libraries and is an input of pgokit gen, too\n"
    "\nPGOKIT_BRANCHES_OPTIONS in the environment is kept; options given here win. PGOKIT_RUNTIME\n"
    "names the folder of the recorder.\n"
    "\nExamples:\n"
    "  pgokit record branches -- ./app input; pgokit gen branches.counts -b ./app -o app.afdo\n"
    "  pgokit record branches -b ./libx.so -o libx.counts -- make check\n";

enum { OPT_REAL_TIME = 256, OPT_LOADS, OPT_CALLCHAIN, OPT_PERF, OPT_KEEP, OPT_NO_SCALE };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"frequency", required_argument, NULL, 'F'},
    {"branches", required_argument, NULL, 'n'},
    {"seconds", required_argument, NULL, 'd'},
    {"real-time", no_argument, NULL, OPT_REAL_TIME},
    {"loads", no_argument, NULL, OPT_LOADS},
    {"callchain", no_argument, NULL, OPT_CALLCHAIN},
    {"perf", no_argument, NULL, OPT_PERF},
    {"keep", no_argument, NULL, OPT_KEEP},
    {"no-scale", no_argument, NULL, OPT_NO_SCALE},
    CLI_COMMON_LONG,
    {0},
};

struct record {
    struct cli_common common;
    const char *output;
    unsigned long frequency, branches, seconds; /* 0: not given */
    bool real_time, loads, callchain, perf, keep, no_scale;
    char **argv;
    struct record_program p;
    char counts[PATH_MAX];       /* absolute */
    char template[2 * PATH_MAX]; /* of the recordings */
};

static void parse(struct record *r, int argc, char **argv)
{
    for (int c; (c = cli_next_option(&record_branches, argc, argv, "+o:F:n:d:", options,
                                     &r->common)) != -1;) {
        switch (c) {
        case 'o':
            r->output = optarg;
            break;
        case 'F':
            r->frequency = cli_number("--frequency", optarg, 1, 10000);
            break;
        case 'n':
            r->branches = cli_number("--branches", optarg, 2, 4096);
            break;
        case 'd':
            r->seconds = cli_number("--seconds", optarg, 1, 4000000);
            break;
        case OPT_REAL_TIME:
            r->real_time = true;
            break;
        case OPT_LOADS:
            r->loads = r->keep = true;
            break;
        case OPT_CALLCHAIN:
            r->callchain = true;
            break;
        case OPT_PERF:
            r->perf = true;
            break;
        case OPT_KEEP:
            r->keep = true;
            break;
        case OPT_NO_SCALE:
            r->no_scale = true;
            break;
        }
    }
    if (optind == argc)
        cli_usage(&record_branches, "no program: name it after --");
    if (r->common.binaries.n > 1)
        cli_usage(&record_branches, "counts are of one file: give one -b, or use --keep");
    r->argv = argv + optind;
}

/* In a template a percent sign is two. */
static void choose_names(struct record *r)
{
    char *to = r->template;
    record_output(r->counts, r->p.program, r->output ? r->output : DEFAULT_NAME, DEFAULT_NAME);
    for (const char *from = r->counts; *from; from++) {
        *to++ = *from;
        if (*from == '%')
            *to++ = '%';
    }
    strcpy(to, ".%p");
}

static void add_number(char *text, const char *name, unsigned long n)
{
    if (n)
        sprintf(text + strlen(text), ":%s=%lu", name, n);
}

static void set_environment(const struct record *r)
{
    char path[PATH_MAX], ours[3 * PATH_MAX];
    const char quote = record_quote(r->template);
    snprintf(ours, sizeof ours, "out=%c%s%c", quote, r->template, quote);
    add_number(ours, "frequency", r->frequency);
    add_number(ours, "branches", r->branches);
    add_number(ours, "seconds", r->seconds);
    add_number(ours, "real_time", r->real_time);
    add_number(ours, "loads", r->loads);
    add_number(ours, "callchain", r->callchain);
    add_number(ours, "perf", r->perf);
    record_join("PGOKIT_BRANCHES_OPTIONS", record_environment("PGOKIT_BRANCHES_OPTIONS"), ours);
    record_find_runtime(r->p.program, path, RECORDER);
    record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
}

static void check_processor(const char *program)
{
#ifndef __x86_64__
    record_refuse(EXIT_RECORD_FAILED, program, "the branch recorder is for x86-64 only so far");
#else
    (void)program;
#endif
}

/* Counts of all processes together. */
static int write_counts(struct record *r, const struct record_files *files, struct pgk_err *err)
{
    struct pgk_binaries *binaries = NULL;
    struct pgk_gen *gen = NULL;
    const struct pgk_gen_opts opts = {.struct_size = sizeof opts, .threads = r->common.threads,
                                      .no_scale = r->no_scale};
    int status = cli_open_binaries(&r->common, &binaries, err);
    if (!status)
        status = pgk_gen_new(&gen, binaries, &opts, err);
    for (size_t i = 0; !status && i < files->n; i++)
        status = pgk_gen_add(gen, files->v[i].path, err);
    if (!status)
        status = pgk_gen_write_counts(gen, r->counts, err);
    pgk_gen_close(&gen);
    pgk_binaries_close(&binaries);
    return status;
}

/* Recordings stay where no counts could be made of them. */
static int finish(struct record *r, const struct record_files *files,
                  const struct record_ended *ended)
{
    struct pgk_err err = {0};
    char *chosen = r->common.binaries.n || !files->n
                       ? NULL
                       : record_branches_choose(files, r->p.profiled, r->common.quiet);
    if (chosen)
        cli_list_add(&r->common.binaries, chosen);
    const int status = files->n ? write_counts(r, files, &err) : 0;
    const struct record_branches_done done = {
        .files = files,
        .ended = ended,
        .binary = r->common.binaries.n ? r->common.binaries.v[0] : r->p.profiled,
        .counts = status || !files->n ? NULL
                  : r->output         ? r->output
                                      : DEFAULT_NAME,
        .keep = r->keep || status,
        .loads = r->loads,
        .perf = r->perf,
        .quiet = r->common.quiet};
    record_branches_tell(&done);
    for (size_t i = 0; !done.keep && i < files->n; i++)
        unlink(files->v[i].path);
    if (status)
        cli_fail(&err);
    free(chosen);
    /* That nothing of the file ran is no failure, of the program or of ours. */
    return status && status != PGK_E_EMPTY && !ended->exit_code ? EXIT_RECORD_FAILED
                                                                : ended->exit_code;
}

static int run(int argc, char **argv)
{
    struct record r = {0};
    struct record_files files;
    struct record_ended ended;
    parse(&r, argc, argv);
    record_find_program(r.p.program, r.argv[0]);
    check_processor(r.p.program);
    record_inspect(&r.p);
    record_check_can_preload(
        &r.p, "link it with libpgokit_branches_static.a, and run it without pgokit record", NULL);
    choose_names(&r);
    set_environment(&r);
    record_files_before(&files, r.template);
    if (!record_run(r.p.program, r.argv, &ended))
        record_refuse(EXIT_NOT_EXECUTABLE, r.p.program, "%s", strerror(errno));
    record_files_after(&files, r.template);
    const int exit_code = finish(&r, &files, &ended);
    record_files_free(&files);
    cli_common_free(&r.common);
    return exit_code;
}

const struct cli_verb record_branches = {
    .name = "record branches",
    .summary = "how often code runs, and where it branches",
    .help = help,
    .exit_help =
        "that of the program, 128 and its number if a signal ended it;\n125 pgokit failed, "
        "126 the program cannot be run or recorded, 127 there is no such program,\n"
        "2 wrong usage",
    .run = run,
    .options = options};
