/* Which static data of a program is accessed: data access profiles.
 * docs/formats/profile-generation.md section 11 */
#include "gen_data.h"

#include "branch_scale.h"
#include "data_access.h"
#include "data_places.h"
#include "gen_place.h"
#include "hash.h"
#include "message.h"
#include "pgokit/heap.h"
#include "search.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

/* ---- counting ---- */

static bool is_loaded(const struct pgk_elf *elf, uint64_t addr)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (addr - s[i].vaddr < s[i].memsz)
            return true;
    return false;
}

/* Code mostly accesses data of its own binary, which are as far from it as in the file. Zeroed data
 * are not mapped from the file, and mappings of others are recorded by perf record -d only. */
static struct pgk_gen_place place_by_code(struct pgk_gen *g, const struct pgk_perf_sample *s,
                                          uint64_t ip, uint64_t addr)
{
    struct pgk_gen_place code = pgk_gen_place(g, s, ip);
    struct pgk_gen_place data = {code.binary, addr - ip + code.addr};
    if (code.binary == PGK_NO_BINARY || !is_loaded(g->images.v[code.binary].elf, data.addr))
        data.binary = PGK_NO_BINARY;
    return data;
}

int pgk_gen_count_access(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t ip,
                         uint64_t addr)
{
    struct pgk_gen_place at = place_by_code(g, s, ip, addr);
    g->stats.load_samples += s->count;
    if (at.binary == PGK_NO_BINARY)
        at = pgk_gen_place(g, s, addr);
    if (at.binary == PGK_NO_BINARY)
        return 0;
    return pgk_pairs_add(&g->images.v[at.binary].accesses, at.addr, 0, s->count)
               ? 0
               : pgk_fail_nomem(g->err);
}

/* ---- variables and literals ---- */

struct data {
    struct pgk_gen *g;
    struct pgk_heap *heap;
    struct pgk_err *err;
    struct pgk_intern hot; /* variables that are accessed, as compilers look them up */
    struct pgk_index literals; /* of the literals that are reported, by hash */
    PGK_VEC(uint64_t) hashes;
    struct pgk_data_places places; /* of the binary whose accesses are reported */
};

static int note(struct data *d, const char *symbol, uint64_t literal, uint64_t count)
{
    struct pgk_heap_data item = {.symbol = symbol, .literal = literal, .accesses = count,
                                 .cold = !count};
    return pgk_heap_build_data(d->heap, &item, 1, d->err);
}

static int note_variable(struct data *d, const struct pgk_elf_sym *sym, uint64_t count)
{
    struct pgk_heap_data item = {.symbol = sym->name, .accesses = count};
    item.places = pgk_data_places_at(&d->places, sym->addr, &item.n_places);
    return item.places ? pgk_heap_build_data(d->heap, &item, 1, d->err) : pgk_fail_nomem(d->err);
}

/* False if it was reported before. */
static bool is_new_literal(struct data *d, uint64_t hash, bool *ok)
{
    PGK_INDEX_FOR (&d->literals, hash, i)
        if (d->hashes.v[i] == hash)
            return false;
    *ok = pgk_vec_push(&d->hashes, hash) &&
          pgk_index_add(&d->literals, hash, (uint32_t)d->hashes.n - 1);
    return *ok;
}

/* The section with an address, if it holds data. */
static bool find_section(const struct pgk_elf *elf, uint64_t addr,
                         struct pgk_elf_section_info *section)
{
    for (size_t i = 0; i < pgk_elf_section_count(elf); i++) {
        *section = pgk_elf_section_at(elf, i);
        if (section->flags & SHF_ALLOC && !(section->flags & (SHF_EXECINSTR | SHF_TLS)) &&
            addr - section->addr < section->size)
            return true;
    }
    return false;
}

static bool is_text(uint8_t c)
{
    return c >= ' ' || (c >= '\a' && c <= '\r') || c == '\033';
}

/* Compilers know a literal by its bytes, the final NUL included. */
static uint64_t literal_hash(const uint8_t *text, size_t n)
{
    return pgk_md5_low64(text, n + 1);
}

/* The literal around an address of constants that no symbol names; false if it is no text. */
static bool find_literal(const struct pgk_elf_section_info *s, uint64_t addr, uint64_t *hash)
{
    enum { LONGEST = 1 << 16 };
    uint64_t at = addr - s->addr, low = at, high = at;
    if (!s->bytes || s->flags & SHF_WRITE || s->type != SHT_PROGBITS)
        return false;
    while (low && at - low < LONGEST && is_text(s->bytes[low - 1]))
        low--;
    while (high < s->size && high - at < LONGEST && is_text(s->bytes[high]))
        high++;
    if (high == s->size || s->bytes[high] || low == high)
        return false;
    *hash = literal_hash(s->bytes + low, high - low);
    return true;
}

static bool is_variable(const struct pgk_elf *elf, const struct pgk_elf_sym *sym)
{
    struct pgk_elf_section_info section;
    return !sym->function && sym->size && *sym->name && find_section(elf, sym->addr, &section);
}

/* The variables that hold an address, of which there are several if they are aliases. */
static int note_variables(struct data *d, const struct pgk_elf *elf, const struct pgk_pair *access,
                          bool *any)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    *any = false;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, d->err));
    PGK_SEARCH(after, n, mid, syms[mid].addr <= access->from)
    for (size_t i = after; i-- && access->from - syms[i].addr < syms[i].size;) {
        if (!is_variable(elf, &syms[i]))
            continue;
        uint32_t id = pgk_data_access_symbol(&d->hot, syms[i].name, strlen(syms[i].name));
        if (id == PGK_INDEX_NONE)
            return pgk_fail_nomem(d->err);
        if (id)
            PGK_TRY(note_variable(d, &syms[i], access->count));
        *any |= id;
    }
    return 0;
}

static int note_access(struct data *d, const struct pgk_elf *elf, const struct pgk_pair *access)
{
    struct pgk_elf_section_info section;
    uint64_t hash;
    bool any, ok = true;
    PGK_TRY(note_variables(d, elf, access, &any));
    if (!any && find_section(elf, access->from, &section) &&
        find_literal(&section, access->from, &hash)) {
        any = true;
        (void)is_new_literal(d, hash, &ok);
        PGK_TRY(ok ? note(d, "", hash, access->count) : pgk_fail_nomem(d->err));
    }
    d->g->stats.data_samples += any ? access->count : 0;
    return 0;
}

/* ---- what is never accessed ---- */

static int note_cold_variables(struct data *d, const struct pgk_elf *elf)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, d->err));
    for (size_t i = 0; i < n; i++) {
        uint32_t known = (uint32_t)d->hot.strs.n;
        if (!is_variable(elf, &syms[i]))
            continue;
        uint32_t id = pgk_data_access_symbol(&d->hot, syms[i].name, strlen(syms[i].name));
        if (id == PGK_INDEX_NONE)
            return pgk_fail_nomem(d->err);
        if (id >= known && id)
            PGK_TRY(note(d, syms[i].name, 0, 0));
    }
    return 0;
}

/* Of sections that hold nothing but literals. */
static int note_cold_literals(struct data *d, const struct pgk_elf *elf)
{
    for (size_t i = 0; i < pgk_elf_section_count(elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(elf, i);
        if (!s.bytes || !(s.flags & SHF_ALLOC) || !(s.flags & SHF_STRINGS) || s.flags & SHF_WRITE)
            continue;
        for (uint64_t at = 0, end; at < s.size; at = end + 1) {
            const uint8_t *nul = memchr(s.bytes + at, 0, s.size - at);
            bool ok = true;
            if (!nul)
                break;
            end = (uint64_t)(nul - s.bytes);
            uint64_t hash = literal_hash(s.bytes + at, end - at);
            if (end > at && is_new_literal(d, hash, &ok))
                PGK_TRY(note(d, "", hash, 0));
            if (!ok)
                return pgk_fail_nomem(d->err);
        }
    }
    return 0;
}

static int note_accesses(struct data *d, uint32_t number)
{
    struct pgk_gen_binary *b = &d->g->images.v[number];
    if (!b->accesses.list.n)
        return 0;
    int status = b->sym ? 0 : pgk_binaries_symboliser(d->g->binaries, number, &b->sym, d->err);
    if (!status || status == PGK_E_NODEBUG) /* names of variables are symbols */
        status = pgk_data_places_read(&d->places, b->sym, d->err);
    pgk_pairs_sort(&b->accesses);
    for (size_t k = 0; k < b->accesses.list.n && !status; k++)
        status = note_access(d, b->elf, &b->accesses.list.v[k]);
    pgk_data_places_free(&d->places);
    return status;
}

/* A name that is hot in one binary is not cold because of another. */
static int note_all(struct data *d)
{
    struct pgk_gen *g = d->g;
    for (size_t i = 0; i < g->images.n; i++)
        PGK_TRY(note_accesses(d, (uint32_t)i));
    pgk_gen_to_samples(&g->stats.data_samples, 0, g->load_unit);
    if (!g->stats.data_samples)
        return pgk_fail(d->err, PGK_E_EMPTY, .field = "accesses of static data",
                        .found = PGK_F("none among %" PRIu64 " samples with an address of data",
                                       g->stats.load_samples),
                        .expected = "some of variables or string literals of the given binaries",
                        .hint = "record loads with their addresses, as perf record -d -e "
                                "mem_inst_retired.all_loads:upp does");
    for (size_t i = 0; i < g->images.n; i++)
        if (g->images.v[i].accesses.list.n) {
            PGK_TRY(note_cold_variables(d, g->images.v[i].elf));
            PGK_TRY(note_cold_literals(d, g->images.v[i].elf));
        }
    return 0;
}

int pgk_gen_data_profile(struct pgk_gen *g, struct pgk_heap **heap, struct pgk_err *err)
{
    struct data d = {.g = g, .err = err};
    PGK_TRY(pgk_heap_new(&d.heap, err));
    pgk_gen_limit_scaled(g);
    int status = pgk_intern(&d.hot, "", 0) == PGK_INDEX_NONE ? pgk_fail_nomem(err) : note_all(&d);
    pgk_intern_free(&d.hot);
    pgk_index_free(&d.literals);
    pgk_vec_free(&d.hashes);
    if (status)
        pgk_heap_close(&d.heap);
    else
        *heap = d.heap;
    return status;
}
