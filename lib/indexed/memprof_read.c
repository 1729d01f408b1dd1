/* Reader of the MemProf section, V0 to V4. docs/formats/indexed-heap.md sections 4 to 8. */
#include "indexed.h"
#include "memprof_part.h"
#include "ondisk_table.h"
#include "record_builder.h"
#include "hash.h"
#include "salvage.h"

#include <inttypes.h>

struct schema {
    uint8_t ids[64];
    size_t count, size; /* fields; bytes of a MIB */
    uint64_t known;
};

/* Runtimes record 256 frames at most, each with its inline chain; what is far above that
 * is damage, and would make a small file expensive. */
enum { STACK_FRAMES_MAX = 16384 };

/* A stack of the file is named by its position in the radix array (V3, V4), by an id
 * (V2), or stands in the record itself (V0, V1). */
struct reader {
    struct pgk_heap *heap;
    struct pgk_cursor file;
    struct pgk_salvage *salvage; /* NULL: damage is an error */
    struct pgk_memprof_part *part; /* V3, V4: contexts that are read; NULL: all */
    struct pgk_err *err;
    struct pgk_memprof_version v;
    struct schema schema;
    uint32_t *frames; /* V3, V4: model frames by linear id; not of a part */
    uint64_t n_frames, frames_off;
    const uint8_t *radix;
    uint64_t n_radix, radix_off;
    uint32_t *radix_node;             /* by position; node + 1 of the stack that starts there */
    struct pgk_index frame_by_id, stack_by_id;
    PGK_VEC(struct { uint64_t id; uint32_t frame; }) frame_ids;
    PGK_VEC(struct { uint64_t id; uint32_t node; }) stack_ids;
    PGK_VEC(uint32_t) stack;          /* scratch: frames of one stack, leaf first */
    PGK_VEC(uint64_t) callees;
    struct pgk_record_builder records;
};

static int read_schema(struct reader *r, struct pgk_cursor *c)
{
    struct schema *s = &r->schema;
    uint64_t at = pgk_cur_off(c);
    uint64_t n = pgk_cur_count(c, 8, "number of fields");
    PGK_TRY(pgk_cur_check(c, r->err, "schema"));
    if (n > PGK_COUNTOF(s->ids))
        return pgk_cur_reject(c, r->err, PGK_E_LIMIT, at, .record = "schema",
                              .field = "number of fields", .found = PGK_F("%" PRIu64, n),
                              .expected = PGK_F("at most %zu", PGK_COUNTOF(s->ids)),
                              .hint = "the profile is damaged, or of a newer release");
    for (uint64_t i = 0; i < n; i++) {
        at = pgk_cur_off(c);
        uint64_t tag = pgk_cur_u64(c, "tag");
        PGK_TRY(pgk_cur_check(c, r->err, "schema"));
        enum pgk_mib_id id;
        if (!pgk_mib_by_tag(tag, &id) || pgk_mib_is_own(id))
            return pgk_cur_reject(c, r->err, PGK_E_VERSION, at, .record = "schema",
                                  .field = "tag", .found = PGK_F("%" PRIu64, tag),
                                  .expected = "the tag of a field that this pgokit knows",
                                  .hint = "the profile is newer than this pgokit");
        s->ids[s->count++] = (uint8_t)id;
        s->size += pgk_mib_fields[id].bytes;
        if (pgk_mib_is_carried(id))
            s->known |= UINT64_C(1) << id;
    }
    return 0;
}

static void read_mib(struct pgk_cursor *c, const struct schema *s, struct pgk_mib *m)
{
    *m = (struct pgk_mib){.known = s->known};
    for (size_t i = 0; i < s->count; i++) {
        const struct pgk_mib_field *f = &pgk_mib_fields[s->ids[i]];
        m->v[s->ids[i]] = f->bytes == 4 ? pgk_cur_u32(c, f->name) : pgk_cur_u64(c, f->name);
    }
    m->v[PGK_MIB_AccessHistogram] = 0;
    pgk_mib_take_signs(m);
    /* Files with bytes but without objects did not count these. */
    if (m->v[PGK_MIB_TotalSize] && !m->v[PGK_MIB_AllocCount])
        m->known &= ~(UINT64_C(1) << PGK_MIB_AllocCount);
}

/* The model frame of 17 packed bytes. */
static uint32_t read_frame(struct reader *r, struct pgk_cursor *c)
{
    uint64_t guid = pgk_cur_u64(c, "function");
    uint32_t line = pgk_cur_u32(c, "line offset"), column = pgk_cur_u32(c, "column");
    bool inlined = pgk_cur_u8(c, "inline flag");
    uint32_t func = pgk_heap_func(r->heap, guid, 0, 0, 0);
    return func == PGK_INDEX_NONE
               ? func
               : pgk_heap_frame(r->heap, inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func,
                                pgk_frame_place(line, column));
}

/* Stacks of V3 and V4. */

static uint32_t radix_at(const struct reader *r, uint64_t i)
{
    uint32_t v;
    memcpy(&v, r->radix + i * sizeof v, sizeof v);
    return v;
}

static int bad_stack(const struct reader *r, uint64_t at, const char *found, const char *expected)
{
    return pgk_cur_reject(&r->file, r->err, PGK_E_CORRUPT, r->radix_off + at * 4,
                          .record = "call stacks", .field = "element", .found = found,
                          .expected = expected, .hint = "write the profile again");
}

/* The model frame of a linear id; of a part, whose frames are few, it is read when it is met. */
static uint32_t frame_at(struct reader *r, uint32_t linear)
{
    if (!r->part)
        return r->frames[linear];
    struct pgk_cursor c = r->file;
    pgk_cur_seek(&c, r->frames_off + linear * (uint64_t)PGK_MEMPROF_FRAME_SIZE, "frame");
    return read_frame(r, &c);
}

static int stack_at(struct reader *r, uint64_t start, uint32_t *node)
{
    if (start >= r->n_radix)
        return bad_stack(r, start, PGK_F("call stack %" PRIu64, start),
                         PGK_F("below %" PRIu64, r->n_radix));
    if (r->radix_node[start]) {
        *node = r->radix_node[start] - 1;
        return 0;
    }
    uint32_t n = radix_at(r, start);
    if (n > STACK_FRAMES_MAX)
        return bad_stack(r, start, PGK_F("a stack of %u frames", n),
                         PGK_F("at most %d", STACK_FRAMES_MAX));
    r->stack.n = 0;
    for (uint64_t at = start + 1; r->stack.n < n; at++) {
        if (at < r->n_radix && radix_at(r, at) >> 31) /* a jump to a shared caller */
            at += (uint32_t)-radix_at(r, at);
        if (at >= r->n_radix)
            return bad_stack(r, start, "a stack that runs past the end", "all its frames");
        uint32_t frame = radix_at(r, at);
        if (frame >= r->n_frames)
            return bad_stack(r, at, PGK_F("frame %u", frame), PGK_F("below %" PRIu64, r->n_frames));
        uint32_t known = frame_at(r, frame);
        if (known == PGK_INDEX_NONE || !pgk_vec_push(&r->stack, known))
            return pgk_fail_nomem(r->err);
    }
    *node = pgk_stack_add(&r->heap->stacks, r->stack.v, r->stack.n);
    if (*node == PGK_NODE_NONE)
        return pgk_fail_nomem(r->err);
    r->radix_node[start] = *node + 1;
    return 0;
}

/* Stacks of V0 to V2: frames, and in V2 stacks, have ids. */

static int add_frame_by_id(void *ctx, uint64_t key, struct pgk_cursor *c, struct pgk_err *err)
{
    struct reader *r = ctx;
    r->err = err;
    uint32_t frame = read_frame(r, c);
    PGK_TRY(pgk_cur_check(c, err, "frame"));
    if (frame == PGK_INDEX_NONE || !pgk_vec_reserve(&r->frame_ids, 1))
        return pgk_fail_nomem(err);
    r->frame_ids.v[r->frame_ids.n].id = key;
    r->frame_ids.v[r->frame_ids.n].frame = frame;
    return pgk_index_add(&r->frame_by_id, pgk_hash_u64(key), (uint32_t)r->frame_ids.n++)
               ? 0
               : pgk_fail_nomem(err);
}

/* A stack given by `n` frame ids, leaf first. */
static int read_frame_ids(struct reader *r, struct pgk_cursor *c, uint64_t n, uint32_t *node)
{
    for (r->stack.n = 0; n; n--) {
        uint64_t at = pgk_cur_off(c), id = pgk_cur_u64(c, "frame id");
        uint32_t frame = PGK_INDEX_NONE;
        PGK_TRY(pgk_cur_check(c, r->err, "call stack"));
        PGK_INDEX_FOR (&r->frame_by_id, pgk_hash_u64(id), i)
            if (r->frame_ids.v[i].id == id) {
                frame = r->frame_ids.v[i].frame;
                break;
            }
        if (frame == PGK_INDEX_NONE)
            return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, at, .record = "call stack",
                                  .field = "frame id", .found = PGK_F("0x%016" PRIx64, id),
                                  .expected = "an id of the frame table",
                                  .hint = "write the profile again");
        if (!pgk_vec_push(&r->stack, frame))
            return pgk_fail_nomem(r->err);
    }
    *node = pgk_stack_add(&r->heap->stacks, r->stack.v, r->stack.n);
    return *node == PGK_NODE_NONE ? pgk_fail_nomem(r->err) : 0;
}

static int add_stack_by_id(void *ctx, uint64_t key, struct pgk_cursor *c, struct pgk_err *err)
{
    struct reader *r = ctx;
    uint32_t node;
    r->err = err;
    PGK_TRY(read_frame_ids(r, c, (pgk_cur_left(c) + 7) / 8, &node));
    if (!pgk_vec_reserve(&r->stack_ids, 1))
        return pgk_fail_nomem(err);
    r->stack_ids.v[r->stack_ids.n].id = key;
    r->stack_ids.v[r->stack_ids.n].node = node;
    return pgk_index_add(&r->stack_by_id, pgk_hash_u64(key), (uint32_t)r->stack_ids.n++)
               ? 0
               : pgk_fail_nomem(err);
}

/* Versions differ in how a record names a stack: by its frames, by a hash in a table, by its place
 * in an array. */
static int read_stack_name(struct reader *r, struct pgk_cursor *c, uint32_t *node)
{
    uint64_t at = pgk_cur_off(c);
    if (r->v.stacks == PGK_MEMPROF_BY_PLACE) {
        uint32_t start = pgk_cur_u32(c, "call stack id");
        PGK_TRY(pgk_cur_check(c, r->err, "function record"));
        return stack_at(r, start, node);
    }
    if (r->v.stacks == PGK_MEMPROF_BY_FRAMES) {
        uint64_t n = pgk_cur_count(c, 8, "number of frames");
        PGK_TRY(pgk_cur_check(c, r->err, "function record"));
        return read_frame_ids(r, c, n, node);
    }
    uint64_t id = pgk_cur_u64(c, "call stack id");
    PGK_TRY(pgk_cur_check(c, r->err, "function record"));
    PGK_INDEX_FOR (&r->stack_by_id, pgk_hash_u64(id), i)
        if (r->stack_ids.v[i].id == id) {
            *node = r->stack_ids.v[i].node;
            return 0;
        }
    return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, at, .record = "function record",
                          .field = "call stack id", .found = PGK_F("0x%016" PRIx64, id),
                          .expected = "an id of the call stack table",
                          .hint = "write the profile again");
}

/* The stack that a record names next. */
static int read_stack(struct reader *r, struct pgk_cursor *c, uint32_t *node)
{
    uint64_t at = pgk_cur_off(c);
    PGK_TRY(read_stack_name(r, c, node));
    if (*node)
        return 0;
    return pgk_cur_reject(c, r->err, PGK_E_CORRUPT, at, .record = "function record",
                          .field = "call stack", .found = "a stack without frames",
                          .expected = "at least one", .hint = "write the profile again");
}

/* Read straight down; only what is used while reading is checked in between. */
static int read_record(void *ctx, uint64_t guid, struct pgk_cursor *c, struct pgk_err *err)
{
    struct reader *r = ctx;
    r->err = err;
    PGK_TRY(pgk_record_begin(&r->records, guid, err));
    size_t id_size = r->v.stacks == PGK_MEMPROF_BY_PLACE ? 4 : 8;
    uint64_t n = pgk_cur_count(c, id_size + r->schema.size, "number of alloc sites");
    for (uint64_t i = 0; i < n; i++) {
        uint32_t stack;
        struct pgk_mib mib;
        PGK_TRY(read_stack(r, c, &stack));
        read_mib(c, &r->schema, &mib);
        PGK_TRY(pgk_cur_check(c, err, "function record"));
        PGK_TRY(pgk_record_add_alloc(&r->records, stack, &mib, err));
    }
    n = pgk_cur_count(c, id_size, "number of call sites");
    for (uint64_t i = 0; i < n; i++) {
        uint32_t stack;
        PGK_TRY(read_stack(r, c, &stack));
        r->callees.n = 0;
        uint64_t callees = r->v.extras ? pgk_cur_count(c, 8, "number of callees") : 0;
        if (!pgk_vec_reserve(&r->callees, callees))
            return pgk_fail_nomem(err);
        while (callees--)
            r->callees.v[r->callees.n++] = pgk_cur_u64(c, "callee");
        PGK_TRY(pgk_record_add_call(&r->records, stack, r->callees.v, r->callees.n, err));
    }
    return pgk_cur_check(c, err, "function record");
}

/* For a part: all contexts are counted, wanted ones go into the model. Nothing after them is
 * read. */
static int read_record_of_part(void *ctx, uint64_t guid, struct pgk_cursor *c, struct pgk_err *err)
{
    struct reader *r = ctx;
    bool started = false;
    r->err = err;
    PGK_TRY(pgk_part_begin_record(r->part, err));
    uint64_t n = pgk_cur_count(c, sizeof(uint32_t) + r->schema.size, "number of alloc sites");
    for (uint64_t i = 0; i < n; i++) {
        uint32_t stack, start = pgk_cur_u32(c, "call stack id");
        struct pgk_mib mib;
        bool wanted;
        read_mib(c, &r->schema, &mib);
        PGK_TRY(pgk_cur_check(c, err, "function record"));
        PGK_TRY(pgk_part_count(r->part, start, &mib, &wanted, err));
        if (!wanted)
            continue;
        if (!started)
            PGK_TRY(pgk_record_begin(&r->records, guid, err));
        started = true;
        PGK_TRY(stack_at(r, start, &stack));
        PGK_TRY(pgk_record_add_alloc(&r->records, stack, &mib, err));
    }
    pgk_part_end_record(r->part);
    return pgk_cur_check(c, err, "function record");
}

/* A part of the file given by its first and last offset. */
static int check_order(struct reader *r, uint64_t at, const char *field, uint64_t off,
                       uint64_t floor, uint64_t unit)
{
    uint64_t end = r->file.src.base_off + (uint64_t)(r->file.end - r->file.start);
    if (off >= floor && off <= end && (off - floor) % unit == 0)
        return 0;
    return pgk_cur_reject(&r->file, r->err, PGK_E_CORRUPT, at, .record = "MemProf section",
                          .field = field, .found = PGK_F("0x%" PRIx64, off),
                          .expected = PGK_F("0x%" PRIx64 " to 0x%" PRIx64 "%s", floor, end,
                                            unit > 1 ? ", whole elements" : ""),
                          .hint = "the profile is damaged; write it again");
}

static int read_table(struct reader *r, uint64_t payload, uint64_t table,
                      enum pgk_ondisk_lengths lengths, const char *what, pgk_ondisk_item_fn *fn)
{
    struct pgk_err *err = r->err; /* items have one of their own when damage is no error */
    int status = r->salvage ? pgk_ondisk_salvage(&r->file, payload, table, lengths, what, fn, r,
                                                 r->salvage, err)
                            : pgk_ondisk_read(&r->file, payload, table, lengths, what, fn, r, err);
    r->err = err;
    return status;
}

/* A part of the section that follows the records. */
static int read_data_access(struct reader *r, uint64_t off)
{
    struct pgk_err why = {0};
    struct pgk_cursor part = r->file;
    pgk_cur_seek(&part, off, "data access offset");
    if (!r->salvage)
        return pgk_data_access_read(r->heap, &part, r->err);
    return pgk_salvage_skip(r->salvage, pgk_data_access_read(r->heap, &part, &why), &why);
}

/* The cursor is at the frames, which stacks and records follow. */
static int read_part(struct reader *r, struct pgk_cursor *c, uint64_t payload, uint64_t table)
{
    const uint8_t *frames = pgk_cur_take_items(c, r->n_frames, PGK_MEMPROF_FRAME_SIZE, "frames");
    r->radix = pgk_cur_take_items(c, r->n_radix, sizeof(uint32_t), "call stacks");
    PGK_TRY(pgk_cur_check(c, r->err, "MemProf section"));
    struct pgk_cursor stacks = r->file;
    stacks.src.base_off = r->radix_off;
    PGK_TRY(pgk_part_open(r->part, &stacks, frames, r->n_frames, r->radix, r->n_radix, r->err));
    return read_table(r, payload, table, PGK_ONDISK_KEY_AND_DATA, "function record",
                      read_record_of_part);
}

static int read_v3(struct reader *r, struct pgk_cursor *c, uint64_t off,
                   struct pgk_indexed_info *info)
{
    uint64_t radix = pgk_cur_u64(c, "call stack offset"), payload = pgk_cur_u64(c, "record offset"),
             table = pgk_cur_u64(c, "record table offset"), data_access = 0;
    if (r->v.extras) {
        data_access = pgk_cur_u64(c, "data access offset");
        info->has_data_access = data_access > table;
        uint32_t fields = pgk_cur_u32(c, "number of summary fields");
        pgk_cur_take(c, fields * UINT64_C(8), "summary"); /* it is computed, not stored */
    }
    PGK_TRY(pgk_cur_check(c, r->err, "MemProf section"));
    PGK_TRY(read_schema(r, c));
    uint64_t frames = pgk_cur_off(c);
    PGK_TRY(check_order(r, off + 8, "call stack offset", radix, frames, PGK_MEMPROF_FRAME_SIZE));
    PGK_TRY(check_order(r, off + 16, "record offset", payload, radix, sizeof(uint32_t)));
    if (!r->salvage)
        PGK_TRY(check_order(r, off + 24, "record table offset", table, payload, 1));

    r->n_frames = (radix - frames) / PGK_MEMPROF_FRAME_SIZE;
    r->frames_off = frames;
    r->n_radix = (payload - radix) / sizeof(uint32_t);
    r->radix_off = radix;
    r->radix_node = pgk_mem_zalloc(r->n_radix + 1, sizeof *r->radix_node);
    if (!r->radix_node)
        return pgk_fail_nomem(r->err);
    if (r->part)
        return read_part(r, c, payload, table);
    r->frames = pgk_mem_alloc(r->n_frames + 1, sizeof *r->frames);
    if (!r->frames)
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < r->n_frames; i++)
        if ((r->frames[i] = read_frame(r, c)) == PGK_INDEX_NONE)
            return pgk_fail_nomem(r->err);
    r->radix = pgk_cur_take(c, payload - radix, "call stacks");
    PGK_TRY(pgk_cur_check(c, r->err, "MemProf section"));
    PGK_TRY(read_table(r, payload, table, PGK_ONDISK_KEY_AND_DATA, "function record",
                       read_record));
    return info->has_data_access ? read_data_access(r, data_access) : 0;
}

/* Three parts of payload and hash table, of which V0 and V1 lack the last: function
 * records, frames, call stacks. The words from `off` on are the offsets of the record table,
 * then of payload and table of the others. */
static int read_v2(struct reader *r, struct pgk_cursor *c, uint64_t off)
{
    static const char *const names[] = {"record table offset", "frame offset",
                                        "frame table offset", "call stack offset",
                                        "call stack table offset"};
    uint64_t at[PGK_COUNTOF(names)];
    const bool has_stacks = r->v.stacks == PGK_MEMPROF_BY_ID;
    size_t n = has_stacks ? 5 : 3;
    for (size_t i = 0; i < n; i++)
        at[i] = pgk_cur_u64(c, names[i]);
    PGK_TRY(pgk_cur_check(c, r->err, "MemProf section"));
    PGK_TRY(read_schema(r, c));
    uint64_t payload = pgk_cur_off(c);
    for (size_t i = 0; i < n && !r->salvage; i++)
        PGK_TRY(check_order(r, off + 8 * i, names[i], at[i], i ? at[i - 1] : payload, 1));
    PGK_TRY(read_table(r, at[1], at[2], PGK_ONDISK_KEY_AND_DATA, "frame", add_frame_by_id));
    if (has_stacks)
        PGK_TRY(read_table(r, at[3], at[4], PGK_ONDISK_DATA_ONLY, "call stack", add_stack_by_id));
    return read_table(r, payload, at[0], PGK_ONDISK_KEY_AND_DATA, "function record", read_record);
}

/* V0 has no version word: what stands there is an offset, and an offset is never small. */
enum { SMALLEST_OFFSET = 24 };

static int read_section(struct reader *r, uint64_t off, struct pgk_indexed_info *info)
{
    struct pgk_cursor c = r->file;
    pgk_cur_seek(&c, off, "memprof_off");
    struct pgk_cursor after_version = c;
    uint64_t version = pgk_cur_u64(&after_version, "MemProf version");
    PGK_TRY(pgk_cur_check(&after_version, r->err, "MemProf section"));
    const struct pgk_memprof_version *v =
        pgk_memprof_version(version < SMALLEST_OFFSET ? version : 0);
    if (version < SMALLEST_OFFSET && !(v && v->word))
        return pgk_cur_reject(&c, r->err, PGK_E_VERSION, off, .record = "MemProf section",
                              .field = "version", .found = PGK_F("%" PRIu64, version),
                              .expected = PGK_F("1 to %d, or the offset of version 0",
                                                PGK_MEMPROF_NOW),
                              .hint = "see pgokit formats for what is read");
    if (v->word)
        c = after_version;
    r->v = *v;
    if (r->part && v->stacks != PGK_MEMPROF_BY_PLACE)
        return pgk_fail(r->err, PGK_E_ARG, .found = "stacks that are read as a whole");
    int status = v->stacks == PGK_MEMPROF_BY_PLACE ? read_v3(r, &c, off, info)
                                                   : read_v2(r, &c, pgk_cur_off(&c));
    info->has_heap = true;
    info->memprof_version = v->version;
    for (size_t i = 0; i < r->schema.count; i++) {
        const enum pgk_mib_id id = r->schema.ids[i];
        info->full_schema |= !pgk_mib_is_compilers(id) && id != PGK_MIB_MinLifetime;
        if (pgk_mib_fields[id].tag > info->schema_tag_max)
            info->schema_tag_max = pgk_mib_fields[id].tag;
    }
    return status;
}

static int read_heap(struct reader *r, struct pgk_heap *h, uint64_t off,
                     struct pgk_indexed_info *info, struct pgk_err *err)
{
    /* Into a model of its own first: a stack that `h` has already is added to, while one
     * that this file mentions twice counts once. */
    int status = pgk_heap_new(&r->heap, err);
    r->records.heap = r->heap;
    r->err = err;
    if (!status)
        status = read_section(r, off, info);
    if (!status)
        status = pgk_record_end(&r->records, err);
    if (!status)
        status = pgk_heap_merge(h, r->heap, err);
    pgk_heap_close(&r->heap);
    pgk_mem_free(r->frames);
    pgk_mem_free(r->radix_node);
    pgk_vec_free(&r->frame_ids);
    pgk_vec_free(&r->stack_ids);
    pgk_index_free(&r->frame_by_id);
    pgk_index_free(&r->stack_by_id);
    pgk_vec_free(&r->stack);
    pgk_vec_free(&r->callees);
    pgk_record_builder_free(&r->records);
    return status;
}

int pgk_memprof_read(struct pgk_heap *h, const struct pgk_cursor *c, uint64_t off,
                     struct pgk_salvage *salvage, struct pgk_indexed_info *info,
                     struct pgk_err *err)
{
    struct reader r = {.file = *c, .salvage = salvage};
    return read_heap(&r, h, off, info, err);
}

int pgk_memprof_read_functions(struct pgk_heap *h, const struct pgk_cursor *c, uint64_t off,
                               const uint64_t *functions, size_t n,
                               struct pgk_indexed_info *info, struct pgk_err *err)
{
    struct pgk_memprof_part part = {.functions = functions, .n_functions = n};
    struct reader r = {.file = *c, .part = &part};
    int status = read_heap(&r, h, off, info, err);
    if (!status)
        h->whole = part.whole;
    pgk_part_close(&part);
    return status;
}
