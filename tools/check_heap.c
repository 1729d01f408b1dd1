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

/* A large file that was cut loses thousands of records one by one. */
enum { SHOWN = 20 };
struct telling {
    const char *path;
    size_t said;
};

static void tell(void *ctx, const char *what)
{
    struct telling *t = ctx;
    char safe[256];
    if (t->said++ < SHOWN)
        fprintf(stderr, "pgokit: warning: %s: lost: %s\n",
                pgk_human_text(safe, sizeof safe, t->path), what);
}

/* In the format and version of the damaged file. */
static int write_again(const struct pgk_heap *heap, const struct pgk_file_info *info,
                       const char *output, struct pgk_err *err)
{
    if (!info->has_heap)
        return pgk_heap_write_raw(heap, output, info->version, err);
    bool newest = info->version >= 13 || info->memprof_version >= 4;
    const struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts,
        .target = {.index_version = info->version,
                   .memprof_version = info->memprof_version,
                   .frame_ids = newest ? 2 : 1},
        .full_schema = info->full_schema,
    };
    return pgk_indexed_write(heap, NULL, output, &opts, err);
}

static int repair(const char *path, const char *output, struct pgk_err *err)
{
    struct pgk_heap *heap;
    struct pgk_file_info info;
    char safe[512], contexts[PGK_HUMAN_SIZE];
    int status = pgk_heap_new(&heap, err);
    if (status)
        return status;
    struct telling telling = {.path = path};
    int lost = pgk_heap_salvage(heap, path, &info, tell, &telling, err);
    if (telling.said > SHOWN)
        fprintf(stderr, "pgokit: warning: %s: lost: and %zu more\n",
                pgk_human_text(safe, sizeof safe, path), telling.said - SHOWN);
    status = lost < 0 ? lost : write_again(heap, &info, output, err);
    if (!status)
        printf("%s: %s contexts saved%s\n", pgk_human_text(safe, sizeof safe, output),
               pgk_human_count(contexts, pgk_heap_contexts(heap)), lost ? "" : ", nothing is lost");
    pgk_heap_close(&heap);
    return status ? status : lost;
}

const struct cli_check check_heap = {PGK_KIND_HEAP, run, repair};
