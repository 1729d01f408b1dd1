/* The plan of a process: read once, and found in place as its modules come. */
#include "alloc_lookup.h"

#include "alloc_group.h"
#include "guest_bytes.h"
#include "guest_file.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_sys.h"
#include "guest_text.h"
#include "placement_plan.h"

struct pgal_node *pgal_nodes;
struct pgal_leaf *pgal_leaves;
u32 pgal_leaves_shift;
u32 pgal_modules_missing;

static struct pgk_placement plan;
static u32 *node_of; /* by the plan's frame */
static bool loaded[PGK_PLACEMENT_MODULES_MAX];
static u32 hashed; /* groups of pgal_plan_hash; 0: none */
static volatile u32 adding; /* one thread at a time */
/* Pages of code whose module was looked up, so that it is not done again for each allocation. */
enum { PAGES_SEEN_SHIFT = 54 };
static u64 pages_seen[1 << (64 - PAGES_SEEN_SHIFT)];

/* ---- where its calls are ---- */

static void add_leaf(u32 node)
{
    const struct pgal_node *n = &pgal_nodes[node];
    struct pgal_leaf *leaf = pgal_leaf_slot(n->address);
    while (leaf->address)
        leaf++;
    leaf->node = node;
    leaf->group = n->group;
    leaf->depth = n->depth;
    __atomic_store_n(&leaf->address, n->address, __ATOMIC_RELEASE);
}

static void place(u32 frame, u64 bias)
{
    struct pgal_node *n = &pgal_nodes[node_of[frame]];
    const u64 address = plan.nodes[frame].address + bias;
    if (n->depth)
        n->rule = pgg_rule_find(address);
    __atomic_store_n(&n->address, address, __ATOMIC_RELEASE);
    if (!plan.nodes[frame].parent && address)
        add_leaf(node_of[frame]);
}

/* The frames of a module are where it was loaded. */
static void add_module(const struct pgg_segment *s)
{
    for (u32 m = 0; m < plan.header->n_modules; m++) {
        const struct pgk_placement_module *module = &plan.modules[m];
        if (loaded[m] || s->id_size != module->id_size ||
            pgg_compare(s->id, module->id, module->id_size))
            continue;
        loaded[m] = true;
        for (u32 i = 1; i < plan.header->n_nodes; i++)
            if (plan.nodes[i].module == m)
                place(i, s->bias);
        __atomic_fetch_sub(&pgal_modules_missing, 1, __ATOMIC_RELEASE);
    }
}

void pgal_plan_after_fork(void)
{
    adding = 0;
    pgg_modules_after_fork();
}

/* A call of a module that may have been loaded since. */
PGG_COLD u32 pgal_group_of_unknown(u64 address)
{
    struct pgg_module m;
    if (hashed)
        return 1 + (u32)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % hashed;
    const u64 page = address / PGG_PAGE;
    u64 *seen = &pages_seen[page * UINT64_C(0x9e3779b97f4a7c15) >> PAGES_SEEN_SHIFT];
    if (__atomic_load_n(seen, __ATOMIC_RELAXED) == page)
        return 0;
    __atomic_store_n(seen, page, __ATOMIC_RELAXED);
    if (pgg_module_at(address, &m) && !__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE)) {
        add_module(&m.segment);
        pgg_unlock(&adding);
    }
    return 0; /* the next allocation there is in its group */
}

/* ---- a call stack ---- */

/* The node has some below it. */
PGG_INLINE struct pgal_node *node_below(struct pgal_node *node, u64 address)
{
    struct pgal_node *n = node + 1;
    if (PGG_LIKELY(n->address == address))
        return n;
    for (const struct pgal_node *end = node + node->size; (n += n->size) < end;)
        if (PGG_LIKELY(n->address == address))
            return n;
    return NULL;
}

PGG_COLD u32 pgal_group_of_unknown_below(const struct pgal_node *node, u64 call)
{
    pgal_group_of_unknown(call);
    return node->group;
}

/* Below a frame is a call that the plan does not have. */
PGG_INLINE u32 unknown(const struct pgal_node *node, u64 call)
{
    return PGG_UNLIKELY(pgal_modules_missing) ? pgal_group_of_unknown_below(node, call)
                                              : node->group;
}

/* By the walk that knows all there is: for rare frames, and a thread's first time. */
static PGG_COLD u32 walk_deeper(struct pgal_thread *t, struct pgal_node *node, const void *frame)
{
    u64 calls[PGK_PLACEMENT_DEPTH_MAX + 1];
    t->busy = true; /* its first walk asks for its stack, which may allocate */
    pgg_compiler_barrier();
    const u32 n = pgg_walk_first(&t->walker, frame, calls, node->depth + 1u);
    pgg_compiler_barrier();
    t->busy = false;
    for (u32 i = 1; i < n && node->depth; i++) {
        struct pgal_node *next = node_below(node, calls[i]);
        if (!next)
            return unknown(node, calls[i]);
        node = next;
    }
    return node->group;
}

PGG_INLINE struct pgal_run run_from(const struct pgal_node *node)
{
    const u32 word = __atomic_load_n(&node->run, __ATOMIC_ACQUIRE);
    return (struct pgal_run){.frames = (word & UINT16_MAX) >> 1, .reach = word >> 16};
}

/* Most code has frame pointers, or frames whose size gives the place of the caller's. */
enum kind { FRAMED, SIZED, OTHER };
static enum kind kind_of(const struct pgal_node *node)
{
    if (pgg_rule_is_framed(node->rule))
        return FRAMED;
    return node->rule.cfa == PGG_CFA_SP ? SIZED : OTHER;
}

/* The node is noted: it begins a run, or goes before the one that is there. */
static bool begin_run(struct pgal_node *node)
{
    const struct pgal_node *next = node + 1;
    const enum kind kind = kind_of(node);
    if (node->depth < 2 || next->size != node->size - 1 || kind == OTHER)
        return false;
    struct pgal_run run = {.frames = 0};
    if (__atomic_load_n(&next->address, __ATOMIC_ACQUIRE) && kind_of(next) == kind)
        run = run_from(next);
    run.frames++;
    if (run.reach < node->return_at)
        run.reach = node->return_at;
    __atomic_store_n(&node->run, run.reach << 16 | run.frames << 1 | PGAL_NOTED, __ATOMIC_RELEASE);
    return true;
}

/* With those of which it is the one below them. */
static void begin_runs(struct pgal_node *node)
{
    while (begin_run(node) && node > pgal_nodes && run_from(node - 1).frames)
        node--;
}

/* The places that the step out of this node's frame read, unless they are too far away. */
static void note(struct pgal_node *node, const struct pgg_step *step, uintptr_t pair)
{
    enum { WORD = sizeof(u64), FAR = UINT16_MAX * WORD };
    uintptr_t read_at = 0, read = 0;
    if (step->read_at) {
        read_at = step->read_at - pair;
        read = *(const uintptr_t *)step->read_at - pair;
    }
    if (step->return_at - pair > FAR || read > FAR || read_at > step->return_at - pair ||
        ((read | read_at) & 7) ||
        (__atomic_fetch_or(&node->run, PGAL_NOTED, __ATOMIC_RELAXED) & PGAL_NOTED))
        return;
    node->read_at = (uint16_t)(read_at / WORD);
    node->read = (uint16_t)(read / WORD);
    __atomic_store_n(&node->return_at, (uint16_t)((step->return_at - pair) / WORD),
                     __ATOMIC_RELEASE);
    begin_runs(node);
}

/* By the rules of the frames. */
u32 pgal_group_by_rules(u32 first, const void *frame)
{
    struct pgal_thread *t = pgal_thread();
    struct pgal_node *node = &pgal_nodes[first];
    struct pgg_step step;
    if (PGG_UNLIKELY(!t || t->busy))
        return 0;
    if (!pgg_step_begin(&t->walker, frame, &step))
        return walk_deeper(t, node, frame);
    do {
        const u64 call = pgg_step_leave(&step, node->rule);
        if (PGG_UNLIKELY(!call))
            return walk_deeper(t, &pgal_nodes[first], frame);
        if (PGG_UNLIKELY(!(node->run & PGAL_NOTED)))
            note(node, &step, pgg_frame_pair((uintptr_t)frame));
        struct pgal_node *next = node_below(node, call);
        if (!next)
            return unknown(node, call);
        node = next;
    } while (node->depth);
    return node->group;
}

/* Goes up over a run of frames, as far as they are where they are noted and their calls are the
 * plan's. */
PGG_INLINE struct pgal_node *leave_run(const struct pgal_noted *s, struct pgal_node *node)
{
    const struct pgal_run run = run_from(node);
    if (PGG_UNLIKELY(run.reach - (size_t)1 >= s->last))
        return node;
    const struct pgal_node *end = node + run.frames;
    if (!pgg_rule_is_framed(node->rule)) {
        while (node < end &&
               PGG_LIKELY(pgg_return_address(s->pair[node->return_at]) - 1 == node[1].address))
            node++;
        return node;
    }
    /* Each frame pointer gives the place of the next one, below the return address. This is right
     * if it was recorded so. */
    const u64 *kept = s->pair + node->read_at;
    for (; node < end; node++) {
        const u64 *next = s->pair + node->return_at - 1;
        if (PGG_UNLIKELY(*kept != (uintptr_t)next ||
                         pgg_return_address(next[1]) - 1 != node[1].address))
            break;
        kept = next;
    }
    return node;
}

u32 pgal_group_of_deeper(u32 first, const void *frame)
{
    struct pgal_node *node = &pgal_nodes[first];
    struct pgal_noted stack;
    u64 call;
    if (PGG_UNLIKELY(!pgal_noted_begin(pgal_self, frame, &stack)))
        return pgal_group_by_rules(first, frame);
    node = leave_run(&stack, node);
    for (;;) {
        if (PGG_UNLIKELY(!pgal_noted_call(&stack, node, &call)))
            return pgal_group_by_rules(first, frame);
        if (node->depth == 1)
            return pgal_last_group(node, call);
        struct pgal_node *next = node_below(node, call);
        if (PGG_UNLIKELY(!next))
            return unknown(node, call);
        node = next;
        if (PGG_UNLIKELY(!node->depth))
            return node->group;
    }
}

/* ---- the file ---- */

enum { PLAN_MOST = 4 << 20 };

/* In the plan, the children of a frame are adjacent, after it; here each frame is followed by its
 * own first child. */
static void order_nodes(u32 n)
{
    for (u32 i = n - 1; i; i--) /* how many are below each */
        node_of[plan.nodes[i].parent] += node_of[i] + 1;
    pgal_nodes[0].size = n;
    node_of[0] = 0;
    for (u32 i = 1; i < n; i++) {
        const u32 before = node_of[i - 1], parent = plan.nodes[i].parent;
        const bool first = i == 1 || plan.nodes[i - 1].parent != parent;
        const u32 at = first ? node_of[parent] + 1 : before + pgal_nodes[before].size;
        pgal_nodes[at].size = node_of[i] + 1;
        node_of[i] = at;
    }
}

/* The part of the trie that does not depend on the addresses of its modules. */
static bool make_nodes(void)
{
    const u32 n = plan.header->n_nodes;
    pgal_nodes = pgg_map(pgg_whole_pages(n * sizeof *pgal_nodes));
    node_of = pgg_map(pgg_whole_pages(n * sizeof *node_of));
    if (!pgal_nodes || !node_of)
        return false;
    order_nodes(n);
    for (u32 i = n - 1; i; i--) {
        struct pgal_node *node = &pgal_nodes[node_of[i]],
                         *parent = &pgal_nodes[node_of[plan.nodes[i].parent]];
        node->group = (uint8_t)plan.nodes[i].group;
        if (parent->depth <= node->depth)
            parent->depth = node->depth + 1;
        if (parent->depth > PGK_PLACEMENT_DEPTH_MAX)
            return false;
    }
    return true;
}

static bool make_leaves(void)
{
    u32 bits = 6;
    u32 n = 0;
    while (n + 1 < plan.header->n_nodes && !plan.nodes[n + 1].parent)
        n++;
    while ((u32)1 << bits < n * 4)
        bits++;
    struct pgal_leaf *leaves =
        pgg_map(pgg_whole_pages((((size_t)1 << bits) + n + 1) * sizeof *leaves));
    if (!leaves)
        return false;
    pgal_leaves_shift = 64 - bits;
    pgal_leaves = leaves;
    return true;
}

static void find_modules(const char *path, bool others_are_expected)
{
    const struct pgg_segment *segments;
    const u32 all = pgal_modules_missing = plan.header->n_modules;
    pgg_modules_refresh();
    const u32 n = pgg_modules(&segments);
    for (u32 i = 0; i < n; i++)
        add_module(&segments[i]);
    if (pgal_modules_missing == all && !others_are_expected)
        pgal_say("the plan does not match any loaded module (different build)", path);
}

u64 pgal_planned_bytes(u32 group)
{
    return plan.header && group < plan.header->n_groups ? plan.groups[group].bytes : 0;
}

void pgal_plan_hash(u32 groups)
{
    static struct pgal_leaf none[2]; /* one for each hash of a bit */
    if (!groups || groups >= PGAL_GROUPS) {
        pgal_say("PGOKIT_ALLOC_HASH is a number from 1 to 15", NULL);
    } else if (pgal_groups_ready()) {
        hashed = groups;
        pgal_modules_missing = 1;
        pgal_leaves_shift = 63;
        pgal_leaves = none;
    }
}

void pgal_plan_read(const char *path, bool others_are_expected)
{
    struct pgk_placement_fault fault = {.what = NULL};
    size_t bytes;
    const void *file = pgg_file_read(path, PLAN_MOST, &bytes, &fault.what);
    if (!file || !pgk_placement_check(file, bytes, &plan, &fault)) {
        char why[160];
        struct pgg_text t;
        pgg_text_init(&t, why, sizeof why);
        pgg_text_str(&t, path);
        pgg_text_str(&t, ": ");
        pgg_text_str(&t, fault.what);
        pgal_say("no plan is used", why);
    } else if (!make_nodes()) {
        pgal_say("no plan is used, its stacks are too deep or memory is short", path);
    } else if (!pgal_groups_ready() || !make_leaves()) {
        pgal_say("no plan is used, memory is short", path);
    } else {
        for (u32 i = 1; i < plan.header->n_groups; i++)
            if (plan.groups[i].flags & PGK_PLACEMENT_COLD)
                pgal_group_is_cold(i);
            else if (plan.groups[i].flags & PGK_PLACEMENT_HOT)
                pgal_group_is_hot(i);
        find_modules(path, others_are_expected);
    }
}
