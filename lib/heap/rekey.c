/* Copying a heap model into another under a map of frames. */
#include "rekey.h"

#include "hash.h"
#include "heap_shared.h"

#include <assert.h>

static uint32_t copy_string(struct pgk_heap *to, const struct pgk_heap *from, uint32_t id)
{
    return pgk_intern(&to->strings, pgk_intern_str(&from->strings, id),
                      pgk_intern_len(&from->strings, id));
}

/* Without `names`, functions keep only what LLVM's files hold of them: their GUIDs. */
static int begin(struct pgk_rekey *k, struct pgk_heap *to, const struct pgk_heap *from,
                 bool names, struct pgk_err *err)
{
    assert(to != from);
    *k = (struct pgk_rekey){.to = to, .from = from,
                            .place_mask = names ? UINT64_MAX : pgk_frame_place(PGK_LLVM_LINE_MASK,
                                                                               UINT32_MAX)};
    k->func_map = pgk_mem_alloc(from->funcs.n + 1, sizeof *k->func_map);
    if (!k->func_map || !pgk_vec_push(&k->map.first, 0))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < from->funcs.n; i++) {
        const struct pgk_heap_func *f = &from->funcs.v[i];
        uint32_t name = names ? copy_string(to, from, f->name) : 0;
        uint32_t file = names ? copy_string(to, from, f->file) : 0;
        uint32_t path = names ? copy_string(to, from, f->module_path) : 0;
        if (name == PGK_INDEX_NONE || file == PGK_INDEX_NONE || path == PGK_INDEX_NONE)
            return pgk_fail_nomem(err);
        k->func_map[i] = pgk_heap_func(to, f->guid, name, file, names ? f->decl_line : 0);
        if (k->func_map[i] == PGK_INDEX_NONE)
            return pgk_fail_nomem(err);
        pgk_heap_note_func_path(to, k->func_map[i], path);
    }
    return 0;
}

int pgk_rekey_begin(struct pgk_rekey *k, struct pgk_heap *to, const struct pgk_heap *from,
                    struct pgk_err *err)
{
    return begin(k, to, from, true, err);
}

void pgk_rekey_end(struct pgk_rekey *k)
{
    pgk_vec_free(&k->map.first);
    pgk_vec_free(&k->map.frames);
    pgk_mem_free(k->func_map);
    pgk_mem_free(k->node_map);
}

int pgk_rekey_replace(struct pgk_rekey *k, const uint32_t *frames, size_t n, struct pgk_err *err)
{
    assert(k->map.first.n <= k->from->frames.n); /* one answer for each frame */
    if (!pgk_vec_reserve(&k->map.frames, n))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        k->map.frames.v[k->map.frames.n++] = frames[i];
    return pgk_vec_push(&k->map.first, (uint32_t)k->map.frames.n) ? 0 : pgk_fail_nomem(err);
}

int pgk_rekey_keep(struct pgk_rekey *k, struct pgk_err *err)
{
    assert(k->map.first.n <= k->from->frames.n);
    const struct pgk_frame *f = &k->from->frames.v[k->map.first.n - 1];
    uint32_t ref = f->ref;
    if (f->kind != PGK_FRAME_ADDRESS) {
        ref = k->func_map[ref];
    } else if (ref != PGK_INDEX_NONE) {
        ref = pgk_heap_copy_module(k->to, k->from, ref);
        if (ref == PGK_INDEX_NONE)
            return pgk_fail_nomem(err);
    }
    uint64_t where = f->kind == PGK_FRAME_ADDRESS ? f->where : f->where & k->place_mask;
    uint32_t frame = pgk_heap_frame(k->to, (enum pgk_frame_kind)f->kind, ref, where);
    if (frame == PGK_INDEX_NONE)
        return pgk_fail_nomem(err);
    pgk_heap_note_discriminator(k->to, frame, f->discriminator);
    const size_t at = k->map.first.n - 1;
    const uint32_t near = at < k->from->near.n && k->from->near.v[at]
                              ? copy_string(k->to, k->from, k->from->near.v[at])
                              : 0;
    if (near == PGK_INDEX_NONE || (near && !pgk_heap_note_near(k->to, frame, near)))
        return pgk_fail_nomem(err);
    return pgk_rekey_replace(k, &frame, 1, err);
}

static bool push_nodes(struct pgk_rekey *k, size_t first_node, size_t end_node)
{
    for (size_t i = first_node; i < end_node; i++) {
        const struct pgk_stack_node *node = &k->from->stacks.nodes.v[i];
        uint32_t first = k->map.first.v[node->frame], end = k->map.first.v[node->frame + 1];
        uint32_t to = k->node_map[node->parent];
        while (end > first)
            if (!pgk_heap_push(k->to, to, &k->map.frames.v[--end], 1, &to))
                return false;
        k->node_map[i] = to;
    }
    return true;
}

enum { AT_ONCE = 1024 }; /* for which capacity is claimed in a shared model */

static int push_shared(struct pgk_rekey *k, struct pgk_err *err)
{
    const struct pgk_stack_node *nodes = k->from->stacks.nodes.v;
    for (size_t first = 1, end = 1, n = k->from->stacks.nodes.n; first < n; first = end) {
        size_t claim = 0;
        for (; end < n && end - first < AT_ONCE; end++)
            claim += k->map.first.v[nodes[end].frame + 1] - k->map.first.v[nodes[end].frame];
        PGK_TRY(pgk_heap_claim(k->to, claim, 0, err));
        bool ok = push_nodes(k, first, end);
        pgk_heap_release(k->to, claim, 0);
        if (!ok)
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_rekey_stacks(struct pgk_rekey *k, struct pgk_err *err)
{
    assert(k->map.first.n == k->from->frames.n + 1 && !k->node_map);
    const struct pgk_heap *from = k->from;
    k->node_map = pgk_mem_alloc(from->stacks.nodes.n, sizeof *k->node_map);
    if (!k->node_map)
        return pgk_fail_nomem(err);
    k->node_map[0] = 0;
    if (k->to->sharing)
        return push_shared(k, err);
    if (k->to->stacks.nodes.n == 1)
        return pgk_stack_expand(&k->to->stacks, &from->stacks, &k->map, k->node_map)
                   ? 0
                   : pgk_fail_nomem(err);
    if (!pgk_stack_reserve(&k->to->stacks, k->to->stacks.nodes.n + from->stacks.nodes.n))
        return pgk_fail_nomem(err);
    return push_nodes(k, 1, from->stacks.nodes.n) ? 0 : pgk_fail_nomem(err);
}

/* `h`: whose values it has. */
static void drop_context(struct pgk_rekey *k, const struct pgk_heap *h,
                         const struct pgk_heap_context *c)
{
    k->contexts_dropped++;
    k->bytes_dropped += pgk_context_value(h, c, PGK_MIB_TotalSize);
}

static void look_ahead(const struct pgk_rekey *k, size_t i)
{
    enum { FAR = 16, NEAR = 8 };
    const struct pgk_heap *from = k->from;
    if (i + FAR < from->contexts.n)
        pgk_heap_prefetch_position(k->to, k->node_map[from->contexts.v[i + FAR].stack]);
    if (i + NEAR < from->contexts.n)
        pgk_heap_prefetch_context(k->to, k->node_map[from->contexts.v[i + NEAR].stack]);
}

static int copy_context_range(struct pgk_rekey *k, size_t first, size_t end, struct pgk_err *err)
{
    const struct pgk_heap *from = k->from;
    for (size_t i = first; i < end; i++) {
        const struct pgk_heap_context *c = &from->contexts.v[i];
        look_ahead(k, i);
        if (!k->node_map[c->stack]) {
            drop_context(k, from, c);
            continue;
        }
        PGK_TRY(pgk_heap_add(k->to, k->node_map[c->stack],
                             pgk_heap_mib(from, i, PGK_MIB_SPACE), err));
        if (c->owned_by_chain)
            pgk_heap_own_by_chain(k->to, k->node_map[c->stack]);
    }
    return 0;
}

static int copy_contexts(struct pgk_rekey *k, struct pgk_err *err)
{
    size_t n = k->from->contexts.n;
    if (!k->to->sharing && !pgk_vec_reserve(&k->to->contexts, n))
        return pgk_fail_nomem(err);
    for (size_t first = 0, end; first < n; first = end) {
        end = n - first < AT_ONCE ? n : first + AT_ONCE;
        PGK_TRY(pgk_heap_claim(k->to, 0, end - first, err));
        int status = copy_context_range(k, first, end, err);
        pgk_heap_release(k->to, 0, end - first);
        PGK_TRY(status);
    }
    return 0;
}

static int copy_sites(struct pgk_rekey *k, struct pgk_err *err)
{
    const struct pgk_heap *from = k->from;
    for (size_t i = 0; i < from->sites.n; i++) {
        const struct pgk_heap_site *s = &from->sites.v[i];
        PGK_TRY(pgk_heap_add_site(k->to, (enum pgk_site_kind)s->kind, k->func_map[s->func],
                                  k->node_map[s->stack], s->callees, s->n_callees, err));
    }
    return pgk_heap_add_whole(k->to, from, k->node_map, err);
}

/* The old contexts become the new ones where they are; histograms stay where they are, too. */
static int move_contexts(struct pgk_rekey *k, struct pgk_err *err)
{
    enum { FAR = 24, NEAR = 12 };
    struct pgk_heap *to = k->to, *from = k->taken;
    PGK_TRY(pgk_heap_reserve_contexts(to, to->stacks.nodes.n, err));
    to->arena = from->arena;
    from->arena = (struct pgk_arena){0};
    memcpy(&to->wide, &from->wide, sizeof to->wide);
    memset(&from->wide, 0, sizeof from->wide);
    memcpy(&to->hists, &from->hists, sizeof to->hists);
    memset(&from->hists, 0, sizeof from->hists);
    pgk_vec_free(&to->contexts);
    to->contexts.v = from->contexts.v;
    to->contexts.cap = from->contexts.cap;
    size_t n = from->contexts.n;
    memset(&from->contexts, 0, sizeof from->contexts);
    for (size_t i = 0; i < n; i++) {
        struct pgk_heap_context *c = &to->contexts.v[i];
        if (i + FAR < n)
            __builtin_prefetch(&k->node_map[c[FAR].stack]);
        if (i + NEAR < n)
            pgk_heap_prefetch_position(to, k->node_map[c[NEAR].stack]);
        uint32_t stack = k->node_map[c->stack], *place = &to->context_of.v[stack];
        if (!stack) {
            drop_context(k, to, c);
        } else if (*place) {
            struct pgk_heap_context *same = &to->contexts.v[*place - 1];
            same->owned_by_chain |= c->owned_by_chain;
            struct pgk_mib mib;
            pgk_context_get(to, c, &mib);
            if (!pgk_context_add(to, same, &mib))
                return pgk_fail_nomem(err);
        } else {
            c->stack = stack;
            to->contexts.v[to->contexts.n++] = *c;
            *place = (uint32_t)to->contexts.n;
        }
    }
    return 0;
}

int pgk_rekey_finish(struct pgk_rekey *k, struct pgk_err *err)
{
    PGK_TRY(k->taken ? move_contexts(k, err) : copy_contexts(k, err));
    pgk_heap_hold_names(k->to);
    int status = copy_sites(k, err);
    pgk_heap_let_names(k->to);
    return status;
}

int pgk_rekey_run(struct pgk_rekey *k, struct pgk_err *err)
{
    PGK_TRY(pgk_rekey_stacks(k, err));
    return pgk_rekey_finish(k, err);
}

static int keep_all(struct pgk_rekey *k, struct pgk_heap *into, const struct pgk_heap *from,
                    bool names, struct pgk_err *err)
{
    PGK_TRY(begin(k, into, from, names, err));
    for (size_t i = 0; i < from->frames.n; i++)
        PGK_TRY(pgk_rekey_keep(k, err));
    return 0;
}

static int copy_all(struct pgk_heap *into, const struct pgk_heap *from, bool names,
                    struct pgk_err *err)
{
    struct pgk_rekey k;
    pgk_heap_hold_names(into);
    int status = keep_all(&k, into, from, names, err);
    pgk_heap_let_names(into);
    if (!status)
        status = pgk_rekey_run(&k, err);
    pgk_rekey_end(&k);
    return status;
}

static int copy_loaded(struct pgk_heap *into, const struct pgk_heap *from, struct pgk_err *err)
{
    for (size_t i = 0; i < from->loaded.n; i++) {
        const struct pgk_heap_loaded *l = &from->loaded.v[i];
        uint32_t module = pgk_heap_copy_module(into, from, l->module);
        if (module == PGK_INDEX_NONE ||
            !pgk_heap_note_loaded(into, pgk_intern_str(&from->strings, l->profile), module))
            return pgk_fail_nomem(err);
    }
    for (size_t i = 0; i < from->texts.n; i++) {
        const struct pgk_heap_text *t = &from->texts.v[i];
        uint32_t module = pgk_heap_copy_module(into, from, t->module);
        if (module == PGK_INDEX_NONE || !pgk_heap_note_text(into, module, t->at, t->size))
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_heap_merge(struct pgk_heap *into, const struct pgk_heap *from, struct pgk_err *err)
{
    pgk_heap_hold_names(into);
    int status = copy_loaded(into, from, err);
    pgk_heap_let_names(into);
    PGK_TRY(status);
    return copy_all(into, from, true, err);
}

int pgk_heap_copy(struct pgk_heap **into, const struct pgk_heap *from, struct pgk_err *err)
{
    struct pgk_heap *copy;
    PGK_TRY(pgk_heap_new(&copy, err));
    int status = pgk_heap_merge(copy, from, err);
    if (status)
        pgk_heap_close(&copy);
    else
        *into = copy;
    return status;
}

/* As files hold it. */
static uint64_t llvm_place(const struct pgk_frame *f)
{
    return f->where & pgk_frame_place(PGK_LLVM_LINE_MASK, UINT32_MAX);
}

static bool same_for_llvm(const struct pgk_heap *h, const struct pgk_frame *a,
                          const struct pgk_frame *b)
{
    return llvm_place(a) == llvm_place(b) && a->kind == b->kind &&
           h->funcs.v[a->ref].guid == h->funcs.v[b->ref].guid;
}

/* Are all frames as LLVM's files hold them, and no two of them alike? */
static int check_frames(const struct pgk_heap *h, bool *as_llvm, struct pgk_err *err)
{
    struct pgk_index seen = {0};
    bool ok = true;
    *as_llvm = true;
    for (uint32_t i = 0; i < h->frames.n && ok && *as_llvm; i++) {
        const struct pgk_frame *f = &h->frames.v[i];
        *as_llvm = f->where == llvm_place(f);
        uint64_t hash = pgk_hash_pair(h->funcs.v[f->ref].guid, f->where << 1 ^ f->kind);
        PGK_INDEX_FOR (&seen, hash, j)
            *as_llvm &= !same_for_llvm(h, f, &h->frames.v[j]);
        ok = pgk_index_add(&seen, hash, i);
    }
    pgk_index_free(&seen);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_heap_for_llvm(struct pgk_heap **plain, const struct pgk_heap *from, struct pgk_err *err)
{
    bool as_llvm;
    struct pgk_heap *to;
    PGK_TRY(check_frames(from, &as_llvm, err));
    if (as_llvm)
        return 0;
    PGK_TRY(pgk_heap_new(&to, err));
    int status = copy_all(to, from, false, err);
    if (status)
        pgk_heap_close(&to);
    else
        *plain = to;
    return status;
}
