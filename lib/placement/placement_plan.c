/* A plan as a whole. */
#include "placement.h"

#include "opts.h"

#include <stdlib.h>

uint32_t pgk_plan_module(struct pgk_plan *plan, const uint8_t *id, size_t size)
{
    struct pgk_placement_module m = {.id_size = size < sizeof m.id ? size : sizeof m.id};
    memcpy(m.id, id, (size_t)m.id_size);
    for (size_t i = 0; i < plan->modules.n; i++)
        if (!memcmp(&plan->modules.v[i], &m, sizeof m))
            return (uint32_t)i;
    if (plan->modules.n == PGK_PLACEMENT_MODULES_MAX || !pgk_vec_push(&plan->modules, m))
        return UINT32_MAX;
    return (uint32_t)plan->modules.n - 1;
}

static int compare_modules(const void *a, const void *b)
{
    const struct pgk_placement_module *x = a, *y = b;
    return memcmp(x->id, y->id, sizeof x->id);
}

/* By build id, whatever order they were met in. */
static int sort_modules(struct pgk_plan *plan, struct pgk_err *err)
{
    const size_t n = plan->modules.n;
    struct pgk_placement_module *before = pgk_mem_alloc(n + 1, sizeof *before);
    if (!before)
        return pgk_fail_nomem(err);
    if (n) {
        memcpy(before, plan->modules.v, n * sizeof *before);
        qsort(plan->modules.v, n, sizeof *before, compare_modules);
    }
    for (size_t i = 0; i < plan->calls.n; i++) {
        struct pgk_plan_call *c = &plan->calls.v[i];
        c->module = pgk_plan_module(plan, before[c->module].id, before[c->module].id_size);
    }
    pgk_mem_free(before);
    return 0;
}

static int check_opts(struct pgk_plan_opts *o, struct pgk_err *err)
{
    o->groups = o->groups ? o->groups : 8;
    o->depth = o->depth ? o->depth : 8;
    if (o->groups < 2 || o->groups > PGK_PLACEMENT_GROUPS_MAX)
        return pgk_fail(err, PGK_E_ARG, .field = "groups", .found = PGK_F("%u", o->groups),
                        .expected = PGK_F("2 to %d", PGK_PLACEMENT_GROUPS_MAX));
    if (o->depth > PGK_PLACEMENT_DEPTH_MAX)
        return pgk_fail(err, PGK_E_ARG, .field = "depth", .found = PGK_F("%u", o->depth),
                        .expected = PGK_F("1 to %d", PGK_PLACEMENT_DEPTH_MAX));
    return 0;
}

static int make(struct pgk_plan *plan, const struct pgk_heap *heap, const struct pgk_match *match,
                struct pgk_binaries *binaries, const struct pgk_plan_opts *o, struct pgk_err *err)
{
    PGK_TRY(pgk_plan_add_contexts(plan, heap, match, binaries, err));
    PGK_TRY(sort_modules(plan, err));
    PGK_TRY(pgk_plan_choose(plan, o->groups, err));
    PGK_TRY(pgk_plan_make_trie(plan, err));
    PGK_TRY(pgk_plan_keep_worthy(plan, err));
    pgk_plan_drop_modules(plan);
    return 0;
}

int pgk_plan_heap(struct pgk_plan **into, const struct pgk_heap *heap,
                  const struct pgk_match *match, struct pgk_binaries *binaries,
                  const struct pgk_plan_opts *opts, struct pgk_err *err)
{
    struct pgk_plan_opts o;
    PGK_TRY(PGK_OPTS_TAKE(&o, opts, err));
    PGK_TRY(check_opts(&o, err));
    struct pgk_plan *plan = pgk_mem_zalloc(1, sizeof *plan);
    if (!plan)
        return pgk_fail_nomem(err);
    plan->depth = o.depth;
    plan->knows_accesses = !o.lifetimes_only;
    int status = make(plan, heap, match, binaries, &o, err);
    if (status) {
        pgk_plan_close(&plan);
        return status;
    }
    *into = plan;
    return 0;
}

void pgk_plan_close(struct pgk_plan **plan)
{
    struct pgk_plan *p = *plan;
    *plan = NULL;
    if (!p)
        return;
    pgk_vec_free(&p->modules);
    pgk_vec_free(&p->calls);
    pgk_vec_free(&p->steps);
    pgk_vec_free(&p->contexts);
    pgk_vec_free(&p->nodes);
    pgk_arena_free(&p->arena);
    pgk_mem_free(p);
}
