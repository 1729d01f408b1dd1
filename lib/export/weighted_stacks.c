/* Named weighted stacks, whatever they are made of. */
#include "weighted_stacks.h"

void pgk_stacks_free(struct pgk_stacks *s)
{
    pgk_intern_free(&s->strings);
    pgk_vec_free(&s->funcs);
    pgk_vec_free(&s->frames);
    pgk_vec_free(&s->locations);
    pgk_vec_free(&s->frames_of);
    pgk_stack_tree_free(&s->paths);
    pgk_vec_free(&s->stacks);
    pgk_vec_free(&s->values);
}

uint32_t pgk_stacks_add_location(struct pgk_stacks *s, const uint32_t *frames, uint32_t n)
{
    struct pgk_stack_location location = {.first = s->frames_of.n, .n = n};
    if (s->locations.n >= PGK_INDEX_NONE || !pgk_vec_reserve(&s->locations, 2) ||
        !pgk_vec_reserve(&s->frames_of, n))
        return 0;
    if (!s->locations.n)
        s->locations.v[s->locations.n++] = (struct pgk_stack_location){0};
    for (uint32_t i = 0; i < n; i++)
        s->frames_of.v[s->frames_of.n++] = frames[i];
    s->locations.v[s->locations.n] = location;
    return (uint32_t)s->locations.n++;
}

bool pgk_stacks_add(struct pgk_stacks *s, const uint32_t *locations, size_t n,
                    struct pgk_weighted_stack stack, const uint64_t *values)
{
    stack.path = pgk_stack_add(&s->paths, locations, n);
    if (stack.path == PGK_NODE_NONE || !pgk_vec_reserve(&s->values, s->n_types) ||
        !pgk_vec_push(&s->stacks, stack))
        return false;
    for (size_t t = 0; t < s->n_types; t++)
        s->values.v[s->values.n++] = values[t];
    return true;
}

int pgk_stacks_path(const struct pgk_stacks *s, size_t stack, struct pgk_stack_path *path,
                    struct pgk_err *err)
{
    const struct pgk_stack_node *nodes = s->paths.nodes.v;
    size_t n = 0;
    for (uint32_t at = s->stacks.v[stack].path; at; at = nodes[at].parent)
        n += s->locations.v[nodes[at].frame].n;
    path->frames.n = 0;
    if (!pgk_vec_reserve(&path->frames, n))
        return pgk_fail_nomem(err);
    path->frames.n = n;
    for (uint32_t at = s->stacks.v[stack].path; at; at = nodes[at].parent) {
        const struct pgk_stack_location *l = &s->locations.v[nodes[at].frame];
        for (uint32_t i = 0; i < l->n; i++)
            path->frames.v[--n] = s->frames_of.v[l->first + i];
    }
    return 0;
}
