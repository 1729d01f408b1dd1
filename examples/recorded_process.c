/* Prints which process each recording is of, and when and where it ran: of heap profiles and branch
 * recordings in a folder, which are the ones to merge?
 *
 *     cc recorded_process.c $(pkg-config --cflags --libs pgokit) -o recorded_process
 *     ./recorded_process memprof.profraw.* branches.* */
#include <pgokit/pgokit.h>

#include <stdio.h>
#include <time.h>

static void print_process(const char *path, const char *program, const char *command_line,
                          const char *host, uint64_t start_ms)
{
    char when[40] = "at an unknown time", shown[1024];
    time_t seconds = (time_t)(start_ms / 1000);
    if (seconds)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime(&seconds));
    const char *what = *command_line ? command_line : *program ? program : "an unknown program";
    printf("%s: %s, %s on %s\n", path, pgk_human_text(shown, sizeof shown, what), when,
           *host ? host : "an unknown machine");
}

static int print_heap(const char *path, struct pgk_err *err)
{
    struct pgk_heap *heap = NULL;
    struct pgk_heap_recording r = {.struct_size = sizeof r};
    int status = pgk_heap_new(&heap, err);
    if (!status)
        status = pgk_heap_read(heap, path, 1, err);
    if (!status && pgk_heap_recording(heap, &r))
        print_process(path, r.program, r.command_line, r.host, r.start_ms);
    pgk_heap_close(&heap);
    return status;
}

static int print_recording(const char *path, struct pgk_err *err)
{
    struct pgk_branches *branches = NULL;
    struct pgk_branches_process p = {.struct_size = sizeof p};
    if (pgk_branches_open(&branches, path, NULL))
        return print_heap(path, err);
    pgk_branches_process_of(branches, &p);
    print_process(path, p.program, p.command_line, p.host, p.start_ms);
    pgk_branches_close(&branches);
    return 0;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (print_recording(argv[i], &err)) {
            pgk_err_print(&err, stderr);
            fputc('\n', stderr);
            failed = 1;
        }
    return failed;
}
