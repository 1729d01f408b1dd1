/* Several threads that add to one heap model.
 *
 * What is large, stacks and contexts, is added to without a lock: a new stack takes its place in
 * the table of stacks by one exchange, a context is held by a bit of its entry in `context_of`. So
 * neither table may move meanwhile: threads claim capacity for what they are about to add, and
 * tables grow while no thread has a claim. Everything else is rare or small, and has one lock.
 *
 * Which numbers things get depends on which thread comes first; what the model says does not.
 *
 * On a model that is not shared all of these do nothing, or what the plain function does. */
#ifndef PGK_HEAP_SHARED_H
#define PGK_HEAP_SHARED_H

#include "heap_model.h"

/* From now on until pgk_heap_unshare, threads may add as described here only. */
PGK_MUST_USE int pgk_heap_share(struct pgk_heap *h, struct pgk_err *err);
void pgk_heap_unshare(struct pgk_heap *h);

/* Claims capacity for at most so many new stack nodes and contexts of existing stacks, until
 * pgk_heap_release is called with the same numbers. */
PGK_MUST_USE int pgk_heap_claim(struct pgk_heap *h, size_t nodes, size_t contexts,
                                struct pgk_err *err);
void pgk_heap_release(struct pgk_heap *h, size_t nodes, size_t contexts);

/* With a claim: as pgk_stack_push_path, pgk_heap_add, pgk_heap_own_by_chain. The last two do the
 * work of the functions without `shared` on a shared model. */
bool pgk_heap_push(struct pgk_heap *h, uint32_t parent, const uint32_t *frames, size_t n,
                   uint32_t *nodes);
PGK_MUST_USE int pgk_heap_add_shared(struct pgk_heap *h, uint32_t stack, const struct pgk_mib *mib,
                                     struct pgk_err *err);
void pgk_heap_own_by_chain_shared(struct pgk_heap *h, uint32_t stack);

/* For all else that belongs to the model: strings, modules, functions, frames, sites. */
void pgk_heap_hold_names(struct pgk_heap *h);
void pgk_heap_let_names(struct pgk_heap *h);

#endif
