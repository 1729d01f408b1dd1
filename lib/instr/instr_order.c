/* The order of output, which does not depend on the order of inputs. */
#include "instr_model.h"

#include "hash.h"

#include <stdlib.h>

static int compare_bytes(const void *a, size_t a_size, const void *b, size_t b_size)
{
    int d = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return d ? d : a_size < b_size ? -1 : a_size > b_size;
}

/* Most comparisons end within the first bytes, which are kept at hand. */
struct sort_key {
    uint64_t head;
    uint32_t func;
};

static uint64_t head_of(const struct pgk_instr_name *name)
{
    uint64_t head = 0;
    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < name->len ? (uint8_t)name->s[i] : 0);
    return head;
}

static int by_name(const void *a, const void *b, void *ctx)
{
    const struct sort_key *x = a, *y = b;
    const struct pgk_instr *p = ctx;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    const struct pgk_instr_func *f = &p->funcs.v[x->func], *g = &p->funcs.v[y->func];
    const struct pgk_instr_name *m = &p->names.list.v[f->name], *n = &p->names.list.v[g->name];
    int d = f->name == g->name ? 0 : compare_bytes(m->s, m->len, n->s, n->len);
    return d ? d : f->hash < g->hash ? -1 : f->hash > g->hash;
}

int pgk_instr_order(const struct pgk_instr *p, uint32_t **order, struct pgk_err *err)
{
    size_t n = p->funcs.n;
    struct sort_key *keys = pgk_mem_alloc(n + 1, sizeof *keys);
    uint32_t *out = pgk_mem_alloc(n + 1, sizeof *out);
    if (!keys || !out) {
        pgk_mem_free(keys);
        pgk_mem_free(out);
        return pgk_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct sort_key){head_of(&p->names.list.v[p->funcs.v[i].name]), (uint32_t)i};
    qsort_r(keys, n, sizeof *keys, by_name, (void *)p);
    for (size_t i = 0; i < n; i++)
        out[i] = keys[i].func;
    pgk_mem_free(keys);
    *order = out;
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct pgk_instr_id *x = *(const struct pgk_instr_id *const *)a,
                              *y = *(const struct pgk_instr_id *const *)b;
    return compare_bytes(x->bytes, x->size, y->bytes, y->size);
}

int pgk_instr_order_ids(const struct pgk_instr *p, const struct pgk_instr_id ***order,
                        struct pgk_err *err)
{
    const struct pgk_instr_id **out = pgk_mem_alloc(p->binary_ids.n + 1, sizeof *out);
    if (!out)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->binary_ids.n; i++)
        out[i] = &p->binary_ids.v[i];
    qsort(out, p->binary_ids.n, sizeof *out, by_bytes);
    *order = out;
    return 0;
}

static int by_content(const void *a, const void *b)
{
    const struct pgk_instr_trace *x = *(const struct pgk_instr_trace *const *)a,
                                 *y = *(const struct pgk_instr_trace *const *)b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    for (size_t i = 0; i < x->n; i++)
        if (x->refs[i] != y->refs[i])
            return x->refs[i] < y->refs[i] ? -1 : 1;
    return 0;
}

int pgk_instr_order_traces(const struct pgk_instr *p, const struct pgk_instr_trace ***order,
                           struct pgk_err *err)
{
    const struct pgk_instr_trace **out = pgk_mem_alloc(p->traces.n + 1, sizeof *out);
    if (!out)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->traces.n; i++)
        out[i] = &p->traces.v[i];
    qsort(out, p->traces.n, sizeof *out, by_content);
    *order = out;
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct pgk_ranked_value *x = a, *y = b;
    if (x->v.count != y->v.count)
        return x->v.count > y->v.count ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

bool pgk_site_rank(const struct pgk_value_site *s, pgk_ranked_vec *ranked)
{
    ranked->n = 0;
    if (!pgk_vec_reserve(ranked, s->n))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        ranked->v[i] = (struct pgk_ranked_value){s->v[i], i};
    if (s->n > 1)
        qsort(ranked->v, s->n, sizeof *ranked->v, by_rank);
    ranked->n = s->n < PGK_SITE_VALUES_MAX ? s->n : PGK_SITE_VALUES_MAX;
    return true;
}

/* ---- fewer traces ---- */

static uint64_t trace_hash(const struct pgk_instr_trace *t)
{
    uint64_t hash = pgk_hash_pair(t->weight, t->n);
    for (size_t i = 0; i < t->n; i++)
        hash = pgk_hash_pair(hash, t->refs[i]);
    return hash;
}

static int by_trace_hash(const void *a, const void *b)
{
    uint64_t x = trace_hash(a), y = trace_hash(b);
    return x < y ? -1 : x > y;
}

void pgk_instr_limit_traces(struct pgk_instr *p, size_t most, size_t longest)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->traces.n; i++) {
        struct pgk_instr_trace t = p->traces.v[i];
        t.n = t.n < longest ? t.n : longest;
        if (t.n)
            p->traces.v[kept++] = t;
    }
    if (!kept)
        p->trace_stream = 0;
    p->traces.n = kept;
    if (kept > most) {
        qsort(p->traces.v, kept, sizeof *p->traces.v, by_trace_hash);
        p->traces.n = most;
    }
}
