/* Reader of raw heap profiles: dumps with their blocks and notes, and the contexts that come of
 * them. docs/formats/raw-heap.md */
#include "heap_raw_priv.h"

#include "heap_shared.h"

enum { HEADER_SIZE = 48 };

int pgk_raw_header_read(struct pgk_cursor *c, struct pgk_heap_raw_header *h, struct pgk_err *err,
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

bool pgk_raw_entry_add(struct pgk_raw_reader *r, const struct pgk_raw_entry *e)
{
    return pgk_vec_push(&r->entries, *e) &&
           pgk_index_add(&r->by_id, pgk_hash_u64(e->id), (uint32_t)r->entries.n - 1);
}

/* The block of a file offset, which was checked; its histogram lies in `hist`, of the reader. */
static int read_block(struct pgk_raw_reader *r, uint32_t version, uint64_t off, struct pgk_mib *m)
{
    const struct pgk_raw_file_layout *layout = pgk_raw_layout_of(r, version);
    const enum pgk_raw_element element = layout->row->element;
    const uint8_t *p = pgk_raw_bytes_at(r, off) + sizeof(uint64_t);
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
static int step_entry(struct pgk_raw_reader *r, struct pgk_raw_entry *e, uint32_t version,
                      uint64_t off)
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
static struct pgk_alive *alive_of(struct pgk_raw_reader *r, size_t entry)
{
    while (r->alive.n <= entry)
        if (!pgk_vec_push(&r->alive, (struct pgk_alive){0}))
            return NULL;
    return &r->alive.v[entry];
}

static void note_event(struct pgk_raw_reader *r, uint64_t ms)
{
    if (ms > r->last_ms)
        r->last_ms = (uint32_t)ms;
}

static bool close_objects(struct pgk_raw_reader *r, size_t entry, const struct pgk_mib *closed)
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
static int add_block(struct pgk_raw_reader *r, uint64_t id, uint32_t version, uint64_t off,
                     uint32_t *at)
{
    *at = pgk_raw_entry_find(r, id, PGK_INDEX_NONE);
    if (*at == PGK_INDEX_NONE) {
        const struct pgk_raw_entry e = {.id = id, .off = off, .node = PGK_NODE_NONE,
                                        .version = (uint16_t)version};
        *at = (uint32_t)r->entries.n;
        return pgk_raw_entry_add(r, &e) ? 0 : pgk_fail_nomem(r->err);
    }
    struct pgk_raw_entry *e = &r->entries.v[*at];
    if (e->version)
        return step_entry(r, e, version, off);
    e->off = off;
    e->version = (uint16_t)version;
    return 0;
}

/* A fact that one dump with contexts lacks is unknown for all. */
static void miss_times(struct pgk_raw_reader *r, uint64_t contexts)
{
    const struct pgk_raw_notes *notes = &r->dump_notes;
    r->times.missing |= contexts && !notes->there;
    r->times.not_touched |= contexts && (!notes->there || notes->flags & PGK_NOTE_MERGED);
    r->cut_unknown |= contexts && !(notes->flags & PGK_NOTE_CUT);
}

static int read_mibs(struct pgk_raw_reader *r, uint64_t off)
{
    struct pgk_cursor *c = r->c;
    const struct pgk_raw_file_layout *of_file = pgk_raw_layout_of(r, r->version);
    const struct pgk_raw_mib *layout = &of_file->mib;
    const size_t element_size = pgk_raw_element_size(of_file->row->element);
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

static int add_allocated(struct pgk_raw_reader *r)
{
    struct pgk_raw_entry e = {.off = pgk_cur_off(r->c), .node = PGK_NODE_NONE};
    const struct pgk_raw_allocated allocated = pgk_raw_allocated_read(r->c, &r->dump_notes);
    const bool cut = allocated.context & PGK_NOTES_CUT_STACK;
    e.id = allocated.context & ~PGK_NOTES_CUT_STACK;
    uint32_t at = pgk_raw_entry_find(r, e.id, PGK_INDEX_NONE);
    if (at == PGK_INDEX_NONE && pgk_raw_entry_add(r, &e))
        at = (uint32_t)r->entries.n - 1;
    struct pgk_alive *alive = at == PGK_INDEX_NONE ? NULL : alive_of(r, at);
    if (!alive || !pgk_raw_times_add_allocated(&r->times, at, &allocated))
        return pgk_fail_nomem(r->err);
    r->entries.v[at].cut |= cut;
    alive->objects += (uint32_t)allocated.objects;
    alive->bytes += allocated.bytes;
    alive->start_ms += allocated.start_ms;
    note_event(r, allocated.last_ms);
    return 0;
}

static int read_notes(struct pgk_raw_reader *r, uint64_t mib_off, uint64_t segments_end)
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
    pgk_raw_samples_note(&r->samples, &notes);
    r->notes |= notes.flags;
    r->noted |= notes.there;
    if (notes.own_ns) { /* of the process so far: the last dump says it best */
        r->own_ns = notes.own_ns;
        r->own_bytes = notes.own_bytes;
    }
    r->sheet = pgk_raw_notes_of_sheet(&notes);
    r->finished += notes.there && !r->sheet;
    const uint64_t contexts = pgk_raw_part_open(r->c, &notes, PGK_NOTES_ALLOCATED);
    miss_times(r, contexts);
    for (uint64_t i = 0; i < contexts; i++)
        PGK_TRY(add_allocated(r));
    return pgk_cur_check(r->c, r->err, PGK_F("dump %u, allocations", r->dump));
}

/* The contexts over time of a finished dump, whose MIBs have been read. */
static int read_lives(struct pgk_raw_reader *r)
{
    const uint64_t lives = pgk_raw_part_open(r->c, &r->dump_notes, PGK_NOTES_LIVES);
    uint32_t guess = 0;
    if (lives && !pgk_raw_times_reserve(&r->times, r->entries.n))
        return pgk_fail_nomem(r->err);
    for (uint64_t i = 0; i < lives; i++) {
        const struct pgk_raw_life life = pgk_raw_life_read(r->c, &r->dump_notes);
        if (r->c->failed)
            return pgk_cur_check(r->c, r->err, RECORD(r, "context over time", i));
        uint32_t at = pgk_raw_entry_find(r, life.context, guess);
        if (at == PGK_INDEX_NONE)
            continue; /* its objects are in a file that the program has put away */
        if (!pgk_raw_times_add_life(&r->times, at, r->dump, &life))
            return pgk_fail_nomem(r->err);
        guess = at + 1;
    }
    return 0;
}

/* What the figures of contexts stand on, in a sampled dump. */
static int read_samples(struct pgk_raw_reader *r)
{
    const uint64_t samples = pgk_raw_part_open(r->c, &r->dump_notes, PGK_NOTES_SAMPLES);
    uint32_t guess = 0;
    for (uint64_t i = 0; i < samples; i++) {
        const struct pgk_raw_sample sample = pgk_raw_sample_read(r->c, &r->dump_notes);
        if (r->c->failed)
            return pgk_cur_check(r->c, r->err, RECORD(r, "samples", i));
        const uint32_t at = pgk_raw_entry_find(r, sample.stack_id, guess);
        if (at == PGK_INDEX_NONE)
            continue; /* its objects are in a file that the program has put away */
        if (!pgk_raw_samples_add(&r->samples, at, &sample))
            return pgk_fail_nomem(r->err);
        guess = at + 1;
    }
    return 0;
}

/* The stacks of a finished dump that have more frames than it kept. */
static int read_cut(struct pgk_raw_reader *r)
{
    const uint64_t stacks = pgk_raw_part_open(r->c, &r->dump_notes, PGK_NOTES_CUT);
    for (uint64_t i = 0; i < stacks; i++) {
        const uint32_t at = pgk_raw_entry_find(
            r, pgk_raw_cut_read(r->c, &r->dump_notes), PGK_INDEX_NONE);
        if (at != PGK_INDEX_NONE)
            r->entries.v[at].cut = true;
    }
    return pgk_cur_check(r->c, r->err, PGK_F("dump %u, cut stacks", r->dump));
}

static int read_dump(struct pgk_raw_reader *r, const uint8_t *bytes, size_t size, uint64_t off,
                     const struct pgk_source *src, size_t *used)
{
    struct pgk_source here = *src;
    here.base_off += off;
    struct pgk_cursor c;
    struct pgk_heap_raw_header h;
    pgk_cur_init(&c, bytes + off, size - off, &here);
    PGK_TRY(pgk_raw_header_read(&c, &h, r->err, PGK_F("dump %u, header", r->dump)));
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
    int status = pgk_raw_segments_read(r, here.base_off + h.segment_off);
    pgk_heap_let_names(r->heap);
    PGK_TRY(status);
    PGK_TRY(read_notes(r, h.mib_off, pgk_cur_off(&c) - here.base_off));
    PGK_TRY(read_mibs(r, here.base_off + h.mib_off));
    PGK_TRY(read_lives(r));
    PGK_TRY(read_samples(r));
    PGK_TRY(read_cut(r));
    PGK_TRY(pgk_raw_stacks_read(r, here.base_off + h.stack_off));
    *used = h.total_size;
    return 0;
}

/* Contexts lie all over the model: what will be needed soon is asked for early, first the
 * position of the context, then the context. */
static void look_ahead(const struct pgk_raw_reader *r, size_t i)
{
    enum { FAR = 16, NEAR = 8 };
    if (i + FAR < r->entries.n)
        pgk_heap_prefetch_position(r->heap, r->entries.v[i + FAR].node);
    if (i + NEAR < r->entries.n)
        pgk_heap_prefetch_context(r->heap, r->entries.v[i + NEAR].node);
}

static int add_context_range(struct pgk_raw_reader *r, const struct pgk_source *src, size_t first,
                             size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct pgk_raw_entry *e = &r->entries.v[i];
        look_ahead(r, i);
        if (e->node == PGK_NODE_NONE && !e->version)
            continue; /* it began while the file was copied, in a sheet after that of its stack */
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
        pgk_raw_samples_give(&r->samples, i, m);
        if (!r->cut_unknown)
            pgk_mib_set(m, PGK_MIB_CutSize, e->cut ? m->v[PGK_MIB_TotalSize] : 0);
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
static int add_contexts(struct pgk_raw_reader *r, const struct pgk_source *src)
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
    const struct pgk_raw_reader *r = reader;
    const uint32_t at = pgk_raw_entry_find(r, id, PGK_INDEX_NONE);
    return at == PGK_INDEX_NONE || r->entries.v[at].node == PGK_NODE_NONE ? 0
                                                                          : r->entries.v[at].node;
}

static int add_curve(struct pgk_raw_reader *r)
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

static int add_texts(struct pgk_raw_reader *r)
{
    pgk_heap_hold_names(r->heap);
    for (size_t i = 0; i < r->texts.paths.n && i < r->modules.n; i++)
        pgk_heap_note_path(r->heap, r->modules.v[i], r->texts.paths.v[i]);
    const bool ok = pgk_recorded_merge(&r->heap->recorded, &r->heap->strings,
                                       &r->texts.recorded, &r->heap->strings);
    pgk_heap_let_names(r->heap);
    return ok ? 0 : pgk_fail_nomem(r->err);
}

/* The file is of one process. Sheets are no dumps that somebody asked for. */
static void note_origin(const struct pgk_raw_reader *r, struct pgk_heap_read_info *info)
{
    struct pgk_heap_read_info found = {
        .version = r->version,
        .origin = {.processes = 1,
                   .dumps = r->noted ? r->finished : r->dump,
                   .interrupted = (r->notes & PGK_NOTE_INTERRUPTED) != 0,
                   .library_accesses = (r->notes & PGK_NOTE_LIBRARY_ACCESSES) != 0,
                   .one_thread = r->noted && !(r->notes & PGK_NOTE_THREADS),
                   .alive = r->objects_alive,
                   .own_ns = r->own_ns,
                   .own_bytes = r->own_bytes},
    };
    pgk_raw_samples_describe(&r->samples, &found.origin);
    pgk_heap_add_origin(r->heap, &found.origin);
    if (info)
        *info = found;
}

int pgk_heap_raw_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                      const struct pgk_source *src, struct pgk_heap_read_info *info,
                      struct pgk_err *err)
{
    struct pgk_raw_reader r = {.heap = h, .err = err, .bytes = bytes, .base_off = src->base_off};
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
        note_origin(&r, info);
    pgk_vec_free(&r.entries);
    pgk_vec_free(&r.alive);
    pgk_raw_times_free(&r.times);
    pgk_raw_samples_free(&r.samples);
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
