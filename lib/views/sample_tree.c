/* The functions of one or two sample profiles as one tree with names. */
#include "sample_tree.h"

#include "demangle.h"
#include "mem.h"
#include "hash.h"
#include "saturate.h"

#include <inttypes.h>
#include <string.h>

uint64_t pgk_sample_lines_sum(const struct pgk_sample_node *node)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < node->recs.n; i++)
        if (node->recs.v[i].what == PGK_REC_BODY)
            sum = pgk_add_saturated(sum, node->recs.v[i].count);
    return sum;
}

static bool name_func(struct pgk_sample_tree *t, struct pgk_sample_func *f,
                      const struct pgk_sample_name *name)
{
    char number[32];
    if (!name->s) {
        snprintf(number, sizeof number, "function 0x%016" PRIx64, name->guid);
        f->name = pgk_intern_cstr(&t->strings, number);
        return f->name != PGK_INDEX_NONE;
    }
    char *written = pgk_demangle(name->s);
    f->name = pgk_intern_safe(&t->strings, written ? written : name->s);
    f->linkage = written ? pgk_intern_safe(&t->strings, name->s) : 0;
    pgk_mem_free(written);
    if (!f->name) /* an empty name is one, too */
        f->name = pgk_intern_cstr(&t->strings, "(no name)");
    return f->name != PGK_INDEX_NONE && f->linkage != PGK_INDEX_NONE;
}

/* A name that one side spells and the other knows by its GUID is one function. */
static uint32_t add_func(struct pgk_sample_tree *t, const struct pgk_sample_name *name)
{
    struct pgk_sample_func f = {.guid = pgk_name_guid(name)};
    PGK_INDEX_FOR (&t->func_index, f.guid, i)
        if (t->funcs.v[i].guid == f.guid)
            return i;
    if (!name_func(t, &f, name) || t->funcs.n >= PGK_INDEX_NONE || !pgk_vec_push(&t->funcs, f) ||
        !pgk_index_add(&t->func_index, f.guid, (uint32_t)t->funcs.n - 1))
        return PGK_INDEX_NONE;
    return (uint32_t)t->funcs.n - 1;
}

static uint32_t func_of(struct pgk_sample_tree *t, const struct pgk_sample *p, uint32_t name)
{
    uint32_t *known = p == t->now ? &t->func_of_now[name] : &t->func_of_before[name];
    if (!*known)
        *known = add_func(t, &p->names.list.v[name]) + 1; /* PGK_INDEX_NONE becomes 0 */
    return *known - 1;
}

uint32_t pgk_sample_tree_func(struct pgk_sample_tree *t, uint32_t name)
{
    return func_of(t, t->now, name);
}

static uint32_t *side(struct pgk_sample_tree_node *node, bool now)
{
    return now ? &node->now : &node->before;
}

/* The tree's node for a node of a profile. One that the other side has, too, is taken if no
 * other of this side has it: what differs in its checksum only stays apart. */
static bool add_node(struct pgk_sample_tree *t, const struct pgk_sample *p, uint32_t id,
                     uint32_t parent, uint32_t *at)
{
    const struct pgk_sample_node *n = &p->nodes.v[id];
    bool now = p == t->now, context = n->flags & PGK_NODE_CONTEXT;
    uint32_t func = func_of(t, p, n->name);
    if (func == PGK_INDEX_NONE)
        return false;
    uint64_t hash = pgk_hash_pair((uint64_t)parent << 32 | func, n->loc << 1 | (uint64_t)context);
    PGK_INDEX_FOR (&t->node_index, hash, i) {
        struct pgk_sample_tree_node *known = &t->nodes.v[i];
        if (known->parent != parent || known->func != func || known->loc != n->loc ||
            known->context != context || *side(known, now))
            continue;
        *side(known, now) = id;
        known->top |= pgk_sample_is_top(p, id);
        *at = i;
        return true;
    }
    struct pgk_sample_tree_node node = {.loc = n->loc,
                                        .parent = parent,
                                        .func = func,
                                        .context = context,
                                        .top = pgk_sample_is_top(p, id)};
    *side(&node, now) = id;
    *at = (uint32_t)t->nodes.n;
    return t->nodes.n < PGK_INDEX_NONE && pgk_vec_push(&t->nodes, node) &&
           pgk_index_add(&t->node_index, hash, *at);
}

/* The path from the outermost function down to `top`, as far as it is not in the tree yet.
 * `node_of` is by node of the profile: the tree's, or 0. */
static bool add_path(struct pgk_sample_tree *t, const struct pgk_sample *p, uint32_t top,
                     uint32_t *node_of)
{
    PGK_VEC(uint32_t) path = {0};
    bool ok = true;
    uint32_t id = top, at;
    for (; id && !node_of[id] && ok; id = p->nodes.v[id].parent)
        ok = pgk_vec_push(&path, id);
    at = id ? node_of[id] : 0;
    for (size_t i = path.n; i-- > 0 && ok;) {
        ok = add_node(t, p, path.v[i], at, &at);
        node_of[path.v[i]] = at;
    }
    pgk_vec_free(&path);
    return ok;
}

static bool add_inlinees(struct pgk_sample_tree *t, const struct pgk_sample *p, uint32_t id,
                         uint32_t at)
{
    for (uint32_t c = pgk_sample_first(p, id); c; c = pgk_sample_next(p, c)) {
        uint32_t child;
        if (!add_node(t, p, c, at, &child) || !add_inlinees(t, p, c, child))
            return false;
    }
    return true;
}

static bool add_profile(struct pgk_sample_tree *t, const struct pgk_sample *p)
{
    uint32_t *node_of = pgk_mem_zalloc(p->nodes.n + 1, sizeof *node_of);
    bool ok = node_of != NULL;
    for (size_t i = 0; i < p->by_heat.n && ok; i++)
        ok = add_path(t, p, p->by_heat.v[i], node_of) &&
             add_inlinees(t, p, p->by_heat.v[i], node_of[p->by_heat.v[i]]);
    pgk_mem_free(node_of);
    return ok;
}

int pgk_sample_tree_make(struct pgk_sample_tree *t, const struct pgk_sample *now,
                         const struct pgk_sample *before, struct pgk_err *err)
{
    *t = (struct pgk_sample_tree){.now = now, .before = before};
    t->func_of_now = pgk_mem_zalloc(now->names.list.n + 1, sizeof *t->func_of_now);
    t->func_of_before =
        pgk_mem_zalloc((before ? before->names.list.n : 0) + 1, sizeof *t->func_of_before);
    bool ok = t->func_of_now && t->func_of_before &&
              pgk_vec_push(&t->nodes, (struct pgk_sample_tree_node){0}) && add_profile(t, now) &&
              (!before || add_profile(t, before));
    return ok ? 0 : pgk_fail_nomem(err);
}

void pgk_sample_tree_free(struct pgk_sample_tree *t)
{
    pgk_intern_free(&t->strings);
    pgk_vec_free(&t->funcs);
    pgk_vec_free(&t->nodes);
    pgk_index_free(&t->func_index);
    pgk_index_free(&t->node_index);
    pgk_mem_free(t->func_of_now);
    pgk_mem_free(t->func_of_before);
}
