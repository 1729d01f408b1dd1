/* pgokit check for heap profiles. */
#include "cli.h"

#include <stdio.h>

static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    (void)common;
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

const struct cli_check check_heap = {PGK_KIND_HEAP, run};
