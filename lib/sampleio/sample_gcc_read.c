/* Reader of sample profiles as gcc's -fauto-profile reads them. docs/formats/sample-gcc.md
 *
 * Numbers have 32 bits, or 64 as two of these, the low one first. */
#include "sample_gcc.h"

#include "format_row.h"
#include "sample_format.h"
#include "sample_origin.h"
#include "sample_stage.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

struct reader {
    struct pgk_sample *p;
    struct pgk_cursor c;
    struct pgk_sample_gcc_info info;
    enum pgk_gcc_layout layout; /* as the file has it, whatever its number says */
    enum pgk_gcc_strings strings;
    PGK_VEC(struct pgk_str) files;
    PGK_VEC(uint32_t) names;
    PGK_VEC(bool) seen;       /* by index: a function with samples */
    struct pgk_sample_stage stage;
    uint64_t weight;
};

static int reject(struct reader *r, struct pgk_err *err, uint64_t off, const char *record,
                  const char *field, uint64_t found, const char *expected)
{
    return pgk_cur_reject(&r->c, err, PGK_E_CORRUPT, off, .record = record, .field = field,
                          .found = PGK_F("%" PRIu64 " (0x%" PRIx64 ")", found, found),
                          .expected = expected, .hint = DAMAGED);
}

static int read_tag(struct reader *r, uint32_t expected, const char *field, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(&r->c);
    uint32_t tag = pgk_cur_u32(&r->c, field);
    pgk_cur_u32(&r->c, "length of section");
    PGK_TRY(pgk_cur_check(&r->c, err, "header"));
    if (tag == expected)
        return 0;
    return reject(r, err, off, "header", field, tag, PGK_F("0x%" PRIx32, expected));
}

/* ---- names ---- */

/* NUL-terminated in the file, as a rule; NULL if the cursor has failed. */
static const char *read_string(struct pgk_cursor *c, enum pgk_gcc_strings strings, const char *of,
                               size_t *len)
{
    uint32_t length = 0;
    while (!length && pgk_cur_left(c)) /* zero words are stuffing */
        length = pgk_cur_u32(c, of);
    uint64_t size = strings == PGK_GCC_BYTES ? length : (uint64_t)length * 4;
    const char *s = (const char *)pgk_cur_take(c, size ? size : 1, of);
    *len = s ? strnlen(s, size) : 0;
    return s;
}

/* Strings of either kind end with a NUL that belongs to them, words with up to four. */
static bool skip_string(struct pgk_cursor *c, enum pgk_gcc_strings strings)
{
    size_t len, before = pgk_cur_left(c);
    const char *s = read_string(c, strings, "name", &len);
    size_t size = before - pgk_cur_left(c) - sizeof(uint32_t);
    return s && len < size && size - len <= (strings == PGK_GCC_WORDS ? 4 : 1);
}

/* Looks ahead in a plain layout: do the names, of which the tag comes next, have strings of this
 * kind? */
static bool fits(struct pgk_cursor c, enum pgk_gcc_strings strings)
{
    pgk_cur_u32(&c, "tag");
    pgk_cur_u32(&c, "length");
    uint32_t n = pgk_cur_u32(&c, "number");
    for (uint32_t i = 0; i < n; i++)
        if (!skip_string(&c, strings))
            return false;
    return pgk_cur_u32(&c, "tag") == (uint32_t)PGK_GCC_TAG_FUNCTIONS && !c.failed;
}

static uint32_t next_word(struct pgk_cursor c)
{
    return pgk_cur_u32(&c, "tag");
}

/* create_gcov 0.19 writes the oldest layout under any number. */
static void find_form(struct reader *r)
{
    const struct pgk_gcc_profile_row *row = r->info.row;
    r->layout = row->layout;
    r->strings = row->strings;
    if (row->layout == PGK_GCC_SUMMARY && next_word(r->c) == (uint32_t)PGK_GCC_TAG_NAMES)
        r->layout = PGK_GCC_PLAIN;
    enum pgk_gcc_strings other = r->strings == PGK_GCC_BYTES ? PGK_GCC_WORDS : PGK_GCC_BYTES;
    if (r->layout == PGK_GCC_PLAIN && !fits(r->c, r->strings) && fits(r->c, other))
        r->strings = other;
    r->info.no_compiler = r->layout != row->layout || r->strings != row->strings;
}

static int read_file_of_name(struct reader *r, uint32_t name, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(&r->c);
    uint32_t file = pgk_cur_u32(&r->c, "file of name");
    PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
    if (file == PGK_GCC_NO_FILE)
        return 0;
    if (file >= r->files.n)
        return reject(r, err, off, "name table", "file of name", file,
                      PGK_F("an index below %zu, or 0xffffffff", r->files.n));
    const struct pgk_str *f = &r->files.v[file];
    return pgk_sample_add_origin(r->p, name, f->s, f->len, 0) ? 0 : pgk_fail_nomem(err);
}

static int read_name(struct reader *r, struct pgk_err *err)
{
    size_t len;
    const char *s = read_string(&r->c, r->strings, "name", &len);
    PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
    uint32_t id = pgk_sample_name(r->p, s, len);
    if (!id || !pgk_vec_push(&r->names, id) || !pgk_vec_push(&r->seen, false))
        return pgk_fail_nomem(err);
    return r->layout == PGK_GCC_SUMMARY ? read_file_of_name(r, id, err) : 0;
}

static int read_files(struct reader *r, struct pgk_err *err)
{
    uint32_t n = pgk_cur_u32(&r->c, "number of files");
    PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
    for (uint32_t i = 0; i < n; i++) {
        size_t len;
        const char *s = read_string(&r->c, r->strings, "file", &len);
        PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
        if (!pgk_vec_push(&r->files, (struct pgk_str){.s = s, .len = (uint32_t)len}))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int read_names(struct reader *r, struct pgk_err *err)
{
    PGK_TRY(read_tag(r, (uint32_t)PGK_GCC_TAG_NAMES, "tag of names", err));
    if (r->layout == PGK_GCC_SUMMARY)
        PGK_TRY(read_files(r, err));
    uint32_t n = pgk_cur_u32(&r->c, "number of names");
    PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(read_name(r, err));
    return 0;
}

/* ---- summary ---- */

/* gcc 16 has space for so many rows and reads all of them. */
static int read_summary(struct reader *r, struct pgk_err *err)
{
    struct pgk_sample_summary *s = &r->info.summary;
    s->struct_size = sizeof *s;
    uint64_t off = pgk_cur_off(&r->c);
    uint32_t tag = pgk_cur_u32(&r->c, "tag of summary");
    PGK_TRY(pgk_cur_check(&r->c, err, "summary"));
    if (tag != (uint32_t)PGK_GCC_TAG_SUMMARY)
        return reject(r, err, off, "header", "tag of summary", tag, "0xa8000000");
    s->total_count = pgk_cur_u64(&r->c, "total");
    s->max_count = pgk_cur_u64(&r->c, "largest count");
    s->max_function_count = pgk_cur_u64(&r->c, "largest head");
    s->num_counts = pgk_cur_u64(&r->c, "counts");
    s->num_functions = pgk_cur_u64(&r->c, "functions");
    off = pgk_cur_off(&r->c);
    uint64_t n = pgk_cur_u64(&r->c, "rows");
    PGK_TRY(pgk_cur_check(&r->c, err, "summary"));
    if (n != PGK_SAMPLE_CUTOFFS)
        return reject(r, err, off, "summary", "rows", n,
                      PGK_F("%d, for which gcc has space", PGK_SAMPLE_CUTOFFS));
    for (; s->n_cutoffs < n; s->n_cutoffs++) {
        struct pgk_sample_cutoff *row = &s->cutoffs[s->n_cutoffs];
        row->ppm = pgk_cur_u32(&r->c, "cut-off");
        row->min_count = pgk_cur_u64(&r->c, "least count");
        row->num_counts = pgk_cur_u64(&r->c, "counts");
    }
    r->info.has_summary = true;
    return pgk_cur_check(&r->c, err, "summary");
}

/* ---- functions ---- */

static int read_index(struct reader *r, uint64_t (*read)(struct pgk_cursor *, const char *),
                      const char *field, uint64_t *index, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(&r->c);
    *index = read(&r->c, field);
    PGK_TRY(pgk_cur_check(&r->c, err, "function"));
    if (*index < r->names.n)
        return 0;
    return reject(r, err, off, "function", field, *index,
                  PGK_F("an index below %zu", r->names.n));
}

static uint64_t read_word(struct pgk_cursor *c, const char *field)
{
    return pgk_cur_u32(c, field);
}

static uint64_t unpack_loc(uint32_t packed)
{
    return pgk_sample_loc(packed >> 16, packed & 0xffff);
}

static int read_targets(struct reader *r, uint32_t slot, uint64_t loc, uint32_t n,
                        struct pgk_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t index, off = pgk_cur_off(&r->c);
        uint32_t kind = pgk_cur_u32(&r->c, "kind of histogram");
        PGK_TRY(pgk_cur_check(&r->c, err, "function"));
        if (kind != PGK_GCC_INDIRECT_CALLS)
            return reject(r, err, off, "function", "kind of histogram", kind, "7, call targets");
        PGK_TRY(read_index(r, pgk_cur_u64, "call target", &index, err));
        uint64_t count = pgk_cur_u64(&r->c, "calls");
        if (!pgk_stage_add(&r->stage.slots.v[slot], loc, r->names.v[index], count))
            return pgk_fail_nomem(err);
    }
    return pgk_cur_check(&r->c, err, "function");
}

/* The totals of callers include those of what is inlined into them. */
static void add_to_totals(struct reader *r, uint32_t slot, uint64_t count)
{
    struct pgk_stage_node *v = r->stage.slots.v;
    for (;; slot = v[slot].parent) {
        v[slot].total = pgk_add_saturated(v[slot].total, count);
        if (!slot)
            return;
    }
}

static int read_instance(struct reader *r, uint32_t slot, uint32_t n_lines, uint32_t n_inlinees,
                         struct pgk_err *err)
{
    for (uint32_t i = 0; i < n_lines; i++) {
        uint64_t loc = unpack_loc(pgk_cur_u32(&r->c, "place of samples"));
        uint32_t n_targets = pgk_cur_u32(&r->c, "number of call targets");
        uint64_t count = pgk_cur_u64(&r->c, "samples");
        PGK_TRY(pgk_cur_check(&r->c, err, "function"));
        if (!pgk_stage_add(&r->stage.slots.v[slot], loc, PGK_REC_BODY, count))
            return pgk_fail_nomem(err);
        add_to_totals(r, slot, count);
        PGK_TRY(read_targets(r, slot, loc, n_targets, err));
    }
    for (uint32_t i = 0; i < n_inlinees; i++) {
        uint64_t index, loc = unpack_loc(pgk_cur_u32(&r->c, "place of inlinee"));
        PGK_TRY(read_index(r, read_word, "inlinee", &index, err));
        uint64_t off = pgk_cur_off(&r->c);
        uint32_t lines = pgk_cur_u32(&r->c, "number of places");
        uint32_t inlinees = pgk_cur_u32(&r->c, "number of inlinees");
        PGK_TRY(pgk_cur_check(&r->c, err, "function"));
        if (r->stage.slots.v[slot].depth >= PGK_SAMPLE_MAX_DEPTH)
            return reject(r, err, off, "function", "number of inlinees",
                          r->stage.slots.v[slot].depth, "nesting of at most 1000 levels");
        uint32_t inlinee = pgk_stage_inlinee(&r->stage, slot, loc, r->names.v[index]);
        if (inlinee == PGK_STAGE_NONE)
            return pgk_fail_nomem(err);
        PGK_TRY(read_instance(r, inlinee, lines, inlinees, err));
    }
    return 0;
}

/* A second function of the same name is an alias: its samples are those of the first. */
static int read_function(struct reader *r, struct pgk_err *err)
{
    uint64_t index, head = pgk_cur_u64(&r->c, "head samples");
    uint64_t first_run = r->layout == PGK_GCC_SUMMARY ? pgk_cur_u64(&r->c, "timestamp") : 0;
    PGK_TRY(read_index(r, read_word, "function", &index, err));
    uint32_t lines = pgk_cur_u32(&r->c, "number of places");
    uint32_t inlinees = pgk_cur_u32(&r->c, "number of inlinees");
    PGK_TRY(pgk_cur_check(&r->c, err, "function"));
    if (!pgk_sample_add_origin(r->p, r->names.v[index], NULL, 0, first_run) ||
        !pgk_stage_begin(&r->stage, r->names.v[index]))
        return pgk_fail_nomem(err);
    PGK_TRY(read_instance(r, 0, lines, inlinees, err));
    if (r->seen.v[index] && !pgk_stage_begin(&r->stage, r->names.v[index]))
        return pgk_fail_nomem(err);
    r->stage.slots.v[0].head = head;
    r->seen.v[index] |= r->stage.slots.v[0].total != 0;
    return pgk_stage_commit(&r->stage, r->p, (struct pgk_stage_place){0}, r->weight, err);
}

/* ---- the file ---- */

static int read_header(struct reader *r, struct pgk_err *err)
{
    pgk_cur_take(&r->c, strlen(PGK_SAMPLE_GCC_MAGIC), "magic");
    uint32_t number = pgk_cur_u32(&r->c, "version");
    pgk_cur_u32(&r->c, "word after the version");
    PGK_TRY(pgk_cur_check(&r->c, err, "header"));
    r->info.row = pgk_gcc_profile_row(number);
    r->c.src.version = r->info.row ? r->info.row->version : 0;
    if (r->info.row)
        return 0;
    return pgk_cur_reject(&r->c, err, PGK_E_VERSION, 4, .record = "header", .field = "version",
                          .found = PGK_F("%" PRIu32 " (0x%" PRIx32 ")", number, number),
                          .expected = "*704, 1, 2 or 3",
                          .hint = "no release of gcc up to 16 reads another one; make the profile "
                                  "for one of them");
}

static int read_all(struct reader *r, struct pgk_err *err)
{
    PGK_TRY(read_header(r, err));
    PGK_TRY(pgk_sample_set_kind(r->p, false, false, r->c.src.file, err));
    find_form(r);
    if (r->layout == PGK_GCC_SUMMARY)
        PGK_TRY(read_summary(r, err));
    PGK_TRY(read_names(r, err));
    PGK_TRY(read_tag(r, (uint32_t)PGK_GCC_TAG_FUNCTIONS, "tag of functions", err));
    uint32_t n = pgk_cur_u32(&r->c, "number of functions");
    PGK_TRY(pgk_cur_check(&r->c, err, "header"));
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(read_function(r, err));
    return 0;
}

int pgk_sample_gcc_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, uint64_t weight,
                        struct pgk_sample_gcc_info *info, struct pgk_err *err)
{
    struct reader r = {.p = p, .weight = weight};
    pgk_cur_init(&r.c, bytes, size, src);
    int status = read_all(&r, err);
    if (info)
        *info = r.info;
    pgk_vec_free(&r.files);
    pgk_vec_free(&r.names);
    pgk_vec_free(&r.seen);
    pgk_stage_free(&r.stage);
    return status;
}

/* ---- among the formats ---- */

/* The version is looked at, too: four letters are no strong magic, and those of the counters of
 * gcc, whose versions are letters. */
static bool sniff(const uint8_t *bytes, size_t size)
{
    enum { LAST_NUMBER = 0xff };
    uint32_t number;
    if (size < 8 || memcmp(bytes, PGK_SAMPLE_GCC_MAGIC, strlen(PGK_SAMPLE_GCC_MAGIC)))
        return false;
    memcpy(&number, bytes + 4, sizeof number);
    return number <= LAST_NUMBER || pgk_gcc_profile_row(number);
}

static int read(struct pgk_sample *profile, const struct pgk_file_bytes *file, uint64_t weight,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_sample_gcc_info gcc;
    PGK_TRY(pgk_sample_gcc_read(profile, file->bytes, file->size, file->src, weight, &gcc, err));
    info->version = gcc.row->version;
    info->facts[PGK_FACT_NO_COMPILER] = gcc.no_compiler;
    info->has_summary = gcc.has_summary;
    info->summary = gcc.summary;
    return 0;
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_NO_COMPILER])
        pgk_info_add(text, ", names as create_gcov 0.19 has them");
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    pgk_info_add(text, "%s", info->facts[PGK_FACT_NO_COMPILER]
                                 ? "no release of gcc"
                                 : pgk_gcc_profile_of_version(info->version)->readers);
}

const struct pgk_format_row pgk_format_sample_gcc = {
    .format = {.name = "GCC AutoFDO profile",
               .kind = PGK_KIND_SAMPLE,
               .reads = "*704, 1 to 3 (gcc 5 to " PGK_VERSION_TEXT(PGK_GCC_NEWEST) ")",
               .writes = "1 (gcc 5 to 11), 2 (gcc 12 to 15), 3 (gcc 16)",
               .made_by = "create_gcov, pgokit",
               .page = "sample-gcc.md",
               .read = {0, 3},
               .write = {1, 3}},
    .sniff = sniff,
    .read_sample = read,
    .sample_writer = {.encoding = PGK_SAMPLE_GCC,
                      .name = "gcc",
                      .adapt = pgk_sample_gcc_adapt,
                      .write = pgk_sample_gcc_write_for,
                      .origins = true},
    .describe = describe,
    .readers = readers,
};
