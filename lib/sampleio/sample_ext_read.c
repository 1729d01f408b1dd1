/* Reading sample profiles in LLVM's extensible binary. */
#include "sample_binary.h"

#include "ext_sections.h"
#include "eytzinger.h"
#include "format_row.h"
#include "sample_format.h"
#include "sample_metadata.h"
#include "sample_records.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

/* A context of the file's table, in the model. */
struct context {
    uint32_t node, name;
};

/* A function that has been decoded. It is committed when some more have been: meanwhile the
 * processor fetches the nodes that it will be added to, one step for each pointer on the path. */
struct waiting {
    struct pgk_sample_stage stage;
    uint64_t identity;
    uint32_t name, node; /* node: of its context; without contexts, what it probably is */
};
enum { NODE_STEP = 1, RECORDS_STEP = 3, COMMIT_STEP = 5, QUEUE = 6 };

struct reader {
    struct pgk_sample *p;
    struct pgk_ext_sections sections;
    uint64_t weight;
    bool contexts, probes, attributes, vtables;
    bool composite; /* the section that is being read */
    struct pgk_sample_name_table names;
    PGK_VEC(struct context) context_table;
    PGK_VEC(struct pgk_sample_frame) frames;
    struct pgk_sample_metadata metadata;
    struct waiting queue[QUEUE];
    uint64_t n_read, n_committed; /* function i waits at queue[i % QUEUE] */
};

static int leftover(const struct pgk_cursor *c, const char *record, struct pgk_err *err)
{
    if (!pgk_cur_left(c))
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, pgk_cur_off(c), .record = record,
                          .field = "end of section",
                          .found = PGK_F("%zu byte%s after the last item", pgk_cur_left(c),
                                         pgk_plural(pgk_cur_left(c))),
                          .expected = "none", .hint = DAMAGED);
}

int pgk_ext_read_summary(struct pgk_ext_sections *sections, struct pgk_sample *p,
                         struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(sections, PGK_SEC_SUMMARY, 0);
    if (!s)
        return 0;
    info->contexts = s->flags & PGK_SECF_SUMMARY_CONTEXTS;
    info->has_vtables = s->flags & PGK_SECF_SUMMARY_VTABLES;
    p->preinlined |= (s->flags & PGK_SECF_SUMMARY_PREINLINED) != 0;
    p->fs |= (s->flags & PGK_SECF_SUMMARY_FS) != 0;
    p->partial |= (s->flags & PGK_SECF_SUMMARY_PARTIAL) != 0;
    info->has_summary = true;
    PGK_TRY(pgk_ext_cursor(sections, s, &c, err));
    PGK_TRY(pgk_sample_read_summary(&c, &info->summary, err));
    return leftover(&c, "summary", err);
}

void pgk_ext_describe(const struct pgk_ext_sections *sections, struct pgk_sample_ext_info *info)
{
    info->version = sections->src.version;
    for (size_t i = 0; i < sections->list.n; i++) {
        const struct pgk_ext_section *s = &sections->list.v[i];
        info->compressed |= (s->flags & PGK_SECF_COMPRESSED) != 0;
        info->split_layout |= (s->flags & PGK_SECF_FLAT) != 0;
        info->md5 |= s->type == PGK_SEC_NAMES &&
                     s->flags & (PGK_SECF_NAMES_FIXED | PGK_SECF_NAMES_MD5);
        info->indexed |= s->type == PGK_SEC_NAMES && s->flags & PGK_SECF_NAMES_INDEXED;
        info->symbol_guids |= s->type == PGK_SEC_SYMBOLS && s->flags & PGK_SECF_SYMBOLS_GUIDS;
    }
}

/* ---- names ---- */

static int read_guids(struct reader *r, struct pgk_cursor *c, bool fixed, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c), n = pgk_cur_uleb(c, "number of names");
    size_t item = fixed ? sizeof(uint64_t) : 1;
    PGK_TRY(pgk_cur_check(c, err, "name table"));
    if (n > pgk_cur_left(c) / item)
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, off, .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", pgk_cur_left(c) / item),
                              .hint = DAMAGED);
    if (!pgk_vec_reserve(&r->names.ids, n))
        return pgk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t guid = fixed ? pgk_cur_u64(c, "GUID") : pgk_cur_uleb(c, "GUID");
        uint32_t id = pgk_sample_name_guid(r->p, guid);
        if (!id)
            return pgk_fail_nomem(err);
        r->names.ids.v[r->names.ids.n++] = id;
    }
    return pgk_cur_check(c, err, "name table");
}

/* GUIDs that rise in Eytzinger order; a search would miss them otherwise. The cursor stands at the
 * first. */
static int check_order(const struct pgk_cursor *c, const char *record, size_t n,
                       struct pgk_err *err)
{
    uint64_t last = 0, guid;
    size_t first = pgk_eytzinger_least(0, n);
    for (size_t k = first; k < n; k = pgk_eytzinger_next(k, n)) {
        memcpy(&guid, c->at + k * sizeof guid, sizeof guid);
        if (k != first && guid <= last)
            return pgk_cur_reject(
                c, err, PGK_E_CORRUPT, pgk_cur_off(c) + k * sizeof guid, .record = record,
                .field = "GUID", .found = PGK_F("0x%016" PRIx64 " after 0x%016" PRIx64, guid, last),
                .expected = "GUIDs that rise in Eytzinger order", .hint = DAMAGED);
        last = guid;
    }
    return 0;
}

static int read_indexed(struct reader *r, struct pgk_cursor *c, const struct pgk_ext_section *s,
                        struct pgk_err *err)
{
    uint64_t n;
    PGK_TRY(pgk_ext_read_spans(c, s, &r->names, &n, err));
    if (!pgk_vec_reserve(&r->names.ids, n))
        return pgk_fail_nomem(err);
    for (unsigned span = 0; span < PGK_SPANS; span++) {
        PGK_TRY(check_order(c, "name table", r->names.span[span], err));
        for (uint64_t i = 0; i < r->names.span[span]; i++) {
            uint32_t id = pgk_sample_name_guid(r->p, pgk_cur_u64(c, "GUID"));
            if (!id)
                return pgk_fail_nomem(err);
            r->names.ids.v[r->names.ids.n++] = id;
        }
    }
    return pgk_cur_check(c, err, "name table");
}

static int check_offset(const struct pgk_ext_section *s, uint64_t n_bytes, struct pgk_cursor *c,
                        struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c);
    uint32_t at = pgk_cur_u32(c, "offset");
    if (at == PGK_NO_RECORD || at < n_bytes)
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = pgk_ext_section_name(s->type),
                          .field = "offset", .found = PGK_F("%u", at),
                          .expected = PGK_F("one within %" PRIu64 " bytes of profiles", n_bytes),
                          .hint = DAMAGED);
}

static int check_offsets_of(struct reader *r, struct pgk_ext_section *s, struct pgk_err *err)
{
    struct pgk_cursor c, profiles = {0};
    bool composite = s->type == PGK_SEC_COMPOSITE_OFFSETS;
    struct pgk_ext_section *of = pgk_ext_find_half(
        &r->sections, composite ? PGK_SEC_COMPOSITE : PGK_SEC_PROFILES, s->flags & PGK_SECF_FLAT);
    PGK_TRY(pgk_ext_offsets(&r->sections, s, &r->names, &c, err));
    if (of)
        PGK_TRY(pgk_ext_cursor(&r->sections, of, &profiles, err));
    while (pgk_cur_left(&c))
        PGK_TRY(check_offset(s, of ? pgk_cur_left(&profiles) : 0, &c, err));
    return 0;
}

/* The offsets say nothing that is not in the profiles, but a compiler goes by them. */
static int check_offsets(struct reader *r, struct pgk_err *err)
{
    for (size_t i = 0; i < r->sections.list.n; i++) {
        struct pgk_ext_section *s = &r->sections.list.v[i];
        bool offsets = s->type == PGK_SEC_OFFSETS || s->type == PGK_SEC_COMPOSITE_OFFSETS;
        if (offsets && s->size && s->flags & PGK_SECF_OFFSETS_INDEXED)
            PGK_TRY(check_offsets_of(r, s, err));
    }
    return 0;
}

static int read_names(struct reader *r, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&r->sections, PGK_SEC_NAMES, 0);
    if (!s)
        return check_offsets(r, err);
    PGK_TRY(pgk_ext_cursor(&r->sections, s, &c, err));
    bool fixed = s->flags & PGK_SECF_NAMES_FIXED;
    bool guids = fixed || s->flags & PGK_SECF_NAMES_MD5;
    PGK_TRY(s->flags & PGK_SECF_NAMES_INDEXED ? read_indexed(r, &c, s, err)
            : guids                           ? read_guids(r, &c, fixed, err)
                                              : pgk_sample_read_strings(&c, r->p, &r->names, err));
    PGK_TRY(leftover(&c, "name table", err));
    return check_offsets(r, err);
}

/* ---- contexts ---- */

enum { BATCH = 16 };

/* Contexts whose frames have been read: each is looked up while the table is being fetched for
 * later ones. */
struct batch {
    size_t n;
    struct { size_t first, n_frames; struct pgk_sample_path path; } v[BATCH];
};

static int find_contexts(struct reader *r, struct batch *b, struct pgk_err *err)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct pgk_sample_frame *frames = &r->frames.v[b->v[i].first];
        uint32_t node = pgk_sample_context_at(r->p, b->v[i].path, frames, b->v[i].n_frames);
        struct context context = {node, frames[b->v[i].n_frames - 1].name};
        if (!node || !pgk_vec_push(&r->context_table, context))
            return pgk_fail_nomem(err);
    }
    b->n = r->frames.n = 0;
    return 0;
}

static int read_context(struct reader *r, struct pgk_cursor *c, struct batch *b,
                        struct pgk_err *err)
{
    size_t first = r->frames.n;
    uint64_t off = pgk_cur_off(c), n_frames = pgk_sample_uleb(c, "number of frames");
    PGK_TRY(pgk_cur_check(c, err, "context table"));
    if (!n_frames || n_frames > PGK_SAMPLE_MAX_DEPTH)
        return pgk_cur_reject(c, err, PGK_E_LIMIT, off, .record = "context table",
                              .field = "number of frames", .found = PGK_F("%" PRIu64, n_frames),
                              .expected = "1 to 1000", .hint = DAMAGED);
    for (uint64_t i = 0; i < n_frames; i++) {
        struct pgk_sample_frame frame;
        PGK_TRY(pgk_sample_read_frame(c, &r->names, &frame, err));
        if (!pgk_vec_push(&r->frames, frame))
            return pgk_fail_nomem(err);
    }
    b->v[b->n].first = first;
    b->v[b->n].n_frames = n_frames;
    b->v[b->n++].path = pgk_sample_path(r->p, &r->frames.v[first], n_frames);
    return b->n == BATCH ? find_contexts(r, b, err) : 0;
}

static int read_contexts(struct reader *r, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct batch batch = {.n = 0};
    struct pgk_ext_section *s = pgk_ext_find(&r->sections, PGK_SEC_CONTEXTS, 0);
    if (!s || !r->contexts)
        return 0;
    PGK_TRY(pgk_ext_cursor(&r->sections, s, &c, err));
    uint64_t n = pgk_cur_uleb(&c, "number of contexts");
    for (uint64_t i = 0; i < n && !c.failed; i++)
        PGK_TRY(read_context(r, &c, &batch, err));
    PGK_TRY(find_contexts(r, &batch, err));
    PGK_TRY(pgk_cur_check(&c, err, "context table"));
    return leftover(&c, "context table", err);
}

/* ---- profiles ---- */

/* A function or a context, by its index in the table for it. */
static int read_identity(struct reader *r, struct pgk_cursor *c, const char *record,
                         uint64_t *index, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c);
    size_t n = r->contexts ? r->context_table.n : r->names.ids.n;
    *index = pgk_sample_uleb(c, r->contexts ? "context" : "function");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (*index < n)
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = record,
                          .field = r->contexts ? "context" : "function",
                          .found = PGK_F("index %" PRIu64, *index),
                          .expected = PGK_F("an index below %zu", n), .hint = DAMAGED);
}

static int commit_next(struct reader *r, struct pgk_err *err)
{
    struct waiting *w = &r->queue[r->n_committed++ % QUEUE];
    struct pgk_stage_place place = {0};
    PGK_TRY(pgk_metadata_apply(&r->metadata, w->identity, &w->stage, err));
    if (r->contexts)
        place = pgk_stage_place_of(r->p, w->node);
    return pgk_stage_commit(&w->stage, r->p, place, r->weight, err);
}

/* Function i is about to be decoded: those before it make a step. */
static int step(struct reader *r, uint64_t i, struct pgk_err *err)
{
    if (i >= NODE_STEP) {
        struct waiting *w = &r->queue[(i - NODE_STEP) % QUEUE];
        if (!r->contexts && w->name < r->p->function_of.n)
            w->node = r->p->function_of.v[w->name];
        pgk_sample_prefetch_node(r->p, w->node);
        pgk_metadata_prefetch(&r->metadata, w->identity);
    }
    if (i >= RECORDS_STEP)
        pgk_sample_prefetch_records(r->p, r->queue[(i - RECORDS_STEP) % QUEUE].node);
    return i >= COMMIT_STEP ? commit_next(r, err) : 0;
}

static int read_top(struct reader *r, struct pgk_cursor *c, struct pgk_err *err)
{
    struct waiting *w = &r->queue[r->n_read % QUEUE];
    uint64_t head = r->composite ? 0 : pgk_sample_uleb(c, "head samples");
    PGK_TRY(read_identity(r, c, "profiles", &w->identity, err));
    w->node = r->contexts ? r->context_table.v[w->identity].node : 0;
    w->name = r->contexts ? r->context_table.v[w->identity].name : r->names.ids.v[w->identity];
    pgk_metadata_prefetch_entry(&r->metadata, w->identity);
    if (!r->contexts && w->name < r->p->function_of.n)
        __builtin_prefetch(&r->p->function_of.v[w->name]);
    PGK_TRY(step(r, r->n_read, err));
    struct pgk_record_reader records = {.c = c,
                                        .p = r->p,
                                        .stage = &w->stage,
                                        .names = &r->names,
                                        .vtables = r->vtables,
                                        .composite = r->composite};
    if (!pgk_stage_begin(&w->stage, w->name))
        return pgk_fail_nomem(err);
    w->stage.slots.v[0].head = head;
    PGK_TRY(pgk_sample_read_record(&records, err));
    r->n_read++;
    return 0;
}

static int read_profiles(struct reader *r, struct pgk_err *err)
{
    struct pgk_ext_section *s;
    for (unsigned nth = 0; (s = pgk_ext_find_profiles(&r->sections, nth)); nth++) {
        struct pgk_cursor c;
        r->composite = s->type == PGK_SEC_COMPOSITE;
        PGK_TRY(pgk_ext_cursor(&r->sections, s, &c, err));
        while (pgk_cur_left(&c))
            PGK_TRY(read_top(r, &c, err));
    }
    while (r->n_committed < r->n_read)
        PGK_TRY(commit_next(r, err));
    return 0;
}

static int read_symbol_guids(struct reader *r, struct pgk_cursor *c, struct pgk_err *err)
{
    char text[24];
    size_t n = pgk_cur_left(c) / sizeof(uint64_t);
    if (pgk_cur_left(c) % sizeof(uint64_t))
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c), .record = "symbol list",
                              .field = "GUIDs", .found = PGK_F("%zu bytes", pgk_cur_left(c)),
                              .expected = "a multiple of 8", .hint = DAMAGED);
    PGK_TRY(check_order(c, "symbol list", n, err));
    for (size_t i = 0; i < n; i++) {
        int len = snprintf(text, sizeof text, "%" PRIu64, pgk_cur_u64(c, "GUID"));
        if (!pgk_sample_add_symbol(r->p, text, (size_t)len))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int read_symbols(struct reader *r, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&r->sections, PGK_SEC_SYMBOLS, 0);
    if (!s)
        return 0;
    PGK_TRY(pgk_ext_cursor(&r->sections, s, &c, err));
    if (s->flags & PGK_SECF_SYMBOLS_GUIDS)
        return read_symbol_guids(r, &c, err);
    while (pgk_cur_left(&c)) {
        const uint8_t *end = memchr(c.at, 0, pgk_cur_left(&c));
        if (!end)
            return pgk_cur_reject(&c, err, PGK_E_TRUNCATED, pgk_cur_off(&c),
                                  .record = "symbol list", .field = "symbol",
                                  .found = "no NUL byte after the name",
                                  .expected = "one after each name", .hint = DAMAGED);
        if (!pgk_sample_add_symbol(r->p, (const char *)c.at, (size_t)(end - c.at)))
            return pgk_fail_nomem(err);
        c.at = end + 1;
    }
    return 0;
}

static int open_metadata(struct reader *r, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&r->sections, PGK_SEC_METADATA, 0);
    for (size_t i = 0; i < r->sections.list.n; i++)
        if (r->sections.list.v[i].type == PGK_SEC_METADATA)
            r->probes = r->sections.list.v[i].flags & PGK_SECF_METADATA_CHECKSUMS;
    if (!s)
        return 0;
    struct pgk_metadata_layout layout = {
        .checksums = r->probes, .attributes = s->flags & PGK_SECF_METADATA_ATTRIBUTES,
        .nested = !r->contexts,
        .n_identities = r->contexts ? r->context_table.n : r->names.ids.n};
    PGK_TRY(pgk_ext_cursor(&r->sections, s, &c, err));
    return pgk_metadata_open(&r->metadata, &c, &layout, &r->names, err);
}

static int read_all(struct reader *r, struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    pgk_ext_describe(&r->sections, info);
    PGK_TRY(pgk_ext_read_summary(&r->sections, r->p, info, err));
    r->contexts = info->contexts;
    r->vtables = info->has_vtables;
    PGK_TRY(read_names(r, err));
    PGK_TRY(read_contexts(r, err));
    PGK_TRY(open_metadata(r, err));
    PGK_TRY(pgk_sample_set_kind(r->p, r->contexts, r->probes, r->sections.src.file, err));
    PGK_TRY(read_profiles(r, err));
    return read_symbols(r, err);
}

static void close_reader(struct reader *r)
{
    pgk_ext_close(&r->sections);
    pgk_vec_free(&r->names.ids);
    pgk_vec_free(&r->context_table);
    pgk_vec_free(&r->frames);
    pgk_metadata_close(&r->metadata);
    for (unsigned i = 0; i < QUEUE; i++)
        pgk_stage_free(&r->queue[i].stage);
}

int pgk_sample_ext_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, uint64_t weight,
                        struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    struct reader r = {
        .p = p, .weight = weight, .sections = {.pass_unknown = p->passes_sections}};
    struct pgk_sample_ext_info ignored;
    info = info ? info : &ignored;
    *info = (struct pgk_sample_ext_info){0};
    int status = pgk_ext_open(&r.sections, bytes, size, src, err);
    p->unknown_blocks += r.sections.passed;
    if (!status)
        status = read_all(&r, info, err);
    close_reader(&r);
    return status;
}

/* ---- among the formats ---- */

static bool sniff(const uint8_t *bytes, size_t size)
{
    return pgk_sample_has_magic(bytes, size, PGK_SAMPLE_MAGIC_EXT);
}

static void take(struct pgk_file_info *info, const struct pgk_sample_ext_info *ext)
{
    info->version = ext->version;
    info->facts[PGK_FACT_COMPRESSED] = ext->compressed;
    info->facts[PGK_FACT_GUID_NAMES] = ext->md5;
    info->facts[PGK_FACT_SPLIT_LAYOUT] = ext->split_layout;
    info->facts[PGK_FACT_VTABLES] = ext->has_vtables;
    info->facts[PGK_FACT_INDEXED_TABLES] = ext->indexed;
    info->facts[PGK_FACT_SYMBOL_GUIDS] = ext->symbol_guids;
    info->has_summary = ext->has_summary;
    info->summary = ext->summary;
}

static int read(struct pgk_sample *profile, const struct pgk_file_bytes *file, uint64_t weight,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_sample_ext_info ext;
    PGK_TRY(pgk_sample_ext_read(profile, file->bytes, file->size, file->src, weight, &ext, err));
    take(info, &ext);
    return 0;
}

static int read_function(struct pgk_sample *profile, const struct pgk_file_bytes *file,
                         const char *function, struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_sample_ext_info ext;
    PGK_TRY(pgk_sample_ext_read_function(profile, file->bytes, file->size, file->src, function,
                                         &ext, err));
    take(info, &ext);
    return 0;
}

static int read_functions(struct pgk_sample *profile, const struct pgk_file_bytes *file,
                          const uint64_t *functions, size_t n, struct pgk_file_info *info,
                          struct pgk_err *err)
{
    struct pgk_sample_ext_info ext;
    PGK_TRY(pgk_sample_ext_read_functions(profile, file->bytes, file->size, file->src, functions,
                                          n, &ext, err));
    take(info, &ext);
    return 0;
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_GUID_NAMES])
        pgk_info_add(text, ", names as GUIDs");
    if (info->facts[PGK_FACT_COMPRESSED])
        pgk_info_add(text, ", compressed");
    if (info->facts[PGK_FACT_SPLIT_LAYOUT])
        pgk_info_add(text, ", split layout");
    if (info->facts[PGK_FACT_INDEXED_TABLES])
        pgk_info_add(text, ", indexed tables");
    if (info->facts[PGK_FACT_SYMBOL_GUIDS])
        pgk_info_add(text, ", symbols as GUIDs");
    if (info->facts[PGK_FACT_VTABLES])
        pgk_info_add(text, ", with vtables");
}

/* docs/formats/sample-binary.md "Who reads what" */
static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    uint32_t since = pgk_sample_version_since(info->version);
    if (info->facts[PGK_FACT_VTABLES] && since < PGK_SAMPLE_VTABLES_SINCE)
        since = PGK_SAMPLE_VTABLES_SINCE;
    if (info->facts[PGK_FACT_INDEXED_TABLES] || info->facts[PGK_FACT_SYMBOL_GUIDS])
        since = PGK_SAMPLE_INDEXED_SINCE;
    pgk_info_add_releases(text, since, since > PGK_LLVM_NOW ? since : PGK_LLVM_NOW);
}

const struct pgk_format_row pgk_format_sample_ext = {
    .format = {.name = "extensible sample profile",
               .kind = PGK_KIND_SAMPLE,
               .reads =
                   PGK_VERSION_TEXT(PGK_SAMPLE_VERSION) " to " PGK_VERSION_TEXT(PGK_SAMPLE_NOW),
               .writes =
                   PGK_VERSION_TEXT(PGK_SAMPLE_VERSION) " to " PGK_VERSION_TEXT(PGK_SAMPLE_NOW),
               .made_by = "llvm-profdata 14 to " PGK_LLVM_NOW_TEXT ", llvm-profgen, pgokit",
               .page = "sample-binary.md",
               .read = {PGK_SAMPLE_VERSION, PGK_SAMPLE_NOW},
               .write = {PGK_SAMPLE_VERSION, PGK_SAMPLE_NOW}},
    .sniff = sniff,
    .read_sample = read,
    .read_function = read_function,
    .read_functions = read_functions,
    .sample_writer = {.encoding = PGK_SAMPLE_EXT_BINARY,
                      .name = "extbinary",
                      .write = pgk_sample_ext_write,
                      .vtables = true,
                      .symbols = true,
                      .checksums = true,
                      .attributes = true,
                      .flow = true,
                      .partial = true,
                      .guids = true},
    .describe = describe,
    .readers = readers,
};
