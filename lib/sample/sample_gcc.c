/* Sample profiles as GCC's -fauto-profile reads them. docs/formats/sample-gcc.md
 *
 * Numbers have 32 bits, or 64 as two of these, the low one first. Up to version 1 names are
 * padded to words and their lengths count words; in version 2 they count bytes. */
#include "sample_binary.h"

#include "format_row.h"
#include "record_writer.h"
#include "sample_format.h"
#include "sample_stage.h"
#include "saturate.h"

#include <inttypes.h>

enum {
    GCC_TAG_NAMES = (int)0xaa000000,
    GCC_TAG_FUNCTIONS = (int)0xac000000,
    GCC_TAG_MODULES = (int)0xae000000,
    GCC_INDIRECT_CALLS = 7, /* the kind of histogram of call targets */
    GCC_4_VERSION = 0x3430372a, /* "*704": what LLVM's reader wants to see */
    GCC_VERSION = 2,        /* what GCC 12 wants to see */
};
#define DAMAGED "the file is damaged; copy it again, or create it again"

/* ---- reading ---- */

struct reader {
    struct pgk_sample *p;
    struct pgk_cursor c;
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

static int read_name(struct reader *r, struct pgk_err *err)
{
    uint32_t length = 0;
    while (!length && pgk_cur_left(&r->c)) /* zero words are stuffing */
        length = pgk_cur_u32(&r->c, "length of name");
    uint64_t size = r->c.src.version == GCC_VERSION ? length : (uint64_t)length * 4;
    const char *s = (const char *)pgk_cur_take(&r->c, size ? size : 1, "name");
    PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
    uint32_t id = pgk_sample_name(r->p, s, strnlen(s, size));
    return id && pgk_vec_push(&r->names, id) && pgk_vec_push(&r->seen, false)
               ? 0 : pgk_fail_nomem(err);
}

static int read_names(struct reader *r, struct pgk_err *err)
{
    PGK_TRY(read_tag(r, (uint32_t)GCC_TAG_NAMES, "tag of names", err));
    uint32_t n = pgk_cur_u32(&r->c, "number of names");
    PGK_TRY(pgk_cur_check(&r->c, err, "name table"));
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(read_name(r, err));
    return 0;
}

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
        if (kind != GCC_INDIRECT_CALLS)
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
    PGK_TRY(read_index(r, read_word, "function", &index, err));
    uint32_t lines = pgk_cur_u32(&r->c, "number of places");
    uint32_t inlinees = pgk_cur_u32(&r->c, "number of inlinees");
    PGK_TRY(pgk_cur_check(&r->c, err, "function"));
    if (!pgk_stage_begin(&r->stage, r->names.v[index]))
        return pgk_fail_nomem(err);
    PGK_TRY(read_instance(r, 0, lines, inlinees, err));
    if (r->seen.v[index] && !pgk_stage_begin(&r->stage, r->names.v[index]))
        return pgk_fail_nomem(err);
    r->stage.slots.v[0].head = head;
    r->seen.v[index] |= r->stage.slots.v[0].total != 0;
    return pgk_stage_commit(&r->stage, r->p, (struct pgk_stage_place){0}, r->weight, err);
}

uint32_t pgk_sample_gcc_version(const uint8_t *bytes, size_t size)
{
    uint32_t version = 0;
    if (size >= 8)
        memcpy(&version, bytes + 4, sizeof version);
    return version == GCC_4_VERSION ? 0 : version;
}

static int read_all(struct reader *r, struct pgk_err *err)
{
    r->c.src.version = pgk_sample_gcc_version(r->c.start, pgk_cur_left(&r->c));
    pgk_cur_take(&r->c, strlen(PGK_SAMPLE_GCC_MAGIC), "magic");
    pgk_cur_u32(&r->c, "version");
    pgk_cur_u32(&r->c, "word after the version");
    PGK_TRY(pgk_cur_check(&r->c, err, "header"));
    if (r->c.src.version > GCC_VERSION)
        return reject(r, err, 4, "header", "version", r->c.src.version, "*704, 1 or 2");
    PGK_TRY(pgk_sample_set_kind(r->p, false, false, r->c.src.file, err));
    PGK_TRY(read_names(r, err));
    PGK_TRY(read_tag(r, (uint32_t)GCC_TAG_FUNCTIONS, "tag of functions", err));
    uint32_t n = pgk_cur_u32(&r->c, "number of functions");
    PGK_TRY(pgk_cur_check(&r->c, err, "header"));
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(read_function(r, err));
    return 0;
}

int pgk_sample_gcc_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    struct reader r = {.p = p, .weight = weight};
    pgk_cur_init(&r.c, bytes, size, src);
    int status = read_all(&r, err);
    pgk_vec_free(&r.names);
    pgk_vec_free(&r.seen);
    pgk_stage_free(&r.stage);
    return status;
}

/* ---- writing ---- */

static void put_word(struct pgk_line *l, uint32_t v)
{
    pgk_line_bytes(l, &v, sizeof v);
}

static void put_dword(struct pgk_line *l, uint64_t v)
{
    pgk_line_bytes(l, &v, sizeof v);
}

/* GCC takes name 0 for none, so the table begins with an empty one. */
static uint32_t index_of(const struct pgk_record_writer *w, uint32_t name)
{
    return w->names.index_of.v[name] + 1;
}

static uint32_t pack_loc(uint64_t loc)
{
    return pgk_sample_line(loc) << 16 | (pgk_sample_discriminator(loc) & 0xffff);
}

static bool is_cut(uint64_t loc)
{
    return pack_loc(loc) << 16 >> 16 != pgk_sample_discriminator(loc);
}

/* Places of the node and its inlinees whose discriminator loses bits. */
static size_t count_cut(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    size_t n = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n += recs->v[i].what == PGK_REC_BODY && is_cut(recs->v[i].loc);
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        n += is_cut(p->nodes.v[c].loc) + count_cut(p, c);
    return n;
}

size_t pgk_sample_gcc_cut(const struct pgk_sample *p, size_t n)
{
    size_t cut = 0;
    for (size_t i = 0; i < n; i++)
        cut += count_cut(p, p->by_heat.v[i]);
    return cut;
}

static uint32_t count_lines(const struct pgk_sample_recs *recs)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n += recs->v[i].what == PGK_REC_BODY;
    return n;
}

static void put_instance(struct pgk_record_writer *w, uint32_t node)
{
    const struct pgk_sample_recs *recs = &w->p->nodes.v[node].recs;
    struct pgk_sample_place place;
    put_word(w->line, index_of(w, w->p->nodes.v[node].name));
    put_word(w->line, count_lines(recs));
    put_word(w->line, (uint32_t)pgk_count_inlinees(w->p, node));
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        if (!place.has_body)
            continue;
        put_word(w->line, pack_loc(place.loc));
        put_word(w->line, (uint32_t)place.n_targets);
        put_dword(w->line, place.samples);
        for (size_t k = 0; k < place.n_targets; k++) {
            put_word(w->line, GCC_INDIRECT_CALLS);
            put_dword(w->line, index_of(w, pgk_rec_name(&place.targets[k])));
            put_dword(w->line, place.targets[k].count);
        }
    }
    for (uint32_t c = pgk_sample_first(w->p, node); c; c = pgk_sample_next(w->p, c)) {
        put_word(w->line, pack_loc(w->p->nodes.v[c].loc));
        put_instance(w, c);
    }
}

static void put_name(struct pgk_line *l, const struct pgk_sample_name *name)
{
    put_word(l, name->len + 1);
    pgk_line_bytes(l, name->s, (size_t)name->len + 1);
}

static int write_all(struct pgk_record_writer *w, size_t n, struct pgk_sink *out,
                     struct pgk_err *err)
{
    if (!pgk_used_names(&w->names, w->p, n, false))
        return pgk_fail_nomem(err);
    pgk_line_bytes(w->line, PGK_SAMPLE_GCC_MAGIC, strlen(PGK_SAMPLE_GCC_MAGIC));
    put_word(w->line, GCC_VERSION);
    put_word(w->line, 0);
    put_word(w->line, (uint32_t)GCC_TAG_NAMES);
    put_word(w->line, 0);
    put_word(w->line, (uint32_t)w->names.ids.n + 1);
    put_name(w->line, &(struct pgk_sample_name){.s = ""});
    for (size_t i = 0; i < w->names.ids.n; i++)
        put_name(w->line, &w->p->names.v.v[w->names.ids.v[i]]);
    put_word(w->line, (uint32_t)GCC_TAG_FUNCTIONS);
    put_word(w->line, 0);
    put_word(w->line, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put_dword(w->line, w->p->nodes.v[w->p->by_heat.v[i]].head);
        put_instance(w, w->p->by_heat.v[i]);
        pgk_line_flush(w->line, out, PGK_LINE_FLUSH_BYTES);
    }
    /* An empty list of modules, which GCC wants to see. */
    put_word(w->line, (uint32_t)GCC_TAG_MODULES);
    put_word(w->line, 0);
    put_word(w->line, 0);
    pgk_line_flush(w->line, out, 1);
    return w->line->failed || w->order.failed ? pgk_fail_nomem(err) : 0;
}

int pgk_sample_gcc_write(const struct pgk_sample *p, size_t n, struct pgk_sink *out,
                         struct pgk_err *err)
{
    const char *found = NULL, *hint = NULL;
    if (p->kind.contexts) {
        found = "a context-sensitive profile";
        hint = "contexts go away with --layout=flat";
    } else if (p->kind.probes) {
        found = "a profile whose places are probes";
        hint = "for GCC make a profile by lines";
    } else if (pgk_sample_names_unspelled(&p->names)) {
        found = "names that are known by their GUIDs alone";
        hint = "-b BINARY or --names FILE may give their names";
    }
    if (found)
        return pgk_fail(err, PGK_E_ARG, .format = "GCC AutoFDO", .found = found,
                        .expected = "functions by name and line, which is all that GCC takes",
                        .hint = hint);
    struct pgk_line line = {0};
    struct pgk_record_writer w = {.p = p, .line = &line, .order = {.p = p}};
    int status = write_all(&w, n, out, err);
    pgk_line_free(&line);
    pgk_used_names_free(&w.names);
    pgk_order_free(&w.order);
    return status;
}

/* ---- among the formats ---- */

/* The version is looked at, too, because four letters are no strong magic. */
static const struct {
    const char *start, *readers;
} gcc_versions[] = {
    {"adcg*704", "LLVM 14 to " PGK_LLVM_NOW_TEXT},
    {"adcg\1\0\0\0", "GCC before 12"},
    {"adcg\2\0\0\0", "GCC 12"},
};

static bool sniff(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < PGK_COUNTOF(gcc_versions); i++)
        if (size >= 8 && !memcmp(bytes, gcc_versions[i].start, 8))
            return true;
    return false;
}

static int read(struct pgk_sample *profile, const struct pgk_file_bytes *file, uint64_t weight,
                struct pgk_file_info *info, struct pgk_err *err)
{
    PGK_TRY(pgk_sample_gcc_read(profile, file->bytes, file->size, file->src, weight, err));
    info->version = pgk_sample_gcc_version(file->bytes, file->size);
    return 0;
}

static int write(const struct pgk_sample *profile, size_t n,
                 const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                 struct pgk_err *err)
{
    (void)opts;
    return pgk_sample_gcc_write(profile, n, out, err);
}

/* docs/formats/sample-gcc.md */
static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    pgk_info_add(text, "%s", gcc_versions[info->version].readers);
}

const struct pgk_format_row pgk_format_sample_gcc = {
    .format = {.name = "GCC AutoFDO profile",
               .kind = PGK_KIND_SAMPLE,
               .reads = "*704, 1, 2",
               .writes = "2",
               .made_by = "create_gcov, pgokit",
               .page = "sample-gcc.md",
               .read = {0, 2},
               .write = {2, 2}},
    .sniff = sniff,
    .read_sample = read,
    .sample_writer = {.encoding = PGK_SAMPLE_GCC,
                      .name = "gcc",
                      .write = write,
                      .cut = pgk_sample_gcc_cut},
    .readers = readers,
};
