/* Prints the variables and string literals that loads and stores hit most, and where they are
 * declared, from the data access profile of a heap profile:
 *
 *     cc hot_variables.c $(pkg-config --cflags --libs pgokit) -o hot_variables
 *     ./hot_variables app.memprof */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

enum { TOP = 20 };

/* False if it was not accessed, as all that follow. */
static bool print_item(const struct pgk_heap *heap, size_t i)
{
    struct pgk_heap_data item;
    struct pgk_heap_data_place place;
    pgk_heap_data_item(heap, i, &item);
    if (!item.accesses)
        return false;
    printf("%10" PRIu64 "  ", item.accesses);
    if (*item.symbol)
        printf("%s", item.symbol);
    else
        printf("literal %016" PRIx64, item.literal);
    if (pgk_heap_data_places(heap, i, &place, 1))
        printf("  %s:%" PRIu32, place.file, place.line);
    putchar('\n');
    return true;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *heap = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PROFILE\n", argv[0]);
        return 1;
    }
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = pgk_heap_read(heap, argv[1], 1, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        size_t i = 0;
        while (i < pgk_heap_data_items(heap) && i < TOP && print_item(heap, i))
            i++;
    }
    pgk_heap_close(&heap);
    return status != 0;
}
