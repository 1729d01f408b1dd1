/* Reads the parts of an extensible binary that concern given functions: their records, and those of
 * other functions that they are inlined into. No table lists these, so all records are read;
 * unwanted ones do not go into the model. */
#include "sample_binary.h"

#include "ext_sections.h"
#include "hash.h"
#include "sample_records.h"
#include "u64_set.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

/* Is a name one of the functions? Asked once for each. */
enum answer { NOT_ASKED, NO, YES };

struct part {
    struct pgk_sample *p;
    struct pgk_ext_sections sections;
    const uint64_t *functions;
    size_t n_functions;
    bool vtables, composite; /* composite: the section that is being read */
    struct pgk_sample_name_table names;
    uint8_t *answers; /* by name */
    struct pgk_sample_stage stage;
};

static bool is_function(const struct part *r, uint64_t guid)
{
    return pgk_u64_find(r->functions, r->n_functions, guid) < r->n_functions;
}

/* Also without what compilers append. */
static bool ask(const struct part *r, uint64_t i)
{
    uint64_t guid;
    size_t len;
    if (r->names.lazy != PGK_LAZY_STRINGS)
        return is_function(r, pgk_sample_lazy_guid(&r->names, i));
    const char *name = pgk_sample_lazy_string(&r->names, i, &len);
    if (pgk_sample_name_is_guid(name, len, &guid))
        return is_function(r, guid);
    const char *dot = memchr(name, '.', len);
    for (; dot; dot = memchr(dot + 1, '.', len - (size_t)(dot + 1 - name)))
        if (is_function(r, pgk_md5_low64(name, (size_t)(dot - name))))
            return true;
    return is_function(r, pgk_md5_low64(name, len));
}

static int is_wanted(const struct part *r, struct pgk_cursor *c, bool *wanted, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c), i = pgk_sample_uleb(c, "function");
    PGK_TRY(pgk_cur_check(c, err, "profiles"));
    if (i >= r->names.ids.n)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = "profiles",
                              .field = "function", .found = PGK_F("index %" PRIu64, i),
                              .expected = PGK_F("an index below %zu", r->names.ids.n),
                              .hint = DAMAGED);
    if (r->answers[i] == NOT_ASKED)
        r->answers[i] = ask(r, i) ? YES : NO;
    *wanted |= r->answers[i] == YES;
    return 0;
}

/* ---- going through a record ---- */

/* A number of items; 0 after a failure. */
static uint64_t count(struct pgk_cursor *c, size_t item, const char *field)
{
    const struct pgk_cursor before = *c;
    uint64_t n = pgk_sample_uleb(c, field);
    if (n <= pgk_cur_left(c) / item)
        return n;
    *c = before;
    return pgk_cur_uleb_count(c, item, field);
}

static void pass_over_lines(struct pgk_cursor *c)
{
    for (uint64_t n = count(c, 4, "number of lines"); n && !c->failed; n--) {
        pgk_sample_skip_ulebs(c, 3); /* line, discriminator, samples */
        pgk_sample_skip_ulebs(c, 2 * count(c, 2, "number of call targets"));
    }
}

static void pass_over_vtables(struct pgk_cursor *c)
{
    for (uint64_t n = count(c, 3, "number of places with vtables"); n && !c->failed; n--) {
        pgk_sample_skip_ulebs(c, 2);
        pgk_sample_skip_ulebs(c, 2 * count(c, 2, "number of vtables"));
    }
}

/* The total and lines, or blocks that have them. */
static int pass_over_counts(const struct part *r, struct pgk_cursor *c, struct pgk_err *err)
{
    uint64_t type, size;
    if (!r->composite) {
        pgk_sample_skip_ulebs(c, 1);
        pass_over_lines(c);
        return 0;
    }
    for (uint64_t n = count(c, 2, "number of blocks"); n; n--) {
        PGK_TRY(pgk_sample_read_block(c, &type, &size, err));
        c->at += size;
    }
    return 0;
}

static int look_through(const struct part *r, struct pgk_cursor *c, unsigned depth, bool *wanted,
                        struct pgk_err *err)
{
    PGK_TRY(pass_over_counts(r, c, err));
    uint64_t off = pgk_cur_off(c), n = count(c, r->composite ? 5 : 6, "number of inlinees");
    if (n && depth >= PGK_SAMPLE_MAX_DEPTH)
        return pgk_cur_reject(c, err, PGK_E_LIMIT, off, .record = "profiles",
                              .field = "number of inlinees",
                              .found = "inlinees nested deeper than 1000 levels",
                              .expected = "at most 1000", .hint = DAMAGED);
    for (; n && !c->failed; n--) {
        pgk_sample_skip_ulebs(c, 2);
        PGK_TRY(is_wanted(r, c, wanted, err));
        PGK_TRY(look_through(r, c, depth + 1, wanted, err));
    }
    if (r->vtables)
        pass_over_vtables(c);
    return pgk_cur_check(c, err, "profiles");
}

/* ---- the file ---- */

static int read_record(struct part *r, struct pgk_cursor *c, struct pgk_err *err)
{
    uint32_t name;
    uint64_t head = r->composite ? 0 : pgk_sample_uleb(c, "head samples");
    PGK_TRY(pgk_sample_read_name(c, &r->names, "function", "profiles", &name, err));
    if (!pgk_stage_begin(&r->stage, name))
        return pgk_fail_nomem(err);
    r->stage.slots.v[0].head = head;
    struct pgk_record_reader records = {.c = c,
                                        .p = r->p,
                                        .stage = &r->stage,
                                        .names = &r->names,
                                        .vtables = r->vtables,
                                        .composite = r->composite};
    PGK_TRY(pgk_sample_read_record(&records, err));
    return pgk_stage_commit(&r->stage, r->p, (struct pgk_stage_place){0}, 1, err);
}

static int read_profiles(struct part *r, struct pgk_err *err)
{
    struct pgk_ext_section *s;
    for (unsigned nth = 0; (s = pgk_ext_find_profiles(&r->sections, nth)); nth++) {
        struct pgk_cursor c;
        r->composite = s->type == PGK_SEC_COMPOSITE;
        PGK_TRY(pgk_ext_cursor(&r->sections, s, &c, err));
        while (pgk_cur_left(&c)) {
            struct pgk_cursor record = c;
            bool wanted = false;
            if (!r->composite)
                pgk_sample_skip_ulebs(&c, 1); /* head samples */
            PGK_TRY(is_wanted(r, &c, &wanted, err));
            PGK_TRY(look_through(r, &c, 0, &wanted, err));
            if (wanted)
                PGK_TRY(read_record(r, &record, err));
        }
    }
    return 0;
}

static int read_part(struct part *r, struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    bool probes = false;
    pgk_ext_describe(&r->sections, info);
    PGK_TRY(pgk_ext_read_summary(&r->sections, r->p, info, err));
    if (info->contexts)
        return pgk_fail(err, PGK_E_ARG, .found = "a profile with contexts");
    r->vtables = info->has_vtables;
    for (size_t i = 0; i < r->sections.list.n; i++)
        if (r->sections.list.v[i].type == PGK_SEC_METADATA)
            probes = r->sections.list.v[i].flags & PGK_SECF_METADATA_CHECKSUMS;
    PGK_TRY(pgk_sample_set_kind(r->p, false, probes, r->sections.src.file, err));
    PGK_TRY(pgk_ext_read_names_lazily(&r->sections, r->p, &r->names, err));
    r->answers = pgk_mem_zalloc(r->names.ids.n + 1, sizeof *r->answers);
    return r->answers ? read_profiles(r, err) : pgk_fail_nomem(err);
}

int pgk_sample_ext_read_functions(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                  const struct pgk_source *src, const uint64_t *functions,
                                  size_t n, struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    struct part r = {.p = p, .functions = functions, .n_functions = n};
    *info = (struct pgk_sample_ext_info){0};
    int status = pgk_ext_open(&r.sections, bytes, size, src, err);
    if (!status)
        status = read_part(&r, info, err);
    pgk_ext_close(&r.sections);
    pgk_vec_free(&r.names.lazy_off);
    pgk_mem_free(r.answers);
    pgk_stage_free(&r.stage);
    return status;
}
