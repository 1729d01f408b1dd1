/* The blocks of a binary as the compiler numbered them. docs/formats/propeller.md section 1 */
#include "block_map.h"

#include "cursor.h"
#include "search.h"

#include <elf.h>
#include <stdlib.h>

#define FORMAT "block address map"

enum feature {
#define BLOCK_MAP_FEATURE(bit, name, since) name = (bit),
#include "bb_addr_map.def"
#undef BLOCK_MAP_FEATURE
    BLOCK_FIGURES = FREQUENCY | PROBABILITY, /* after all blocks, for each of them */
};

static const struct {
    unsigned bit, since;
} features[] = {
#define BLOCK_MAP_FEATURE(bit, name, since) {bit, since},
#include "bb_addr_map.def"
#undef BLOCK_MAP_FEATURE
};

static const struct version {
    unsigned number;
    uint32_t section;
    bool has_number;
    unsigned feature_bytes;
    bool has_id, from_end;
    unsigned list;
    const char *releases;
} versions[] = {
#define BLOCK_MAP_VERSION(...) {__VA_ARGS__},
#include "bb_addr_map.def"
#undef BLOCK_MAP_VERSION
};

struct reader {
    struct pgk_block_map *map;
    const struct pgk_elf *elf;
    struct pgk_cursor c;
    const struct version *version;
    unsigned features;
    uint64_t entry_off; /* of the function that is being read */
    uint32_t places;    /* blocks of it that were read, also such outside of the code */
    bool in_code;
};

/* ---- what a function says of itself ---- */

static bool is_section(uint32_t type)
{
    for (size_t i = 0; i < PGK_COUNTOF(versions); i++)
        if (versions[i].section == type)
            return true;
    return false;
}

/* The version with that number; of a section without numbers, its only one. */
static const struct version *version_of(uint32_t section, unsigned number)
{
    for (size_t i = 0; i < PGK_COUNTOF(versions); i++)
        if (versions[i].section == section &&
            (!versions[i].has_number || versions[i].number == number))
            return &versions[i];
    return NULL;
}

static int read_version(struct reader *r, uint32_t section, struct pgk_err *err)
{
    const uint64_t off = pgk_cur_off(&r->c);
    unsigned number = 0;
    r->entry_off = off;
    r->version = version_of(section, 0);
    if (!r->version)
        number = pgk_cur_u8(&r->c, "version");
    PGK_TRY(pgk_cur_check(&r->c, err, "function"));
    if (!r->version)
        r->version = version_of(section, number);
    if (r->version) {
        r->c.src.version = r->version->number;
        return 0;
    }
    const struct version *last = &versions[PGK_COUNTOF(versions) - 1];
    return pgk_cur_reject(&r->c, err, PGK_E_VERSION, off, .record = "function", .field = "version",
                          .found = PGK_F("%u", number),
                          .expected =
                              PGK_F("at most %u, of clang %s", last->number, last->releases),
                          .hint = "build with an older clang, or get a newer pgokit");
}

static int read_features(struct reader *r, struct pgk_err *err)
{
    const uint64_t off = pgk_cur_off(&r->c);
    unsigned known = 0;
    switch (r->version->feature_bytes) {
    case 0:
        r->features = 0;
        break;
    case 1:
        r->features = pgk_cur_u8(&r->c, "features");
        break;
    default:
        r->features = pgk_cur_u16(&r->c, "features");
        break;
    }
    PGK_TRY(pgk_cur_check(&r->c, err, "function"));
    for (size_t i = 0; i < PGK_COUNTOF(features); i++)
        if (features[i].since <= r->version->number)
            known |= features[i].bit;
    return !(r->features & ~known)
               ? 0
               : pgk_cur_reject(&r->c, err, PGK_E_VERSION, off, .record = "function",
                                .field = "features", .found = PGK_F("0x%x", r->features),
                                .expected =
                                    PGK_F("none but 0x%x in version %u", known, r->version->number),
                                .hint = "build with an older clang, or get a newer pgokit");
}

/* ---- blocks ---- */

static bool is_code(const struct reader *r, uint64_t addr, uint64_t size)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(r->elf, &n);
    for (size_t i = 0; i < n; i++)
        if (s[i].executable && addr >= s[i].vaddr && addr - s[i].vaddr < s[i].memsz &&
            size <= s[i].memsz - (addr - s[i].vaddr))
            return true;
    return false;
}

/* Bytes from the start of a block to its end: those to the end of its last call, and the rest. */
static uint64_t read_size(struct reader *r)
{
    uint64_t to_call = 0;
    if (r->features & CALLS) {
        uint64_t n = pgk_cur_uleb_count(&r->c, 1, "number of calls");
        for (uint64_t i = 0; i < n && !r->c.failed; i++)
            to_call += pgk_cur_uleb(&r->c, "end of a call");
    }
    return to_call + pgk_cur_uleb(&r->c, "size of a block");
}

static int add_block(struct reader *r, uint64_t off, uint64_t id, uint64_t low, uint64_t size,
                     uint64_t flags, struct pgk_err *err)
{
    struct pgk_block_map *m = r->map;
    if (id > UINT32_MAX || size > UINT32_MAX || flags > UINT32_MAX)
        return pgk_cur_reject(&r->c, err, PGK_E_CORRUPT, off, .record = "block",
                              .field = id > UINT32_MAX     ? "id"
                                       : size > UINT32_MAX ? "size"
                                                           : "flags",
                              .found =
                                  PGK_F("%llu", (unsigned long long)(id > UINT32_MAX     ? id
                                                                     : size > UINT32_MAX ? size
                                                                                         : flags)),
                              .expected = "a number of 32 bits", .hint = "link the program again");
    if (!r->in_code)
        return 0;
    if (!is_code(r, low, size))
        return pgk_cur_reject(&r->c, err, PGK_E_CORRUPT, off, .record = "block", .field = "address",
                              .found = PGK_F("0x%llx", (unsigned long long)low),
                              .expected = "code of the program, as of the function's start",
                              .hint = "link the program again");
    struct pgk_map_block b = {low, (uint32_t)size, (uint32_t)id, (uint32_t)m->functions.n - 1,
                              (uint32_t)flags};
    return pgk_vec_push(&m->blocks, b) ? 0 : pgk_fail_nomem(err);
}

/* The blocks from `addr` on. */
static int read_blocks(struct reader *r, uint64_t addr, uint64_t n, struct pgk_err *err)
{
    uint64_t end = 0; /* of the block before */
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t off = pgk_cur_off(&r->c);
        uint64_t id = r->version->has_id ? pgk_cur_uleb(&r->c, "id of a block") : r->places;
        uint64_t at = pgk_cur_uleb(&r->c, "offset of a block");
        uint64_t size = read_size(r), flags = pgk_cur_uleb(&r->c, "flags of a block");
        if (r->features & HASH)
            (void)pgk_cur_u64(&r->c, "hash of a block");
        PGK_TRY(pgk_cur_check(&r->c, err, "block"));
        at += r->version->from_end ? end : 0;
        end = at + size;
        r->places++;
        PGK_TRY(add_block(r, off, id, addr + at, size, flags, err));
    }
    return 0;
}

/* Its blocks lie in one place, or in several. */
static int read_places(struct reader *r, struct pgk_err *err)
{
    enum { LEAST_PLACE = 9, LEAST_BLOCK = 3 };
    struct pgk_block_map *m = r->map;
    uint64_t n =
        r->features & RANGES ? pgk_cur_uleb_count(&r->c, LEAST_PLACE, "number of ranges") : 1;
    uint32_t first = (uint32_t)m->blocks.n;
    r->places = 0;
    for (uint64_t i = 0; i < n && !r->c.failed; i++) {
        uint64_t addr = pgk_cur_u64(&r->c, "address");
        uint64_t blocks = r->features & NO_BLOCKS
                              ? (pgk_cur_uleb(&r->c, "number of blocks"), 0)
                              : pgk_cur_uleb_count(&r->c, LEAST_BLOCK, "number of blocks");
        PGK_TRY(pgk_cur_check(&r->c, err, "function"));
        if (!i) {
            r->in_code = is_code(r, addr, 1);
            m->outside += !r->in_code;
            if (r->in_code && !pgk_vec_push(&m->functions, (struct pgk_map_function){
                                                               .entry = addr, .first = first}))
                return pgk_fail_nomem(err);
        }
        PGK_TRY(read_blocks(r, addr, blocks, err));
    }
    if (m->blocks.n >= PGK_BLOCK_NONE)
        return pgk_cur_reject(&r->c, err, PGK_E_LIMIT, r->entry_off, .field = "number of blocks",
                              .found = PGK_F("%zu", m->blocks.n), .expected = "less than 2^32",
                              .hint = "build parts of the program without the map");
    if (r->in_code && n)
        m->functions.v[m->functions.n - 1].n = (uint32_t)m->blocks.n - first;
    return pgk_cur_check(&r->c, err, "function");
}

/* What the compiler expected to run, which is of no use here. */
static int pass_figures(struct reader *r, struct pgk_err *err)
{
    const bool counts = r->features & POST_LINK;
    if (r->features & ENTRY_COUNT)
        (void)pgk_cur_uleb(&r->c, "count of the function");
    for (uint32_t i = 0; r->features & BLOCK_FIGURES && i < r->places && !r->c.failed; i++) {
        if (r->features & FREQUENCY)
            (void)pgk_cur_uleb(&r->c, "frequency of a block");
        if (counts)
            (void)pgk_cur_uleb(&r->c, "count of a block");
        uint64_t n = r->features & PROBABILITY
                         ? pgk_cur_uleb_count(&r->c, counts ? 3 : 2, "number of successors")
                         : 0;
        for (uint64_t k = 0; k < n && !r->c.failed; k++) {
            (void)pgk_cur_uleb(&r->c, "successor");
            (void)pgk_cur_uleb(&r->c, "probability of a successor");
            if (counts)
                (void)pgk_cur_uleb(&r->c, "count of a successor");
        }
    }
    return pgk_cur_check(&r->c, err, "figures of a function");
}

/* ---- all of it ---- */

static int read_section(struct reader *r, const struct pgk_elf_section_info *s, struct pgk_err *err)
{
    struct pgk_source src = {.file = pgk_elf_path(r->elf), .format = FORMAT, .base_off = s->offset};
    pgk_cur_init(&r->c, s->bytes, s->size, &src);
    while (pgk_cur_left(&r->c)) {
        PGK_TRY(read_version(r, s->type, err));
        PGK_TRY(read_features(r, err));
        PGK_TRY(read_places(r, err));
        PGK_TRY(pass_figures(r, err));
        if (r->version->list < r->map->list)
            r->map->list = r->version->list;
    }
    return 0;
}

static int compare_blocks(const void *a, const void *b, void *ctx)
{
    const struct pgk_map_block *v = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (v[x].low != v[y].low)
        return v[x].low < v[y].low ? -1 : 1;
    if (!v[x].size != !v[y].size)
        return v[x].size ? 1 : -1;
    return x < y ? -1 : x > y;
}

bool pgk_block_map_sort(struct pgk_block_map *m)
{
    if (!pgk_vec_reserve(&m->by_address, m->blocks.n))
        return false;
    bool sorted = true;
    for (uint32_t i = 0; i < m->blocks.n; i++) {
        m->by_address.v[m->by_address.n++] = i;
        sorted &= !i || m->blocks.v[i - 1].low < m->blocks.v[i].low;
    }
    if (!sorted)
        qsort_r(m->by_address.v, m->by_address.n, sizeof *m->by_address.v, compare_blocks,
                m->blocks.v);
    return true;
}

static int read_all(struct reader *r, const struct pgk_elf *elf, struct pgk_err *err)
{
    for (size_t i = 0; i < pgk_elf_section_count(elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(elf, i);
        if (is_section(s.type) && s.bytes)
            PGK_TRY(read_section(r, &s, err));
    }
    return 0;
}

static int no_map(const struct reader *r, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_NODEBUG, .file = pgk_elf_path(r->elf), .format = "ELF",
                    .field = "section .llvm_bb_addr_map",
                    .found = r->map->outside ? "no function of the code" : "none",
                    .expected = "the addresses of blocks, by which compilers number them",
                    .hint = "build the program with clang -fbasic-block-address-map (clang 19 and "
                            "later) or -fbasic-block-sections=labels (12 to 18), and do not "
                            "strip it");
}

int pgk_block_map_open(struct pgk_block_map *map, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct reader r = {.map = map, .elf = elf};
    *map = (struct pgk_block_map){.list = UINT32_MAX};
    int status = read_all(&r, elf, err);
    const struct pgk_elf *debug = !status && !map->blocks.n ? pgk_elf_debug(elf) : NULL;
    if (debug && debug != elf)
        status = read_all(&r, debug, err);
    if (!status && !map->blocks.n)
        status = no_map(&r, err);
    if (!status && !pgk_block_map_sort(map))
        status = pgk_fail_nomem(err);
    if (status)
        pgk_block_map_close(map);
    return status;
}

void pgk_block_map_close(struct pgk_block_map *map)
{
    pgk_vec_free(&map->blocks);
    pgk_vec_free(&map->functions);
    pgk_vec_free(&map->by_address);
}

size_t pgk_block_map_holds(const struct pgk_block_map *m, uint64_t addr)
{
    const uint32_t *v = m->by_address.v;
    const struct pgk_map_block *blocks = m->blocks.v;
    PGK_SEARCH(after, m->by_address.n, mid, blocks[v[mid]].low <= addr)
    return after && addr - blocks[v[after - 1]].low < blocks[v[after - 1]].size ? after - 1
                                                                                : SIZE_MAX;
}

size_t pgk_block_map_at(const struct pgk_block_map *m, uint64_t addr)
{
    const uint32_t *v = m->by_address.v;
    const struct pgk_map_block *blocks = m->blocks.v;
    size_t at = pgk_block_map_holds(m, addr);
    while (at != SIZE_MAX && at && blocks[v[at - 1]].low == addr &&
           blocks[v[at - 1]].function == blocks[v[at]].function)
        at--;
    return at;
}
