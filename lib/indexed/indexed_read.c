/* Reader of the indexed container: header, and which parts there are. */
#include "indexed.h"
#include "instr_version.h"
#include "salvage.h"

#include <inttypes.h>

/* The version comes first, out of order, because it decides which fields the header has. */
static int read_header(struct pgk_cursor *c, struct pgk_indexed_header *h, struct pgk_err *err)
{
    struct pgk_cursor start = *c;
    pgk_cur_u64(&start, "magic");
    uint64_t word = pgk_cur_u64(&start, "version");
    PGK_TRY(pgk_cur_check(&start, err, "header"));
    h->index_version = (uint32_t)word;
    h->flags = word >> 32 << 32;
    if (!pgk_index_since(h->index_version))
        return pgk_cur_reject(c, err, PGK_E_VERSION, c->src.base_off + 8, .record = "header",
                              .field = "version", .found = PGK_F("%u", h->index_version),
                              .expected = PGK_F("%d to %d", PGK_INDEX_OLDEST, PGK_INDEX_NOW),
                              .hint = "see pgokit formats for what is read");
    c->src.version = h->index_version;
    PGK_TRY(pgk_instr_check_variant(c, word, c->src.base_off + 8, "header", err));
#define PGK_INDEXED_HEADER(name, first, meaning) \
    h->name = h->index_version >= (first) ? pgk_cur_u64(c, #name) : 0;
#include "indexed.def"
#undef PGK_INDEXED_HEADER
    PGK_TRY(pgk_cur_check(c, err, "header"));
    if (h->magic != PGK_INDEXED_MAGIC)
        return pgk_cur_reject(c, err, PGK_E_FORMAT, c->src.base_off, .record = "header",
                              .field = "magic", .found = PGK_F("0x%016" PRIx64, h->magic),
                              .expected = PGK_F("0x%016" PRIx64, PGK_INDEXED_MAGIC),
                              .hint = "this is not an indexed profile");
    return 0;
}

static bool has_flag(const struct pgk_indexed_header *h, enum pgk_indexed_flag bit)
{
    return h->flags >> bit & 1;
}

static int check_or_report(const struct pgk_cursor *c, const char *name,
                           struct pgk_salvage *salvage, struct pgk_err *err)
{
    struct pgk_err why = {0};
    if (!salvage)
        return pgk_cur_check(c, err, name);
    return pgk_salvage_skip(salvage, pgk_cur_check(c, &why, name), &why);
}

/* A part that says its own size: u64, then as many bytes. Its content is not used, but a
 * file that ends inside it is not whole. */
static int check_part(const struct pgk_cursor *c, uint64_t off, const char *name,
                      struct pgk_salvage *salvage, struct pgk_err *err)
{
    struct pgk_cursor part = *c;
    if (!off)
        return 0;
    pgk_cur_seek(&part, off, name);
    pgk_cur_take(&part, pgk_cur_count(&part, 1, name), name);
    return check_or_report(&part, name, salvage, err);
}

/* The header, and the number of functions. The cursor is then at the end of the header. */
static int open_file(struct pgk_cursor *c, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_salvage *salvage,
                     struct pgk_indexed_header *header, struct pgk_indexed_info *info,
                     struct pgk_err *err)
{
    pgk_cur_init(c, bytes, size, src);
    PGK_TRY(read_header(c, header, err));
    info->index_version = header->index_version;

    struct pgk_cursor table = *c;
    pgk_cur_seek(&table, header->function_table_off, "function_table_off");
    pgk_cur_u64(&table, "buckets of the function table");
    info->has_counters = pgk_cur_u64(&table, "functions") > 0;
    return check_or_report(&table, "function table", salvage, err);
}

static int read_file(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_salvage *salvage,
                     struct pgk_indexed_info *info, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_indexed_header header = {0};
    struct pgk_indexed_info found = {0};
    PGK_TRY(open_file(&c, bytes, size, src, salvage, &header, &found, err));
    if (has_flag(&header, PGK_INDEXED_MEMPROF))
        PGK_TRY(pgk_memprof_read(h, &c, header.memprof_off, salvage, &found, err));
    PGK_TRY(check_part(&c, header.binary_ids_off, "binary ids", salvage, err));
    PGK_TRY(check_part(&c, header.vtable_names_off, "vtable names", salvage, err));
    if (info)
        *info = found;
    return 0;
}

int pgk_indexed_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_indexed_info *info,
                     struct pgk_err *err)
{
    return read_file(h, bytes, size, src, NULL, info, err);
}

int pgk_indexed_salvage(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, struct pgk_salvage *salvage,
                        struct pgk_indexed_info *info, struct pgk_err *err)
{
    return read_file(h, bytes, size, src, salvage, info, err);
}

int pgk_indexed_read_functions(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                               const struct pgk_source *src, const uint64_t *functions, size_t n,
                               struct pgk_indexed_info *info, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_indexed_header header = {0};
    *info = (struct pgk_indexed_info){0};
    PGK_TRY(open_file(&c, bytes, size, src, NULL, &header, info, err));
    return has_flag(&header, PGK_INDEXED_MEMPROF)
               ? pgk_memprof_read_functions(h, &c, header.memprof_off, functions, n, info, err)
               : 0;
}

int pgk_indexed_read_instr(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                           const struct pgk_source *src, struct pgk_indexed_info *info,
                           struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_indexed_header header = {0};
    struct pgk_indexed_info found = {0};
    PGK_TRY(open_file(&c, bytes, size, src, NULL, &header, &found, err));
    PGK_TRY(pgk_instr_parts_read(a, &c, &header, err));
    found.has_heap = has_flag(&header, PGK_INDEXED_MEMPROF);
    if (info)
        *info = found;
    return 0;
}

int pgk_indexed_build_ids(const uint8_t *bytes, size_t size, const struct pgk_source *src,
                          pgk_build_id_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_indexed_header header = {0};
    pgk_cur_init(&c, bytes, size, src);
    PGK_TRY(read_header(&c, &header, err));
    return pgk_instr_part_ids(&c, header.binary_ids_off, fn, ctx, err);
}

bool pgk_indexed_has_heap(const uint8_t *bytes, size_t size)
{
    struct pgk_cursor c;
    struct pgk_indexed_header header = {0};
    pgk_cur_init(&c, bytes, size, &(struct pgk_source){0});
    return !read_header(&c, &header, NULL) && has_flag(&header, PGK_INDEXED_MEMPROF);
}

/* A damaged file is what it says as far as it can be read, so that its heap data can be saved. */
bool pgk_indexed_is_heap_only(const uint8_t *bytes, size_t size)
{
    struct pgk_cursor c;
    struct pgk_indexed_header header = {0};
    struct pgk_indexed_info info = {0};
    (void)open_file(&c, bytes, size, &(struct pgk_source){0}, NULL, &header, &info, NULL);
    return has_flag(&header, PGK_INDEXED_MEMPROF) && !info.has_counters;
}
