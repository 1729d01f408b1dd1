/* Reader of heap profiles with source positions. docs/formats/heap-paths.md */
#include "heap_paths.h"

#include "format_row.h"
#include "over_time_part.h"
#include "type_names.h"

#include <inttypes.h>

/* Runtimes record 256 frames at most, each with its inline chain; what is far above that is
 * damage, and would make a small file expensive. */
enum { STACK_FRAMES_MAX = 16384 };

struct path_node {
    uint32_t parent, name;
    uint32_t len; /* of the path up to here */
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_cursor file;
    struct pgk_err *err;
    const char *record; /* names the section in messages */
    PGK_VEC(uint32_t) strings, paths, funcs, frames, nodes; /* ids of the model */
    PGK_VEC(uint32_t) depth;                                /* by node */
    PGK_VEC(struct path_node) tree;
    uint64_t spelled_bytes;
    PGK_VEC(char) text;
    PGK_VEC(uint64_t) numbers;
    PGK_VEC(struct pgk_data_place) places;
};

static const char damaged[] = "the profile is damaged; convert it again";

static int reject(const struct reader *r, const struct pgk_cursor *c, uint64_t off,
                  const char *field, const char *found, const char *expected)
{
    return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, off, .record = r->record, .field = field,
                          .found = found, .expected = expected,
                          .hint = damaged);
}

/* A number below `end`. */
static int read_wide(struct reader *r, struct pgk_cursor *c, const char *field, uint64_t end,
                     uint64_t *value)
{
    uint64_t off = pgk_cur_off(c);
    *value = pgk_cur_uleb(c, field);
    PGK_TRY(pgk_cur_check(c, r->err, r->record));
    return *value < end ? 0
                        : reject(r, c, off, field, PGK_F("%" PRIu64, *value),
                                 PGK_F("below %" PRIu64, end));
}

static int read_below(struct reader *r, struct pgk_cursor *c, const char *field, uint64_t end,
                      uint32_t *value)
{
    uint64_t wide;
    PGK_TRY(read_wide(r, c, field, end, &wide));
    *value = (uint32_t)wide;
    return 0;
}

/* How many items of at least `size` bytes follow. */
static int read_count(struct reader *r, struct pgk_cursor *c, size_t size, uint64_t *count)
{
    uint64_t off = pgk_cur_off(c);
    *count = pgk_cur_uleb(c, "count");
    PGK_TRY(pgk_cur_check(c, r->err, r->record));
    if (*count <= pgk_cur_left(c) / size)
        return 0;
    return reject(r, c, off, "count", PGK_F("%" PRIu64, *count),
                  PGK_F("at most %" PRIu64 " in the bytes left", pgk_cur_left(c) / size));
}

static int read_strings(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    PGK_TRY(read_count(r, c, 1, &n));
    if (!pgk_vec_push(&r->strings, 0))
        return pgk_fail_nomem(r->err);
    while (n--) {
        uint64_t off = pgk_cur_off(c), len = pgk_cur_uleb(c, "length");
        const uint8_t *text = pgk_cur_take(c, len, "string");
        PGK_TRY(pgk_cur_check(c, r->err, r->record));
        if (memchr(text, 0, len))
            return reject(r, c, off, "string", "a zero byte", "text");
        uint32_t id = pgk_intern(&r->heap->strings, (const char *)text, len);
        if (id == PGK_INDEX_NONE || !pgk_vec_push(&r->strings, id))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

enum { PATH_MAX_BYTES = 4096, SPELLED_GROWTH_MAX = 16 };

/* Spells out the path of a node. All paths together may not be out of proportion to the file. */
static int spell_path(struct reader *r, const struct pgk_cursor *c, uint32_t node, uint32_t *id)
{
    uint32_t len = r->tree.v[node].len;
    uint64_t max = (uint64_t)(r->file.end - r->file.start) * SPELLED_GROWTH_MAX;
    r->spelled_bytes += len;
    if (r->spelled_bytes > max)
        return reject(r, c, pgk_cur_off(c), "path", "paths that are much longer than the file",
                      PGK_F("%" PRIu64 " bytes in all", max));
    r->text.n = 0;
    if (!pgk_vec_reserve(&r->text, len + 1))
        return pgk_fail_nomem(r->err);
    char *end = r->text.v + len;
    for (uint32_t i = node; i; i = r->tree.v[i].parent) {
        size_t part = pgk_intern_len(&r->heap->strings, r->tree.v[i].name);
        end -= part;
        memcpy(end, pgk_intern_str(&r->heap->strings, r->tree.v[i].name), part);
        if (r->tree.v[i].parent)
            *--end = '/';
    }
    *id = pgk_intern(&r->heap->strings, r->text.v, len);
    return *id == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

/* Paths are spelled out when a function needs them. */
static int read_paths(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    PGK_TRY(read_count(r, c, 2, &n));
    if (!pgk_vec_reserve(&r->tree, n + 1) || !pgk_vec_reserve(&r->paths, n + 1))
        return pgk_fail_nomem(r->err);
    memset(r->tree.v, 0, (n + 1) * sizeof *r->tree.v);
    memset(r->paths.v, 0, (n + 1) * sizeof *r->paths.v);
    r->tree.n = r->paths.n = n + 1;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t up, name;
        uint64_t off = pgk_cur_off(c);
        PGK_TRY(read_below(r, c, "folder", i, &up));
        PGK_TRY(read_below(r, c, "component", r->strings.n, &name));
        r->tree.v[i].parent = up ? i - up : 0;
        r->tree.v[i].name = r->strings.v[name];
        size_t len = pgk_intern_len(&r->heap->strings, r->strings.v[name]) +
                     (up ? r->tree.v[i - up].len + 1 : 0);
        if (len > PATH_MAX_BYTES)
            return reject(r, c, off, "component", PGK_F("a path of %zu bytes", len),
                          PGK_F("at most %d", PATH_MAX_BYTES));
        r->tree.v[i].len = (uint32_t)len;
    }
    return 0;
}

static int read_functions(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    PGK_TRY(read_count(r, c, 11, &n));
    while (n--) {
        uint32_t name, path, line;
        uint64_t guid = pgk_cur_u64(c, "GUID");
        PGK_TRY(read_below(r, c, "name", r->strings.n, &name));
        PGK_TRY(read_below(r, c, "path", r->tree.n, &path));
        PGK_TRY(read_below(r, c, "line", UINT64_C(1) << 32, &line));
        if (path && !r->paths.v[path])
            PGK_TRY(spell_path(r, c, path, &r->paths.v[path]));
        uint32_t func = pgk_heap_func(r->heap, guid, r->strings.v[name], r->paths.v[path], line);
        if (func == PGK_INDEX_NONE || !pgk_vec_push(&r->funcs, func))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_frames(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    uint32_t func = 0;
    PGK_TRY(read_count(r, c, 5, &n));
    while (n--) {
        uint32_t more, line, column, discriminator;
        PGK_TRY(read_below(r, c, "function", r->funcs.n - func, &more));
        PGK_TRY(read_below(r, c, "line offset", UINT64_C(1) << 32, &line));
        PGK_TRY(read_below(r, c, "column", UINT64_C(1) << 32, &column));
        PGK_TRY(read_below(r, c, "discriminator", PGK_DISCRIMINATOR_MAX, &discriminator));
        uint8_t flags = pgk_cur_u8(c, "flags");
        PGK_TRY(pgk_cur_check(c, r->err, r->record));
        func += more;
        line = line >> 1 ^ (uint32_t)-(line & 1);
        uint32_t frame = pgk_heap_frame(
            r->heap, flags & PGK_PATHS_INLINED ? PGK_FRAME_INLINED : PGK_FRAME_CALLER,
            r->funcs.v[func], pgk_frame_place(line, column));
        if (frame == PGK_INDEX_NONE || !pgk_vec_push(&r->frames, frame))
            return pgk_fail_nomem(r->err);
        pgk_heap_note_discriminator(r->heap, frame, discriminator);
    }
    return 0;
}

static int read_stacks(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    PGK_TRY(read_count(r, c, 2, &n));
    if (!pgk_vec_push(&r->nodes, 0) || !pgk_vec_push(&r->depth, 0))
        return pgk_fail_nomem(r->err);
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t up, frame;
        uint64_t off = pgk_cur_off(c);
        PGK_TRY(read_below(r, c, "caller", (uint64_t)i + 1, &up));
        PGK_TRY(read_below(r, c, "frame", r->frames.n, &frame));
        uint32_t parent = i - up, depth = parent < i ? r->depth.v[parent] + 1 : UINT32_MAX;
        if (depth > STACK_FRAMES_MAX)
            return reject(r, c, off, "caller",
                          up ? PGK_F("a stack of %u frames", depth) : "the node itself",
                          PGK_F("an earlier node, and at most %d frames", STACK_FRAMES_MAX));
        uint32_t node = pgk_stack_push(&r->heap->stacks, r->nodes.v[parent], r->frames.v[frame]);
        if (node == PGK_NODE_NONE || !pgk_vec_push(&r->nodes, node) ||
            !pgk_vec_push(&r->depth, depth))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_numbers(struct reader *r, struct pgk_cursor *c, uint64_t n, const char *field)
{
    r->numbers.n = 0;
    if (!pgk_vec_reserve(&r->numbers, n))
        return pgk_fail_nomem(r->err);
    while (n--)
        r->numbers.v[r->numbers.n++] = pgk_cur_uleb(c, field);
    return pgk_cur_check(c, r->err, r->record);
}

static int read_mib(struct reader *r, struct pgk_cursor *c, uint8_t flags, struct pgk_mib *m)
{
    uint64_t off = pgk_cur_off(c);
    m->known = pgk_cur_uleb(c, "known fields");
    PGK_TRY(pgk_cur_check(c, r->err, r->record));
    if (m->known >> PGK_MIB_FIELDS)
        return pgk_cur_reject(c, r->err, PGK_E_VERSION, off, .record = r->record,
                              .field = "known fields", .found = PGK_F("%#" PRIx64, m->known),
                              .expected = PGK_F("the %d fields that this pgokit knows",
                                                PGK_MIB_FIELDS),
                              .hint = "the file is newer than this pgokit");
    m->known &= ~(UINT64_C(1) << PGK_MIB_AccessHistogram);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (m->known >> id & 1)
            m->v[id] = pgk_cur_uleb(c, pgk_mib_fields[id].name);
    if (flags & PGK_PATHS_HISTOGRAM) {
        uint64_t n;
        PGK_TRY(read_count(r, c, 1, &n));
        PGK_TRY(read_numbers(r, c, n, "AccessHistogram"));
        m->hist = r->numbers.v;
        m->hist_count = (uint32_t)n;
    }
    return pgk_cur_check(c, r->err, r->record);
}

static int read_contexts(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    PGK_TRY(read_count(r, c, 3, &n));
    while (n--) {
        uint32_t node;
        struct pgk_mib m = {0};
        uint64_t off = pgk_cur_off(c);
        PGK_TRY(read_below(r, c, "stack", r->nodes.n, &node));
        uint8_t flags = pgk_cur_u8(c, "flags");
        PGK_TRY(read_mib(r, c, flags, &m));
        uint32_t stack = r->nodes.v[node];
        if (!stack || pgk_heap_context_at(r->heap, stack) != PGK_INDEX_NONE)
            return reject(r, c, off, "stack", stack ? "a stack that has its context" : "no frame",
                          "each stack once");
        PGK_TRY(pgk_heap_add(r->heap, stack, &m, r->err));
        if (flags & PGK_PATHS_OWNED_BY_CHAIN)
            pgk_heap_own_by_chain(r->heap, stack);
    }
    return 0;
}

static int read_sites(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    PGK_TRY(read_count(r, c, 4, &n));
    while (n--) {
        uint32_t func, node;
        uint64_t off = pgk_cur_off(c), callees;
        uint8_t kind = pgk_cur_u8(c, "kind");
        PGK_TRY(read_below(r, c, "function", r->funcs.n, &func));
        PGK_TRY(read_below(r, c, "stack", r->nodes.n, &node));
        PGK_TRY(read_count(r, c, sizeof(uint64_t), &callees));
        uint32_t stack = r->nodes.v[node];
        bool known = kind == PGK_SITE_CALL ||
                     (kind == PGK_SITE_ALLOC &&
                      pgk_heap_context_at(r->heap, stack) != PGK_INDEX_NONE);
        if (!stack || !known)
            return reject(r, c, off, "kind", PGK_F("kind %u, stack %u", kind, node),
                          "a call, or an allocation of a context");
        r->numbers.n = 0;
        if (!pgk_vec_reserve(&r->numbers, callees))
            return pgk_fail_nomem(r->err);
        while (callees--)
            r->numbers.v[r->numbers.n++] = pgk_cur_u64(c, "callee");
        PGK_TRY(pgk_heap_add_site(r->heap, (enum pgk_site_kind)kind, r->funcs.v[func], stack,
                                  r->numbers.v, r->numbers.n, r->err));
    }
    return 0;
}

/* A string that is a name, as an id of the model. */
static int read_name(struct reader *r, struct pgk_cursor *c, const char *field, uint32_t *id)
{
    uint64_t off = pgk_cur_off(c);
    uint32_t string;
    PGK_TRY(read_below(r, c, field, r->strings.n, &string));
    *id = r->strings.v[string];
    return *id ? 0 : reject(r, c, off, field, "the empty string", "a name");
}

/* Adds the data access profile to `to`, whose strings are the model's. */
static int read_data_into(struct reader *r, struct pgk_cursor *c, struct pgk_data_store *to)
{
    uint64_t n, places;
    uint32_t string;
    PGK_TRY(read_count(r, c, 11, &n));
    while (n--) {
        PGK_TRY(read_below(r, c, "symbol", r->strings.n, &string));
        uint32_t symbol = r->strings.v[string];
        uint64_t hash = pgk_cur_u64(c, "hash"), count = pgk_cur_uleb(c, "accesses");
        PGK_TRY(read_count(r, c, 2, &places));
        r->places.n = 0;
        while (places--) {
            struct pgk_data_place p;
            PGK_TRY(read_name(r, c, "file", &p.file));
            PGK_TRY(read_below(r, c, "line", UINT64_C(1) << 32, &p.line));
            if (!pgk_vec_push(&r->places, p))
                return pgk_fail_nomem(r->err);
        }
        if (!pgk_data_access_add(to, symbol, hash, count, r->places.v, r->places.n))
            return pgk_fail_nomem(r->err);
    }
    PGK_TRY(read_count(r, c, 1, &n));
    while (n--) {
        PGK_TRY(read_name(r, c, "cold symbol", &string));
        if (!pgk_data_access_add_cold_symbol(to, string))
            return pgk_fail_nomem(r->err);
    }
    PGK_TRY(read_count(r, c, sizeof(uint64_t), &n));
    while (n--)
        if (!pgk_data_access_add_cold_hash(to, pgk_cur_u64(c, "cold literal")))
            return pgk_fail_nomem(r->err);
    return 0;
}

static int read_data(struct reader *r, struct pgk_cursor *c)
{
    struct pgk_data_store to = pgk_heap_data_store(r->heap);
    PGK_TRY(read_data_into(r, c, &to));
    pgk_data_access_sort(&to);
    return 0;
}

static int read_times(struct reader *r, struct pgk_cursor *c)
{
    return pgk_over_time_read(c, r->record, damaged, &r->heap->over_time, r->err);
}

static uint32_t stack_of(const void *reader, uint64_t node)
{
    const struct reader *r = reader;
    const uint32_t stack = node < r->nodes.n ? r->nodes.v[node] : 0;
    return pgk_heap_context_at(r->heap, stack) != PGK_INDEX_NONE ? stack : 0;
}

static int read_shares(struct reader *r, struct pgk_cursor *c)
{
    return pgk_over_time_read_shares(c, r->record, damaged, &r->heap->over_time, stack_of, r,
                                     r->err);
}

static int read_types(struct reader *r, struct pgk_cursor *c)
{
    uint64_t n;
    uint32_t name;
    PGK_TRY(read_count(r, c, 1, &n));
    while (n--) {
        PGK_TRY(read_name(r, c, "type", &name));
        if (!pgk_heap_note_type(r->heap, name))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_processes(struct reader *r, struct pgk_cursor *c)
{
    return pgk_heap_origin_read(c, r->record, damaged, &r->heap->origin, r->err);
}

static const struct {
    const char *name;
    int (*read)(struct reader *r, struct pgk_cursor *c);
    bool may_be_missing;
} sections[PGK_PATHS_SECTIONS_END] = {
    [PGK_PATHS_STRINGS] = {"strings", read_strings},
    [PGK_PATHS_PATHS] = {"paths", read_paths},
    [PGK_PATHS_FUNCTIONS] = {"functions", read_functions},
    [PGK_PATHS_FRAMES] = {"frames", read_frames},
    [PGK_PATHS_STACKS] = {"stacks", read_stacks},
    [PGK_PATHS_CONTEXTS] = {"contexts", read_contexts},
    [PGK_PATHS_SITES] = {"sites", read_sites},
    [PGK_PATHS_DATA] = {"data access profile", read_data, true},
    [PGK_PATHS_TIMES] = {"times", read_times, true},
    [PGK_PATHS_SHARES] = {"shares", read_shares, true},
    [PGK_PATHS_TYPES] = {"types", read_types, true},
    [PGK_PATHS_PROCESSES] = {"processes", read_processes, true},
};

/* Sections that are not known are passed over: they come after those that are. */
static int find_sections(struct reader *r, struct pgk_cursor found[PGK_PATHS_SECTIONS_END],
                         uint32_t *version)
{
    struct pgk_cursor c = r->file;
    r->record = "header";
    uint64_t magic = pgk_cur_u64(&c, "magic");
    uint32_t v = pgk_cur_u32(&c, "version"), n = pgk_cur_u32(&c, "number of sections");
    PGK_TRY(pgk_cur_check(&c, r->err, r->record));
    if (magic != PGK_HEAP_PATHS_MAGIC)
        return reject(r, &c, c.src.base_off, "magic", PGK_F("0x%016" PRIx64, magic),
                      PGK_F("0x%016" PRIx64, PGK_HEAP_PATHS_MAGIC));
    if (!v || v > PGK_HEAP_PATHS_VERSION)
        return pgk_cur_reject(&c, r->err, PGK_E_VERSION, c.src.base_off + 8, .record = r->record,
                              .field = "version", .found = PGK_F("%u", v),
                              .expected = PGK_F("1 to %d", PGK_HEAP_PATHS_VERSION),
                              .hint = "a newer pgokit wrote the profile; use that one");
    r->file.src.version = *version = v;
    while (n-- && !c.failed) {
        uint64_t kind = pgk_cur_u64(&c, "section"), at = pgk_cur_off(&c),
                 off = pgk_cur_u64(&c, "section offset"), size = pgk_cur_u64(&c, "section size");
        uint64_t whole = (uint64_t)(c.end - c.start);
        if (c.failed || kind >= PGK_PATHS_SECTIONS_END)
            continue;
        if (off > whole || size > whole - off)
            return pgk_cur_reject(&c, r->err, PGK_E_TRUNCATED, at, .record = r->record,
                                  .field = "section offset",
                                  .found = PGK_F("%" PRIu64 " bytes at 0x%" PRIx64, size, off),
                                  .expected = PGK_F("inside of the file's %" PRIu64 " bytes",
                                                    whole),
                                  .hint = "the file is cut short or damaged; convert it again");
        struct pgk_source src = r->file.src;
        src.base_off += off;
        pgk_cur_init(&found[kind], c.start + off, size, &src);
    }
    return pgk_cur_check(&c, r->err, r->record);
}

enum { TELLS_PROCESSES = 4 }; /* the first version that can */

static int read_file(struct reader *r, uint32_t *version)
{
    struct pgk_cursor found[PGK_PATHS_SECTIONS_END] = {0};
    PGK_TRY(find_sections(r, found, version));
    r->heap->origin.untold = *version < TELLS_PROCESSES;
    for (int i = PGK_PATHS_STRINGS; i < PGK_PATHS_SECTIONS_END; i++) {
        if (!found[i].start && sections[i].may_be_missing)
            continue;
        if (!found[i].start)
            return reject(r, &r->file, r->file.src.base_off + 12, "sections",
                          PGK_F("no section %d, %s", i, sections[i].name), "all sections");
        r->record = sections[i].name;
        PGK_TRY(sections[i].read(r, &found[i]));
    }
    return 0;
}

int pgk_heap_paths_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, struct pgk_heap_read_info *info,
                        struct pgk_err *err)
{
    struct reader r = {.err = err};
    uint32_t found = 0;
    pgk_cur_init(&r.file, bytes, size, src);
    /* Into a model of its own: each context is there once, while `h` may have it already. */
    int status = pgk_heap_new(&r.heap, err);
    if (!status)
        status = read_file(&r, &found);
    if (!status)
        status = pgk_heap_merge(h, r.heap, err);
    if (!status && info)
        *info = (struct pgk_heap_read_info){.version = found, .origin = r.heap->origin};
    pgk_heap_close(&r.heap);
    pgk_vec_free(&r.strings);
    pgk_vec_free(&r.paths);
    pgk_vec_free(&r.funcs);
    pgk_vec_free(&r.frames);
    pgk_vec_free(&r.nodes);
    pgk_vec_free(&r.depth);
    pgk_vec_free(&r.tree);
    pgk_vec_free(&r.text);
    pgk_vec_free(&r.numbers);
    pgk_vec_free(&r.places);
    return status;
}

/* ---- among the formats ---- */

static bool sniff(const uint8_t *bytes, size_t size)
{
    return pgk_starts_with_u64(bytes, size, PGK_HEAP_PATHS_MAGIC);
}

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_heap_read_info found;
    PGK_TRY(pgk_heap_paths_read(heap, file->bytes, file->size, file->src, &found, err));
    pgk_heap_origin_note(&found, info);
    return 0;
}

static int write(const struct pgk_heap *heap, const char *path,
                 const struct pgk_heap_target *target, struct pgk_err *err)
{
    (void)target;
    return pgk_heap_write_paths(heap, path, NULL, err);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "no release of LLVM");
}

const struct pgk_format_row pgk_format_heap_paths = {
    .format = {.name = "heap profile of source positions",
               .kind = PGK_KIND_HEAP,
               .reads = "1 to " PGK_VERSION_TEXT(PGK_HEAP_PATHS_VERSION),
               .writes = PGK_VERSION_TEXT(PGK_HEAP_PATHS_VERSION),
               .made_by = "pgokit",
               .page = "heap-paths.md",
               .read = {1, PGK_HEAP_PATHS_VERSION},
               .write = {PGK_HEAP_PATHS_VERSION, PGK_HEAP_PATHS_VERSION}},
    .sniff = sniff,
    .read_heap = read,
    .tells_origin = true,
    .write_heap = write,
    .form = PGK_HEAP_PATHS,
    .describe = pgk_heap_origin_describe,
    .readers = readers,
};
