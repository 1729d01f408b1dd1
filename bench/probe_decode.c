/* How fast all probes of a binary are decoded, and in how much memory:
 *
 *     probe_decode BINARY [RUNS]
 *
 * CPU time of one thread, the fastest of RUNS; the file is in memory. Opening reads the
 * descriptors and symbols, too, and checks everything; indexing decodes and sorts by address. */
#include "pgokit/pgokit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct result {
    double open_s, index_s;
    size_t probes, nodes, index_bytes;
};

static int once(const char *path, struct result *best)
{
    struct pgk_probes *probes;
    struct pgk_probe_index *index;
    struct pgk_err err = {0};
    double start = cpu_s();
    if (pgk_probes_open(&probes, path, &err) < 0)
        goto failed;
    double opened = cpu_s();
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (pgk_probe_index_all(&index, probes, &err) < 0)
        goto failed;
    double indexed = cpu_s();
    if (opened - start < best->open_s)
        best->open_s = opened - start;
    if (indexed - opened < best->index_s)
        best->index_s = indexed - opened;
    best->index_bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    best->probes = pgk_probes_totals(probes).probes;
    best->nodes = pgk_probes_totals(probes).nodes;
    pgk_probe_index_close(&index);
    pgk_probes_close(&probes);
    return 0;

failed:
    pgk_err_print(&err, stderr);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct result best = {.open_s = 1e9, .index_s = 1e9};
    int runs = argc > 2 ? atoi(argv[2]) : 10;
    if (argc < 2) {
        fputs("usage: probe_decode BINARY [RUNS]\n", stderr);
        return 2;
    }
    for (int i = 0; i < runs; i++)
        if (once(argv[1], &best))
            return 2;
    double n = (double)best.probes;
    printf("%zu probes in %zu nodes\n", best.probes, best.nodes);
    printf("open    %6.1f ms  %6.1f million probes/s (descriptors, symbols, checks)\n",
           best.open_s * 1e3, n / best.open_s * 1e-6);
    printf("index   %6.1f ms  %6.1f million probes/s (decode, order by address)\n",
           best.index_s * 1e3, n / best.index_s * 1e-6);
    printf("both    %6.1f ms  %6.1f million probes/s\n", (best.open_s + best.index_s) * 1e3,
           n / (best.open_s + best.index_s) * 1e-6);
    printf("memory  %6.1f B per probe\n", (double)best.index_bytes / n);
    return 0;
}
