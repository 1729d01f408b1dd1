/* Function records, name tables and summaries as the binary formats hold them. */
#include "sample_records.h"

#include "format_row.h"
#include "sample_format.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

uint32_t pgk_sample_version_since(uint64_t version)
{
    switch (version) {
#define PGK_SAMPLE_VERSION_ROW(number, since) \
    case number:                              \
        return since;
#include "sample_versions.def"
#undef PGK_SAMPLE_VERSION_ROW
    }
    return 0;
}

#define PGK_SAMPLE_VERSION_ROW(number, since) #number " from " #since " on, "
static const char version_list[] =
#include "sample_versions.def"
#undef PGK_SAMPLE_VERSION_ROW
    ;

int pgk_sample_read_version(struct pgk_cursor *c, uint32_t last, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c), version = pgk_cur_uleb(c, "version");
    PGK_TRY(pgk_cur_check(c, err, "header"));
    if (version > last || !pgk_sample_version_since(version))
        return pgk_cur_reject(c, err, PGK_E_VERSION, off, .record = "header", .field = "version",
                              .found = PGK_F("version %" PRIu64, version),
                              .expected = last == PGK_SAMPLE_VERSION
                                              ? PGK_F("version %d", PGK_SAMPLE_VERSION)
                                              : PGK_F("version %d to %u", PGK_SAMPLE_VERSION, last),
                              .hint = PGK_F("releases of LLVM read version %sand write the same; "
                                            "have a release write one of these",
                                            version_list));
    c->src.version = (uint32_t)version;
    return 0;
}

static int add_batch(struct pgk_sample *p, struct pgk_sample_name_table *names,
                     struct pgk_spelling *batch, size_t *n, struct pgk_err *err)
{
    if (!pgk_sample_names_add_many(&p->names, batch, *n))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < *n; i++)
        names->ids.v[names->ids.n++] = batch[i].id;
    *n = 0;
    return 0;
}

int pgk_sample_read_strings(struct pgk_cursor *c, struct pgk_sample *p,
                            struct pgk_sample_name_table *names, struct pgk_err *err)
{
    struct pgk_spelling batch[16];
    size_t n_batch = 0;
    uint64_t off = pgk_cur_off(c), n = pgk_cur_uleb(c, "number of names");
    PGK_TRY(pgk_cur_check(c, err, "name table"));
    if (n > pgk_cur_left(c))
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, off, .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64 " names", n),
                              .expected = PGK_F("at most %zu, one per byte left", pgk_cur_left(c)),
                              .hint = DAMAGED);
    if (!pgk_vec_reserve(&names->ids, n))
        return pgk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *end = memchr(c->at, 0, pgk_cur_left(c));
        if (!end)
            return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c), .record = "name table",
                                  .field = PGK_F("name %" PRIu64, i),
                                  .found = "no NUL byte after the name",
                                  .expected = PGK_F("%" PRIu64 " names", n), .hint = DAMAGED);
        batch[n_batch++] = (struct pgk_spelling){.s = (const char *)c->at,
                                                 .len = (size_t)(end - c->at)};
        if (n_batch == PGK_COUNTOF(batch) || i + 1 == n)
            PGK_TRY(add_batch(p, names, batch, &n_batch, err));
        c->at = end + 1;
    }
    return 0;
}

/* Numbers that end in the eight bytes: how many have no highest bit. */
static unsigned count_ends(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    uint64_t ends = ~word >> 7 & UINT64_C(0x0101010101010101);
    return (unsigned)(ends * UINT64_C(0x0101010101010101) >> 56);
}

void pgk_sample_skip_ulebs(struct pgk_cursor *c, uint64_t n)
{
    const uint8_t *at = c->at, *end = c->end;
    for (; n >= 8 && end - at >= 8; at += 8)
        n -= count_ends(at);
    while (n && at < end)
        n -= *at++ < 0x80;
    c->at = at;
    if (n)
        pgk_cur_uleb(c, "number"); /* fails at the end */
}

uint64_t pgk_sample_lazy_guid(const struct pgk_sample_name_table *names, uint64_t i)
{
    uint64_t guid = 0;
    if (names->lazy == PGK_LAZY_GUIDS) {
        memcpy(&guid, names->lazy_bytes + i * sizeof guid, sizeof guid);
        return guid;
    }
    const uint8_t *bytes = names->lazy_bytes + names->lazy_off.v[i];
    for (unsigned shift = 0;; shift += 7) {
        guid |= (uint64_t)(*bytes & 0x7f) << shift;
        if (*bytes++ < 0x80)
            break;
    }
    return guid;
}

const char *pgk_sample_lazy_string(const struct pgk_sample_name_table *names, uint64_t i,
                                   size_t *len)
{
    *len = names->lazy_off.v[i + 1] - names->lazy_off.v[i] - 1;
    return (const char *)names->lazy_bytes + names->lazy_off.v[i];
}

static uint32_t resolve_lazily(const struct pgk_sample_name_table *names, uint64_t i)
{
    size_t len;
    if (names->lazy != PGK_LAZY_STRINGS)
        return pgk_sample_name_guid(names->lazy_into, pgk_sample_lazy_guid(names, i));
    const char *name = pgk_sample_lazy_string(names, i, &len);
    return pgk_sample_name(names->lazy_into, name, len);
}

/* Name `i` of the file, whose index stands at `off`, if it is not an easy one. */
static int resolve(struct pgk_cursor *c, const struct pgk_sample_name_table *names, uint64_t i,
                   uint64_t off, const char *field, const char *record, uint32_t *id,
                   struct pgk_err *err)
{
    if (i < names->ids.n && !c->failed) {
        *id = names->lazy_into ? resolve_lazily(names, i) : names->ids.v[i];
        return *id ? 0 : pgk_fail_nomem(err);
    }
    PGK_TRY(pgk_cur_check(c, err, record));
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = record, .field = field,
                          .found = PGK_F("name %" PRIu64, i),
                          .expected = PGK_F("an index below %zu", names->ids.n), .hint = DAMAGED);
}

int pgk_sample_read_name(struct pgk_cursor *c, const struct pgk_sample_name_table *names,
                         const char *field, const char *record, uint32_t *id,
                         struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c), i = pgk_sample_uleb(c, field);
    return resolve(c, names, i, off, field, record, id, err);
}

int pgk_sample_read_frame(struct pgk_cursor *c, const struct pgk_sample_name_table *names,
                          struct pgk_sample_frame *frame, struct pgk_err *err)
{
    PGK_TRY(pgk_sample_read_name(c, names, "function of a frame", "context table", &frame->name,
                                 err));
    uint64_t off = pgk_cur_off(c), line = pgk_sample_uleb(c, "line offset of a frame");
    uint64_t discriminator = pgk_sample_uleb(c, "discriminator of a frame");
    PGK_TRY(pgk_cur_check(c, err, "context table"));
    if (line > UINT32_MAX || discriminator > UINT32_MAX)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = "context table",
                              .field = "line offset of a frame",
                              .found = PGK_F("%" PRIu64 ".%" PRIu64, line, discriminator),
                              .expected = "numbers of 32 bits", .hint = DAMAGED);
    frame->loc = pgk_sample_loc((uint32_t)line, (uint32_t)discriminator);
    return 0;
}

/* Of the function being read, for messages. */
static const char *record_name(const struct pgk_record_reader *r)
{
    const char *spelling = r->p->names.list.v[r->stage->slots.v[0].name].s;
    return spelling ? spelling : "a function known by its GUID";
}

static int reject_count(struct pgk_record_reader *r, uint64_t off, unsigned item,
                        const char *field, uint64_t n, struct pgk_err *err)
{
    PGK_TRY(pgk_cur_check(r->c, err, record_name(r)));
    return pgk_cur_reject(r->c, err, PGK_E_TRUNCATED, off, .record = record_name(r), .field = field,
                          .found = PGK_F("%" PRIu64, n),
                          .expected = PGK_F("at most %zu, as %zu bytes are left",
                                            pgk_cur_left(r->c) / item, pgk_cur_left(r->c)),
                          .hint = DAMAGED);
}

static int reject_loc(struct pgk_record_reader *r, uint64_t off, const char *field, uint64_t line,
                      uint64_t discriminator, struct pgk_err *err)
{
    PGK_TRY(pgk_cur_check(r->c, err, record_name(r)));
    return pgk_cur_reject(r->c, err, PGK_E_CORRUPT, off, .record = record_name(r), .field = field,
                          .found = PGK_F("%" PRIu64 ".%" PRIu64, line, discriminator),
                          .expected = "a line offset of 16 bits, a discriminator of 32",
                          .hint = DAMAGED);
}

/* These are what reading a profile consists of: inlined, the cursor stays in a register. */

static inline int read_name(struct pgk_record_reader *r, const char *field, uint32_t *id,
                            struct pgk_err *err)
{
    const struct pgk_sample_name_table *names = r->names;
    uint64_t off = pgk_cur_off(r->c), i = pgk_sample_uleb(r->c, field);
    if (PGK_LIKELY(i < names->ids.n && !r->c->failed && !names->lazy_into)) {
        *id = names->ids.v[i];
        return 0;
    }
    return resolve(r->c, names, i, off, field, record_name(r), id, err);
}

/* A number of items that take at least `item` bytes each. */
static inline int read_count(struct pgk_record_reader *r, unsigned item, const char *field,
                             uint64_t *n, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(r->c);
    *n = pgk_sample_uleb(r->c, field);
    if (PGK_LIKELY(*n <= pgk_cur_left(r->c) / item && !r->c->failed))
        return 0;
    return reject_count(r, off, item, field, *n, err);
}

static inline int read_loc(struct pgk_record_reader *r, const char *field, uint64_t *loc,
                           struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(r->c), line = pgk_sample_uleb(r->c, field);
    uint64_t discriminator = pgk_sample_uleb(r->c, "discriminator");
    if (PGK_LIKELY(line <= PGK_SAMPLE_MAX_LINE && discriminator <= UINT32_MAX && !r->c->failed)) {
        *loc = pgk_sample_loc((uint32_t)line, (uint32_t)discriminator);
        return 0;
    }
    return reject_loc(r, off, field, line, discriminator, err);
}

/* Names with a count each, as records of a place. */
static inline int read_counts(struct pgk_record_reader *r, struct pgk_stage_node *to, uint64_t loc,
                              uint32_t kind, uint64_t n, const char *field, struct pgk_err *err)
{
    for (uint64_t i = 0; i < n; i++) {
        uint32_t name;
        PGK_TRY(read_name(r, field, &name, err));
        uint64_t count = pgk_sample_uleb(r->c, kind ? "objects of a vtable" : "calls");
        if (!pgk_stage_add(to, loc, name | kind, count))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int read_lines(struct pgk_record_reader *r, struct pgk_stage_node *to, struct pgk_err *err)
{
    uint64_t n, n_calls, loc = 0;
    PGK_TRY(read_count(r, 4, "number of lines", &n, err));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_loc(r, "line offset", &loc, err));
        uint64_t count = pgk_sample_uleb(r->c, "samples");
        PGK_TRY(read_count(r, 2, "number of call targets", &n_calls, err));
        if (!pgk_stage_add(to, loc, PGK_REC_BODY, count))
            return pgk_fail_nomem(err);
        PGK_TRY(read_counts(r, to, loc, 0, n_calls, "call target", err));
    }
    return 0;
}

static int read_vtables(struct pgk_record_reader *r, struct pgk_stage_node *to,
                        struct pgk_err *err)
{
    uint64_t n, n_types, loc = 0;
    PGK_TRY(read_count(r, 3, "number of places with vtables", &n, err));
    r->p->has_vtables |= n != 0;
    pgk_stage_new_run(to);
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_loc(r, "line offset of vtables", &loc, err));
        PGK_TRY(read_count(r, 2, "number of vtables", &n_types, err));
        PGK_TRY(read_counts(r, to, loc, PGK_REC_VTABLE, n_types, "vtable", err));
    }
    return 0;
}

static int read_node(struct pgk_record_reader *r, uint32_t slot, struct pgk_err *err);

static int read_inlinees(struct pgk_record_reader *r, uint32_t slot, struct pgk_err *err)
{
    uint64_t n, loc = 0, off = pgk_cur_off(r->c);
    PGK_TRY(read_count(r, r->composite ? 5 : 6, "number of inlinees", &n, err));
    if (n && r->stage->slots.v[slot].depth >= PGK_SAMPLE_MAX_DEPTH)
        return pgk_cur_reject(r->c, err, PGK_E_LIMIT, off, .record = record_name(r),
                              .field = "number of inlinees",
                              .found = "inlinees nested deeper than 1000 levels",
                              .expected = "at most 1000", .hint = DAMAGED);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t name;
        PGK_TRY(read_loc(r, "line offset of inlinee", &loc, err));
        PGK_TRY(read_name(r, "inlinee", &name, err));
        uint32_t inlinee = pgk_stage_inlinee(r->stage, slot, loc, name);
        if (inlinee == PGK_STAGE_NONE)
            return pgk_fail_nomem(err);
        PGK_TRY(read_node(r, inlinee, err));
    }
    return 0;
}

int pgk_sample_read_block(struct pgk_cursor *c, uint64_t *type, uint64_t *size, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c);
    *type = pgk_sample_uleb(c, "type of block");
    *size = pgk_sample_uleb(c, "size of block");
    PGK_TRY(pgk_cur_check(c, err, "composite profiles"));
    if (*size <= pgk_cur_left(c))
        return 0;
    return pgk_cur_reject(c, err, PGK_E_TRUNCATED, off, .record = "composite profiles",
                          .field = "size of block", .found = PGK_F("%" PRIu64 " bytes", *size),
                          .expected = PGK_F("at most %zu", pgk_cur_left(c)), .hint = DAMAGED);
}

/* Head samples, which only a top record has, the total, and lines. */
static int read_counted(struct pgk_record_reader *r, uint32_t slot, struct pgk_err *err)
{
    if (r->composite && !slot)
        r->stage->slots.v[slot].head = pgk_sample_uleb(r->c, "head samples");
    r->stage->slots.v[slot].total = pgk_sample_uleb(r->c, "total samples");
    return read_lines(r, &r->stage->slots.v[slot], err);
}

/* A block of lines ends where its size says. */
static int read_lines_block(struct pgk_record_reader *r, uint32_t slot, uint64_t size,
                            struct pgk_err *err)
{
    const uint8_t *after = r->c->at + size, *end = r->c->end;
    r->c->end = after;
    PGK_TRY(read_counted(r, slot, err));
    PGK_TRY(pgk_cur_check(r->c, err, record_name(r)));
    r->c->end = end;
    if (r->c->at == after)
        return 0;
    return pgk_cur_reject(r->c, err, PGK_E_CORRUPT, pgk_cur_off(r->c), .record = record_name(r),
                          .field = "block of lines",
                          .found = PGK_F("%td bytes after the last line", after - r->c->at),
                          .expected = "none", .hint = DAMAGED);
}

/* Blocks of other types are passed over, and counted. */
static int read_blocks(struct pgk_record_reader *r, uint32_t slot, struct pgk_err *err)
{
    uint64_t n, type, size;
    bool any_lines = false;
    PGK_TRY(read_count(r, 2, "number of blocks", &n, err));
    for (; n; n--) {
        uint64_t off = pgk_cur_off(r->c);
        PGK_TRY(pgk_sample_read_block(r->c, &type, &size, err));
        if (type != PGK_BLOCK_LINES) {
            r->c->at += size;
            r->p->unknown_blocks++;
            continue;
        }
        if (any_lines)
            return pgk_cur_reject(r->c, err, PGK_E_CORRUPT, off, .record = record_name(r),
                                  .field = "type of block", .found = "a second block of lines",
                                  .expected = "one for each function", .hint = DAMAGED);
        any_lines = true;
        PGK_TRY(read_lines_block(r, slot, size, err));
    }
    return 0;
}

static int read_node(struct pgk_record_reader *r, uint32_t slot, struct pgk_err *err)
{
    PGK_TRY(r->composite ? read_blocks(r, slot, err) : read_counted(r, slot, err));
    PGK_TRY(read_inlinees(r, slot, err));
    if (r->vtables)
        PGK_TRY(read_vtables(r, &r->stage->slots.v[slot], err));
    return r->c->failed ? pgk_cur_check(r->c, err, record_name(r)) : 0;
}

int pgk_sample_read_record(struct pgk_record_reader *r, struct pgk_err *err)
{
    return read_node(r, 0, err);
}

int pgk_sample_read_summary(struct pgk_cursor *c, struct pgk_sample_summary *s,
                            struct pgk_err *err)
{
    *s = (struct pgk_sample_summary){.struct_size = sizeof *s};
    s->total_count = pgk_cur_uleb(c, "total count");
    s->max_count = pgk_cur_uleb(c, "largest count");
    s->max_function_count = pgk_cur_uleb(c, "largest head count");
    s->num_counts = pgk_cur_uleb(c, "number of counts");
    s->num_functions = pgk_cur_uleb(c, "number of functions");
    uint64_t off = pgk_cur_off(c), n = pgk_cur_uleb(c, "number of cutoffs");
    PGK_TRY(pgk_cur_check(c, err, "summary"));
    if (n > pgk_cur_left(c) / 3)
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, off, .record = "summary",
                              .field = "number of cutoffs", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", pgk_cur_left(c) / 3),
                              .hint = DAMAGED);
    for (uint64_t i = 0; i < n; i++) {
        struct pgk_sample_cutoff cutoff = {.ppm = pgk_cur_uleb(c, "cutoff"),
                                           .min_count = pgk_cur_uleb(c, "smallest count"),
                                           .num_counts = pgk_cur_uleb(c, "number of counts")};
        if (i < PGK_SAMPLE_CUTOFFS)
            s->cutoffs[i] = cutoff;
    }
    s->n_cutoffs = n < PGK_SAMPLE_CUTOFFS ? (size_t)n : PGK_SAMPLE_CUTOFFS;
    return pgk_cur_check(c, err, "summary");
}
