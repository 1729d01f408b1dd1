/* The walk's failures and its rules for where an address chain starts. */
#include "probe_walk.h"

#include <inttypes.h>

const char *pgk_probe_record(const struct pgk_probes *p, uint64_t guid, char buf[64])
{
    uint32_t desc = pgk_probe_desc_by_guid(p, guid);
    if (desc == PGK_PROBE_NONE)
        return pgk_format(buf, 64, ".pseudo_probe, GUID %" PRIu64, guid);
    const struct pgk_probe_desc *d = &p->descs.v[desc];
    return pgk_format(buf, 64, ".pseudo_probe, function %.*s", (int)d->name_len, d->name);
}

int pgk_probe_walk_fail(const struct pgk_probe_walk *w, struct pgk_err *err)
{
    char record[64];
    return pgk_cur_check(&w->cur, err, pgk_probe_record(w->probes, w->guid, record));
}

int pgk_probe_walk_bad_type(const struct pgk_probe_walk *w, uint64_t off, unsigned type,
                            struct pgk_err *err)
{
    char record[64];
    return pgk_cur_reject(&w->cur, err, PGK_E_CORRUPT, off,
                          .record = pgk_probe_record(w->probes, w->guid, record),
                          .field = "probe type", .found = PGK_F("%u", type),
                          .expected = "0 (block), 1 (indirect call) or 2 (direct call)",
                          .hint = "build the program again");
}

int pgk_probe_walk_bad_counts(const struct pgk_probe_walk *w, uint64_t off, uint32_t probes,
                              uint32_t children, struct pgk_err *err)
{
    char record[64];
    return pgk_cur_reject(
        &w->cur, err, PGK_E_TRUNCATED, off, .record = pgk_probe_record(w->probes, w->guid, record),
        .field = "number of probes",
        .found = PGK_F("%" PRIu32 " probes and %" PRIu32 " inlined functions, but %zu bytes left",
                       probes, children, pgk_cur_left(&w->cur)),
        .expected = "at least 3 bytes a probe and 11 a function",
        .hint = "the section was cut; build the program again");
}

int pgk_probe_walk_reject(const struct pgk_probe_walk *w, const char *field, const char *found,
                          const char *expected, int status, struct pgk_err *err)
{
    char record[64];
    return pgk_cur_reject(&w->cur, err, status, w->guid_off,
                          .record = pgk_probe_record(w->probes, w->guid, record), .field = field,
                          .found = found, .expected = expected, .hint = "build the program again");
}

void pgk_probe_cursor(const struct pgk_probes *p, const struct pgk_probe_place *place,
                      struct pgk_cursor *c)
{
    const struct pgk_probe_section *s = &p->trees.v[place->section];
    struct pgk_source src = {.file = s->file,
                             .format = PGK_PROBE_FORMAT,
                             .base_off = s->file_off + place->at};
    pgk_cur_init(c, s->bytes + place->at, s->size - place->at, &src);
}

static bool inside(const struct pgk_probe_start *s, uint64_t addr)
{
    return addr - s->addr <= s->size;
}

/* Clang 14 gives the first probe of a section an absolute address, and all others, across
 * functions, count from the one before. Later releases begin each function at its symbol. After
 * linking, both may be in one section, and only the resulting address distinguishes them: it is in
 * the function itself or not. The rest of a function that was inlined elsewhere is not in it
 * either, but then the function has another root that is. */
void pgk_probe_walk_base(struct pgk_probe_walk *w, int64_t delta)
{
    struct pgk_probe_start *s = w->symbol;
    w->symbol = NULL;
    if (inside(s, w->last + (uint64_t)delta))
        s->rooted = true;
    else
        w->doubtful = inside(s, s->addr + (uint64_t)delta);
}

uint64_t pgk_probe_walk_sentinel(struct pgk_probe_walk *w, uint64_t guid)
{
    const struct pgk_probe_start *s = pgk_probe_start_of(w->probes, guid);
    w->symbol = NULL;
    w->absolute = false; /* releases with sentinels have no chains across functions */
    w->lost_guid = s ? 0 : guid;
    return s ? s->addr : guid;
}
