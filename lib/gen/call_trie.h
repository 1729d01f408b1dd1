/* Counters by calling context: a tree of calls, each with what ran under it.
 *
 *     root ─ 0x401166 ─ 0x40205a          the call at 0x40205a in a function that was called
 *                                         from 0x401166: its counters are those of the callee
 *
 * A node is the address of a call instruction; its counters are of the code that this call entered
 * and that had not returned. The root's are of code whose caller is not known. */
#ifndef PGK_CALL_TRIE_H
#define PGK_CALL_TRIE_H

#include "code.h"
#include "counters.h"
#include "fail.h"

struct pgk_call_node {
    uint64_t addr; /* of the call; PGK_ADDR_EXTERNAL: from elsewhere; 0: from no call */
    uint32_t parent;
};

struct pgk_call_count {
    uint32_t node;
    bool impossible; /* of a range: control cannot have run through it */
    uint64_t from, to, count;
};

struct pgk_call_counts {
    PGK_VEC(struct pgk_call_count) v;
    struct pgk_index index;
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
};

/* A sample with addresses of the binary, or PGK_ADDR_EXTERNAL. */
struct pgk_call_sample {
    const uint64_t *callers; /* call instructions, innermost first */
    size_t n_callers;
    const struct pgk_pair *branches; /* newest first; `count` is not used */
    size_t n_branches;
    uint64_t count;
};

/* A zeroed trie is empty. */
void pgk_call_trie_free(struct pgk_call_trie *trie);
/* The node of calls that are open; PGK_INDEX_NONE when out of memory. */
uint32_t pgk_call_trie_find(struct pgk_call_trie *trie, const uint64_t *callers, size_t n);
/* False when out of memory. */
bool pgk_call_counts_add(struct pgk_call_counts *counts, uint32_t node, uint64_t from, uint64_t to,
                         uint64_t count);
void pgk_call_counts_free(struct pgk_call_counts *counts);
/* Adds to a range that `code` tells whether it can be. False when out of memory. */
bool pgk_call_trie_add_range(struct pgk_call_trie *trie, struct pgk_code *code, uint32_t node,
                             uint64_t from, uint64_t to, uint64_t count);
/* Ascending by node; the index is gone then, and nothing may be added. */
void pgk_call_trie_sort(struct pgk_call_trie *trie);

/* Goes through the branches from the newest to the oldest, takes back on the stack of calls what
 * each did, and counts what ran in between under the calls that were open then. */
int pgk_call_trie_unwind(struct pgk_call_trie *trie, struct pgk_code *code,
                         const struct pgk_call_sample *sample, struct pgk_err *err);

/* The call instruction right before an address; 0 if there is none. */
uint64_t pgk_code_call_before(struct pgk_code *code, uint64_t addr);

typedef PGK_VEC(uint64_t) pgk_addr_vec;
/* Fills `calls` with the calls that lead to a node, outermost first: those behind the last call
 * from elsewhere. False when out of memory. */
bool pgk_call_trie_path(const struct pgk_call_trie *trie, uint32_t node, pgk_addr_vec *calls);

/* Removes from `v` of `n` items neighbouring repetitions, shortest period first: a b a b c becomes
 * a b c. Returns how many are left. Items of `size` bytes are the same if their bytes are. */
size_t pgk_compress_recursion(void *v, size_t n, size_t size);

#endif
