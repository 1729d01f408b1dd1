/* Cache entries: layout, key, reading and writing. symbol_cache_folder.c keeps the folder.
 *
 *     header, 64 bytes                 struct header
 *     addresses                        u64 each, ascending
 *     first frames                     u32 each, and one more
 *     frames                           8 x u32 each: strings by offset, numbers
 *     strings                          each with its NUL; offset 0: NULL
 *
 * The checksum covers everything after the header, and the header itself with 0 in its place. */
#include "symbol_cache.h"

#include "dwarf_priv.h"
#include "hash.h"
#include "pgokit/human.h"
#include "search.h"
#include "sink.h"
#include "symbol_cache_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

#define MAGIC UINT64_C(0x0a317379736b6770) /* "pgksys1\n" */
/* Larger entries are not written: reading one should stay cheaper than looking things up. */
#define ENTRY_BYTES_MAX ((uint64_t)64 << 20)

struct header {
    uint64_t magic, revision, key, checksum, addresses, frames, strings, unused;
};

/* ---- key ---- */

static void add_u64(struct pgk_sink *s, uint64_t v)
{
    pgk_sink_u64(s, v);
}

/* Build ids are made from the content by most linkers, but may be any number a user gives. So
 * the sizes of all debug sections count, too, and the line table, which nearly any change of a
 * source moves. */
static void add_debug_information(struct pgk_sink *s, const struct pgk_elf *elf)
{
    size_t size, lines;
    pgk_elf_bytes(elf, &size);
    add_u64(s, size);
    add_u64(s, pgk_elf_raw_debug_hash(elf));
    const uint8_t *line = pgk_elf_raw_section(elf, ".debug_line", &lines);
    add_u64(s, line ? crc32_z(crc32(0, NULL, 0), line, lines) : 0);
}

/* False if there is none. */
static bool add_all(struct pgk_sink *s, const struct pgk_elf *elf)
{
    size_t size;
    const struct pgk_elf *debug = pgk_dw_file_of(elf);
    const uint8_t *id = pgk_elf_build_id(elf, &size);
    add_u64(s, PGK_SYMBOL_CACHE_REVISION);
    add_u64(s, size);
    pgk_sink_bytes(s, id, size);
    if (debug)
        add_debug_information(s, debug);
    return debug;
}

bool pgk_symbol_cache_place(struct pgk_symbol_cache_place *place, const char *folder,
                            const struct pgk_elf *elf)
{
    struct pgk_sink *facts;
    size_t id_size, size;
    const uint8_t *id = pgk_elf_build_id(elf, &id_size);
    int n = snprintf(place->path, sizeof place->path, "%s/", folder);
    if (!id_size || id_size > 64 || n < 0 || (size_t)n + 2 * id_size + 16 > sizeof place->path ||
        pgk_sink_memory(&facts, NULL) < 0)
        return false;
    pgk_human_hex(place->path + n, sizeof place->path - (size_t)n, id, id_size);
    strcat(place->path, PGK_SYMBOL_CACHE_SUFFIX);
    bool ok = add_all(facts, elf);
    const uint8_t *bytes = pgk_sink_data(facts, &size);
    if (bytes)
        place->key = pgk_blake3_low64(bytes, size);
    pgk_sink_drop(&facts);
    return ok && bytes;
}

/* ---- reading ---- */

static uint64_t checksum(struct header h, const uint8_t *rest, size_t size)
{
    h.checksum = 0;
    uLong crc = crc32_z(crc32(0, NULL, 0), (const Bytef *)&h, sizeof h);
    return crc32_z(crc, rest, size);
}

/* Bytes after the header; 0 if the file cannot hold so many. */
static uint64_t body_size(const struct header *h)
{
    if (h->addresses > UINT32_MAX - 1 || h->frames > UINT32_MAX || h->strings > UINT32_MAX)
        return 0;
    return h->addresses * 8 + (h->addresses + 1) * 4 + h->frames * PGK_CACHE_FRAME_BYTES +
           h->strings;
}

struct frame {
    uint32_t function, file, decl_file, decl_line, line, column, discriminator, inlined;
};
_Static_assert(sizeof(struct frame) == PGK_CACHE_FRAME_BYTES, "as in the file");

static struct frame frame_at(const struct pgk_symbol_cache *c, size_t i)
{
    struct frame f;
    memcpy(&f, c->frames + i * sizeof f, sizeof f);
    return f;
}

/* The checksum makes damage unlikely, not impossible. */
static bool is_sound(const struct pgk_symbol_cache *c, const struct header *h)
{
    if (!h->strings || c->strings[0] || c->strings[h->strings - 1] || c->first[0] ||
        c->first[c->count] != h->frames)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        if ((i && c->addresses[i - 1] >= c->addresses[i]) || c->first[i] > c->first[i + 1] ||
            c->first[i + 1] > h->frames)
            return false;
        /* Each frame is inlined into the next; the last one is not. */
        for (uint32_t k = c->first[i]; k < c->first[i + 1]; k++) {
            struct frame f = frame_at(c, k);
            if (f.function >= h->strings || f.file >= h->strings || f.decl_file >= h->strings ||
                f.inlined != (k + 1 < c->first[i + 1]))
                return false;
        }
    }
    return true;
}

static bool take_apart(struct pgk_symbol_cache *c, uint64_t key)
{
    struct header h;
    if (c->map.size < sizeof h)
        return false;
    memcpy(&h, c->map.bytes, sizeof h);
    uint64_t size = body_size(&h);
    const uint8_t *body = c->map.bytes + sizeof h;
    if (h.magic != MAGIC || h.revision != PGK_SYMBOL_CACHE_REVISION || h.key != key || !size ||
        c->map.size - sizeof h != size || checksum(h, body, (size_t)size) != h.checksum)
        return false;
    c->count = (size_t)h.addresses;
    c->addresses = (const uint64_t *)(const void *)body;
    c->first = (const uint32_t *)(const void *)(body + c->count * 8);
    c->frames = body + c->count * 8 + (c->count + 1) * 4;
    c->strings = (const char *)c->frames + h.frames * PGK_CACHE_FRAME_BYTES;
    return is_sound(c, &h);
}

bool pgk_symbol_cache_open(struct pgk_symbol_cache *cache,
                           const struct pgk_symbol_cache_place *place)
{
    struct pgk_symbol_cache c = {0};
    *cache = c;
    if (!pgk_dw_is_regular(place->path) || pgk_filemap_open(&c.map, place->path, NULL) < 0)
        return false;
    if (!take_apart(&c, place->key)) {
        pgk_symbol_cache_close(&c);
        return false;
    }
    (void)utimensat(AT_FDCWD, place->path, NULL, 0);
    *cache = c;
    return true;
}

void pgk_symbol_cache_close(struct pgk_symbol_cache *cache)
{
    pgk_filemap_close(&cache->map);
    *cache = (struct pgk_symbol_cache){0};
}

static const char *string_at(const struct pgk_symbol_cache *c, uint32_t at)
{
    return at ? c->strings + at : NULL;
}

static bool chain_at(const struct pgk_symbol_cache *c, size_t i, struct pgk_arena *arena,
                     struct pgk_sym_chain *chain)
{
    uint32_t n = c->first[i + 1] - c->first[i];
    struct pgk_sym_frame *frames = n ? pgk_arena_alloc(arena, n, sizeof *frames) : NULL;
    if (n && !frames)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        struct frame f = frame_at(c, c->first[i] + k);
        frames[k] = (struct pgk_sym_frame){
            .function = string_at(c, f.function), .file = string_at(c, f.file),
            .decl_file = string_at(c, f.decl_file), .decl_line = f.decl_line, .line = f.line,
            .column = f.column, .discriminator = f.discriminator, .inlined = f.inlined};
    }
    *chain = (struct pgk_sym_chain){frames, n};
    return true;
}

bool pgk_symbol_cache_find(const struct pgk_symbol_cache *cache, uint64_t address,
                           struct pgk_arena *arena, struct pgk_sym_chain *chain)
{
    PGK_SEARCH(low, cache->count, mid, cache->addresses[mid] < address)
    return low < cache->count && cache->addresses[low] == address &&
           chain_at(cache, low, arena, chain);
}

/* ---- writing ---- */

struct writer {
    PGK_VEC(uint64_t) addresses;
    PGK_VEC(uint32_t) first;
    PGK_VEC(struct frame) frames;
    struct pgk_intern strings;
    PGK_VEC(uint32_t) offsets; /* by string id + 1 */
    uint64_t strings_size;
};

/* Offset of a string; UINT32_MAX when out of memory. An empty one differs from an unknown one. */
static uint32_t add_string(struct writer *w, const char *s)
{
    if (!s)
        return 0;
    /* With its NUL, so that the empty string has an id of its own. */
    size_t size = strlen(s) + 1;
    uint32_t id = pgk_intern(&w->strings, s, size);
    if (id == PGK_INDEX_NONE || w->strings_size + size > ENTRY_BYTES_MAX)
        return UINT32_MAX;
    if (id >= w->offsets.n) {
        if (!pgk_vec_reserve(&w->offsets, id + 1 - w->offsets.n))
            return UINT32_MAX;
        while (w->offsets.n <= id)
            w->offsets.v[w->offsets.n++] = (uint32_t)w->strings_size;
        w->strings_size += size;
    }
    return w->offsets.v[id];
}

static bool add_answer(struct writer *w, uint64_t address, const struct pgk_sym_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct pgk_sym_frame *s = &chain->frames[i];
        struct frame f = {add_string(w, s->function), add_string(w, s->file),
                          add_string(w, s->decl_file), s->decl_line, s->line, s->column,
                          s->discriminator, s->inlined};
        if (f.function == UINT32_MAX || f.file == UINT32_MAX || f.decl_file == UINT32_MAX ||
            !pgk_vec_push(&w->frames, f))
            return false;
    }
    return pgk_vec_push(&w->addresses, address) &&
           pgk_vec_push(&w->first, (uint32_t)w->frames.n);
}

/* The union of both, in order; where both know an address, they know the same. */
static bool add_answers(struct writer *w, const struct pgk_symbol_cache *old,
                        const uint64_t *addresses, const struct pgk_sym_chain *chains, size_t count,
                        struct pgk_arena *arena)
{
    size_t o = 0;
    for (size_t i = 0; i <= count; i++) {
        struct pgk_sym_chain chain;
        for (; o < old->count && (i == count || old->addresses[o] < addresses[i]); o++)
            if (!chain_at(old, o, arena, &chain) || !add_answer(w, old->addresses[o], &chain))
                return false;
        if (i == count)
            break;
        if (o < old->count && old->addresses[o] == addresses[i])
            o++;
        if (!add_answer(w, addresses[i], &chains[i]))
            return false;
    }
    return true;
}

static void put_strings(const struct writer *w, struct pgk_sink *out)
{
    pgk_sink_u8(out, 0);
    for (uint32_t id = 1; id < w->strings.strs.n; id++)
        pgk_sink_bytes(out, pgk_intern_str(&w->strings, id), pgk_intern_len(&w->strings, id));
}

static bool write_entry(const struct writer *w, const struct pgk_symbol_cache_place *place)
{
    struct pgk_sink *body, *out;
    size_t size;
    struct header h = {.magic = MAGIC, .revision = PGK_SYMBOL_CACHE_REVISION, .key = place->key,
                       .addresses = w->addresses.n, .frames = w->frames.n,
                       .strings = w->strings_size};
    if (body_size(&h) > ENTRY_BYTES_MAX || pgk_sink_memory(&body, NULL) < 0)
        return false;
    pgk_sink_bytes(body, w->addresses.v, w->addresses.n * sizeof *w->addresses.v);
    pgk_sink_bytes(body, w->first.v, w->first.n * sizeof *w->first.v);
    pgk_sink_bytes(body, w->frames.v, w->frames.n * sizeof *w->frames.v);
    put_strings(w, body);
    const uint8_t *bytes = pgk_sink_data(body, &size);
    bool ok = bytes && pgk_symbol_cache_make_folder(place->path) &&
              pgk_sink_open(&out, place->path, NULL) == 0;
    if (ok) {
        h.checksum = checksum(h, bytes, size);
        pgk_sink_bytes(out, &h, sizeof h);
        pgk_sink_bytes(out, bytes, size);
        ok = pgk_sink_commit(&out, NULL) == 0;
    }
    pgk_sink_drop(&body);
    return ok;
}

bool pgk_symbol_cache_save(const struct pgk_symbol_cache_place *place,
                           const struct pgk_symbol_cache *old, const uint64_t *addresses,
                           const struct pgk_sym_chain *chains, size_t count,
                           uint64_t folder_bytes)
{
    struct writer w = {.strings_size = 1};
    struct pgk_arena arena = {0};
    bool ok = pgk_vec_push(&w.offsets, 0) && pgk_vec_push(&w.first, 0) &&
              add_answers(&w, old, addresses, chains, count, &arena) && write_entry(&w, place);
    pgk_arena_free(&arena);
    pgk_vec_free(&w.addresses);
    pgk_vec_free(&w.first);
    pgk_vec_free(&w.frames);
    pgk_intern_free(&w.strings);
    pgk_vec_free(&w.offsets);
    if (ok)
        pgk_symbol_cache_keep_below(place->path, folder_bytes);
    return ok;
}
