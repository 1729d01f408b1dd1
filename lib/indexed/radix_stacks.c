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
    struct pgk_stack_tree ordered;      /* where those of the model are in no order, these are */
    uint32_t *moved;                    /* by stack of the model: in `ordered`; or NULL */
    const struct pgk_stack_node *nodes; /* what stands on top of a node comes directly behind it */
    size_t n_nodes;
    uint8_t *in_use;      /* by node: ENDS, PASSED */
    uint32_t *end;        /* by node: behind what stands on top of it */
    struct usage *usage;  /* by frame; later sorted */
    uint32_t *element;    /* by frame: place in the element order */
};

/* A node whose children are being visited. */
struct open {
    uint32_t node, stacks; /* through it */
    uint64_t distance;     /* from it to their leaves, together */
};
typedef PGK_VEC(struct open) open_vec;

static void close_node(struct builder *b, open_vec *path, uint32_t end)
{
    const struct open *x = &path->v[--path->n];
    const struct pgk_stack_node *node = &b->nodes[x->node];
    uint32_t stacks = x->stacks + b->in_use[x->node];
    b->end[x->node] = end;
    if (!stacks)
        return;
    struct open *parent = &path->v[path->n - 1];
    parent->stacks += stacks;
    parent->distance += x->distance + stacks;
    b->usage[node->frame].count += stacks;
    b->usage[node->frame].distance += x->distance;
    b->in_use[x->node] |= PASSED;
}

/* How many stacks run through each node, and how far away their leaves are together: those of a
 * callee are one further away from its caller. */
static int count_usage(struct builder *b, uint32_t generation)
{
    open_vec path = {0};
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->usage[i].frame = (uint32_t)i;
    bool ok = pgk_vec_push(&path, (struct open){0});
    for (uint32_t i = 1; ok && i < b->n_nodes; i++) {
        while (path.v[path.n - 1].node != b->nodes[i].parent)
            close_node(b, &path, i);
        ok = pgk_vec_push(&path, (struct open){.node = i});
    }
    while (ok && path.n > 1)
        close_node(b, &path, (uint32_t)b->n_nodes);
    b->end[0] = (uint32_t)b->n_nodes;
    pgk_vec_free(&path);
    for (size_t i = 0; i < b->h->frames.n; i++)
        if (b->usage[i].count)
            b->r->frame_ids[i] = b->usage[i].id = frame_id(b->h, (uint32_t)i, generation);
    return ok ? 0 : PGK_E_NOMEM;
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

static int by_rising_element(const void *a, const void *b, void *ctx)
{
    const struct builder *k = ctx;
    uint32_t x = k->element[k->nodes[*(const uint32_t *)a].frame],
             y = k->element[k->nodes[*(const uint32_t *)b].frame];
    return x < y ? -1 : x > y;
}

static void order_elements(struct builder *b)
{
    qsort(b->usage, b->h->frames.n, sizeof *b->usage, by_element);
    for (size_t i = 0; i < b->h->frames.n; i++)
        b->element[b->usage[i].frame] = (uint32_t)i;
}

/* A node on the way from the root; its children that are still to be visited are the last ones of
 * `children`. */
struct step {
    uint32_t node;
    uint32_t where; /* its frame in the array */
    size_t first;   /* child */
};
typedef PGK_VEC(struct step) path_vec;
typedef PGK_VEC(uint32_t) children_vec;

/* The last child is visited first, so they come in rising order. */
static bool step_to(struct builder *b, path_vec *path, children_vec *children, uint32_t node)
{
    size_t first = children->n;
    for (uint32_t c = node + 1; c < b->end[node]; c = b->end[c])
        if (b->in_use[c] && !pgk_vec_push(children, c))
            return false;
    if (children->n - first > 1)
        qsort_r(children->v + first, children->n - first, sizeof *children->v,
                by_rising_element, b);
    return pgk_vec_push(path, (struct step){.node = node, .first = first});
}

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
    children_vec children = {0};
    uint32_t shared = 0; /* frames of the stack before that are on the path */
    bool ok = step_to(b, &path, &children, 0);
    while (ok) {
        const struct step *last = &path.v[path.n - 1];
        if (children.n > last->first) {
            ok = step_to(b, &path, &children, children.v[--children.n]);
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
    pgk_vec_free(&children);
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

static uint32_t node_of(const struct builder *b, uint32_t stack)
{
    return b->moved ? b->moved[stack] : stack;
}

/* 1 if the stack was not in use before. */
static size_t use_stack(struct builder *b, uint32_t stack)
{
    uint32_t node = node_of(b, stack);
    bool fresh = node && !b->in_use[node];
    if (fresh)
        b->in_use[node] = ENDS;
    return fresh;
}

/* The stacks of the model with what is on top of a node directly behind it. */
static int order_stacks(struct builder *b)
{
    struct pgk_frame_map same = {0};
    b->nodes = b->h->stacks.nodes.v;
    b->n_nodes = b->h->stacks.nodes.n;
    if (pgk_stack_in_order(&b->h->stacks))
        return 0;
    b->moved = pgk_mem_table(b->n_nodes, sizeof *b->moved);
    bool ok = b->moved && pgk_stack_tree_init(&b->ordered) && pgk_vec_push(&same.first, 0);
    for (uint32_t i = 0; ok && i < b->h->frames.n; i++)
        ok = pgk_vec_push(&same.frames, i) && pgk_vec_push(&same.first, i + 1);
    ok = ok && pgk_stack_expand(&b->ordered, &b->h->stacks, &same, b->moved);
    pgk_vec_free(&same.first);
    pgk_vec_free(&same.frames);
    b->nodes = b->ordered.nodes.v;
    return ok ? 0 : PGK_E_NOMEM;
}

/* Results by stack of the model again. */
static void move_back(struct builder *b, uint32_t stack)
{
    if (stack)
        b->r->stacks[b->r->stack_rank[b->moved[stack]]] = stack;
}

static void say_by_model(struct builder *b)
{
    if (!b->moved)
        return;
    for (size_t i = 0; i < b->h->contexts.n; i++)
        move_back(b, b->h->contexts.v[i].stack);
    for (size_t i = 0; i < b->h->sites.n; i++)
        move_back(b, b->h->sites.v[i].stack);
    for (uint32_t i = 0; i < b->r->n_stacks; i++)
        b->moved[b->r->stacks[i]] = i;
    pgk_mem_free(b->r->stack_rank);
    b->r->stack_rank = b->moved;
    b->moved = NULL;
}

/* Tables by node are large: there are as few as can be. */
static int build(struct builder *b, uint32_t generation)
{
    struct pgk_radix_stacks *r = b->r;
    size_t n_stacks = 0, frames = b->h->frames.n + 1;
    PGK_TRY(order_stacks(b));
    b->in_use = pgk_mem_table(b->n_nodes, 1);
    b->end = pgk_mem_alloc(b->n_nodes, sizeof *b->end);
    b->usage = pgk_mem_zalloc(frames, sizeof *b->usage);
    b->element = pgk_mem_alloc(frames, sizeof *b->element);
    r->frame_ids = pgk_mem_zalloc(frames, sizeof *r->frame_ids);
    r->linear = pgk_mem_zalloc(frames, sizeof *r->linear);
    r->order = pgk_mem_zalloc(frames, sizeof *r->order);
    if (!b->in_use || !b->end || !b->usage || !b->element || !r->frame_ids || !r->linear ||
        !r->order)
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
    order_elements(b);
    PGK_TRY(encode_stacks(b));
    /* What was said of nodes is not needed any more. */
    r->stack_rank = b->end;
    r->stack_rank[0] = 0;
    b->end = NULL;
    reverse(r);
    say_by_model(b);
    return 0;
}

int pgk_radix_build(struct pgk_radix_stacks *r, const struct pgk_heap *h, uint32_t generation,
                    struct pgk_err *err)
{
    struct builder b = {.r = r, .h = h};
    *r = (struct pgk_radix_stacks){0};
    int status = build(&b, generation);
    pgk_stack_tree_free(&b.ordered);
    pgk_mem_free(b.moved);
    pgk_mem_free(b.in_use);
    pgk_mem_free(b.end);
    pgk_mem_free(b.usage);
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
