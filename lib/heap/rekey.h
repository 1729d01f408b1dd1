/* Copying a heap model into another while each frame is replaced by none, one or several others:
 * the one mechanism of merging and symbolisation. */
#ifndef PGK_REKEY_H
#define PGK_REKEY_H

#include "heap_model.h"

struct pgk_rekey {
    struct pgk_heap *to;
    const struct pgk_heap *from;
    struct pgk_heap *taken; /* the same, if it is not needed any more: what cannot be used again is
                               given back early, and contexts are moved; else NULL */
    struct pgk_frame_map map;
    uint64_t place_mask; /* of frames that are places in functions */
    uint32_t *func_map; /* old function -> new one */
    uint32_t *node_map; /* old stack -> new one; 0 where no frame is left; from
                           pgk_rekey_stacks on */
    size_t contexts_dropped;
    uint64_t bytes_dropped;
};

/* Prepares func_map. End in any case with pgk_rekey_end. */
PGK_MUST_USE int pgk_rekey_begin(struct pgk_rekey *k, struct pgk_heap *to,
                                 const struct pgk_heap *from, struct pgk_err *err);
/* Appends what old frame number `map.first.n` becomes when it is only renumbered. */
PGK_MUST_USE int pgk_rekey_keep(struct pgk_rekey *k, struct pgk_err *err);
/* Appends `n` new frames for it. */
PGK_MUST_USE int pgk_rekey_replace(struct pgk_rekey *k, const uint32_t *frames, size_t n,
                                   struct pgk_err *err);
/* Once all frames are mapped: makes node_map, and adds contexts and sites. */
PGK_MUST_USE int pgk_rekey_run(struct pgk_rekey *k, struct pgk_err *err);
/* pgk_rekey_run in two steps: stacks first, then all else. */
PGK_MUST_USE int pgk_rekey_stacks(struct pgk_rekey *k, struct pgk_err *err);
PGK_MUST_USE int pgk_rekey_finish(struct pgk_rekey *k, struct pgk_err *err);
void pgk_rekey_end(struct pgk_rekey *k);

/* Compilers compare these bits of a line offset, and clang computes its own offsets with as many;
 * profiles have 32 bits, which never match if the upper ones are not 0. */
#define PGK_LLVM_LINE_MASK UINT32_C(0xffff)

/* A new model in which functions are known by GUID alone and line offsets have the bits that
 * compilers compare, as in LLVM's files; contexts that become equal are added up. Leaves *plain
 * alone if `from` is such a model already. */
PGK_MUST_USE int pgk_heap_for_llvm(struct pgk_heap **plain, const struct pgk_heap *from,
                                   struct pgk_err *err);

#endif
