/* Records the command of --run for `pgokit pgo`: by perf's branch records, or by our recorder. */
#include "pgo.h"

#include "perf_check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDER "libpgokit_branches.so"

/* Programs that end within some ticks of the kernel's clock are recorded by the time on the clock,
 * which may interrupt calls that wait; so not all programs are. */
static void load_recorder(const struct pgo_load *load, const char *users, bool real_time)
{
    enum { REAL_TIME_HZ = 1000 };
    char ours[2 * PATH_MAX];
    const char quote = record_quote(load->scratch);
    snprintf(ours, sizeof ours, "out=%c%s/%s.%%p%c:frequency=%lu%s", quote, load->scratch,
             load->name, quote,
             real_time && load->frequency < REAL_TIME_HZ ? REAL_TIME_HZ : load->frequency,
             real_time ? ":real_time=1" : "");
    record_join("PGOKIT_BRANCHES_OPTIONS", users ? users : "", ours);
}

static void preload_recorder(void)
{
    char path[PATH_MAX];
    record_find_runtime("the program", path, RECORDER);
    record_join("LD_PRELOAD", path, record_environment("LD_PRELOAD"));
}

/* The command as one word of a shell. */
static char *quoted(const char *command)
{
    char *text = malloc(4 * strlen(command) + 3), *to = text;
    if (!text)
        pgo_stop("out of memory");
    *to++ = '\'';
    for (; *command; command++)
        to += *command == '\'' ? sprintf(to, "'\\''") : sprintf(to, "%c", *command);
    strcpy(to, "'");
    return text;
}

static char *command_of(const struct pgo_load *load, const char *event, unsigned run)
{
    char *made, *word, *folder;
    if (!event)
        return strdup(load->run);
    word = quoted(load->run);
    folder = quoted(load->scratch);
    if (asprintf(&made, "perf record -q -b -e %s -c 100003 -o %s/%s.%u -- sh -c %s", event, folder,
                 load->name, run, word) < 0)
        pgo_stop("out of memory");
    free(word);
    free(folder);
    return made;
}

/* One run with perf's branch records, or with our recorder. */
static double record_once(const struct pgo_load *load, const char *event, unsigned run)
{
    struct record_ended ended;
    char *command = command_of(load, event, run);
    if (load->for_s > 0)
        pgo_shell_for("the recorded command", command, load->for_s, &ended);
    else
        pgo_shell("the recorded command", command, &ended);
    free(command);
    return record_cpu_s(&ended);
}

static uint64_t ticks_of(const char *path)
{
    struct pgk_branches_work work = {.struct_size = sizeof work};
    struct pgk_branches *b;
    uint64_t n = 0;
    if (pgk_branches_open(&b, path, NULL))
        return 0;
    for (size_t i = 0; pgk_branches_work_at(b, i, &work); i++)
        if (!strcmp(work.name, "TICKS"))
            n = work.n;
    pgk_branches_close(&b);
    return n;
}

/* Ticks in the recordings so far, each a window if it could begin. */
static double ticks(const struct pgo_load *load)
{
    char path[2 * PATH_MAX];
    const size_t name = strlen(load->name);
    double n = 0;
    DIR *folder = opendir(load->scratch);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", load->scratch, entry->d_name);
        n += strncmp(entry->d_name, load->name, name) || entry->d_name[name] != '.'
                 ? 0
                 : (double)ticks_of(path);
    }
    if (folder)
        closedir(folder);
    return n;
}

struct runs {
    unsigned n;
    double cpu_s, began_s;
    bool by_clock; /* as they are short */
};

static bool is_enough(const struct pgo_load *load, const struct runs *r)
{
    enum { CPU_S = 5, WALL_S = 30, RUNS = 1000 };
    if (load->runs)
        return r->n >= load->runs;
    return load->for_s > 0 || r->cpu_s >= CPU_S || r->n >= RUNS ||
           record_now_s() - r->began_s >= WALL_S;
}

/* The first run shows whether its processes last for ticks of the kernel's clock. */
static void record_runs(const struct pgo_load *load, const char *event, struct runs *r)
{
    const double least = 0.3; /* of the ticks that its time should have */
    const double some_ticks_s = 0.05;
    char *users = pgo_saved("PGOKIT_BRANCHES_OPTIONS");
    struct record_ended ended;
    if (!event) {
        preload_recorder();
        load_recorder(load, users, false);
    }
    r->began_s = record_now_s();
    r->cpu_s = record_once(load, event, r->n++);
    bool is_short = !event && (r->cpu_s < some_ticks_s ||
                               ticks(load) < least * r->cpu_s * (double)load->frequency);
    while (!is_enough(load, r)) {
        if (!is_short) {
            r->cpu_s += record_once(load, event, r->n++);
            continue;
        }
        load_recorder(load, users, true);
        is_short = pgo_try_load(load->run, &ended);
        r->by_clock = is_short;
        r->n += is_short;
        r->cpu_s += is_short ? record_cpu_s(&ended) : 0;
        if (!is_short) /* it does not bear to be interrupted */
            load_recorder(load, users, false);
    }
    pgo_put_back("PGOKIT_BRANCHES_OPTIONS", users);
}

unsigned pgo_record(const struct pgo_load *load, struct record_files *recordings)
{
    const char *event = perf_check_branches();
    char template[2 * PATH_MAX];
    char *preload = pgo_saved("LD_PRELOAD");
    struct runs r = {0};
    snprintf(template, sizeof template, "%s/%s.%%p", load->scratch, load->name);
    pgo_say(load->quiet, "records %s: %s",
            event ? "the branch records of this machine" : "branches in the program", load->run);
    record_files_before(recordings, template);
    record_runs(load, event, &r);
    pgo_put_back("LD_PRELOAD", preload);
    record_files_after(recordings, template);
    if (!recordings->n)
        pgo_stop("nothing was recorded. Does --run start a program that the build makes, and does "
                 "that compute for some milliseconds?");
    pgo_say(load->quiet, "recorded %u run%s, %.1f s of processor time%s", r.n, r.n == 1 ? "" : "s",
            r.cpu_s, r.by_clock ? ", by the time on the clock, as its processes are short" : "");
    return r.n;
}
