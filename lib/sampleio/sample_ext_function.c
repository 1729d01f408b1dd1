/* Reading one function of an extensible binary by its function offset table: in all contexts, if
 * the profile has contexts. Of the other functions nothing is read but their names, contexts and
 * offsets; in indexed tables not even these. */
#include "sample_binary.h"

#include "ext_sections.h"
#include "eytzinger.h"
#include "hash.h"
#include "sample_metadata.h"
#include "sample_records.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

/* The function, or one of its contexts. */
struct wanted {
    size_t frames_off;  /* in the context table */
    uint64_t off;       /* of the record */
    bool flat;          /* in that half of a split layout */
    bool composite;     /* among composite profiles */
    bool has_record;
};

struct finder {
    struct pgk_sample *p;
    struct pgk_ext_sections sections;
    const char *name;
    uint64_t index;     /* of the name in the file; UINT64_MAX: not there */
    bool contexts, vtables;
    struct pgk_sample_name_table names;
    uint64_t n_identities;
    PGK_VEC(uint64_t) identities;  /* those wanted, rising */
    PGK_VEC(struct wanted) wanted; /* in the same order */
    struct pgk_sample_metadata metadata;
    struct pgk_sample_stage stage;
    PGK_VEC(struct pgk_sample_frame) frames;
};

static int fail_absent(const struct finder *f, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_EMPTY, .file = f->sections.src.file, .field = "function",
                    .found = PGK_F("no profile of '%s'", f->name), .expected = "one",
                    .hint = "give the name as the linker knows it; pgokit show --linkage-names "
                            "lists them");
}

static int want(struct finder *f, uint64_t identity, size_t frames_off, struct pgk_err *err)
{
    return pgk_vec_push(&f->identities, identity) &&
                   pgk_vec_push(&f->wanted, (struct wanted){.frames_off = frames_off})
               ? 0 : pgk_fail_nomem(err);
}

/* ---- names ---- */

static void find_indexed(struct finder *f, uint64_t wanted)
{
    uint64_t base = 0;
    for (unsigned span = 0; span < PGK_SPANS; base += f->names.span[span++]) {
        uint64_t n = f->names.span[span];
        size_t at = pgk_eytzinger_find(f->names.lazy_bytes + base * sizeof(uint64_t), n, wanted);
        if (at < n && f->index == UINT64_MAX)
            f->index = base + at;
    }
}

static void find_guid(struct finder *f, uint64_t n)
{
    uint64_t wanted = pgk_md5_low64(f->name, strlen(f->name)), given;
    if (pgk_sample_name_is_guid(f->name, strlen(f->name), &given))
        wanted = given;
    if (f->names.indexed) {
        find_indexed(f, wanted);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        if (pgk_sample_lazy_guid(&f->names, i) == wanted)
            f->index = i;
}

static void find_string(struct finder *f, uint64_t n)
{
    size_t len = strlen(f->name), found;
    for (uint64_t i = 0; i < n; i++) {
        const char *name = pgk_sample_lazy_string(&f->names, i, &found);
        if (found == len && !memcmp(name, f->name, len))
            f->index = i;
    }
}

static int find_name(struct finder *f, struct pgk_err *err)
{
    f->index = UINT64_MAX;
    PGK_TRY(pgk_ext_read_names_lazily(&f->sections, f->p, &f->names, err));
    if (f->names.lazy == PGK_LAZY_STRINGS)
        find_string(f, f->names.ids.n);
    else
        find_guid(f, f->names.ids.n);
    return f->index == UINT64_MAX ? fail_absent(f, err) : 0;
}

/* ---- contexts ---- */

static int find_contexts(struct finder *f, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&f->sections, PGK_SEC_CONTEXTS, 0);
    if (!s)
        return fail_absent(f, err);
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    uint64_t n = pgk_cur_uleb(&c, "number of contexts");
    for (uint64_t i = 0; i < n && !c.failed; i++) {
        const uint8_t *start = c.at;
        uint64_t off = pgk_cur_off(&c), n_frames = pgk_sample_uleb(&c, "number of frames");
        if (!c.failed && (!n_frames || n_frames > PGK_SAMPLE_MAX_DEPTH))
            return pgk_cur_reject(&c, err, PGK_E_LIMIT, off, .record = "context table",
                                  .field = "number of frames", .found = PGK_F("%" PRIu64, n_frames),
                                  .expected = "1 to 1000", .hint = DAMAGED);
        pgk_sample_skip_ulebs(&c, 3 * (n_frames - 1));
        bool leaf = pgk_sample_uleb(&c, "function of a frame") == f->index;
        pgk_sample_skip_ulebs(&c, 2);
        if (leaf && !c.failed)
            PGK_TRY(want(f, i, (size_t)(start - c.start), err));
    }
    PGK_TRY(pgk_cur_check(&c, err, "context table"));
    f->n_identities = n;
    return f->wanted.n ? 0 : fail_absent(f, err);
}

/* The context's place in the model. */
static int build_context(struct finder *f, const struct wanted *w, struct pgk_stage_place *place,
                         struct pgk_err *err)
{
    struct pgk_cursor c;
    PGK_TRY(pgk_ext_cursor(&f->sections, pgk_ext_find(&f->sections, PGK_SEC_CONTEXTS, 0), &c,
                           err));
    c.at = c.start + w->frames_off;
    f->frames.n = 0;
    for (uint64_t n = pgk_sample_uleb(&c, "number of frames"); n; n--) {
        struct pgk_sample_frame frame;
        PGK_TRY(pgk_sample_read_frame(&c, &f->names, &frame, err));
        if (!pgk_vec_push(&f->frames, frame))
            return pgk_fail_nomem(err);
    }
    uint32_t context = pgk_sample_context_of(f->p, f->frames.v, f->frames.n);
    if (!context)
        return pgk_fail_nomem(err);
    *place = pgk_stage_place_of(f->p, context);
    return 0;
}

/* ---- records ---- */

static void found(struct finder *f, size_t at, const struct pgk_ext_section *s, uint64_t off)
{
    f->wanted.v[at] = (struct wanted){.frames_off = f->wanted.v[at].frames_off,
                                      .off = off,
                                      .flat = s->flags & PGK_SECF_FLAT,
                                      .composite = s->type == PGK_SEC_COMPOSITE_OFFSETS,
                                      .has_record = true};
}

/* The offset stands where the name does in its span. */
static int find_indexed_offset(struct finder *f, struct pgk_ext_section *s, struct pgk_err *err)
{
    struct pgk_cursor c;
    bool flat = s->flags & PGK_SECF_FLAT;
    uint64_t base = flat ? f->names.span[PGK_SPAN_TOP] : 0;
    if (f->contexts)
        return pgk_fail(err, PGK_E_ARG, .found = "indexed offsets of contexts");
    PGK_TRY(pgk_ext_offsets(&f->sections, s, &f->names, &c, err));
    if (f->index < base || f->index - base >= pgk_cur_left(&c) / sizeof(uint32_t))
        return 0;
    c.at += (f->index - base) * sizeof(uint32_t);
    uint32_t off = pgk_cur_u32(&c, "offset");
    if (off != PGK_NO_RECORD)
        found(f, 0, s, off);
    return 0;
}

/* Looks for the wanted in one half of a split layout, or in the whole. */
static int find_offsets(struct finder *f, enum pgk_sample_section type, bool flat,
                        struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find_half(&f->sections, type, flat);
    if (!s)
        return 0;
    if (s->flags & PGK_SECF_OFFSETS_INDEXED)
        return find_indexed_offset(f, s, err);
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    uint64_t n = pgk_cur_uleb(&c, "number of functions");
    uint64_t low = f->identities.v[0], high = f->identities.v[f->identities.n - 1];
    for (uint64_t i = 0; i < n && !c.failed; i++) {
        uint64_t identity = pgk_sample_uleb(&c, "function");
        uint64_t off = pgk_sample_uleb(&c, "offset");
        size_t at = identity < low || identity > high || c.failed
                        ? f->wanted.n
                        : pgk_find_identity(f->identities.v, f->identities.n, identity);
        if (at < f->wanted.n)
            found(f, at, s, off);
    }
    return pgk_cur_check(&c, err, "function offset table");
}

static int open_record(struct finder *f, size_t i, struct pgk_cursor *c, struct pgk_err *err)
{
    const struct wanted *w = &f->wanted.v[i];
    struct pgk_ext_section *s = pgk_ext_find_half(
        &f->sections, w->composite ? PGK_SEC_COMPOSITE : PGK_SEC_PROFILES, w->flat);
    if (!s)
        return fail_absent(f, err);
    PGK_TRY(pgk_ext_cursor(&f->sections, s, c, err));
    if (!pgk_cur_seek(c, c->src.base_off + w->off, "offset of function"))
        return pgk_cur_check(c, err, "function offset table");
    uint64_t head = w->composite ? 0 : pgk_cur_uleb(c, "head samples"), at = pgk_cur_off(c);
    uint64_t identity = pgk_cur_uleb(c, "function");
    PGK_TRY(pgk_cur_check(c, err, f->name));
    if (identity != f->identities.v[i])
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at, .record = "function offset table",
                              .field = "offset of function",
                              .found = PGK_F("function %" PRIu64 " there", identity),
                              .expected = PGK_F("function %" PRIu64, f->identities.v[i]),
                              .hint = DAMAGED);
    uint32_t name = pgk_sample_name(f->p, f->name, strlen(f->name));
    if (!name || !pgk_stage_begin(&f->stage, name))
        return pgk_fail_nomem(err);
    f->stage.slots.v[0].head = head;
    return 0;
}

static int read_record(struct finder *f, size_t i, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_stage_place place = {0};
    if (f->contexts)
        PGK_TRY(build_context(f, &f->wanted.v[i], &place, err));
    PGK_TRY(open_record(f, i, &c, err));
    struct pgk_record_reader records = {.c = &c,
                                        .p = f->p,
                                        .stage = &f->stage,
                                        .names = &f->names,
                                        .vtables = f->vtables,
                                        .composite = f->wanted.v[i].composite};
    PGK_TRY(pgk_sample_read_record(&records, err));
    PGK_TRY(pgk_metadata_apply(&f->metadata, f->identities.v[i], &f->stage, err));
    return pgk_stage_commit(&f->stage, f->p, place, 1, err);
}

static int open_metadata(struct finder *f, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&f->sections, PGK_SEC_METADATA, 0);
    struct pgk_metadata_layout layout = {
        .checksums = s && s->flags & PGK_SECF_METADATA_CHECKSUMS,
        .attributes = s && s->flags & PGK_SECF_METADATA_ATTRIBUTES,
        .nested = !f->contexts, .n_identities = f->n_identities,
        .only = f->identities.v, .n_only = f->identities.n};
    PGK_TRY(pgk_sample_set_kind(f->p, f->contexts, layout.checksums, f->sections.src.file, err));
    if (!s)
        return 0;
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    return pgk_metadata_open(&f->metadata, &c, &layout, &f->names, err);
}

/* ---- the file ---- */

static int read_summary(struct finder *f, struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    PGK_TRY(pgk_ext_read_summary(&f->sections, f->p, info, err));
    f->contexts = info->contexts;
    f->vtables = info->has_vtables;
    return 0;
}

static int read_function(struct finder *f, struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    static const enum pgk_sample_section tables[] = {PGK_SEC_OFFSETS, PGK_SEC_COMPOSITE_OFFSETS};
    if (!pgk_ext_find(&f->sections, PGK_SEC_OFFSETS, 0) &&
        !pgk_ext_find(&f->sections, PGK_SEC_COMPOSITE_OFFSETS, 0))
        return pgk_fail(err, PGK_E_ARG, .found = "a profile without function offset table");
    PGK_TRY(read_summary(f, info, err));
    PGK_TRY(find_name(f, err));
    f->n_identities = f->names.ids.n;
    PGK_TRY(f->contexts ? find_contexts(f, err) : want(f, f->index, 0, err));
    PGK_TRY(open_metadata(f, err));
    for (unsigned i = 0; i < 4; i++)
        PGK_TRY(find_offsets(f, tables[i / 2], i % 2, err));
    bool any = false;
    for (size_t i = 0; i < f->wanted.n; i++) {
        if (f->wanted.v[i].has_record)
            PGK_TRY(read_record(f, i, err));
        any |= f->wanted.v[i].has_record;
    }
    return any ? 0 : fail_absent(f, err);
}

int pgk_sample_ext_read_function(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                 const struct pgk_source *src, const char *name,
                                 struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    struct finder f = {.p = p, .name = name};
    struct pgk_sample_ext_info ignored;
    info = info ? info : &ignored;
    *info = (struct pgk_sample_ext_info){0};
    if (*name == '[')
        return pgk_fail(err, PGK_E_ARG, .found = "a single context");
    int status = pgk_ext_open(&f.sections, bytes, size, src, err);
    if (!status)
        status = read_function(&f, info, err);
    if (!status)
        pgk_ext_describe(&f.sections, info);
    pgk_ext_close(&f.sections);
    pgk_vec_free(&f.names.ids);
    pgk_vec_free(&f.names.lazy_off);
    pgk_vec_free(&f.identities);
    pgk_vec_free(&f.wanted);
    pgk_vec_free(&f.frames);
    pgk_metadata_close(&f.metadata);
    pgk_stage_free(&f.stage);
    return status;
}
