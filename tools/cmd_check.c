/* pgokit check: is a file sound, and who reads it? */
#include "cli.h"

#include <stdio.h>

static const char help[] =
    "usage: pgokit check FILE...\n\n"
    "Reads each file to its last byte and says whether it is sound, what it holds, and which\n"
    "other tools read it.\n\n" CLI_COMMON_HELP
    "\nExample:\n"
    "  pgokit check memprof.profraw.* app.profdata\n"
    "\nExit status: 0 all are sound, 2 some are not.\n";

static const struct option options[] = {CLI_COMMON_LONG, {0}};

static int check(const char *path, struct pgk_err *err)
{
    struct pgk_heap *heap;
    struct pgk_file_info info;
    char text[160], safe[512], size[PGK_HUMAN_SIZE], contexts[PGK_HUMAN_SIZE];
    int status = pgk_heap_new(&heap, err);
    if (status)
        return status;
    status = pgk_heap_read(heap, path, &info, err);
    if (!status)
        printf("%s: sound: %s, %s, %s contexts; read by %s\n",
               pgk_human_text(safe, sizeof safe, path),
               pgk_file_info_text(&info, text, sizeof text),
               pgk_human_bytes(size, (double)info.size_bytes),
               pgk_human_count(contexts, pgk_heap_contexts(heap)), pgk_file_info_readers(&info));
    pgk_heap_close(&heap);
    return status;
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    int exit_code = EXIT_DONE;
    while (cli_next_option(&cmd_check, argc, argv, "", options, &common) != -1)
        continue;
    if (optind == argc)
        cli_usage(&cmd_check, "nothing to check: name one file at least");
    for (int i = optind; i < argc; i++) {
        struct pgk_err err = {0};
        if (check(argv[i], &err))
            exit_code = cli_fail(&err);
    }
    cli_common_free(&common);
    return cli_finish_output(exit_code);
}

const struct cli_verb cmd_check = {"check", "says whether files are sound", help, run};
