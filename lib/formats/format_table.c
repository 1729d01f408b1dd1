/* The one table of formats, and reading by it. */
#include "pgokit/format.h"

#include "filemap.h"
#include "gcov_model.h"
#include "heap_partial.h"
#include "heap_paths.h"
#include "heap_raw.h"
#include "heap_text.h"
#include "heap_yaml.h"
#include "indexed.h"
#include "instr_raw.h"
#include "instr_text.h"
#include "salvage.h"
#include "sample_files.h"

#include <inttypes.h>
#include <string.h>

/* One reader per kind of profile that a file of the format can hold; NULL: it holds none. */
struct row {
    struct pgk_format public;
    bool (*sniff)(const uint8_t *bytes, size_t size);
    bool sniffs_all; /* looks behind the beginning of the file */
    int (*read_heap)(struct pgk_heap *heap, const struct pgk_filemap *map,
                     const struct pgk_source *src, struct pgk_file_info *info, struct pgk_err *err);
    bool wants_own_heap; /* read_heap cannot add to a model to which other threads add */
    /* What can be read of a damaged file; NULL: not supported. */
    int (*salvage_heap)(struct pgk_heap *heap, const struct pgk_filemap *map,
                        const struct pgk_source *src, struct pgk_salvage *salvage,
                        struct pgk_file_info *info, struct pgk_err *err);
    pgk_read_sample_fn *read_sample;
    int (*read_gcov)(struct pgk_gcov *gcov, const struct pgk_filemap *map,
                     const struct pgk_source *src, uint64_t weight, struct pgk_err *err);
    int (*read_instr)(struct pgk_instr_adder *adder, const struct pgk_filemap *map,
                      const struct pgk_source *src, struct pgk_file_info *info,
                      struct pgk_err *err);
};

static bool starts_with(const uint8_t *bytes, size_t size, uint64_t magic)
{
    return size >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

static bool sniff_raw(const uint8_t *bytes, size_t size)
{
    return starts_with(bytes, size, PGK_HEAP_RAW_MAGIC);
}

static int read_raw(struct pgk_heap *heap, const struct pgk_filemap *map,
                    const struct pgk_source *src, struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_heap_raw_info raw;
    PGK_TRY(pgk_heap_raw_read(heap, map->bytes, map->size, src, &raw, err));
    info->version = raw.version;
    info->dumps = raw.dumps;
    info->interrupted = raw.interrupted;
    info->library_accesses = raw.library_accesses;
    info->alive = raw.alive;
    info->recording_ns = raw.own_ns;
    info->recording_bytes = raw.own_bytes;
    return 0;
}

/* By way of a sound profile in memory. */
static int salvage_raw(struct pgk_heap *heap, const struct pgk_filemap *map,
                       const struct pgk_source *src, struct pgk_salvage *salvage,
                       struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_sink *clean;
    PGK_TRY(pgk_sink_memory(&clean, err));
    int status = pgk_heap_raw_salvage(clean, map->bytes, map->size, src, salvage, err);
    struct pgk_filemap whole = {0};
    if (!status) {
        whole.bytes = pgk_sink_data(clean, &whole.size);
        status = whole.bytes ? read_raw(heap, &whole, src, info, err) : pgk_fail_nomem(err);
    }
    pgk_sink_drop(&clean);
    return status;
}

static bool sniff_indexed(const uint8_t *bytes, size_t size)
{
    return starts_with(bytes, size, PGK_INDEXED_MAGIC);
}

static bool sniff_indexed_heap(const uint8_t *bytes, size_t size)
{
    return sniff_indexed(bytes, size) && pgk_indexed_is_heap_only(bytes, size);
}

static void note_indexed(struct pgk_file_info *info, const struct pgk_indexed_info *indexed)
{
    info->version = indexed->index_version;
    info->memprof_version = indexed->memprof_version;
    info->has_heap = indexed->has_heap;
    info->schema_tag_max = indexed->schema_tag_max;
    info->has_counters = indexed->has_counters;
    info->has_data_access = indexed->has_data_access;
    info->full_schema = indexed->full_schema;
}

static int read_indexed(struct pgk_heap *heap, const struct pgk_filemap *map,
                        const struct pgk_source *src, struct pgk_file_info *info,
                        struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_read(heap, map->bytes, map->size, src, &indexed, err));
    note_indexed(info, &indexed);
    return 0;
}

static int salvage_indexed(struct pgk_heap *heap, const struct pgk_filemap *map,
                           const struct pgk_source *src, struct pgk_salvage *salvage,
                           struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_salvage(heap, map->bytes, map->size, src, salvage, &indexed, err));
    note_indexed(info, &indexed);
    return 0;
}

static int read_indexed_instr(struct pgk_instr_adder *adder, const struct pgk_filemap *map,
                              const struct pgk_source *src, struct pgk_file_info *info,
                              struct pgk_err *err)
{
    struct pgk_indexed_info indexed;
    PGK_TRY(pgk_indexed_read_instr(adder, map->bytes, map->size, src, &indexed, err));
    note_indexed(info, &indexed);
    return 0;
}

static int read_instr_raw(struct pgk_instr_adder *adder, const struct pgk_filemap *map,
                          const struct pgk_source *src, struct pgk_file_info *info,
                          struct pgk_err *err)
{
    struct pgk_instr_raw_info raw;
    PGK_TRY(pgk_instr_raw_read(adder, map->bytes, map->size, src, &raw, err));
    info->version = raw.version;
    info->images = raw.images;
    return 0;
}

static int read_instr_text(struct pgk_instr_adder *adder, const struct pgk_filemap *map,
                           const struct pgk_source *src, struct pgk_file_info *info,
                           struct pgk_err *err)
{
    (void)info;
    return pgk_instr_text_read(adder, map->bytes, map->size, src, err);
}

/* LLVM's rule; a text of another kind is told apart by its keys when it is read. */
static bool sniff_yaml(const uint8_t *bytes, size_t size)
{
    return size >= 3 && !memcmp(bytes, "---", 3);
}

static int read_yaml(struct pgk_heap *heap, const struct pgk_filemap *map,
                     const struct pgk_source *src, struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_heap_yaml_info yaml;
    PGK_TRY(pgk_heap_yaml_read(heap, map->bytes, map->size, src, &yaml, err));
    info->has_data_access = yaml.has_data_access;
    return 0;
}

static int read_gcov(struct pgk_gcov *gcov, const struct pgk_filemap *map,
                     const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    return pgk_gcov_add(gcov, map->bytes, map->size, src, weight, err);
}

static bool sniff_elf(const uint8_t *bytes, size_t size)
{
    return size >= 4 && !memcmp(bytes, "\177ELF", 4);
}

static bool sniff_partial(const uint8_t *bytes, size_t size)
{
    return starts_with(bytes, size, PGK_HEAP_PARTIAL_MAGIC);
}

static int read_partial(struct pgk_heap *heap, const struct pgk_filemap *map,
                        const struct pgk_source *src, struct pgk_file_info *info,
                        struct pgk_err *err)
{
    PGK_TRY(pgk_heap_partial_read(heap, map->bytes, map->size, src, err));
    info->version = PGK_HEAP_PARTIAL_VERSION;
    info->partial = true;
    return 0;
}

static bool sniff_paths(const uint8_t *bytes, size_t size)
{
    return starts_with(bytes, size, PGK_HEAP_PATHS_MAGIC);
}

static int read_paths(struct pgk_heap *heap, const struct pgk_filemap *map,
                      const struct pgk_source *src, struct pgk_file_info *info, struct pgk_err *err)
{
    info->has_positions = true;
    return pgk_heap_paths_read(heap, map->bytes, map->size, src, &info->version, err);
}

static int read_text(struct pgk_heap *heap, const struct pgk_filemap *map,
                     const struct pgk_source *src, struct pgk_file_info *info, struct pgk_err *err)
{
    info->is_printed = true;
    return pgk_heap_text_read(heap, map->bytes, map->size, src, err);
}

static const struct row rows[] = {
    {.public = {"raw heap profile", PGK_KIND_HEAP, "1 to 5", "1 to 5",
                "runtimes of clang 14 to 22, pgokit", "raw-heap.md"},
     .sniff = sniff_raw,
     .read_heap = read_raw,
     .salvage_heap = salvage_raw},
    {.public = {"indexed profile", PGK_KIND_HEAP, "index 8 to 13 with MemProf V0 to V4",
                "index 8 to 13 with MemProf V0 to V4", "llvm-profdata 16 to 22, pgokit",
                "indexed-heap.md"},
     .sniff = sniff_indexed_heap,
     .sniffs_all = true,
     .read_heap = read_indexed,
     .salvage_heap = salvage_indexed,
     .read_instr = read_indexed_instr},
    {.public = {"indexed profile", PGK_KIND_INSTR, "index 5 to 13", "index 5 to 13",
                "llvm-profdata 14 to 22, pgokit", "instr-indexed.md"},
     .sniff = sniff_indexed,
     .sniffs_all = true,
     .read_heap = read_indexed,
     .salvage_heap = salvage_indexed,
     .read_instr = read_indexed_instr},
    {.public = {"raw counters", PGK_KIND_INSTR, "8 to 10", "8 to 10",
                "runtimes of clang 14 to 22, pgokit", "instr-raw.md"},
     .sniff = pgk_instr_raw_sniff,
     .read_instr = read_instr_raw},
    {.public = {"YAML heap profile", PGK_KIND_HEAP, "of LLVM 22", "of LLVM 22",
                "llvm-profdata 22, pgokit", "indexed-heap.md"},
     .sniff = sniff_yaml,
     .read_heap = read_yaml},
    {.public = {"partial heap profile", PGK_KIND_HEAP, "1", "1", "pgokit merge --partial",
                "partial-heap.md"},
     .sniff = sniff_partial,
     .read_heap = read_partial,
     .wants_own_heap = true},
    {.public = {"printed heap profile", PGK_KIND_HEAP, "of clang 13 to 22", "",
                "runtimes of clang 13; 14 to 22 with print_text", "raw-heap.md"},
     .sniff = pgk_heap_text_sniff,
     .read_heap = read_text,
     .wants_own_heap = true},
    {.public = {"heap profile of source positions", PGK_KIND_HEAP, "1", "1", "pgokit",
                "heap-paths.md"},
     .sniff = sniff_paths,
     .read_heap = read_paths},
    {.public = {"ELF binary with pseudo probes", PGK_KIND_BINARY, "of clang 13 to 22", "",
                "clang -fpseudo-probe-for-profiling", "pseudo-probe.md"},
     .sniff = sniff_elf},
    {.public = {"extensible sample profile", PGK_KIND_SAMPLE, "103", "103",
                "llvm-profdata 14 to 22, llvm-profgen, pgokit", "sample-binary.md"},
     .sniff = pgk_sniff_sample_ext,
     .read_sample = pgk_read_sample_ext},
    {.public = {"raw binary sample profile", PGK_KIND_SAMPLE, "103", "103",
                "llvm-profdata 13 to 22, pgokit", "sample-binary.md"},
     .sniff = pgk_sniff_sample_binary,
     .read_sample = pgk_read_sample_binary},
    {.public = {"compact sample profile", PGK_KIND_SAMPLE, "103", "", "llvm-profdata 13 to 16",
                "sample-binary.md"},
     .sniff = pgk_sniff_sample_compact,
     .read_sample = pgk_read_sample_compact},
    {.public = {"GCC AutoFDO profile", PGK_KIND_SAMPLE, "*704, 1, 2", "2", "create_gcov, pgokit",
                "sample-gcc.md"},
     .sniff = pgk_sniff_sample_gcc,
     .read_sample = pgk_read_sample_gcc},
    /* Begins as an AutoFDO profile of GCC does, but for the version. */
    {.public = {"gcc counters", PGK_KIND_GCOV, ".gcda and .gcno of gcc 12", ".gcda of gcc 12",
                "gcc 12, gcov-tool, pgokit", "gcov.md"},
     .sniff = pgk_gcov_sniff,
     .read_gcov = read_gcov},
    {.public = {"text counters", PGK_KIND_INSTR, "of LLVM 14 to 22", "of LLVM 14 to 22",
                "llvm-profdata, pgokit", "instr-text.md"},
     .sniff = pgk_instr_text_sniff,
     .read_instr = read_instr_text},
    {.public = {"text sample profile", PGK_KIND_SAMPLE, "of LLVM 13 to 22", "of LLVM 13 to 22",
                "llvm-profdata, llvm-profgen, pgokit", "sample-text.md"},
     .sniff = pgk_sniff_sample_text,
     .read_sample = pgk_read_sample_text},
};

const struct pgk_format *pgk_format_at(size_t i)
{
    return i < PGK_COUNTOF(rows) ? &rows[i].public : NULL;
}

const char *pgk_kind_name(enum pgk_kind kind)
{
    static const char *const names[PGK_KINDS] = {
        [PGK_KIND_HEAP] = "heap", [PGK_KIND_SAMPLE] = "sample", [PGK_KIND_INSTR] = "instr",
        [PGK_KIND_GCOV] = "gcov", [PGK_KIND_BINARY] = "binary",
    };
    return names[kind];
}

const char *pgk_kind_plural(enum pgk_kind kind)
{
    static const char *const names[PGK_KINDS] = {
        [PGK_KIND_HEAP] = "heap profiles",
        [PGK_KIND_SAMPLE] = "sample profiles",
        [PGK_KIND_INSTR] = "instrumentation profiles",
        [PGK_KIND_GCOV] = "counters of gcc",
        [PGK_KIND_BINARY] = "binaries",
    };
    return names[kind];
}

const char *pgk_file_info_text(const struct pgk_file_info *info, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s", info->format->name);
    if (info->version)
        n += snprintf(buf + n, size - (size_t)n, ", version %u", info->version);
    if (info->images > 1)
        n += snprintf(buf + n, size - (size_t)n, ", %u images", info->images);
    if (info->dumps > 1)
        n += snprintf(buf + n, size - (size_t)n, ", %u dumps", info->dumps);
    else if (info->has_heap)
        snprintf(buf + n, size - (size_t)n, ", MemProf V%u with %s fields", info->memprof_version,
                 info->full_schema ? "all" : "the compiler's");
    if (info->interrupted)
        n += snprintf(buf + n, size - (size_t)n, ", interrupted");
    if (info->alive)
        n += snprintf(buf + n, size - (size_t)n, " with %" PRIu64 " object%s alive", info->alive,
                      info->alive == 1 ? "" : "s");
    if (info->library_accesses)
        n += snprintf(buf + n, size - (size_t)n, ", accesses of library functions only");
    if (info->partial && info->format->kind == PGK_KIND_SAMPLE)
        n += snprintf(buf + n, size - (size_t)n, ", partial");
    if (info->guid_names)
        n += snprintf(buf + n, size - (size_t)n, ", names as GUIDs");
    if (info->compressed)
        n += snprintf(buf + n, size - (size_t)n, ", compressed");
    if (info->split_layout)
        n += snprintf(buf + n, size - (size_t)n, ", split layout");
    if (info->has_vtables)
        snprintf(buf + n, size - (size_t)n, ", with vtables");
    return buf;
}

const char *pgk_file_info_readers(const struct pgk_file_info *info)
{
    if (info->format->kind == PGK_KIND_SAMPLE)
        return pgk_sample_file_readers(info);
    /* docs/formats/raw-heap.md section 10 */
    static const char *const raw[] = {"no release of LLVM", "no release of LLVM", "LLVM 16",
                                      "LLVM 19 and 22",     "LLVM 19 and 22",     "LLVM 22"};
    if (info->partial)
        return "pgokit";
    if (info->dumps)
        return raw[info->version];
    if (info->has_positions || info->is_printed)
        return "no release of LLVM";
    if (info->images) /* docs/formats/instr-raw.md */
        return info->version == 8   ? "LLVM 14 and 16"
               : info->version == 9 ? "LLVM 17 and 18"
                                    : "LLVM 19 and 22";
    if (!info->version) /* text */
        return info->format->kind == PGK_KIND_INSTR ? "LLVM 14 to 22" : "LLVM 22";
    if (!info->has_heap) /* docs/formats/instr-indexed.md */
        return info->version <= 7    ? "LLVM 14 to 22"
               : info->version <= 9  ? "LLVM 16 to 22"
               : info->version <= 12 ? "LLVM 19 to 22"
                                     : "LLVM 22";
    /* docs/formats/indexed-heap.md 9.2 */
    if (info->memprof_version < 2) {
        if (info->version > 12)
            return "no release of LLVM";
        bool llvm16 = info->version <= 9 && !info->memprof_version && info->schema_tag_max <= 25;
        return llvm16 ? "LLVM 16 and 19" : "LLVM 19";
    }
    return info->version >= 13 || info->memprof_version >= 4 ? "LLVM 22" : "LLVM 19 and 22";
}

/* The first bytes as text, for a file of no known format. */
static const char *first_bytes(char buf[64], const struct pgk_filemap *map)
{
    size_t n = map->size < 8 ? map->size : 8;
    for (size_t i = 0; i < n; i++)
        snprintf(buf + 3 * i, 4, "%02x ", map->bytes[i]);
    if (n)
        buf[3 * n - 1] = 0;
    else
        strcpy(buf, "an empty file");
    return buf;
}

static int find_row(const struct row **row, const struct pgk_filemap *map, const char *path,
                    struct pgk_err *err)
{
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        if (rows[i].sniff(map->bytes, map->size)) {
            *row = &rows[i];
            return 0;
        }
    }
    char found[64];
    return pgk_fail(err, map->size ? PGK_E_FORMAT : PGK_E_TRUNCATED, .file = path,
                    .offset = &(uint64_t){0}, .field = "magic", .found = first_bytes(found, map),
                    .expected = "the start of a profile, such as 81 72 66 6f 72 70 6d ff (raw "
                                "heap) or ff 6c 70 72 6f 66 69 81 (indexed)",
                    .hint = map->size ? "see pgokit formats for what is read"
                                      : "the program wrote nothing: did it end normally?");
}

/* A file that is open, and the row that it fits. */
struct opened {
    struct pgk_filemap map;
    const struct row *row;
    struct pgk_source src;
    struct pgk_file_info info;
};

static int open_file(struct opened *f, const char *path, struct pgk_err *err)
{
    *f = (struct opened){0};
    PGK_TRY(pgk_filemap_open(&f->map, path, err));
    int status = find_row(&f->row, &f->map, path, err);
    if (status) {
        pgk_filemap_close(&f->map);
        return status;
    }
    f->src = (struct pgk_source){.file = path, .format = f->row->public.name};
    f->info = (struct pgk_file_info){.format = &f->row->public, .size_bytes = f->map.size};
    return 0;
}

/* Closes it; what it turned out to be is told if `status` says that it was read. */
static int close_file(struct opened *f, int status, struct pgk_file_info *info)
{
    pgk_filemap_close(&f->map);
    if (!status && info)
        *info = f->info;
    return status;
}

int pgk_format_detect(const char *path, const struct pgk_format **format, struct pgk_err *err)
{
    struct opened f;
    struct pgk_filemap head;
    const struct row *row;
    /* Enough for most: who reads the file will decompress the rest of it. */
    PGK_TRY(pgk_filemap_open_head(&head, path, err));
    int status = find_row(&row, &head, path, head.cut ? NULL : err);
    bool is_said = !head.cut || (!status && !row->sniffs_all);
    pgk_filemap_close(&head);
    if (is_said && !status)
        *format = &row->public;
    if (is_said)
        return status;
    PGK_TRY(open_file(&f, path, err));
    *format = &f.row->public;
    return close_file(&f, 0, NULL);
}

/* The file is sound as far as we know, but of another kind than the caller works on. */
static int fail_kind(const struct row *row, enum pgk_kind wanted, const char *path,
                     struct pgk_err *err)
{
    char found[80], expected[80];
    snprintf(found, sizeof found, "one of the %s (%s)", pgk_kind_plural(row->public.kind),
             row->public.name);
    snprintf(expected, sizeof expected, "one of the %s", pgk_kind_plural(wanted));
    return pgk_fail(err, PGK_E_MISMATCH, .file = path, .offset = &(uint64_t){0},
                    .field = "kind of file", .found = found, .expected = expected,
                    .hint = "give files of one kind only");
}

static int read_heap(struct pgk_heap *heap, struct opened *f, struct pgk_err *err)
{
    struct pgk_heap *own;
    if (!f->row->read_heap)
        return fail_kind(f->row, PGK_KIND_HEAP, f->src.file, err);
    if (!heap->sharing || !f->row->wants_own_heap)
        return f->row->read_heap(heap, &f->map, &f->src, &f->info, err);
    PGK_TRY(pgk_heap_new(&own, err));
    own->no_partial_accesses = heap->no_partial_accesses;
    int status = f->row->read_heap(own, &f->map, &f->src, &f->info, err);
    if (!status)
        status = pgk_heap_merge(heap, own, err);
    pgk_heap_close(&own);
    return status;
}

int pgk_heap_read(struct pgk_heap *heap, const char *path, struct pgk_file_info *info,
                  struct pgk_err *err)
{
    struct opened f;
    PGK_TRY(open_file(&f, path, err));
    return close_file(&f, read_heap(heap, &f, err), info);
}

static int fail_no_records(const struct opened *f, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_ARG, .file = f->src.file, .format = f->src.format, .field = "format",
                    .found = "a file that is not made of records",
                    .expected = "a raw or an indexed profile", .hint = "make it anew");
}

int pgk_heap_salvage(struct pgk_heap *heap, const char *path, struct pgk_file_info *info,
                     pgk_heap_loss_fn *fn, void *ctx, struct pgk_err *err)
{
    struct opened f;
    struct pgk_salvage salvage = {.fn = fn, .ctx = ctx};
    PGK_TRY(open_file(&f, path, err));
    int status = f.row->salvage_heap
                     ? f.row->salvage_heap(heap, &f.map, &f.src, &salvage, &f.info, err)
                     : fail_no_records(&f, err);
    status = close_file(&f, status, info);
    return status ? status : (int)salvage.lost;
}

int pgk_gcov_read(struct pgk_gcov *gcov, const char *path, uint64_t weight,
                  struct pgk_file_info *info, struct pgk_err *err)
{
    struct opened f;
    PGK_TRY(open_file(&f, path, err));
    int status = f.row->read_gcov ? f.row->read_gcov(gcov, &f.map, &f.src, weight, err)
                                  : fail_kind(f.row, PGK_KIND_GCOV, path, err);
    return close_file(&f, status, info);
}

int pgk_instr_read(struct pgk_instr *instr, const char *path, uint64_t weight,
                   struct pgk_file_info *info, struct pgk_err *err)
{
    struct opened f;
    struct pgk_instr_adder adder;
    if (!weight)
        return pgk_fail(err, PGK_E_ARG, .file = path, .field = "weight", .found = "0",
                        .expected = "1 or more", .hint = "leave the file out instead");
    if (!pgk_instr_adder_init(&adder, instr, path, weight))
        return pgk_fail_nomem(err);
    PGK_TRY(open_file(&f, path, err));
    int status = f.row->read_instr ? f.row->read_instr(&adder, &f.map, &f.src, &f.info, err)
                                   : fail_kind(f.row, PGK_KIND_INSTR, path, err);
    return close_file(&f, status, info);
}

static int read_sample(struct pgk_sample *profile, struct opened *f, uint64_t weight,
                       struct pgk_err *err)
{
    return f->row->read_sample
               ? f->row->read_sample(profile, &f->map, &f->src, weight, &f->info, err)
               : fail_kind(f->row, PGK_KIND_SAMPLE, f->src.file, err);
}

int pgk_sample_read(struct pgk_sample *profile, const char *path, uint64_t weight,
                    struct pgk_file_info *info, struct pgk_err *err)
{
    struct opened f;
    PGK_TRY(open_file(&f, path, err));
    return close_file(&f, read_sample(profile, &f, weight, err), info);
}

/* Only extensible binaries have a table to find a function by, and only binaries a summary of
 * all that was there. */
static int read_function(struct pgk_sample *profile, struct opened *f, const char *function,
                         struct pgk_err *err)
{
    if (f->row->read_sample == pgk_read_sample_ext) {
        int status = pgk_sample_read_one(profile, &f->map, &f->src, function, &f->info, err);
        if (status != PGK_E_ARG)
            return status;
    }
    PGK_TRY(read_sample(profile, f, 1, err));
    if (!f->info.has_summary) {
        PGK_TRY(pgk_sample_finish(profile, err));
        PGK_TRY(pgk_sample_summarise(profile, &f->info.summary, err));
        f->info.has_summary = true;
    }
    return pgk_sample_keep_function(profile, function, f->src.file, err);
}

int pgk_sample_read_function(struct pgk_sample *profile, const char *path, const char *function,
                             struct pgk_file_info *info, struct pgk_err *err)
{
    struct opened f;
    PGK_TRY(open_file(&f, path, err));
    return close_file(&f, read_function(profile, &f, function, err), info);
}
