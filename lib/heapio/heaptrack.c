/* Reader of heaptrack's files. docs/formats/heaptrack.md
 *
 * A file is a log: names and stacks where they are first met, and a line for each allocation and
 * each object that is freed. It is read once for what was alive when, and up to the peak again for
 * what was alive then. */
#include "heaptrack.h"

#include "format_row.h"
#include "function_name.h"
#include "path.h"
#include "salvage.h"
#include "saturate.h"
#include "text_fields.h"

#include <inttypes.h>

enum { VERSION_MIN = 1, VERSION_MAX = 3, VERSION_SIZED_STRINGS = 3 };
/* Stacks far above what is recorded are damage, and would make a small file expensive. */
enum { STACK_FRAMES_MAX = 16384, POINTS_MAX = 1000 };

/* An instruction: its frames in `frames`, the innermost first. */
struct place {
    uint32_t first, n;
};

struct trace {
    uint32_t node, depth; /* of the model's stacks */
};

/* The allocations of one stack in one size. */
struct kind {
    uint64_t size;
    uint32_t node;
    uint64_t allocated, alive, temporary, at_peak; /* objects */
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_text text;
    uint64_t version;
    PGK_VEC(uint32_t) strings; /* ids; numbers in the file begin with 1 */
    PGK_VEC(struct place) places;
    PGK_VEC(uint32_t) frames;
    PGK_VEC(struct trace) traces;
    PGK_VEC(struct kind) kinds;
    PGK_VEC(struct pgk_heap_point) points;
    struct pgk_heap_point now;
    struct pgk_heap_times times;
    uint64_t events, peak_event;
    uint64_t last; /* kind of the last event + 1 if that was an allocation, else 0 */
    bool cut;      /* the events are not those to the end of the process */
};

/* A number after a blank. */
static bool take_number(struct pgk_text_line *l, uint64_t *value)
{
    struct pgk_text_line rest = *l;
    if (!pgk_text_take(&rest, " ") || !pgk_text_number(&rest, 16, value))
        return false;
    *l = rest;
    return true;
}

static int number(const struct reader *r, struct pgk_text_line *l, const char *record,
                  const char *field, uint64_t *value)
{
    return take_number(l, value)
               ? 0
               : pgk_text_reject(&r->text, l, record, field, "a hexadecimal number");
}

/* A number that is below `end`. */
static int below(const struct reader *r, struct pgk_text_line *l, const char *record,
                 const char *field, uint64_t end, uint64_t *value)
{
    PGK_TRY(number(r, l, record, field, value));
    return *value < end ? 0
                        : pgk_text_fail(&r->text, l, PGK_E_CORRUPT, record, field,
                                        PGK_F("%" PRIx64, *value), PGK_F("below %" PRIx64, end));
}

static int at_end(const struct reader *r, const struct pgk_text_line *l, const char *record)
{
    return l->at == l->end && l->whole
               ? 0
               : pgk_text_reject(&r->text, l, record, "end", "the end of the line");
}

static int read_version(struct reader *r, struct pgk_text_line *l)
{
    uint64_t tool;
    PGK_TRY(number(r, l, "header", "version of heaptrack", &tool));
    PGK_TRY(number(r, l, "header", "version of the file", &r->version));
    PGK_TRY(at_end(r, l, "header"));
    if (r->version >= VERSION_MIN && r->version <= VERSION_MAX)
        return 0;
    return pgk_fail(r->text.err, PGK_E_VERSION, .file = r->text.src->file,
                    .format = r->text.src->format, .version = (uint32_t)r->version,
                    .offset = &(uint64_t){l->off}, .record = "header",
                    .field = "version of the file", .found = PGK_F("%" PRIu64, r->version),
                    .expected = PGK_F("%d to %d", VERSION_MIN, VERSION_MAX),
                    .hint = "another release of pgokit may read it");
}

static int read_string(struct reader *r, struct pgk_text_line *l)
{
    uint64_t size;
    if (r->version >= VERSION_SIZED_STRINGS)
        PGK_TRY(number(r, l, "string", "length", &size));
    if (!pgk_text_take(l, " "))
        return pgk_text_reject(&r->text, l, "string", "text", "a blank and the text");
    size_t left = (size_t)(l->end - l->at);
    if (!l->whole || (r->version >= VERSION_SIZED_STRINGS && size != left))
        return pgk_text_fail(&r->text, l, l->whole ? PGK_E_CORRUPT : PGK_E_TRUNCATED, "string",
                             "text", PGK_F("%zu bytes", left), "as many bytes as its length says");
    if (memchr(l->at, 0, left))
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "string", "text", "a zero byte", "text");
    uint32_t id = pgk_intern(&r->heap->strings, l->at, left);
    return id != PGK_INDEX_NONE && pgk_vec_push(&r->strings, id) ? 0 : pgk_fail_nomem(r->text.err);
}

/* A number of a string; 0 is none. */
static int string(const struct reader *r, struct pgk_text_line *l, const char *field, uint32_t *id)
{
    uint64_t at;
    PGK_TRY(below(r, l, "instruction", field, r->strings.n + 1, &at));
    *id = at ? r->strings.v[at - 1] : 0;
    return 0;
}

/* Lines are known, but not the line at which a function begins, so they count from the first one of
 * the file: readers find the line again, and two files of one source have equal frames. */
static int add_frame(struct reader *r, bool inlined, uint32_t name, uint32_t file, uint32_t line)
{
    const char *text = pgk_intern_str(&r->heap->strings, name);
    uint64_t guid = pgk_heap_guid(text, strlen(text));
    uint32_t func = pgk_heap_func(r->heap, guid, name, file, line ? 1 : 0);
    uint32_t frame = func == PGK_INDEX_NONE
                         ? PGK_INDEX_NONE
                         : pgk_heap_frame(r->heap, inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER,
                                          func, pgk_frame_place(line ? line - 1 : 0, 0));
    return frame != PGK_INDEX_NONE && pgk_vec_push(&r->frames, frame) ? 0
                                                                      : pgk_fail_nomem(r->text.err);
}

/* Code without debug information or symbol: "[libz.so.1]". Its address is useless, because the file
 * does not record where the module was loaded. */
static int add_unknown(struct reader *r, uint32_t module)
{
    const char *path = pgk_intern_str(&r->heap->strings, module);
    const char *base = pgk_base_name(*path ? path : "unknown module");
    uint32_t name = pgk_intern_cstr(&r->heap->strings, PGK_F("[%s]", base));
    return name == PGK_INDEX_NONE ? pgk_fail_nomem(r->text.err) : add_frame(r, false, name, 0, 0);
}

/* FILE LINE after the name of a function; a symbol has neither. */
static int read_line_number(const struct reader *r, struct pgk_text_line *l, uint32_t *file,
                            uint64_t *line)
{
    *file = 0;
    *line = 0;
    if (l->at == l->end)
        return 0;
    PGK_TRY(string(r, l, "file", file));
    return below(r, l, "instruction", "line", UINT32_MAX, line);
}

/* i ADDRESS MODULE, and for the function and each one that it is inlined into NAME FILE LINE. */
static int read_place(struct reader *r, struct pgk_text_line *l)
{
    struct place p = {.first = (uint32_t)r->frames.n};
    uint64_t address, line;
    uint32_t module, name, file;
    PGK_TRY(number(r, l, "instruction", "address", &address));
    PGK_TRY(string(r, l, "module", &module));
    while (l->at < l->end) {
        PGK_TRY(string(r, l, "function", &name));
        PGK_TRY(read_line_number(r, l, &file, &line));
        if (!name)
            PGK_TRY(add_unknown(r, module));
        else
            PGK_TRY(add_frame(r, l->at < l->end, name, file, file ? (uint32_t)line : 0));
    }
    PGK_TRY(at_end(r, l, "instruction"));
    if (r->frames.n == p.first)
        PGK_TRY(add_unknown(r, module));
    if (r->frames.n >= PGK_INDEX_NONE)
        return pgk_fail_nomem(r->text.err);
    p.n = (uint32_t)r->frames.n - p.first;
    return pgk_vec_push(&r->places, p) ? 0 : pgk_fail_nomem(r->text.err);
}

/* t INSTRUCTION CALLER: an instruction on top of an earlier stack, or of 0, the empty one. */
static int read_trace(struct reader *r, struct pgk_text_line *l)
{
    uint64_t place, caller;
    struct trace t = {0};
    PGK_TRY(below(r, l, "stack", "instruction", r->places.n + 1, &place));
    PGK_TRY(below(r, l, "stack", "caller", r->traces.n + 1, &caller));
    PGK_TRY(at_end(r, l, "stack"));
    if (!place)
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "stack", "instruction", "0",
                             "an instruction");
    const struct place *p = &r->places.v[place - 1];
    if (caller)
        t = r->traces.v[caller - 1];
    t.depth += p->n;
    if (t.depth > STACK_FRAMES_MAX)
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "stack", "caller",
                             PGK_F("%u frames", t.depth),
                             PGK_F("at most %d frames", STACK_FRAMES_MAX));
    for (uint32_t i = p->n; i-- > 0;) {
        t.node = pgk_stack_push(&r->heap->stacks, t.node, r->frames.v[p->first + i]);
        if (t.node == PGK_NODE_NONE)
            return pgk_fail_nomem(r->text.err);
    }
    return pgk_vec_push(&r->traces, t) ? 0 : pgk_fail_nomem(r->text.err);
}

/* a SIZE STACK */
static int read_kind(struct reader *r, struct pgk_text_line *l)
{
    struct kind k = {0};
    uint64_t trace;
    PGK_TRY(number(r, l, "allocation", "size", &k.size));
    PGK_TRY(below(r, l, "allocation", "stack", r->traces.n + 1, &trace));
    PGK_TRY(at_end(r, l, "allocation"));
    if (!trace)
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "allocation", "stack", "0", "a stack");
    k.node = r->traces.v[trace - 1].node;
    return pgk_vec_push(&r->kinds, k) ? 0 : pgk_fail_nomem(r->text.err);
}

static void note_peak(struct reader *r)
{
    r->times.peak_bytes = r->now.bytes;
    r->times.peak_objects = r->now.objects;
    r->times.peak_ms = r->now.ms;
    r->peak_event = r->events;
}

/* + ALLOCATION: an object of that size and stack. */
static int read_allocated(struct reader *r, struct pgk_text_line *l)
{
    uint64_t at;
    PGK_TRY(below(r, l, "event", "allocation", r->kinds.n, &at));
    PGK_TRY(at_end(r, l, "event"));
    struct kind *k = &r->kinds.v[at];
    struct pgk_heap_point *now = &r->now;
    if (__builtin_add_overflow(now->allocated_bytes, k->size, &now->allocated_bytes))
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "event", "allocation",
                             "more than 2^64 bytes in all", "sizes of objects");
    k->allocated++;
    k->alive++;
    now->allocated_objects++;
    now->bytes += k->size;
    now->objects++;
    r->events++;
    r->last = at + 1;
    if (now->bytes > r->times.peak_bytes)
        note_peak(r);
    return 0;
}

/* - ALLOCATION: one of them is freed, at once if that is what was allocated last. */
static int read_freed(struct reader *r, struct pgk_text_line *l)
{
    uint64_t at;
    PGK_TRY(below(r, l, "event", "allocation", r->kinds.n, &at));
    PGK_TRY(at_end(r, l, "event"));
    struct kind *k = &r->kinds.v[at];
    if (!k->alive)
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "event", "allocation",
                             "an object that is not alive", "one that was allocated before");
    k->alive--;
    k->temporary += r->last == at + 1;
    r->now.bytes -= k->size;
    r->now.objects--;
    r->events++;
    r->last = 0;
    return 0;
}

/* c MS: a point of the curve, but that the times of a curve rise. */
static int read_time(struct reader *r, struct pgk_text_line *l)
{
    uint64_t ms;
    PGK_TRY(number(r, l, "time", "milliseconds", &ms));
    PGK_TRY(at_end(r, l, "time"));
    if (ms < r->now.ms)
        return pgk_text_fail(&r->text, l, PGK_E_CORRUPT, "time", "milliseconds",
                             PGK_F("%" PRIu64, ms),
                             PGK_F("at least %" PRIu64 ", as before", r->now.ms));
    r->now.ms = ms;
    if (r->points.n && r->points.v[r->points.n - 1].ms == ms)
        r->points.n--;
    return pgk_vec_push(&r->points, r->now) ? 0 : pgk_fail_nomem(r->text.err);
}

static int read_line(struct reader *r, struct pgk_text_line *l)
{
    switch (l->at < l->end ? *l->at++ : '#') {
    case 's':
        return read_string(r, l);
    case 'i':
        return read_place(r, l);
    case 't':
        return read_trace(r, l);
    case 'a':
        return read_kind(r, l);
    case '+':
        return read_allocated(r, l);
    case '-':
        return read_freed(r, l);
    case 'c':
        return read_time(r, l);
    case 'x':
    case 'm':
        return pgk_fail(
            r->text.err, PGK_E_VERSION, .file = r->text.src->file, .format = r->text.src->format,
            .offset = &(uint64_t){l->off}, .record = "line", .field = "kind",
            .found = "addresses and modules, of heaptrack --raw", .expected = "functions and lines",
            .hint = "record without --raw, or pass it through heaptrack_interpret");
    default:
        return 0; /* the command, memory in use, suppressions, comments */
    }
}

static int read_header(struct reader *r)
{
    struct pgk_text_line l = {.off = r->text.src->base_off};
    if (!pgk_text_next(&r->text, &l) || !pgk_text_take(&l, "v"))
        return pgk_text_reject(&r->text, &l, "header", "version of heaptrack", "v and two numbers");
    return read_version(r, &l);
}

/* Up to the end, or to the first line that is not as it should be; the text ends before it. */
static int read_lines(struct reader *r)
{
    for (struct pgk_text_line l; pgk_text_next(&r->text, &l);) {
        const char *line = l.at;
        int status = read_line(r, &l);
        if (status) {
            r->text.end = line;
            return status;
        }
    }
    return 0;
}

/* What follows the damage is numbered by lines that are lost with it, so nothing of it is read. */
static int salvage_lines(struct reader *r, struct pgk_salvage *lost)
{
    const char *end = r->text.end;
    struct pgk_err own, *err = r->text.err ? r->text.err : &own;
    r->text.err = err;
    int status = read_lines(r);
    if (!pgk_is_damage(status) && (status || !lost->lost))
        return status;
    r->cut = true;
    if (status) {
        size_t bytes = (size_t)(end - r->text.end), all = (size_t)(end - r->text.start);
        PGK_TRY(pgk_salvage_skip(lost, status, err));
        pgk_salvage_say(lost, "%zu byte%s of %zu, from there to the end", bytes,
                        pgk_plural(bytes), all);
    }
    if (!r->events)
        return pgk_fail(err, PGK_E_EMPTY, .file = r->text.src->file,
                        .format = r->text.src->format, .offset = &(uint64_t){0},
                        .record = "events", .field = "allocations",
                        .found = "none before the damage", .expected = "one at least",
                        .hint = "nothing can be saved; record the program again");
    pgk_salvage_say(lost, "what was allocated and freed after %" PRIu64
                    " ms, and with it which objects were alive at the end", r->now.ms);
    return 0;
}

/* Again up to the peak: every line was checked. */
static void find_at_peak(struct reader *r)
{
    uint64_t at, events = 0;
    r->text.next = r->text.start;
    for (struct pgk_text_line l; events < r->peak_event && pgk_text_next(&r->text, &l);) {
        bool allocated = pgk_text_take(&l, "+");
        if ((!allocated && !pgk_text_take(&l, "-")) || !take_number(&l, &at))
            continue;
        events++;
        if (allocated)
            r->kinds.v[at].at_peak++;
        else
            r->kinds.v[at].at_peak--;
    }
}

static void set(struct pgk_mib *m, enum pgk_mib_id id, uint64_t value)
{
    pgk_mib_set(m, id, pgk_mib_cut(id, value));
}

static int add_kind(struct reader *r, const struct kind *k)
{
    struct pgk_mib m = {0};
    if (!k->allocated)
        return 0;
    set(&m, PGK_MIB_AllocCount, k->allocated);
    set(&m, PGK_MIB_TotalSize, pgk_multiply_saturated(k->allocated, k->size));
    set(&m, PGK_MIB_MinSize, k->size);
    set(&m, PGK_MIB_MaxSize, k->size);
    set(&m, PGK_MIB_PeakCount, k->at_peak);
    set(&m, PGK_MIB_PeakSize, pgk_multiply_saturated(k->at_peak, k->size));
    if (!r->cut) {
        set(&m, PGK_MIB_ExitCount, k->alive);
        set(&m, PGK_MIB_ExitSize, pgk_multiply_saturated(k->alive, k->size));
    }
    set(&m, PGK_MIB_TemporaryCount, k->temporary);
    PGK_TRY(pgk_heap_add(r->heap, k->node, &m, r->text.err));
    return pgk_heap_own_stack(r->heap, k->node, r->text.err);
}

/* heaptrack notes a point every 10 ms, which is more than anyone looks at. The last one stays. */
static void thin_points(struct reader *r)
{
    size_t step = r->points.n / POINTS_MAX + 1, n = 0;
    for (size_t i = (r->points.n + step - 1) % step; i < r->points.n; i += step)
        r->points.v[n++] = r->points.v[i];
    r->points.n = n;
}

static int add_all(struct reader *r)
{
    find_at_peak(r);
    for (size_t i = 0; i < r->kinds.n; i++)
        PGK_TRY(add_kind(r, &r->kinds.v[i]));
    thin_points(r);
    r->times.struct_size = sizeof r->times;
    r->times.processes = 1;
    r->times.points = r->points.v;
    r->times.n_points = r->points.n;
    return pgk_heap_build_over_time(r->heap, &r->times, r->text.err);
}

/* "v 10400 3", then what was run. */
bool pgk_heaptrack_sniff(const uint8_t *bytes, size_t size)
{
    struct pgk_text text = pgk_text_of(bytes, size, NULL, NULL, NULL);
    struct pgk_text_line first, second;
    uint64_t number;
    return pgk_text_next(&text, &first) && pgk_text_take(&first, "v") &&
           take_number(&first, &number) && take_number(&first, &number) && first.at == first.end &&
           pgk_text_next(&text, &second) &&
           (pgk_text_take(&second, "X ") || pgk_text_take(&second, "x "));
}

static int read_file(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                     const struct pgk_source *src, struct pgk_salvage *lost, uint32_t *version,
                     struct pgk_err *err)
{
    struct reader r = {.heap = h, .text = pgk_text_of(bytes, size, src, PGK_SALVAGE_HINT, err)};
    int status = read_header(&r);
    if (!status)
        status = lost ? salvage_lines(&r, lost) : read_lines(&r);
    if (!status)
        status = add_all(&r);
    *version = (uint32_t)r.version;
    pgk_vec_free(&r.strings);
    pgk_vec_free(&r.places);
    pgk_vec_free(&r.frames);
    pgk_vec_free(&r.traces);
    pgk_vec_free(&r.kinds);
    pgk_vec_free(&r.points);
    return status;
}

int pgk_heaptrack_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                       const struct pgk_source *src, uint32_t *version,
                       struct pgk_err *err)
{
    return read_file(h, bytes, size, src, NULL, version, err);
}

int pgk_heaptrack_salvage(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                          const struct pgk_source *src, struct pgk_salvage *salvage,
                          uint32_t *version, struct pgk_err *err)
{
    return read_file(h, bytes, size, src, salvage, version, err);
}

/* ---- among the formats ---- */

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    return pgk_heaptrack_read(heap, file->bytes, file->size, file->src, &info->version, err);
}

static int salvage(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                   struct pgk_salvage *lost, struct pgk_file_info *info, struct pgk_err *err)
{
    return pgk_heaptrack_salvage(heap, file->bytes, file->size, file->src, lost, &info->version,
                                 err);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "heaptrack");
}

const struct pgk_format_row pgk_format_heaptrack = {
    .format = {.name = "heaptrack file",
               .kind = PGK_KIND_HEAP,
               .reads = "1 to 3",
               .writes = "",
               .made_by = "heaptrack 1.0 to 1.5",
               .page = "heaptrack.md"},
    .sniff = pgk_heaptrack_sniff,
    .read_heap = read,
    .salvage_heap = salvage,
    .wants_own_heap = true,
    .readers = readers,
};
