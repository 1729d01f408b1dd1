/* Segments of raw heap profiles, and the modules that they are of. docs/formats/raw-heap.md */
#include "heap_raw_priv.h"

#include "heap_shared.h"

/* Programs that are not position-independent are linked below this address; everything
 * else is loaded above. */
#define FIXED_BELOW (UINT64_C(1) << 32)

static int note_module(struct pgk_raw_reader *r, struct pgk_raw_segment *s, const uint8_t *id)
{
    struct pgk_heap_module m = {.text_size = s->end - s->start};
    uint64_t at;
    if (pgk_raw_has_build_ids(pgk_raw_layout_of(r, r->version)->row)) {
        m.build_id = pgk_intern(&r->heap->strings, (const char *)id, s->build_id_size);
        m.fixed = !s->offset;
        at = s->start - s->offset;
        m.text_off = m.build_id ? 0 : at;
    } else {
        m.by_file_off = true;
        m.text_off = at = s->offset;
        m.bias = s->start - s->offset;
        m.fixed = s->end < FIXED_BELOW;
    }
    s->module = m.build_id == PGK_INDEX_NONE ? m.build_id : pgk_heap_module(r->heap, &m);
    if (s->module == PGK_INDEX_NONE || !pgk_heap_note_loaded(r->heap, r->c->src.file, s->module) ||
        !pgk_heap_note_text(r->heap, s->module, at, m.text_size))
        return pgk_fail_nomem(r->err);
    return 0;
}

/* The next segment, and where its build id stands. */
static int read_segment(struct pgk_cursor *c, const struct pgk_raw_version *v, const char *record,
                        struct pgk_raw_segment *s, const uint8_t **id, struct pgk_err *err)
{
    uint64_t at = pgk_cur_off(c);
#define PGK_RAW_SEGMENT(name, type, first, meaning) \
    s->name = v->version >= (first) ? pgk_cur_##type(c, #name) : 0;
#include "heap_raw.def"
#undef PGK_RAW_SEGMENT
    *id = pgk_cur_take(c, PGK_HEAP_RAW_ID_MAX, "build id");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (s->build_id_size > PGK_HEAP_RAW_ID_MAX)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at + 24, .record = record,
                              .field = "build_id_size",
                              .found = PGK_F("%" PRIu64, s->build_id_size),
                              .expected = "0 to 32", .hint = "record the profile again");
    if (s->end < s->start)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at + 8, .record = record, .field = "end",
                              .found = PGK_F("0x%" PRIx64, s->end),
                              .expected = PGK_F("at least the start, 0x%" PRIx64, s->start),
                              .hint = "record the profile again");
    return 0;
}

/* Goes to the segments at `off`, and says how many there are. */
static int find_segments(struct pgk_cursor *c, uint64_t off, const struct pgk_raw_version *v,
                         uint32_t dump, uint64_t *count, struct pgk_err *err)
{
    pgk_cur_seek(c, off, "segment_off");
    *count = pgk_cur_count(c, pgk_raw_segment_size(v), "segment count");
    return pgk_cur_check(c, err, PGK_F("dump %u, segments", dump));
}

int pgk_raw_segments_read(struct pgk_raw_reader *r, uint64_t off)
{
    const struct pgk_raw_version *v = pgk_raw_layout_of(r, r->version)->row;
    uint64_t count;
    PGK_TRY(find_segments(r->c, off, v, r->dump, &count, r->err));
    bool first_dump = r->dump == 1;
    if (!first_dump && count != r->segments.n)
        r->segments_changed = true;
    if (r->segments.n < count && !pgk_vec_reserve(&r->segments, count - r->segments.n))
        return pgk_fail_nomem(r->err);

    for (uint64_t i = 0; i < count; i++) {
        struct pgk_raw_segment s = {0};
        const uint8_t *id;
        PGK_TRY(read_segment(r->c, v, RECORD(r, "segment", i), &s, &id, r->err));
        PGK_TRY(note_module(r, &s, id));
        if (!first_dump && i < r->segments.n) {
            const struct pgk_raw_segment *old = &r->segments.v[i];
            if (old->start != s.start || old->end != s.end || old->offset != s.offset ||
                old->module != s.module)
                r->segments_changed = true;
        }
        r->segments.v[i] = s;
        if (i == r->modules.n && !pgk_vec_push(&r->modules, s.module))
            return pgk_fail_nomem(r->err);
    }
    r->segments.n = count;
    return 0;
}

int pgk_heap_raw_places(const uint8_t *bytes, size_t size, const struct pgk_source *src,
                        int (*fn)(void *ctx, const struct pgk_raw_place *place), void *ctx,
                        struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_heap_raw_header h;
    uint64_t count;
    pgk_cur_init(&c, bytes, size, src);
    PGK_TRY(pgk_raw_header_read(&c, &h, err, "dump 1, header"));
    const struct pgk_raw_version *v = pgk_raw_version(h.version);
    PGK_TRY(find_segments(&c, h.segment_off, v, 1, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        struct pgk_raw_segment s = {0};
        const uint8_t *id;
        PGK_TRY(read_segment(&c, v, PGK_F("dump 1, segment %" PRIu64, i + 1), &s, &id, err));
        PGK_TRY(fn(ctx, &(struct pgk_raw_place){s.start, s.end, s.offset, id, s.build_id_size}));
    }
    return 0;
}

struct id_sink {
    pgk_build_id_fn *fn;
    void *ctx;
};

static int take_id(void *ctx, const struct pgk_raw_place *place)
{
    const struct id_sink *to = ctx;
    return place->id_size ? to->fn(to->ctx, place->id, place->id_size) : 0;
}

int pgk_heap_raw_build_ids(const uint8_t *bytes, size_t size, const struct pgk_source *src,
                           pgk_build_id_fn *fn, void *ctx, struct pgk_err *err)
{
    struct id_sink to = {fn, ctx};
    return pgk_heap_raw_places(bytes, size, src, take_id, &to, err);
}
