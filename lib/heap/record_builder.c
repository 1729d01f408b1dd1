/* Filling a heap model from function records. */
#include "record_builder.h"

int pgk_record_begin(struct pgk_record_builder *b, uint64_t guid, struct pgk_err *err)
{
    b->record++;
    b->func = pgk_heap_func(b->heap, guid, 0, 0, 0);
    return b->func == PGK_INDEX_NONE ? pgk_fail_nomem(err) : 0;
}

int pgk_record_add_alloc(struct pgk_record_builder *b, uint32_t stack, const struct pgk_mib *mib,
                         struct pgk_err *err)
{
    uint32_t context = pgk_heap_context_at(b->heap, stack);
    if (context == PGK_INDEX_NONE) {
        PGK_TRY(pgk_heap_add(b->heap, stack, mib, err));
        if (!pgk_vec_push(&b->record_of, b->record))
            return pgk_fail_nomem(err);
    } else if (b->record_of.v[context] == b->record) {
        PGK_TRY(pgk_heap_add(b->heap, stack, mib, err));
    }
    return pgk_heap_add_site(b->heap, PGK_SITE_ALLOC, b->func, stack, NULL, 0, err);
}

int pgk_record_add_call(struct pgk_record_builder *b, uint32_t stack, const uint64_t *callees,
                        size_t n_callees, struct pgk_err *err)
{
    return pgk_heap_add_site(b->heap, PGK_SITE_CALL, b->func, stack, callees, n_callees, err);
}

void pgk_record_builder_free(struct pgk_record_builder *b)
{
    pgk_vec_free(&b->record_of);
}
