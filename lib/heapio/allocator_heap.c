/* Reader of heap profiles that allocators write. docs/formats/allocator-heap.md
 *
 * Stacks are addresses; the map of the process, by which these belong to files, comes last. */
#include "allocator_heap.h"

#include "format_row.h"
#include "heap_origin_part.h"
#include "text_fields.h"

#include <inttypes.h>
#include <math.h>

enum { STACK_FRAMES_MAX = 16384 };
/* The hint for a damaged file. */
#define HINT "the file is cut or damaged; write it again"
#define MAPS "MAPPED_LIBRARIES:"

/* Code of a file in the process. */
struct mapping {
    uint64_t start, end, off; /* off: in the file */
    uint32_t module;
};

/* Objects and their bytes: alive, and allocated in all. */
struct counts {
    uint64_t alive, alive_bytes, all, all_bytes;
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_text text;
    double rate; /* bytes from one sample to the next, on average; 0: everything is counted */
    PGK_VEC(struct mapping) mappings;
    PGK_VEC(uint32_t) frames;
};

static void skip_blanks(struct pgk_text_line *l)
{
    while (pgk_text_take(l, " "))
        ;
}

/* "1: 100 [2: 200]", with blanks before each number and bracket. */
static bool take_counts(struct pgk_text_line *l, struct counts *c)
{
    static const char *const behind[] = {":", "", ":", "]"};
    uint64_t *const numbers[] = {&c->alive, &c->alive_bytes, &c->all, &c->all_bytes};
    struct pgk_text_line rest = *l;
    for (size_t i = 0; i < PGK_COUNTOF(numbers); i++) {
        skip_blanks(&rest);
        if (i == 2 && !pgk_text_take(&rest, "["))
            return false;
        skip_blanks(&rest);
        if (!pgk_text_number(&rest, 10, numbers[i]) || !pgk_text_take(&rest, behind[i]))
            return false;
    }
    *l = rest;
    return true;
}

/* "heap_v2/524288", or "heapprofile" of who counts everything. Other names are of profiles with
 * other numbers. */
static int read_kind(struct reader *r, struct pgk_text_line *l)
{
    uint64_t rate;
    struct pgk_text_line whole = *l;
    if (pgk_text_take(l, "heapprofile") && l->at == l->end)
        return 0;
    *l = whole;
    if (!pgk_text_take(l, "heap_v2/") || !pgk_text_number(l, 10, &rate) || l->at != l->end)
        return pgk_fail(
            r->text.err, PGK_E_VERSION, .file = r->text.src->file, .format = r->text.src->format,
            .offset = &(uint64_t){l->off}, .record = "header", .field = "kind",
            .found = PGK_F("'%.*s'", whole.end - whole.at > 60 ? 60 : (int)(whole.end - whole.at),
                           whole.at),
            .expected = "heapprofile, or heap_v2/ and a number",
            .hint = "other profiles of allocators have other numbers");
    r->rate = (double)rate;
    return 0;
}

/* "START-END r-xp OFFSET DEVICE INODE    PATH" */
static int read_mapping(struct reader *r, struct pgk_text_line *l)
{
    struct mapping m = {0};
    struct pgk_text_line whole = *l;
    if (!pgk_text_number(l, 16, &m.start) || !pgk_text_take(l, "-") ||
        !pgk_text_number(l, 16, &m.end) || !pgk_text_take(l, " ") || l->end - l->at < 5)
        return pgk_text_reject(&r->text, &whole, "map", "addresses",
                               "START-END and what is allowed there");
    bool code = l->at[2] == 'x';
    l->at += 4;
    if (!pgk_text_take(l, " ") || !pgk_text_number(l, 16, &m.off))
        return pgk_text_reject(&r->text, &whole, "map", "offset", "a hexadecimal number");
    const char *path = memchr(l->at, '/', (size_t)(l->end - l->at));
    if (!code || !path || path[-1] != ' ')
        return 0;
    struct pgk_heap_module module = {.by_file_off = true};
    module.name = pgk_intern(&r->heap->strings, path, (size_t)(l->end - path));
    if (module.name == PGK_INDEX_NONE)
        return pgk_fail_nomem(r->text.err);
    m.module = pgk_heap_module(r->heap, &module);
    return m.module != PGK_INDEX_NONE && pgk_vec_push(&r->mappings, m) &&
                   pgk_heap_note_loaded(r->heap, r->text.src->file, m.module)
               ? 0
               : pgk_fail_nomem(r->text.err);
}

/* Everything after the line that announces it; blank lines end it. */
static int read_map(struct reader *r)
{
    bool in_map = false;
    for (struct pgk_text_line l; pgk_text_next(&r->text, &l);) {
        if (in_map && l.at == l.end)
            break;
        if (in_map)
            PGK_TRY(read_mapping(r, &l));
        in_map |= pgk_text_take(&l, MAPS) && l.at == l.end;
    }
    return 0;
}

/* The address is where a call returns to: what comes before it is the call. */
static uint32_t make_frame(struct reader *r, uint64_t address)
{
    uint64_t at = address - 1;
    for (size_t i = 0; i < r->mappings.n; i++) {
        const struct mapping *m = &r->mappings.v[i];
        if (at >= m->start && at < m->end)
            return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, m->module, at - m->start + m->off);
    }
    return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, at);
}

/* "@ 0x1 0x2": the stack, leaf first. */
static int read_stack(struct reader *r, struct pgk_text_line *l, uint32_t *node)
{
    struct pgk_text_line whole = *l;
    r->frames.n = 0;
    for (uint64_t address; l->at < l->end;) {
        if (!pgk_text_take(l, " 0x") || !pgk_text_number(l, 16, &address) || !address)
            return pgk_text_reject(&r->text, l, "stack", "address",
                                   "a blank, 0x and a number that is not 0");
        uint32_t frame = make_frame(r, address);
        if (frame == PGK_INDEX_NONE || !pgk_vec_push(&r->frames, frame))
            return pgk_fail_nomem(r->text.err);
    }
    if (!r->frames.n || r->frames.n > STACK_FRAMES_MAX || !l->whole)
        return pgk_text_reject(&r->text, &whole, "stack", "addresses",
                               PGK_F("1 to %d", STACK_FRAMES_MAX));
    *node = pgk_stack_add(&r->heap->stacks, r->frames.v, r->frames.n);
    return *node == PGK_NODE_NONE ? pgk_fail_nomem(r->text.err) : 0;
}

static uint64_t scaled(uint64_t v, double by)
{
    double product = (double)v * by;
    return product < 0x1p63 ? (uint64_t)(product + 0.5) : UINT64_C(1) << 63;
}

/* An object of n bytes is sampled with probability 1 - exp(-n / rate), so it stands for as many as
 * that is part of one. */
static void scale(const struct reader *r, uint64_t *objects, uint64_t *bytes)
{
    if (r->rate == 0 || !*objects || !*bytes)
        return;
    double size = (double)*bytes / (double)*objects;
    double by = -1 / expm1(-size / r->rate);
    *objects = scaled(*objects, by);
    *bytes = scaled(*bytes, by);
}

/* jemalloc knows what was allocated in all with prof_accum only; else it is what is alive. */
static int add(struct reader *r, uint32_t node, struct counts c)
{
    struct pgk_mib m = {0};
    scale(r, &c.alive, &c.alive_bytes);
    scale(r, &c.all, &c.all_bytes);
    if (!c.all) {
        c.all = c.alive;
        c.all_bytes = c.alive_bytes;
    }
    if (!c.all)
        return 0;
    pgk_mib_set(&m, PGK_MIB_AllocCount, c.all);
    pgk_mib_set(&m, PGK_MIB_TotalSize, c.all_bytes);
    pgk_mib_set(&m, PGK_MIB_ExitCount, c.alive);
    pgk_mib_set(&m, PGK_MIB_ExitSize, c.alive_bytes);
    return pgk_heap_add(r->heap, node, &m, r->text.err);
}

/* jemalloc: a stack, then its counts of all threads, "  t*: ...", and of each. */
static int read_jemalloc(struct reader *r)
{
    uint32_t node = 0;
    for (struct pgk_text_line l; pgk_text_next(&r->text, &l);) {
        struct counts c;
        struct pgk_text_line whole = l;
        if (pgk_text_take(&l, MAPS))
            return 0;
        if (pgk_text_take(&l, "@")) {
            PGK_TRY(read_stack(r, &l, &node));
        } else if (pgk_text_take(&l, "  t*:")) {
            if (!take_counts(&l, &c) || l.at != l.end)
                return pgk_text_reject(&r->text, &whole, "stack", "counts",
                                       "OBJECTS: BYTES [OBJECTS: BYTES]");
            if (node) /* those before the first stack are of all */
                PGK_TRY(add(r, node, c));
        }
    }
    return 0;
}

/* gperftools: "1: 100 [2: 200] @ 0x1 0x2" */
static int read_gperftools(struct reader *r)
{
    for (struct pgk_text_line l; pgk_text_next(&r->text, &l);) {
        struct counts c;
        uint32_t node;
        struct pgk_text_line whole = l;
        if (pgk_text_take(&l, MAPS))
            return 0;
        if (l.at == l.end)
            continue;
        if (!take_counts(&l, &c) || !pgk_text_take(&l, " @"))
            return pgk_text_reject(&r->text, &whole, "stack", "counts",
                                   "OBJECTS: BYTES [OBJECTS: BYTES] @");
        PGK_TRY(read_stack(r, &l, &node));
        PGK_TRY(add(r, node, c));
    }
    return 0;
}

static int read_text(struct reader *r)
{
    struct counts all;
    struct pgk_text_line first = {.off = r->text.src->base_off};
    PGK_TRY(read_map(r));
    r->text.next = r->text.start;
    if (!pgk_text_next(&r->text, &first) || !pgk_text_take(&first, "heap profile:")) {
        PGK_TRY(read_kind(r, &first));
        return read_jemalloc(r);
    }
    struct pgk_text_line whole = first;
    if (!take_counts(&first, &all) || !pgk_text_take(&first, " @ "))
        return pgk_text_reject(&r->text, &whole, "header", "counts",
                               "OBJECTS: BYTES [OBJECTS: BYTES] @");
    PGK_TRY(read_kind(r, &first));
    return read_gperftools(r);
}

bool pgk_allocator_heap_sniff(const uint8_t *bytes, size_t size)
{
    struct pgk_text_line l = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    return size && (pgk_text_take(&l, "heap_v2/") || pgk_text_take(&l, "heap profile:"));
}

int pgk_allocator_heap_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                            const struct pgk_source *src, struct pgk_err *err)
{
    struct reader r = {.heap = h, .text = pgk_text_of(bytes, size, src, HINT, err)};
    int status = read_text(&r);
    pgk_vec_free(&r.mappings);
    pgk_vec_free(&r.frames);
    return status;
}

/* ---- among the formats ---- */

/* The file does not show whether the process continued. */
static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    const struct pgk_heap_read_info found = {
        .origin = {.processes = 1, .interrupted = 1, .dumps = 1}};
    PGK_TRY(pgk_allocator_heap_read(heap, file->bytes, file->size, file->src, err));
    pgk_heap_origin_note(&found, info);
    pgk_heap_add_origin(heap, &found.origin);
    return 0;
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "jeprof, pprof");
}

const struct pgk_format_row pgk_format_allocator_heap = {
    .format = {.name = "heap profile of an allocator",
               .kind = PGK_KIND_HEAP,
               .reads = "heap_v2, heapprofile",
               .writes = "",
               .made_by = "jemalloc 4 and 5, gperftools",
               .page = "allocator-heap.md"},
    .sniff = pgk_allocator_heap_sniff,
    .read_heap = read,
    .holds_origin = true,
    .wants_own_heap = true,
    .readers = readers,
};
