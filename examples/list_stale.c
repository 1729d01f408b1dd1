/* Lists what a profile says of code that a new build no longer has as it was, most first: calls on
 * the call stacks of a heap profile, functions of a sample profile.
 *
 *     cc list_stale.c $(pkg-config --cflags --libs pgokit) -o list_stale
 *     ./list_stale app.memprof ./new-app */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

static int list_calls(struct pgk_heap *heap, struct pgk_binaries *build, struct pgk_err *err)
{
    struct pgk_match *match = NULL;
    int status = pgk_match_heap(&match, heap, build, NULL, err);
    if (status)
        return status;
    for (size_t i = 0; i < pgk_match_changes(match); i++) {
        struct pgk_match_change c = {.struct_size = sizeof c};
        pgk_match_change(match, i, &c);
        printf("%s: %s calls %s (%" PRIu64 " B)\n", pgk_match_level_name(c.level), c.caller,
               c.callee ? c.callee : "an allocator", c.bytes);
    }
    pgk_match_close(&match);
    return 0;
}

static int list_functions(struct pgk_sample *profile, struct pgk_binaries *build,
                          struct pgk_err *err)
{
    struct pgk_function_match *match = NULL;
    int status = pgk_sample_finish(profile, err);
    if (!status)
        status = pgk_match_sample(&match, profile, build, NULL, err);
    if (status)
        return status;
    for (size_t i = 0; i < pgk_function_changes(match); i++) {
        struct pgk_function_change c = {.struct_size = sizeof c};
        pgk_function_change(match, i, &c);
        printf("%s: %s line %" PRIu32 " (%" PRIu64 " samples)\n", pgk_match_level_name(c.level),
               c.function, c.line, c.samples);
    }
    pgk_function_match_close(&match);
    return 0;
}

static int list(struct pgk_file *file, struct pgk_binaries *build, struct pgk_err *err)
{
    struct pgk_heap *heap = NULL;
    struct pgk_sample *samples = NULL;
    bool is_heap = pgk_file_holds(file, PGK_KIND_HEAP);
    int status = is_heap ? pgk_heap_new(&heap, err) : pgk_sample_new(&samples, err);
    if (!status)
        status = is_heap ? pgk_heap_read_file(heap, file, 1, err)
                         : pgk_sample_read_file(samples, file, 1, err);
    if (!status)
        status = is_heap ? list_calls(heap, build, err) : list_functions(samples, build, err);
    pgk_heap_close(&heap);
    pgk_sample_close(&samples);
    return status;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_file *file = NULL;
    struct pgk_binaries *build = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: %s PROFILE PROGRAM\n", argv[0]);
        return 1;
    }
    int status = pgk_file_open(&file, argv[1], &err);
    if (!status)
        status = pgk_binaries_new(&build, NULL, &err);
    if (!status)
        status = pgk_binaries_add(build, argv[2], &err);
    if (!status)
        status = list(file, build, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_binaries_close(&build);
    pgk_file_close(&file);
    return status != 0;
}
