/* Staging of one function, and adding it to the model. */
#include "sample_stage.h"

#include "sample_recs.h"
#include "saturate.h"

void pgk_stage_free(struct pgk_sample_stage *s)
{
    for (size_t i = 0; i < s->slots.n; i++)
        pgk_vec_free(&s->slots.v[i].recs);
    pgk_vec_free(&s->slots);
    s->n = 0;
}

static struct pgk_stage_node *next_slot(struct pgk_sample_stage *s)
{
    if (s->n == s->slots.n && (s->n == PGK_STAGE_NONE - 1 ||
                               !pgk_vec_push(&s->slots, (struct pgk_stage_node){0})))
        return NULL;
    struct pgk_stage_node *n = &s->slots.v[s->n++];
    n->loc = n->total = n->head = n->checksum = 0;
    n->parent = n->attributes = n->depth = n->id = n->last_child = n->run = 0;
    n->ordered = true;
    n->recs.n = 0;
    return n;
}

bool pgk_stage_begin(struct pgk_sample_stage *s, uint32_t name)
{
    s->n = 0;
    struct pgk_stage_node *n = next_slot(s);
    if (n)
        n->name = name;
    return n != NULL;
}

uint32_t pgk_stage_inlinee(struct pgk_sample_stage *s, uint32_t parent, uint64_t loc,
                           uint32_t name)
{
    struct pgk_stage_node *n = next_slot(s);
    if (!n)
        return PGK_STAGE_NONE;
    n->parent = parent;
    n->loc = loc;
    n->name = name;
    n->depth = s->slots.v[parent].depth + 1;
    return s->n - 1;
}

/* Places come in order; the targets of a place come by count. Moving a few of them is
 * cheaper than sorting it all later. */
bool pgk_stage_add_odd(struct pgk_stage_node *n, uint64_t loc, uint32_t what, uint64_t count)
{
    enum { MAX_MOVES = 16 };
    struct pgk_sample_rec *v = n->recs.v;
    size_t end = n->recs.n, i = end;
    size_t first = end - n->run > MAX_MOVES ? end - MAX_MOVES : n->run;
    while (i > first && pgk_rec_compare_key(&v[i - 1], loc, what) > 0)
        i--;
    int before = i > n->run ? pgk_rec_compare_key(&v[i - 1], loc, what) : -1;
    if (!before) {
        v[i - 1].count = pgk_add_saturated(v[i - 1].count, count);
        return true;
    }
    if (before > 0) {
        n->ordered = false;
        i = end;
    }
    for (size_t k = end; k > i; k--)
        v[k] = v[k - 1];
    pgk_rec_set(&v[i], loc, what, count);
    n->recs.n++;
    return true;
}

struct pgk_stage_place pgk_stage_place_of(const struct pgk_sample *p, uint32_t context)
{
    const struct pgk_sample_node *n = &p->nodes.v[context];
    return (struct pgk_stage_place){.caller = n->parent, .loc = n->loc, .hint = context};
}

/* Two ordered lists become one only if the model has nothing yet; otherwise each record is added on
 * its own. */
static bool add_records(struct pgk_stage_node *from, struct pgk_sample *p, uint64_t weight)
{
    if (!from->ordered || (from->run && !p->nodes.v[from->id].recs.n)) {
        from->recs.n = pgk_recs_sort(from->recs.v, from->recs.n);
        from->run = 0;
    }
    const struct pgk_sample_rec *v = from->recs.v;
    return pgk_sample_add_sorted(p, from->id, v, from->run, weight) &&
           pgk_sample_add_sorted(p, from->id, v + from->run, from->recs.n - from->run, weight);
}

static bool add_node(struct pgk_sample_stage *s, uint32_t slot, struct pgk_sample *p,
                     uint64_t weight)
{
    struct pgk_stage_node *from = &s->slots.v[slot];
    struct pgk_sample_node *to = &p->nodes.v[from->id];
    to->total = pgk_add_saturated(to->total, pgk_multiply_saturated(from->total, weight));
    to->head = pgk_add_saturated(to->head, pgk_multiply_saturated(from->head, weight));
    to->attributes |= from->attributes;
    if (from->attributes & PGK_SAMPLE_SHOULD_INLINE)
        p->preinlined = true;
    return add_records(from, p, weight);
}

static uint32_t inlinee_id(struct pgk_sample_stage *s, const struct pgk_stage_node *n,
                           struct pgk_sample *p)
{
    struct pgk_stage_node *up = &s->slots.v[n->parent];
    uint32_t hint = up->last_child ? p->nodes.v[up->last_child].next
                                   : p->nodes.v[up->id].first_child;
    up->last_child = pgk_sample_child(p, up->id, n->loc, n->name, 0, n->checksum, hint);
    return up->last_child;
}

int pgk_stage_commit(struct pgk_sample_stage *s, struct pgk_sample *p,
                     struct pgk_stage_place place, uint64_t weight, struct pgk_err *err)
{
    /* In two passes, so that the records of all are being fetched before the first are used. */
    for (uint32_t slot = 0; slot < s->n; slot++) {
        struct pgk_stage_node *n = &s->slots.v[slot];
        n->id = slot ? inlinee_id(s, n, p)
                     : pgk_sample_child(p, place.caller, place.loc, n->name, PGK_NODE_CONTEXT,
                                        n->checksum, place.hint);
        if (!n->id)
            return pgk_fail_nomem(err);
        pgk_sample_prefetch_records(p, n->id);
    }
    for (uint32_t slot = 0; slot < s->n; slot++)
        if (!add_node(s, slot, p, weight))
            return pgk_fail_nomem(err);
    pgk_sample_make_top(p, s->slots.v[0].id);
    return 0;
}
