/* Reader of raw heap profiles. docs/formats/raw-heap.md */
#include "heap_raw.h"

#include "alive.h"
#include "hash.h"
#include "heap_raw_notes.h"
#include "heap_raw_texts.h"
#include "heap_raw_times.h"
#include "heap_shared.h"

#include <inttypes.h>

struct segment {
#define PGK_RAW_SEGMENT(name, type, first, meaning) uint64_t name;
#include "heap_raw.def"
#undef PGK_RAW_SEGMENT
    uint32_t module;
};

enum { HEADER_SIZE = 48, CACHE_LINE = 64 };

/* One stack id of the process. Blocks stay in the file until they are added to the model. */
struct entry {
    uint64_t id;
    uint64_t off;           /* of its first block; of what names it, while there is none */
    struct pgk_mib *merged; /* where there are several blocks of it; else NULL */
    uint32_t node;          /* PGK_NODE_NONE until its stack is read */
    uint32_t version;       /* of the dump of the first block; 0: no object was closed so far */
};

/* A stack of the dump. */
struct stack_ref {
    uint64_t off; /* of its id in the file */
    uint32_t entry, number;
};

/* The frame of a program counter; a process has few distinct ones, so that a small
 * table answers nearly all look-ups. */
struct pc_slot {
    uint64_t pc;
    uint32_t frame; /* + 1; 0: empty */
};

/* The layout of dumps of one version. */
struct layout {
    const struct pgk_raw_version *row; /* NULL: not met so far */
    struct pgk_raw_mib mib;
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_err *err;
    const uint8_t *bytes;
    uint64_t base_off;          /* of these in the file */
    struct pgk_cursor *c;
    uint32_t dump, version;
    PGK_VEC(struct entry) entries;
    struct pgk_index by_id;
    PGK_VEC(struct segment) segments;
    bool segments_changed; /* from one dump to another */
    uint64_t notes;        /* flags of pgokit's runtime */
    bool noted;            /* there were some notes */
    uint64_t own_ns, own_bytes; /* and what it cost */
    bool sheet;            /* this dump is of one thread of a process that was interrupted */
    PGK_VEC(struct pgk_alive) alive; /* of the entries, as far as there are sheets */
    uint64_t objects_alive;
    struct pgk_raw_notes dump_notes; /* of this dump */
    struct pgk_raw_times_sum times;
    struct pgk_raw_texts texts;
    PGK_VEC(uint32_t) modules; /* by the number of a segment, of all dumps */
    uint32_t last_ms;      /* latest event of the sheets */
    struct pc_slot *pcs;
    uint32_t pc_mask, pc_used;
    struct layout layouts[PGK_RAW_NOW + 1]; /* by version */
    struct pgk_arena scratch;   /* of merged blocks */
    PGK_VEC(uint64_t) hist;     /* of the block that was read last */
    PGK_VEC(struct stack_ref) stacks;
    PGK_VEC(uint32_t) path;     /* nodes of the stack that was added last, from the root on */
    PGK_VEC(uint32_t) frames;   /* of its upper part, which the one before does not share */
};

#define RECORD(r, what, i) PGK_F("dump %u, %s %" PRIu64, (r)->dump, (what), (uint64_t)(i) + 1)

/* Entry of a stack id. Files list ids in the same order in each section, so the
 * place of the one before is tried first. */
static uint32_t find_entry(const struct reader *r, uint64_t id, uint32_t guess)
{
    if (guess < r->entries.n && r->entries.v[guess].id == id)
        return guess;
    PGK_INDEX_FOR (&r->by_id, pgk_hash_u64(id), i)
        if (r->entries.v[i].id == id)
            return i;
    return PGK_INDEX_NONE;
}

static int read_header(struct pgk_cursor *c, struct pgk_heap_raw_header *h, struct pgk_err *err,
                       const char *record)
{
    uint64_t off = pgk_cur_off(c), left = pgk_cur_left(c);
#define PGK_RAW_HEADER(name, type, meaning) h->name = pgk_cur_##type(c, #name);
#include "heap_raw.def"
#undef PGK_RAW_HEADER
    PGK_TRY(pgk_cur_check(c, err, record));
    if (h->magic != PGK_HEAP_RAW_MAGIC)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = record, .field = "magic",
                              .found = PGK_F("0x%016" PRIx64, h->magic),
                              .expected = PGK_F("0x%016" PRIx64, PGK_HEAP_RAW_MAGIC),
                              .hint = "the file is damaged between two dumps, or not a raw "
                                      "heap profile");
    if (!pgk_raw_version(h->version))
        return pgk_cur_reject(c, err, PGK_E_VERSION, off + 8, .record = record,
                              .field = "version", .found = PGK_F("%" PRIu64, h->version),
                              .expected = PGK_F("1 to %d", PGK_RAW_NOW),
                              .hint = "see pgokit formats for what is read");
    if (h->total_size < HEADER_SIZE || h->total_size > left)
        return pgk_cur_reject(c, err,
                              h->total_size > left ? PGK_E_TRUNCATED : PGK_E_CORRUPT, off + 16,
                              .record = record, .field = "total_size",
                              .found = PGK_F("%" PRIu64 " bytes", h->total_size),
                              .expected = PGK_F("%d to the %" PRIu64 " bytes left", HEADER_SIZE,
                                                left),
                              .hint = "the file is cut short or damaged; record it again");
    c->src.version = (uint32_t)h->version;
    return 0;
}

static const struct layout *layout_of(struct reader *r, uint32_t version)
{
    struct layout *l = &r->layouts[version];
    if (!l->row) {
        l->row = pgk_raw_version(version);
        l->mib = pgk_raw_mib(l->row);
    }
    return l;
}

/* Programs that are not position-independent are linked below this address; everything
 * else is loaded above. */
#define FIXED_BELOW (UINT64_C(1) << 32)

static int note_module(struct reader *r, struct segment *s, const uint8_t *id)
{
    struct pgk_heap_module m = {.text_size = s->end - s->start};
    uint64_t at;
    if (pgk_raw_has_build_ids(layout_of(r, r->version)->row)) {
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
                        struct segment *s, const uint8_t **id, struct pgk_err *err)
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

static int read_segments(struct reader *r, uint64_t off)
{
    const struct pgk_raw_version *v = layout_of(r, r->version)->row;
    uint64_t count;
    PGK_TRY(find_segments(r->c, off, v, r->dump, &count, r->err));
    bool first_dump = r->dump == 1;
    if (!first_dump && count != r->segments.n)
        r->segments_changed = true;
    if (r->segments.n < count && !pgk_vec_reserve(&r->segments, count - r->segments.n))
        return pgk_fail_nomem(r->err);

    for (uint64_t i = 0; i < count; i++) {
        struct segment s = {0};
        const uint8_t *id;
        PGK_TRY(read_segment(r->c, v, RECORD(r, "segment", i), &s, &id, r->err));
        PGK_TRY(note_module(r, &s, id));
        if (!first_dump && i < r->segments.n) {
            const struct segment *old = &r->segments.v[i];
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

int pgk_heap_raw_build_ids(const uint8_t *bytes, size_t size, const struct pgk_source *src,
                           pgk_build_id_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_heap_raw_header h;
    uint64_t count;
    pgk_cur_init(&c, bytes, size, src);
    PGK_TRY(read_header(&c, &h, err, "dump 1, header"));
    const struct pgk_raw_version *v = pgk_raw_version(h.version);
    PGK_TRY(find_segments(&c, h.segment_off, v, 1, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        struct segment s = {0};
        const uint8_t *id;
        PGK_TRY(read_segment(&c, v, PGK_F("dump 1, segment %" PRIu64, i + 1), &s, &id, err));
        if (s.build_id_size)
            PGK_TRY(fn(ctx, id, s.build_id_size));
    }
    return 0;
}

static void read_mib(const uint8_t *p, const struct pgk_raw_mib *l, struct pgk_mib *m)
{
    for (size_t i = 0; i < l->n_absent; i++)
        m->v[l->absent[i]] = 0;
    m->known = l->known;
    m->hist = NULL;
    m->hist_count = 0;
    for (size_t i = 0; i < l->count; i++) {
        uint32_t narrow;
        uint64_t wide;
        memcpy(&narrow, p + l->fields[i].off, sizeof narrow);
        if (l->fields[i].bytes == 4) {
            m->v[l->fields[i].id] = narrow;
        } else {
            memcpy(&wide, p + l->fields[i].off, sizeof wide);
            m->v[l->fields[i].id] = wide;
        }
    }
    m->v[PGK_MIB_AccessHistogram] = 0;
}

static bool add_entry(struct reader *r, const struct entry *e)
{
    return pgk_vec_push(&r->entries, *e) &&
           pgk_index_add(&r->by_id, pgk_hash_u64(e->id), (uint32_t)r->entries.n - 1);
}

/* The result found at a file offset before. */
static const uint8_t *bytes_at(const struct reader *r, uint64_t off)
{
    return r->bytes + (off - r->base_off);
}

/* The block of a file offset, which was checked; its histogram lies in `hist`, of the reader. */
static int read_block(struct reader *r, uint32_t version, uint64_t off, struct pgk_mib *m)
{
    const struct layout *layout = layout_of(r, version);
    const enum pgk_raw_element element = layout->row->element;
    const uint8_t *p = bytes_at(r, off) + sizeof(uint64_t);
    read_mib(p, &layout->mib, m);
    uint64_t n = m->v[PGK_MIB_AccessHistogramSize];
    if (!n)
        return 0;
    r->hist.n = 0;
    if (!pgk_vec_reserve(&r->hist, n))
        return pgk_fail_nomem(r->err);
    p += layout->mib.size;
    for (uint64_t i = 0; i < n; i++, p += pgk_raw_element_size(element))
        r->hist.v[i] = pgk_raw_element(element, p);
    m->hist = r->hist.v;
    m->hist_count = (uint32_t)n;
    return 0;
}

/* Merges the block at `off` into the earlier ones of its stack id. */
static int step_entry(struct reader *r, struct entry *e, uint32_t version, uint64_t off)
{
    struct pgk_mib later;
    if (!e->merged) {
        struct pgk_mib first, *m = pgk_arena_alloc(&r->scratch, 1, sizeof *m);
        if (!m)
            return pgk_fail_nomem(r->err);
        PGK_TRY(read_block(r, e->version, e->off, &first));
        if (first.hist_count) {
            uint64_t *hist = pgk_arena_alloc(&r->scratch, first.hist_count, sizeof *hist);
            if (!hist)
                return pgk_fail_nomem(r->err);
            first.hist = memcpy(hist, first.hist, first.hist_count * sizeof *hist);
        }
        *m = first;
        e->merged = m;
    }
    PGK_TRY(read_block(r, version, off, &later));
    return pgk_mib_step(e->merged, &later, &r->scratch) ? 0 : pgk_fail_nomem(r->err);
}

/* The live objects of an entry; NULL when out of memory. */
static struct pgk_alive *alive_of(struct reader *r, size_t entry)
{
    while (r->alive.n <= entry)
        if (!pgk_vec_push(&r->alive, (struct pgk_alive){0}))
            return NULL;
    return &r->alive.v[entry];
}

static void note_event(struct reader *r, uint64_t ms)
{
    if (ms > r->last_ms)
        r->last_ms = (uint32_t)ms;
}

static bool close_objects(struct reader *r, size_t entry, const struct pgk_mib *closed)
{
    struct pgk_alive *alive = alive_of(r, entry);
    if (!alive)
        return false;
    alive->objects -= (uint32_t)closed->v[PGK_MIB_AllocCount];
    alive->bytes -= closed->v[PGK_MIB_TotalSize];
    note_event(r, closed->v[PGK_MIB_DeallocTimestamp]);
    return true;
}

/* The block at `off`, of a new entry or of one that was met before, whose position goes to `at`. */
static int add_block(struct reader *r, uint64_t id, uint32_t version, uint64_t off, uint32_t *at)
{
    *at = find_entry(r, id, PGK_INDEX_NONE);
    if (*at == PGK_INDEX_NONE) {
        const struct entry e = {.id = id, .off = off, .node = PGK_NODE_NONE, .version = version};
        *at = (uint32_t)r->entries.n;
        return add_entry(r, &e) ? 0 : pgk_fail_nomem(r->err);
    }
    struct entry *e = &r->entries.v[*at];
    if (e->version)
        return step_entry(r, e, version, off);
    e->off = off;
    e->version = version;
    return 0;
}

/* A fact that one dump with contexts lacks is unknown for all. */
static void miss_times(struct reader *r, uint64_t contexts)
{
    const struct pgk_raw_notes *notes = &r->dump_notes;
    r->times.missing |= contexts && !notes->there;
    r->times.not_touched |= contexts && (!notes->there || notes->flags & PGK_NOTE_MERGED);
}

static int read_mibs(struct reader *r, uint64_t off)
{
    struct pgk_cursor *c = r->c;
    const struct pgk_raw_mib *layout = &layout_of(r, r->version)->mib;
    const size_t element_size = pgk_raw_element_size(layout_of(r, r->version)->row->element);
    pgk_cur_seek(c, off, "mib_off");
    uint64_t count = pgk_cur_count(c, sizeof(uint64_t) + layout->size, "MIB count");
    PGK_TRY(pgk_cur_check(c, r->err, PGK_F("dump %u, MIBs", r->dump)));
    miss_times(r, count);
    if (!pgk_vec_reserve(&r->entries, count) ||
        !pgk_index_reserve(&r->by_id, (uint32_t)(r->entries.n + count)))
        return pgk_fail_nomem(r->err);
    struct pgk_mib mib; /* where more than its place is of use */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = pgk_cur_off(c), id = pgk_cur_u64(c, "stack id");
        const uint8_t *p = pgk_cur_take(c, layout->size, "MIB");
        if (p && (element_size || r->sheet))
            read_mib(p, layout, &mib);
        if (p && element_size)
            pgk_cur_take(c, mib.v[PGK_MIB_AccessHistogramSize] * element_size, "AccessHistogram");
        if (c->failed)
            return pgk_cur_check(c, r->err, RECORD(r, "MIB", i));
        uint32_t entry;
        PGK_TRY(add_block(r, id, r->version, at, &entry));
        if (r->sheet && !close_objects(r, entry, &mib))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static uint32_t find_frame(struct reader *r, uint64_t pc)
{
    for (size_t i = 0; i < r->segments.n; i++) {
        const struct segment *s = &r->segments.v[i];
        if (pc >= s->start && pc < s->end)
            return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, s->module,
                                  pgk_raw_has_build_ids(layout_of(r, r->version)->row)
                                      ? pc - s->offset
                                      : pc - s->start + s->offset);
    }
    return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, pc);
}

static uint32_t make_frame(struct reader *r, uint64_t pc)
{
    pgk_heap_hold_names(r->heap);
    uint32_t frame = find_frame(r, pc);
    pgk_heap_let_names(r->heap);
    return frame;
}

static bool grow_pcs(struct reader *r)
{
    uint32_t mask = r->pcs ? r->pc_mask * 4 + 3 : 4095;
    struct pc_slot *slots = pgk_mem_zalloc((size_t)mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; r->pcs && i <= r->pc_mask; i++) {
        if (!r->pcs[i].frame)
            continue;
        uint32_t at = (uint32_t)pgk_hash_u64(r->pcs[i].pc);
        while (slots[at & mask].frame)
            at++;
        slots[at & mask] = r->pcs[i];
    }
    pgk_mem_free(r->pcs);
    r->pcs = slots;
    r->pc_mask = mask;
    return true;
}

static uint32_t frame_of_pc(struct reader *r, uint64_t pc)
{
    if (r->pc_used * 2 >= r->pc_mask && !grow_pcs(r))
        return PGK_INDEX_NONE;
    uint32_t at = (uint32_t)pgk_hash_u64(pc);
    for (; r->pcs[at & r->pc_mask].frame; at++)
        if (r->pcs[at & r->pc_mask].pc == pc)
            return r->pcs[at & r->pc_mask].frame - 1;
    uint32_t frame = make_frame(r, pc);
    if (frame != PGK_INDEX_NONE) {
        r->pcs[at & r->pc_mask] = (struct pc_slot){pc, frame + 1};
        r->pc_used++;
    }
    return frame;
}

static uint64_t pc_at(const uint8_t *pcs, uint64_t i)
{
    uint64_t pc;
    memcpy(&pc, pcs + i * sizeof pc, sizeof pc);
    return pc;
}

/* Runtimes number stacks as they first meet them, so that neighbours by id share most of their
 * callers, and write them in the order of a hash table. Sorts by id, about: the more neighbours
 * share, the less is looked up. */
static int sort_stacks(struct reader *r)
{
    size_t n = r->stacks.n;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t id = r->entries.v[r->stacks.v[i].entry].id;
        low = id < low ? id : low;
        high = id > high ? id : high;
    }
    unsigned shift = 0;
    while (n && (high - low) >> shift > 2 * n)
        shift++;
    size_t buckets = n ? ((high - low) >> shift) + 1 : 0;
    uint32_t *at = pgk_mem_zalloc(buckets + 1, sizeof *at);
    struct stack_ref *sorted = pgk_mem_alloc(n + 1, sizeof *sorted);
    if (!at || !sorted) {
        pgk_mem_free(at);
        pgk_mem_free(sorted);
        return pgk_fail_nomem(r->err);
    }
    for (size_t i = 0; i < n; i++)
        at[((r->entries.v[r->stacks.v[i].entry].id - low) >> shift) + 1]++;
    for (size_t b = 1; b <= buckets; b++)
        at[b] += at[b - 1];
    for (size_t i = 0; i < n; i++)
        sorted[at[(r->entries.v[r->stacks.v[i].entry].id - low) >> shift]++] = r->stacks.v[i];
    pgk_mem_free(at);
    pgk_mem_free(r->stacks.v);
    r->stacks.v = sorted;
    r->stacks.cap = n + 1;
    return 0;
}

/* Addresses of a stack in the file, leaf first. */
struct pcs {
    const uint8_t *v;
    uint64_t n;
};

static struct pcs pcs_at(const struct reader *r, uint64_t off)
{
    const uint8_t *p = bytes_at(r, off) + 2 * sizeof(uint64_t);
    return (struct pcs){p, pc_at(p - sizeof(uint64_t), 0)};
}

/* The number of callers that two stacks share, from the program's entry on. */
static uint64_t shared_callers(const struct pcs *a, const struct pcs *b)
{
    uint64_t n = 0, most = a->n < b->n ? a->n : b->n;
    while (n < most && pc_at(a->v, a->n - 1 - n) == pc_at(b->v, b->n - 1 - n))
        n++;
    return n;
}

/* Puts a stack into the tree; of what it shares with the one before, the nodes are known. */
static int add_stack(struct reader *r, const struct stack_ref *ref, const struct pcs *before)
{
    struct pcs pcs = pcs_at(r, ref->off);
    uint64_t shared = shared_callers(&pcs, before);
    r->path.n = 0;
    if (!pgk_vec_reserve(&r->path, pcs.n + 1))
        return pgk_fail_nomem(r->err);
    r->frames.n = 0;
    if (!pgk_vec_reserve(&r->frames, pcs.n - shared))
        return pgk_fail_nomem(r->err);
    for (uint64_t depth = shared; depth < pcs.n; depth++) {
        uint32_t frame = frame_of_pc(r, pc_at(pcs.v, pcs.n - 1 - depth));
        if (frame == PGK_INDEX_NONE)
            return pgk_fail_nomem(r->err);
        r->frames.v[r->frames.n++] = frame;
    }
    if (!pgk_heap_push(r->heap, r->path.v[shared], r->frames.v, r->frames.n,
                       r->path.v + shared + 1))
        return pgk_fail_nomem(r->err);
    const uint32_t node = r->path.v[pcs.n];
    struct entry *e = &r->entries.v[ref->entry];
    if (e->node == PGK_NODE_NONE)
        e->node = node;
    else if (e->node != node && !r->segments_changed)
        return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, ref->off,
                              .record = RECORD(r, "stack", ref->number), .field = "addresses",
                              .found = PGK_F("another stack under id %" PRIu64, e->id),
                              .expected = "one stack for each id of a process",
                              .hint = "two processes wrote into one file; record them apart");
    return 0;
}

static int add_stack_range(struct reader *r, size_t first, size_t end)
{
    enum { AHEAD = 8 };
    struct pcs before = {0};
    if (first)
        before = pcs_at(r, r->stacks.v[first - 1].off);
    for (size_t i = first; i < end; i++) {
        if (i + AHEAD < r->stacks.n) {
            const struct stack_ref *soon = &r->stacks.v[i + AHEAD];
            __builtin_prefetch(&r->entries.v[soon->entry], 1);
            for (size_t line = 0; line < 4; line++)
                __builtin_prefetch(bytes_at(r, soon->off) + line * CACHE_LINE);
        }
        PGK_TRY(add_stack(r, &r->stacks.v[i], &before));
        before = pcs_at(r, r->stacks.v[i].off);
    }
    return 0;
}

static int add_stacks(struct reader *r)
{
    enum { AT_ONCE = 4096 }; /* nodes, about */
    r->path.n = 0;
    if (!pgk_vec_push(&r->path, 0))
        return pgk_fail_nomem(r->err);
    if (!r->heap->sharing)
        return add_stack_range(r, 0, r->stacks.n);
    for (size_t first = 0, end = 0; first < r->stacks.n; first = end) {
        size_t nodes = 0;
        while (end < r->stacks.n && nodes < AT_ONCE)
            nodes += pcs_at(r, r->stacks.v[end++].off).n;
        PGK_TRY(pgk_heap_claim(r->heap, nodes, 0, r->err));
        int status = add_stack_range(r, first, end);
        pgk_heap_release(r->heap, nodes, 0);
        PGK_TRY(status);
    }
    return 0;
}

static int read_stacks(struct reader *r, uint64_t off)
{
    struct pgk_cursor *c = r->c;
    pgk_cur_seek(c, off, "stack_off");
    uint64_t count = pgk_cur_count(c, 2 * sizeof(uint64_t), "stack count");
    PGK_TRY(pgk_cur_check(c, r->err, PGK_F("dump %u, stacks", r->dump)));
    r->stacks.n = 0;
    if (!pgk_vec_reserve(&r->stacks, count))
        return pgk_fail_nomem(r->err);
    uint32_t guess = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = pgk_cur_off(c);
        uint64_t id = pgk_cur_u64(c, "stack id");
        uint64_t n = pgk_cur_count(c, sizeof(uint64_t), "number of addresses");
        pgk_cur_take(c, n * sizeof(uint64_t), "addresses");
        if (c->failed)
            return pgk_cur_check(c, r->err, RECORD(r, "stack", i));
        uint32_t e = find_entry(r, id, guess);
        if (e == PGK_INDEX_NONE)
            continue; /* a stack without blocks says nothing */
        guess = e + 1;
        r->stacks.v[r->stacks.n++] = (struct stack_ref){at, e, (uint32_t)i};
    }
    PGK_TRY(sort_stacks(r));
    return add_stacks(r);
}

static int add_allocated(struct reader *r)
{
    struct entry e = {.off = pgk_cur_off(r->c), .node = PGK_NODE_NONE};
    const struct pgk_raw_allocated allocated = pgk_raw_allocated_read(r->c, &r->dump_notes);
    e.id = allocated.context;
    uint32_t at = find_entry(r, e.id, PGK_INDEX_NONE);
    if (at == PGK_INDEX_NONE && add_entry(r, &e))
        at = (uint32_t)r->entries.n - 1;
    struct pgk_alive *alive = at == PGK_INDEX_NONE ? NULL : alive_of(r, at);
    if (!alive || !pgk_raw_times_add_allocated(&r->times, at, &allocated))
        return pgk_fail_nomem(r->err);
    alive->objects += (uint32_t)allocated.objects;
    alive->bytes += allocated.bytes;
    alive->start_ms += allocated.start_ms;
    note_event(r, allocated.last_ms);
    return 0;
}

static int read_notes(struct reader *r, uint64_t mib_off, uint64_t segments_end)
{
    struct pgk_raw_notes notes;
    PGK_TRY(pgk_raw_notes_read(r->c, r->dump, mib_off, segments_end, &notes, r->err));
    r->dump_notes = notes;
    if (notes.there) {
        pgk_heap_hold_names(r->heap);
        int status = pgk_raw_texts_read(&r->texts, &r->heap->strings, r->c, r->dump, &notes,
                                        r->err);
        pgk_heap_let_names(r->heap);
        PGK_TRY(status);
    }
    if (notes.there)
        PGK_TRY(pgk_raw_times_add(&r->times, r->c, r->dump, &notes, r->err));
    r->notes |= notes.flags;
    r->noted |= notes.there;
    if (notes.own_ns) { /* of the process so far: the last dump says it best */
        r->own_ns = notes.own_ns;
        r->own_bytes = notes.own_bytes;
    }
    r->sheet = pgk_raw_notes_of_sheet(&notes);
    const uint64_t contexts = pgk_raw_part_open(r->c, &notes, PGK_NOTES_ALLOCATED);
    miss_times(r, contexts);
    for (uint64_t i = 0; i < contexts; i++)
        PGK_TRY(add_allocated(r));
    return pgk_cur_check(r->c, r->err, PGK_F("dump %u, allocations", r->dump));
}

/* The contexts over time of a finished dump, whose MIBs have been read. */
static int read_lives(struct reader *r)
{
    const uint64_t lives = pgk_raw_part_open(r->c, &r->dump_notes, PGK_NOTES_LIVES);
    uint32_t guess = 0;
    if (lives && !pgk_raw_times_reserve(&r->times, r->entries.n))
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < lives; i++) {
        const struct pgk_raw_life life = pgk_raw_life_read(r->c, &r->dump_notes);
        if (r->c->failed)
            return pgk_cur_check(r->c, r->err, RECORD(r, "context over time", i));
        uint32_t at = find_entry(r, life.context, guess);
        if (at == PGK_INDEX_NONE)
            continue; /* its objects are in a file that the program has put away */
        if (!pgk_raw_times_add_life(&r->times, at, r->dump, &life))
            return pgk_fail_nomem(r->err);
        guess = at + 1;
    }
    return 0;
}

static int read_dump(struct reader *r, const uint8_t *bytes, size_t size, uint64_t off,
                     const struct pgk_source *src, size_t *used)
{
    struct pgk_source here = *src;
    here.base_off += off;
    struct pgk_cursor c;
    struct pgk_heap_raw_header h;
    pgk_cur_init(&c, bytes + off, size - off, &here);
    PGK_TRY(read_header(&c, &h, r->err, PGK_F("dump %u, header", r->dump)));
    c.end = c.start + h.total_size;
    r->c = &c;
    r->version = (uint32_t)h.version;
    /* Addresses belong to the segments of their own dump. */
    r->pc_used = 0;
    if (r->pcs)
        memset(r->pcs, 0, ((size_t)r->pc_mask + 1) * sizeof *r->pcs);
    /* Offsets count from the start of the dump. */
    if (h.segment_off > h.total_size || h.mib_off > h.total_size || h.stack_off > h.total_size)
        return pgk_cur_reject(&c, r->err, PGK_E_CORRUPT, here.base_off + 24,
                              .record = PGK_F("dump %u, header", r->dump),
                              .field = "section offsets",
                              .found = PGK_F("%" PRIu64 ", %" PRIu64 ", %" PRIu64, h.segment_off,
                                             h.mib_off, h.stack_off),
                              .expected = PGK_F("at most the dump's %" PRIu64 " bytes",
                                                h.total_size),
                              .hint = "record the profile again");
    /* All at once, so that what one profile loaded stands together. */
    pgk_heap_hold_names(r->heap);
    int status = read_segments(r, here.base_off + h.segment_off);
    pgk_heap_let_names(r->heap);
    PGK_TRY(status);
    PGK_TRY(read_notes(r, h.mib_off, pgk_cur_off(&c) - here.base_off));
    PGK_TRY(read_mibs(r, here.base_off + h.mib_off));
    PGK_TRY(read_lives(r));
    PGK_TRY(read_stacks(r, here.base_off + h.stack_off));
    *used = h.total_size;
    return 0;
}

/* Contexts lie all over the model: what will be needed soon is asked for early, first the
 * position of the context, then the context. */
static void look_ahead(const struct reader *r, size_t i)
{
    enum { FAR = 16, NEAR = 8 };
    if (i + FAR < r->entries.n)
        pgk_heap_prefetch_position(r->heap, r->entries.v[i + FAR].node);
    if (i + NEAR < r->entries.n)
        pgk_heap_prefetch_context(r->heap, r->entries.v[i + NEAR].node);
}

static int add_context_range(struct reader *r, const struct pgk_source *src, size_t first,
                             size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct entry *e = &r->entries.v[i];
        look_ahead(r, i);
        struct pgk_mib one, *m = e->merged ? e->merged : &one;
        if (!e->version)
            one = (struct pgk_mib){.known = 0};
        else if (!e->merged)
            PGK_TRY(read_block(r, e->version, e->off, &one));
        if (i < r->alive.n)
            r->objects_alive += pgk_alive_add(&r->alive.v[i], r->last_ms, m);
        if (!m->known) { /* killed before its first object: no context of the model */
            e->node = PGK_NODE_NONE;
            continue;
        }
        pgk_raw_times_give(&r->times, i, m);
        if (r->heap->no_partial_accesses && r->notes & PGK_NOTE_LIBRARY_ACCESSES)
            pgk_mib_forget_accesses(m);
        if (e->node == PGK_NODE_NONE)
            return pgk_fail(r->err, PGK_E_CORRUPT, .file = src->file, .format = src->format,
                            .version = r->version, .offset = &e->off,
                            .record = RECORD(r, "MIB", i), .field = "stack id",
                            .found = PGK_F("id %" PRIu64 ", which no stack has", e->id),
                            .expected = "an id of the stack section",
                            .hint = "record the profile again");
        PGK_TRY(pgk_heap_add(r->heap, e->node, m, r->err));
    }
    return 0;
}

/* Moves the entries into the model. */
static int add_contexts(struct reader *r, const struct pgk_source *src)
{
    enum { AT_ONCE = 1024 };
    for (size_t first = 0, end; first < r->entries.n; first = end) {
        end = r->entries.n - first < AT_ONCE ? r->entries.n : first + AT_ONCE;
        PGK_TRY(pgk_heap_claim(r->heap, 0, end - first, r->err));
        int status = add_context_range(r, src, first, end);
        pgk_heap_release(r->heap, 0, end - first);
        PGK_TRY(status);
    }
    return 0;
}

static uint32_t stack_of(const void *reader, uint64_t id)
{
    const struct reader *r = reader;
    const uint32_t at = find_entry(r, id, PGK_INDEX_NONE);
    return at == PGK_INDEX_NONE || r->entries.v[at].node == PGK_NODE_NONE ? 0
                                                                          : r->entries.v[at].node;
}

static int add_curve(struct reader *r)
{
    if (r->times.missing)
        return 0;
    if (!pgk_raw_times_give_shares(&r->times, stack_of, r))
        return pgk_fail_nomem(r->err);
    pgk_heap_hold_names(r->heap);
    bool ok = pgk_over_time_merge(&r->heap->over_time, &r->times.curve, NULL);
    pgk_heap_let_names(r->heap);
    return ok ? 0 : pgk_fail_nomem(r->err);
}

static int add_texts(struct reader *r)
{
    pgk_heap_hold_names(r->heap);
    for (size_t i = 0; i < r->texts.paths.n && i < r->modules.n; i++)
        pgk_heap_note_path(r->heap, r->modules.v[i], r->texts.paths.v[i]);
    const bool ok = pgk_recorded_merge(&r->heap->recorded, &r->heap->strings,
                                       &r->texts.recorded, &r->heap->strings);
    pgk_heap_let_names(r->heap);
    return ok ? 0 : pgk_fail_nomem(r->err);
}

/* The file is of one process. */
static void tell_origin(const struct reader *r, struct pgk_heap_read_info *info)
{
    const struct pgk_heap_read_info found = {
        .version = r->version,
        .origin = {.processes = 1,
                   .dumps = r->dump,
                   .interrupted = (r->notes & PGK_NOTE_INTERRUPTED) != 0,
                   .library_accesses = (r->notes & PGK_NOTE_LIBRARY_ACCESSES) != 0,
                   .one_thread = r->noted && !(r->notes & PGK_NOTE_THREADS),
                   .alive = r->objects_alive,
                   .own_ns = r->own_ns,
                   .own_bytes = r->own_bytes},
    };
    pgk_heap_add_origin(r->heap, &found.origin);
    if (info)
        *info = found;
}

int pgk_heap_raw_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                      const struct pgk_source *src, struct pgk_heap_read_info *info,
                      struct pgk_err *err)
{
    struct reader r = {.heap = h, .err = err, .bytes = bytes, .base_off = src->base_off};
    int status = 0;
    size_t off = 0, used = 0;
    do {
        r.dump++;
        status = read_dump(&r, bytes, size, off, src, &used);
        off += used;
    } while (!status && off < size);
    if (!status)
        status = add_contexts(&r, src);
    if (!status)
        status = add_curve(&r);
    if (!status)
        status = add_texts(&r);
    if (!status)
        tell_origin(&r, info);
    pgk_vec_free(&r.entries);
    pgk_vec_free(&r.alive);
    pgk_raw_times_free(&r.times);
    pgk_raw_texts_free(&r.texts);
    pgk_vec_free(&r.modules);
    pgk_index_free(&r.by_id);
    pgk_vec_free(&r.segments);
    pgk_mem_free(r.pcs);
    pgk_arena_free(&r.scratch);
    pgk_vec_free(&r.hist);
    pgk_vec_free(&r.stacks);
    pgk_vec_free(&r.path);
    pgk_vec_free(&r.frames);
    return status;
}
