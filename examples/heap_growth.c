/* Fails if a program allocates more bytes than it did, by more than so many per cent: a check for
 * continuous integration.
 *
 *     cc heap_growth.c $(pkg-config --cflags --libs pgokit) -o heap_growth
 *     ./heap_growth before.memprof now.memprof 5 */
#include <pgokit/pgokit.h>

#include <stdio.h>
#include <stdlib.h>

static int read_heap(struct pgk_heap **heap, const char *path, struct pgk_err *err)
{
    int status = pgk_heap_new(heap, err);
    return status ? status : pgk_heap_read(*heap, path, 1, err);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *before = NULL, *now = NULL;
    struct pgk_heap_diff_figures figures = {.struct_size = sizeof figures};
    if (argc != 4) {
        fprintf(stderr, "usage: %s BEFORE NOW PERCENT\n", argv[0]);
        return 2;
    }
    int status = read_heap(&before, argv[1], &err);
    if (!status)
        status = read_heap(&now, argv[2], &err);
    if (!status)
        status = pgk_heap_compare(before, now, &figures, &err);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
        return 2;
    }
    printf("%+.1f %% bytes, %+.1f %% objects; %.0f %% of the bytes by the same call stacks\n",
           figures.growth_percent, figures.objects_growth_percent, 100 * figures.overlap);
    return figures.growth_percent > strtod(argv[3], NULL);
}
