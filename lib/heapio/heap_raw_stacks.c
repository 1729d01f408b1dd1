/* Stacks of raw heap profiles: addresses become frames, and stacks nodes of the model's tree. */
#include "heap_raw_priv.h"

#include "heap_shared.h"

enum { CACHE_LINE = 64 };

static uint32_t find_frame(struct pgk_raw_reader *r, uint64_t pc)
{
    for (size_t i = 0; i < r->segments.n; i++) {
        const struct pgk_raw_segment *s = &r->segments.v[i];
        if (pc >= s->start && pc < s->end)
            return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, s->module,
                                  pgk_raw_has_build_ids(pgk_raw_layout_of(r, r->version)->row)
                                      ? pc - s->offset
                                      : pc - s->start + s->offset);
    }
    return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, pc);
}

static uint32_t make_frame(struct pgk_raw_reader *r, uint64_t pc)
{
    pgk_heap_hold_names(r->heap);
    uint32_t frame = find_frame(r, pc);
    pgk_heap_let_names(r->heap);
    return frame;
}

static bool grow_pcs(struct pgk_raw_reader *r)
{
    uint32_t mask = r->pcs ? r->pc_mask * 4 + 3 : 4095;
    struct pgk_raw_pc_slot *slots = pgk_mem_zalloc((size_t)mask + 1, sizeof *slots);
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

static uint32_t frame_of_pc(struct pgk_raw_reader *r, uint64_t pc)
{
    if (r->pc_used * 2 >= r->pc_mask && !grow_pcs(r))
        return PGK_INDEX_NONE;
    uint32_t at = (uint32_t)pgk_hash_u64(pc);
    for (; r->pcs[at & r->pc_mask].frame; at++)
        if (r->pcs[at & r->pc_mask].pc == pc)
            return r->pcs[at & r->pc_mask].frame - 1;
    uint32_t frame = make_frame(r, pc);
    if (frame != PGK_INDEX_NONE) {
        r->pcs[at & r->pc_mask] = (struct pgk_raw_pc_slot){pc, frame + 1};
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
static int sort_stacks(struct pgk_raw_reader *r)
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
    struct pgk_raw_stack_ref *sorted = pgk_mem_alloc(n + 1, sizeof *sorted);
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

static struct pcs pcs_at(const struct pgk_raw_reader *r, uint64_t off)
{
    const uint8_t *p = pgk_raw_bytes_at(r, off) + 2 * sizeof(uint64_t);
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
static int add_stack(struct pgk_raw_reader *r, const struct pgk_raw_stack_ref *ref,
                     const struct pcs *before)
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
    struct pgk_raw_entry *e = &r->entries.v[ref->entry];
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

static int add_stack_range(struct pgk_raw_reader *r, size_t first, size_t end)
{
    enum { AHEAD = 8 };
    struct pcs before = {0};
    if (first)
        before = pcs_at(r, r->stacks.v[first - 1].off);
    for (size_t i = first; i < end; i++) {
        if (i + AHEAD < r->stacks.n) {
            const struct pgk_raw_stack_ref *soon = &r->stacks.v[i + AHEAD];
            __builtin_prefetch(&r->entries.v[soon->entry], 1);
            for (size_t line = 0; line < 4; line++)
                __builtin_prefetch(pgk_raw_bytes_at(r, soon->off) + line * CACHE_LINE);
        }
        PGK_TRY(add_stack(r, &r->stacks.v[i], &before));
        before = pcs_at(r, r->stacks.v[i].off);
    }
    return 0;
}

static int add_stacks(struct pgk_raw_reader *r)
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

int pgk_raw_stacks_read(struct pgk_raw_reader *r, uint64_t off)
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
        uint32_t e = pgk_raw_entry_find(r, id, guess);
        if (e == PGK_INDEX_NONE && !r->sheet)
            continue; /* a stack without blocks says nothing */
        if (e == PGK_INDEX_NONE) { /* what its objects were is in a later sheet */
            const struct pgk_raw_entry later = {.id = id, .off = at, .node = PGK_NODE_NONE};
            e = (uint32_t)r->entries.n;
            if (!pgk_raw_entry_add(r, &later))
                return pgk_fail_nomem(r->err);
        }
        guess = e + 1;
        r->stacks.v[r->stacks.n++] = (struct pgk_raw_stack_ref){at, e, (uint32_t)i};
    }
    PGK_TRY(sort_stacks(r));
    return add_stacks(r);
}
