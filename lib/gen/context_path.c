/* Frames of a calling context to the context's node in a profile. */
#include "context_path.h"

#include "call_trie.h"

static bool same_frame(const struct pgk_context_frame *a, const struct pgk_context_frame *b)
{
    return a->name == b->name && a->loc == b->loc;
}

uint32_t pgk_context_node(struct pgk_context_path *path, struct pgk_context_frame *frames,
                          size_t n)
{
    size_t callers = pgk_compress_recursion(frames, n - 1, sizeof *frames), same = 0;
    frames[callers] = (struct pgk_context_frame){.name = frames[n - 1].name};
    n = callers + 1;
    while (same < n && same < path->known.n && same_frame(&path->known.v[same], &frames[same]))
        same++;
    uint32_t node = same ? path->nodes.v[same - 1] : 0;
    path->known.n = path->nodes.n = same;
    for (; same < n; same++) {
        uint32_t name = (uint32_t)frames[same].name;
        node = same ? pgk_sample_context(path->p, node, frames[same - 1].loc, name)
                    : pgk_sample_root(path->p, name);
        if (!node || !pgk_vec_push(&path->known, frames[same]) ||
            !pgk_vec_push(&path->nodes, node))
            return 0;
    }
    return node;
}

void pgk_context_path_free(struct pgk_context_path *path)
{
    pgk_vec_free(&path->known);
    pgk_vec_free(&path->nodes);
}
