/* Writes a heap profile as a page to look at in a browser, and its totals to standard output:
 *
 *     cc report_page.c $(pkg-config --cflags --libs pgokit) -o report_page
 *     ./report_page app.memprof app.html */
#include <pgokit/pgokit.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *heap = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: %s PROFILE PAGE\n", argv[0]);
        return 1;
    }
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = pgk_heap_read(heap, argv[1], 1, &err);
    if (!status) {
        const struct pgk_heap_print_opts opts = {
            .struct_size = sizeof opts, .title = argv[1], .sort = PGK_HEAP_SORT_BYTES, .top = 3};
        status = pgk_heap_print_table(heap, &opts, stdout, &err);
    }
    if (!status) {
        const struct pgk_heap_export_opts opts = {.struct_size = sizeof opts, .title = argv[1]};
        status = pgk_heap_export(heap, "html", argv[2], &opts, &err);
    }
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_heap_close(&heap);
    return status != 0;
}
