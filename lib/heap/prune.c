/* Pruning: leaving out contexts that do not matter, and the far ends of stacks. */
#include "binary_set.h"
#include "function_name.h"
#include "opts.h"
#include "rekey.h"
#include "saturate.h"
#include "u64_set.h"

#include <inttypes.h>

/* Frames of a group that repeats; recursion through more functions is rare, and looking for
 * longer groups costs time for each frame. */
enum { GROUP_MAX = 16 };

typedef PGK_VEC(uint32_t) frame_vec;

struct prune {
    struct pgk_rekey k;
    const struct pgk_heap_prune_opts *opts;
    struct pgk_err *err;
    PGK_VEC(uint64_t) leaves; /* sorted GUIDs; of opts->leaves_in */
    frame_vec stack;          /* of the current context, leaf first; frames of the old model */
    uint8_t *in_use;          /* by old frame: a stack that is left has it */
    struct pgk_heap_pruned done;
};

/* ---- which contexts ---- */

static int add_leaf(void *ctx, const struct pgk_sym_function *f)
{
    struct prune *p = ctx;
    return pgk_vec_push(&p->leaves, pgk_heap_guid(f->name, strlen(f->name)))
               ? 0
               : pgk_fail_nomem(p->err);
}

/* All functions of the binaries, those that are only inlined too: an allocation in one of
 * them has it as its leaf. */
static int find_leaves(struct prune *p)
{
    for (uint32_t b = 0; b < pgk_binaries_count(p->opts->leaves_in); b++) {
        struct pgk_symboliser *sym;
        PGK_TRY(pgk_binaries_symboliser(p->opts->leaves_in, b, &sym, p->err));
        PGK_TRY(pgk_symboliser_functions(sym, add_leaf, p, p->err));
    }
    p->leaves.n = pgk_u64_set(p->leaves.v, p->leaves.n);
    return 0;
}

static bool is_leaf_known(const struct prune *p, uint32_t stack)
{
    const struct pgk_heap *from = p->k.from;
    const struct pgk_frame *f = &from->frames.v[from->stacks.nodes.v[stack].frame];
    return f->kind != PGK_FRAME_ADDRESS &&
           pgk_u64_find(p->leaves.v, p->leaves.n, from->funcs.v[f->ref].guid) < p->leaves.n;
}

static bool is_kept(const struct prune *p, const struct pgk_heap_context *c,
                    const struct pgk_mib *mib)
{
    const struct pgk_heap_prune_opts *o = p->opts;
    enum pgk_mib_label label = pgk_mib_label(mib);
    if (mib->v[PGK_MIB_TotalSize] < o->min_bytes || mib->v[PGK_MIB_AllocCount] < o->min_count)
        return false;
    if ((o->cold_only || o->hot_only) && !(o->cold_only && label == PGK_LABEL_COLD) &&
        !(o->hot_only && label == PGK_LABEL_HOT))
        return false;
    return !o->leaves_in || is_leaf_known(p, c->stack);
}

/* ---- what becomes of a stack ---- */

static void reverse(frame_vec *s)
{
    for (size_t i = 0; i < s->n / 2; i++) {
        uint32_t f = s->v[i];
        s->v[i] = s->v[s->n - 1 - i];
        s->v[s->n - 1 - i] = f;
    }
}

/* From the program's entry on, a group of frames that the same group precedes is taken out. What
 * stands before the group had no repetition and has none again, so one pass is enough. */
static void collapse(frame_vec *s)
{
    size_t kept = 0;
    reverse(s);
    for (size_t i = 0; i < s->n; i++) {
        s->v[kept++] = s->v[i];
        for (size_t group = 1; group <= GROUP_MAX && 2 * group <= kept; group++)
            if (!memcmp(s->v + kept - group, s->v + kept - 2 * group, group * sizeof *s->v)) {
                kept -= group;
                break;
            }
    }
    s->n = kept;
    reverse(s);
}

static bool is_inlined(const struct prune *p, uint32_t frame)
{
    return p->k.from->frames.v[frame].kind == PGK_FRAME_INLINED;
}

static void cut(const struct prune *p, frame_vec *s)
{
    size_t n = p->opts->max_depth;
    if (n >= s->n)
        return;
    while (n < s->n && is_inlined(p, s->v[n - 1]))
        n++;
    s->n = n;
}

/* Leaves the frames that are in some function's record. */
static void drop_unnamed(const struct prune *p, frame_vec *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        if (pgk_frame_has_record(&p->k.from->frames.v[s->v[i]]))
            s->v[kept++] = s->v[i];
    s->n = kept;
}

static int read_stack(struct prune *p, uint32_t node)
{
    const struct pgk_stack_node *nodes = p->k.from->stacks.nodes.v;
    p->stack.n = 0;
    for (; node; node = nodes[node].parent)
        if (!pgk_vec_push(&p->stack, nodes[node].frame))
            return pgk_fail_nomem(p->err);
    return 0;
}

/* What an old frame that stays is now. */
static uint32_t new_frame(const struct prune *p, uint32_t old)
{
    return p->k.map.frames.v[p->k.map.first.v[old]];
}

/* Adds a context with its shortened stack; contexts whose stacks become equal are added up. */
static int keep(struct prune *p, const struct pgk_heap_context *c, const struct pgk_mib *mib)
{
    struct pgk_heap *to = p->k.to;
    frame_vec *s = &p->stack;
    PGK_TRY(read_stack(p, c->stack));
    size_t depth = s->n;
    if (p->opts->named_only)
        drop_unnamed(p, s);
    if (p->opts->collapse_recursion)
        collapse(s);
    if (p->opts->max_depth)
        cut(p, s);
    if (!s->n)
        return 0;
    p->done.contexts_left++;
    p->done.bytes_left = pgk_add_saturated(p->done.bytes_left, mib->v[PGK_MIB_TotalSize]);
    p->done.stacks_shortened += s->n < depth;
    uint32_t node = 0;
    for (size_t i = s->n; i-- > 0 && node != PGK_NODE_NONE;) {
        p->in_use[s->v[i]] = 1;
        node = pgk_stack_push(&to->stacks, node, new_frame(p, s->v[i]));
    }
    if (node == PGK_NODE_NONE)
        return pgk_fail_nomem(p->err);
    p->k.node_map[c->stack] = node;
    PGK_TRY(pgk_heap_add(to, node, mib, p->err));
    if (c->owned_by_chain)
        pgk_heap_own_by_chain(to, node);
    return 0;
}

/* ---- all of it ---- */

static int prune_contexts(struct prune *p)
{
    const struct pgk_heap *from = p->k.from;
    for (size_t i = 0; i < from->contexts.n; i++) {
        const struct pgk_heap_context *c = &from->contexts.v[i];
        struct pgk_mib mib;
        pgk_context_get(from, c, &mib);
        p->done.contexts++;
        p->done.bytes = pgk_add_saturated(p->done.bytes, mib.v[PGK_MIB_TotalSize]);
        if (is_kept(p, c, &mib))
            PGK_TRY(keep(p, c, &mib));
    }
    return 0;
}

/* A call site is left if all frames of its inline chain are. */
static int prune_call(struct prune *p, const struct pgk_heap_site *s)
{
    struct pgk_heap *to = p->k.to;
    uint32_t chain = 0;
    PGK_TRY(read_stack(p, s->stack));
    for (size_t i = p->stack.n; i-- > 0 && chain != PGK_NODE_NONE;) {
        if (!p->in_use[p->stack.v[i]])
            return 0;
        chain = pgk_stack_push(&to->stacks, chain, new_frame(p, p->stack.v[i]));
    }
    if (chain == PGK_NODE_NONE)
        return pgk_fail_nomem(p->err);
    return pgk_heap_add_site(to, PGK_SITE_CALL, p->k.func_map[s->func], chain, s->callees,
                             s->n_callees, p->err);
}

static int prune_sites(struct prune *p)
{
    const struct pgk_heap *from = p->k.from;
    for (size_t i = 0; i < from->sites.n; i++) {
        const struct pgk_heap_site *s = &from->sites.v[i];
        if (s->kind == PGK_SITE_CALL)
            PGK_TRY(prune_call(p, s));
        else if (p->k.node_map[s->stack])
            PGK_TRY(pgk_heap_add_site(p->k.to, PGK_SITE_ALLOC, p->k.func_map[s->func],
                                      p->k.node_map[s->stack], NULL, 0, p->err));
    }
    return 0;
}

static int run(struct prune *p)
{
    const struct pgk_heap *from = p->k.from;
    p->in_use = pgk_mem_zalloc(from->frames.n + 1, 1);
    p->k.node_map = pgk_mem_zalloc(from->stacks.nodes.n, sizeof *p->k.node_map);
    if (!p->in_use || !p->k.node_map)
        return pgk_fail_nomem(p->err);
    if (p->opts->leaves_in)
        PGK_TRY(find_leaves(p));
    for (size_t i = 0; i < from->frames.n; i++)
        PGK_TRY(p->opts->named_only && !pgk_frame_has_record(&from->frames.v[i])
                    ? pgk_rekey_replace(&p->k, NULL, 0, p->err)
                    : pgk_rekey_keep(&p->k, p->err));
    PGK_TRY(prune_contexts(p));
    PGK_TRY(prune_sites(p));
    PGK_TRY(pgk_heap_add_whole(p->k.to, from, p->k.node_map, p->err));
    if (!p->done.contexts_left)
        return pgk_fail(p->err, PGK_E_EMPTY, .record = "contexts",
                        .found = PGK_F("none that is left of %zu", p->done.contexts),
                        .expected = "at least one",
                        .hint = "prune less, or look at the profile with pgokit show first");
    return 0;
}

static bool has_functions(const struct pgk_heap *h)
{
    for (size_t i = 0; i < h->frames.n; i++)
        if (h->frames.v[i].kind != PGK_FRAME_ADDRESS)
            return true;
    return false;
}

int pgk_heap_prune(struct pgk_heap **into, const struct pgk_heap *from,
                   const struct pgk_heap_prune_opts *given, struct pgk_heap_pruned *done,
                   struct pgk_err *err)
{
    struct pgk_heap *to;
    struct pgk_heap_prune_opts opts;
    struct prune p = {.opts = &opts, .err = err};
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    if (!has_functions(from))
        PGK_TRY(pgk_heap_check_writable(from, NULL, "heap profile to prune", err));
    PGK_TRY(pgk_heap_new(&to, err));
    int status = pgk_rekey_begin(&p.k, to, from, err);
    if (!status)
        status = run(&p);
    if (p.done.bytes_left < p.done.bytes) /* what processes made is more than what is here */
        to->origin.counted = 0;
    pgk_rekey_end(&p.k);
    pgk_vec_free(&p.leaves);
    pgk_vec_free(&p.stack);
    pgk_mem_free(p.in_use);
    if (status) {
        pgk_heap_close(&to);
        return status;
    }
    PGK_RESULT_GIVE(done, &p.done);
    *into = to;
    return 0;
}
