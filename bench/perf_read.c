/* How fast recordings are read, without anything being counted:
 *
 *     perf_read RECORDING [RUNS]
 *
 * CPU time of one thread, the fastest of RUNS; the file is in memory. */
#include "perf_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int add_branches(void *ctx, const struct pgk_perf_sample *s)
{
    uint64_t *sum = ctx;
    for (size_t i = 0; i < s->n_branches; i++)
        *sum += s->branches[i].from ^ s->branches[i].to;
    return 0;
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[2]) : 5;
    struct pgk_perf_input *input;
    struct pgk_err err = {0};
    double best = 1e9;
    uint64_t sum = 0;
    if (argc < 2) {
        fputs("usage: perf_read RECORDING [RUNS]\n", stderr);
        return 2;
    }
    for (int i = 0; i < runs; i++) {
        double start = cpu_s();
        if (pgk_perf_input_open(&input, argv[1], &err) ||
            pgk_perf_input_read(input, &(struct pgk_perf_handler){.ctx = &sum,
                                                                  .sample = add_branches}, &err)) {
            pgk_err_print(&err, stderr);
            fputc('\n', stderr);
            return 2;
        }
        double took = cpu_s() - start;
        const struct pgk_perf_info *info = pgk_perf_input_info(input);
        best = took < best ? took : best;
        if (i + 1 == runs)
            printf("%s: %.1f MB, %llu samples read in %.3f s, %.0f MB/s (branches %016llx)\n",
                   info->form, (double)info->bytes / 1e6, (unsigned long long)info->samples, best,
                   (double)info->bytes / 1e6 / best, (unsigned long long)sum);
        pgk_perf_input_close(&input);
    }
    return 0;
}
