/* Writer of the MemProf section, V0 to V4. docs/formats/indexed-heap.md sections 4 to 7. */
#include "hash.h"
#include "indexed.h"
#include "ondisk_table.h"
#include "radix_stacks.h"
#include "rekey.h"
#include "u64_set.h"

#include <stdlib.h>

struct writer {
    const struct pgk_heap *h;
    struct pgk_sink *out;
    uint32_t version;
    struct pgk_radix_stacks radix;
    uint8_t schema[PGK_MIB_FIELDS];
    size_t n_fields, mib_size;
    size_t block_size;           /* of an alloc site in a record */
    uint8_t *blocks;             /* by context: the alloc site as the file holds it */
    uint32_t *context_rank;      /* by context: rank of its stack */
    PGK_VEC(uint64_t) guids;     /* of the records, rising */
    uint32_t *record_of;         /* by function */
    pgk_heap_member_vec members; /* by record, contexts first, each by rank of its stack */
    uint32_t *first_member;      /* by record: its part of `members` */
    uint64_t *stack_ids;         /* V2: by rank */
};

static bool is_site(const struct pgk_heap_member *m)
{
    return m->ref & PGK_MEMBER_SITE;
}

static uint32_t stack_of(const struct writer *w, const struct pgk_heap_member *m)
{
    return is_site(m) ? w->h->sites.v[m->ref & ~PGK_MEMBER_SITE].stack
                      : w->h->contexts.v[m->ref].stack;
}

/* Stable counting sort of members by a key, 0 .. keys-1; `starts` gets keys + 1 positions. */
static bool sort_members(struct writer *w, size_t keys, uint32_t *starts,
                         uint32_t (*key)(const struct writer *, const struct pgk_heap_member *))
{
    size_t n = w->members.n;
    uint32_t *at = pgk_mem_zalloc(keys + 2, sizeof *at);
    struct pgk_heap_member *sorted = pgk_mem_alloc(n + 1, sizeof *sorted);
    if (!at || !sorted) {
        pgk_mem_free(at);
        pgk_mem_free(sorted);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        at[key(w, &w->members.v[i]) + 1]++;
    for (size_t k = 1; k <= keys; k++)
        at[k] += at[k - 1];
    if (starts)
        memcpy(starts, at, (keys + 1) * sizeof *at);
    for (size_t i = 0; i < n; i++)
        sorted[at[key(w, &w->members.v[i])]++] = w->members.v[i];
    pgk_mem_free(at);
    pgk_mem_free(w->members.v);
    w->members.v = sorted;
    w->members.cap = n + 1;
    return true;
}

/* Contexts before call sites, each by rank of the stack. */
static uint32_t key_rank(const struct writer *w, const struct pgk_heap_member *m)
{
    return is_site(m) ? w->radix.n_stacks + w->radix.stack_rank[stack_of(w, m)]
                      : w->context_rank[m->ref];
}

static uint32_t key_record(const struct writer *w, const struct pgk_heap_member *m)
{
    return w->record_of[m->func];
}

/* Records by GUID: the functions of one GUID share one. */
static bool number_records(struct writer *w)
{
    size_t n = w->h->funcs.n;
    w->record_of = pgk_mem_alloc(n + 1, sizeof *w->record_of);
    if (!w->record_of || !pgk_vec_reserve(&w->guids, n + 1))
        return false;
    for (size_t i = 0; i < n; i++)
        w->guids.v[i] = w->h->funcs.v[i].guid;
    w->guids.n = pgk_u64_set(w->guids.v, n);
    for (size_t i = 0; i < n; i++)
        w->record_of[i] =
            (uint32_t)pgk_u64_find(w->guids.v, w->guids.n, w->h->funcs.v[i].guid);
    return true;
}

/* Two functions of one GUID may own one thing; it stands in their record once. */
static void drop_repeated(struct writer *w)
{
    size_t kept = 0, record = 0;
    for (size_t i = 0; i < w->members.n; i++) {
        while (record < w->guids.n && w->first_member[record] <= i)
            w->first_member[record++] = (uint32_t)kept;
        const struct pgk_heap_member *m = &w->members.v[i];
        bool first = kept == w->first_member[record - 1];
        if (first || key_rank(w, m) != key_rank(w, &w->members.v[kept - 1]))
            w->members.v[kept++] = *m;
    }
    while (record <= w->guids.n)
        w->first_member[record++] = (uint32_t)kept;
    w->members.n = kept;
}

static bool order_members(struct writer *w)
{
    if (!number_records(w) || !pgk_heap_members(w->h, &w->members))
        return false;
    w->first_member = pgk_mem_alloc(w->guids.n + 1, sizeof *w->first_member);
    if (!w->first_member || !sort_members(w, 2 * (size_t)w->radix.n_stacks, NULL, key_rank) ||
        !sort_members(w, w->guids.n, w->first_member, key_record))
        return false;
    drop_repeated(w);
    return true;
}

/* Function records. */

static uint64_t stack_depth(const struct writer *w, uint32_t stack)
{
    uint64_t n = 0;
    for (uint32_t i = stack; i; i = w->h->stacks.nodes.v[i].parent)
        n++;
    return n;
}

static void write_frame_ids(const struct writer *w, uint32_t stack)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    for (uint32_t i = stack; i; i = nodes[i].parent)
        pgk_sink_u64(w->out, w->radix.frame_ids[nodes[i].frame]);
}

/* How a record names a stack, for all versions that do not spell it out; returns its size. */
static size_t pack_stack_name(const struct writer *w, uint32_t stack, uint8_t out[8])
{
    if (w->version >= 3) {
        memcpy(out, &w->radix.starts[w->radix.stack_rank[stack]], 4);
        return 4;
    }
    if (w->version == 2) {
        memcpy(out, &w->stack_ids[w->radix.stack_rank[stack]], 8);
        return 8;
    }
    return 0;
}

/* A context is written once for each function of its inline chain, so it is packed once. */
static bool pack_blocks(struct writer *w)
{
    uint8_t name[8];
    size_t n = w->h->contexts.n;
    w->block_size = w->mib_size + (w->version >= 3 ? 4 : w->version == 2 ? 8 : 0);
    w->blocks = pgk_mem_alloc(n + 1, w->block_size);
    if (!w->blocks)
        return false;
    uint8_t *at = w->blocks;
    for (size_t c = 0; c < n; c++) {
        size_t size = pack_stack_name(w, w->h->contexts.v[c].stack, name);
        memcpy(at, name, size);
        at += size;
        for (size_t i = 0; i < w->n_fields; i++) {
            uint64_t v = pgk_mib_file_value(&w->h->contexts.v[c].mib, w->schema[i]);
            memcpy(at, &v, pgk_mib_fields[w->schema[i]].bytes);
            at += pgk_mib_fields[w->schema[i]].bytes;
        }
    }
    return true;
}

static bool rank_contexts(struct writer *w)
{
    w->context_rank = pgk_mem_alloc(w->h->contexts.n + 1, sizeof *w->context_rank);
    for (size_t c = 0; w->context_rank && c < w->h->contexts.n; c++)
        w->context_rank[c] = w->radix.stack_rank[w->h->contexts.v[c].stack];
    return w->context_rank != NULL;
}

static uint64_t spelled_size(const struct writer *w, const struct pgk_heap_member *m)
{
    return w->version >= 2 ? 0 : 8 + 8 * stack_depth(w, stack_of(w, m));
}

static uint64_t record_size(void *ctx, size_t record)
{
    struct writer *w = ctx;
    uint64_t size = 16, name = w->block_size - w->mib_size;
    for (uint32_t i = w->first_member[record]; i < w->first_member[record + 1]; i++) {
        const struct pgk_heap_member *m = &w->members.v[i];
        size += spelled_size(w, m);
        if (!is_site(m))
            size += w->block_size;
        else
            size += name + (w->version < 4 ? 0
                                           : 8 + 8 * (uint64_t)w->h->sites
                                                         .v[m->ref & ~PGK_MEMBER_SITE]
                                                         .n_callees);
    }
    return size;
}

static void spell_stack(struct writer *w, uint32_t stack)
{
    if (w->version >= 2)
        return;
    pgk_sink_u64(w->out, stack_depth(w, stack));
    write_frame_ids(w, stack);
}

static void write_call(struct writer *w, const struct pgk_heap_member *m)
{
    const struct pgk_heap_site *s = &w->h->sites.v[m->ref & ~PGK_MEMBER_SITE];
    uint8_t name[8];
    spell_stack(w, s->stack);
    pgk_sink_bytes(w->out, name, pack_stack_name(w, s->stack, name));
    if (w->version < 4)
        return;
    pgk_sink_u64(w->out, s->n_callees);
    for (uint32_t c = 0; c < s->n_callees; c++)
        pgk_sink_u64(w->out, s->callees[c]);
}

static void write_record(void *ctx, size_t record, struct pgk_sink *out)
{
    struct writer *w = ctx;
    const struct pgk_heap_member *m = w->members.v + w->first_member[record],
                                 *end = w->members.v + w->first_member[record + 1], *calls = m;
    while (calls < end && !is_site(calls))
        calls++;
    pgk_sink_u64(out, (uint64_t)(calls - m));
    for (; m < calls; m++) {
        spell_stack(w, stack_of(w, m));
        pgk_sink_bytes(out, w->blocks + m->ref * w->block_size, w->block_size);
    }
    pgk_sink_u64(out, (uint64_t)(end - calls));
    for (; m < end; m++)
        write_call(w, m);
}

static bool write_records(struct writer *w, uint64_t *table_off)
{
    struct pgk_ondisk_writer table = {0};
    bool ok = true;
    for (size_t i = 0; i < w->guids.n && ok; i++)
        if (w->first_member[i] < w->first_member[i + 1])
            ok = pgk_ondisk_add(&table, w->guids.v[i], i);
    ok = ok && pgk_ondisk_write(&table, w->out,
                                &(struct pgk_ondisk_emit){.lengths = PGK_ONDISK_KEY_AND_DATA,
                                                          .size = record_size,
                                                          .emit = write_record,
                                                          .ctx = w},
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
    (void)out;
    write_frame_ids(w, w->radix.stacks[rank]);
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
                                                          .ctx = w},
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
                                                          .ctx = w},
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

static int write_v2(struct writer *w, struct pgk_err *err)
{
    if (w->version >= 1)
        pgk_sink_u64(w->out, w->version);
    uint64_t offs = pgk_sink_tell(w->out), records, frames, frame_table, stacks = 0,
             stack_table = 0;
    pgk_sink_zeros(w->out, w->version >= 2 ? 5 * 8 : 3 * 8);
    write_schema(w);
    bool ok = write_records(w, &records);
    frames = pgk_sink_tell(w->out);
    ok = ok && write_frame_table(w, &frame_table);
    if (w->version >= 2) {
        stacks = pgk_sink_tell(w->out);
        ok = ok && write_stack_table(w, &stack_table);
    }
    if (!ok)
        return pgk_fail_nomem(err);
    pgk_sink_patch_u64(w->out, offs, records);
    pgk_sink_patch_u64(w->out, offs + 8, frames);
    pgk_sink_patch_u64(w->out, offs + 16, frame_table);
    if (w->version >= 2) {
        pgk_sink_patch_u64(w->out, offs + 24, stacks);
        pgk_sink_patch_u64(w->out, offs + 32, stack_table);
    }
    return 0;
}

/* The summary of V4: contexts, cold, hot; largest TotalSize of a cold, warm, hot one. The
 * compiler's hot rule is off by default, so LLVM writes no hot ones; neither do we. */
static void write_summary(struct writer *w)
{
    uint64_t fields[6] = {w->h->contexts.n};
    for (size_t i = 0; i < w->h->contexts.n; i++) {
        const struct pgk_mib *m = &w->h->contexts.v[i].mib;
        bool cold = pgk_mib_is_cold(m);
        uint64_t size = pgk_mib_file_value(m, PGK_MIB_TotalSize), *largest = &fields[cold ? 3 : 4];
        fields[1] += cold;
        if (size > *largest)
            *largest = size;
    }
    pgk_sink_u32(w->out, PGK_COUNTOF(fields));
    for (size_t i = 0; i < PGK_COUNTOF(fields); i++)
        pgk_sink_u64(w->out, fields[i]);
}

static int write_v3(struct writer *w, struct pgk_err *err)
{
    pgk_sink_u64(w->out, w->version);
    uint64_t offs = pgk_sink_tell(w->out), records;
    pgk_sink_zeros(w->out, 3 * 8);
    if (w->version >= 4) {
        pgk_sink_u64(w->out, 0); /* of the data access profile, if there is one */
        write_summary(w);
    }
    write_schema(w);
    for (uint32_t i = 0; i < w->radix.n_frames; i++)
        write_frame(w, w->radix.order[i], w->out);
    pgk_sink_patch_u64(w->out, offs, pgk_sink_tell(w->out));
    pgk_sink_bytes(w->out, w->radix.radix.v, w->radix.radix.n * sizeof *w->radix.radix.v);
    pgk_sink_patch_u64(w->out, offs + 8, pgk_sink_tell(w->out));
    if (!write_records(w, &records))
        return pgk_fail_nomem(err);
    pgk_sink_patch_u64(w->out, offs + 16, records);
    if (w->version < 4 || !pgk_data_access_any(&w->h->data))
        return 0;
    pgk_sink_patch_u64(w->out, offs + 24, pgk_sink_tell(w->out));
    return pgk_data_access_write(w->h, w->out, err);
}

/* V0 and V1 are always written with all fields, and with those only that LLVM 16 knows: it
 * refuses a file with others. */
static void choose_schema(struct writer *w, bool full)
{
    uint8_t end = w->version < 2 ? PGK_MIB_AccessHistogramSize : PGK_MIB_FIELDS;
    for (uint8_t id = 0; id < end; id++) {
        if (!full && w->version >= 2 && !pgk_mib_is_compilers(id))
            continue;
        w->schema[w->n_fields++] = id;
        w->mib_size += pgk_mib_fields[id].bytes;
    }
}

static int write_section(struct writer *w, const struct pgk_indexed_write_opts *opts,
                         struct pgk_err *err)
{
    choose_schema(w, opts->full_schema);
    PGK_TRY(pgk_radix_build(&w->radix, w->h, opts->target.frame_ids, err));
    if (w->version == 2)
        PGK_TRY(make_stack_ids(w, err));
    if (!rank_contexts(w) || !order_members(w) || !pack_blocks(w))
        return pgk_fail_nomem(err);
    return w->version >= 3 ? write_v3(w, err) : write_v2(w, err);
}

int pgk_memprof_write(const struct pgk_heap *h, struct pgk_sink *out,
                      const struct pgk_indexed_write_opts *opts, struct pgk_err *err)
{
    struct pgk_heap *plain = NULL;
    PGK_TRY(pgk_heap_for_llvm(&plain, h, err));
    struct writer w = {.h = plain ? plain : h, .out = out,
                       .version = opts->target.memprof_version};
    int status = write_section(&w, opts, err);
    pgk_radix_free(&w.radix);
    pgk_mem_free(w.blocks);
    pgk_mem_free(w.context_rank);
    pgk_vec_free(&w.guids);
    pgk_mem_free(w.record_of);
    pgk_vec_free(&w.members);
    pgk_mem_free(w.first_member);
    pgk_mem_free(w.stack_ids);
    pgk_heap_close(&plain);
    return status;
}
