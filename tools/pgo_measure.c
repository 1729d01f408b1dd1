/* Runs both builds in turn, so that what else the machine does falls on both alike, and compares
 * each round with itself. */
#include "pgo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted numbers: 0.5 is the median. */
static double quantile(const double *v, unsigned n, double part)
{
    double at = part * (n - 1);
    unsigned low = (unsigned)at, high = low + 1 < n ? low + 1 : low;
    return v[low] + (v[high] - v[low]) * (at - low);
}

/* Without the output of the command, which would only repeat. */
static double processor_time(const char *command)
{
    struct record_ended ended;
    char *silent;
    if (asprintf(&silent, "exec >/dev/null\n%s", command) < 0)
        pgo_stop("out of memory");
    pgo_shell("the measured command", silent, &ended);
    free(silent);
    return record_cpu_s(&ended);
}

static void print_times(const char *what, double *v, unsigned n)
{
    qsort(v, n, sizeof *v, order);
    printf("  %-19s %.3f s (half of the runs from %.3f to %.3f s)\n", what, quantile(v, n, 0.5),
           quantile(v, n, 0.25), quantile(v, n, 0.75));
}

/* Faster by so much: as many per cent more runs in the same time. */
static struct pgo_gain print_gain(double *gain, unsigned n)
{
    qsort(gain, n, sizeof *gain, order);
    const struct pgo_gain g = {quantile(gain, n, 0.5), quantile(gain, n, 0.25),
                               quantile(gain, n, 0.75)};
    printf("  %-19s %+.1f %% (half of the rounds from %+.1f to %+.1f %%)\n", "speed", g.percent,
           g.low, g.high);
    if (g.low <= 0 && g.high >= 0)
        puts("  no difference beyond the spread of the rounds");
    fflush(stdout); /* before what is said next */
    return g;
}

struct pgo_gain pgo_measure(const struct pgo_files *files, const char *command, unsigned rounds,
                            bool quiet)
{
    double *times[2] = {calloc(rounds, sizeof(double)), calloc(rounds, sizeof(double))};
    double *gain = calloc(rounds, sizeof *gain);
    if (!times[0] || !times[1] || !gain)
        pgo_stop("out of memory");
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned k = 0; k < 2; k++) {
            bool with = (i + k) % 2;
            pgo_place(files, with);
            times[with][i] = processor_time(command);
        }
        gain[i] = times[1][i] > 0 ? 100 * (times[0][i] / times[1][i] - 1) : 0;
        if (!quiet && isatty(STDERR_FILENO))
            fprintf(stderr, "\rmeasured %u of %u rounds%s", i + 1, rounds,
                    i + 1 < rounds ? "" : "\n");
    }
    pgo_place(files, true);
    printf("processor time of %u runs each, in turn:\n", rounds);
    print_times("without a profile", times[0], rounds);
    print_times("with the profile", times[1], rounds);
    const struct pgo_gain found = print_gain(gain, rounds);
    free(times[0]);
    free(times[1]);
    free(gain);
    return found;
}
