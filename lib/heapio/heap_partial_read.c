/* Reader of partial heap profiles. docs/formats/partial-heap.md */
#include "heap_partial.h"

#include "format_row.h"
#include "hash.h"
#include "over_time_part.h"
#include "type_names.h"

#include <inttypes.h>

/* As in an indexed profile: what is far above what runtimes record is damage, and would make a
 * small file expensive. */
enum { STACK_FRAMES_MAX = 16384 };

/* What is known of a stack. */
struct node {
    uint32_t to;     /* node of the model */
    uint16_t depth;
    bool is_address; /* of addresses; else of functions */
    bool has_context;
};

/* A component of paths. */
struct path {
    uint32_t folder; /* id of the path; 0: none */
    uint32_t string; /* of the model: the whole path, once a function has needed it; else 0 */
    const uint8_t *name;
    size_t name_len;
    uint64_t len; /* of the whole path */
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_cursor c;
    struct pgk_err *err;
    /* By id of the file: what it is in the model. */
    PGK_VEC(uint32_t) strings, modules, functions, frames;
    PGK_VEC(struct node) nodes;
    PGK_VEC(struct path) paths;
    PGK_VEC(char) text; /* scratch */
    uint64_t spelled_bytes; /* of the paths that are strings of the model now */
    PGK_VEC(uint8_t) fields; /* MIB fields, by place in the list */
    PGK_VEC(uint64_t) numbers; /* scratch */
    PGK_VEC(struct pgk_data_place) places;
    struct pgk_data_access data; /* added to the model when all is read */
    struct pgk_data_store data_store;
    struct pgk_over_time over_time; /* this, too */
    struct pgk_heap_origin origin;  /* and this */
};

static const struct {
    const char *name;
    size_t least;
} parts[] = {
#define PGK_PARTIAL_PART(name, least, meaning) {#name, least},
#include "heap_partial.def"
#undef PGK_PARTIAL_PART
};

#define RECORD(part, i) PGK_F("%s, item %" PRIu64, parts[PGK_PARTIAL_##part].name, (uint64_t)(i))

static const char damaged[] =
    "the file is damaged; create it again with pgokit merge --partial";

static int reject(struct reader *r, uint64_t off, const char *record, const char *field,
                  const char *found, const char *expected)
{
    return pgk_cur_reject(&r->c, r->err, PGK_E_CORRUPT, off, .record = record, .field = field,
                          .found = found, .expected = expected,
                          .hint = damaged);
}

/* A number below `end`. */
static int read_below(struct reader *r, uint64_t end, const char *record, const char *field,
                      uint64_t *v)
{
    uint64_t off = pgk_cur_off(&r->c);
    *v = pgk_cur_uleb(&r->c, field);
    PGK_TRY(pgk_cur_check(&r->c, r->err, record));
    return *v < end ? 0
                    : reject(r, off, record, field, PGK_F("%" PRIu64, *v),
                             PGK_F("below %" PRIu64, end));
}

static int read_u32(struct reader *r, const char *record, const char *field, uint32_t *v)
{
    uint64_t wide;
    PGK_TRY(read_below(r, UINT64_C(1) << 32, record, field, &wide));
    *v = (uint32_t)wide;
    return 0;
}

/* The number of items of a part. */
static int begin_part(struct reader *r, enum pgk_partial_part part, uint64_t *n)
{
    *n = pgk_cur_uleb_count(&r->c, parts[part].least, "number of items");
    return pgk_cur_check(&r->c, r->err, parts[part].name);
}

/* Notes what the next id of the file is in the model. */
#define NOTE(r, list, id)                                          \
    do {                                                           \
        uint32_t note_id = (id);                                   \
        if (note_id == PGK_INDEX_NONE || !pgk_vec_push(list, note_id)) \
            return pgk_fail_nomem((r)->err);                       \
    } while (0)

static int read_fields(struct reader *r)
{
    uint64_t n, tag, met = 0, start = pgk_cur_off(&r->c);
    PGK_TRY(begin_part(r, PGK_PARTIAL_fields, &n));
    if (n > PGK_MIB_FIELDS)
        return reject(r, start, "fields", "number of items", PGK_F("%" PRIu64, n),
                      PGK_F("at most %d", PGK_MIB_FIELDS));
    for (uint64_t i = 0; i < n; i++) {
        enum pgk_mib_id id;
        uint64_t off = pgk_cur_off(&r->c);
        tag = pgk_cur_uleb(&r->c, "tag");
        PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(fields, i)));
        if (!pgk_mib_by_tag(tag, &id))
            return pgk_cur_reject(&r->c, r->err, PGK_E_VERSION, off, .record = RECORD(fields, i),
                                  .field = "tag", .found = PGK_F("%" PRIu64, tag),
                                  .expected = "the tag of a field that this pgokit knows",
                                  .hint = "the file is newer than this pgokit");
        if (met >> id & 1)
            return reject(r, off, RECORD(fields, i), "tag", PGK_F("%" PRIu64, tag),
                          "each field once");
        met |= UINT64_C(1) << id;
        if (!pgk_vec_push(&r->fields, (uint8_t)id))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_strings(struct reader *r)
{
    uint64_t n;
    PGK_TRY(begin_part(r, PGK_PARTIAL_strings, &n));
    NOTE(r, &r->strings, 0);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t len = pgk_cur_uleb_count(&r->c, 1, "length");
        const uint8_t *bytes = pgk_cur_take(&r->c, len, "bytes");
        PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(strings, i)));
        NOTE(r, &r->strings, pgk_intern(&r->heap->strings, (const char *)bytes, len));
    }
    return 0;
}

static int read_path_node(struct reader *r, uint64_t i)
{
    uint64_t distance;
    struct path p = {0};
    PGK_TRY(read_below(r, r->paths.n, RECORD(paths, i), "distance", &distance));
    p.name_len = pgk_cur_uleb_count(&r->c, 1, "length");
    p.name = pgk_cur_take(&r->c, p.name_len, "component");
    PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(paths, i)));
    p.folder = distance ? (uint32_t)(r->paths.n - distance) : 0;
    p.len = p.name_len + (p.folder ? r->paths.v[p.folder].len + 1 : 0);
    return pgk_vec_push(&r->paths, p) ? 0 : pgk_fail_nomem(r->err);
}

static int read_paths(struct reader *r)
{
    uint64_t n;
    PGK_TRY(begin_part(r, PGK_PARTIAL_paths, &n));
    if (!pgk_vec_push(&r->paths, (struct path){0}))
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < n; i++)
        PGK_TRY(read_path_node(r, i));
    return 0;
}

/* A path that something refers to, as a string of the model. Components of components could make
 * all paths together far larger than the file. */
static int spell_path(struct reader *r, uint64_t off, const char *record, uint32_t id)
{
    enum { SPELLED_BYTES = 64 << 20, SPELLED_GROWTH = 64 };
    struct path *p = &r->paths.v[id];
    const uint64_t max = (uint64_t)(r->c.end - r->c.start) * SPELLED_GROWTH + SPELLED_BYTES;
    r->spelled_bytes += p->len;
    if (r->spelled_bytes > max)
        return reject(r, off, record, "file", "paths that are much longer than the file",
                      PGK_F("%" PRIu64 " bytes in all", max));
    r->text.n = 0;
    if (!pgk_vec_reserve(&r->text, p->len + 1))
        return pgk_fail_nomem(r->err);
    char *end = r->text.v + p->len;
    for (uint32_t i = id; i; i = r->paths.v[i].folder) {
        end -= r->paths.v[i].name_len;
        memcpy(end, r->paths.v[i].name, r->paths.v[i].name_len);
        if (r->paths.v[i].folder)
            *--end = '/';
    }
    p->string = pgk_intern(&r->heap->strings, r->text.v, p->len);
    return p->string == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

/* The string of the model that a path is; 0: none. */
static int read_file(struct reader *r, const char *record, uint32_t *string)
{
    uint64_t off = pgk_cur_off(&r->c), id;
    PGK_TRY(read_below(r, r->paths.n, record, "file", &id));
    if (id && !r->paths.v[id].string)
        PGK_TRY(spell_path(r, off, record, (uint32_t)id));
    *string = r->paths.v[id].string;
    return 0;
}

static int read_modules(struct reader *r)
{
    uint64_t n, id, name, by_file_off;
    PGK_TRY(begin_part(r, PGK_PARTIAL_modules, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_below(r, r->strings.n, RECORD(modules, i), "build id", &id));
        PGK_TRY(read_below(r, 2, RECORD(modules, i), "kind of addresses", &by_file_off));
        struct pgk_heap_module m = {.build_id = r->strings.v[id], .by_file_off = by_file_off};
        m.text_size = pgk_cur_uleb(&r->c, "text size");
        m.text_off = pgk_cur_uleb(&r->c, "text offset");
        PGK_TRY(read_below(r, r->strings.n, RECORD(modules, i), "name", &name));
        m.name = r->strings.v[name];
        uint64_t fixed = pgk_cur_uleb(&r->c, "fixed"), bias = pgk_cur_uleb(&r->c, "bias");
        PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(modules, i)));
        m.fixed = fixed;
        m.bias = bias;
        NOTE(r, &r->modules, pgk_heap_module(r->heap, &m));
    }
    return 0;
}

static int read_texts(struct reader *r)
{
    uint64_t n, module;
    PGK_TRY(begin_part(r, PGK_PARTIAL_texts, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_below(r, r->modules.n, RECORD(texts, i), "module", &module));
        uint64_t at = pgk_cur_uleb(&r->c, "address"), size = pgk_cur_uleb(&r->c, "size");
        PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(texts, i)));
        if (!pgk_heap_note_text(r->heap, r->modules.v[module], at, size))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_runs(struct reader *r)
{
    uint64_t n, profile, module;
    PGK_TRY(begin_part(r, PGK_PARTIAL_runs, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_below(r, r->strings.n, RECORD(runs, i), "profile", &profile));
        PGK_TRY(read_below(r, r->modules.n, RECORD(runs, i), "module", &module));
        if (!pgk_heap_note_loaded(r->heap,
                                  pgk_intern_str(&r->heap->strings, r->strings.v[profile]),
                                  r->modules.v[module]))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_functions(struct reader *r)
{
    uint64_t n, name;
    uint32_t file, line = 0;
    PGK_TRY(begin_part(r, PGK_PARTIAL_functions, &n));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t guid = pgk_cur_u64(&r->c, "GUID");
        PGK_TRY(read_below(r, r->strings.n, RECORD(functions, i), "name", &name));
        PGK_TRY(read_file(r, RECORD(functions, i), &file));
        PGK_TRY(read_u32(r, RECORD(functions, i), "line", &line));
        NOTE(r, &r->functions, pgk_heap_func(r->heap, guid, r->strings.v[name], file, line));
    }
    return 0;
}

static int read_address(struct reader *r, uint64_t i)
{
    uint64_t module;
    PGK_TRY(read_below(r, r->modules.n + 1, RECORD(frames, i), "module", &module));
    uint64_t address = pgk_cur_uleb(&r->c, "address");
    PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(frames, i)));
    NOTE(r, &r->frames,
         pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS,
                        module ? r->modules.v[module - 1] : PGK_INDEX_NONE, address));
    return 0;
}

/* `before`: the function of the frame of this kind before. */
static int read_place(struct reader *r, uint64_t i, enum pgk_frame_kind kind, uint64_t *before)
{
    uint64_t more, discriminator;
    uint32_t line, column;
    PGK_TRY(read_below(r, r->functions.n - *before, RECORD(frames, i), "function", &more));
    PGK_TRY(read_u32(r, RECORD(frames, i), "line", &line));
    PGK_TRY(read_u32(r, RECORD(frames, i), "column", &column));
    PGK_TRY(read_below(r, (uint64_t)PGK_DISCRIMINATOR_MAX + 1, RECORD(frames, i), "discriminator",
                       &discriminator));
    *before += more;
    uint32_t frame = pgk_heap_frame(r->heap, kind, r->functions.v[*before],
                                    pgk_frame_place(pgk_partial_line_offset(line), column));
    NOTE(r, &r->frames, frame);
    if (discriminator) /* 0: never met with one */
        pgk_heap_note_discriminator(r->heap, frame, (uint32_t)discriminator - 1);
    return 0;
}

static int read_frames(struct reader *r)
{
    uint64_t n, kind, before[PGK_FRAME_INLINED + 1] = {0};
    PGK_TRY(begin_part(r, PGK_PARTIAL_frames, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_below(r, PGK_COUNTOF(before), RECORD(frames, i), "kind", &kind));
        if (kind == PGK_FRAME_ADDRESS)
            PGK_TRY(read_address(r, i));
        else
            PGK_TRY(read_place(r, i, (enum pgk_frame_kind)kind, &before[kind]));
    }
    return 0;
}

static int read_node(struct reader *r, uint64_t i)
{
    uint64_t off = pgk_cur_off(&r->c), distance, frame;
    PGK_TRY(read_below(r, r->nodes.n + 1, RECORD(nodes, i), "distance", &distance));
    PGK_TRY(read_below(r, r->frames.n, RECORD(nodes, i), "frame", &frame));
    if (!distance)
        return reject(r, off, RECORD(nodes, i), "distance", "0", "at least 1");
    const struct node *caller = &r->nodes.v[r->nodes.n - distance];
    const struct pgk_frame *f = &r->heap->frames.v[r->frames.v[frame]];
    struct node node = {.depth = (uint16_t)(caller->depth + 1),
                        .is_address = f->kind == PGK_FRAME_ADDRESS};
    if (node.depth > STACK_FRAMES_MAX)
        return reject(r, off, RECORD(nodes, i), "distance",
                      PGK_F("a stack of more than %d frames", STACK_FRAMES_MAX), "a shorter one");
    if (caller->depth && caller->is_address != node.is_address)
        return reject(r, off, RECORD(nodes, i), "frame", "addresses and functions in one stack",
                      "one of them");
    node.to = pgk_stack_push(&r->heap->stacks, caller->to, r->frames.v[frame]);
    return node.to != PGK_NODE_NONE && pgk_vec_push(&r->nodes, node) ? 0
                                                                     : pgk_fail_nomem(r->err);
}

static int read_nodes(struct reader *r)
{
    uint64_t n;
    PGK_TRY(begin_part(r, PGK_PARTIAL_nodes, &n));
    if (!pgk_stack_reserve(&r->heap->stacks, r->heap->stacks.nodes.n + n) ||
        !pgk_vec_reserve(&r->nodes, n + 1))
        return pgk_fail_nomem(r->err);
    r->nodes.v[r->nodes.n++] = (struct node){0};
    for (uint64_t i = 0; i < n; i++)
        PGK_TRY(read_node(r, i));
    return 0;
}

/* A stack that is not empty. */
static int read_stack(struct reader *r, const char *record, struct node **node)
{
    uint64_t off = pgk_cur_off(&r->c), id;
    PGK_TRY(read_below(r, r->nodes.n, record, "node", &id));
    *node = &r->nodes.v[id];
    return id ? 0 : reject(r, off, record, "node", "the empty stack", "one frame at least");
}

/* Numbers of one field after how many there are, each of `least` bytes or more. */
static int read_numbers(struct reader *r, const char *record, const char *count, const char *field,
                        size_t least, uint64_t (*read)(struct pgk_cursor *, const char *))
{
    uint64_t n = pgk_cur_uleb_count(&r->c, least, count);
    PGK_TRY(pgk_cur_check(&r->c, r->err, record));
    r->numbers.n = 0;
    if (!pgk_vec_reserve(&r->numbers, n))
        return pgk_fail_nomem(r->err);
    while (n--)
        r->numbers.v[r->numbers.n++] = read(&r->c, field);
    return pgk_cur_check(&r->c, r->err, record);
}

static int read_histogram(struct reader *r, const char *record, struct pgk_mib *m)
{
    PGK_TRY(read_numbers(r, record, "size of the histogram", "histogram", 1, pgk_cur_uleb));
    m->hist = r->numbers.n ? r->numbers.v : NULL;
    m->hist_count = (uint32_t)r->numbers.n;
    return 0;
}

static int read_mib(struct reader *r, const char *record, struct pgk_mib *m)
{
    uint64_t mask;
    PGK_TRY(read_below(r, UINT64_C(1) << r->fields.n, record, "known fields", &mask));
    *m = (struct pgk_mib){0};
    for (size_t i = 0; i < r->fields.n; i++) {
        if (!(mask >> i & 1))
            continue;
        m->known |= UINT64_C(1) << r->fields.v[i];
        m->v[r->fields.v[i]] = pgk_cur_uleb(&r->c, pgk_mib_fields[r->fields.v[i]].name);
    }
    return pgk_cur_check(&r->c, r->err, record);
}

static int read_context(struct reader *r, const char *record)
{
    struct node *node;
    struct pgk_mib mib;
    uint64_t off, flags;
    PGK_TRY(read_stack(r, record, &node));
    off = pgk_cur_off(&r->c);
    PGK_TRY(read_below(r, PGK_PARTIAL_FLAGS_END, record, "flags", &flags));
    const bool owned = flags & PGK_PARTIAL_OWNED_BY_CHAIN;
    if (owned && node->is_address)
        return reject(r, off, record, "flags", "an inline chain of an address",
                      "one of functions");
    PGK_TRY(read_mib(r, record, &mib));
    if (flags & PGK_PARTIAL_HISTOGRAM)
        PGK_TRY(read_histogram(r, record, &mib));
    PGK_TRY(pgk_heap_add(r->heap, node->to, &mib, r->err));
    node->has_context = true;
    if (owned)
        pgk_heap_own_by_chain(r->heap, node->to);
    return 0;
}

static int read_contexts(struct reader *r)
{
    uint64_t n;
    PGK_TRY(begin_part(r, PGK_PARTIAL_contexts, &n));
    for (uint64_t i = 0; i < n; i++)
        PGK_TRY(read_context(r, RECORD(contexts, i)));
    return 0;
}

static int read_site(struct reader *r, const char *record)
{
    uint64_t off = pgk_cur_off(&r->c), kind, func;
    struct node *node;
    PGK_TRY(read_below(r, PGK_SITE_CALL + 1, record, "kind", &kind));
    PGK_TRY(read_below(r, r->functions.n, record, "function", &func));
    PGK_TRY(read_stack(r, record, &node));
    if (node->is_address)
        return reject(r, off, record, "node", "a stack of addresses", "a stack of functions");
    if (kind == PGK_SITE_ALLOC && !node->has_context)
        return reject(r, off, record, "node", "a stack that no context has",
                      "the stack of a context");
    PGK_TRY(read_numbers(r, record, "number of callees", "callee", sizeof(uint64_t), pgk_cur_u64));
    return pgk_heap_add_site(r->heap, (enum pgk_site_kind)kind, r->functions.v[func], node->to,
                             r->numbers.v, r->numbers.n, r->err);
}

static int read_sites(struct reader *r)
{
    uint64_t n;
    PGK_TRY(begin_part(r, PGK_PARTIAL_sites, &n));
    for (uint64_t i = 0; i < n; i++)
        PGK_TRY(read_site(r, RECORD(sites, i)));
    return 0;
}

/* A string that is not empty. */
static int read_name(struct reader *r, const char *record, const char *field, uint32_t *string)
{
    uint64_t off = pgk_cur_off(&r->c), id;
    PGK_TRY(read_below(r, r->strings.n, record, field, &id));
    *string = r->strings.v[id];
    return id ? 0 : reject(r, off, record, field, "the empty string", "a name");
}

static int read_data(struct reader *r)
{
    uint64_t n, symbol;
    PGK_TRY(begin_part(r, PGK_PARTIAL_data, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_below(r, r->strings.n, RECORD(data, i), "symbol", &symbol));
        uint64_t hash = pgk_cur_u64(&r->c, "hash"), count = pgk_cur_uleb(&r->c, "accesses");
        uint64_t places = pgk_cur_uleb_count(&r->c, 2, "number of places");
        PGK_TRY(pgk_cur_check(&r->c, r->err, RECORD(data, i)));
        r->places.n = 0;
        while (places--) {
            struct pgk_data_place p;
            PGK_TRY(read_file(r, RECORD(data, i), &p.file));
            PGK_TRY(read_u32(r, RECORD(data, i), "line", &p.line));
            if (!pgk_vec_push(&r->places, p))
                return pgk_fail_nomem(r->err);
        }
        if (!pgk_data_access_add(&r->data_store, r->strings.v[symbol], hash, count, r->places.v,
                                 r->places.n))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_cold_symbols(struct reader *r)
{
    uint64_t n;
    uint32_t symbol;
    PGK_TRY(begin_part(r, PGK_PARTIAL_cold_symbols, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_name(r, RECORD(cold_symbols, i), "symbol", &symbol));
        if (!pgk_data_access_add_cold_symbol(&r->data_store, symbol))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_cold_literals(struct reader *r)
{
    uint64_t n;
    PGK_TRY(begin_part(r, PGK_PARTIAL_cold_literals, &n));
    for (uint64_t i = 0; i < n; i++)
        if (!pgk_data_access_add_cold_hash(&r->data_store, pgk_cur_u64(&r->c, "hash")))
            return pgk_fail_nomem(r->err);
    return pgk_cur_check(&r->c, r->err, "cold_literals");
}

static int read_times(struct reader *r)
{
    uint64_t n, off = pgk_cur_off(&r->c);
    PGK_TRY(begin_part(r, PGK_PARTIAL_times, &n));
    if (n > 1)
        return reject(r, off, "times", "number of items", PGK_F("%" PRIu64, n), "0 or 1");
    return n ? pgk_over_time_read(&r->c, "times", damaged, &r->over_time, r->err) : 0;
}

static uint32_t stack_of(const void *reader, uint64_t id)
{
    const struct reader *r = reader;
    return id < r->nodes.n && r->nodes.v[id].has_context ? r->nodes.v[id].to : 0;
}

static int read_shares(struct reader *r)
{
    return pgk_over_time_read_shares(&r->c, "shares", damaged, &r->over_time, stack_of, r, r->err);
}

static int read_types(struct reader *r)
{
    uint64_t n;
    uint32_t name;
    PGK_TRY(begin_part(r, PGK_PARTIAL_types, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_name(r, RECORD(types, i), "name", &name));
        if (!pgk_heap_note_type(r->heap, name))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_processes(struct reader *r)
{
    uint64_t n, off = pgk_cur_off(&r->c);
    PGK_TRY(begin_part(r, PGK_PARTIAL_processes, &n));
    if (n > 1)
        return reject(r, off, "processes", "number of items", PGK_F("%" PRIu64, n), "0 or 1");
    return n ? pgk_heap_origin_read(&r->c, "processes", damaged, &r->origin, r->err) : 0;
}

static int read_places(struct reader *r)
{
    uint64_t n, module;
    uint32_t path;
    PGK_TRY(begin_part(r, PGK_PARTIAL_places, &n));
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(read_below(r, r->modules.n, RECORD(places, i), "module", &module));
        PGK_TRY(read_name(r, RECORD(places, i), "path", &path));
        pgk_heap_note_path(r->heap, r->modules.v[module], path);
    }
    return 0;
}

static int read_sampled(struct reader *r)
{
    uint64_t n, off = pgk_cur_off(&r->c);
    PGK_TRY(begin_part(r, PGK_PARTIAL_sampled, &n));
    if (n > 1)
        return reject(r, off, "sampled", "number of items", PGK_F("%" PRIu64, n), "0 or 1");
    return n ? pgk_heap_origin_read_sampled(&r->c, "sampled", damaged, &r->origin, r->err) : 0;
}

/* A string that may be empty. */
static int read_text(struct reader *r, const char *record, const char *field, uint32_t *string)
{
    uint64_t id;
    PGK_TRY(read_below(r, r->strings.n, record, field, &id));
    *string = r->strings.v[id];
    return 0;
}

static int read_recording(struct reader *r)
{
    uint64_t n, off = pgk_cur_off(&r->c);
    struct pgk_recorded now = {0};
    PGK_TRY(begin_part(r, PGK_PARTIAL_recording, &n));
    if (n > 1)
        return reject(r, off, "recording", "number of items", PGK_F("%" PRIu64, n), "0 or 1");
    if (!n)
        return 0;
    PGK_TRY(read_text(r, "recording", "program", &now.program));
    PGK_TRY(read_text(r, "recording", "host", &now.host));
    PGK_TRY(read_text(r, "recording", "command line", &now.command_line));
    now.start_time = pgk_cur_uleb(&r->c, "start time");
    PGK_TRY(pgk_cur_check(&r->c, r->err, "recording"));
    return pgk_recorded_merge(&r->heap->recorded, &r->heap->strings, &now, &r->heap->strings)
               ? 0
               : pgk_fail_nomem(r->err);
}

static int read_header(struct reader *r)
{
    uint64_t start = pgk_cur_off(&r->c), size = pgk_cur_left(&r->c);
    uint64_t magic = pgk_cur_u64(&r->c, "magic"), version = pgk_cur_u64(&r->c, "version"),
             total = pgk_cur_u64(&r->c, "size of the file");
    PGK_TRY(pgk_cur_check(&r->c, r->err, "header"));
    if (magic != PGK_HEAP_PARTIAL_MAGIC)
        return pgk_cur_reject(&r->c, r->err, PGK_E_FORMAT, start, .record = "header",
                              .field = "magic", .found = PGK_F("0x%016" PRIx64, magic),
                              .expected = PGK_F("0x%016" PRIx64, PGK_HEAP_PARTIAL_MAGIC),
                              .hint = "this is not a partial heap profile");
    if (!version || version > PGK_HEAP_PARTIAL_VERSION)
        return pgk_cur_reject(&r->c, r->err, PGK_E_VERSION, start + 8, .record = "header",
                              .field = "version", .found = PGK_F("%" PRIu64, version),
                              .expected = PGK_F("%d", PGK_HEAP_PARTIAL_VERSION),
                              .hint = "the file is newer than this pgokit: read it with the pgokit "
                                      "that made it");
    r->c.src.version = (uint32_t)version;
    if (total != size)
        return pgk_cur_reject(&r->c, r->err, total > size ? PGK_E_TRUNCATED : PGK_E_CORRUPT,
                              start + 16, .record = "header", .field = "size of the file",
                              .found = PGK_F("%" PRIu64 " bytes", total),
                              .expected = PGK_F("%" PRIu64 " bytes, as there are", size),
                              .hint = "the file is cut short or damaged; copy it again");
    return 0;
}

static int read_all(struct reader *r)
{
    PGK_TRY(read_header(r));
#define PGK_PARTIAL_PART(name, least, meaning) PGK_TRY(read_##name(r));
#define PGK_PARTIAL_MORE(name, least, meaning) \
    if (pgk_cur_left(&r->c))                   \
        PGK_TRY(read_##name(r));
#include "heap_partial.def"
#undef PGK_PARTIAL_PART
    if (pgk_cur_left(&r->c))
        return reject(r, pgk_cur_off(&r->c), "last part", "end",
                      PGK_F("%zu more byte%s", pgk_cur_left(&r->c),
                            pgk_plural(pgk_cur_left(&r->c))), "the end of the file");
    struct pgk_data_store into = pgk_heap_data_store(r->heap);
    pgk_heap_add_origin(r->heap, &r->origin);
    return pgk_data_access_merge(&into, &r->data, &r->heap->strings) &&
                   pgk_over_time_merge(&r->heap->over_time, &r->over_time, NULL)
               ? 0
               : pgk_fail_nomem(r->err);
}

int pgk_heap_partial_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                          const struct pgk_source *src, struct pgk_heap_read_info *info,
                          struct pgk_err *err)
{
    struct reader r = {.heap = h, .err = err};
    r.data_store = (struct pgk_data_store){&r.data, &h->strings, &h->arena};
    pgk_cur_init(&r.c, bytes, size, src);
    int status = read_all(&r);
    pgk_vec_free(&r.strings);
    pgk_vec_free(&r.modules);
    pgk_vec_free(&r.functions);
    pgk_vec_free(&r.frames);
    pgk_vec_free(&r.nodes);
    pgk_vec_free(&r.paths);
    pgk_vec_free(&r.text);
    pgk_vec_free(&r.fields);
    pgk_vec_free(&r.numbers);
    pgk_vec_free(&r.places);
    pgk_data_access_free(&r.data);
    pgk_over_time_free(&r.over_time);
    if (info)
        *info = (struct pgk_heap_read_info){.version = r.c.src.version, .origin = r.origin};
    return status;
}

/* ---- among the formats ---- */

static bool sniff(const uint8_t *bytes, size_t size)
{
    return pgk_starts_with_u64(bytes, size, PGK_HEAP_PARTIAL_MAGIC);
}

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_heap_read_info found;
    PGK_TRY(pgk_heap_partial_read(heap, file->bytes, file->size, file->src, &found, err));
    pgk_heap_origin_note(&found, info);
    info->facts[PGK_FACT_SHARD] = true;
    return 0;
}

static int write(const struct pgk_heap *heap, const char *path,
                 const struct pgk_heap_target *target, struct pgk_err *err)
{
    (void)target;
    return pgk_heap_write_partial(heap, path, err);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "pgokit");
}

const struct pgk_format_row pgk_format_heap_partial = {
    .format = {.name = "partial heap profile",
               .kind = PGK_KIND_HEAP,
               .reads = PGK_VERSION_TEXT(PGK_HEAP_PARTIAL_VERSION),
               .writes = PGK_VERSION_TEXT(PGK_HEAP_PARTIAL_VERSION),
               .made_by = "pgokit merge --partial",
               .page = "partial-heap.md",
               .read = {PGK_HEAP_PARTIAL_VERSION, PGK_HEAP_PARTIAL_VERSION},
               .write = {PGK_HEAP_PARTIAL_VERSION, PGK_HEAP_PARTIAL_VERSION}},
    .sniff = sniff,
    .read_heap = read,
    .holds_origin = true,
    .wants_own_heap = true,
    .write_heap = write,
    .form = PGK_HEAP_PARTIAL,
    .describe = pgk_heap_origin_describe,
    .readers = readers,
};
