/* Counters by calling context, from samples with a call chain and a branch stack. */
#include "call_trie.h"

#include "group_sort.h"
#include "sample_model.h"
#include "saturate.h"

/* ---- counts ---- */

static int compare_counts(const void *a, const void *b)
{
    const struct pgk_call_count *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

void pgk_call_counts_sort(struct pgk_call_counts *c)
{
    size_t kept = 0;
    if (c->sorted == c->list.n)
        return;
    pgk_sort_groups(c->list.v, c->list.n, sizeof *c->list.v, compare_counts);
    for (size_t i = 0; i < c->list.n; i++) {
        struct pgk_call_count *last = kept ? &c->list.v[kept - 1] : NULL;
        if (!last || compare_counts(last, &c->list.v[i]))
            c->list.v[kept++] = c->list.v[i];
        else
            last->count = pgk_add_saturated(last->count, c->list.v[i].count);
    }
    c->list.n = c->sorted = kept;
}

static bool add_count(struct pgk_call_counts *c, struct pgk_call_count count)
{
    enum { MANY = 1 << 16 };
    if (c->list.n >= MANY && c->list.n / 2 >= c->sorted && c->list.n == c->list.cap)
        pgk_call_counts_sort(c);
    return pgk_vec_push(&c->list, count);
}

bool pgk_call_counts_add(struct pgk_call_counts *counts, uint32_t node, uint64_t from, uint64_t to,
                         uint64_t count)
{
    return add_count(counts, (struct pgk_call_count){node, false, from, to, count});
}

bool pgk_call_trie_add_range(struct pgk_call_trie *trie, struct pgk_code *code, uint32_t node,
                             uint64_t from, uint64_t to, uint64_t count)
{
    bool impossible = !pgk_code_is_straight(code, from, to);
    return add_count(&trie->ranges, (struct pgk_call_count){node, impossible, from, to, count});
}

void pgk_call_trie_free(struct pgk_call_trie *trie)
{
    pgk_vec_free(&trie->nodes);
    pgk_index_free(&trie->index);
    pgk_vec_free(&trie->ranges.list);
    pgk_vec_free(&trie->branches.list);
    pgk_vec_free(&trie->vtables.list);
    pgk_vec_free(&trie->recovered.list);
    pgk_mem_free(trie->tally.slots);
    pgk_vec_free(&trie->last);
}

/* ---- the tree ---- */

static uint32_t find_child(struct pgk_call_trie *trie, uint32_t parent, uint64_t addr)
{
    uint64_t hash = addr + parent * UINT64_C(0x9e3779b97f4a7c15); /* as far apart as addresses */
    PGK_INDEX_FOR (&trie->index, hash, i)
        if (trie->nodes.v[i].addr == addr && trie->nodes.v[i].parent == parent)
            return i;
    uint32_t added = (uint32_t)trie->nodes.n;
    return pgk_vec_push(&trie->nodes, (struct pgk_call_node){addr, parent}) &&
                   pgk_index_add(&trie->index, hash, added)
               ? added
               : PGK_INDEX_NONE;
}

/* Stacks mostly have their outer calls in common with the stack before. */
uint32_t pgk_call_trie_find(struct pgk_call_trie *trie, const uint64_t *callers, size_t n)
{
    size_t same = 0;
    if (!trie->nodes.n && !pgk_vec_push(&trie->nodes, (struct pgk_call_node){0}))
        return PGK_INDEX_NONE;
    while (same < n && same < trie->last.n &&
           trie->nodes.v[trie->last.v[same]].addr == callers[n - 1 - same])
        same++;
    uint32_t node = same ? trie->last.v[same - 1] : PGK_CALL_ROOT;
    trie->last.n = same;
    for (; same < n && node != PGK_INDEX_NONE; same++) {
        node = find_child(trie, node, callers[n - 1 - same]);
        if (node != PGK_INDEX_NONE && !pgk_vec_push(&trie->last, node))
            return PGK_INDEX_NONE;
    }
    return node;
}

static void renumber(struct pgk_call_counts *c, const uint32_t *number)
{
    for (size_t i = 0; i < c->list.n; i++)
        c->list.v[i].node = number[c->list.v[i].node];
    c->sorted = 0;
}

/* Since parents come before children, a node's place is known when the nodes below all siblings
 * before it are counted. */
static void number_nodes(const struct pgk_call_trie *trie, uint32_t *below, uint32_t *number)
{
    uint32_t n = (uint32_t)trie->nodes.n;
    for (uint32_t i = n; i-- > 1;)
        below[trie->nodes.v[i].parent] += below[i] + 1;
    number[0] = 0;
    for (uint32_t i = 1; i < n; i++) { /* below[parent] is what is left for it and later ones */
        uint32_t parent = trie->nodes.v[i].parent, all = below[i] + 1;
        number[i] = number[parent] + 1 + (below[parent] - all);
        below[parent] -= all;
    }
}

void pgk_call_trie_settle(struct pgk_call_trie *trie)
{
    size_t n = trie->nodes.n;
    uint32_t *below = pgk_mem_zalloc(n + 1, sizeof *below);
    uint32_t *number = pgk_mem_alloc(n + 1, sizeof *number);
    struct pgk_call_node *nodes = pgk_mem_alloc(n + 1, sizeof *nodes);
    pgk_index_free(&trie->index);
    pgk_vec_free(&trie->last);
    if (below && number && nodes && n) {
        number_nodes(trie, below, number);
        for (size_t i = 0; i < n; i++)
            nodes[number[i]] = (struct pgk_call_node){trie->nodes.v[i].addr,
                                                      number[trie->nodes.v[i].parent]};
        memcpy(trie->nodes.v, nodes, n * sizeof *nodes);
        renumber(&trie->ranges, number);
        renumber(&trie->branches, number);
        renumber(&trie->vtables, number);
    }
    pgk_mem_free(below);
    pgk_mem_free(number);
    pgk_mem_free(nodes);
    pgk_call_counts_sort(&trie->ranges);
    pgk_call_counts_sort(&trie->branches);
    pgk_call_counts_sort(&trie->vtables);
}

bool pgk_call_trie_path(const struct pgk_call_trie *trie, uint32_t node, pgk_addr_vec *calls)
{
    calls->n = 0;
    for (; node != PGK_CALL_ROOT && trie->nodes.v[node].addr != PGK_ADDR_EXTERNAL;
         node = trie->nodes.v[node].parent)
        if (trie->nodes.v[node].addr && !pgk_vec_push(calls, trie->nodes.v[node].addr))
            return false;
    for (size_t i = 0; i < calls->n / 2; i++) {
        uint64_t other = calls->v[calls->n - 1 - i];
        calls->v[calls->n - 1 - i] = calls->v[i];
        calls->v[i] = other;
    }
    return true;
}

/* ---- unwinding ---- */

/* In place of a node: what ran has no known caller, and no more has what ran before. */
#define LOST (PGK_INDEX_NONE - 1)

static struct pgk_call_slot *slot_of(const struct pgk_call_tally *t, uint32_t node, uint32_t step)
{
    uint64_t hash = ((uint64_t)node << 32 | step) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = hash >> 32;
    for (;; i++) {
        struct pgk_call_slot *s = &t->slots[i & t->mask];
        if (!s->step_plus_1 || (s->node == node && s->step_plus_1 == step + 1))
            return s;
    }
}

static bool grow(struct pgk_call_tally *t)
{
    enum { FIRST_SLOTS = 1 << 10 };
    size_t slots = t->slots ? (t->mask + 1) * 2 : FIRST_SLOTS;
    struct pgk_call_tally new = {.n = t->n, .mask = slots - 1};
    if (!(new.slots = pgk_mem_table(slots, sizeof *new.slots)))
        return false;
    for (size_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].step_plus_1)
            *slot_of(&new, t->slots[i].node, t->slots[i].step_plus_1 - 1) = t->slots[i];
    pgk_mem_free(t->slots);
    *t = new;
    return true;
}

static bool tally(struct pgk_call_tally *t, uint32_t node, uint32_t step, uint64_t count)
{
    if (PGK_UNLIKELY(!t->slots || t->n * 5 > t->mask * 3) && !grow(t))
        return false;
    struct pgk_call_slot *s = slot_of(t, node, step);
    t->n += !s->step_plus_1;
    *s = (struct pgk_call_slot){node, step + 1, pgk_add_saturated(s->count, count)};
    return true;
}

/* The open calls before the branch was taken, given those after it. */
static uint32_t undo_branch(struct pgk_call_trie *trie, uint32_t node, const struct pgk_step *s)
{
    switch (s->kind) {
    case PGK_STEP_CALL:
        return node != PGK_CALL_ROOT && trie->nodes.v[node].addr == s->call
                   ? trie->nodes.v[node].parent
                   : node;
    case PGK_STEP_RETURN:
        return find_child(trie, node, s->call);
    case PGK_STEP_OTHER:
        break;
    }
    return node;
}

bool pgk_call_trie_unwind(struct pgk_call_trie *trie, const struct pgk_steps *steps,
                          const struct pgk_call_sample *sample)
{
    uint32_t node = pgk_call_trie_find(trie, sample->callers.v, sample->callers.n);
    bool was_elsewhere = false; /* control, when it took the branch before this one */
    for (size_t i = 0; i < sample->steps.n && node != PGK_INDEX_NONE; i++) {
        const struct pgk_step *s = &steps->list.v[sample->steps.v[i]];
        if (i && (s->to == PGK_STEP_OUT) != was_elsewhere)
            node = LOST;
        if (!tally(&trie->tally, node, sample->steps.v[i], sample->count))
            return false;
        if (node != LOST)
            node = s->impossible ? LOST : undo_branch(trie, node, s);
        was_elsewhere = s->from == PGK_STEP_OUT;
    }
    return node != PGK_INDEX_NONE;
}

bool pgk_call_trie_count(struct pgk_call_trie *trie, const struct pgk_steps *steps,
                         const struct pgk_code *code)
{
    const struct pgk_call_tally *t = &trie->tally;
    for (size_t i = 0; t->slots && i <= t->mask; i++) {
        const struct pgk_call_slot *slot = &t->slots[i];
        if (!slot->step_plus_1)
            continue;
        const struct pgk_step *s = &steps->list.v[slot->step_plus_1 - 1];
        uint32_t after = slot->node == LOST ? PGK_CALL_ROOT : slot->node;
        bool lost = slot->node == LOST || s->impossible || s->from == PGK_STEP_OUT;
        uint32_t before = lost ? PGK_CALL_ROOT : undo_branch(trie, after, s);
        uint64_t from = pgk_step_source(s->from, code), to = code->base + s->to;
        if (s->to == PGK_STEP_OUT)
            continue;
        if (before == PGK_INDEX_NONE ||
            !add_count(&trie->branches,
                       (struct pgk_call_count){before, false, from, to, slot->count}) ||
            (s->end != PGK_STEP_OUT &&
             !add_count(&trie->ranges, (struct pgk_call_count){after, s->impossible, to,
                                                               code->base + s->end, slot->count})))
            return false;
    }
    pgk_mem_free(trie->tally.slots);
    trie->tally = (struct pgk_call_tally){0};
    return true;
}

/* ---- recursion ---- */

/* Items are mostly words or pairs of words, far more often different than not. */
static inline bool same_item(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint64_t x, y;
    if (size < sizeof x)
        return !memcmp(a, b, size);
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if (x != y || size == sizeof x)
        return x == y;
    if (size != 2 * sizeof x)
        return !memcmp(a + sizeof x, b + sizeof y, size - sizeof x);
    memcpy(&x, a + sizeof x, sizeof x);
    memcpy(&y, b + sizeof y, sizeof y);
    return x == y;
}

enum { FEW_ITEMS = 128 };

/* The distances of equal items, a bit for each: a repetition has one of them as its period. Most
 * lists have no item twice. */
static uint64_t find_periods(const uint8_t *v, size_t n, size_t size)
{
    enum { NONE = 0xff };
    uint8_t last[256], before[FEW_ITEMS]; /* items of one hash: the last one, and the one before */
    uint64_t periods = 0;
    if (n >= FEW_ITEMS)
        return UINT64_MAX;
    memset(last, NONE, sizeof last);
    for (size_t i = 0; i < n; i++) {
        uint64_t item[2] = {0}, hash;
        memcpy(item, v + i * size, size < sizeof item ? size : sizeof item);
        hash = (item[0] + item[1] * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);
        for (uint8_t at = last[hash >> 56]; at != NONE && i - at <= n / 2; at = before[at])
            if (same_item(v + i * size, v + at * size, size))
                periods |= UINT64_C(1) << (i - at);
        before[i] = last[hash >> 56];
        last[hash >> 56] = (uint8_t)i;
    }
    return periods;
}

/* One pass for one period, over what the shorter periods left; docs/formats/
 * profile-generation.md section 7 */
static size_t compress_period(uint8_t *v, size_t n, size_t size, size_t period)
{
    size_t out = period, right = period - 1, bound = 0;
    while (right + period < n) {
        size_t left = right + 1; /* one more, so that it does not fall below 0 */
        while (left > bound &&
               same_item(v + (left - 1) * size, v + (left - 1 + period) * size, size))
            left--;
        bool repeats = left <= bound;
        bound = right + 1;
        if (repeats) {
            right += period;
            continue;
        }
        size_t count = left - 1 + period - right;
        memmove(v + out * size, v + (right + 1) * size, count * size);
        out += count;
        right = left - 1 + period;
    }
    memmove(v + out * size, v + (right + 1) * size, (n - right - 1) * size);
    return out + (n - right - 1);
}

size_t pgk_compress_recursion(void *v, size_t n, size_t size, size_t longest)
{
    if (!longest)
        return n;
    uint64_t periods = find_periods(v, n, size);
    for (size_t period = 1; period <= n / 2 && period <= longest; period++) {
        size_t was = n;
        if (period < 64 && !(periods >> period & 1))
            continue;
        n = compress_period(v, n, size, period);
        if (n != was) /* the rest has moved together */
            periods = find_periods(v, n, size);
    }
    return n;
}
