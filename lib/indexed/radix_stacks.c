/* The call stacks of a heap profile in the order and encoding of MemProf V3 and V4.
 *
 * LLVM sorts all stacks from the root, elements by (how often they occur, frame id), and
 * walks the result backwards. On a tree of stacks that is a post-order walk in which the
 * children of a node come in falling order, so nothing needs comparing stack by stack. */
#include "radix_stacks.h"

#include "hash.h"

#include <stdlib.h>

void pgk_frame_pack(uint8_t out[PGK_FRAME_BYTES], const struct pgk_heap *h, uint32_t frame)
{
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

/* How often and how far from the leaf a frame stands in the stacks in use. */
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

struct builder {
    struct pgk_radix_stacks *r;
    const struct pgk_heap *h;
    const struct pgk_stack_node *nodes;
    size_t n_nodes;
    uint8_t *in_use;      /* by node: a stack ends here */
    uint32_t *depth;      /* by node */
    struct usage *usage;  /* by frame; later sorted */
    uint32_t *child, *sibling; /* lists of children in falling element order */
};

static int count_usage(struct builder *b, uint32_t generation)
{
    /* stacks through a node, and the sum of their depths */
    uint64_t *through = pgk_mem_zalloc(b->n_nodes, sizeof *through);
    uint64_t *depths = pgk_mem_zalloc(b->n_nodes, sizeof *depths);
    if (!through || !depths) {
        pgk_mem_free(through);
        pgk_mem_free(depths);
        return PGK_E_NOMEM;
    }
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->usage[i].frame = (uint32_t)i;
    for (size_t i = b->n_nodes; i-- > 1;) {
        const struct pgk_stack_node *node = &b->nodes[i];
        through[i] += b->in_use[i];
        depths[i] += b->in_use[i] ? b->depth[i] : 0;
        through[node->parent] += through[i];
        depths[node->parent] += depths[i];
        struct usage *u = &b->usage[node->frame];
        u->count += through[i];
        u->distance += depths[i] - through[i] * b->depth[i];
        /* A node that no stack in use runs through is no child of anything. */
        b->child[i] = through[i] ? 0 : PGK_NODE_NONE;
    }
    pgk_mem_free(through);
    pgk_mem_free(depths);
    for (size_t i = 0; i < b->h->frames.n; i++)
        if (b->usage[i].count)
            b->r->frame_ids[i] = b->usage[i].id = frame_id(b->h, (uint32_t)i, generation);
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

/* Appends each node to the list of its parent in rising element order, at the front. */
static int order_children(struct builder *b)
{
    size_t n = b->h->frames.n;
    uint32_t *head = pgk_mem_zalloc(n + 1, sizeof *head); /* nodes by frame, + 1 */
    uint32_t *next = pgk_mem_zalloc(b->n_nodes, sizeof *next);
    if (head && next) {
        qsort(b->usage, n, sizeof *b->usage, by_element);
        for (size_t i = b->n_nodes; i-- > 1;) {
            if (b->child[i] == PGK_NODE_NONE)
                continue;
            next[i] = head[b->nodes[i].frame];
            head[b->nodes[i].frame] = (uint32_t)i + 1;
        }
        for (size_t f = 0; f < n; f++)
            for (uint32_t i = head[b->usage[f].frame]; i; i = next[i - 1]) {
                uint32_t *list = &b->child[b->nodes[i - 1].parent];
                b->sibling[i - 1] = *list;
                *list = i - 1;
            }
    }
    int status = head && next ? 0 : PGK_E_NOMEM;
    pgk_mem_free(head);
    pgk_mem_free(next);
    return status;
}

/* One stack: a jump to the frames it shares with the one before, the rest of its frames from
 * the root on, its length. The array is built backwards and reversed at the end. */
static bool encode(struct builder *b, const uint32_t *path, uint32_t depth, uint32_t shared,
                   uint32_t *where)
{
    struct pgk_radix_stacks *r = b->r;
    if (!pgk_vec_reserve(&r->radix, depth - shared + 2))
        return false;
    if (shared) {
        uint32_t at = (uint32_t)r->radix.n;
        r->radix.v[r->radix.n++] = where[shared - 1] - at;
    }
    for (uint32_t i = shared; i < depth; i++) {
        where[i] = (uint32_t)r->radix.n;
        r->radix.v[r->radix.n++] = r->linear[b->nodes[path[i]].frame];
    }
    r->stack_start[path[depth - 1]] = (uint32_t)r->radix.n;
    r->radix.v[r->radix.n++] = depth;
    r->stacks[r->n_stacks++] = path[depth - 1];
    return true;
}

static int encode_stacks(struct builder *b, uint32_t max_depth)
{
    uint32_t *path = pgk_mem_alloc(max_depth + 1, sizeof *path);
    uint32_t *where = pgk_mem_alloc(max_depth + 1, sizeof *where);
    uint32_t depth = 0, shared = 0;
    bool ok = path && where;
    uint32_t node = ok ? b->child[0] : 0;
    while (ok && (node || depth)) {
        if (node) { /* go down to the first child */
            path[depth++] = node;
            node = b->child[node];
            continue;
        }
        uint32_t done = path[depth - 1];
        if (b->in_use[done]) {
            ok = encode(b, path, depth, shared, where);
            shared = depth;
        }
        node = b->sibling[done];
        depth--;
        if (shared > depth)
            shared = depth;
    }
    pgk_mem_free(path);
    pgk_mem_free(where);
    return ok ? 0 : PGK_E_NOMEM;
}

/* Turns everything that was counted from the end of the array round. */
static void reverse(struct pgk_radix_stacks *r)
{
    size_t n = r->radix.n;
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t v = r->radix.v[i];
        r->radix.v[i] = r->radix.v[n - 1 - i];
        r->radix.v[n - 1 - i] = v;
    }
    for (size_t i = 0; i < r->n_stacks / 2; i++) {
        uint32_t v = r->stacks[i];
        r->stacks[i] = r->stacks[r->n_stacks - 1 - i];
        r->stacks[r->n_stacks - 1 - i] = v;
    }
    for (uint32_t i = 0; i < r->n_stacks; i++) {
        uint32_t node = r->stacks[i];
        r->stack_start[node] = (uint32_t)n - 1 - r->stack_start[node];
        r->stack_rank[node] = i;
    }
}

/* 1 if the stack was not in use before. */
static size_t use_stack(struct builder *b, uint32_t node)
{
    bool fresh = node && !b->in_use[node];
    if (fresh)
        b->in_use[node] = 1;
    return fresh;
}

static int build(struct builder *b, uint32_t generation)
{
    uint32_t max_depth = 0;
    size_t n_stacks = 0;
    for (size_t i = 0; i < b->h->contexts.n; i++)
        n_stacks += use_stack(b, b->h->contexts.v[i].stack);
    for (size_t i = 0; i < b->h->sites.n; i++)
        n_stacks += use_stack(b, b->h->sites.v[i].stack);
    for (size_t i = 1; i < b->n_nodes; i++) {
        b->depth[i] = b->depth[b->nodes[i].parent] + 1;
        if (b->depth[i] > max_depth)
            max_depth = b->depth[i];
    }
    b->r->stacks = pgk_mem_alloc(n_stacks + 1, sizeof *b->r->stacks);
    if (!b->r->stacks)
        return PGK_E_NOMEM;
    PGK_TRY(count_usage(b, generation));
    order_frames(b);
    PGK_TRY(order_children(b));
    PGK_TRY(encode_stacks(b, max_depth));
    reverse(b->r);
    return 0;
}

int pgk_radix_build(struct pgk_radix_stacks *r, const struct pgk_heap *h, uint32_t generation,
                    struct pgk_err *err)
{
    size_t nodes = h->stacks.nodes.n, frames = h->frames.n + 1;
    struct builder b = {.r = r, .h = h, .nodes = h->stacks.nodes.v, .n_nodes = nodes};
    *r = (struct pgk_radix_stacks){0};
    r->frame_ids = pgk_mem_zalloc(frames, sizeof *r->frame_ids);
    r->linear = pgk_mem_zalloc(frames, sizeof *r->linear);
    r->order = pgk_mem_zalloc(frames, sizeof *r->order);
    r->stack_start = pgk_mem_zalloc(nodes, sizeof *r->stack_start);
    r->stack_rank = pgk_mem_zalloc(nodes, sizeof *r->stack_rank);
    b.in_use = pgk_mem_zalloc(nodes, 1);
    b.depth = pgk_mem_zalloc(nodes, sizeof *b.depth);
    b.usage = pgk_mem_zalloc(frames, sizeof *b.usage);
    b.child = pgk_mem_zalloc(nodes, sizeof *b.child);
    b.sibling = pgk_mem_zalloc(nodes, sizeof *b.sibling);
    int status = r->frame_ids && r->linear && r->order && r->stack_start && r->stack_rank &&
                         b.in_use && b.depth && b.usage && b.child && b.sibling
                     ? build(&b, generation)
                     : PGK_E_NOMEM;
    pgk_mem_free(b.in_use);
    pgk_mem_free(b.depth);
    pgk_mem_free(b.usage);
    pgk_mem_free(b.child);
    pgk_mem_free(b.sibling);
    if (!status)
        return 0;
    pgk_radix_free(r);
    return pgk_fail_nomem(err);
}

void pgk_radix_free(struct pgk_radix_stacks *r)
{
    pgk_mem_free(r->frame_ids);
    pgk_mem_free(r->linear);
    pgk_mem_free(r->order);
    pgk_mem_free(r->stack_start);
    pgk_mem_free(r->stack_rank);
    pgk_mem_free(r->stacks);
    pgk_vec_free(&r->radix);
    *r = (struct pgk_radix_stacks){0};
}
