/* Indexed profiles among the formats: those with counters, and those of heap data alone. */
#include "format_row.h"
#include "indexed.h"
#include "salvage.h"

static bool sniff(const uint8_t *bytes, size_t size)
{
    return pgk_starts_with_u64(bytes, size, PGK_INDEXED_MAGIC);
}

static bool sniff_heap(const uint8_t *bytes, size_t size)
{
    return sniff(bytes, size) && pgk_indexed_is_heap_only(bytes, size);
}

static uint32_t kinds(const uint8_t *bytes, size_t size)
{
    return 1u << PGK_KIND_INSTR | (uint32_t)pgk_indexed_has_heap(bytes, size) << PGK_KIND_HEAP;
}

static int build_ids(const struct pgk_file_bytes *file, pgk_build_id_fn *fn, void *ctx,
                     struct pgk_err *err)
{
    return pgk_indexed_build_ids(file->bytes, file->size, file->src, fn, ctx, err);
}

static void take(struct pgk_file_info *info, const struct pgk_indexed_info *indexed)
{
    info->version = indexed->index_version;
    info->facts[PGK_FACT_HEAP] = indexed->has_heap;
    info->facts[PGK_FACT_MEMPROF_VERSION] = indexed->memprof_version;
    info->facts[PGK_FACT_SCHEMA_TAG_MAX] = indexed->schema_tag_max;
    info->facts[PGK_FACT_FULL_SCHEMA] = indexed->full_schema;
    info->facts[PGK_FACT_DATA_ACCESS] = indexed->has_data_access;
    info->facts[PGK_FACT_COUNTERS] = indexed->has_counters;
}

static int read_heap(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                     struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_read(heap, file->bytes, file->size, file->src, &indexed, err));
    take(info, &indexed);
    return 0;
}

static int read_heap_functions(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                               const uint64_t *functions, size_t n, struct pgk_file_info *info,
                               struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_read_functions(heap, file->bytes, file->size, file->src, functions, n,
                                       &indexed, err));
    take(info, &indexed);
    return 0;
}

static int read_instr(struct pgk_instr_adder *adder, const struct pgk_file_bytes *file,
                      struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_read_instr(adder, file->bytes, file->size, file->src, &indexed, err));
    take(info, &indexed);
    return 0;
}

static int salvage(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                   struct pgk_salvage *lost, struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_salvage(heap, file->bytes, file->size, file->src, lost, &indexed, err));
    take(info, &indexed);
    return 0;
}

static int write_heap(const struct pgk_heap *heap, const char *path,
                      const struct pgk_heap_target *target, struct pgk_err *err)
{
    const struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts,
        .target = {.index_version = target->index_version, .memprof_version = target->version},
        .full_schema = target->full_schema,
    };
    return pgk_indexed_write(heap, NULL, path, &opts, err);
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_HEAP])
        pgk_info_add(text, ", MemProf V%u with %s fields",
                     (unsigned)info->facts[PGK_FACT_MEMPROF_VERSION],
                     info->facts[PGK_FACT_FULL_SCHEMA] ? "all" : "the compiler's");
}

/* docs/formats/indexed-heap.md 9.2, instr-indexed.md. */
static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    uint32_t since = pgk_index_since(info->version);
    if (!info->facts[PGK_FACT_HEAP]) {
        pgk_info_add_releases(text, since, PGK_LLVM_NOW);
        return;
    }
    const struct pgk_memprof_version *v =
        pgk_memprof_version(info->facts[PGK_FACT_MEMPROF_VERSION]);
    const bool later = info->facts[PGK_FACT_SCHEMA_TAG_MAX] > v->last_tag;
    const uint32_t first = later ? v->since_later : v->since;
    if (first > since)
        since = first;
    pgk_info_add_releases(text, since, v->until);
}

const struct pgk_format_row pgk_format_indexed_heap = {
    .format = {.name = "indexed profile",
               .kind = PGK_KIND_HEAP,
               .reads = "index " PGK_VERSION_TEXT(PGK_INDEX_FIRST_HEAP) " to " PGK_VERSION_TEXT(
                   PGK_INDEX_NOW) " with MemProf V0 to V" PGK_VERSION_TEXT(PGK_MEMPROF_NOW),
               .writes = "index " PGK_VERSION_TEXT(PGK_INDEX_FIRST_HEAP) " to " PGK_VERSION_TEXT(
                   PGK_INDEX_NOW) " with MemProf V0 to V" PGK_VERSION_TEXT(PGK_MEMPROF_NOW),
               .made_by = "llvm-profdata 16 to " PGK_LLVM_NOW_TEXT ", pgokit",
               .page = "indexed-heap.md",
               .read = {PGK_INDEX_FIRST_HEAP, PGK_INDEX_NOW},
               .write = {PGK_INDEX_FIRST_HEAP, PGK_INDEX_NOW},
               .memprof = {0, PGK_MEMPROF_NOW}},
    .sniff = sniff_heap,
    .sniffs_all = true,
    .build_ids = build_ids,
    .read_heap = read_heap,
    .read_heap_functions = read_heap_functions,
    .read_instr = read_instr,
    .salvage_heap = salvage,
    .write_heap = write_heap,
    .form = PGK_HEAP_INDEXED,
    .describe = describe,
    .readers = readers,
};

const struct pgk_format_row pgk_format_indexed_instr = {
    .format = {.name = "indexed profile",
               .kind = PGK_KIND_INSTR,
               .reads = "index " PGK_VERSION_TEXT(PGK_INDEX_OLDEST) " to " PGK_VERSION_TEXT(
                   PGK_INDEX_NOW),
               .writes = "index " PGK_VERSION_TEXT(PGK_INDEX_FIRST) " to " PGK_VERSION_TEXT(
                   PGK_INDEX_NOW),
               .made_by = "llvm-profdata to " PGK_LLVM_NOW_TEXT ", pgokit",
               .page = "instr-indexed.md",
               .read = {PGK_INDEX_OLDEST, PGK_INDEX_NOW},
               .write = {PGK_INDEX_FIRST, PGK_INDEX_NOW},
               .memprof = {0, PGK_MEMPROF_NOW}},
    .sniff = sniff,
    .sniffs_all = true,
    .kinds = kinds,
    .build_ids = build_ids,
    .read_heap = read_heap,
    .read_heap_functions = read_heap_functions,
    .read_instr = read_instr,
    .salvage_heap = salvage,
    .instr_writer = {.form = PGK_INSTR_INDEXED,
                     .name = "indexed",
                     .usual_version = PGK_INDEX_USUAL,
                     .write = pgk_indexed_write_instr,
                     .loss = pgk_instr_parts_loss},
    .describe = describe,
    .readers = readers,
};
