/* The section table of an extensible binary, and the bytes of its sections. */
#include "ext_sections.h"

#include "compressed.h"
#include "format_row.h"
#include "sample_records.h"

#include <inttypes.h>
#include <zlib.h>

#define DAMAGED "the file is damaged; copy it again, or create it again"

static const char unknown_section[] = "section of an unknown type";

const char *pgk_ext_section_name(uint64_t type)
{
    switch (type) {
#define X(name, number, text) case number: return text;
    PGK_SAMPLE_SECTIONS(X)
#undef X
    }
    return unknown_section;
}

static bool is_known(const struct pgk_ext_section *s)
{
    return pgk_ext_section_name(s->type) != unknown_section;
}

static const struct pgk_ext_flag flags[] = {
    {0, PGK_SECF_COMPRESSED, "compressed"},
    {0, PGK_SECF_FLAT, "functions without inlinees"},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_MD5, "names are GUIDs"},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_FIXED, "of fixed length"},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_UNIQ, "unique suffixes"},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_INDEXED, "indexed (Eytzinger order)"},
    {PGK_SEC_SYMBOLS, PGK_SECF_SYMBOLS_GUIDS, "symbols are GUIDs in Eytzinger order"},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_PARTIAL, "partial profile"},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_CONTEXTS, "contexts"},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_FS, "flow-sensitive discriminators"},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_PREINLINED, "pre-inlined"},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_VTABLES, "types of objects"},
    {PGK_SEC_METADATA, PGK_SECF_METADATA_CHECKSUMS, "checksums"},
    {PGK_SEC_METADATA, PGK_SECF_METADATA_ATTRIBUTES, "attributes"},
    {PGK_SEC_OFFSETS, PGK_SECF_OFFSETS_ORDERED, "ordered by context"},
    {PGK_SEC_OFFSETS, PGK_SECF_OFFSETS_INDEXED, "indexed, as the names"},
    {PGK_SEC_COMPOSITE_OFFSETS, PGK_SECF_OFFSETS_ORDERED, "ordered by context"},
    {PGK_SEC_COMPOSITE_OFFSETS, PGK_SECF_OFFSETS_INDEXED, "indexed, as the names"},
};

const struct pgk_ext_flag *pgk_ext_flag_at(uint64_t type, size_t nth)
{
    for (size_t i = 0; i < PGK_COUNTOF(flags); i++)
        if ((!flags[i].type || flags[i].type == type) && !nth--)
            return &flags[i];
    return NULL;
}

uint64_t pgk_ext_unknown_flags(const struct pgk_ext_section *s)
{
    const struct pgk_ext_flag *flag;
    uint64_t left = s->flags;
    for (size_t i = 0; (flag = pgk_ext_flag_at(s->type, i)); i++)
        left &= ~flag->bit;
    return left;
}

static bool is_composite(const struct pgk_ext_section *s)
{
    return s->type == PGK_SEC_COMPOSITE || s->type == PGK_SEC_COMPOSITE_OFFSETS;
}

/* LLVM reads no composite profiles in a file of an earlier version. */
static int check_composite(const struct pgk_ext_sections *all, const struct pgk_ext_section *s,
                           struct pgk_err *err)
{
    if (!is_composite(s) || !s->size || all->src.version >= PGK_SAMPLE_COMPOSITE)
        return 0;
    return pgk_fail(err, PGK_E_CORRUPT, .file = all->src.file, .format = all->src.format,
                    .version = all->src.version, .offset = &s->entry_off, .record = "section table",
                    .field = pgk_ext_section_name(s->type),
                    .found = PGK_F("such a section in version %u", all->src.version),
                    .expected = PGK_F("version %d, as LLVM reads it", PGK_SAMPLE_COMPOSITE),
                    .hint = DAMAGED);
}

/* An empty section has nothing to be lost, but its flags may be of the whole profile. */
static int check_known(struct pgk_ext_sections *all, struct pgk_err *err)
{
    static const char newer[] = "the profile is newer than this pgokit; use a newer one, or have "
                                "the tool that made it write what LLVM " PGK_LLVM_NOW_TEXT " reads";
    for (size_t i = 0; i < all->list.n; i++) {
        const struct pgk_ext_section *s = &all->list.v[i];
        uint64_t unknown = pgk_ext_unknown_flags(s), off = s->entry_off + sizeof s->type;
        all->passed += !is_known(s) && s->size;
        if (!is_known(s) && s->size && !all->pass_unknown)
            return pgk_fail(err, PGK_E_VERSION, .file = all->src.file, .format = all->src.format,
                            .version = all->src.version, .offset = &s->entry_off,
                            .record = "section table", .field = "type",
                            .found = PGK_F("a section of type %" PRIu64, s->type),
                            .expected = "a type of section that pgokit knows", .hint = newer);
        if (is_known(s) && unknown)
            return pgk_fail(err, PGK_E_VERSION, .file = all->src.file, .format = all->src.format,
                            .version = all->src.version, .offset = &off, .record = "section table",
                            .field = PGK_F("flags of the %s", pgk_ext_section_name(s->type)),
                            .found = PGK_F("bit %d (0x%" PRIx64 ")", __builtin_ctzll(unknown),
                                           unknown),
                            .expected = "flags that pgokit knows", .hint = newer);
        PGK_TRY(check_composite(all, s, err));
    }
    return 0;
}

static int check_section(const struct pgk_cursor *c, const struct pgk_ext_section *s,
                         uint64_t entry_off, uint64_t file_size, struct pgk_err *err)
{
    if (s->off <= file_size && s->size <= file_size - s->off)
        return 0;
    return pgk_cur_reject(c, err, PGK_E_TRUNCATED, entry_off, .record = "section table",
                          .field = pgk_ext_section_name(s->type),
                          .found = PGK_F("%" PRIu64 " bytes at offset %" PRIu64, s->size, s->off),
                          .expected = PGK_F("a section within %" PRIu64 " bytes", file_size),
                          .hint = DAMAGED);
}

static int check_single(const struct pgk_ext_sections *all, const struct pgk_cursor *c,
                        const struct pgk_ext_section *s, uint64_t entry_off, struct pgk_err *err)
{
    bool may_be_two = s->type == PGK_SEC_OFFSETS || s->type == PGK_SEC_PROFILES || is_composite(s);
    for (size_t i = 0; i < all->list.n; i++) {
        const struct pgk_ext_section *other = &all->list.v[i];
        bool same_half = !((s->flags ^ other->flags) & PGK_SECF_FLAT);
        if (other->type == s->type && (same_half || !may_be_two))
            return pgk_cur_reject(c, err, PGK_E_CORRUPT, entry_off, .record = "section table",
                                  .field = pgk_ext_section_name(s->type),
                                  .found = "a second section of that type",
                                  .expected = "one", .hint = DAMAGED);
    }
    return 0;
}

static int read_table(struct pgk_ext_sections *all, struct pgk_cursor *c, uint64_t n,
                      uint64_t file_size, struct pgk_err *err)
{
    if (!pgk_vec_reserve(&all->list, n))
        return pgk_fail_nomem(err);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t off = pgk_cur_off(c);
        struct pgk_ext_section s = {.type = pgk_cur_u64(c, "type"),
                                    .flags = pgk_cur_u64(c, "flags"),
                                    .off = pgk_cur_u64(c, "offset"),
                                    .size = pgk_cur_u64(c, "size"),
                                    .entry_off = off};
        PGK_TRY(pgk_cur_check(c, err, "section table"));
        if (s.size)
            PGK_TRY(check_section(c, &s, off, file_size, err));
        if (is_known(&s))
            PGK_TRY(check_single(all, c, &s, off, err));
        all->list.v[all->list.n++] = s;
    }
    return 0;
}

int pgk_ext_open_any(struct pgk_ext_sections *s, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_err *err)
{
    struct pgk_cursor c;
    *s = (struct pgk_ext_sections){.bytes = bytes, .src = *src};
    pgk_cur_init(&c, bytes, size, src);
    pgk_cur_take(&c, PGK_SAMPLE_MAGIC_BYTES, "magic");
    PGK_TRY(pgk_sample_read_version(&c, PGK_SAMPLE_NOW, err));
    s->src.version = c.src.version;
    uint64_t n = pgk_cur_count(&c, 4 * sizeof(uint64_t), "number of sections");
    PGK_TRY(pgk_cur_check(&c, err, "header"));
    return read_table(s, &c, n, size, err);
}

int pgk_ext_open(struct pgk_ext_sections *s, const uint8_t *bytes, size_t size,
                 const struct pgk_source *src, struct pgk_err *err)
{
    const bool pass_unknown = s->pass_unknown;
    PGK_TRY(pgk_ext_open_any(s, bytes, size, src, err));
    s->pass_unknown = pass_unknown;
    return check_known(s, err);
}

void pgk_ext_close(struct pgk_ext_sections *s)
{
    for (size_t i = 0; i < s->list.n; i++)
        pgk_mem_free(s->list.v[i].plain);
    pgk_vec_free(&s->list);
}

struct pgk_ext_section *pgk_ext_find(struct pgk_ext_sections *s, enum pgk_sample_section type,
                                     unsigned nth)
{
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.v[i].type == type && s->list.v[i].size && !nth--)
            return &s->list.v[i];
    return NULL;
}

struct pgk_ext_section *pgk_ext_find_half(struct pgk_ext_sections *s, enum pgk_sample_section type,
                                          bool flat)
{
    for (size_t i = 0; i < s->list.n; i++) {
        struct pgk_ext_section *section = &s->list.v[i];
        if (section->type == type && section->size && flat == !!(section->flags & PGK_SECF_FLAT))
            return section;
    }
    return NULL;
}

struct pgk_ext_section *pgk_ext_find_profiles(struct pgk_ext_sections *s, unsigned nth)
{
    for (size_t i = 0; i < s->list.n; i++) {
        struct pgk_ext_section *section = &s->list.v[i];
        bool holds = section->type == PGK_SEC_PROFILES || section->type == PGK_SEC_COMPOSITE;
        if (holds && section->size && !nth--)
            return section;
    }
    return NULL;
}

/* ---- compression ---- */

static int inflate_all(const uint8_t *packed, uint64_t packed_size, uint8_t *plain,
                       uint64_t plain_size)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed, .next_out = plain};
    if (inflateInit(&z) != Z_OK)
        return Z_MEM_ERROR;
    int status = Z_OK;
    const uint8_t *end = plain + plain_size, *packed_end = packed + packed_size;
    while (status == Z_OK) {
        size_t in = (size_t)(packed_end - z.next_in), out = (size_t)(end - z.next_out);
        z.avail_in = (uInt)(in < UINT32_MAX ? in : UINT32_MAX);
        z.avail_out = (uInt)(out < UINT32_MAX ? out : UINT32_MAX);
        status = inflate(&z, Z_NO_FLUSH);
    }
    bool complete = status == Z_STREAM_END && z.next_out == end;
    inflateEnd(&z);
    return complete ? Z_OK : status == Z_MEM_ERROR ? Z_MEM_ERROR : Z_DATA_ERROR;
}

static int decompress(struct pgk_ext_sections *all, struct pgk_ext_section *s,
                      struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_source src = all->src;
    const char *name = pgk_ext_section_name(s->type);
    src.base_off += s->off;
    pgk_cur_init(&c, all->bytes + s->off, s->size, &src);
    uint64_t plain = pgk_cur_uleb(&c, "size before compression");
    uint64_t packed = pgk_cur_uleb(&c, "compressed size"), off = pgk_cur_off(&c);
    const uint8_t *bytes = pgk_cur_take(&c, packed, "compressed bytes");
    PGK_TRY(pgk_cur_check(&c, err, name));
    if (pgk_is_bomb(plain, packed))
        return pgk_cur_reject(
            &c, err, PGK_E_LIMIT, src.base_off, .record = name, .field = "size before compression",
            .found = PGK_F("%" PRIu64 " bytes in %" PRIu64, plain, packed),
            .expected = PGK_F("at most %d times as many", PGK_BOMB_RATIO),
            .hint = "the file is damaged, or made to exhaust its reader's memory");
    s->plain = pgk_mem_alloc(plain + 1, 1);
    if (!s->plain)
        return pgk_fail_nomem(err);
    s->plain_size = plain;
    int status = inflate_all(bytes, packed, s->plain, plain);
    if (status == Z_MEM_ERROR)
        return pgk_fail_nomem(err);
    if (status != Z_OK)
        return pgk_cur_reject(&c, err, PGK_E_CORRUPT, off, .record = name,
                              .field = "compressed bytes",
                              .found = PGK_F("no zlib stream of %" PRIu64 " bytes", plain),
                              .expected = "one", .hint = DAMAGED);
    return 0;
}

int pgk_ext_cursor(struct pgk_ext_sections *all, struct pgk_ext_section *s, struct pgk_cursor *c,
                   struct pgk_err *err)
{
    struct pgk_source src = all->src;
    if (!(s->flags & PGK_SECF_COMPRESSED)) {
        src.base_off += s->off;
        pgk_cur_init(c, all->bytes + s->off, s->size, &src);
        return 0;
    }
    if (!s->plain)
        PGK_TRY(decompress(all, s, err));
    src.base_off = 0;
    pgk_cur_init(c, s->plain, s->plain_size, &src);
    return 0;
}
