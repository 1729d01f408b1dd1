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
    const bool fixed = names->lazy == PGK_LAZY_GUIDS;
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        note(names, c);
        if (fixed)
            pgk_cur_u64(c, "GUID");
        else
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

int pgk_ext_read_names_lazily(struct pgk_ext_sections *sections, struct pgk_sample *p,
                              struct pgk_sample_name_table *names, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_ext_section *s = pgk_ext_find(sections, PGK_SEC_NAMES, 0);
    names->lazy_into = p;
    if (!s)
        return 0;
    PGK_TRY(pgk_ext_cursor(sections, s, &c, err));
    uint64_t off = pgk_cur_off(&c), n = pgk_cur_uleb(&c, "number of names");
    PGK_TRY(pgk_cur_check(&c, err, "name table"));
    if (pgk_cur_left(&c) > UINT32_MAX)
        return pgk_fail(err, PGK_E_ARG, .found = "a name table beyond 4 GiB");
    names->lazy = s->flags & PGK_SECF_NAMES_FIXED ? PGK_LAZY_GUIDS
                  : s->flags & PGK_SECF_NAMES_MD5 ? PGK_LAZY_ULEB_GUIDS
                                                  : PGK_LAZY_STRINGS;
    size_t most = pgk_cur_left(&c) / (names->lazy == PGK_LAZY_GUIDS ? sizeof(uint64_t) : 1);
    if (n > most)
        return pgk_cur_reject(&c, err, PGK_E_TRUNCATED, off, .record = "name table",
                              .field = "number of names", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", most), .hint = DAMAGED);
    if (!pgk_vec_reserve(&names->lazy_off, n + 1))
        return pgk_fail_nomem(err);
    names->lazy_bytes = c.at;
    names->ids.n = n; /* what indexes are checked against */
    return names->lazy == PGK_LAZY_STRINGS ? note_strings(names, &c, n, err)
                                           : note_guids(names, &c, n, err);
}
