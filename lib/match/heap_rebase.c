/* A heap profile in terms of another build: contexts by their stacks there. */
#include "match_priv.h"

#include "opts.h"

static size_t known_values(const struct pgk_heap *h, size_t context, struct pgk_heap_value *values)
{
    size_t n = 0;
    for (unsigned id = 0; id < PGK_MIB_FIELDS; id++) {
        enum pgk_mib_id field = (enum pgk_mib_id)id;
        if (field != PGK_MIB_AccessHistogram && field != PGK_MIB_AccessHistogramSize &&
            pgk_heap_knows(h, context, field))
            values[n++] = (struct pgk_heap_value){field, pgk_heap_value(h, context, field)};
    }
    return n;
}

typedef PGK_VEC(struct pgk_heap_frame) frame_vec;

static size_t stack_of(const struct pgk_match *m, size_t context, enum pgk_match_lost lost,
                       struct pgk_heap_frame *frames, size_t max)
{
    size_t n = pgk_match_stack(m, context, frames, max);
    bool likeliest;
    if (n || lost == PGK_LOST_DROP)
        return n;
    return lost == PGK_LOST_KEEP ? pgk_heap_stack(m->heap, context, frames, max)
                                 : pgk_match_inner_stack(m, context, frames, max, &likeliest);
}

static int add_context(struct pgk_heap *into, const struct pgk_match *m, size_t context,
                       enum pgk_match_lost lost, frame_vec *frames, struct pgk_err *err)
{
    struct pgk_heap_value values[PGK_MIB_FIELDS];
    size_t n = stack_of(m, context, lost, NULL, 0);
    if (!n)
        return 0;
    if (!pgk_vec_reserve(frames, n))
        return pgk_fail_nomem(err);
    memset(frames->v, 0, n * sizeof *frames->v);
    stack_of(m, context, lost, frames->v, n);
    for (size_t i = 0; i < n; i++) /* line 0, of which compilers compare 16 bits */
        if (frames->v[i].line_offset > INT32_MAX)
            frames->v[i].line_offset &= UINT16_MAX;
    struct pgk_heap_allocation a = {
        .struct_size = sizeof a, .frames = frames->v, .n_frames = n, .values = values};
    a.n_values = known_values(m->heap, context, values);
    a.histogram = pgk_heap_histogram(m->heap, context, &a.n_histogram);
    return pgk_heap_build_context(into, &a, err);
}

int pgk_match_rebase(struct pgk_heap **rebased, const struct pgk_match *match,
                     enum pgk_match_lost lost, struct pgk_err *err)
{
    struct pgk_heap *into;
    frame_vec frames = {0};
    PGK_TRY(pgk_heap_new(&into, err));
    struct pgk_data_store data = pgk_heap_data_store(into);
    int status = pgk_data_access_merge(&data, &match->heap->data, &match->heap->strings)
                     ? 0
                     : pgk_fail_nomem(err);
    into->no_partial_accesses = match->heap->no_partial_accesses;
    for (size_t i = 0; !status && i < match->heap->contexts.n; i++)
        status = add_context(into, match, i, lost, &frames, err);
    pgk_vec_free(&frames);
    if (status)
        pgk_heap_close(&into);
    else
        *rebased = into;
    return status;
}

void pgk_match_shortened(const struct pgk_match *match, struct pgk_match_totals *totals)
{
    PGK_RESULT_GIVE(totals, &match->shortened);
}

void pgk_match_likeliest(const struct pgk_match *match, struct pgk_match_totals *totals)
{
    PGK_RESULT_GIVE(totals, &match->likeliest);
}
