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

/* A stack in use ends at a node, or runs through it. */
enum { ENDS = 1, PASSED = 2 };

struct builder {
    struct pgk_radix_stacks *r;
    const struct pgk_heap *h;
    const struct pgk_stack_node *nodes;
    size_t n_nodes;
    uint8_t *in_use;      /* by node: ENDS, PASSED */
    uint32_t *depth;      /* by node */
    struct usage *usage;  /* by frame; later sorted */
    uint32_t *first_child;     /* by node: where its children start in `children` */
    uint32_t *children;        /* by parent, in falling element order */
    uint32_t *element;         /* by frame: place in the element order */
};

/* Stacks through a node, and the sum of their depths. */
struct subtree {
    uint64_t stacks, depths;
};

static int count_usage(struct builder *b, uint32_t generation)
{
    struct subtree *sub = pgk_mem_table(b->n_nodes, sizeof *sub);
    if (!sub)
        return PGK_E_NOMEM;
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->usage[i].frame = (uint32_t)i;
    for (size_t i = b->n_nodes; i-- > 1;) {
        const struct pgk_stack_node *node = &b->nodes[i];
        sub[i].stacks += b->in_use[i];
        sub[i].depths += b->in_use[i] ? b->depth[i] : 0;
        sub[node->parent].stacks += sub[i].stacks;
        sub[node->parent].depths += sub[i].depths;
        struct usage *u = &b->usage[node->frame];
        u->count += sub[i].stacks;
        u->distance += sub[i].depths - sub[i].stacks * b->depth[i];
        /* A node that no stack in use runs through is no child of anything. */
        b->first_child[node->parent] += sub[i].stacks > 0;
        b->in_use[i] |= sub[i].stacks ? PASSED : 0;
    }
    pgk_mem_free(sub);
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

static int by_falling_element(const void *a, const void *b, void *ctx)
{
    const struct builder *k = ctx;
    uint32_t x = k->element[k->nodes[*(const uint32_t *)a].frame],
             y = k->element[k->nodes[*(const uint32_t *)b].frame];
    return x > y ? -1 : x < y;
}

/* Children by parent (first_child holds their numbers on entry), each group sorted. */
static void order_children(struct builder *b)
{
    qsort(b->usage, b->h->frames.n, sizeof *b->usage, by_element);
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->element[b->usage[i].frame] = (uint32_t)i;

    uint32_t end = 0;
    for (size_t i = 0; i < b->n_nodes; i++)
        b->first_child[i] = end += b->first_child[i];
    b->first_child[b->n_nodes] = end;
    for (size_t i = b->n_nodes; i-- > 1;)
        if (b->in_use[i])
            b->children[--b->first_child[b->nodes[i].parent]] = (uint32_t)i;
    for (size_t i = 0; i < b->n_nodes; i++) {
        uint32_t n = b->first_child[i + 1] - b->first_child[i];
        if (n > 1)
            qsort_r(b->children + b->first_child[i], n, sizeof *b->children, by_falling_element,
                    b);
    }
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

/* Walks the tree, children before their parent. */
static int encode_stacks(struct builder *b, uint32_t max_depth)
{
    uint32_t *path = pgk_mem_alloc(max_depth + 1, sizeof *path);
    uint32_t *next = pgk_mem_alloc(max_depth + 1, sizeof *next); /* child of path[d - 1] */
    uint32_t *where = pgk_mem_alloc(max_depth + 1, sizeof *where);
    uint32_t depth = 0, shared = 0;
    bool ok = path && next && where;
    if (ok)
        next[0] = b->first_child[0];
    while (ok) {
        uint32_t parent = depth ? path[depth - 1] : 0;
        if (next[depth] < b->first_child[parent + 1]) { /* go down */
            path[depth] = b->children[next[depth]++];
            next[depth + 1] = b->first_child[path[depth]];
            depth++;
            continue;
        }
        if (!depth)
            break;
        if (b->in_use[parent] & ENDS) {
            ok = encode(b, path, depth, shared, where);
            shared = depth;
        }
        depth--;
        if (shared > depth)
            shared = depth;
    }
    pgk_mem_free(path);
    pgk_mem_free(next);
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
        b->in_use[node] = ENDS;
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
    order_children(b);
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
    r->stack_start = pgk_mem_table(nodes, sizeof *r->stack_start);
    r->stack_rank = pgk_mem_table(nodes, sizeof *r->stack_rank);
    b.in_use = pgk_mem_table(nodes, 1);
    b.depth = pgk_mem_table(nodes, sizeof *b.depth);
    b.usage = pgk_mem_zalloc(frames, sizeof *b.usage);
    b.first_child = pgk_mem_table(nodes + 1, sizeof *b.first_child);
    b.children = pgk_mem_table(nodes, sizeof *b.children);
    b.element = pgk_mem_alloc(frames, sizeof *b.element);
    int status = r->frame_ids && r->linear && r->order && r->stack_start && r->stack_rank &&
                         b.in_use && b.depth && b.usage && b.first_child && b.children && b.element
                     ? build(&b, generation)
                     : PGK_E_NOMEM;
    pgk_mem_free(b.in_use);
    pgk_mem_free(b.depth);
    pgk_mem_free(b.usage);
    pgk_mem_free(b.first_child);
    pgk_mem_free(b.children);
    pgk_mem_free(b.element);
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
