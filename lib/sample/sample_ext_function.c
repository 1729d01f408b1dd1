/* Reading one function of an extensible binary by its function offset table. Of the other
 * functions nothing is read but their names and offsets. */
#include "sample_binary.h"

#include "ext_sections.h"
#include "hash.h"
#include "sample_metadata.h"
#include "sample_records.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or make it anew"

struct finder {
    struct pgk_sample *p;
    struct pgk_ext_sections sections;
    const char *name;
    uint64_t index; /* of the name in the file; UINT64_MAX: not there */
    bool vtables;
    struct pgk_sample_name_table names;
    struct pgk_sample_metadata metadata;
    struct pgk_sample_stage stage;
};

static int fail_absent(const struct finder *f, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_EMPTY, .file = f->sections.src.file, .field = "function",
                    .found = PGK_F("no profile of '%s'", f->name), .expected = "one",
                    .hint = "give the name as the linker knows it; pgokit show lists them");
}

static int find_guid(struct finder *f, struct pgk_cursor *c, uint64_t n, struct pgk_err *err)
{
    uint64_t wanted = pgk_md5_low64(f->name, strlen(f->name)), given;
    if (pgk_sample_name_is_guid(f->name, strlen(f->name), &given))
        wanted = given;
    if (n > pgk_cur_left(c) / sizeof wanted || !pgk_vec_reserve(&f->names.lazy_off, n + 1))
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c), .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", pgk_cur_left(c) / sizeof wanted),
                              .hint = DAMAGED);
    f->names.lazy_bytes = c->at;
    for (uint64_t i = 0; i < n; i++) {
        f->names.lazy_off.v[i] = (uint32_t)(i * sizeof wanted);
        if (pgk_cur_u64(c, "GUID") == wanted)
            f->index = i;
    }
    return 0;
}

static int find_string(struct finder *f, struct pgk_cursor *c, uint64_t n, struct pgk_err *err)
{
    size_t len = strlen(f->name);
    if (n > pgk_cur_left(c) || !pgk_vec_reserve(&f->names.lazy_off, n + 1))
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c), .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", pgk_cur_left(c)), .hint = DAMAGED);
    f->names.lazy_bytes = c->at;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *end = memchr(c->at, 0, pgk_cur_left(c));
        if (!end)
            return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c), .record = "name table",
                                  .field = "name", .found = "no NUL byte behind the name",
                                  .expected = PGK_F("%" PRIu64 " names", n), .hint = DAMAGED);
        f->names.lazy_off.v[i] = (uint32_t)(c->at - f->names.lazy_bytes);
        if ((size_t)(end - c->at) == len && !memcmp(c->at, f->name, len))
            f->index = i;
        c->at = end + 1;
    }
    return 0;
}

static int find_name(struct finder *f, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&f->sections, PGK_SEC_NAMES, 0);
    f->index = UINT64_MAX;
    if (!s)
        return fail_absent(f, err);
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    uint64_t n = pgk_cur_uleb(&c, "number of names");
    PGK_TRY(pgk_cur_check(&c, err, "name table"));
    if (s->size > UINT32_MAX)
        return pgk_fail(err, PGK_E_ARG, .found = "a name table beyond 4 GiB");
    f->names.lazy_into = f->p;
    f->names.lazy_guids = s->flags & (PGK_SECF_NAMES_FIXED | PGK_SECF_NAMES_MD5);
    if (f->names.lazy_guids && !(s->flags & PGK_SECF_NAMES_FIXED))
        return pgk_fail(err, PGK_E_ARG, .found = "a table of GUIDs without fixed length");
    PGK_TRY(f->names.lazy_guids ? find_guid(f, &c, n, err) : find_string(f, &c, n, err));
    f->names.ids.n = n; /* what indexes are checked against */
    return f->index == UINT64_MAX ? fail_absent(f, err) : 0;
}

/* Looks for the function in one half of a split layout, or in the whole. */
static int find_offset(struct finder *f, unsigned half, uint64_t *off, bool *found,
                       struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&f->sections, PGK_SEC_OFFSETS, half);
    *found = false;
    if (!s)
        return 0;
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    uint64_t n = pgk_cur_uleb(&c, "number of functions");
    for (uint64_t i = 0; i < n && !c.failed && !*found; i++) {
        uint64_t index = pgk_sample_uleb(&c, "function");
        *off = pgk_sample_uleb(&c, "offset");
        *found = index == f->index && !c.failed;
    }
    return pgk_cur_check(&c, err, "function offset table");
}

static int read_at(struct finder *f, unsigned half, uint64_t off, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&f->sections, PGK_SEC_PROFILES, half);
    if (!s)
        return fail_absent(f, err);
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    if (!pgk_cur_seek(&c, c.src.base_off + off, "offset of function"))
        return pgk_cur_check(&c, err, "function offset table");
    uint64_t head = pgk_cur_uleb(&c, "head samples"), at = pgk_cur_off(&c);
    uint64_t index = pgk_cur_uleb(&c, "function");
    PGK_TRY(pgk_cur_check(&c, err, f->name));
    if (index != f->index)
        return pgk_cur_reject(&c, err, PGK_E_CORRUPT, at, .record = "function offset table",
                              .field = "offset of function",
                              .found = PGK_F("function %" PRIu64 " there", index),
                              .expected = PGK_F("function %" PRIu64, f->index), .hint = DAMAGED);
    struct pgk_record_reader records = {.c = &c, .p = f->p, .stage = &f->stage,
                                        .names = &f->names, .vtables = f->vtables};
    uint32_t name = pgk_sample_name(f->p, f->name, strlen(f->name));
    if (!name || !pgk_stage_begin(&f->stage, name))
        return pgk_fail_nomem(err);
    f->stage.slots.v[0].head = head;
    PGK_TRY(pgk_sample_read_record(&records, err));
    PGK_TRY(pgk_metadata_apply(&f->metadata, f->index, &f->stage, err));
    return pgk_stage_commit(&f->stage, f->p, (struct pgk_stage_place){0}, 1, err);
}

static int open_metadata(struct finder *f, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(&f->sections, PGK_SEC_METADATA, 0);
    if (!s)
        return 0;
    struct pgk_metadata_layout layout = {
        .checksums = s->flags & PGK_SECF_METADATA_CHECKSUMS,
        .attributes = s->flags & PGK_SECF_METADATA_ATTRIBUTES,
        .nested = true, .n_identities = f->names.ids.n};
    PGK_TRY(pgk_sample_set_kind(f->p, false, layout.checksums, f->sections.src.file, err));
    PGK_TRY(pgk_ext_cursor(&f->sections, s, &c, err));
    return pgk_metadata_open(&f->metadata, &c, &layout, &f->names, err);
}

static int read_function(struct finder *f, struct pgk_err *err)
{
    uint64_t off;
    bool found = false;
    struct pgk_ext_section *summary = pgk_ext_find(&f->sections, PGK_SEC_SUMMARY, 0);
    if (summary && summary->flags & PGK_SECF_SUMMARY_CONTEXTS)
        return pgk_fail(err, PGK_E_ARG, .found = "a context-sensitive profile",
                        .expected = "one that has each function once");
    f->vtables = summary && summary->flags & PGK_SECF_SUMMARY_VTABLES;
    PGK_TRY(find_name(f, err));
    PGK_TRY(open_metadata(f, err));
    for (unsigned half = 0; half < 2; half++) {
        PGK_TRY(find_offset(f, half, &off, &found, err));
        if (found)
            return read_at(f, half, off, err);
    }
    return fail_absent(f, err);
}

int pgk_sample_ext_read_function(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                 const struct pgk_source *src, const char *name,
                                 struct pgk_err *err)
{
    struct finder f = {.p = p, .name = name};
    int status = pgk_ext_open(&f.sections, bytes, size, src, err);
    if (!status)
        status = read_function(&f, err);
    pgk_ext_close(&f.sections);
    pgk_vec_free(&f.names.ids);
    pgk_vec_free(&f.names.lazy_off);
    pgk_metadata_close(&f.metadata);
    pgk_stage_free(&f.stage);
    return status;
}
