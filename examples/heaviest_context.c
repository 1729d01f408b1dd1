/* Prints the call stack that allocates most bytes:
 *
 *     cc heaviest_context.c $(pkg-config --cflags --libs pgokit) -o heaviest_context
 *     ./heaviest_context memprof.profraw.4711 ./app
 *
 * A raw profile holds addresses and needs the program that was run; others have names. */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

static int fail(const struct pgk_err *err)
{
    pgk_err_print(err, stderr);
    fputc('\n', stderr);
    return 1;
}

static void print_heaviest(const struct pgk_heap *heap)
{
    size_t heaviest = 0;
    for (size_t i = 1; i < pgk_heap_contexts(heap); i++)
        if (pgk_heap_value(heap, i, PGK_MIB_TotalSize) >
            pgk_heap_value(heap, heaviest, PGK_MIB_TotalSize))
            heaviest = i;

    struct pgk_heap_frame frames[32];
    size_t n = pgk_heap_stack(heap, heaviest, frames, 32);
    printf("%" PRIu64 " B\n", pgk_heap_value(heap, heaviest, PGK_MIB_TotalSize));
    for (size_t i = 0; i < n && i < 32; i++) {
        char name[1024]; /* longer ones are cut */
        pgk_name_demangle(frames[i].function, true, name, sizeof name);
        printf("  %s:%" PRIu32 "\n", name, frames[i].decl_line + frames[i].line_offset);
    }
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
    if (!status)
        print_heaviest(heap);
    pgk_heap_close(&heap);
    pgk_binaries_close(&binaries);
    return status ? fail(&err) : 0;
}
