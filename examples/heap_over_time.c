/* Prints how much memory was alive over time, and which function had allocated most of it:
 *
 *     cc heap_over_time.c $(pkg-config --cflags --libs pgokit) -o heap_over_time
 *     ./heap_over_time memprof.pgokit.4711 ./app */
#include <pgokit/pgokit.h>

#include <stdio.h>

static void print_point(const struct pgk_heap *heap, const struct pgk_heap_point *point,
                        const struct pgk_heap_share *most)
{
    char when[PGK_HUMAN_SIZE], alive[PGK_HUMAN_SIZE], held[PGK_HUMAN_SIZE];
    struct pgk_heap_frame leaf;
    pgk_heap_stack(heap, most->context, &leaf, 1);
    printf("after %s %s, %s of them by %s\n", pgk_human_ms(when, (double)point->ms),
           pgk_human_bytes(alive, (double)point->bytes),
           pgk_human_bytes(held, (double)most->bytes), leaf.function);
}

/* Shares are ordered by their points; not every point has some. */
static void print_points(const struct pgk_heap *heap)
{
    struct pgk_heap_times times = {.struct_size = sizeof times};
    struct pgk_heap_share most = {0};
    pgk_heap_over_time(heap, &times);
    for (size_t i = 0; i < times.n_shares; i++) {
        struct pgk_heap_share share = pgk_heap_point_share(heap, i);
        if (i && share.point != most.point)
            print_point(heap, &times.points[most.point], &most);
        if (!i || share.point != most.point || share.bytes > most.bytes)
            most = share;
    }
    if (times.n_shares)
        print_point(heap, &times.points[most.point], &most);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *heap = NULL;
    struct pgk_binaries *binaries = NULL;
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: %s PROFILE [PROGRAM]\n", argv[0]);
        return 1;
    }
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = pgk_heap_read(heap, argv[1], 1, &err);
    if (!status)
        status = pgk_binaries_new(&binaries, NULL, &err);
    if (!status && argc == 3)
        status = pgk_binaries_add(binaries, argv[2], &err);
    if (!status && pgk_heap_needs_binaries(heap))
        status = pgk_heap_symbolise(&heap, binaries, NULL, NULL, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        print_points(heap);
    }
    pgk_heap_close(&heap);
    pgk_binaries_close(&binaries);
    return status != 0;
}
