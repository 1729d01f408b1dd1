/* pgokit check for instrumentation profiles. */
#include "cli.h"

#include <stdio.h>

static int read_all(struct pgk_file *file, struct pgk_instr *instr, struct pgk_heap *heap,
                    struct pgk_err *err)
{
    int status = pgk_instr_read_file(instr, file, 1, err);
    return !status && pgk_file_holds(file, PGK_KIND_HEAP) ? pgk_heap_read_file(heap, file, 1, err)
                                                          : status;
}

/* An indexed profile with heap data is sound if both parts are. */
static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    (void)common;
    struct pgk_instr *instr = NULL;
    struct pgk_heap *heap = NULL;
    struct pgk_file *file;
    struct pgk_instr_summary plain = {.struct_size = sizeof plain}, contextual = plain;
    char text[160], safe[512], size[PGK_HUMAN_SIZE], functions[PGK_HUMAN_SIZE],
        counters[PGK_HUMAN_SIZE], contexts[PGK_HUMAN_SIZE], estimated[PGK_HUMAN_SIZE];
    int status = pgk_instr_new(&instr, err);
    if (!status)
        status = pgk_heap_new(&heap, err);
    if (!status)
        status = cli_open(&file, path, err);
    if (!status)
        status = read_all(file, instr, heap, err);
    if (!status) {
        const struct pgk_file_info *info = pgk_file_info(file);
        pgk_instr_summary(instr, false, &plain);
        pgk_instr_summary(instr, true, &contextual);
        printf("%s: %ssound%s: %s, %s, %s: %s functions with %s counters",
               pgk_human_text(safe, sizeof safe, path), CLI_STYLE(CLI_GOOD), CLI_STYLE(CLI_PLAIN),
               pgk_file_info_text(info, text, sizeof text),
               pgk_human_bytes(size, (double)pgk_file_info_size_bytes(info)),
               pgk_instr_origin_text(instr),
               pgk_human_count(functions, pgk_instr_functions(instr)),
               pgk_human_count(counters, plain.counters + contextual.counters));
        uint64_t unknown =
            pgk_instr_functions(instr) - plain.functions - contextual.functions;
        if (unknown)
            printf(", %s only known to be hot or warm", pgk_human_count(estimated, unknown));
        if (pgk_file_holds(file, PGK_KIND_HEAP))
            printf(", %s heap contexts", pgk_human_count(contexts, pgk_heap_contexts(heap)));
        printf("; read by %s\n", pgk_file_info_readers(info, text, sizeof text));
    }
    pgk_instr_close(&instr);
    pgk_heap_close(&heap);
    return status;
}

const struct cli_check check_instr = {PGK_KIND_INSTR, run};
