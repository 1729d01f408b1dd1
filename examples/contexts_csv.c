/* Prints the twenty call stacks that allocate most bytes as CSV, for spreadsheets and data frames:
 *
 *     cc contexts_csv.c $(pkg-config --cflags --libs pgokit) -o contexts_csv
 *     ./contexts_csv app.memprof >contexts.csv */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 20, FRAMES = 64 };

struct row {
    uint64_t bytes;
    size_t context;
};

static int by_bytes(const void *a, const void *b)
{
    uint64_t x = ((const struct row *)a)->bytes, y = ((const struct row *)b)->bytes;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* A part of a cell; quotation marks, as of C++'s operator"" _km, are doubled. */
static void print_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
}

static void print_row(const struct pgk_heap *heap, size_t context)
{
    struct pgk_heap_frame frames[FRAMES];
    char name[1024];
    size_t n = pgk_heap_stack(heap, context, frames, FRAMES);
    printf("%" PRIu64 ",%" PRIu64 ",\"", pgk_heap_value(heap, context, PGK_MIB_TotalSize),
           pgk_heap_value(heap, context, PGK_MIB_AllocCount));
    for (size_t i = 0; i < n && i < FRAMES; i++) {
        pgk_name_demangle(frames[i].function, true, name, sizeof name);
        printf("%s", i ? " < " : "");
        print_quoted(name);
    }
    printf("\"\r\n");
}

static int print_contexts(const struct pgk_heap *heap)
{
    size_t n = pgk_heap_contexts(heap);
    struct row *rows = malloc(n * sizeof *rows + 1);
    if (!rows)
        return PGK_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct row){pgk_heap_value(heap, i, PGK_MIB_TotalSize), i};
    qsort(rows, n, sizeof *rows, by_bytes);
    printf("bytes,objects,call stack\r\n");
    for (size_t i = 0; i < n && i < ROWS; i++)
        print_row(heap, rows[i].context);
    free(rows);
    return 0;
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
    if (!status)
        status = print_contexts(heap);
    pgk_heap_close(&heap);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    return status != 0;
}
