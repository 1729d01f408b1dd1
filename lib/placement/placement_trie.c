/* The trie of calls that distinguishes groups: only as deep as contexts of several groups share
 * their path. */
#include "placement.h"

#include "hash.h"
#include "index.h"

#include <stdlib.h>

/* Paths that one context may take, where calls of it were compiled several times. */
enum { PATHS = 64 };
/* Shares of the bytes that go through a call that must be of one group: to end the trie before its
 * depth, and where it cannot continue. */
enum { PURE_PERCENT = 99, MOST_PERCENT = 90 };

/* A call below others, before it is known which ones are needed. */
struct branch {
    struct pgk_plan_call call;
    uint32_t parent, child, sibling; /* the first child, the next sibling; 0: none */
    uint64_t bytes[PGK_PLACEMENT_GROUPS_MAX], sum; /* of contexts that go through */
    uint64_t ends[PGK_PLACEMENT_GROUPS_MAX];       /* of those that end here */
    uint16_t group;
    bool is_end, is_needed; /* nothing below matters; it or something below has a group */
};
struct trie {
    struct pgk_plan *plan;
    PGK_VEC(struct branch) branches; /* 0: the root */
    struct pgk_index index;
    uint32_t paths; /* of the context that is added */
    PGK_VEC(uint32_t) order; /* of branches: that of plan->nodes */
};

static uint32_t branch_at(struct trie *t, uint32_t parent, struct pgk_plan_call call)
{
    const uint64_t hash = pgk_hash_pair(pgk_hash_pair(parent, call.module), call.address);
    PGK_INDEX_FOR(&t->index, hash, i) {
        const struct branch *b = &t->branches.v[i];
        if (b->parent == parent && b->call.module == call.module &&
            b->call.address == call.address)
            return i;
    }
    const struct branch b = {.call = call, .parent = parent,
                             .sibling = t->branches.v[parent].child};
    const uint32_t at = (uint32_t)t->branches.n;
    if (!pgk_vec_push(&t->branches, b) || !pgk_index_add(&t->index, hash, at))
        return PGK_INDEX_NONE;
    t->branches.v[parent].child = at;
    return at;
}

/* At most PGK_PLACEMENT_DEPTH_MAX levels. */
static bool add_below(struct trie *t, uint32_t at, const struct pgk_plan_context *c, uint32_t step)
{
    const struct pgk_plan *plan = t->plan;
    struct branch *b = &t->branches.v[at];
    b->bytes[c->group] += c->total + 1;
    b->sum += c->total + 1;
    if (step == c->n_steps || t->paths >= PATHS) {
        b->ends[c->group] += c->total + 1;
        return true;
    }
    const struct pgk_plan_step s = plan->steps.v[c->first_step + step];
    t->paths += s.n - 1;
    for (uint32_t i = 0; i < s.n; i++) {
        const uint32_t below = branch_at(t, at, plan->calls.v[s.first + i]);
        if (below == PGK_INDEX_NONE || !add_below(t, below, c, step + 1))
            return false;
    }
    return true;
}

/* The group with that share of the bytes, or 0. */
static uint16_t group_with(const uint64_t *bytes, uint64_t sum, uint64_t percent)
{
    for (uint16_t g = 1; g < PGK_PLACEMENT_GROUPS_MAX; g++)
        if (bytes[g] && bytes[g] >= sum - sum / 100 * (100 - percent))
            return g;
    return 0;
}

static uint64_t ends_sum(const struct branch *b)
{
    uint64_t sum = 0;
    for (uint32_t g = 0; g < PGK_PLACEMENT_GROUPS_MAX; g++)
        sum += b->ends[g];
    return sum;
}

/* Gives a branch and those below their groups. */
static bool decide(struct trie *t, uint32_t at)
{
    struct branch *b = &t->branches.v[at];
    b->group = at ? group_with(b->bytes, b->sum, PURE_PERCENT) : 0;
    b->is_end = b->group != 0;
    if (!b->is_end && at)
        b->group = group_with(b->ends, ends_sum(b), MOST_PERCENT);
    b->is_needed = b->group != 0;
    for (uint32_t i = b->is_end ? 0 : b->child; i; i = t->branches.v[i].sibling)
        b->is_needed |= decide(t, i);
    return b->is_needed;
}

/* The heaviest first, as they are looked at one after the other. */
static int by_bytes(const void *a, const void *b, void *arg)
{
    const struct trie *t = arg;
    const struct branch *x = &t->branches.v[*(const uint32_t *)a],
                        *y = &t->branches.v[*(const uint32_t *)b];
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    if (x->call.module != y->call.module)
        return x->call.module > y->call.module ? 1 : -1;
    return (x->call.address > y->call.address) - (x->call.address < y->call.address);
}

/* Appends the children of the node of this number, adjacent to one another. */
static bool add_nodes_below(struct trie *t, uint32_t node)
{
    struct pgk_plan *plan = t->plan;
    const struct branch *above = &t->branches.v[t->order.v[node]];
    const size_t first = t->order.n;
    for (uint32_t i = above->is_end ? 0 : above->child; i; i = t->branches.v[i].sibling)
        if (t->branches.v[i].is_needed && t->order.n < PGK_PLACEMENT_NODES_MAX &&
            !pgk_vec_push(&t->order, i))
            return false;
    if (t->order.n > first)
        qsort_r(t->order.v + first, t->order.n - first, sizeof *t->order.v, by_bytes, t);
    for (size_t i = first; i < t->order.n; i++) {
        const struct branch *b = &t->branches.v[t->order.v[i]];
        const struct pgk_placement_node n = {b->call.address, node, (uint16_t)b->call.module,
                                             b->group};
        if (!pgk_vec_push(&plan->nodes, n))
            return false;
    }
    return true;
}

static bool add_nodes(struct trie *t)
{
    decide(t, 0);
    if (!pgk_vec_push(&t->order, 0) ||
        !pgk_vec_push(&t->plan->nodes, (struct pgk_placement_node){0}))
        return false;
    for (uint32_t i = 0; i < t->order.n; i++)
        if (!add_nodes_below(t, i))
            return false;
    return true;
}

static bool make(struct trie *t)
{
    struct pgk_plan *plan = t->plan;
    if (!pgk_vec_push(&t->branches, (struct branch){0}))
        return false;
    for (size_t i = 0; i < plan->contexts.n; i++) {
        t->paths = 1;
        if (plan->contexts.v[i].n_steps && !add_below(t, 0, &plan->contexts.v[i], 0))
            return false;
    }
    return add_nodes(t);
}

void pgk_plan_drop_modules(struct pgk_plan *plan)
{
    uint16_t number[PGK_PLACEMENT_MODULES_MAX];
    bool used[PGK_PLACEMENT_MODULES_MAX] = {false};
    uint16_t n = 0;
    for (size_t i = 1; i < plan->nodes.n; i++)
        used[plan->nodes.v[i].module] = true;
    for (uint16_t m = 0; m < plan->modules.n; m++) {
        number[m] = n;
        if (used[m])
            plan->modules.v[n++] = plan->modules.v[m];
    }
    plan->modules.n = n;
    for (size_t i = 1; i < plan->nodes.n; i++)
        plan->nodes.v[i].module = number[plan->nodes.v[i].module];
}

int pgk_plan_make_trie(struct pgk_plan *plan, struct pgk_err *err)
{
    struct trie t = {.plan = plan};
    plan->nodes.n = 0;
    const bool made = make(&t);
    pgk_vec_free(&t.branches);
    pgk_index_free(&t.index);
    pgk_vec_free(&t.order);
    if (!made)
        return pgk_fail_nomem(err);
    if (plan->nodes.n == 1)
        return pgk_fail(err, PGK_E_EMPTY, .field = "contexts",
                        .found = "none that calls tell apart",
                        .hint = "record deeper stacks, or plan with a larger --depth");
    return 0;
}
