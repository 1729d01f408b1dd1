/* LLVM's raw binary, and the compact binary that LLVM 13 to 16 wrote. */
#include "sample_binary.h"

#include "format_row.h"
#include "record_writer.h"
#include "sample_format.h"
#include "sample_records.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

struct reader {
    struct pgk_sample *p;
    struct pgk_cursor c;
    struct pgk_sample_name_table names;
    struct pgk_sample_stage stage;
    uint64_t weight;
};

static int read_tops(struct reader *r, struct pgk_err *err)
{
    while (pgk_cur_left(&r->c)) {
        uint64_t head = pgk_sample_uleb(&r->c, "head samples");
        uint32_t name;
        PGK_TRY(pgk_sample_read_name(&r->c, &r->names, "function", "profiles", &name, err));
        struct pgk_record_reader records = {.c = &r->c, .p = r->p, .stage = &r->stage,
                                            .names = &r->names};
        if (!pgk_stage_begin(&r->stage, name))
            return pgk_fail_nomem(err);
        r->stage.slots.v[0].head = head;
        PGK_TRY(pgk_sample_read_record(&records, err));
        PGK_TRY(pgk_stage_commit(&r->stage, r->p, (struct pgk_stage_place){0}, r->weight, err));
    }
    return 0;
}

static int read_header(struct reader *r, uint32_t last_version, struct pgk_err *err)
{
    struct pgk_sample_summary summary;
    pgk_cur_take(&r->c, PGK_SAMPLE_MAGIC_BYTES, "magic");
    PGK_TRY(pgk_sample_read_version(&r->c, last_version, err));
    return pgk_sample_read_summary(&r->c, &summary, err);
}

static int read_raw(struct reader *r, struct pgk_err *err)
{
    PGK_TRY(read_header(r, PGK_SAMPLE_NOW, err));
    PGK_TRY(pgk_sample_read_strings(&r->c, r->p, &r->names, err));
    PGK_TRY(pgk_sample_set_kind(r->p, false, false, r->c.src.file, err));
    return read_tops(r, err);
}

static int read_guids(struct reader *r, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(&r->c), n = pgk_cur_uleb(&r->c, "number of names");
    if (!r->c.failed && n > pgk_cur_left(&r->c))
        return pgk_cur_reject(&r->c, err, PGK_E_TRUNCATED, off, .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", pgk_cur_left(&r->c)),
                              .hint = DAMAGED);
    for (uint64_t i = 0; i < n && !r->c.failed; i++) {
        uint32_t id = pgk_sample_name_guid(r->p, pgk_cur_uleb(&r->c, "GUID"));
        if (!id || !pgk_vec_push(&r->names.ids, id))
            return pgk_fail_nomem(err);
    }
    return pgk_cur_check(&r->c, err, "name table");
}

/* Records end where the function offset table begins, which says nothing new. */
/* Not needed to read everything; a file that was cut short ends in it. */
static int read_offsets(struct reader *r, uint64_t first, uint64_t end, struct pgk_err *err)
{
    static const char record[] = "function offset table";
    uint64_t n = pgk_cur_uleb(&r->c, "number of functions");
    for (uint64_t i = 0; i < n && !r->c.failed; i++) {
        uint64_t at = pgk_cur_off(&r->c), index = pgk_cur_uleb(&r->c, "function");
        uint64_t off = pgk_cur_uleb(&r->c, "offset");
        if (!r->c.failed && (index >= r->names.ids.n || off < first || off >= end))
            return pgk_cur_reject(&r->c, err, PGK_E_CORRUPT, at, .record = record,
                                  .field = "function",
                                  .found = PGK_F("name %" PRIu64 " at %" PRIu64, index, off),
                                  .expected = PGK_F("a name below %zu at %" PRIu64 " to %" PRIu64,
                                                    r->names.ids.n, first, end - 1),
                                  .hint = DAMAGED);
    }
    return pgk_cur_check(&r->c, err, record);
}

/* Releases that know later versions do not know this form. */
static int read_compact(struct reader *r, struct pgk_err *err)
{
    PGK_TRY(read_header(r, PGK_SAMPLE_VERSION, err));
    PGK_TRY(read_guids(r, err));
    uint64_t off = pgk_cur_off(&r->c), table = pgk_cur_u64(&r->c, "offset of function table");
    PGK_TRY(pgk_cur_check(&r->c, err, "header"));
    uint64_t first = pgk_cur_off(&r->c), end = first + pgk_cur_left(&r->c);
    if (table < first || table > end)
        return pgk_cur_reject(&r->c, err, PGK_E_CORRUPT, off, .record = "header",
                              .field = "offset of function table",
                              .found = PGK_F("%" PRIu64, table),
                              .expected = PGK_F("%" PRIu64 " to %" PRIu64, first, end),
                              .hint = DAMAGED);
    const uint8_t *behind = r->c.end;
    r->c.end = r->c.at + (table - first);
    PGK_TRY(pgk_sample_set_kind(r->p, false, false, r->c.src.file, err));
    PGK_TRY(read_tops(r, err));
    r->c.end = behind;
    return read_offsets(r, first, table, err);
}

static int read_with(int (*read)(struct reader *, struct pgk_err *), struct pgk_sample *p,
                     const uint8_t *bytes, size_t size, const struct pgk_source *src,
                     uint64_t weight, struct pgk_err *err)
{
    struct reader r = {.p = p, .weight = weight};
    pgk_cur_init(&r.c, bytes, size, src);
    int status = read(&r, err);
    pgk_vec_free(&r.names.ids);
    pgk_stage_free(&r.stage);
    return status;
}

int pgk_sample_raw_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    return read_with(read_raw, p, bytes, size, src, weight, err);
}

int pgk_sample_compact_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                            const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    return read_with(read_compact, p, bytes, size, src, weight, err);
}

/* ---- writing ---- */

static int write_raw(struct pgk_record_writer *w, size_t n, struct pgk_sink *out,
                     struct pgk_err *err)
{
    if (!pgk_used_names(&w->names, w->p, n, false))
        return pgk_fail_nomem(err);
    pgk_line_uleb(w->line, PGK_SAMPLE_MAGIC_BINARY);
    pgk_line_uleb(w->line, PGK_SAMPLE_VERSION);
    PGK_TRY(pgk_put_summary(w, n, err));
    pgk_put_string_names(w, out);
    for (size_t i = 0; i < n; i++) {
        uint32_t top = w->p->by_heat.v[i];
        pgk_sample_prefetch_behind(w->p, i, n);
        pgk_line_uleb(w->line, w->p->nodes.v[top].head);
        pgk_put_name_index(w, w->p->nodes.v[top].name);
        pgk_put_record(w, top);
        pgk_line_flush(w->line, out, PGK_LINE_FLUSH_BYTES);
    }
    pgk_line_flush(w->line, out, 1);
    return w->line->failed || w->order.failed ? pgk_fail_nomem(err) : 0;
}

static int check_writable(const struct pgk_sample *p, struct pgk_err *err)
{
    const char *found = p->kind.contexts ? "a context-sensitive profile"
                        : p->kind.probes ? "a profile with probes and checksums"
                        : pgk_sample_names_unspelled(&p->names)
                            ? "names that are known by their GUIDs alone"
                            : NULL;
    if (!found)
        return 0;
    return pgk_fail(err, PGK_E_ARG, .format = "raw binary", .found = found,
                    .expected = "what a raw binary can hold: functions by name and line",
                    .hint = "write an extensible binary");
}

int pgk_sample_raw_write(const struct pgk_sample *p, size_t n, struct pgk_sink *out,
                         struct pgk_err *err)
{
    struct pgk_line line = {0};
    PGK_TRY(check_writable(p, err));
    struct pgk_record_writer w = {.p = p, .line = &line, .order = {.p = p}};
    int status = write_raw(&w, n, out, err);
    pgk_line_free(&line);
    pgk_used_names_free(&w.names);
    pgk_order_free(&w.order);
    return status;
}

/* ---- among the formats ---- */

bool pgk_sample_has_magic(const uint8_t *bytes, size_t size, uint64_t magic)
{
    uint8_t uleb[PGK_SAMPLE_MAGIC_BYTES];
    for (size_t i = 0; i < sizeof uleb; i++, magic >>= 7)
        uleb[i] = (uint8_t)(magic & 0x7f) | (i + 1 < sizeof uleb ? 0x80 : 0);
    return size >= sizeof uleb && !memcmp(bytes, uleb, sizeof uleb);
}

static bool sniff(const uint8_t *bytes, size_t size)
{
    return pgk_sample_has_magic(bytes, size, PGK_SAMPLE_MAGIC_BINARY);
}

static bool sniff_compact(const uint8_t *bytes, size_t size)
{
    return pgk_sample_has_magic(bytes, size, PGK_SAMPLE_MAGIC_COMPACT);
}

static int read(struct pgk_sample *profile, const struct pgk_file_bytes *file, uint64_t weight,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_cursor c;
    pgk_cur_init(&c, file->bytes, file->size, file->src);
    pgk_cur_take(&c, PGK_SAMPLE_MAGIC_BYTES, "magic");
    PGK_TRY(pgk_sample_read_version(&c, PGK_SAMPLE_NOW, err));
    info->version = c.src.version;
    return pgk_sample_raw_read(profile, file->bytes, file->size, file->src, weight, err);
}

static int read_compact_file(struct pgk_sample *profile, const struct pgk_file_bytes *file,
                             uint64_t weight, struct pgk_file_info *info, struct pgk_err *err)
{
    info->version = PGK_SAMPLE_VERSION;
    info->facts[PGK_FACT_GUID_NAMES] = true;
    return pgk_sample_compact_read(profile, file->bytes, file->size, file->src, weight, err);
}

static int write(const struct pgk_sample *profile, size_t n,
                 const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                 struct pgk_err *err)
{
    (void)opts;
    return pgk_sample_raw_write(profile, n, out, err);
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_GUID_NAMES])
        pgk_info_add(text, ", names as GUIDs");
}

/* docs/formats/sample-binary.md "Who reads what" */
static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    pgk_info_add_releases(text, pgk_sample_version_since(info->version), PGK_LLVM_NOW);
}

static void compact_readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "LLVM 13 to 16");
}

const struct pgk_format_row pgk_format_sample_binary = {
    .format = {.name = "raw binary sample profile",
               .kind = PGK_KIND_SAMPLE,
               .reads =
                   PGK_VERSION_TEXT(PGK_SAMPLE_VERSION) " to " PGK_VERSION_TEXT(PGK_SAMPLE_NOW),
               .writes = PGK_VERSION_TEXT(PGK_SAMPLE_VERSION),
               .made_by = "llvm-profdata 13 to " PGK_LLVM_NOW_TEXT ", pgokit",
               .page = "sample-binary.md",
               .read = {PGK_SAMPLE_VERSION, PGK_SAMPLE_NOW},
               .write = {PGK_SAMPLE_VERSION, PGK_SAMPLE_VERSION}},
    .sniff = sniff,
    .read_sample = read,
    .sample_writer = {.encoding = PGK_SAMPLE_BINARY, .name = "binary", .write = write},
    .readers = readers,
};

const struct pgk_format_row pgk_format_sample_compact = {
    .format = {.name = "compact sample profile",
               .kind = PGK_KIND_SAMPLE,
               .reads = PGK_VERSION_TEXT(PGK_SAMPLE_VERSION),
               .writes = "",
               .made_by = "llvm-profdata 13 to 16",
               .page = "sample-binary.md",
               .read = {PGK_SAMPLE_VERSION, PGK_SAMPLE_VERSION}},
    .sniff = sniff_compact,
    .read_sample = read_compact_file,
    .describe = describe,
    .readers = compact_readers,
};
