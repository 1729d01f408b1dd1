/* The call stacks of a heap profile in the order and encoding of MemProf V3 and V4.
 *
 * LLVM sorts all stacks from the root, elements by (how often they occur, frame id), walks the
 * result backwards and turns the array round at the end. On a tree of stacks that is a walk in
 * which the children of a node come in rising order, so nothing needs comparing stack by stack:
 *
 *   the node's block:  [its stack] block of a child, jump, block of a child, jump, ... frame
 *                                                             of the last one ──┘
 *
 * The jump leads to the frame at the end of the block; the last child needs none. The size of a
 * block follows from how many nodes and stacks are in it. So the place of everything is known
 * beforehand, and threads write what belongs to a range of stacks each. */
#include "radix_stacks.h"

#include "hash.h"
#include "pool.h"
#include "u64_set.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

void pgk_frame_pack(uint8_t out[PGK_FRAME_BYTES], const struct pgk_heap *h, uint32_t frame)
{
    assert(h->frames.v[frame].kind != PGK_FRAME_ADDRESS); /* symbolised before */
    const struct pgk_frame *f = &h->frames.v[frame];
    uint32_t line_offset = (uint32_t)(f->where >> 32), column = (uint32_t)f->where;
    memcpy(out, &h->funcs.v[f->ref].guid, 8);
    memcpy(out + 8, &line_offset, 4);
    memcpy(out + 12, &column, 4);
    out[16] = f->kind == PGK_FRAME_INLINED;
}

static uint64_t frame_id(const struct pgk_heap *h, uint32_t frame, uint32_t generation)
{
    const struct pgk_frame *f = &h->frames.v[frame];
    if (generation >= 2) {
        uint8_t packed[PGK_FRAME_BYTES];
        pgk_frame_pack(packed, h, frame);
        return pgk_blake3_low64(packed, sizeof packed);
    }
    uint64_t parts[] = {h->funcs.v[f->ref].guid, f->where >> 32, (uint32_t)f->where,
                        f->kind == PGK_FRAME_INLINED};
    uint64_t r = 0;
    for (size_t i = 0; i < PGK_COUNTOF(parts); i++)
        r ^= parts[i] + 0x9e3779b97f4a7c15u + (r << 6) + (r >> 2);
    return r;
}

/* How often a frame occurs in the stacks in use, and how far from the leaf. */
struct usage {
    uint64_t count, distance, id;
    uint32_t frame;
};

/* Order of the frame array: often used first, then close to the leaf. */
static int by_array(const void *a, const void *b)
{
    const struct usage *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Order of elements when stacks are sorted. */
static int by_element(const void *a, const void *b)
{
    const struct usage *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

struct sums {
    uint64_t count, distance;
};

struct builder {
    struct pgk_radix_stacks *r;
    const struct pgk_heap *h;
    const struct pgk_stack_node *nodes; /* the nodes on top of a node come directly after it */
    size_t n_nodes;
    struct usage *usage; /* by frame; later sorted */
    struct sums **sums;  /* by worker, by frame */
    unsigned threads, workers;
    size_t shares;       /* of the nodes */
    int out_of_order;    /* nodes are not as said above */
};

/* ---- how often frames are used ---- */

/* A node whose children are being visited. */
struct open {
    uint32_t node, stacks; /* through it */
    uint64_t distance;     /* from it to their leaves, together */
};
typedef PGK_VEC(struct open) open_vec;

/* `first`: of the share; what is below has been opened by another one, too. */
static void close_node(const struct builder *b, struct sums *sums, open_vec *path, uint32_t first)
{
    const struct open *x = &path->v[--path->n];
    uint32_t stacks = x->stacks;
    if (x->node >= first)
        stacks += pgk_bit_set_has(&b->r->ends, x->node);
    if (!stacks)
        return;
    struct open *parent = &path->v[path->n - 1];
    parent->stacks += stacks;
    parent->distance += x->distance + stacks;
    struct sums *frame = &sums[b->nodes[x->node].frame];
    frame->count += stacks;
    frame->distance += x->distance;
    if (x->node >= first)
        pgk_bit_set_add(&b->r->used, x->node);
}

/* The node and all below it, from the root on. */
static bool open_chain(const struct builder *b, open_vec *path, uint32_t node)
{
    size_t depth = 1;
    for (uint32_t i = node; i; i = b->nodes[i].parent)
        depth++;
    if (!pgk_vec_reserve(path, depth))
        return false;
    path->n = depth;
    for (uint32_t i = node; depth--; i = b->nodes[i].parent)
        path->v[depth] = (struct open){.node = i};
    return true;
}

/* Of `n` things, `least` or more each. */
static size_t shares_of(size_t n, size_t least)
{
    enum { MOST = 64 };
    return n < MOST * least ? n / least + 1 : MOST;
}

/* In whole words of bits. */
static uint32_t share_start(const struct builder *b, size_t share)
{
    return (uint32_t)(share < b->shares ? b->n_nodes * share / b->shares & ~(size_t)63
                                        : b->n_nodes);
}

/* Nodes in order end in one share; of others, which are found to be so, several may speak. */
static void set_end(struct builder *b, uint32_t node, uint32_t end)
{
    __atomic_store_n(&b->r->end[node], end, __ATOMIC_RELAXED);
}

/* How many stacks run through nodes, and how far away their leaves are together: those of a callee
 * are one further away from its caller. The figures of a node in all shares add up. */
static int count_share(void *ctx, size_t share, unsigned worker)
{
    struct builder *b = ctx;
    uint32_t first = share_start(b, share), end = share_start(b, share + 1);
    struct sums **sums = &b->sums[worker];
    open_vec path = {0};
    if (first == end)
        return 0;
    if (!*sums)
        *sums = pgk_mem_zalloc(b->h->frames.n + 1, sizeof **sums);
    bool ok = *sums && open_chain(b, &path, first ? first - 1 : 0);
    for (uint32_t i = first ? first : 1; ok && i < end; i++) {
        while (path.v[path.n - 1].node != b->nodes[i].parent && path.n > 1) {
            set_end(b, path.v[path.n - 1].node, i);
            close_node(b, *sums, &path, first);
        }
        if (path.v[path.n - 1].node != b->nodes[i].parent) {
            __atomic_store_n(&b->out_of_order, 1, __ATOMIC_RELAXED);
            break;
        }
        ok = pgk_vec_push(&path, (struct open){.node = i});
    }
    while (ok && path.n > 1) {
        if (end == b->n_nodes)
            set_end(b, path.v[path.n - 1].node, end);
        close_node(b, *sums, &path, first);
    }
    pgk_vec_free(&path);
    return ok ? 0 : PGK_E_NOMEM;
}

/* Stacks that run through the node, or end there. */
static inline uint32_t stacks_in(const struct pgk_radix_stacks *r, uint32_t node)
{
    return pgk_bit_set_below(&r->ends, r->end[node]) - pgk_bit_set_below(&r->ends, node);
}

/* Shares know of what they begin with, and of what is on top of it, but not of what is below. */
static void note_used_below(struct builder *b)
{
    for (size_t share = 1; share < b->shares; share++) {
        uint32_t first = share_start(b, share), i = first ? first - 1 : 0;
        for (; i; i = b->nodes[i].parent)
            if (stacks_in(b->r, i))
                pgk_bit_set_add(&b->r->used, i);
    }
}

static void free_sums(struct builder *b)
{
    for (unsigned i = 0; b->sums && i < b->workers; i++)
        pgk_mem_free(b->sums[i]);
    pgk_mem_free(b->sums);
    b->sums = NULL;
}

static void add_up(struct builder *b, uint32_t generation)
{
    for (uint32_t i = 0; i < b->h->frames.n; i++) {
        struct usage *u = &b->usage[i];
        u->frame = i;
        for (unsigned w = 0; w < b->workers; w++) {
            u->count += b->sums[w] ? b->sums[w][i].count : 0;
            u->distance += b->sums[w] ? b->sums[w][i].distance : 0;
        }
        if (u->count)
            b->r->frame_ids[i] = u->id = frame_id(b->h, i, generation);
    }
}

static int count_usage(struct builder *b)
{
    enum { LEAST_NODES = 256 };
    b->shares = shares_of(b->n_nodes, LEAST_NODES);
    b->workers = pgk_pool_threads(b->threads, b->shares);
    b->sums = pgk_mem_zalloc(b->workers, sizeof *b->sums);
    b->r->end = pgk_mem_alloc(b->n_nodes, sizeof *b->r->end);
    if (!b->sums || !b->r->end || !pgk_bit_set_init(&b->r->used, b->n_nodes))
        return PGK_E_NOMEM;
    PGK_TRY(pgk_pool_run(b->threads, b->shares, count_share, b));
    if (b->out_of_order)
        return 0;
    b->r->end[0] = (uint32_t)b->n_nodes;
    note_used_below(b);
    return 0;
}

static void order_frames(struct builder *b)
{
    size_t n = b->h->frames.n;
    qsort(b->usage, n, sizeof *b->usage, by_array);
    for (size_t i = 0; i < n && b->usage[i].count; i++) {
        b->r->order[b->r->n_frames] = b->usage[i].frame;
        b->r->linear[b->usage[i].frame] = b->r->n_frames++;
    }
}

static void order_elements(struct builder *b)
{
    qsort(b->usage, b->h->frames.n, sizeof *b->usage, by_element);
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->r->element[b->usage[i].frame] = (uint32_t)i;
}

/* ---- which stacks are in use ---- */

static uint32_t node_of(const struct pgk_radix_stacks *r, uint32_t stack)
{
    return r->moved ? r->moved[stack] : stack;
}

static int use_stacks(struct builder *b)
{
    struct pgk_radix_stacks *r = b->r;
    if (!pgk_bit_set_init(&r->ends, b->n_nodes))
        return PGK_E_NOMEM;
    for (size_t i = 0; i < b->h->contexts.n; i++)
        pgk_bit_set_add(&r->ends, node_of(r, b->h->contexts.v[i].stack));
    for (size_t i = 0; i < b->h->sites.n; i++)
        pgk_bit_set_add(&r->ends, node_of(r, b->h->sites.v[i].stack));
    r->ends.bits[0] &= ~UINT64_C(1); /* no frames are no stack */
    r->n_stacks = pgk_bit_set_count(&r->ends);
    return 0;
}

/* The stacks of the model, with the nodes on top of a node directly after it. */
static int order_stacks(struct builder *b)
{
    struct pgk_radix_stacks *r = b->r;
    struct pgk_frame_map same = {0};
    r->moved = pgk_mem_table(b->n_nodes, sizeof *r->moved);
    bool ok = r->moved && pgk_stack_tree_init(&r->ordered) && pgk_vec_push(&same.first, 0);
    for (uint32_t i = 0; ok && i < b->h->frames.n; i++)
        ok = pgk_vec_push(&same.frames, i) && pgk_vec_push(&same.first, i + 1);
    ok = ok && pgk_stack_expand(&r->ordered, &b->h->stacks, &same, r->moved);
    pgk_vec_free(&same.first);
    pgk_vec_free(&same.frames);
    return ok ? 0 : PGK_E_NOMEM;
}

static int measure(struct builder *b)
{
    struct pgk_radix_stacks *r = b->r;
    r->nodes = b->nodes = r->moved ? r->ordered.nodes.v : b->h->stacks.nodes.v;
    PGK_TRY(use_stacks(b));
    return count_usage(b);
}

/* Stacks in the model are nearly always in order, which is seen while they are gone through. */
static int measure_in_order(struct builder *b)
{
    b->n_nodes = b->h->stacks.nodes.n;
    PGK_TRY(measure(b));
    if (!b->out_of_order)
        return 0;
    free_sums(b);
    pgk_bit_set_free(&b->r->ends);
    pgk_bit_set_free(&b->r->used);
    pgk_mem_free(b->r->end);
    b->r->end = NULL;
    b->out_of_order = 0;
    PGK_TRY(order_stacks(b));
    return measure(b);
}

static int build(struct builder *b, uint32_t generation)
{
    struct pgk_radix_stacks *r = b->r;
    size_t frames = b->h->frames.n + 1;
    PGK_TRY(measure_in_order(b));
    b->usage = pgk_mem_zalloc(frames, sizeof *b->usage);
    r->element = pgk_mem_alloc(frames, sizeof *r->element);
    r->frame_ids = pgk_mem_zalloc(frames, sizeof *r->frame_ids);
    r->linear = pgk_mem_zalloc(frames, sizeof *r->linear);
    r->order = pgk_mem_zalloc(frames, sizeof *r->order);
    if (!b->usage || !r->element || !r->frame_ids || !r->linear || !r->order)
        return PGK_E_NOMEM;
    add_up(b, generation);
    order_frames(b);
    order_elements(b);
    r->n_entries = pgk_bit_set_count(&r->used) + 2 * (uint64_t)r->n_stacks;
    for (uint32_t c = 1; c < b->n_nodes; c = r->end[c])
        r->n_entries -= stacks_in(r, c) > 0;
    return 0;
}

int pgk_radix_build(struct pgk_radix_stacks *r, const struct pgk_heap *h, uint32_t generation,
                    unsigned threads, struct pgk_err *err)
{
    struct builder b = {.r = r, .h = h, .threads = threads};
    *r = (struct pgk_radix_stacks){0};
    int status = build(&b, generation);
    free_sums(&b);
    pgk_mem_free(b.usage);
    if (!status)
        return 0;
    pgk_radix_free(r);
    return pgk_fail_nomem(err);
}

/* ---- the array ---- */

/* A node on the path from the root; those of its children that are still to be visited are the last
 * ones of `children`, from `next` on. */
struct step {
    uint32_t node;
    uint32_t where; /* its frame in the array */
    size_t first, next; /* child */
};

struct walk {
    struct pgk_radix_stacks *r;
    PGK_VEC(struct step) path;     /* with the root */
    PGK_VEC(uint64_t) children;    /* place in the element order, node */
    uint32_t rank, at;             /* of the next stack; in the array */
    struct pgk_sink *out;          /* NULL: the array is not wanted */
    size_t n_ready;
    uint32_t ready[1 << 12];       /* for it */
};

static void hand_over(struct walk *w)
{
    pgk_sink_bytes(w->out, w->ready, w->n_ready * sizeof *w->ready);
    w->n_ready = 0;
}

static inline void say(struct walk *w, uint32_t entry)
{
    w->at++;
    if (!w->out)
        return;
    w->ready[w->n_ready++] = entry;
    if (w->n_ready == PGK_COUNTOF(w->ready))
        hand_over(w);
}

/* A node, each stack and each jump have an entry; stacks but the first one need a jump. */
static inline uint32_t block_size(const struct pgk_radix_stacks *r, uint32_t node)
{
    return pgk_bit_set_below(&r->used, r->end[node]) - pgk_bit_set_below(&r->used, node) +
           2 * stacks_in(r, node) - 1;
}

static void sort_children(uint64_t *v, size_t n)
{
    enum { FEW = 16 };
    if (n > FEW) {
        pgk_u64_set(v, n);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t child = v[i];
        size_t at = i;
        for (; at && v[at - 1] > child; at--)
            v[at] = v[at - 1];
        v[at] = child;
    }
}

/* Goes to a node, whose frame stands at `where`, and on while that has one child and no stack. */
static bool enter(struct walk *w, uint32_t node, uint32_t where)
{
    const struct pgk_radix_stacks *r = w->r;
    size_t first = w->children.n;
    while (node && !pgk_bit_set_has(&r->ends, node) && r->end[node + 1] == r->end[node])
        if (!pgk_vec_push(&w->path, (struct step){node++, where--, first, first}))
            return false;
    for (uint32_t c = node + 1; c < r->end[node]; c = r->end[c]) {
        uint64_t element = r->element[r->nodes[c].frame];
        if (pgk_bit_set_has(&r->used, c) && !pgk_vec_push(&w->children, element << 32 | c))
            return false;
    }
    sort_children(w->children.v + first, w->children.n - first);
    return pgk_vec_push(&w->path, (struct step){node, where, first, first});
}

static bool ends_here(const struct walk *w)
{
    return pgk_bit_set_has(&w->r->ends, w->path.v[w->path.n - 1].node);
}

static bool has_children(const struct walk *w)
{
    return w->path.v[w->path.n - 1].next < w->children.n;
}

static bool is_root(const struct walk *w)
{
    return w->path.n == 1;
}

/* Goes to the next child of the last node, whose block begins here. */
static bool enter_child(struct walk *w)
{
    struct step *last = &w->path.v[w->path.n - 1];
    uint32_t child = (uint32_t)w->children.v[last->next++];
    return enter(w, child, has_children(w) || is_root(w) ? w->at + block_size(w->r, child) - 1
                                                         : last->where - 1);
}

/* Goes down to the stack of a rank, past all that is in front of it. */
static bool seek(struct walk *w, uint32_t rank)
{
    if (!enter(w, 0, 0))
        return false;
    while (!ends_here(w) || w->rank != rank) {
        struct step *last = &w->path.v[w->path.n - 1];
        if (ends_here(w)) {
            w->rank++;
            w->at += 2;
        }
        for (;; last->next++) {
            uint32_t child = (uint32_t)w->children.v[last->next], stacks = stacks_in(w->r, child);
            if (stacks > rank - w->rank)
                break;
            w->rank += stacks;
            w->at += block_size(w->r, child) + !is_root(w);
        }
        if (!enter_child(w))
            return false;
    }
    return true;
}

static void say_stack(struct walk *w)
{
    struct pgk_radix_stacks *r = w->r;
    const struct step *last = &w->path.v[w->path.n - 1];
    r->stacks[w->rank] = last->node;
    r->starts[w->rank] = w->at;
    r->ranks[pgk_bit_set_below(&r->ends, last->node)] = w->rank;
    w->rank++;
    say(w, (uint32_t)w->path.n - 1);
    if (has_children(w))
        say(w, w->at - last->where);
}

/* From a node of which all is said to its parent. */
static void leave(struct walk *w)
{
    const struct step *last = &w->path.v[--w->path.n];
    say(w, w->r->linear[w->r->nodes[last->node].frame]);
    w->children.n = last->first;
    if (!is_root(w) && has_children(w))
        say(w, w->at - w->path.v[w->path.n - 1].where);
}

/* To the next node at which a stack ends, or to the root if there is none. */
static bool go_on(struct walk *w)
{
    do {
        while (!has_children(w) && !is_root(w))
            leave(w);
        if (!has_children(w))
            return true;
        if (!enter_child(w))
            return false;
    } while (!ends_here(w));
    return true;
}

struct ranking {
    struct pgk_radix_stacks *r;
    struct pgk_sink *out; /* or NULL */
    uint64_t off;
    size_t shares;        /* of the ranks */
};

static uint32_t rank_start(const struct ranking *k, size_t share)
{
    return (uint32_t)((uint64_t)k->r->n_stacks * share / k->shares);
}

/* Each share begins with finding its place in the order, and writes directly at its offset in the
 * file, so that shares need not wait for one another. */
static int rank_share(void *ctx, size_t share, unsigned worker)
{
    const struct ranking *k = ctx;
    uint32_t first = rank_start(k, share), end = rank_start(k, share + 1);
    struct walk *w = pgk_mem_alloc(1, sizeof *w);
    (void)worker;
    bool ok = w;
    if (ok && first < end) {
        memset(w, 0, offsetof(struct walk, ready));
        w->r = k->r;
        ok = seek(w, first) &&
             (!k->out || !pgk_sink_part(&w->out, k->out, k->off + 4 * (uint64_t)w->at));
        while (ok && w->rank < end) {
            say_stack(w);
            ok = go_on(w);
        }
        if (w->out) {
            hand_over(w);
            pgk_sink_end_part(&w->out);
        }
        pgk_vec_free(&w->path);
        pgk_vec_free(&w->children);
    }
    pgk_mem_free(w);
    return ok ? 0 : PGK_E_NOMEM;
}

/* Results by stack of the model again. */
static void move_back(struct pgk_radix_stacks *r, uint32_t stack)
{
    if (stack)
        r->stacks[pgk_radix_rank(r, stack)] = stack;
}

int pgk_radix_write(struct pgk_radix_stacks *r, const struct pgk_heap *h, struct pgk_sink *out,
                    unsigned threads, struct pgk_err *err)
{
    enum { LEAST_STACKS = 64 };
    struct ranking k = {r, out, out ? pgk_sink_leave(out, 4 * r->n_entries) : 0,
                        shares_of(r->n_stacks, LEAST_STACKS)};
    r->stacks = pgk_mem_alloc((size_t)r->n_stacks + 1, sizeof *r->stacks);
    r->starts = pgk_mem_alloc((size_t)r->n_stacks + 1, sizeof *r->starts);
    r->ranks = pgk_mem_zalloc((size_t)r->n_stacks + 1, sizeof *r->ranks);
    if (!r->stacks || !r->starts || !r->ranks || pgk_pool_run(threads, k.shares, rank_share, &k))
        return pgk_fail_nomem(err);
    for (size_t i = 0; r->moved && i < h->contexts.n; i++)
        move_back(r, h->contexts.v[i].stack);
    for (size_t i = 0; r->moved && i < h->sites.n; i++)
        move_back(r, h->sites.v[i].stack);
    /* The figures of nodes are no longer needed. */
    pgk_stack_tree_free(&r->ordered);
    pgk_bit_set_free(&r->used);
    pgk_mem_free(r->end);
    r->end = NULL;
    r->nodes = NULL;
    return 0;
}

void pgk_radix_free(struct pgk_radix_stacks *r)
{
    pgk_mem_free(r->frame_ids);
    pgk_mem_free(r->linear);
    pgk_mem_free(r->order);
    pgk_mem_free(r->element);
    pgk_mem_free(r->stacks);
    pgk_mem_free(r->starts);
    pgk_mem_free(r->ranks);
    pgk_mem_free(r->moved);
    pgk_mem_free(r->end);
    pgk_bit_set_free(&r->ends);
    pgk_bit_set_free(&r->used);
    pgk_stack_tree_free(&r->ordered);
    *r = (struct pgk_radix_stacks){0};
}
