/* The name table of an extensible binary where only few names will be needed: where each stands. */
#include "ext_sections.h"
#include "sample_records.h"

#include <inttypes.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

static void note(struct pgk_sample_name_table *names, const struct pgk_cursor *c)
{
    names->lazy_off.v[names->lazy_off.n++] = (uint32_t)(c->at - names->lazy_bytes);
}

static int note_guids(struct pgk_sample_name_table *names, struct pgk_cursor *c, uint64_t n,
                      struct pgk_err *err)
{
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        note(names, c);
        pgk_cur_uleb(c, "GUID");
    }
    return pgk_cur_check(c, err, "name table");
}

static int note_strings(struct pgk_sample_name_table *names, struct pgk_cursor *c, uint64_t n,
                        struct pgk_err *err)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *end = memchr(c->at, 0, pgk_cur_left(c));
        if (!end)
            return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c), .record = "name table",
                                  .field = "name", .found = "no NUL byte after the name",
                                  .expected = PGK_F("%" PRIu64 " names", n), .hint = DAMAGED);
        note(names, c);
        c->at = end + 1;
    }
    note(names, c);
    return 0;
}

int pgk_ext_read_spans(struct pgk_cursor *c, const struct pgk_ext_section *s,
                       struct pgk_sample_name_table *names, uint64_t *n, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c), left;
    *n = 0;
    if (!(s->flags & PGK_SECF_NAMES_MD5))
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = "name table", .field = "flags",
                              .found = "an indexed table of strings", .expected = "one of GUIDs",
                              .hint = DAMAGED);
    for (unsigned i = 0; i < PGK_SPANS; i++)
        names->span[i] = pgk_cur_uleb(c, "number of names of a span");
    PGK_TRY(pgk_cur_check(c, err, "name table"));
    left = pgk_cur_left(c) / sizeof(uint64_t);
    for (unsigned i = 0; i < PGK_SPANS; i++) {
        if (names->span[i] > left)
            return pgk_cur_reject(c, err, PGK_E_TRUNCATED, off, .record = "name table",
                                  .field = "number of names of a span",
                                  .found = PGK_F("%" PRIu64, names->span[i]),
                                  .expected = PGK_F("at most %" PRIu64, left), .hint = DAMAGED);
        left -= names->span[i];
        *n += names->span[i];
    }
    names->indexed = true;
    return 0;
}

int pgk_ext_offsets(struct pgk_ext_sections *sections, struct pgk_ext_section *s,
                    const struct pgk_sample_name_table *names, struct pgk_cursor *c,
                    struct pgk_err *err)
{
    uint64_t n = names->span[s->flags & PGK_SECF_FLAT ? PGK_SPAN_FLAT : PGK_SPAN_TOP];
    PGK_TRY(pgk_ext_cursor(sections, s, c, err));
    if (!names->indexed)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, pgk_cur_off(c),
                              .record = pgk_ext_section_name(s->type), .field = "flags",
                              .found = "an indexed table, beside names that are not",
                              .expected = "names that are indexed, too", .hint = DAMAGED);
    if (pgk_cur_left(c) == n * sizeof(uint32_t))
        return 0;
    return pgk_cur_reject(c, err, PGK_E_TRUNCATED, pgk_cur_off(c),
                          .record = pgk_ext_section_name(s->type), .field = "offsets",
                          .found = PGK_F("%zu bytes", pgk_cur_left(c)),
                          .expected = PGK_F("%" PRIu64 ", 4 for each of %" PRIu64 " functions",
                                            n * sizeof(uint32_t), n),
                          .hint = DAMAGED);
}

/* GUIDs of eight bytes: each stands where its index says. */
static int take_fixed(struct pgk_sample_name_table *names, const struct pgk_cursor *c, uint64_t n)
{
    names->lazy = PGK_LAZY_GUIDS;
    names->lazy_bytes = c->at;
    names->ids.n = n; /* what indexes are checked against */
    return 0;
}

int pgk_ext_read_names_lazily(struct pgk_ext_sections *sections, struct pgk_sample *p,
                              struct pgk_sample_name_table *names, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(sections, PGK_SEC_NAMES, 0);
    names->lazy_into = p;
    if (!s)
        return 0;
    PGK_TRY(pgk_ext_cursor(sections, s, &c, err));
    uint64_t off = pgk_cur_off(&c), n;
    if (s->flags & PGK_SECF_NAMES_INDEXED) {
        PGK_TRY(pgk_ext_read_spans(&c, s, names, &n, err));
        return take_fixed(names, &c, n);
    }
    n = pgk_cur_uleb(&c, "number of names");
    PGK_TRY(pgk_cur_check(&c, err, "name table"));
    names->lazy = s->flags & PGK_SECF_NAMES_FIXED ? PGK_LAZY_GUIDS
                  : s->flags & PGK_SECF_NAMES_MD5 ? PGK_LAZY_ULEB_GUIDS
                                                  : PGK_LAZY_STRINGS;
    size_t most = pgk_cur_left(&c) / (names->lazy == PGK_LAZY_GUIDS ? sizeof(uint64_t) : 1);
    if (n > most)
        return pgk_cur_reject(&c, err, PGK_E_TRUNCATED, off, .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", most), .hint = DAMAGED);
    if (names->lazy == PGK_LAZY_GUIDS)
        return take_fixed(names, &c, n);
    if (pgk_cur_left(&c) > UINT32_MAX)
        return pgk_fail(err, PGK_E_ARG, .found = "a name table beyond 4 GiB");
    if (!pgk_vec_reserve(&names->lazy_off, n + 1))
        return pgk_fail_nomem(err);
    names->lazy_bytes = c.at;
    names->ids.n = n; /* what indexes are checked against */
    return names->lazy == PGK_LAZY_STRINGS ? note_strings(names, &c, n, err)
                                           : note_guids(names, &c, n, err);
}
