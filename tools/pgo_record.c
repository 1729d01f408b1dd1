/* Records the command of --run for `pgokit pgo`: by perf's branch records, or by our recorder. */
#include "pgo.h"

#include "perf_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDER "libpgokit_branches.so"

static void load_recorder(const struct pgo_load *load)
{
    char path[PATH_MAX], ours[2 * PATH_MAX];
    const char quote = record_quote(load->scratch);
    snprintf(ours, sizeof ours, "out=%c%s/run.%%p%c:frequency=%lu", quote, load->scratch, quote,
             load->frequency);
    record_join("PGOKIT_BRANCHES_OPTIONS", record_environment("PGOKIT_BRANCHES_OPTIONS"), ours);
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

/* One run with perf's branch records, or with our recorder. */
static double record_once(const struct pgo_load *load, const char *event, unsigned run)
{
    struct record_ended ended;
    char *by_perf = NULL;
    if (event) {
        char *word = quoted(load->run), *folder = quoted(load->scratch);
        if (asprintf(&by_perf, "perf record -q -b -e %s -c 100003 -o %s/run.%u -- sh -c %s", event,
                     folder, run, word) < 0)
            pgo_stop("out of memory");
        free(word);
        free(folder);
    }
    const char *command = by_perf ? by_perf : load->run;
    if (load->for_s > 0)
        pgo_shell_for("the recorded command", command, load->for_s, &ended);
    else
        pgo_shell("the recorded command", command, &ended);
    free(by_perf);
    return record_cpu_s(&ended);
}

void pgo_record(const struct pgo_load *load, struct record_files *recordings)
{
    enum { SECONDS = 5, RUNS_MAX = 20 };
    const char *event = perf_check_branches();
    char template[PATH_MAX + 16];
    char *preload = pgo_saved("LD_PRELOAD"), *recorder = pgo_saved("PGOKIT_BRANCHES_OPTIONS");
    snprintf(template, sizeof template, "%s/run.%%p", load->scratch);
    pgo_say(load->quiet, "records %s: %s",
            event ? "the branch records of this machine" : "branches in the program", load->run);
    if (!event)
        load_recorder(load);
    record_files_before(recordings, template);
    double total = 0;
    unsigned n = 0;
    do
        total += record_once(load, event, n++);
    while (load->runs ? n < load->runs : total < SECONDS && n < RUNS_MAX);
    pgo_put_back("LD_PRELOAD", preload);
    pgo_put_back("PGOKIT_BRANCHES_OPTIONS", recorder);
    record_files_after(recordings, template);
    if (!recordings->n)
        pgo_stop("nothing was recorded. Is the program linked statically? Does --run start it, and "
                 "run it for 20 ms or more?");
    pgo_say(load->quiet, "recorded %u run%s, %.1f s of processor time", n, n == 1 ? "" : "s",
            total);
}
