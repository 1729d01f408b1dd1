/* Frames of a calling context to the context's node in a profile. */
#include "context_path.h"

#include "call_trie.h"

struct pgk_context_limits pgk_context_limits(const struct pgk_gen_opts *opts)
{
    size_t frames = opts->context_depth, calls = opts->stack_depth;
    if (frames && (!calls || calls > frames)) /* a call is a frame at least */
        calls = frames;
    size_t longest = opts->recursion ? opts->recursion : SIZE_MAX;
    return (struct pgk_context_limits){frames, calls, opts->keep_recursion ? 0 : longest};
}

size_t pgk_context_calls(const struct pgk_context_limits *limits, uint64_t *calls, size_t n)
{
    n = pgk_compress_recursion(calls, n, sizeof *calls, limits->longest);
    size_t keep = limits->calls && limits->calls - 1 < n ? limits->calls - 1 : n;
    if (keep < n)
        memmove(calls, calls + (n - keep), keep * sizeof *calls);
    return keep;
}

static bool same_frame(const struct pgk_context_frame *a, const struct pgk_context_frame *b)
{
    return a->name == b->name && a->loc == b->loc;
}

uint32_t pgk_context_place(struct pgk_context_path *path, const struct pgk_context_frame *frames,
                           size_t n)
{
    size_t same = 0, most = path->limits.frames;
    if (most && n > most) {
        frames += n - most;
        n = most;
    }
    while (same + 1 < n && same < path->known.n && same_frame(&path->known.v[same], &frames[same]))
        same++;
    uint32_t node = same ? path->nodes.v[same - 1] : 0;
    path->known.n = path->nodes.n = same;
    for (; same < n; same++) {
        struct pgk_context_frame frame = {same + 1 < n ? frames[same].loc : 0, frames[same].name};
        node = same ? pgk_sample_context(path->p, node, frames[same - 1].loc, (uint32_t)frame.name)
                    : pgk_sample_root(path->p, (uint32_t)frame.name);
        if (!node || !pgk_vec_push(&path->known, frame) || !pgk_vec_push(&path->nodes, node))
            return 0;
    }
    return node;
}

uint32_t pgk_context_node(struct pgk_context_path *path, struct pgk_context_frame *frames,
                          size_t n)
{
    size_t callers = pgk_compress_recursion(frames, n - 1, sizeof *frames, path->limits.longest);
    frames[callers] = frames[n - 1];
    return pgk_context_place(path, frames, callers + 1);
}

void pgk_context_path_free(struct pgk_context_path *path)
{
    pgk_vec_free(&path->known);
    pgk_vec_free(&path->nodes);
}
