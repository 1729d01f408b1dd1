/* The contexts of a heap profile as weighted stacks: one each, in the profile's order. */
#include "weighted_stacks.h"

#include "heap_frames.h"
#include "heap_view.h"

static const struct pgk_value_type types[PGK_HEAP_WEIGHTS] = {
    [PGK_HEAP_WEIGHT_BYTES] = {"bytes", "alloc_space", "bytes"},
    [PGK_HEAP_WEIGHT_COUNT] = {"count", "alloc_objects", "count"},
    [PGK_HEAP_WEIGHT_ACCESSES] = {"accesses", "accesses", "count"},
    [PGK_HEAP_WEIGHT_LIFETIME] = {"lifetime-bytes", "lifetime_space", "byte_seconds"},
    [PGK_HEAP_WEIGHT_LEAKED] = {"leaked", "inuse_space", "bytes"},
    [PGK_HEAP_WEIGHT_LEAKED_COUNT] = {"leaked-count", "inuse_objects", "count"},
    [PGK_HEAP_WEIGHT_PEAK] = {"peak", "peak_space", "bytes"},
    [PGK_HEAP_WEIGHT_PEAK_COUNT] = {"peak-count", "peak_objects", "count"},
};

const char *pgk_heap_weight_name(enum pgk_heap_weight weight)
{
    return types[weight].name;
}

/* The weight of a context; 0 where the profile does not know it. */
static uint64_t weight_of(const struct pgk_mib *m, enum pgk_heap_weight weight)
{
    static const enum pgk_mib_id fields[PGK_HEAP_WEIGHTS] = {
        [PGK_HEAP_WEIGHT_BYTES] = PGK_MIB_TotalSize,
        [PGK_HEAP_WEIGHT_COUNT] = PGK_MIB_AllocCount,
        [PGK_HEAP_WEIGHT_ACCESSES] = PGK_MIB_TotalAccessCount,
        [PGK_HEAP_WEIGHT_LIFETIME] = PGK_MIB_TotalLifetime,
        [PGK_HEAP_WEIGHT_LEAKED] = PGK_MIB_ExitSize,
        [PGK_HEAP_WEIGHT_LEAKED_COUNT] = PGK_MIB_ExitCount,
        [PGK_HEAP_WEIGHT_PEAK] = PGK_MIB_PeakSize,
        [PGK_HEAP_WEIGHT_PEAK_COUNT] = PGK_MIB_PeakCount,
    };
    enum pgk_mib_id id = fields[weight];
    if (!(m->known >> id & 1))
        return 0;
    if (weight != PGK_HEAP_WEIGHT_LIFETIME)
        return m->v[id];
    if (!m->v[PGK_MIB_AllocCount])
        return 0;
    double average_s = (double)m->v[id] / (double)m->v[PGK_MIB_AllocCount] / 1000,
           sum = (double)m->v[PGK_MIB_TotalSize] * average_s;
    return sum < 0x1p63 ? (uint64_t)(sum + 0.5) : INT64_MAX;
}

struct builder {
    struct pgk_stacks *s;
    const struct pgk_heap *heap;
    const struct pgk_file_info *info;
    struct pgk_heap_frames frames;
    uint32_t *nodes;                 /* stacks of `frames`, by context */
    struct pgk_stack_tree locations; /* of frames, the outermost function first */
    PGK_VEC(uint32_t) chain, path;   /* frames of a location, locations of a stack */
};

/* The location of the frame at `*node` with what it is inlined into; moves on to the first
 * frame that is not part of it. */
static uint32_t next_location(struct builder *b, uint32_t *node)
{
    const struct pgk_stack_node *nodes = b->frames.stacks.nodes.v;
    bool inlined = true;
    b->chain.n = 0;
    for (; *node && inlined; *node = nodes[*node].parent) {
        inlined = pgk_frames_at(&b->frames, *node)->inlined;
        if (!pgk_vec_push(&b->chain, nodes[*node].frame))
            return PGK_NODE_NONE;
    }
    return pgk_stack_add(&b->locations, b->chain.v, b->chain.n);
}

static bool add_context(struct builder *b, size_t context)
{
    const struct pgk_mib *m = pgk_heap_mib(b->heap, context, PGK_MIB_SPACE);
    uint64_t objects = m->v[PGK_MIB_AllocCount], values[PGK_HEAP_WEIGHTS];
    struct pgk_weighted_stack stack = {
        .label = pgk_mib_label_name(pgk_view_label(m, b->info)),
        .has_object_bytes = objects > 0,
        .object_bytes = objects ? m->v[PGK_MIB_TotalSize] / objects : 0,
    };
    b->path.n = 0;
    for (uint32_t node = b->nodes[context]; node;) {
        uint32_t location = next_location(b, &node);
        if (location == PGK_NODE_NONE || !pgk_vec_push(&b->path, location))
            return false;
    }
    for (enum pgk_heap_weight w = 0; w < PGK_HEAP_WEIGHTS; w++)
        values[w] = weight_of(m, w);
    return pgk_stacks_add(b->s, b->path.v, b->path.n, stack, values);
}

/* The locations keep their numbers. Each node of their tree is one, also where it is only the outer
 * part of others. */
static bool add_locations(struct builder *b)
{
    const struct pgk_stack_node *nodes = b->locations.nodes.v;
    for (size_t l = 1; l < b->locations.nodes.n; l++) {
        b->chain.n = 0;
        for (uint32_t n = (uint32_t)l; n; n = nodes[n].parent)
            if (!pgk_vec_push(&b->chain, nodes[n].frame))
                return false;
        if (pgk_stacks_add_location(b->s, b->chain.v, (uint32_t)b->chain.n) != l)
            return false;
    }
    return true;
}

/* Functions and frames keep their numbers, and texts move. */
static bool take_frames(struct builder *b)
{
    struct pgk_stacks *s = b->s;
    if (!pgk_vec_reserve(&s->funcs, b->frames.funcs.n) ||
        !pgk_vec_reserve(&s->frames, b->frames.frames.n))
        return false;
    for (size_t i = 0; i < b->frames.funcs.n; i++) {
        const struct pgk_view_func *f = &b->frames.funcs.v[i];
        s->funcs.v[s->funcs.n++] = (struct pgk_stack_func){
            .name = f->name,
            .linkage = f->linkage,
            .file = f->file,
            .first_line = f->decl_line,
            .module = f->module,
        };
    }
    for (size_t i = 0; i < b->frames.frames.n; i++) {
        const struct pgk_view_frame *f = &b->frames.frames.v[i];
        s->frames.v[s->frames.n++] = (struct pgk_stack_frame){
            .address = f->address, .func = f->func, .line = f->line, .column = f->column};
    }
    s->strings = b->frames.strings;
    b->frames.strings = (struct pgk_intern){0};
    return true;
}

static int build(struct builder *b, struct pgk_err *err)
{
    PGK_TRY(pgk_heap_frames_make(&b->frames, b->heap, &b->nodes, err));
    bool ok = pgk_stack_tree_init(&b->s->paths) && pgk_stack_tree_init(&b->locations);
    for (size_t c = 0; c < pgk_heap_contexts(b->heap) && ok; c++)
        ok = add_context(b, c);
    ok = ok && add_locations(b) && take_frames(b);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* If the heap over time is unknown, it has no values, unless they are requested. */
static size_t number_of_types(const struct pgk_heap *heap, enum pgk_heap_weight asked)
{
    struct pgk_heap_times times = {.struct_size = sizeof times};
    pgk_heap_over_time(heap, &times);
    return times.processes || asked >= PGK_HEAP_WEIGHT_LEAKED ? PGK_HEAP_WEIGHTS
                                                              : PGK_HEAP_WEIGHT_LEAKED;
}

int pgk_stacks_of_heap(struct pgk_stacks *s, const struct pgk_heap *heap,
                       const struct pgk_heap_export_opts *opts, struct pgk_err *err)
{
    *s = (struct pgk_stacks){.title = opts->title,
                             .types = types,
                             .n_types = number_of_types(heap, opts->weight),
                             .shown_type = opts->weight};
    struct pgk_heap_sampling sampling = {.struct_size = sizeof sampling};
    if (pgk_heap_sampling(heap, &sampling))
        s->sample_bytes = sampling.sample_bytes;
    struct builder b = {.s = s, .heap = heap, .info = opts->info};
    int status = build(&b, err);
    pgk_heap_frames_free(&b.frames);
    pgk_stack_tree_free(&b.locations);
    pgk_vec_free(&b.chain);
    pgk_vec_free(&b.path);
    pgk_mem_free(b.nodes);
    return status;
}
