/* Records the command of --run for `pgokit pgo`: by perf's branch records, or by our recorder. */
#include "pgo.h"

#include "perf_check.h"

#include <stdio.h>

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

/* One run with perf's branch records, or with our recorder. */
static double record_once(const struct pgo_load *load, const char *event, unsigned run)
{
    struct record_ended ended;
    if (!event) {
        pgo_shell("the recorded command", load->run, &ended);
        return record_cpu_s(&ended);
    }
    char output[2 * PATH_MAX];
    snprintf(output, sizeof output, "%s/run.%u", load->scratch, run);
    const char *const words[] = {"env",    "perf", "record", "-q", "-b", "-e", event,  "-c",
                                 "100003", "-o",   output,   "--", "sh", "-c", load->run, NULL};
    if (!pgo_log_run("/usr/bin/env", words, true, &ended) || ended.exit_code) {
        pgo_log_show_end();
        pgo_stop("perf record failed, or the recorded command: %s", load->run);
    }
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
