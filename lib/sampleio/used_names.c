/* The names that a binary file of a profile needs. */
#include "used_names.h"

enum { UNUSED, USED };

static void mark(uint32_t *marks, const struct pgk_sample *p, uint32_t node, bool vtables)
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    marks[p->nodes.v[node].name] = USED;
    for (uint32_t i = 0; i < recs->n; i++)
        if (recs->v[i].what && (vtables || !pgk_rec_is_vtable(&recs->v[i])))
            marks[pgk_rec_name(&recs->v[i])] = USED;
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        mark(marks, p, c, vtables);
}

bool pgk_used_names(struct pgk_used_names *used, const struct pgk_sample *p, size_t n,
                    bool vtables)
{
    size_t n_names = p->names.list.n;
    *used = (struct pgk_used_names){0};
    if (!n_names)
        return true;
    uint32_t *by_rank = pgk_mem_zalloc(n_names, sizeof *by_rank);
    bool ok = by_rank && pgk_vec_reserve(&used->index_of, n_names) &&
              pgk_vec_reserve(&used->ids, n_names);
    if (ok) {
        uint32_t *marks = used->index_of.v;
        const uint32_t *tops = pgk_sample_hottest(p, n);
        memset(marks, 0, n_names * sizeof *marks);
        for (size_t i = 0; i < n; i++) {
            mark(marks, p, tops[i], vtables);
            for (uint32_t id = tops[i]; id; id = p->nodes.v[id].parent)
                marks[p->nodes.v[id].name] = USED;
        }
        for (uint32_t id = 1; id < n_names; id++)
            by_rank[p->rank.v[id]] = id;
        for (size_t rank = 1; rank < n_names; rank++) {
            uint32_t id = by_rank[rank];
            if (marks[id] == USED)
                used->ids.v[used->ids.n++] = id;
        }
        for (uint32_t i = 0; i < used->ids.n; i++)
            marks[used->ids.v[i]] = i;
    }
    pgk_mem_free(by_rank);
    return ok;
}

void pgk_used_names_free(struct pgk_used_names *used)
{
    pgk_vec_free(&used->ids);
    pgk_vec_free(&used->index_of);
}
