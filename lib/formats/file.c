/* Files of any format: which it is, and reading them. */
#include "filemap.h"
#include "foreign_files.h"
#include "format_rows.h"
#include "heap_raw.h"
#include "instr_model.h"
#include "mem.h"
#include "salvage.h"
#include "sample_model.h"
#include "u64_set.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pgk_file {
    struct pgk_file_info info;
    struct pgk_source src;
    uint32_t kinds;          /* bits by pgk_kind */
    char *path;              /* of its own; NULL: the caller's */
    struct pgk_filemap kept; /* what cannot be opened again */
    bool is_kept;
};

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

/* Raw heap profiles alone are written in the order of the machine and read in one order. */
static bool is_of_big_endian(const struct pgk_filemap *map)
{
    uint64_t magic;
    if (map->size < sizeof magic)
        return false;
    memcpy(&magic, map->bytes, sizeof magic);
    return __builtin_bswap64(magic) == PGK_HEAP_RAW_MAGIC;
}

/* The whole file is another thing, so no place in it is named. */
static int fail_foreign(const struct pgk_foreign_file *foreign, const char *path,
                        struct pgk_err *err)
{
    static const char word[] = "FILE";
    char hint[512];
    const char *at = foreign->hint;
    size_t n = 0;
    for (const char *next = at; (next = strstr(next, word)) != NULL && n < sizeof hint;
         next += strlen(word)) {
        if (next == foreign->hint || next[-1] != ' ')
            continue; /* PROFILE */
        const bool runs = next - at >= 3 && !memcmp(next - 3, "-- ", 3) && !strchr(path, '/');
        n += (size_t)snprintf(hint + n, sizeof hint - n, "%.*s%s%s", (int)(next - at), at,
                              runs ? "./" : "", path);
        at = next + strlen(word);
    }
    if (n < sizeof hint)
        snprintf(hint + n, sizeof hint - n, "%s", at);
    return pgk_fail(err, PGK_E_FORMAT, .file = path, .found = foreign->what,
                    .expected = "a profile", .hint = hint);
}

static int find_row(const struct pgk_format_row **row, const struct pgk_filemap *map,
                    const char *path, struct pgk_err *err)
{
    for (size_t i = 0; (*row = pgk_format_row_at(i)); i++)
        if ((*row)->sniff(map->bytes, map->size))
            return 0;
    char found[64];
    if (is_of_big_endian(map))
        return pgk_fail(err, PGK_E_FORMAT, .file = path, .offset = &(uint64_t){0}, .field = "magic",
                        .found = "a raw heap profile of a big-endian machine",
                        .expected = "one of a little-endian machine",
                        .hint = "record the program on x86-64 or little-endian AArch64");
    const struct pgk_foreign_file *foreign = pgk_foreign_file(map->bytes, map->size);
    if (foreign)
        return fail_foreign(foreign, path, err);
    return pgk_fail(err, map->size ? PGK_E_FORMAT : PGK_E_TRUNCATED, .file = path,
                    .offset = &(uint64_t){0}, .field = "magic", .found = first_bytes(found, map),
                    .record = map->size ? "not a profile."
                                        : "the program wrote nothing: did it end normally?",
                    .expected = "the start of a profile, such as 81 72 66 6f 72 70 6d ff (raw "
                                "heap) or ff 6c 70 72 6f 66 69 81 (indexed)",
                    .hint = map->size ? "see pgokit formats for what is read"
                                      : "record it again");
}

static int look(struct pgk_file *f, const struct pgk_filemap *map, const char *path,
                struct pgk_err *err)
{
    const struct pgk_format_row *row;
    PGK_TRY(find_row(&row, map, path, err));
    f->info.row = row;
    f->info.size_bytes = map->size;
    f->kinds = row->kinds ? row->kinds(map->bytes, map->size) : 1u << row->format.kind;
    f->src = (struct pgk_source){.file = path, .format = row->format.name};
    return 0;
}

/* Opens the whole file and keeps it. */
static int open_whole(struct pgk_file *f, const char *path, struct pgk_err *err)
{
    PGK_TRY(pgk_filemap_open(&f->kept, path, err));
    int status = look(f, &f->kept, path, err);
    f->is_kept = !status;
    if (status)
        pgk_filemap_close(&f->kept);
    return status;
}

/* Looks at the beginning of the file; enough for most, and who reads it will decompress the rest.
 * *done is false if more is needed. */
static int open_head(struct pgk_file *f, const char *path, bool *done, struct pgk_err *err)
{
    struct pgk_filemap head;
    PGK_TRY(pgk_filemap_open_head(&head, path, err));
    int status = look(f, &head, path, head.cut ? NULL : err);
    *done = !head.cut || (!status && !f->info.row->sniffs_all);
    pgk_filemap_close(&head);
    return *done ? status : 0;
}

static bool opens_again(const char *path)
{
    struct stat st;
    return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) && S_ISREG(st.st_mode);
}

static int open_by_name(struct pgk_file *f, const char *path, struct pgk_err *err)
{
    bool done = false;
    if (!opens_again(path))
        return open_whole(f, path, err);
    PGK_TRY(open_head(f, path, &done, err));
    if (done)
        return 0;
    PGK_TRY(open_whole(f, path, err));
    pgk_filemap_close(&f->kept);
    f->is_kept = false;
    return 0;
}

static void close_parts(struct pgk_file *f)
{
    if (f->is_kept)
        pgk_filemap_close(&f->kept);
    pgk_mem_free(f->path);
}

int pgk_file_open(struct pgk_file **file, const char *path, struct pgk_err *err)
{
    size_t bytes = strlen(path) + 1;
    struct pgk_file *f = pgk_mem_zalloc(1, sizeof *f);
    if (f)
        f->path = pgk_mem_alloc(bytes, 1);
    if (!f || !f->path) {
        pgk_mem_free(f);
        return pgk_fail_nomem(err);
    }
    memcpy(f->path, path, bytes);
    int status = open_by_name(f, f->path, err);
    if (status)
        pgk_file_close(&f);
    else
        *file = f;
    return status;
}

void pgk_file_close(struct pgk_file **file)
{
    if (!*file)
        return;
    close_parts(*file);
    pgk_mem_free(*file);
    *file = NULL;
}

const struct pgk_file_info *pgk_file_info(const struct pgk_file *file)
{
    return &file->info;
}

const char *pgk_file_path(const struct pgk_file *file)
{
    return file->src.file;
}

bool pgk_file_holds(const struct pgk_file *file, enum pgk_kind kind)
{
    return file->kinds >> kind & 1;
}

/* ---- reading ---- */

/* A request to read a file into `profile`, which is of kind `kind`. */
struct reading {
    enum pgk_kind kind;
    void *profile;
    uint64_t weight;
    const char *function;      /* a sample profile: only this one */
    const uint64_t *functions; /* only what concerns these, rising; NULL: all */
    size_t n_functions;
    struct pgk_salvage *salvage; /* a heap profile: what can be read of it */
};

/* The file is sound as far as we know, but of another kind than the caller works on. */
static int fail_kind(const struct pgk_file *f, enum pgk_kind wanted, struct pgk_err *err)
{
    const struct pgk_format *format = &f->info.row->format;
    return pgk_fail(
        err, PGK_E_MISMATCH, .file = f->src.file, .offset = &(uint64_t){0}, .field = "kind of file",
        .found = PGK_F("one of the %s (%s)", pgk_kind_plural(format->kind), format->name),
        .expected = PGK_F("one of the %s", pgk_kind_plural(wanted)),
        .hint = "give files of one kind only");
}

/* Also counts files without data about their processes, so that the known processes are not
 * mistaken for all. */
static int read_heap_row(struct pgk_heap *heap, struct pgk_file *f,
                         const struct pgk_file_bytes *bytes, struct pgk_salvage *salvage,
                         struct pgk_err *err)
{
    PGK_TRY(salvage ? f->info.row->salvage_heap(heap, bytes, salvage, &f->info, err)
                    : f->info.row->read_heap(heap, bytes, &f->info, err));
    if (!f->info.row->holds_origin)
        pgk_heap_add_origin(heap, &(struct pgk_heap_origin){.others = 1});
    return 0;
}

/* Reads into a temporary model and merges that, for weighted inputs and shared models. */
static int read_heap_apart(struct pgk_heap *heap, struct pgk_file *f,
                           const struct pgk_file_bytes *bytes, uint64_t weight, struct pgk_err *err)
{
    struct pgk_heap *own;
    PGK_TRY(pgk_heap_new(&own, err));
    own->no_partial_accesses = heap->no_partial_accesses;
    int status = read_heap_row(own, f, bytes, NULL, err);
    if (!status && weight > 1)
        status = pgk_heap_scale(own, weight, err);
    if (!status)
        status = pgk_heap_merge(heap, own, err);
    pgk_heap_close(&own);
    return status;
}

static int read_heap(struct pgk_heap *heap, struct pgk_file *f, const struct pgk_file_bytes *bytes,
                     const struct reading *r, struct pgk_err *err)
{
    const struct pgk_format_row *row = f->info.row;
    if (r->salvage && !row->salvage_heap)
        return pgk_fail(err, PGK_E_ARG, .file = f->src.file, .format = f->src.format,
                        .field = "format", .found = "a format without separate records",
                        .expected = "a raw or an indexed profile or a heaptrack file, which "
                                    "--repair supports",
                        .hint = "create it again");
    if (r->salvage)
        return read_heap_row(heap, f, bytes, r->salvage, err);
    if (!row->read_heap)
        return fail_kind(f, PGK_KIND_HEAP, err);
    if (r->functions && row->read_heap_functions) {
        int status =
            row->read_heap_functions(heap, bytes, r->functions, r->n_functions, &f->info, err);
        if (status != PGK_E_ARG)
            return status;
    }
    if (r->weight > 1 || (heap->sharing && row->wants_own_heap))
        return read_heap_apart(heap, f, bytes, r->weight, err);
    return read_heap_row(heap, f, bytes, NULL, err);
}

static int read_instr(struct pgk_instr *instr, struct pgk_file *f,
                      const struct pgk_file_bytes *bytes, uint64_t weight, struct pgk_err *err)
{
    struct pgk_instr_adder adder;
    if (!f->info.row->read_instr)
        return fail_kind(f, PGK_KIND_INSTR, err);
    if (!pgk_instr_adder_init(&adder, instr, f->src.file, weight))
        return pgk_fail_nomem(err);
    return f->info.row->read_instr(&adder, bytes, &f->info, err);
}

int pgk_file_note_summary(struct pgk_file *file, struct pgk_sample *profile, struct pgk_err *err)
{
    PGK_TRY(pgk_sample_finish(profile, err));
    file->info.summary.struct_size = sizeof file->info.summary;
    if (!file->info.has_summary)
        PGK_TRY(pgk_sample_summarise(profile, &file->info.summary, err));
    file->info.has_summary = true;
    return 0;
}

/* Only some formats can find a function, and only some have a summary of all that was there. */
static int read_sample(struct pgk_sample *profile, struct pgk_file *f,
                       const struct pgk_file_bytes *bytes, const struct reading *r,
                       struct pgk_err *err)
{
    const struct pgk_format_row *row = f->info.row;
    if (!row->read_sample)
        return fail_kind(f, PGK_KIND_SAMPLE, err);
    if (r->function && row->read_function) {
        int status = row->read_function(profile, bytes, r->function, &f->info, err);
        if (status != PGK_E_ARG)
            return status;
    }
    if (r->functions && row->read_functions) {
        int status =
            row->read_functions(profile, bytes, r->functions, r->n_functions, &f->info, err);
        if (status != PGK_E_ARG)
            return status;
    }
    PGK_TRY(row->read_sample(profile, bytes, r->weight, &f->info, err));
    if (!r->function)
        return 0;
    PGK_TRY(pgk_file_note_summary(f, profile, err));
    return pgk_sample_keep_function(profile, r->function, f->src.file, err);
}

static int read_kind(struct pgk_file *f, const struct pgk_file_bytes *bytes,
                     const struct reading *r, struct pgk_err *err)
{
    switch (r->kind) {
    case PGK_KIND_HEAP:
        return read_heap(r->profile, f, bytes, r, err);
    case PGK_KIND_SAMPLE:
        return read_sample(r->profile, f, bytes, r, err);
    case PGK_KIND_INSTR:
        return read_instr(r->profile, f, bytes, r->weight, err);
    default:
        return f->info.row->read_gcov
                   ? f->info.row->read_gcov(r->profile, bytes, r->weight, &f->info, err)
                   : fail_kind(f, PGK_KIND_GCOV, err);
    }
}

int pgk_file_build_ids(struct pgk_file *f, pgk_build_id_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pgk_filemap map = f->kept;
    if (!f->info.row->build_ids)
        return 0;
    if (!f->is_kept)
        PGK_TRY(pgk_filemap_open(&map, f->src.file, err));
    const struct pgk_file_bytes bytes = {map.bytes, map.size, &f->src};
    int status = f->info.row->build_ids(&bytes, fn, ctx, err);
    if (!f->is_kept)
        pgk_filemap_close(&map);
    return status;
}

/* The whole file; to salvage it, what there is of a damaged one, the rest of which is reported. */
static int open_to_read(struct pgk_filemap *map, const struct pgk_file *f,
                        const struct reading *r, struct pgk_err *err)
{
    struct pgk_err own;
    if (r->salvage)
        return pgk_salvage_skip(r->salvage,
                                pgk_filemap_open_damaged(map, f->src.file, err ? err : &own),
                                err ? err : &own);
    int status = pgk_filemap_open(map, f->src.file, err);
    if (pgk_is_damage(status) && f->info.row->salvage_heap)
        pgk_err_advise(err, PGK_SALVAGE_HINT);
    return status;
}

/* Has the running program that writes the file made it longer since it was mapped? */
static bool has_grown(const struct pgk_file *f, const struct pgk_filemap *map)
{
    struct stat st;
    return f->info.row->grows && map->mapped && strcmp(f->src.file, "-") != 0 &&
           !stat(f->src.file, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size > map->size;
}

static int read_once(struct pgk_file *f, const struct reading *r, bool *grew, struct pgk_err *err)
{
    struct pgk_filemap map = f->kept;
    if (!f->is_kept)
        PGK_TRY(open_to_read(&map, f, r, err));
    f->info.size_bytes = map.size;
    const struct pgk_file_bytes bytes = {map.bytes, map.size, &f->src};
    int status = read_kind(f, &bytes, r, err);
    *grew = status == PGK_E_TRUNCATED && has_grown(f, &map);
    if (!f->is_kept)
        pgk_filemap_close(&map);
    return status;
}

/* A file that grew after its size was read may say that it is longer than that: it is read again,
 * as long as it grows in the meantime. */
static int read_file(struct pgk_file *f, const struct reading *r, struct pgk_err *err)
{
    bool grew = false;
    int status;
    if (!r->weight)
        return pgk_fail(err, PGK_E_ARG, .file = f->src.file, .field = "weight", .found = "0",
                        .expected = "1 or more", .hint = "leave the file out instead");
    do {
        if (grew && f->is_kept) {
            pgk_filemap_close(&f->kept);
            f->is_kept = false;
        }
        status = read_once(f, r, &grew, err);
    } while (grew);
    return status;
}

static int read_path(const char *path, const struct reading *r, struct pgk_err *err)
{
    struct pgk_file f = {0};
    PGK_TRY(open_whole(&f, path, err));
    int status = read_file(&f, r, err);
    close_parts(&f);
    return status;
}

#define READS(name, number)                                                                        \
    int pgk_##name##_read(struct pgk_##name *profile, const char *path, uint64_t weight,           \
                          struct pgk_err *err)                                                     \
    {                                                                                              \
        const struct reading r = {.kind = (number), .profile = profile, .weight = weight};         \
        return read_path(path, &r, err);                                                           \
    }                                                                                              \
    int pgk_##name##_read_file(struct pgk_##name *profile, struct pgk_file *file, uint64_t weight, \
                               struct pgk_err *err)                                                \
    {                                                                                              \
        const struct reading r = {.kind = (number), .profile = profile, .weight = weight};         \
        return read_file(file, &r, err);                                                           \
    }
READS(heap, PGK_KIND_HEAP)
READS(instr, PGK_KIND_INSTR)
READS(sample, PGK_KIND_SAMPLE)
READS(gcov, PGK_KIND_GCOV)

static int read_part(enum pgk_kind kind, void *profile, struct pgk_file *file,
                     const uint64_t *functions, size_t n, struct pgk_err *err)
{
    uint64_t *rising = pgk_mem_alloc(n + 1, sizeof *rising);
    if (!rising)
        return pgk_fail_nomem(err);
    if (n)
        memcpy(rising, functions, n * sizeof *rising);
    const struct reading r = {.kind = kind,
                              .profile = profile,
                              .weight = 1,
                              .functions = rising,
                              .n_functions = pgk_u64_set(rising, n)};
    int status = read_file(file, &r, err);
    pgk_mem_free(rising);
    return status;
}

int pgk_heap_read_functions(struct pgk_heap **profile, struct pgk_file *file,
                            const uint64_t *functions, size_t n, struct pgk_err *err)
{
    struct pgk_heap *heap;
    PGK_TRY(pgk_heap_new(&heap, err));
    int status = read_part(PGK_KIND_HEAP, heap, file, functions, n, err);
    if (status)
        pgk_heap_close(&heap);
    else
        *profile = heap;
    return status;
}

int pgk_sample_read_functions(struct pgk_sample **profile, struct pgk_file *file,
                              const uint64_t *functions, size_t n, struct pgk_err *err)
{
    struct pgk_sample *sample;
    PGK_TRY(pgk_sample_new(&sample, err));
    int status = read_part(PGK_KIND_SAMPLE, sample, file, functions, n, err);
    if (status)
        pgk_sample_close(&sample);
    else
        *profile = sample;
    return status;
}

int pgk_sample_read_function(struct pgk_sample *profile, struct pgk_file *file,
                             const char *function, struct pgk_err *err)
{
    const struct reading r = {
        .kind = PGK_KIND_SAMPLE, .profile = profile, .weight = 1, .function = function};
    return read_file(file, &r, err);
}

int pgk_heap_salvage(struct pgk_heap *profile, struct pgk_file *file, pgk_heap_loss_fn *fn,
                     void *ctx, struct pgk_err *err)
{
    struct pgk_salvage salvage = {.fn = fn, .ctx = ctx};
    const struct reading r = {
        .kind = PGK_KIND_HEAP, .profile = profile, .weight = 1, .salvage = &salvage};
    int status = read_file(file, &r, err);
    return status ? status : (int)salvage.lost;
}
