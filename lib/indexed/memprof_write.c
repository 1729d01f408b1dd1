/* Writer of the MemProf section, V0 to V4. docs/formats/indexed-heap.md sections 4 to 7. */
#include "estimate.h"
#include "hash.h"
#include "heap_llvm_summary.h"
#include "indexed.h"
#include "ondisk_table.h"
#include "pool.h"
#include "record_members.h"
#include "rekey.h"

struct writer {
    const struct pgk_heap *h;
    struct pgk_sink *out;
    struct pgk_memprof_version v;
    unsigned threads;
    struct pgk_radix_stacks radix;
    uint8_t schema[PGK_MIB_FIELDS];
    size_t n_fields, mib_size;
    size_t block_size;           /* of an alloc site in a record */
    uint8_t *blocks;             /* by rank of a context's stack: alloc site as in a record */
    bool *owned;                 /* the same: it stands in the records of its inline chain */
    struct pgk_record_members members;
    uint64_t *stack_ids;         /* V2: by rank */
    uint64_t summary[6];         /* V4 */
    uint64_t offs;               /* V3, V4: where those of the parts stand */
    struct pgk_heap *mine;       /* the same as `h` if parts of it may be given back; else NULL */
};

static bool is_site(uint32_t ref)
{
    return ref & PGK_MEMBER_SITE;
}

static const struct pgk_heap_site *site_of(const struct writer *w, uint32_t ref)
{
    return &w->h->sites.v[ref & ~PGK_MEMBER_SITE];
}

static uint32_t stack_of(const struct writer *w, uint32_t ref)
{
    return is_site(ref) ? site_of(w, ref)->stack : w->radix.stacks[ref];
}

/* Function records. */

static uint64_t stack_depth(const struct writer *w, uint32_t stack)
{
    uint64_t n = 0;
    for (uint32_t i = stack; i; i = w->h->stacks.nodes.v[i].parent)
        n++;
    return n;
}

static void write_frame_ids(const struct writer *w, uint32_t stack, struct pgk_sink *out)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    for (uint32_t i = stack; i; i = nodes[i].parent)
        pgk_sink_u64(out, w->radix.frame_ids[nodes[i].frame]);
}

/* The id of a stack in a record, except in versions that spell it out. */
static size_t stack_name_bytes(const struct writer *w)
{
    return w->v.stacks == PGK_MEMPROF_BY_PLACE ? sizeof *w->radix.starts
           : w->v.stacks == PGK_MEMPROF_BY_ID  ? sizeof *w->stack_ids
                                               : 0;
}

/* Returns the size of the name. */
static size_t pack_stack_name(const struct writer *w, uint32_t rank, uint8_t *out)
{
    if (w->v.stacks == PGK_MEMPROF_BY_PLACE)
        memcpy(out, &w->radix.starts[rank], sizeof *w->radix.starts);
    else if (w->v.stacks == PGK_MEMPROF_BY_ID)
        memcpy(out, &w->stack_ids[rank], sizeof *w->stack_ids);
    return stack_name_bytes(w);
}

/* Blocks lie in another order than contexts: asks early for what is needed soon. */
static void look_ahead(const struct writer *w, size_t context)
{
    enum { NEAR = 8 };
    const struct pgk_heap_context *c = w->h->contexts.v;
    if (context + NEAR < w->h->contexts.n && c[context + NEAR].stack)
        __builtin_prefetch(
            w->blocks + pgk_radix_rank(&w->radix, c[context + NEAR].stack) * w->block_size, 1);
}

static uint64_t file_value(const struct writer *w, const struct pgk_heap_context *c,
                           enum pgk_mib_id id)
{
    const bool sampled = c->known >> PGK_MIB_SampleCount & 1;
    struct pgk_mib m;
    if (sampled)
        pgk_context_get(w->h, c, &m);
    const uint64_t known =
        pgk_mib_known_by_signs(sampled ? pgk_mib_known_without_samples(&m) : c->known);
    const uint64_t sign = pgk_mib_unknown_sign(id, known);
    if (sign)
        return sign;
    if (!(known >> id & 1))
        return 0;
    return sampled ? pgk_mib_llvm_value(&m, id) : pgk_context_file_value(w->h, c, id);
}

/* A context is written once for each function of its inline chain, so it is packed once. */
static void pack_blocks(struct writer *w, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct pgk_heap_context *c = &w->h->contexts.v[i];
        look_ahead(w, i);
        if (!c->stack)
            continue;
        uint32_t rank = pgk_radix_rank(&w->radix, c->stack);
        uint8_t *at = w->blocks + rank * w->block_size;
        w->owned[rank] = c->owned_by_chain;
        at += pack_stack_name(w, rank, at);
        for (size_t k = 0; k < w->n_fields; k++) {
            uint64_t v = file_value(w, c, w->schema[k]);
            memcpy(at, &v, pgk_mib_fields[w->schema[k]].bytes);
            at += pgk_mib_fields[w->schema[k]].bytes;
        }
    }
}

static bool spells_stacks(const struct writer *w)
{
    return w->v.stacks == PGK_MEMPROF_BY_FRAMES;
}

static uint64_t spelled_size(const struct writer *w, uint32_t ref)
{
    return spells_stacks(w) ? 8 + 8 * stack_depth(w, stack_of(w, ref)) : 0;
}

static uint64_t record_size(void *ctx, size_t record)
{
    const struct writer *w = ctx;
    uint64_t size = 16, name = w->block_size - w->mib_size;
    for (uint32_t i = w->members.first[record]; i < w->members.first[record + 1]; i++) {
        uint32_t ref = w->members.refs[i];
        size += spelled_size(w, ref);
        if (!is_site(ref))
            size += w->block_size;
        else
            size += name + (w->v.extras ? 8 + 8 * (uint64_t)site_of(w, ref)->n_callees : 0);
    }
    return size;
}

static void spell_stack(const struct writer *w, uint32_t ref, struct pgk_sink *out)
{
    if (!spells_stacks(w))
        return;
    uint32_t stack = stack_of(w, ref);
    pgk_sink_u64(out, stack_depth(w, stack));
    write_frame_ids(w, stack, out);
}

static void write_call(const struct writer *w, uint32_t ref, struct pgk_sink *out)
{
    const struct pgk_heap_site *s = site_of(w, ref);
    uint8_t name[8];
    spell_stack(w, ref, out);
    pgk_sink_bytes(out, name, pack_stack_name(w, pgk_radix_rank(&w->radix, s->stack), name));
    if (!w->v.extras)
        return;
    pgk_sink_u64(out, s->n_callees);
    for (uint32_t c = 0; c < s->n_callees; c++)
        pgk_sink_u64(out, s->callees[c]);
}

/* Blocks lie all over the table; a few at a time are handed on together. `n` of them, in a version
 * that does not spell stacks out. */
static void write_blocks(const struct writer *w, const uint32_t *ranks, size_t n,
                         struct pgk_sink *out)
{
    enum { AHEAD = 12, BUFFER_BYTES = 4096 };
    enum { USUAL = 32 }; /* bytes of a record with the fields that compilers use */
    uint8_t buffer[BUFFER_BYTES], *at = buffer;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *block = w->blocks + ranks[i] * w->block_size;
        if (i + AHEAD < n)
            __builtin_prefetch(w->blocks + ranks[i + AHEAD] * w->block_size);
        if ((size_t)(buffer + BUFFER_BYTES - at) < w->block_size) {
            pgk_sink_bytes(out, buffer, (size_t)(at - buffer));
            at = buffer;
        }
        if (w->block_size == USUAL)
            memcpy(at, block, USUAL);
        else
            memcpy(at, block, w->block_size);
        at += w->block_size;
    }
    pgk_sink_bytes(out, buffer, (size_t)(at - buffer));
}

static void write_record(void *ctx, size_t record, struct pgk_sink *out)
{
    const struct writer *w = ctx;
    const uint32_t *m = w->members.refs + w->members.first[record],
                   *end = w->members.refs + w->members.first[record + 1], *calls = m;
    while (calls < end && !is_site(*calls))
        calls++;
    pgk_sink_u64(out, (uint64_t)(calls - m));
    if (!spells_stacks(w))
        write_blocks(w, m, (size_t)(calls - m), out);
    for (; m < calls && spells_stacks(w); m++) {
        spell_stack(w, *m, out);
        pgk_sink_bytes(out, w->blocks + *m * w->block_size, w->block_size);
    }
    m = calls;
    pgk_sink_u64(out, (uint64_t)(end - calls));
    for (; m < end; m++)
        write_call(w, *m, out);
}

static bool write_records(struct writer *w, uint64_t *table_off)
{
    struct pgk_ondisk_writer table = {0};
    bool ok = true;
    for (size_t i = 0; i < w->members.guids.n && ok; i++)
        if (w->members.first[i] < w->members.first[i + 1])
            ok = pgk_ondisk_add(&table, w->members.guids.v[i], i);
    ok = ok && pgk_ondisk_write(&table, w->out,
                                &(struct pgk_ondisk_emit){.lengths = PGK_ONDISK_KEY_AND_DATA,
                                                          .size = record_size,
                                                          .emit = write_record,
                                                          .ctx = w,
                                                          .threads = w->threads},
                                table_off);
    pgk_ondisk_free(&table);
    return ok;
}

/* V0 to V2: frames, and in V2 stacks, in hash tables of their own. */

static uint64_t frame_size(void *ctx, size_t frame)
{
    (void)ctx, (void)frame;
    return PGK_FRAME_BYTES;
}

static void write_frame(void *ctx, size_t frame, struct pgk_sink *out)
{
    const struct writer *w = ctx;
    uint8_t packed[PGK_FRAME_BYTES];
    pgk_frame_pack(packed, w->h, (uint32_t)frame);
    pgk_sink_bytes(out, packed, sizeof packed);
}

static uint64_t stack_size(void *ctx, size_t rank)
{
    const struct writer *w = ctx;
    return 8 * stack_depth(w, w->radix.stacks[rank]);
}

static void write_stack(void *ctx, size_t rank, struct pgk_sink *out)
{
    const struct writer *w = ctx;
    write_frame_ids(w, w->radix.stacks[rank], out);
}

static int make_stack_ids(struct writer *w, struct pgk_err *err)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    PGK_VEC(uint64_t) ids = {0};
    w->stack_ids = pgk_mem_alloc(w->radix.n_stacks + 1, sizeof *w->stack_ids);
    bool ok = w->stack_ids != NULL;
    for (uint32_t rank = 0; rank < w->radix.n_stacks && ok; rank++) {
        ids.n = 0;
        for (uint32_t i = w->radix.stacks[rank]; i && ok; i = nodes[i].parent)
            ok = pgk_vec_push(&ids, w->radix.frame_ids[nodes[i].frame]);
        w->stack_ids[rank] = pgk_blake3_low64(ids.v, ids.n * sizeof *ids.v);
    }
    pgk_vec_free(&ids);
    return ok ? 0 : pgk_fail_nomem(err);
}

static bool write_frame_table(struct writer *w, uint64_t *table_off)
{
    struct pgk_ondisk_writer table = {0};
    bool ok = true;
    for (uint32_t i = 0; i < w->radix.n_frames && ok; i++)
        ok = pgk_ondisk_add(&table, w->radix.frame_ids[w->radix.order[i]], w->radix.order[i]);
    ok = ok && pgk_ondisk_write(&table, w->out,
                                &(struct pgk_ondisk_emit){.lengths = PGK_ONDISK_KEY_AND_DATA,
                                                          .size = frame_size,
                                                          .emit = write_frame,
                                                          .ctx = w,
                                                          .threads = w->threads},
                                table_off);
    pgk_ondisk_free(&table);
    return ok;
}

static bool write_stack_table(struct writer *w, uint64_t *table_off)
{
    struct pgk_ondisk_writer table = {0};
    bool ok = true;
    for (uint32_t rank = 0; rank < w->radix.n_stacks && ok; rank++)
        ok = pgk_ondisk_add(&table, w->stack_ids[rank], rank);
    ok = ok && pgk_ondisk_write(&table, w->out,
                                &(struct pgk_ondisk_emit){.lengths = PGK_ONDISK_DATA_ONLY,
                                                          .size = stack_size,
                                                          .emit = write_stack,
                                                          .ctx = w,
                                                          .threads = w->threads},
                                table_off);
    pgk_ondisk_free(&table);
    return ok;
}

static void write_schema(struct writer *w)
{
    pgk_sink_u64(w->out, w->n_fields);
    for (size_t i = 0; i < w->n_fields; i++)
        pgk_sink_u64(w->out, pgk_mib_fields[w->schema[i]].tag);
}

/* Offsets stand in front of what they lead to, so they are filled in at the end. */
static int write_v2(struct writer *w, struct pgk_err *err)
{
    const bool has_stacks = w->v.stacks == PGK_MEMPROF_BY_ID;
    if (w->v.word)
        pgk_sink_u64(w->out, w->v.version);
    uint64_t offs = pgk_sink_off(w->out), records, frames, frame_table, stacks = 0,
             stack_table = 0;
    pgk_sink_zeros(w->out, has_stacks ? 5 * 8 : 3 * 8);
    write_schema(w);
    bool ok = write_records(w, &records);
    frames = pgk_sink_off(w->out);
    ok = ok && write_frame_table(w, &frame_table);
    if (has_stacks) {
        stacks = pgk_sink_off(w->out);
        ok = ok && write_stack_table(w, &stack_table);
    }
    if (!ok)
        return pgk_fail_nomem(err);
    pgk_sink_patch_u64(w->out, offs, records);
    pgk_sink_patch_u64(w->out, offs + 8, frames);
    pgk_sink_patch_u64(w->out, offs + 16, frame_table);
    if (has_stacks) {
        pgk_sink_patch_u64(w->out, offs + 24, stacks);
        pgk_sink_patch_u64(w->out, offs + 32, stack_table);
    }
    return 0;
}

static void sum_up(struct writer *w)
{
    struct pgk_heap_llvm_summary s;
    pgk_heap_llvm_summary(w->h, &s);
    const uint64_t fields[] = {s.contexts,     s.cold,         s.hot,
                               s.largest_cold, s.largest_warm, s.largest_hot};
    memcpy(w->summary, fields, sizeof w->summary);
}

static void write_summary(struct writer *w)
{
    pgk_sink_u32(w->out, PGK_COUNTOF(w->summary));
    for (size_t i = 0; i < PGK_COUNTOF(w->summary); i++)
        pgk_sink_u64(w->out, w->summary[i]);
}

/* The parts in front of the records in V3 and V4. */
static void write_v3_head(struct writer *w)
{
    pgk_sink_u64(w->out, w->v.version);
    w->offs = pgk_sink_off(w->out);
    pgk_sink_zeros(w->out, 3 * 8);
    if (w->v.extras) {
        pgk_sink_u64(w->out, 0); /* of the data access profile, if there is one */
        sum_up(w);
        write_summary(w);
    }
    write_schema(w);
    for (uint32_t i = 0; i < w->radix.n_frames; i++)
        write_frame(w, w->radix.order[i], w->out);
    pgk_sink_patch_u64(w->out, w->offs, pgk_sink_off(w->out));
    pgk_sink_patch_u64(w->out, w->offs + 8,
                       pgk_sink_off(w->out) + w->radix.n_entries * sizeof(uint32_t));
}

static int write_v3_rest(struct writer *w, struct pgk_err *err)
{
    uint64_t records;
    if (!write_records(w, &records))
        return pgk_fail_nomem(err);
    pgk_sink_patch_u64(w->out, w->offs + 16, records);
    if (!w->v.extras || !pgk_data_access_any(&w->h->data))
        return 0;
    pgk_sink_patch_u64(w->out, w->offs + 24, pgk_sink_off(w->out));
    return pgk_data_access_write(w->h, w->out, err);
}

static void choose_schema(struct writer *w, bool full)
{
    const uint64_t fields = pgk_memprof_schema(&w->v, w->h, full);
    for (uint8_t id = 0; id < PGK_MIB_FIELDS; id++) {
        if (!(fields >> id & 1))
            continue;
        w->schema[w->n_fields++] = id;
        w->mib_size += pgk_mib_fields[id].bytes;
    }
}

enum { SHARES = 16 }; /* of the contexts, to be packed */

static int run_share(void *ctx, size_t share, unsigned worker)
{
    struct writer *w = ctx;
    size_t n = w->h->contexts.n;
    (void)worker;
    pack_blocks(w, n * share / SHARES, n * (share + 1) / SHARES);
    return 0;
}

static int make_blocks(struct writer *w)
{
    w->block_size = w->mib_size + stack_name_bytes(w);
    w->blocks = pgk_mem_alloc(w->radix.n_stacks + 1, w->block_size);
    w->owned = pgk_mem_zalloc(w->radix.n_stacks + 1, sizeof *w->owned);
    return w->blocks && w->owned ? pgk_pool_run(w->threads, SHARES, run_share, w) : PGK_E_NOMEM;
}

/* The kind of frame ids of the oldest reader, or a newer one on request. */
static uint32_t frame_ids(const struct writer *w, const struct pgk_indexed_target *t)
{
    const uint32_t index_since = pgk_index_since(t->index_version);
    const uint32_t ids = pgk_memprof_frame_ids(index_since > w->v.since ? index_since : w->v.since);
    return t->frame_ids > ids ? t->frame_ids : ids;
}

/* The large tables of the model are given back as soon as they have been used. */
static int prepare(struct writer *w, const struct pgk_indexed_write_opts *opts,
                   struct pgk_err *err)
{
    enum { FEW_CONTEXTS = 10000 }; /* which are done before a thread has started */
    struct pgk_heap *mine = w->mine;
    const bool by_place = w->v.stacks == PGK_MEMPROF_BY_PLACE;
    w->threads = w->h->contexts.n < FEW_CONTEXTS ? 1 : opts->threads;
    choose_schema(w, opts->full_schema);
    if (mine) {
        pgk_vec_free(&mine->context_of);
        pgk_stack_tree_trim(&mine->stacks);
    }
    PGK_TRY(pgk_radix_build(&w->radix, w->h, frame_ids(w, &opts->target), w->threads, err));
    if (by_place)
        write_v3_head(w);
    PGK_TRY(pgk_radix_write(&w->radix, w->h, by_place ? w->out : NULL, w->threads, err));
    if (w->v.stacks == PGK_MEMPROF_BY_ID)
        PGK_TRY(make_stack_ids(w, err));
    if (make_blocks(w))
        return pgk_fail_nomem(err);
    if (mine && by_place) {
        pgk_vec_free(&mine->contexts);
        pgk_vec_free(&mine->wide);
    }
    PGK_TRY(pgk_record_members_make(&w->members, w->h, &w->radix, w->owned, w->threads, err));
    if (mine && by_place)
        pgk_vec_free(&mine->stacks.nodes);
    return 0;
}

static int write_section(struct writer *w, const struct pgk_indexed_write_opts *opts,
                         struct pgk_err *err)
{
    PGK_TRY(prepare(w, opts, err));
    return w->v.stacks == PGK_MEMPROF_BY_PLACE ? write_v3_rest(w, err) : write_v2(w, err);
}

int pgk_memprof_write(const struct pgk_heap *h, struct pgk_heap *taken, struct pgk_sink *out,
                      const struct pgk_indexed_write_opts *opts, struct pgk_err *err)
{
    struct pgk_heap *plain = NULL;
    PGK_TRY(pgk_heap_for_llvm(&plain, h, err));
    struct writer w = {.h = plain ? plain : h, .mine = plain ? plain : taken, .out = out,
                       .v = *pgk_memprof_version(opts->target.memprof_version)};
    int status = write_section(&w, opts, err);
    pgk_radix_free(&w.radix);
    pgk_mem_free(w.blocks);
    pgk_mem_free(w.owned);
    pgk_record_members_free(&w.members);
    pgk_mem_free(w.stack_ids);
    pgk_heap_close(&plain);
    return status;
}
