/* Types of objects on a heap report page. */
#include "heap_page.h"

#include "hash.h"

static uint32_t find(const struct pgk_heap_page *p, uint64_t id)
{
    PGK_INDEX_FOR (&p->type_index, pgk_hash_u64(id), i)
        if (p->all_types.v[i].id == id)
            return i;
    return PGK_INDEX_NONE;
}

/* Names go to the texts of the frames, which the page has. */
static int add_types(struct pgk_heap_page *p, const struct pgk_type_sums *sums, struct pgk_err *err)
{
    for (size_t i = 0; i < sums->all.n; i++) {
        const struct pgk_type_sum *sum = &sums->all.v[i];
        struct pgk_heap_page_type type = {.id = sum->id};
        char number[PGK_TYPE_NUMBER_SIZE];
        if (find(p, sum->id) != PGK_INDEX_NONE)
            continue;
        if (sum->id)
            type.name = pgk_intern_safe(&p->align.frames.strings,
                                        *sum->name ? sum->name : pgk_type_number(number, sum->id));
        if (type.name == PGK_INDEX_NONE || !pgk_vec_push(&p->all_types, type) ||
            !pgk_index_add(&p->type_index, pgk_hash_u64(sum->id), (uint32_t)p->all_types.n - 1))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static bool any_known(const struct pgk_type_sums *sums)
{
    return sums->all.n && sums->all.v[0].id; /* what has no type comes last */
}

int pgk_heap_page_types(struct pgk_heap_page *p, struct pgk_err *err)
{
    PGK_TRY(pgk_heap_sum_types(p->now, PGK_HEAP_SORT_BYTES, &p->types, err));
    if (p->before)
        PGK_TRY(pgk_heap_sum_types(p->before, PGK_HEAP_SORT_BYTES, &p->types_before, err));
    if (!any_known(&p->types) && !any_known(&p->types_before))
        return 0;
    PGK_TRY(add_types(p, &p->types, err));
    return add_types(p, &p->types_before, err);
}

void pgk_heap_page_types_free(struct pgk_heap_page *p)
{
    pgk_type_sums_free(&p->types);
    pgk_type_sums_free(&p->types_before);
    pgk_vec_free(&p->all_types);
    pgk_index_free(&p->type_index);
}

static const struct pgk_mib *sum_of(const struct pgk_heap_page *p, size_t type,
                                    const struct pgk_type_sums *sums)
{
    uint32_t at = pgk_type_sums_find(sums, p->all_types.v[type].id);
    return at == PGK_INDEX_NONE ? NULL : &sums->all.v[at].sum;
}

const struct pgk_mib *pgk_heap_page_type_now(const struct pgk_heap_page *p, size_t type,
                                             struct pgk_mib *space)
{
    (void)space;
    return sum_of(p, type, &p->types);
}

const struct pgk_mib *pgk_heap_page_type_before(const struct pgk_heap_page *p, size_t type,
                                                struct pgk_mib *space)
{
    (void)space;
    return sum_of(p, type, &p->types_before);
}

uint32_t pgk_heap_page_type_of(const struct pgk_heap_page *p, size_t row)
{
    const struct pgk_mib *now = pgk_heap_page_now(p, row, PGK_MIB_SPACE),
                         *m = now ? now : pgk_heap_page_before(p, row, PGK_MIB_SPACE);
    return find(p, m->v[PGK_MIB_DataTypeId]);
}
