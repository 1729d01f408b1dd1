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
        context = (uint32_t)b->heap->contexts.n;
        PGK_TRY(pgk_heap_add(b->heap, stack, mib, err));
        if (!pgk_vec_push(&b->seen, (struct pgk_record_seen){.first = b->record}))
            return pgk_fail_nomem(err);
    } else if (b->seen.v[context].first == b->record) {
        PGK_TRY(pgk_heap_add(b->heap, stack, mib, err));
    }
    if (b->seen.v[context].last == b->record)
        return 0;
    b->seen.v[context].last = b->record;
    struct pgk_heap_member m = {b->func, context};
    return pgk_vec_push(&b->allocs, m) ? 0 : pgk_fail_nomem(err);
}

enum { CHAIN_MAX = 32 }; /* functions of a chain: a bit each */

/* The function's place in the inline chain of its context, as a bit; 0 outside of the chain. */
static uint32_t bit_in_chain(const struct pgk_heap *h, const struct pgk_heap_member *m)
{
    uint32_t funcs[CHAIN_MAX];
    size_t n = pgk_heap_chain(h, h->contexts.v[m->ref].stack, funcs, CHAIN_MAX);
    for (size_t i = 0; i < n && i < CHAIN_MAX; i++)
        if (funcs[i] == m->func)
            return UINT32_C(1) << i;
    return 0;
}

/* A context that all functions of its inline chain own, as the rule is, needs a mark only; where
 * one is missing, or another function has it, each owner is noted. */
int pgk_record_end(struct pgk_record_builder *b, struct pgk_err *err)
{
    struct pgk_heap *h = b->heap;
    uint32_t *owners = pgk_mem_zalloc(h->contexts.n + 1, sizeof *owners);
    if (!owners)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < b->allocs.n; i++)
        owners[b->allocs.v[i].ref] |= bit_in_chain(h, &b->allocs.v[i]);
    for (size_t c = 0; c < h->contexts.n; c++) {
        uint32_t funcs[CHAIN_MAX];
        size_t n = pgk_heap_chain(h, h->contexts.v[c].stack, funcs, CHAIN_MAX);
        h->contexts.v[c].owned_by_chain = n <= CHAIN_MAX && owners[c] == (UINT64_C(1) << n) - 1;
    }
    int status = 0;
    for (size_t i = 0; i < b->allocs.n && !status; i++) {
        const struct pgk_heap_member *m = &b->allocs.v[i];
        if (!h->contexts.v[m->ref].owned_by_chain || !bit_in_chain(h, m))
            status = pgk_heap_add_site(h, PGK_SITE_ALLOC, m->func, h->contexts.v[m->ref].stack,
                                       NULL, 0, err);
    }
    pgk_mem_free(owners);
    return status;
}

int pgk_record_add_call(struct pgk_record_builder *b, uint32_t stack, const uint64_t *callees,
                        size_t n_callees, struct pgk_err *err)
{
    return pgk_heap_add_site(b->heap, PGK_SITE_CALL, b->func, stack, callees, n_callees, err);
}

void pgk_record_builder_free(struct pgk_record_builder *b)
{
    pgk_vec_free(&b->seen);
    pgk_vec_free(&b->allocs);
}
