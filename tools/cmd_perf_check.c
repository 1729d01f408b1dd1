/* pgokit perf-check: what this machine can record, and the perf record line for it. */
#include "cli.h"

#include "perf_check.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AMD_TAKEN_BRANCHES = 0xc4 };

static const char help[] =
    "usage: pgokit perf-check\n\n"
    "Tries what perf record needs for sample profiles on this machine, and prints the\n"
    "commands to type. Nothing is recorded, and nothing is changed.\n";

static const struct option_group groups[] = {{.table = &cli_common_options}, {0}};

/* 0, or why the kernel refuses the event. */
static int open_event(struct perf_event_attr attr, pid_t pid, int cpu)
{
    attr.size = sizeof attr;
    attr.disabled = 1;
    long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

/* Of this process, without the kernel. */
static int try_event(struct perf_event_attr attr)
{
    attr.exclude_kernel = attr.exclude_hv = 1;
    return open_event(attr, 0, -1);
}

static bool has_device(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", name);
    return !access(path, R_OK);
}

/* AMD's first branch stacks (family 19h, Zen 3) come with an event of their own. */
static bool has_brs(void)
{
    return !access("/sys/bus/event_source/devices/cpu/events/branch-brs", R_OK);
}

static bool first_line(const char *path, char *line, int size)
{
    FILE *f = fopen(path, "r");
    bool ok = f && fgets(line, size, f);
    if (f)
        fclose(f);
    line[ok ? strcspn(line, "\n") : 0] = 0;
    return ok;
}

/* Whether a filter of system calls is in force, as in most containers. */
static bool is_filtered(void)
{
    char line[256];
    bool filtered = false;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && !filtered && fgets(line, sizeof line, f))
        filtered = !strncmp(line, "Seccomp:", 8) && strchr(line, '2');
    if (f)
        fclose(f);
    return filtered;
}

static const char *reason(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return is_filtered() ? "not permitted: by this container (docker run --cap-add PERFMON), "
                               "or by kernel.perf_event_paranoid"
                             : "not permitted: lower kernel.perf_event_paranoid, or use "
                               "CAP_PERFMON";
    case ENOSYS: return "refused: a container's seccomp profile forbids perf_event_open";
    case ENOENT:
    case EOPNOTSUPP:
    case EINVAL:
    case ENODEV:
        return "not available: the processor, or its virtual machine, has none";
    default: return strerror(error);
    }
}

static void report(const char *what, int error)
{
    printf("%-16s %s%s%s\n", what, CLI_STYLE(error ? CLI_WARN : CLI_GOOD),
           error ? reason(error) : "yes", CLI_STYLE(CLI_PLAIN));
}

static bool is_intel(void)
{
    char line[256];
    bool intel = false;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !intel && fgets(line, sizeof line, f))
        intel = !strncmp(line, "vendor_id", 9) && strstr(line, "GenuineIntel");
    if (f)
        fclose(f);
    return intel;
}

/* A command to type, and what it is good for. */
static void print_command(const char *kinds, const char *event, const char *period,
                          const char *purpose)
{
    printf("  perf record %s-e %s%s -- PROGRAM\n      %s\n", kinds, event, period, purpose);
}

/* It needs no events. */
static void print_recorder(void)
{
#ifdef __x86_64__
    puts("  pgokit record branches -- PROGRAM\n"
         "      counts and call targets, counted in the program itself");
#endif
}

static const char *branch_event(void)
{
    return has_brs() ? "cpu/branch-brs/u" : "branches:u";
}

/* The best that this machine has, and where that is not exact, what another one would give. */
static void print_commands(bool branches, bool cycles, bool events, bool intel)
{
    if (!events) {
        puts("\nperf can record nothing here until perf events are permitted");
        print_recorder();
        return;
    }
    puts("\nrecord with");
    const char *event = branch_event();
    const char *clock = cycles ? "cycles:u" : "cpu-clock:u";
    if (branches) {
        print_command("-b ", event, " -c 100003", "counts");
        print_command("-b -g ", event, " -c 100003", "with calling contexts; needs frame pointers");
    } else {
        print_command("", clock, " -F 5000", "counts, inferred");
        print_recorder();
        if (has_device("arm_spe_0"))
            print_command("", "arm_spe_0//u", "",
                          "counts and call targets, inferred; exact counts and types of objects, "
                          "too, where the processor reports the branch before (FEAT_SPE_PBT)");
        print_command("-g ", clock, " -F 5000",
                      "and whom indirect calls enter; needs frame pointers");
        puts("and on a machine that has branch stacks, for exact counts and call targets, with");
        print_command("-b ", event, " -c 100003", "counts");
    }
    if (has_device("ibs_op"))
        print_command("-d ", "ibs_op//", " -c 100003", "types of objects");
    else if (has_device("arm_spe_0"))
        print_command("", "arm_spe_0/load_filter=1/u", "", "types of objects");
    else if (intel)
        print_command("-d ", "mem_inst_retired.all_loads:upp", " -c 10007", "types of objects");
}

static struct perf_event_attr branch_stacks(void)
{
    struct perf_event_attr branches = {
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
        .sample_period = 100003,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
        .branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY};
    if (has_brs()) {
        branches.type = PERF_TYPE_RAW;
        branches.config = AMD_TAKEN_BRANCHES;
    }
    return branches;
}

const char *perf_check_branches(void)
{
    if (try_event(branch_stacks()) || system("perf --version >/dev/null 2>&1"))
        return NULL;
    return branch_event();
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    char line[32];
    option_parse(&cmd_perf_check, groups, argc, argv, &common);
    if (optind != argc)
        cli_usage(&cmd_perf_check, "perf-check takes no file");
    cli_for_people(CLI_LINES);
    struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};
    struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
                                     .config = PERF_COUNT_HW_CPU_CYCLES};
    int stacks = try_event(branch_stacks()), events = try_event(clock);
    int counters = try_event(cycles);
    report("events", events);
    report("of the kernel", open_event(clock, 0, -1));
    report("whole machine", open_event(clock, -1, 0));
    report("counters", counters);
    report("branch stacks", stacks);
    printf("%-16s %s\n", "loads",
           has_device("ibs_op")      ? "AMD IBS"
           : has_device("arm_spe_0") ? "ARM SPE"
           : is_intel() && !counters ? "Intel PEBS, if perf list shows mem_inst_retired"
                                              : "no");
    if (first_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof line))
        printf("%-16s %s\n", "paranoid", line);
    if (first_line("/proc/sys/kernel/perf_event_max_sample_rate", line, sizeof line))
        printf("%-16s %s samples a second\n", "at most", line);
    print_commands(!stacks, !counters, !events, is_intel());
    cli_common_free(&common);
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_perf_check = {
    .name = "perf-check",
    .summary = "shows what this machine can record for sample profiles",
    .help = help,
    .run = run,
    .groups = groups,
};
