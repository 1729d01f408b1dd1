/* pgokit check for heap profiles. */
#include "cli.h"

#include <stdio.h>

static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    (void)common;
    struct pgk_heap *heap;
    struct pgk_file *file;
    char text[160], readers[80], safe[512], size[PGK_HUMAN_SIZE], contexts[PGK_HUMAN_SIZE];
    int status = pgk_heap_new(&heap, err);
    if (status)
        return status;
    status = cli_open(&file, path, err);
    if (!status)
        status = pgk_heap_read_file(heap, file, 1, err);
    if (!status) {
        const struct pgk_file_info *info = pgk_file_info(file);
        const struct cli_cut cut = cli_cut_stacks(heap);
        char stacks[PGK_HUMAN_SIZE + 40] = "", number[PGK_HUMAN_SIZE];
        if (cut.contexts)
            snprintf(stacks, sizeof stacks, ", %s with stacks that were cut",
                     pgk_human_count(number, cut.contexts));
        printf("%s: %ssound%s: %s, %s, %s context%s%s; read by %s\n",
               pgk_human_text(safe, sizeof safe, path), CLI_STYLE(CLI_GOOD), CLI_STYLE(CLI_PLAIN),
               pgk_file_info_text(info, text, sizeof text),
               pgk_human_bytes(size, (double)pgk_file_info_size_bytes(info)),
               pgk_human_count(contexts, pgk_heap_contexts(heap)),
               pgk_heap_contexts(heap) == 1 ? "" : "s", stacks,
               pgk_file_info_readers(info, readers, sizeof readers));
    }
    pgk_heap_close(&heap);
    return status;
}

/* A large file that was cut loses thousands of records one by one. */
enum { SHOWN = 20 };
struct reporting {
    const char *path;
    size_t said;
};

static void report(void *ctx, const char *what)
{
    struct reporting *t = ctx;
    char safe[256];
    if (t->said++ < SHOWN)
        fprintf(stderr, "pgokit: warning: %s: lost: %s\n",
                pgk_human_text(safe, sizeof safe, t->path), what);
}

/* Writes what is left in the format and version of the damaged file, or, where pgokit does not
 * write that format, as a partial profile, which holds all that is known. */
static int repair(const char *path, const char *output, struct pgk_err *err)
{
    struct pgk_heap *heap;
    struct pgk_file *file;
    struct pgk_heap_target target = {.form = PGK_HEAP_PARTIAL};
    bool as_it_was = false;
    char safe[512], contexts[PGK_HUMAN_SIZE];
    int status = pgk_heap_new(&heap, err);
    if (status)
        return status;
    struct reporting reporting = {.path = path};
    int lost = cli_open(&file, path, err);
    if (!lost)
        lost = pgk_heap_salvage(heap, file, report, &reporting, err);
    if (reporting.said > SHOWN)
        fprintf(stderr, "pgokit: warning: %s: lost: and %zu more\n",
                pgk_human_text(safe, sizeof safe, path), reporting.said - SHOWN);
    status = lost < 0 ? lost : 0;
    if (!status) {
        as_it_was = pgk_file_info_heap_target(pgk_file_info(file), &target);
        status = pgk_heap_write(heap, output, &target, err);
    }
    if (!status)
        printf("%s: %s context%s saved%s%s\n", pgk_human_text(safe, sizeof safe, output),
               pgk_human_count(contexts, pgk_heap_contexts(heap)),
               pgk_heap_contexts(heap) == 1 ? "" : "s",
               as_it_was ? "" : " as a partial profile of pgokit",
               lost ? "" : ", nothing is lost");
    pgk_heap_close(&heap);
    return status ? status : lost;
}

const struct cli_check check_heap = {PGK_KIND_HEAP, run, repair};
