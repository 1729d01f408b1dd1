/* The names of a file in spans, each in Eytzinger order of GUIDs. */
#include "indexed_names.h"

#include "eytzinger.h"
#include "keyed_sort.h"

void pgk_eytzinger_put(uint64_t *to, const uint64_t *rising, size_t n)
{
    size_t k = pgk_eytzinger_least(0, n);
    for (size_t i = 0; i < n; i++, k = pgk_eytzinger_next(k, n))
        to[k] = rising[i];
}

/* By name: its span. Two names may have one GUID, so spans of names are not yet those of GUIDs. */
static uint8_t *spans_of(const struct pgk_sample *p, size_t n, bool split)
{
    uint8_t *span_of = pgk_mem_alloc(p->names.list.n + 1, 1);
    if (!span_of)
        return NULL;
    memset(span_of, PGK_SPAN_OTHER, p->names.list.n + 1);
    const uint32_t *tops = pgk_sample_hottest(p, n);
    for (size_t i = 0; i < n; i++) {
        const struct pgk_sample_node *top = &p->nodes.v[tops[i]];
        uint8_t span = split && !top->first_child ? PGK_SPAN_FLAT : PGK_SPAN_TOP;
        if (span < span_of[top->name])
            span_of[top->name] = span;
    }
    return span_of;
}

/* The end of the names from `i` on that have one GUID; they get the first span of any of them. */
static size_t unite(const struct pgk_keyed *v, size_t i, size_t n, uint8_t *span_of)
{
    size_t end = i + 1;
    uint8_t span = span_of[v[i].value];
    for (; end < n && v[end].key == v[i].key; end++)
        span = span_of[v[end].value] < span ? span_of[v[end].value] : span;
    for (size_t k = i; k < end; k++)
        span_of[v[k].value] = span;
    return end;
}

static void place(struct pgk_indexed_names *names, struct pgk_used_names *used,
                  const struct pgk_keyed *v, size_t n, uint8_t *span_of)
{
    size_t base[PGK_SPANS] = {0}, at[PGK_SPANS];
    for (size_t i = 0, end; i < n; i = end) {
        end = unite(v, i, n, span_of);
        names->span[span_of[v[i].value]]++;
    }
    for (unsigned s = 0; s < PGK_SPANS; s++) {
        base[s] = s ? base[s - 1] + names->span[s - 1] : 0;
        at[s] = pgk_eytzinger_least(0, names->span[s]);
        names->guids.n += names->span[s];
    }
    for (size_t i = 0, end; i < n; i = end) {
        unsigned s = span_of[v[i].value];
        size_t to = base[s] + at[s];
        names->guids.v[to] = v[i].key;
        for (end = i; end < n && v[end].key == v[i].key; end++)
            used->index_of.v[v[end].value] = (uint32_t)to;
        at[s] = pgk_eytzinger_next(at[s], names->span[s]);
    }
}

bool pgk_index_names(struct pgk_indexed_names *names, struct pgk_used_names *used,
                     const struct pgk_sample *p, size_t n, bool split)
{
    size_t n_names = used->ids.n;
    *names = (struct pgk_indexed_names){0};
    uint8_t *span_of = spans_of(p, n, split);
    struct pgk_keyed *v = pgk_mem_alloc(n_names + 1, sizeof *v);
    bool ok = span_of && v && pgk_vec_reserve(&names->guids, n_names + 1);
    for (size_t i = 0; ok && i < n_names; i++) {
        uint32_t id = used->ids.v[i];
        v[i] = (struct pgk_keyed){.key = pgk_name_guid(&p->names.list.v[id]), .value = id};
    }
    ok = ok && pgk_keyed_sort(v, n_names);
    if (ok)
        place(names, used, v, n_names, span_of);
    pgk_mem_free(span_of);
    pgk_mem_free(v);
    return ok;
}

void pgk_indexed_names_free(struct pgk_indexed_names *names)
{
    pgk_vec_free(&names->guids);
}
