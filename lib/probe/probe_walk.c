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
        &w->cur, err, PGK_E_TRUNCATED, off,
        .record = pgk_probe_record(w->probes, w->guid, record), .field = "number of probes",
        .found = PGK_F("%" PRIu32 " probes and %" PRIu32 " inlined functions, but %zu bytes left",
                       probes, children, pgk_cur_left(&w->cur)),
        .expected = "at least 3 bytes a probe and 11 a function",
        .hint = "the section was cut; build the program again");
}

int pgk_probe_walk_reject(const struct pgk_probe_walk *w, const char *field, const char *found,
                          const char *expected, int status, struct pgk_err *err)
{
    char record[64];
    return pgk_cur_reject(&w->cur, err, status, pgk_cur_off(&w->cur),
                          .record = pgk_probe_record(w->probes, w->guid, record), .field = field,
                          .found = found, .expected = expected, .hint = "build the program again");
}

static bool inside(const struct pgk_probe_start *s, uint64_t addr)
{
    return addr - s->addr <= s->size;
}

/* Up to clang 15 the first probe of a section has an absolute address and all others, across
 * functions, count from the one before. Later releases begin each function at its symbol.
 * After linking, both may stand in one section and nothing tells them apart but where they
 * lead: to the function itself or not. */
uint64_t pgk_probe_walk_base(struct pgk_probe_walk *w, int64_t delta)
{
    const struct pgk_probe_start *s = w->symbol;
    w->symbol = NULL;
    bool chain = inside(s, w->last + (uint64_t)delta);
    if (!chain && inside(s, s->addr + (uint64_t)delta))
        w->start = s->addr;
    return w->start;
}

uint64_t pgk_probe_walk_sentinel(struct pgk_probe_walk *w, uint64_t guid)
{
    const struct pgk_probe_start *s = pgk_probe_start_of(w->probes, guid);
    w->symbol = NULL;
    w->lost_guid = s ? 0 : guid;
    return s ? s->addr : guid;
}
