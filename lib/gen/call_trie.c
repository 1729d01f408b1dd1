/* Counters by calling context, from samples with a call chain and a branch stack. */
#include "call_trie.h"

#include "hash.h"

#include <stdlib.h>

static struct pgk_call_count *find_count(struct pgk_call_counts *c, uint32_t node, uint64_t from,
                                         uint64_t to, uint64_t hash)
{
    PGK_INDEX_FOR (&c->index, hash, i) {
        struct pgk_call_count *known = &c->v.v[i];
        if (known->node == node && known->from == from && known->to == to)
            return known;
    }
    return NULL;
}

/* The count of that key, 0 if it is new; NULL when out of memory. */
static struct pgk_call_count *need_count(struct pgk_call_counts *c, uint32_t node, uint64_t from,
                                         uint64_t to)
{
    uint64_t hash = pgk_hash_pair(pgk_hash_pair(from, to), node);
    struct pgk_call_count *known = find_count(c, node, from, to, hash);
    if (known)
        return known;
    struct pgk_call_count added = {.node = node, .from = from, .to = to};
    if (!pgk_vec_push(&c->v, added) || !pgk_index_add(&c->index, hash, (uint32_t)c->v.n - 1))
        return NULL;
    return &c->v.v[c->v.n - 1];
}

static void increase(struct pgk_call_count *c, uint64_t count)
{
    if (__builtin_add_overflow(c->count, count, &c->count))
        c->count = UINT64_MAX;
}

bool pgk_call_counts_add(struct pgk_call_counts *counts, uint32_t node, uint64_t from, uint64_t to,
                         uint64_t count)
{
    struct pgk_call_count *c = need_count(counts, node, from, to);
    if (c)
        increase(c, count);
    return c != NULL;
}

void pgk_call_counts_free(struct pgk_call_counts *c)
{
    pgk_vec_free(&c->v);
    pgk_index_free(&c->index);
}

void pgk_call_trie_free(struct pgk_call_trie *trie)
{
    pgk_vec_free(&trie->nodes);
    pgk_index_free(&trie->index);
    pgk_call_counts_free(&trie->ranges);
    pgk_call_counts_free(&trie->branches);
    pgk_call_counts_free(&trie->vtables);
}

static int compare_counts(const void *a, const void *b)
{
    const struct pgk_call_count *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void sort_counts(struct pgk_call_counts *c)
{
    pgk_index_free(&c->index);
    if (c->v.n)
        qsort(c->v.v, c->v.n, sizeof *c->v.v, compare_counts);
}

void pgk_call_trie_sort(struct pgk_call_trie *trie)
{
    sort_counts(&trie->ranges);
    sort_counts(&trie->branches);
    sort_counts(&trie->vtables);
}

/* ---- the tree ---- */

static uint32_t find_child(struct pgk_call_trie *trie, uint32_t parent, uint64_t addr)
{
    uint64_t hash = pgk_hash_pair(addr, parent);
    PGK_INDEX_FOR (&trie->index, hash, i)
        if (trie->nodes.v[i].addr == addr && trie->nodes.v[i].parent == parent)
            return i;
    uint32_t added = (uint32_t)trie->nodes.n;
    return pgk_vec_push(&trie->nodes, (struct pgk_call_node){addr, parent}) &&
                   pgk_index_add(&trie->index, hash, added)
               ? added
               : PGK_INDEX_NONE;
}

uint32_t pgk_call_trie_find(struct pgk_call_trie *trie, const uint64_t *callers, size_t n)
{
    if (!trie->nodes.n && !pgk_vec_push(&trie->nodes, (struct pgk_call_node){0}))
        return PGK_INDEX_NONE;
    uint32_t node = PGK_CALL_ROOT;
    while (n > 0 && node != PGK_INDEX_NONE)
        node = find_child(trie, node, callers[--n]);
    return node;
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

uint64_t pgk_code_call_before(struct pgk_code *code, uint64_t addr)
{
    uint64_t before = pgk_code_before(code, addr);
    return before != UINT64_MAX && pgk_code_kind(pgk_code_mark(code, before)) == PGK_INSN_CALL
               ? before
               : 0;
}

enum branch_kind { BRANCH_CALL, BRANCH_RETURN, BRANCH_OTHER };

/* Of a branch from elsewhere the target tells: what comes right after a call was returned to. */
static enum branch_kind kind_of(struct pgk_code *code, uint64_t from, uint64_t to)
{
    if (from == PGK_ADDR_EXTERNAL)
        return pgk_code_call_before(code, to) ? BRANCH_RETURN : BRANCH_CALL;
    enum pgk_insn_kind kind = pgk_code_kind(pgk_code_mark(code, from));
    return kind == PGK_INSN_CALL  ? BRANCH_CALL
           : kind == PGK_INSN_RET ? BRANCH_RETURN
                                  : BRANCH_OTHER;
}

/* The open calls before the branch was taken, given those after it. */
static uint32_t undo_branch(struct pgk_call_trie *trie, struct pgk_code *code, uint32_t node,
                            uint64_t from, uint64_t to)
{
    switch (kind_of(code, from, to)) {
    case BRANCH_CALL:
        return node != PGK_CALL_ROOT && trie->nodes.v[node].addr == from
                   ? trie->nodes.v[node].parent
                   : node;
    case BRANCH_RETURN:
        return find_child(trie, node, to == PGK_ADDR_EXTERNAL ? PGK_ADDR_EXTERNAL
                                                              : pgk_code_call_before(code, to));
    case BRANCH_OTHER:
        break;
    }
    return node;
}

/* Straight code from the target of a branch to the source of the next one. Whether that can be is
 * looked at once. */
static bool count_range(struct pgk_call_trie *trie, struct pgk_code *code, uint32_t node,
                        uint64_t from, uint64_t to, uint64_t count, bool *impossible)
{
    struct pgk_call_count *c = need_count(&trie->ranges, node, from, to);
    if (!c)
        return false;
    if (!c->count)
        c->impossible = !pgk_code_is_straight(code, from, to);
    increase(c, count);
    *impossible = c->impossible;
    return true;
}

bool pgk_call_trie_add_range(struct pgk_call_trie *trie, struct pgk_code *code, uint32_t node,
                             uint64_t from, uint64_t to, uint64_t count)
{
    bool impossible;
    return count_range(trie, code, node, from, to, count, &impossible);
}

int pgk_call_trie_unwind(struct pgk_call_trie *trie, struct pgk_code *code,
                         const struct pgk_call_sample *s, struct pgk_err *err)
{
    uint32_t node = pgk_call_trie_find(trie, s->callers, s->n_callers);
    bool lost = false; /* what comes earlier has no known caller */
    uint64_t ip = 0;
    for (size_t i = 0; i < s->n_branches && node != PGK_INDEX_NONE; i++) {
        uint64_t from = s->branches[i].from, to = s->branches[i].to;
        bool to_elsewhere = to == PGK_ADDR_EXTERNAL, impossible = false;
        if (i && to_elsewhere != (ip == PGK_ADDR_EXTERNAL))
            lost = true;
        else if (i && !to_elsewhere &&
                 !count_range(trie, code, node, to, ip, s->count, &impossible))
            return pgk_fail_nomem(err);
        lost |= impossible;
        node = lost ? PGK_CALL_ROOT : undo_branch(trie, code, node, from, to);
        if (!to_elsewhere && node != PGK_INDEX_NONE &&
            !pgk_call_counts_add(&trie->branches, from == PGK_ADDR_EXTERNAL ? PGK_CALL_ROOT : node,
                                 from, to, s->count))
            return pgk_fail_nomem(err);
        ip = from;
    }
    return node == PGK_INDEX_NONE ? pgk_fail_nomem(err) : 0;
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
    return x == y && (size == sizeof x || !memcmp(a + sizeof x, b + sizeof y, size - sizeof x));
}

static bool repeats_after(const uint8_t *v, size_t n, size_t size, size_t period)
{
    for (size_t i = 0; i + period < n; i++)
        if (same_item(v + i * size, v + (i + period) * size, size))
            return true;
    return false;
}

/* One pass for one period, over what the shorter periods left; docs/formats/
 * profile-generation.md section 7 */
static size_t compress_period(uint8_t *v, size_t n, size_t size, size_t period)
{
    if (!repeats_after(v, n, size, period))
        return n;
    size_t out = period, right = period - 1, bound = 0;
    while (right + period < n) {
        size_t left = right + 1; /* one behind, so that it does not fall below 0 */
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

size_t pgk_compress_recursion(void *v, size_t n, size_t size)
{
    for (size_t period = 1; period <= n / 2; period++)
        n = compress_period(v, n, size, period);
    return n;
}
