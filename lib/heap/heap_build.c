/* Building heap profiles from the caller's own records: the public side of the model, which checks
 * what readers check. */
#include "function_name.h"
#include "heap_model.h"
#include "opts.h"

enum { STACK_FRAMES_MAX = 100000 };

static int refuse(struct pgk_err *err, const char *record, const char *field, const char *found,
                  const char *expected)
{
    return pgk_fail(err, PGK_E_ARG, .format = "heap profile", .record = record, .field = field,
                    .found = found, .expected = expected);
}

static uint32_t add_address(struct pgk_heap *h, const struct pgk_heap_frame *f)
{
    uint32_t module = PGK_INDEX_NONE;
    if (f->build_id_size) {
        struct pgk_heap_module m = {0};
        m.build_id = pgk_intern(&h->strings, (const char *)f->build_id, f->build_id_size);
        module = m.build_id == PGK_INDEX_NONE ? PGK_INDEX_NONE : pgk_heap_module(h, &m);
        if (module == PGK_INDEX_NONE)
            return PGK_INDEX_NONE;
    }
    return pgk_heap_frame(h, PGK_FRAME_ADDRESS, module, f->address);
}

static uint32_t add_place(struct pgk_heap *h, const struct pgk_heap_frame *f)
{
    const char *function = f->function ? f->function : "", *file = f->file ? f->file : "";
    uint32_t name = pgk_intern_cstr(&h->strings, function),
             path = pgk_intern_cstr(&h->strings, file);
    if (name == PGK_INDEX_NONE || path == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    uint64_t guid = *function ? pgk_heap_guid(function, strlen(function)) : f->guid;
    uint32_t func = pgk_heap_func(h, guid, name, path, f->decl_line);
    if (func == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    uint32_t frame = pgk_heap_frame(h, f->inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func,
                                    pgk_frame_place(f->line_offset, f->column));
    if (frame != PGK_INDEX_NONE)
        pgk_heap_note_discriminator(h, frame, f->discriminator);
    return frame;
}

static int check_frames(const struct pgk_heap_frame *frames, size_t n, struct pgk_err *err)
{
    if (!n || n > STACK_FRAMES_MAX)
        return refuse(err, "stack", "n_frames", PGK_F("%zu", n),
                      PGK_F("1 to %d frames", STACK_FRAMES_MAX));
    for (size_t i = 0; i < n; i++) {
        const struct pgk_heap_frame *f = &frames[i];
        if (f->is_address)
            continue;
        if (f->inlined && (i + 1 == n || frames[i + 1].is_address))
            return refuse(err, PGK_F("frame %zu", i), "inlined", "a function without caller",
                          "the frame of the function that it is inlined into after it");
        if (!f->guid && (!f->function || !*f->function))
            return refuse(err, PGK_F("frame %zu", i), "function", "neither a name nor a GUID",
                          "the linkage name of the function, or its GUID");
        if (f->discriminator >= PGK_DISCRIMINATOR_MAX)
            return refuse(err, PGK_F("frame %zu", i), "discriminator",
                          PGK_F("%u", f->discriminator),
                          PGK_F("less than %d", PGK_DISCRIMINATOR_MAX));
    }
    return 0;
}

/* Leaf first as given; the tree has callers first. */
static int add_stack(struct pgk_heap *h, const struct pgk_heap_frame *frames, size_t n,
                     uint32_t *stack, struct pgk_err *err)
{
    *stack = 0;
    for (size_t i = n; i-- > 0;) {
        const struct pgk_heap_frame *f = &frames[i];
        uint32_t frame = f->is_address ? add_address(h, f) : add_place(h, f);
        *stack =
            frame == PGK_INDEX_NONE ? PGK_NODE_NONE : pgk_stack_push(&h->stacks, *stack, frame);
        if (*stack == PGK_NODE_NONE)
            return pgk_fail_nomem(err);
    }
    return 0;
}

/* The inline chain that begins with `node`: a call site of all its functions, but that the
 * innermost one of the leaf's chain allocates itself. Sets *node to what called the chain. */
static int add_chain(struct pgk_heap *h, uint32_t *node, bool leaf, struct pgk_err *err)
{
    PGK_VEC(uint32_t) chain = {0};
    bool more = true, ok = true;
    while (ok && more && *node) {
        uint32_t frame = h->stacks.nodes.v[*node].frame;
        more = h->frames.v[frame].kind == PGK_FRAME_INLINED;
        ok = h->frames.v[frame].kind == PGK_FRAME_ADDRESS || pgk_vec_push(&chain, frame);
        *node = h->stacks.nodes.v[*node].parent;
    }
    uint32_t site = ok && chain.n ? pgk_stack_add(&h->stacks, chain.v, chain.n) : 0;
    int status = ok && site != PGK_NODE_NONE ? 0 : pgk_fail_nomem(err);
    for (size_t i = leaf; i < chain.n && !status; i++)
        status =
            pgk_heap_add_site(h, PGK_SITE_CALL, h->frames.v[chain.v[i]].ref, site, NULL, 0, err);
    pgk_vec_free(&chain);
    return status;
}

/* Symbolisation adds the functions of addresses later. */
int pgk_heap_own_stack(struct pgk_heap *h, uint32_t stack, struct pgk_err *err)
{
    uint32_t node = stack;
    pgk_heap_own_by_chain(h, stack);
    if (h->frames.v[h->stacks.nodes.v[stack].frame].kind == PGK_FRAME_ADDRESS)
        return 0;
    while (node)
        PGK_TRY(add_chain(h, &node, node == stack, err));
    return 0;
}

static int make_mib(const struct pgk_heap_allocation *a, struct pgk_mib *m, struct pgk_err *err)
{
    *m = (struct pgk_mib){0};
    for (size_t i = 0; i < a->n_values; i++) {
        unsigned id = (unsigned)a->values[i].field;
        if (id >= PGK_MIB_FIELDS || id == PGK_MIB_AccessHistogram)
            return refuse(err, "values", "field", PGK_F("%u", id),
                          "a field of enum pgk_mib_id; a histogram has a place of its own");
        if (pgk_mib_cut((enum pgk_mib_id)id, a->values[i].value) != a->values[i].value)
            return refuse(err, "values", pgk_mib_info((enum pgk_mib_id)id, NULL, NULL),
                          PGK_F("%llu", (unsigned long long)a->values[i].value),
                          "a value that files can hold");
        m->known |= UINT64_C(1) << id;
        m->v[id] = a->values[i].value;
    }
    if (a->n_histogram > UINT32_MAX)
        return refuse(err, "values", "n_histogram", PGK_F("%zu", a->n_histogram),
                      "at most 4294967295 elements");
    m->hist = a->histogram;
    m->hist_count = (uint32_t)a->n_histogram;
    if (m->hist_count) {
        m->known |= UINT64_C(1) << PGK_MIB_AccessHistogramSize;
        m->v[PGK_MIB_AccessHistogramSize] = m->hist_count;
    }
    return 0;
}

int pgk_heap_build_context(struct pgk_heap *heap, const struct pgk_heap_allocation *given,
                           struct pgk_err *err)
{
    struct pgk_heap_allocation a;
    struct pgk_mib mib;
    uint32_t stack;
    PGK_TRY(PGK_OPTS_TAKE(&a, given, err));
    PGK_TRY(check_frames(a.frames, a.n_frames, err));
    PGK_TRY(make_mib(&a, &mib, err));
    PGK_TRY(add_stack(heap, a.frames, a.n_frames, &stack, err));
    PGK_TRY(pgk_heap_add(heap, stack, &mib, err));
    return pgk_heap_own_stack(heap, stack, err);
}

/* A call site is the inline chain of one call, and so no address, nor a caller of the chain. */
static int check_chain(const struct pgk_heap_call *c, struct pgk_err *err)
{
    PGK_TRY(check_frames(c->frames, c->n_frames, err));
    for (size_t i = 0; i < c->n_frames; i++) {
        if (c->frames[i].is_address)
            return refuse(err, PGK_F("frame %zu", i), "is_address", "an address",
                          "a place in a function");
        if (!c->frames[i].inlined && i + 1 < c->n_frames)
            return refuse(err, PGK_F("frame %zu", i), "inlined", "a function that is not inlined",
                          "that only of the last frame: the chain ends with it");
    }
    return 0;
}

int pgk_heap_build_call_site(struct pgk_heap *heap, const struct pgk_heap_call *given,
                             struct pgk_err *err)
{
    struct pgk_heap_call c;
    uint32_t site;
    bool found = false;
    PGK_TRY(PGK_OPTS_TAKE(&c, given, err));
    PGK_TRY(check_chain(&c, err));
    PGK_TRY(add_stack(heap, c.frames, c.n_frames, &site, err));
    for (uint32_t node = site; node; node = heap->stacks.nodes.v[node].parent) {
        uint32_t func = heap->frames.v[heap->stacks.nodes.v[node].frame].ref;
        if (c.guid && heap->funcs.v[func].guid != c.guid)
            continue;
        PGK_TRY(pgk_heap_add_site(heap, PGK_SITE_CALL, func, site, c.callees, c.n_callees, err));
        found = true;
    }
    return found ? 0
                 : refuse(err, "call site", "guid", "none of the functions of the chain",
                          "one of them, or 0 for all");
}
