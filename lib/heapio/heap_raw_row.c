/* Raw heap profiles among the formats. */
#include "format_row.h"
#include "heap_raw.h"
#include "heap_running.h"
#include "salvage.h"

static bool sniff(const uint8_t *bytes, size_t size)
{
    return pgk_starts_with_u64(bytes, size, PGK_HEAP_RAW_MAGIC);
}

static void note_running(const struct pgk_heap *heap, const struct pgk_source *src,
                         struct pgk_file_info *info)
{
    struct pgk_heap_recording recording = {.struct_size = sizeof recording};
    if (info->facts[PGK_FACT_INTERRUPTED] && pgk_heap_recording(heap, &recording))
        info->facts[PGK_FACT_RUNNING] = pgk_heap_is_running(recording.program, src->file);
}

static int read_bytes(struct pgk_heap *heap, const uint8_t *bytes, size_t size,
                      const struct pgk_source *src, struct pgk_file_info *info,
                      struct pgk_err *err)
{
    struct pgk_heap_read_info raw;
    PGK_TRY(pgk_heap_raw_read(heap, bytes, size, src, &raw, err));
    pgk_heap_origin_note(&raw, info);
    note_running(heap, src, info);
    return 0;
}

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    return read_bytes(heap, file->bytes, file->size, file->src, info, err);
}

static int build_ids(const struct pgk_file_bytes *file, pgk_build_id_fn *fn, void *ctx,
                     struct pgk_err *err)
{
    return pgk_heap_raw_build_ids(file->bytes, file->size, file->src, fn, ctx, err);
}

/* First writes the whole records to memory as a sound profile, and reads that. */
static int salvage(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                   struct pgk_salvage *lost, struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_sink *clean;
    PGK_TRY(pgk_sink_memory(&clean, err));
    int status = pgk_heap_raw_salvage(clean, file->bytes, file->size, file->src, lost, err);
    if (!status) {
        size_t size;
        const uint8_t *bytes = pgk_sink_data(clean, &size);
        status = bytes ? read_bytes(heap, bytes, size, file->src, info, err) : pgk_fail_nomem(err);
    }
    pgk_sink_drop(&clean);
    return status;
}

static int write(const struct pgk_heap *heap, const char *path,
                 const struct pgk_heap_target *target, struct pgk_err *err)
{
    return pgk_heap_write_raw(heap, path, target->version, err);
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    const uint64_t dumps = info->facts[PGK_FACT_DUMPS];
    if (dumps > 1 || (dumps && info->facts[PGK_FACT_INTERRUPTED]))
        pgk_info_add(text, ", %u dump%s", (unsigned)dumps, pgk_plural(dumps));
    pgk_heap_origin_describe(info, text);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    const struct pgk_raw_version *v = pgk_raw_version(info->version);
    pgk_info_add_releases(text, v->since, v->until);
}

const struct pgk_format_row pgk_format_heap_raw = {
    .format = {.name = "raw heap profile",
               .kind = PGK_KIND_HEAP,
               .reads = "1 to " PGK_VERSION_TEXT(PGK_RAW_NOW),
               .writes = "1 to " PGK_VERSION_TEXT(PGK_RAW_NOW),
               .made_by = "runtimes of clang 14 to " PGK_LLVM_NOW_TEXT ", pgokit",
               .page = "raw-heap.md",
               .read = {1, PGK_RAW_NOW},
               .write = {1, PGK_RAW_NOW}},
    .sniff = sniff,
    .grows = true,
    .build_ids = build_ids,
    .read_heap = read,
    .holds_origin = true,
    .salvage_heap = salvage,
    .write_heap = write,
    .form = PGK_HEAP_RAW,
    .describe = describe,
    .readers = readers,
};
