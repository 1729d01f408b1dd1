/* Prints what all call stacks through a function add up to in one field of a heap profile:
 *
 *     cc cost_of_function.c $(pkg-config --cflags --libs pgokit) -o cost_of_function
 *     ./cost_of_function app.memprof parse TotalSize
 *
 * The function is named as a programmer writes it, the field as LLVM does. */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FRAMES = 256, NAME_SIZE = 512 };

static bool goes_through(const struct pgk_heap *heap, size_t context, const char *function)
{
    struct pgk_heap_frame frames[MAX_FRAMES];
    char name[NAME_SIZE];
    size_t n = pgk_heap_stack(heap, context, frames, MAX_FRAMES);
    for (size_t i = 0; i < n && i < MAX_FRAMES; i++)
        if (!strcmp(pgk_human_function(name, sizeof name, frames[i].function), function))
            return true;
    return false;
}

static void print_sum(const struct pgk_heap *heap, const char *function, enum pgk_mib_id field)
{
    const char *unit, *meaning;
    uint64_t part = 0, all = 0;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        uint64_t value = pgk_heap_value(heap, i, field);
        all += value;
        part += goes_through(heap, i, function) ? value : 0;
    }
    const char *name = pgk_mib_info(field, &unit, &meaning);
    printf("%s: %s %" PRIu64 " %s of %" PRIu64 "\n", function, name, part, unit, all);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *heap = NULL;
    enum pgk_mib_id field;
    if (argc != 4 || !pgk_mib_find(argv[3], &field)) {
        fprintf(stderr, "usage: %s PROFILE FUNCTION FIELD\n", argv[0]);
        return 1;
    }
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = pgk_heap_read(heap, argv[1], 1, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        print_sum(heap, argv[2], field);
    }
    pgk_heap_close(&heap);
    return status != 0;
}
