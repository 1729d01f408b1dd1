/* The calling contexts and inlined functions of a sample profile as weighted stacks, whose values
 * are the samples of lines. Line numbers are the profile's: offsets from the first lines of
 * functions, or probe ids. */
#include "weighted_stacks.h"

#include "hash.h"
#include "sample_tree.h"

static const struct pgk_value_type types[] = {{"samples", "samples", "count"}};

/* What a location was made for. */
struct place {
    uint32_t node, line;
};

struct builder {
    struct pgk_stacks *s;
    struct pgk_sample_tree tree;
    struct pgk_index frame_index, location_index;
    PGK_VEC(struct place) places; /* by location, less 1 */
    PGK_VEC(uint32_t) chain, path; /* frames of a location, locations of a stack */
};

static uint32_t frame_at(struct builder *b, uint32_t node, uint32_t line)
{
    struct pgk_stack_frame frame = {.func = b->tree.nodes.v[node].func, .line = line};
    uint64_t hash = pgk_hash_pair(frame.func, line);
    PGK_INDEX_FOR (&b->frame_index, hash, i)
        if (b->s->frames.v[i].func == frame.func && b->s->frames.v[i].line == line)
            return i;
    if (b->s->frames.n >= PGK_INDEX_NONE || !pgk_vec_push(&b->s->frames, frame) ||
        !pgk_index_add(&b->frame_index, hash, (uint32_t)b->s->frames.n - 1))
        return PGK_INDEX_NONE;
    return (uint32_t)b->s->frames.n - 1;
}

static bool push_frame(struct builder *b, uint32_t node, uint32_t line)
{
    uint32_t frame = frame_at(b, node, line);
    return frame != PGK_INDEX_NONE && pgk_vec_push(&b->chain, frame);
}

/* A line of a node with what the node is inlined into; 0 when out of memory. */
static uint32_t location_at(struct builder *b, uint32_t node, uint32_t line)
{
    const struct pgk_sample_tree_node *nodes = b->tree.nodes.v;
    uint64_t hash = pgk_hash_pair(node, line);
    PGK_INDEX_FOR (&b->location_index, hash, i)
        if (b->places.v[i].node == node && b->places.v[i].line == line)
            return i + 1;
    b->chain.n = 0;
    bool ok = push_frame(b, node, line);
    for (uint32_t n = node; ok && !nodes[n].context; n = nodes[n].parent)
        ok = push_frame(b, nodes[n].parent, pgk_sample_line(nodes[n].loc));
    ok = ok && pgk_vec_push(&b->places, (struct place){node, line}) &&
         pgk_index_add(&b->location_index, hash, (uint32_t)b->places.n - 1);
    return ok ? pgk_stacks_add_location(b->s, b->chain.v, (uint32_t)b->chain.n) : 0;
}

/* The node outside of which the code of `node` is called rather than inlined. */
static uint32_t outermost(const struct pgk_sample_tree *t, uint32_t node)
{
    while (!t->nodes.v[node].context)
        node = t->nodes.v[node].parent;
    return node;
}

static bool add_line(struct builder *b, uint32_t node, const struct pgk_sample_rec *r)
{
    const struct pgk_sample_tree *t = &b->tree;
    uint64_t loc = r->loc, samples = r->count;
    b->path.n = 0;
    for (uint32_t at = node; at;) {
        uint32_t location = location_at(b, at, pgk_sample_line(loc));
        if (!location || !pgk_vec_push(&b->path, location))
            return false;
        uint32_t context = outermost(t, at);
        loc = t->nodes.v[context].loc;
        at = t->nodes.v[context].parent;
    }
    return pgk_stacks_add(b->s, b->path.v, b->path.n, (struct pgk_weighted_stack){.label = ""},
                          &samples);
}

static bool add_lines(struct builder *b)
{
    for (uint32_t n = 1; n < b->tree.nodes.n; n++) {
        const struct pgk_sample_recs *recs = &pgk_tree_now(&b->tree, n)->recs;
        for (uint32_t r = 0; r < recs->n; r++)
            if (recs->v[r].what == PGK_REC_BODY && recs->v[r].count && !add_line(b, n, &recs->v[r]))
                return false;
    }
    return true;
}

/* Without lines, a function is a frame and a location. */
static bool add_functions(struct builder *b)
{
    const struct pgk_sample_tree_node *nodes = b->tree.nodes.v;
    for (uint32_t f = 0; f < b->tree.funcs.n; f++)
        if (!pgk_vec_push(&b->s->frames, (struct pgk_stack_frame){.func = f}) ||
            !pgk_stacks_add_location(b->s, &f, 1))
            return false;
    for (uint32_t n = 1; n < b->tree.nodes.n; n++) {
        uint64_t samples = pgk_sample_lines_sum(pgk_tree_now(&b->tree, n));
        if (!samples)
            continue;
        b->path.n = 0;
        for (uint32_t up = n; up; up = nodes[up].parent)
            if (!pgk_vec_push(&b->path, nodes[up].func + 1))
                return false;
        if (!pgk_stacks_add(b->s, b->path.v, b->path.n, (struct pgk_weighted_stack){.label = ""},
                            &samples))
            return false;
    }
    return true;
}

/* Functions keep their numbers, and texts move. */
static bool take_functions(struct builder *b)
{
    struct pgk_stacks *s = b->s;
    if (!pgk_vec_reserve(&s->funcs, b->tree.funcs.n))
        return false;
    for (size_t i = 0; i < b->tree.funcs.n; i++) {
        const struct pgk_sample_func *f = &b->tree.funcs.v[i];
        s->funcs.v[s->funcs.n++] =
            (struct pgk_stack_func){.name = f->name, .linkage = f->linkage};
    }
    s->strings = b->tree.strings;
    b->tree.strings = (struct pgk_intern){0};
    return true;
}

static int build(struct builder *b, const struct pgk_sample *profile, enum pgk_stack_detail detail,
                 struct pgk_err *err)
{
    PGK_TRY(pgk_sample_tree_make(&b->tree, profile, NULL, err));
    bool ok = pgk_stack_tree_init(&b->s->paths) &&
              (detail == PGK_STACKS_BY_LINE ? add_lines(b) : add_functions(b)) &&
              take_functions(b);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_stacks_of_sample(struct pgk_stacks *s, const struct pgk_sample *profile,
                         enum pgk_stack_detail detail, const struct pgk_sample_export_opts *opts,
                         struct pgk_err *err)
{
    *s = (struct pgk_stacks){.title = opts->title, .types = types, .n_types = PGK_COUNTOF(types)};
    struct builder b = {.s = s};
    int status = build(&b, profile, detail, err);
    pgk_sample_tree_free(&b.tree);
    pgk_index_free(&b.frame_index);
    pgk_index_free(&b.location_index);
    pgk_vec_free(&b.places);
    pgk_vec_free(&b.chain);
    pgk_vec_free(&b.path);
    return status;
}
