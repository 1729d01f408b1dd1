/* Makes a heap profile from records of one's own allocator: which call stack allocated how much,
 * how long it lived, how often it was accessed, and what was alive when. pgokit report shows it,
 * and pgokit merge makes of it what clang -fmemory-profile-use reads.
 *
 *     cc build_heap.c $(pkg-config --cflags --libs pgokit) -o build_heap
 *     ./build_heap app.pgk && pgokit merge app.pgk -o app.memprof */
#include <pgokit/pgokit.h>

#include <stdio.h>

static int add_cold_buffer(struct pgk_heap *heap, struct pgk_err *err)
{
    static const struct pgk_heap_frame stack[] = {
        {.function = "_Z9make_bufm", .line_offset = 2, .column = 12, .inlined = true},
        {.function = "_Z4loadPKc", .line_offset = 7, .column = 9},
        {.function = "main", .line_offset = 3, .column = 5},
    };
    static const struct pgk_heap_value values[] = {
        {PGK_MIB_AllocCount, 4},          /* objects */
        {PGK_MIB_TotalSize, 4 << 20},     /* bytes */
        {PGK_MIB_MinSize, 1 << 20},       {PGK_MIB_MaxSize, 1 << 20},
        {PGK_MIB_TotalLifetime, 3600000}, /* milliseconds */
        {PGK_MIB_TotalAccessCount, 16},
    };
    const struct pgk_heap_allocation allocation = {
        .struct_size = sizeof allocation, .frames = stack, .n_frames = 3, .values = values,
        .n_values = sizeof values / sizeof *values};
    return pgk_heap_build_context(heap, &allocation, err);
}

/* The context of position 0 held all that was alive at the second of three times. */
static int add_curve(struct pgk_heap *heap, struct pgk_err *err)
{
    static const struct pgk_heap_point points[] = {
        {.ms = 0}, {.ms = 900, .bytes = 4 << 20, .objects = 4}, {.ms = 1800, .bytes = 1 << 20}};
    static const struct pgk_heap_share share = {.point = 1, .context = 0, .bytes = 4 << 20};
    const struct pgk_heap_times times = {
        .struct_size = sizeof times, .processes = 1, .peak_ms = 900, .peak_bytes = 4 << 20,
        .peak_objects = 4, .points = points, .n_points = sizeof points / sizeof *points,
        .shares = &share, .n_shares = 1};
    return pgk_heap_build_over_time(heap, &times, err);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *heap = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s OUTPUT\n", argv[0]);
        return 1;
    }
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = add_cold_buffer(heap, &err);
    if (!status)
        status = add_curve(heap, &err);
    if (!status)
        status = pgk_heap_write_partial(heap, argv[1], &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_heap_close(&heap);
    return status != 0;
}
