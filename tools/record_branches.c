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
    "Runs PROGRAM and counts in it where control branches and what runs between\n"
    "branches, in short windows at random times. It needs no hardware, no rights and\n"
    "no other build: the recorder is preloaded into PROGRAM and its children, on\n"
    "x86-64. Writes the counts of PROGRAM for pgokit gen, and says on standard error\n"
    "how it went. If PROGRAM has less than a tenth of the branches, the counts are of\n"
    "the library or child with the most.\n\n"
    "PGOKIT_BRANCHES_OPTIONS in the environment is kept; options given here win.\n"
    "PGOKIT_RUNTIME names the folder of the recorder.\n\n";

static const char examples[] =
    "  pgokit record branches -- ./app input\n"
    "  pgokit gen branches.counts -b ./app -o app.afdo\n"
    "  pgokit record branches -b ./libx.so -o libx.counts -- make check\n";

struct record {
    struct cli_common common;
    const char *output;
    unsigned long frequency, branches, seconds; /* 0: not given */
    bool real_time, loads, callchain, perf, keep, no_scale, no_cmdline, open;
    char **argv;
    struct record_program p;
    char counts[PATH_MAX];       /* absolute */
    char template[2 * PATH_MAX]; /* of the recordings */
};

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "the counts; default " DEFAULT_NAME,
     OPTION_TEXT(struct record, output), .is_output = true,
     .page = "[address counts](../formats/address-counts.md) of the program"},
    {"binary", 'b', "FILE", "count this library or program instead of PROGRAM",
     OPTION_LIST(struct record, common.binaries), .page = "PROGRAM may be a script or `make`"},
    {"frequency", 'F', "HZ",
     "windows for each second of a thread's processor time (100, or what takes 3 % of it); the "
     "kernel's clock, of 100 to 1000 ticks a second, is the limit",
     OPTION_NUMBER(struct record, frequency, 1, 10000),
     .page = "the range is 1 to 10000"},
    {"branches", 'n', "N", "branches of a window, 2 to 4096 (512)",
     OPTION_NUMBER(struct record, branches, 2, 4096)},
    {"seconds", 'd', "N", "record for so many seconds from the start, then only run",
     OPTION_NUMBER(struct record, seconds, 1, 4000000)},
    {"real-time", 0, NULL,
     "windows for each second on the clock: more than the kernel's ticks, for short runs; calls "
     "that wait may be interrupted", OPTION_FLAG(struct record, real_time),
     .page = "they then fail with EINTR"},
    {"loads", 0, NULL,
     "note which data of programs and libraries loads hit: vtables, of which pgokit gen --vtables "
     "makes types of objects, and variables, for --data. They are in the recordings, so --keep is "
     "implied", OPTION_FLAG(struct record, loads)},
    {"callchain", 0, NULL,
     "count by calling context, of which pgokit gen makes profiles with contexts; frame pointers "
     "are not needed", OPTION_FLAG(struct record, callchain),
     .page = "the recorder reads the callers from the stack with unwind tables (`.eh_frame`) when "
             "a window begins, and then follows its calls and returns"},
    {"no-scale", 0, NULL, "count what windows saw, not what they stand for",
     OPTION_FLAG(struct record, no_scale),
     .page = "counts are otherwise [scaled up]"
             "(../formats/profile-generation.md#12-counts-of-windows)"},
    {"perf", 0, NULL,
     "write the windows of each process as samples of perf, too, with branch stacks of 32: "
     "FILE.PROCESS.perf, for perf script and others; it grows with time, by 13 KB for each window",
     OPTION_FLAG(struct record, perf)},
    RECORD_NO_CMDLINE(struct record),
    RECORD_OPEN(struct record),
    {"keep", 0, NULL,
     "keep the recording of each process, FILE.PROCESS, which has all libraries and is an input of "
     "pgokit gen, too", OPTION_FLAG(struct record, keep),
     .page = "see [branch recordings](../formats/branch-recording.md)"},
    {0},
};
static const struct option_table table = {"record branches", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct record), {0}};

static void parse(struct record *r, int argc, char **argv)
{
    option_parse(&record_branches, groups, argc, argv, r);
    r->keep |= r->loads;
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

/* Windows may cost so many thousandths of the processor time unless it is said how many to make. */
static void add_budget(char *text, const struct record *r)
{
    enum { BUDGET = 30 };
    const char *given = record_environment("PGOKIT_BRANCHES_OPTIONS");
    if (!r->frequency && !r->real_time && !(given && *given))
        add_number(text, "budget", BUDGET);
}

static void set_environment(const struct record *r)
{
    char path[PATH_MAX], ours[3 * PATH_MAX];
    const char quote = record_quote(r->template);
    snprintf(ours, sizeof ours, "out=%c%s%c", quote, r->template, quote);
    add_number(ours, "frequency", r->frequency);
    add_budget(ours, r);
    add_number(ours, "branches", r->branches);
    add_number(ours, "seconds", r->seconds);
    add_number(ours, "real_time", r->real_time);
    add_number(ours, "loads", r->loads);
    add_number(ours, "callchain", r->callchain);
    add_number(ours, "perf", r->perf);
    if (r->no_cmdline)
        strcat(ours, ":cmdline=0");
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

/* Whether pgokit gen would refuse the counts for want of debug information, here or in a debug
 * file; it does what gen does, as pseudo probes are enough, too. Servers are asked by gen only. */
static bool lacks_debug(const struct record *r)
{
    if (*record_environment("DEBUGINFOD_URLS"))
        return false;
    const struct cli_common common = {.binaries = r->common.binaries, .quiet = true,
                                      .no_debuginfod = true, .threads = r->common.threads};
    const struct pgk_gen_opts opts = {.struct_size = sizeof opts, .threads = r->common.threads};
    struct pgk_binaries *binaries = NULL;
    struct pgk_gen *gen = NULL;
    struct pgk_sample *profile = NULL;
    int status = cli_open_binaries(&common, &binaries, NULL);
    if (!status)
        status = pgk_gen_new(&gen, binaries, &opts, NULL);
    if (!status)
        status = pgk_gen_add(gen, r->counts, NULL);
    if (!status)
        status = pgk_gen_profile(gen, &profile, NULL);
    pgk_sample_close(&profile);
    pgk_gen_close(&gen);
    pgk_binaries_close(&binaries);
    return status == PGK_E_NODEBUG;
}

/* By way of a sample profile, which stays. */
static void open_page(const struct record *r, const struct record_branches_done *done)
{
    char profile[PATH_MAX + 8], page[PATH_MAX + 8];
    const char *const gen[] = {"pgokit", "gen",   done->counts, "-b", done->binary,
                               "-o",     profile, "-q",         NULL};
    const char *const report[] = {"pgokit", "report", profile, "-b", done->binary,
                                  "-o",     page,     "-q",    NULL};
    snprintf(profile, sizeof profile, "%s.afdo", done->counts);
    snprintf(page, sizeof page, "%s.html", done->counts);
    if (record_run_pgokit(gen) && record_run_pgokit(report))
        record_open_page(page);
    else if (!r->common.quiet)
        cli_note("there is no page, because there is no profile that one can be made of");
}

/* A file without counts is no failure, neither of the program nor of pgokit: nothing of it ran, or
 * it has no symbols. */
static bool has_failed(int status)
{
    return status && status != PGK_E_EMPTY && status != PGK_E_NODEBUG;
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
        .no_debug = !status && files->n && !r->common.quiet && lacks_debug(r),
        .perf = r->perf,
        .quiet = r->common.quiet};
    record_branches_report(&done);
    if (r->open && done.counts)
        open_page(r, &done);
    if (!done.counts)
        record_drop_former(r->counts);
    for (size_t i = 0; !done.keep && i < files->n; i++)
        unlink(files->v[i].path);
    if (status)
        cli_fail(&err);
    free(chosen);
    return has_failed(status) && !ended->exit_code ? EXIT_RECORD_FAILED : ended->exit_code;
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
        &r.p, "link it with libpgokit_branches_static.a, and run it without pgokit record",
        "write a CPU profile with runtime/pprof or net/http/pprof, which go build -pgo=FILE takes, "
        "or record it with perf", NULL);
    choose_names(&r);
    record_note_inputs(&r.p, r.argv);
    cli_writes(r.counts);
    record_keep_environment();
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
        "that of the program, 128 and its number if a signal ended it; 125 pgokit failed, "
        "126 the program cannot be run or recorded, 127 there is no such program, 2 wrong usage",
    .run = run,
    .groups = groups,
    .examples = examples,
    .stops_at_operand = true};
