/* Counters by calling context: a tree of calls, each with what ran under it.
 *
 *     root ─ 0x401166 ─ 0x40205a          the call at 0x40205a in a function that was called
 *                                         from 0x401166: its counters are those of the callee
 *
 * A node is the address of a call instruction; its counters are of the code that this call entered
 * and that had not returned. The root's are of code whose caller is not known. */
#ifndef PGK_CALL_TRIE_H
#define PGK_CALL_TRIE_H

#include "steps.h"

struct pgk_call_node {
    uint64_t addr; /* of the call; PGK_ADDR_EXTERNAL: from elsewhere; 0: from no call */
    uint32_t parent;
};

struct pgk_call_count {
    uint32_t node;
    bool impossible; /* of a range: control cannot have run through it */
    uint64_t from, to, count;
};

/* Counts as they come; those of one key are put together when there are many, and by sorting. */
struct pgk_call_counts {
    PGK_VEC(struct pgk_call_count) list;
    size_t sorted; /* so many of them */
};

/* How often each step was made from each node. */
struct pgk_call_tally {
    struct pgk_call_slot {
        uint32_t node, step_plus_1; /* 0: empty */
        uint64_t count;
    } *slots;
    size_t n, mask;
};

/* By contexts of names: nodes are those of a profile, 0 for no known context. */
struct pgk_named_counts {
    struct pgk_call_counts ranges, branches;
};

enum { PGK_CALL_ROOT = 0 };

struct pgk_call_trie {
    PGK_VEC(struct pgk_call_node) nodes; /* [0] is the root; parents come before children */
    struct pgk_index index;
    struct pgk_call_counts ranges, branches;
    struct pgk_call_counts vtables; /* from: the load; to: number of the vtable's name */
    struct pgk_call_counts recovered; /* the same of comparisons; from: one, or its call */
    struct pgk_call_tally tally;    /* not yet in the above */
    PGK_VEC(uint32_t) last;         /* the path that was found last, outermost first */
};

typedef PGK_VEC(uint32_t) pgk_step_vec;

struct pgk_call_sample {
    pgk_addr_vec callers; /* call instructions or PGK_ADDR_EXTERNAL, innermost first */
    pgk_step_vec steps;   /* newest first */
    uint64_t count;
};

/* A zeroed trie is empty. */
void pgk_call_trie_free(struct pgk_call_trie *trie);
/* The node of calls that are open; PGK_INDEX_NONE when out of memory. */
uint32_t pgk_call_trie_find(struct pgk_call_trie *trie, const uint64_t *callers, size_t n);
/* False when out of memory. */
bool pgk_call_counts_add(struct pgk_call_counts *counts, uint32_t node, uint64_t from, uint64_t to,
                         uint64_t count);
/* Adds to the count of a range; `code` decides whether the range is possible. False when out of
 * memory. */
bool pgk_call_trie_add_range(struct pgk_call_trie *trie, struct pgk_code *code, uint32_t node,
                             uint64_t from, uint64_t to, uint64_t count);
/* Ascending by node, from and to; each key once. */
void pgk_call_counts_sort(struct pgk_call_counts *counts);
/* Sorts all counts; nothing may be looked up or added afterwards. If there is memory for it, nodes
 * are renumbered so that the nodes below a node come right after it, and so do their counts. */
void pgk_call_trie_settle(struct pgk_call_trie *trie);

/* Goes through the steps from the newest to the oldest, takes back on the stack of calls what the
 * branch of each did, and counts what ran in between under the calls that were open then. */
bool pgk_call_trie_unwind(struct pgk_call_trie *trie, const struct pgk_steps *steps,
                          const struct pgk_call_sample *sample);
/* Adds what was counted so to ranges and branches. False when out of memory. */
bool pgk_call_trie_count(struct pgk_call_trie *trie, const struct pgk_steps *steps,
                         const struct pgk_code *code);

/* Fills `calls` with the calls that lead to a node, outermost first: those after the last call from
 * elsewhere. False when out of memory. */
bool pgk_call_trie_path(const struct pgk_call_trie *trie, uint32_t node, pgk_addr_vec *calls);

/* Removes from `v` of `n` items neighbouring repetitions of up to `longest` items, shortest period
 * first: a b a b c becomes a b c. Returns how many are left. Items of `size` bytes are the same if
 * their bytes are. */
size_t pgk_compress_recursion(void *v, size_t n, size_t size, size_t longest);

#endif
