/* Filling a heap model from function records, the form in which LLVM's files hold heap
 * data: a context that is inlined stands in the record of each function of its
 * inline chain, and must count once. */
#ifndef PGK_RECORD_BUILDER_H
#define PGK_RECORD_BUILDER_H

#include "heap_model.h"

struct pgk_record_seen {
    uint32_t first, last; /* records that mention the context */
};

struct pgk_record_builder {
    struct pgk_heap *heap; /* new; holds this file only */
    uint32_t record;       /* number of the current record, from 1 */
    uint32_t func;         /* of the current record */
    PGK_VEC(struct pgk_record_seen) seen; /* by context */
    pgk_heap_member_vec allocs; /* contexts, in the order of the file */
};

/* Starts the record of the function with this GUID. */
PGK_MUST_USE int pgk_record_begin(struct pgk_record_builder *b, uint64_t guid,
                                  struct pgk_err *err);
/* A context counts as the first record gives it. Equal stacks inside one record are blocks
 * that LLVM left apart, and are added up. */
PGK_MUST_USE int pgk_record_add_alloc(struct pgk_record_builder *b, uint32_t stack,
                                      const struct pgk_mib *mib, struct pgk_err *err);
PGK_MUST_USE int pgk_record_add_call(struct pgk_record_builder *b, uint32_t stack,
                                     const uint64_t *callees, size_t n_callees,
                                     struct pgk_err *err);
/* After the last record: says which functions own which contexts. */
PGK_MUST_USE int pgk_record_end(struct pgk_record_builder *b, struct pgk_err *err);
void pgk_record_builder_free(struct pgk_record_builder *b);

#endif
