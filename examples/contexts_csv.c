/* Prints the twenty contexts that allocate most bytes as CSV, for spreadsheets and data frames:
 *
 *     cc contexts_csv.c $(pkg-config --cflags --libs pgokit) -o contexts_csv
 *     ./contexts_csv app.memprof >contexts.csv */
#include <pgokit/pgokit.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *heap = NULL;
    const struct pgk_heap_export_opts largest = {.struct_size = sizeof largest, .max_contexts = 20};
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = pgk_heap_read(heap, argc == 2 ? argv[1] : "", 1, &err);
    if (!status)
        status = pgk_heap_export(heap, "csv", "-", &largest, &err);
    pgk_heap_close(&heap);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    return status != 0;
}
