/* pgokit record heap: runs a program with the heap profiler runtime. */
#include "cli_heap.h"
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARED_RUNTIME "libpgokit_heap.so"
#define SAMPLER        "libpgokit_sampled_heap.so"
/* The name under which programs of clang -shared-libsan look for their runtime. */
#ifdef __aarch64__
#define TAKEOVER_RUNTIME "libclang_rt.memprof-aarch64.so"
#else
#define TAKEOVER_RUNTIME "libclang_rt.memprof-x86_64.so"
#endif
#define SAMPLER_OPTIONS  "PGOKIT_SAMPLED_HEAP_OPTIONS"
#define DEFAULT_NAME     "memprof.profraw.%p"
#define LINK_HINT        "link it with the runtime: pgokit config --libs heap"
#define STATIC_HINT                                                                               \
    "link it with the runtime, which records all objects: pgokit config --libs heap"
#define GO_HINT                                                                                   \
    "write a heap profile with runtime/pprof or net/http/pprof, which pgokit show, report and "   \
    "diff read"

static const char help[] =
    "usage: pgokit record heap [OPTION]... -- PROGRAM [ARGUMENT]...\n\n"
    "Runs PROGRAM and records what it and its children allocate. A program that was\n"
    "built as pgokit config says brings the runtime along, and its loads and stores\n"
    "are counted; into any other program the runtime is preloaded. Says at the end,\n"
    "on standard error, what was recorded and what to type next.\n\n"
    "With --sample a part of the objects is recorded, at a cost that a program can\n"
    "bear in production, and figures are estimates; no program is built for it.\n\n"
    "PGOKIT_HEAP_OPTIONS in the environment (with --sample\n"
    "PGOKIT_SAMPLED_HEAP_OPTIONS) is kept; options given here win.\n"
    "PGOKIT_RUNTIME names the folder of the runtime.\n\n";

static const char examples[] =
    "  pgokit record heap -- ./app input\n"
    "  pgokit record heap --open -- ./app input\n"
    "  pgokit record heap --sample -- ./server\n"
    "  pgokit record heap -o runs/%e.%p.profraw --depth 60 -- make check\n"
    "  pgokit record heap --socket /run/app.sock -- ./app &\n"
    "  pgokit record heap --attach $(pidof app) dump\n";

enum { MOST_SAMPLE_BYTES = 1 << 30 };

struct record {
    struct cli_common common;
    const char *output, *socket;
    unsigned long attach;             /* number of a running process, or 0 */
    unsigned long depth, raw_version; /* 0: not given */
    uint64_t sample_bytes;            /* mean, from one sample to the next; 0: not given */
    unsigned budget;                  /* thousandths of the processor time; 0: not given */
    bool sample;
    bool histogram, leak_check, no_cmdline, open;
    char **argv;
    struct record_program p;
    char template[PATH_MAX]; /* of the profiles' names, absolute */
};

static void take_sample(const struct option_given *given)
{
    struct record *r = given->into;
    r->sample = true;
    if (!given->value)
        return;
    struct option_given bytes = *given;
    bytes.into = &r->sample_bytes;
    cli_take_bytes(&bytes);
    if (!r->sample_bytes || r->sample_bytes > MOST_SAMPLE_BYTES)
        cli_usage(given->verb, "--sample takes the mean number of bytes from one sample to the "
                               "next, 1 to 1G, not '%s'", given->value);
}

/* 1%, 0.5%, or without the sign. */
static void take_budget(const struct option_given *given)
{
    double percent;
    bool has_sign;
    if (!option_percent(given->value, &percent, &has_sign) || !(percent >= 0.1 && percent <= 100))
        cli_usage(given->verb, "--budget takes per cent of the processor time, 0.1%% to 100%%, not "
                               "'%s'", given->value);
    *(unsigned *)given->into = (unsigned)(percent * 10 + 0.5);
}

static const struct option_row rows[] = {
    {"output", 'o', "FILE",
     "name of the profile: %p process, %h host, %e program, %t time; default " DEFAULT_NAME
     ". Without %p, children add their number", OPTION_TEXT(struct record, output),
     .is_output = true,
     .page = "`%%` is a percent sign. In a folder, the file has the default name"},
    {"sample", 0, "[BYTES]",
     "record a part of the objects, one for each BYTES allocated on average, in any program; "
     "without BYTES, as many as the budget allows",
     OPTION_CALL_FOR(struct record, common, take_sample),
     .page = "BYTES may end in k or M. [Sampled heap profiles](../design/sampled-heap.md) says how "
             "sure the estimates are"},
    {"budget", 0, "PERCENT",
     "with --sample, processor time that recording may take (default 1%)",
     OPTION_CALL_FOR(struct record, budget, take_budget),
     .page = "recording measures what it takes, and samples less or more"},
    {"depth", 0, "N", "frames kept of a call stack, 1 to 255 (default 255)",
     OPTION_NUMBER(struct record, depth, 1, 255)},
    {"raw-version", 0, "N", "version of the raw profile, 3 to 5 (default 5)",
     OPTION_NUMBER(struct record, raw_version, 3, 5),
     .page = "LLVM 16 to 18 read 3, LLVM 22 reads 5"},
    {"histogram", 0, NULL,
     "require accesses by place in the object; the program decides, see pgokit config --histogram",
     OPTION_FLAG(struct record, histogram),
     .page = "programs that are not built for this are refused"},
    {"leak-check", 0, NULL, "find the objects that no pointer leads to when the program ends",
     OPTION_FLAG(struct record, leak_check),
     .page = "`show` reports them as unreachable. [How it works](../design/runtime.md#leaks), and "
             "what it misses"},
    RECORD_NO_CMDLINE(struct record),
    RECORD_OPEN(struct record),
    {"socket", 0, "FILE",
     "answer requests there while the program runs, see --attach; %p, %h, %e and %t as in -o. "
     "Children need %p to have one of their own", OPTION_TEXT(struct record, socket),
     .page = "it is a Unix socket ([libpgokit_heap](libpgokit_heap.md#while-the-program-runs))"},
    {"attach", 0, "PID",
     "instead send a REQUEST to a running process that has a socket: dump (write what it recorded "
     "up to now), start, stop (do not record new objects), or status",
     OPTION_NUMBER(struct record, attach, 1, INT_MAX)},
    {0},
};
static const struct option_table table = {"record heap", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct record), {0}};

static void parse(struct record *r, int argc, char **argv)
{
    option_parse(&record_heap, groups, argc, argv, r);
    if (r->attach && (r->output || r->socket || r->depth || r->raw_version || r->histogram ||
                      r->leak_check || r->no_cmdline || r->open || r->sample))
        cli_usage(&record_heap, "--attach is for a program that runs already, other options are "
                                "for its start");
    if (r->budget && !r->sample)
        cli_usage(&record_heap, "--budget is for --sample, which takes a part of the objects");
    if (r->sample && (r->socket || r->raw_version || r->histogram || r->leak_check))
        cli_usage(&record_heap, "--sample takes a part of the objects, and goes with none of "
                                "--socket, --raw-version, --histogram and --leak-check");
    if (r->attach && argc - optind != 1)
        cli_usage(&record_heap, "--attach takes a request: dump, start, status or stop");
    if (r->attach && !record_attach_knows(argv[optind]))
        cli_refuse_value(&record_heap, argv[optind],
                         "--attach takes a request: dump, start, status or stop");
    if (optind == argc)
        cli_usage(&record_heap, "no program: name it after --");
    r->argv = argv + optind;
}

/* ---- the program ---- */

static void check_histogram(const struct record *r)
{
    if (r->histogram && !(r->p.found.histogram_known && r->p.found.histogram))
        record_refuse(EXIT_NOT_EXECUTABLE, r->p.profiled,
               "%s. Build it as pgokit config --histogram heap says, or leave --histogram out",
               r->p.found.histogram_known
                   ? "it was not built to count by place in the object"
                   : "it is stripped, so it is not known whether it counts by place in the object");
}

/* ---- its environment ---- */

/* The last out= of the user's own options, as the runtime reads them. */
static bool out_of_options(char *out, size_t size, const char *s)
{
    bool found = false;
    while (*s) {
        s += strspn(s, ":, \t\n");
        size_t name = strcspn(s, "=:, \t\n");
        bool is_out = name == 3 && !strncmp(s, "out", 3);
        s += name;
        if (*s != '=')
            continue;
        s++;
        char quote[] = {*s == '\'' || *s == '"' ? *s : 0, 0};
        s += *quote != 0;
        size_t value = strcspn(s, *quote ? quote : ":, \t\n");
        if (is_out && value && value < size) {
            memcpy(out, s, value);
            out[value] = 0;
            found = true;
        }
        s += value + (*quote && s[value]);
    }
    return found;
}

static void choose_template(struct record *r)
{
    char own[PATH_MAX];
    const char *name = r->output,
               *variable = r->sample ? SAMPLER_OPTIONS : "PGOKIT_HEAP_OPTIONS";
    if (!name)
        name = out_of_options(own, sizeof own, record_environment(variable)) ||
                       (!r->sample &&
                        out_of_options(own, sizeof own, record_environment("PGOKIT_HEAP")))
                   ? own
                   : DEFAULT_NAME;
    record_output(r->template, r->p.program, name, DEFAULT_NAME);
}

/* The runtime's own limit is that of the system, 107 bytes, once it has put in what %p and others
 * stand for. */
static void add_socket(const struct record *r, char *ours, size_t size)
{
    char name[2 * PATH_MAX];
    const size_t n = strlen(ours);
    if (record_absolute(name, sizeof name, r->p.program, r->socket, "") > 107)
        record_refuse(EXIT_RECORD_FAILED, r->p.program,
                      "the name of the socket is longer than 107 bytes");
    record_check_quotes(r->p.program, name, "--socket");
    snprintf(ours + n, size - n, ":socket=%c%s%c", record_quote(name), name, record_quote(name));
}

static void set_options(const struct record *r)
{
    char ours[PATH_MAX + 300], number[60];
    const char quote = record_quote(r->template);
    snprintf(ours, sizeof ours, "out=%c%s%c", quote, r->template, quote);
    if (r->socket)
        add_socket(r, ours, sizeof ours - 2 * sizeof number);
    if (r->depth) {
        snprintf(number, sizeof number, ":depth=%lu", r->depth);
        strcat(ours, number);
    }
    if (r->raw_version) {
        snprintf(number, sizeof number, ":raw_version=%lu", r->raw_version);
        strcat(ours, number);
    }
    if (r->leak_check)
        strcat(ours, ":leak_check=1");
    if (r->no_cmdline)
        strcat(ours, ":cmdline=0");
    record_join("PGOKIT_HEAP_OPTIONS", record_environment("PGOKIT_HEAP_OPTIONS"), ours);
}

/* LLVM's runtime adds ".PROCESS" to a name and knows no other template. */
static void set_options_of_llvm(const struct record *r)
{
    char ours[PATH_MAX + 100], number[60];
    size_t n = strlen(r->template) - strlen(".%p");
    if (strcmp(r->template + n, ".%p") != 0 || memchr(r->template, '%', n))
        record_refuse(EXIT_RECORD_FAILED, r->p.program,
               "it is linked with LLVM's runtime, whose profiles are named NAME.%%p");
    if (r->socket)
        record_refuse(EXIT_RECORD_FAILED, r->p.program,
               "it is linked with LLVM's runtime, which answers at no socket; leave --socket out");
    if (r->leak_check)
        record_refuse(EXIT_RECORD_FAILED, r->p.program,
               "it is linked with LLVM's runtime, which finds no leaks; leave --leak-check out");
    if (r->raw_version)
        record_refuse(EXIT_RECORD_FAILED, r->p.program,
               "it is linked with LLVM's runtime, which writes a version of its own; leave "
               "--raw-version out");
    const char quote = record_quote(r->template);
    snprintf(ours, sizeof ours, "log_path=%c%.*s%c", quote, (int)n, r->template, quote);
    if (r->depth) {
        snprintf(number, sizeof number, ":malloc_context_size=%lu", r->depth);
        strcat(ours, number);
    }
    record_join("MEMPROF_OPTIONS", record_environment("MEMPROF_OPTIONS"), ours);
}

/* Stands in front of the allocator that the program has. */
static void set_sampler(const struct record *r)
{
    char ours[PATH_MAX + 300], number[60], path[PATH_MAX];
    const char quote = record_quote(r->template);
    if (r->p.found.heap_runtime != PGK_HEAP_RUNTIME_NONE)
        record_refuse(EXIT_RECORD_FAILED, r->p.program,
                      "it was built to record all of its objects; leave --sample out, or build it "
                      "without the runtime");
    record_check_can_preload(&r->p, STATIC_HINT, GO_HINT, NULL);
    snprintf(ours, sizeof ours, "out=%c%s%c", quote, r->template, quote);
    if (r->sample_bytes) {
        snprintf(number, sizeof number, ":sample=%" PRIu64, r->sample_bytes);
        strcat(ours, number);
    }
    if (r->budget) {
        snprintf(number, sizeof number, ":budget=%u", r->budget);
        strcat(ours, number);
    }
    if (r->depth) {
        snprintf(number, sizeof number, ":depth=%lu", r->depth);
        strcat(ours, number);
    }
    if (r->no_cmdline)
        strcat(ours, ":cmdline=0");
    record_join(SAMPLER_OPTIONS, record_environment(SAMPLER_OPTIONS), ours);
    record_find_runtime(r->p.program, path, SAMPLER);
    record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
}

/* The preloaded library depends on the runtime that is linked into the program. */
static void set_environment(const struct record *r)
{
    char path[PATH_MAX];
    if (r->sample) {
        set_sampler(r);
        return;
    }
    set_options(r);
    switch (r->p.found.heap_runtime) {
    case PGK_HEAP_RUNTIME_PGOKIT:
        break;
    case PGK_HEAP_RUNTIME_LLVM:
        set_options_of_llvm(r);
        if (!r->common.quiet)
            fputs("pgokit: note: the program is linked with LLVM's runtime, so that one "
                  "records; for pgokit's, link as pgokit config --libs heap says\n",
                  stderr);
        break;
    case PGK_HEAP_RUNTIME_LLVM_SHARED:
        record_check_can_preload(&r->p, LINK_HINT, GO_HINT, LINK_HINT);
        record_find_runtime(r->p.program, path, TAKEOVER_RUNTIME);
        *strrchr(path, '/') = 0;
        record_join("LD_LIBRARY_PATH", path, record_environment("LD_LIBRARY_PATH"));
        break;
    case PGK_HEAP_RUNTIME_NONE:
        record_check_can_preload(&r->p, LINK_HINT, GO_HINT, LINK_HINT);
        record_find_runtime(r->p.program, path, SHARED_RUNTIME);
        record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
        break;
    }
}

static void open_page(const struct record *r, const struct record_heap_page *made)
{
    char page[PATH_MAX + 8];
    const char *words[] = {"pgokit", "report", made->profile, "-o", page, "-q", NULL, NULL, NULL};
    snprintf(page, sizeof page, "%s.html", made->profile);
    if (*made->binary) {
        words[6] = "-b";
        words[7] = made->binary;
    }
    if (*made->profile && record_run_pgokit(words))
        record_open_page(page);
    else if (!r->common.quiet)
        cli_note("there is no page, because there is no profile that one can be made of");
}

static int run(int argc, char **argv)
{
    struct record r = {0};
    struct record_heap_page page = {0};
    struct record_files files;
    struct record_ended ended;
    parse(&r, argc, argv);
    if (r.attach) {
        const int status = record_attach((int)r.attach, r.argv[0]);
        cli_common_free(&r.common);
        return status;
    }
    record_find_program(r.p.program, r.argv[0]);
    record_inspect(&r.p);
    check_histogram(&r);
    choose_template(&r);
    record_files_before(&files, r.template);
    record_note_inputs(&r.p, r.argv);
    record_note_outputs(&files, r.template);
    record_keep_environment();
    set_environment(&r);
    if (!record_run(r.p.program, r.argv, &ended))
        record_refuse(EXIT_NOT_EXECUTABLE, r.p.program, "%s", strerror(errno));
    record_files_after(&files, r.template);
    record_heap_report(&files, &ended, r.p.profiled, r.leak_check, r.common.quiet,
                       &page);
    if (r.open)
        open_page(&r, &page);
    if (!files.n && !strchr(r.template, '%'))
        record_drop_former(r.template);
    record_files_free(&files);
    cli_common_free(&r.common);
    return ended.exit_code;
}

const struct cli_verb record_heap = {
    .name = "record heap",
    .summary = "what is allocated where, and how it is used",
    .help = help,
    .exit_help =
        "that of the program, 128 and its number if a signal ended it; 125 pgokit failed, "
        "126 the program cannot be run or recorded, 127 there is no such program, 2 wrong usage",
    .run = run,
    .groups = groups,
    .examples = examples,
    .stops_at_operand = true};
