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
    struct usage *usage;  /* by frame; later sorted */
    uint32_t *first_child;     /* by node: where its children start in `children` */
    uint32_t *children;        /* by parent, in falling element order */
    uint32_t *element;         /* by frame: place in the element order */
};

/* How many stacks run through each node, and how far away their leaves are together: those of a
 * callee are one further away from its caller. */
static int count_usage(struct builder *b, uint32_t generation)
{
    uint32_t *stacks = pgk_mem_table(b->n_nodes, sizeof *stacks);
    uint64_t *distance = pgk_mem_table(b->n_nodes, sizeof *distance);
    if (!stacks || !distance) {
        pgk_mem_free(stacks);
        pgk_mem_free(distance);
        return PGK_E_NOMEM;
    }
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->usage[i].frame = (uint32_t)i;
    for (size_t i = b->n_nodes; i-- > 1;) {
        const struct pgk_stack_node *node = &b->nodes[i];
        stacks[i] += b->in_use[i];
        if (!stacks[i])
            continue; /* no child of anything */
        stacks[node->parent] += stacks[i];
        distance[node->parent] += distance[i] + stacks[i];
        b->usage[node->frame].count += stacks[i];
        b->usage[node->frame].distance += distance[i];
        b->first_child[node->parent]++;
        b->in_use[i] |= PASSED;
    }
    pgk_mem_free(stacks);
    pgk_mem_free(distance);
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

/* A node on the way from the root. */
struct step {
    uint32_t node, next; /* child to go to */
    uint32_t where;      /* its frame in the array */
};
typedef PGK_VEC(struct step) path_vec;

/* One stack: a jump to the frames it shares with the one before, the rest of its frames from
 * the root on, its length. The array is built backwards and reversed at the end. */
static bool encode(struct builder *b, const path_vec *path, uint32_t shared)
{
    struct pgk_radix_stacks *r = b->r;
    uint32_t depth = (uint32_t)path->n - 1;
    if (!pgk_vec_reserve(&r->radix, depth - shared + 2))
        return false;
    if (shared) {
        uint32_t at = (uint32_t)r->radix.n;
        r->radix.v[r->radix.n++] = path->v[shared].where - at;
    }
    for (uint32_t i = shared + 1; i <= depth; i++) {
        path->v[i].where = (uint32_t)r->radix.n;
        r->radix.v[r->radix.n++] = r->linear[b->nodes[path->v[i].node].frame];
    }
    r->starts[r->n_stacks] = (uint32_t)r->radix.n;
    r->radix.v[r->radix.n++] = depth;
    r->stacks[r->n_stacks++] = path->v[depth].node;
    return true;
}

/* Walks the tree, children before their parent. */
static int encode_stacks(struct builder *b)
{
    path_vec path = {0}; /* with the root */
    uint32_t shared = 0; /* frames of the stack before that are on the path */
    bool ok = pgk_vec_push(&path, (struct step){.next = b->first_child[0]});
    while (ok) {
        struct step *last = &path.v[path.n - 1];
        if (last->next < b->first_child[last->node + 1]) { /* go down */
            uint32_t child = b->children[last->next++];
            ok = pgk_vec_push(&path, (struct step){child, b->first_child[child], 0});
            continue;
        }
        if (path.n == 1)
            break;
        if (b->in_use[last->node] & ENDS) {
            ok = encode(b, &path, shared);
            shared = (uint32_t)path.n - 1;
        }
        path.n--;
        if (shared > path.n - 1)
            shared = (uint32_t)path.n - 1;
    }
    pgk_vec_free(&path);
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
        size_t other = r->n_stacks - 1 - i;
        uint32_t node = r->stacks[i], start = r->starts[i];
        r->stacks[i] = r->stacks[other];
        r->starts[i] = r->starts[other];
        r->stacks[other] = node;
        r->starts[other] = start;
    }
    for (uint32_t i = 0; i < r->n_stacks; i++) {
        r->starts[i] = (uint32_t)n - 1 - r->starts[i];
        r->stack_rank[r->stacks[i]] = i;
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

/* Tables by node are large: each is made when it is needed and not before. */
static int build(struct builder *b, uint32_t generation)
{
    struct pgk_radix_stacks *r = b->r;
    size_t n_stacks = 0, frames = b->h->frames.n + 1;
    b->in_use = pgk_mem_table(b->n_nodes, 1);
    b->first_child = pgk_mem_table(b->n_nodes + 1, sizeof *b->first_child);
    b->usage = pgk_mem_zalloc(frames, sizeof *b->usage);
    b->element = pgk_mem_alloc(frames, sizeof *b->element);
    r->frame_ids = pgk_mem_zalloc(frames, sizeof *r->frame_ids);
    r->linear = pgk_mem_zalloc(frames, sizeof *r->linear);
    r->order = pgk_mem_zalloc(frames, sizeof *r->order);
    if (!b->in_use || !b->first_child || !b->usage || !b->element || !r->frame_ids ||
        !r->linear || !r->order)
        return PGK_E_NOMEM;
    for (size_t i = 0; i < b->h->contexts.n; i++)
        n_stacks += use_stack(b, b->h->contexts.v[i].stack);
    for (size_t i = 0; i < b->h->sites.n; i++)
        n_stacks += use_stack(b, b->h->sites.v[i].stack);
    r->stacks = pgk_mem_alloc(n_stacks + 1, sizeof *r->stacks);
    r->starts = pgk_mem_alloc(n_stacks + 1, sizeof *r->starts);
    if (!r->stacks || !r->starts)
        return PGK_E_NOMEM;
    PGK_TRY(count_usage(b, generation));
    order_frames(b);
    b->children = pgk_mem_table(b->n_nodes, sizeof *b->children);
    if (!b->children)
        return PGK_E_NOMEM;
    order_children(b);
    PGK_TRY(encode_stacks(b));
    pgk_mem_free(b->children);
    b->children = NULL;
    r->stack_rank = pgk_mem_table(b->n_nodes, sizeof *r->stack_rank);
    if (!r->stack_rank)
        return PGK_E_NOMEM;
    reverse(r);
    return 0;
}

int pgk_radix_build(struct pgk_radix_stacks *r, const struct pgk_heap *h, uint32_t generation,
                    struct pgk_err *err)
{
    struct builder b = {.r = r, .h = h, .nodes = h->stacks.nodes.v,
                        .n_nodes = h->stacks.nodes.n};
    *r = (struct pgk_radix_stacks){0};
    int status = build(&b, generation);
    pgk_mem_free(b.in_use);
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
    pgk_mem_free(r->stack_rank);
    pgk_mem_free(r->stacks);
    pgk_mem_free(r->starts);
    pgk_vec_free(&r->radix);
    *r = (struct pgk_radix_stacks){0};
}
