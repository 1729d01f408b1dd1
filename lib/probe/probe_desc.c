/* .pseudo_probe_desc, and the symbols that addresses start from. */
#include "hash.h"
#include "probe_priv.h"

#include <elf.h>
#include <inttypes.h>

enum { MIN_DESC_BYTES = 17 }; /* GUID, hash, length of an empty name */

static bool add_desc(struct pgk_probes *p, struct pgk_probe_desc d)
{
    if (!pgk_vec_push(&p->descs, d))
        return false;
    return pgk_probe_desc_by_guid(p, d.guid) != PGK_PROBE_NONE ||
           pgk_index_add(&p->desc_index, d.guid, (uint32_t)p->descs.n - 1);
}

int pgk_probe_descs_read(struct pgk_probes *p, const struct pgk_probe_section *section,
                         struct pgk_err *err)
{
    struct pgk_source src = {
        .file = section->file, .format = PGK_PROBE_FORMAT, .base_off = section->file_off};
    struct pgk_cursor c;
    pgk_cur_init(&c, section->bytes, section->size, &src);
    if (section->size / MIN_DESC_BYTES + p->descs.n >= PGK_INDEX_NONE)
        return pgk_cur_reject(&c, err, PGK_E_LIMIT, section->file_off,
                              .record = ".pseudo_probe_desc", .field = "size",
                              .found = PGK_F("%zu bytes", section->size),
                              .expected = "fewer than 2^32 descriptors");
    while (pgk_cur_left(&c)) {
        struct pgk_probe_desc d;
        uint64_t off = pgk_cur_off(&c);
        d.guid = pgk_cur_u64(&c, "GUID");
        d.hash = pgk_cur_u64(&c, "hash");
        uint64_t len = pgk_cur_uleb(&c, "name length");
        d.name = (const char *)pgk_cur_take(&c, len, "name");
        if (PGK_UNLIKELY(c.failed))
            return pgk_cur_check(&c, err, PGK_F(".pseudo_probe_desc, descriptor %zu", p->descs.n));
        if (!len || !d.guid || len > UINT32_MAX)
            return pgk_cur_reject(&c, err, PGK_E_CORRUPT, off,
                                  .record = PGK_F(".pseudo_probe_desc, descriptor %zu", p->descs.n),
                                  .field = d.guid ? "name length" : "GUID",
                                  .found = d.guid ? PGK_F("%" PRIu64, len) : "0",
                                  .expected = "a function with a name",
                                  .hint = "build the program again");
        d.name_len = (uint32_t)len;
        if (!add_desc(p, d))
            return pgk_fail_nomem(err);
    }
    return 0;
}

/* A name that stands for code: not a section, a file, an object, or a mark such as $x. */
static bool names_code(const struct pgk_elf_entry *e)
{
    return e->section != SHN_UNDEF && e->section < SHN_LORESERVE && *e->name && *e->name != '$' &&
           (e->type == STT_FUNC || e->type == STT_GNU_IFUNC || e->type == STT_NOTYPE);
}

/* Of symbols with one name the last counts, as in llvm-profgen. */
static int add_start(void *ctx, const struct pgk_elf_entry *e)
{
    struct pgk_probes *p = ctx;
    if (!names_code(e))
        return 0;
    struct pgk_probe_start start = {
        .guid = pgk_md5_low64(e->name, strlen(e->name)), .addr = e->addr, .size = e->size};
    PGK_INDEX_FOR (&p->start_index, start.guid, i) {
        if (p->starts.v[i].guid == start.guid) {
            p->starts.v[i] = start;
            return 0;
        }
    }
    return pgk_vec_push(&p->starts, start) &&
                   pgk_index_add(&p->start_index, start.guid, (uint32_t)p->starts.n - 1)
               ? 0
               : PGK_E_NOMEM;
}

int pgk_probe_starts_read(struct pgk_probes *p, struct pgk_err *err)
{
    return pgk_elf_entries(p->elf, add_start, p) < 0 ? pgk_fail_nomem(err) : 0;
}

struct pgk_probe_start *pgk_probe_start_of(const struct pgk_probes *p, uint64_t guid)
{
    PGK_INDEX_FOR (&p->start_index, guid, i)
        if (p->starts.v[i].guid == guid)
            return &p->starts.v[i];
    return NULL;
}

size_t pgk_probe_descs(const struct pgk_probes *p)
{
    return p->descs.n;
}

struct pgk_probe_desc pgk_probe_desc_at(const struct pgk_probes *p, size_t number)
{
    return p->descs.v[number];
}

uint32_t pgk_probe_desc_by_guid(const struct pgk_probes *p, uint64_t guid)
{
    PGK_INDEX_FOR (&p->desc_index, guid, i)
        if (p->descs.v[i].guid == guid)
            return i;
    return PGK_PROBE_NONE;
}
