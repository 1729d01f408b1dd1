/* Tables of the heap model. */
#include "heap_model.h"

#include "hash.h"
#include "heap_shared.h"
#include "opts.h"
#include "path.h"
#include "saturate.h"
#include "type_names.h"
#include "u64_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int pgk_heap_new(struct pgk_heap **heap, struct pgk_err *err)
{
    struct pgk_heap *h = pgk_mem_zalloc(1, sizeof *h);
    if (!h || !pgk_stack_tree_init(&h->stacks)) {
        pgk_mem_free(h);
        return pgk_fail_nomem(err);
    }
    *heap = h;
    return 0;
}

void pgk_heap_close(struct pgk_heap **heap)
{
    struct pgk_heap *h = *heap;
    if (!h)
        return;
    pgk_arena_free(&h->arena);
    pgk_intern_free(&h->strings);
    pgk_vec_free(&h->modules);
    pgk_vec_free(&h->loaded);
    pgk_vec_free(&h->texts);
    pgk_vec_free(&h->funcs);
    pgk_vec_free(&h->frames);
    pgk_stack_tree_free(&h->stacks);
    pgk_vec_free(&h->unnamed);
    pgk_vec_free(&h->near);
    pgk_vec_free(&h->contexts);
    pgk_vec_free(&h->wide);
    pgk_vec_free(&h->hists);
    pgk_vec_free(&h->sites);
    pgk_vec_free(&h->context_of);
    pgk_data_access_free(&h->data);
    pgk_over_time_free(&h->over_time);
    pgk_index_free(&h->func_index);
    pgk_index_free(&h->frame_index);
    pgk_index_free(&h->site_index);
    pgk_vec_free(&h->types);
    pgk_index_free(&h->type_index);
    pgk_mem_free(h);
    *heap = NULL;
}

static bool same_module(const struct pgk_heap_module *a, const struct pgk_heap_module *b)
{
    if (a->build_id || b->build_id)
        return a->build_id == b->build_id && a->by_file_off == b->by_file_off;
    return a->name == b->name && a->text_size == b->text_size && a->text_off == b->text_off &&
           a->by_file_off == b->by_file_off;
}

/* Of several paths the first by bytes: the order in which files were read means nothing. */
static void note_path(const struct pgk_heap *h, uint32_t *known, uint32_t path)
{
    if (path && (!*known || strcmp(pgk_intern_str(&h->strings, path),
                                   pgk_intern_str(&h->strings, *known)) < 0))
        *known = path;
}

void pgk_heap_note_path(struct pgk_heap *h, uint32_t module, uint32_t path)
{
    note_path(h, &h->modules.v[module].path, path);
}

void pgk_heap_note_func_path(struct pgk_heap *h, uint32_t func, uint32_t path)
{
    assert(func < h->funcs.n);
    note_path(h, &h->funcs.v[func].module_path, path);
}

uint32_t pgk_heap_module(struct pgk_heap *h, const struct pgk_heap_module *m)
{
    /* A process has some dozens of modules: a scan is simpler than an index. */
    for (uint32_t i = 0; i < h->modules.n; i++) {
        struct pgk_heap_module *old = &h->modules.v[i];
        if (!same_module(old, m))
            continue;
        if (m->fixed && (!old->fixed || m->bias < old->bias)) {
            old->fixed = true;
            old->bias = m->bias;
        }
        pgk_heap_note_path(h, i, m->path);
        return i;
    }
    struct pgk_heap_module new = *m;
    new.bias = m->fixed ? m->bias : 0; /* of the first process that was read, by chance */
    return pgk_vec_push(&h->modules, new) ? (uint32_t)h->modules.n - 1 : PGK_INDEX_NONE;
}

uint32_t pgk_heap_copy_module(struct pgk_heap *to, const struct pgk_heap *from, uint32_t module)
{
    assert(module < from->modules.n);
    struct pgk_heap_module m = from->modules.v[module];
    m.build_id = pgk_intern(&to->strings, pgk_intern_str(&from->strings, m.build_id),
                            pgk_intern_len(&from->strings, m.build_id));
    m.name = pgk_intern_cstr(&to->strings, pgk_intern_str(&from->strings, m.name));
    m.path = pgk_intern_cstr(&to->strings, pgk_intern_str(&from->strings, m.path));
    return m.build_id == PGK_INDEX_NONE || m.name == PGK_INDEX_NONE || m.path == PGK_INDEX_NONE
               ? PGK_INDEX_NONE
               : pgk_heap_module(to, &m);
}

bool pgk_heap_note_text(struct pgk_heap *h, uint32_t module, uint64_t at, uint64_t size)
{
    assert(module < h->modules.n);
    for (size_t i = 0; i < h->texts.n; i++) {
        const struct pgk_heap_text *t = &h->texts.v[i];
        if (t->module == module && t->at == at && t->size == size)
            return true;
    }
    return pgk_vec_push(&h->texts, (struct pgk_heap_text){module, at, size});
}

bool pgk_heap_note_loaded(struct pgk_heap *h, const char *profile, uint32_t module)
{
    struct pgk_heap_loaded l = {.profile = pgk_intern_cstr(&h->strings, profile),
                                .module = module};
    for (size_t i = h->loaded.n; i-- > 0 && h->loaded.v[i].profile == l.profile;)
        if (h->loaded.v[i].module == module)
            return true;
    return l.profile != PGK_INDEX_NONE && pgk_vec_push(&h->loaded, l);
}

int pgk_heap_name_runs(struct pgk_heap *h, enum pgk_run_names names, struct pgk_err *err)
{
    for (size_t i = 0; i < h->loaded.n && names != PGK_RUN_NAMES_FULL; i++) {
        const char *full = pgk_intern_str(&h->strings, h->loaded.v[i].profile);
        uint32_t name = 0;
        if (names == PGK_RUN_NAMES_BASENAME)
            name = pgk_intern_cstr(&h->strings, pgk_base_name(full));
        if (name == PGK_INDEX_NONE)
            return pgk_fail_nomem(err);
        h->loaded.v[i].profile = name;
    }
    return 0;
}

uint32_t pgk_heap_func(struct pgk_heap *h, uint64_t guid, uint32_t name, uint32_t file,
                       uint32_t decl_line)
{
    uint64_t hash = pgk_hash_pair(guid, (uint64_t)name << 32 | file);
    PGK_INDEX_FOR (&h->func_index, hash, i) {
        struct pgk_heap_func *f = &h->funcs.v[i];
        if (f->guid == guid && f->name == name && f->file == file) {
            if (decl_line && (!f->decl_line || decl_line < f->decl_line))
                f->decl_line = decl_line;
            return i;
        }
    }
    struct pgk_heap_func f = {.guid = guid, .name = name, .file = file, .decl_line = decl_line};
    uint32_t pos = (uint32_t)h->funcs.n;
    return pgk_vec_push(&h->funcs, f) && pgk_index_add(&h->func_index, hash, pos) ? pos
                                                                               : PGK_INDEX_NONE;
}

uint32_t pgk_heap_frame(struct pgk_heap *h, enum pgk_frame_kind kind, uint32_t ref,
                        uint64_t where)
{
    uint64_t hash = pgk_hash_pair(where, (uint64_t)ref << 2 | kind);
    PGK_INDEX_FOR (&h->frame_index, hash, i) {
        const struct pgk_frame *f = &h->frames.v[i];
        if (f->where == where && f->ref == ref && f->kind == kind)
            return i;
    }
    struct pgk_frame f = {.where = where, .ref = ref, .kind = kind,
                          .discriminator = PGK_DISCRIMINATOR_MAX};
    uint32_t pos = (uint32_t)h->frames.n;
    return pgk_vec_push(&h->frames, f) && pgk_index_add(&h->frame_index, hash, pos)
               ? pos
               : PGK_INDEX_NONE;
}

void pgk_heap_note_discriminator(struct pgk_heap *h, uint32_t frame, uint32_t discriminator)
{
    assert(frame < h->frames.n);
    struct pgk_frame *f = &h->frames.v[frame];
    if (discriminator < f->discriminator)
        f->discriminator = discriminator & PGK_DISCRIMINATOR_MAX;
}

uint32_t pgk_heap_context_at(const struct pgk_heap *h, uint32_t stack)
{
    uint32_t context = stack < h->context_of.n ? h->context_of.v[stack] : 0;
    return context ? context - 1 : PGK_INDEX_NONE;
}

int pgk_heap_reserve_contexts(struct pgk_heap *h, size_t stacks, struct pgk_err *err)
{
    if (h->context_of.n >= stacks)
        return 0;
    size_t more = stacks - h->context_of.n;
    if (!pgk_vec_reserve(&h->context_of, more))
        return pgk_fail_nomem(err);
    memset(h->context_of.v + h->context_of.n, 0, more * sizeof *h->context_of.v);
    h->context_of.n += more;
    return 0;
}

int pgk_heap_add(struct pgk_heap *h, uint32_t stack, const struct pgk_mib *mib,
                 struct pgk_err *err)
{
    assert(h->sharing || stack < h->stacks.nodes.n);
    if (h->sharing)
        return pgk_heap_add_shared(h, stack, mib, err);
    uint32_t at = pgk_heap_context_at(h, stack);
    if (at != PGK_INDEX_NONE)
        return pgk_context_add(h, &h->contexts.v[at], mib) ? 0 : pgk_fail_nomem(err);

    PGK_TRY(pgk_heap_reserve_contexts(h, (size_t)stack + 1, err));
    if (!pgk_vec_reserve(&h->contexts, 1) ||
        !pgk_context_begin(h, &h->contexts.v[h->contexts.n], stack, mib))
        return pgk_fail_nomem(err);
    h->context_of.v[stack] = (uint32_t)++h->contexts.n;
    return 0;
}

int pgk_heap_scale(struct pgk_heap *heap, uint64_t times, struct pgk_err *err)
{
    for (size_t i = 0; i < heap->contexts.n; i++) {
        struct pgk_mib m;
        pgk_context_get(heap, &heap->contexts.v[i], &m);
        pgk_mib_scale(&m, times);
        PGK_TRY(pgk_context_set(heap, &heap->contexts.v[i], &m) ? 0 : pgk_fail_nomem(err));
    }
    for (size_t i = 0; i < heap->data.entries.n; i++)
        heap->data.entries.v[i].count =
            pgk_multiply_saturated(heap->data.entries.v[i].count, times);
    heap->over_time.processes = pgk_multiply_saturated(heap->over_time.processes, times);
    pgk_heap_origin_scale(&heap->origin, times);
    return 0;
}

/* The callees of `site` become the sorted union with the given ones. */
static bool add_callees(struct pgk_heap *h, struct pgk_heap_site *site, const uint64_t *callees,
                        size_t n)
{
    if (!n)
        return true;
    uint64_t *all = pgk_arena_alloc(&h->arena, site->n_callees + n, sizeof *all);
    if (!all)
        return false;
    if (site->n_callees)
        memcpy(all, site->callees, site->n_callees * sizeof *all);
    memcpy(all + site->n_callees, callees, n * sizeof *all);
    n += site->n_callees;
    site->callees = all;
    site->n_callees = (uint32_t)pgk_u64_set(all, n);
    return true;
}

int pgk_heap_add_site(struct pgk_heap *h, enum pgk_site_kind kind, uint32_t func, uint32_t stack,
                      const uint64_t *callees, size_t n_callees, struct pgk_err *err)
{
    assert(func < h->funcs.n && (h->sharing || stack < h->stacks.nodes.n));
    uint64_t hash = pgk_hash_pair((uint64_t)func << 32 | stack, kind);
    PGK_INDEX_FOR (&h->site_index, hash, i) {
        struct pgk_heap_site *s = &h->sites.v[i];
        if (s->kind == kind && s->func == func && s->stack == stack)
            return add_callees(h, s, callees, n_callees) ? 0 : pgk_fail_nomem(err);
    }
    struct pgk_heap_site s = {.kind = kind, .func = func, .stack = stack};
    if (!add_callees(h, &s, callees, n_callees) || !pgk_vec_push(&h->sites, s) ||
        !pgk_index_add(&h->site_index, hash, (uint32_t)h->sites.n - 1))
        return pgk_fail_nomem(err);
    return 0;
}

void pgk_heap_add_origin(struct pgk_heap *h, const struct pgk_heap_origin *origin)
{
    pgk_heap_hold_names(h);
    pgk_heap_origin_merge(&h->origin, origin);
    pgk_heap_let_names(h);
}

int pgk_heap_add_whole(struct pgk_heap *to, const struct pgk_heap *from, const uint32_t *stacks,
                       struct pgk_err *err)
{
    struct pgk_data_store data = pgk_heap_data_store(to);
    pgk_heap_origin_merge(&to->origin, &from->origin);
    return pgk_data_access_merge(&data, &from->data, &from->strings) &&
                   pgk_over_time_merge(&to->over_time, &from->over_time, stacks) &&
                   pgk_heap_add_types(to, from) &&
                   pgk_recorded_merge(&to->recorded, &to->strings, &from->recorded,
                                      &from->strings)
               ? 0
               : pgk_fail_nomem(err);
}

void pgk_heap_own_by_chain(struct pgk_heap *h, uint32_t stack)
{
    if (h->sharing)
        pgk_heap_own_by_chain_shared(h, stack);
    else
        h->contexts.v[pgk_heap_context_at(h, stack)].owned_by_chain = true;
}

size_t pgk_heap_chain(const struct pgk_heap *h, uint32_t stack, uint32_t *funcs, size_t max)
{
    assert(h->sharing || stack < h->stacks.nodes.n);
    size_t n = 0;
    for (uint32_t node = stack; node; node = h->stacks.nodes.v[node].parent) {
        const struct pgk_frame *f = &h->frames.v[h->stacks.nodes.v[node].frame];
        size_t i = 0, noted = n < max ? n : max;
        while (i < noted && funcs[i] != f->ref)
            i++;
        if (i == noted && n++ < max)
            funcs[i] = f->ref;
        if (f->kind != PGK_FRAME_INLINED)
            break;
    }
    return n;
}

enum { CHAIN_MAX = 64 }; /* functions of a chain that are looked at in one go */

static bool add_chain_members(const struct pgk_heap *h, uint32_t context,
                              pgk_heap_member_vec *members)
{
    uint32_t some[CHAIN_MAX], *funcs = some;
    size_t n = pgk_heap_chain(h, h->contexts.v[context].stack, some, CHAIN_MAX);
    if (n > CHAIN_MAX) {
        /* Functions past the first ones may have been counted twice: n is an upper bound. */
        funcs = pgk_mem_alloc(n, sizeof *funcs);
        if (!funcs)
            return false;
        n = pgk_heap_chain(h, h->contexts.v[context].stack, funcs, n);
    }
    bool ok = pgk_vec_reserve(members, n);
    for (size_t i = 0; ok && i < n; i++)
        members->v[members->n++] = (struct pgk_heap_member){funcs[i], context};
    if (funcs != some)
        pgk_mem_free(funcs);
    return ok;
}

bool pgk_heap_chain_has(const struct pgk_heap *h, uint32_t stack, uint32_t func)
{
    for (uint32_t node = stack; node; node = h->stacks.nodes.v[node].parent) {
        const struct pgk_frame *f = &h->frames.v[h->stacks.nodes.v[node].frame];
        if (f->ref == func)
            return true;
        if (f->kind != PGK_FRAME_INLINED)
            break;
    }
    return false;
}

bool pgk_heap_members(const struct pgk_heap *h, pgk_heap_member_vec *members)
{
    for (uint32_t i = 0; i < h->contexts.n; i++)
        if (h->contexts.v[i].owned_by_chain && !add_chain_members(h, i, members))
            return false;
    for (uint32_t i = 0; i < h->sites.n; i++) {
        const struct pgk_heap_site *s = &h->sites.v[i];
        struct pgk_heap_member m = {s->func, PGK_MEMBER_SITE | i};
        if (s->kind == PGK_SITE_ALLOC) {
            m.ref = pgk_heap_context_at(h, s->stack);
            if (h->contexts.v[m.ref].owned_by_chain && pgk_heap_chain_has(h, s->stack, s->func))
                continue; /* said already */
        }
        if (!pgk_vec_push(members, m))
            return false;
    }
    return true;
}

size_t pgk_heap_contexts(const struct pgk_heap *heap)
{
    return heap->contexts.n;
}

const struct pgk_mib *pgk_heap_mib(const struct pgk_heap *heap, size_t context,
                                   struct pgk_mib *space)
{
    assert(context < heap->contexts.n);
    pgk_context_get(heap, &heap->contexts.v[context], space);
    return space;
}

size_t pgk_heap_callees(const struct pgk_heap *heap)
{
    size_t n = 0;
    for (size_t i = 0; i < heap->sites.n; i++)
        n += heap->sites.v[i].n_callees;
    return n;
}

bool pgk_heap_has_data_access(const struct pgk_heap *heap)
{
    return pgk_data_access_any(&heap->data);
}

bool pgk_heap_needs_binaries(const struct pgk_heap *heap)
{
    for (size_t i = 0; i < heap->frames.n; i++)
        if (heap->frames.v[i].kind == PGK_FRAME_ADDRESS)
            return true;
    return false;
}

int pgk_heap_check_writable(const struct pgk_heap *h, const char *path, const char *format,
                            struct pgk_err *err)
{
    if (pgk_heap_needs_binaries(h))
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = format,
                        .record = "contexts", .found = "frames that are addresses",
                        .expected = "frames that are places in functions",
                        .hint = "give the profiled binary with -b");
    if (!h->contexts.n && !h->sites.n && !pgk_data_access_any(&h->data))
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .format = format,
                        .record = "contexts", .found = "none",
                        .expected = "at least one, or a call site",
                        .hint = "the inputs hold no heap data");
    return 0;
}

bool pgk_heap_lacks_accesses(const struct pgk_heap *heap)
{
    for (size_t i = 0; i < heap->contexts.n; i++)
        if (heap->contexts.v[i].known >> PGK_MIB_TotalAccessCount & 1)
            return false;
    return true;
}

size_t pgk_heap_cold_by_default(const struct pgk_heap *heap)
{
    const uint64_t density = UINT64_C(1) << PGK_MIB_TotalLifetimeAccessDensity;
    size_t n = 0;
    for (size_t i = 0; i < heap->contexts.n; i++)
        n += !(heap->contexts.v[i].known & density) &&
             pgk_mib_is_cold(pgk_heap_mib(heap, i, PGK_MIB_SPACE));
    return n;
}

static const char *file_of(const struct pgk_heap *h, uint32_t func)
{
    return pgk_intern_str(&h->strings, h->funcs.v[func].file);
}

static int by_guid_and_file(const void *a, const void *b, void *ctx)
{
    const struct pgk_heap *h = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uint64_t x = h->funcs.v[i].guid, y = h->funcs.v[j].guid;
    return x != y ? (x < y ? -1 : 1) : strcmp(file_of(h, i), file_of(h, j));
}

/* Reported in an order that does not depend on which profile was read first. */
int pgk_heap_same_named(const struct pgk_heap *heap, struct pgk_heap_same_named *found,
                        struct pgk_err *err)
{
    struct pgk_heap_same_named f = {0};
    uint32_t *named = pgk_mem_alloc(heap->funcs.n + 1, sizeof *named);
    size_t n = 0;
    if (!named)
        return pgk_fail_nomem(err);
    for (uint32_t i = 0; i < heap->funcs.n; i++)
        if (heap->funcs.v[i].name)
            named[n++] = i;
    qsort_r(named, n, sizeof *named, by_guid_and_file, (void *)(uintptr_t)heap);
    for (size_t i = 1; i < n; i++) {
        const struct pgk_heap_func *func = &heap->funcs.v[named[i]];
        if (func->guid != heap->funcs.v[named[i - 1]].guid || f.functions++)
            continue;
        f.name = pgk_intern_str(&heap->strings, func->name);
        f.files[0] = file_of(heap, named[i - 1]);
        f.files[1] = file_of(heap, named[i]);
    }
    pgk_mem_free(named);
    PGK_RESULT_GIVE(found, &f);
    return 0;
}

bool pgk_heap_note_near(struct pgk_heap *h, uint32_t frame, uint32_t symbol)
{
    while (h->near.n <= frame)
        if (!pgk_vec_push(&h->near, 0))
            return false;
    h->near.v[frame] = symbol;
    return true;
}

static void describe_frame(const struct pgk_heap *h, uint32_t frame, struct pgk_heap_frame *out)
{
    const struct pgk_frame *f = &h->frames.v[frame];
    *out = (struct pgk_heap_frame){.is_address = f->kind == PGK_FRAME_ADDRESS,
                                   .inlined = f->kind == PGK_FRAME_INLINED,
                                   .by_symbol = f->kind == PGK_FRAME_SYMBOL,
                                   .function = "", .file = "", .module_path = "",
                                   .near_symbol = ""};
    if (out->is_address) {
        out->address = f->where;
        if (f->ref != PGK_INDEX_NONE) {
            uint32_t id = h->modules.v[f->ref].build_id;
            out->build_id = (const uint8_t *)pgk_intern_str(&h->strings, id);
            out->build_id_size = pgk_intern_len(&h->strings, id);
            out->module_path = pgk_intern_str(&h->strings, h->modules.v[f->ref].path);
        }
        if (frame < h->near.n)
            out->near_symbol = pgk_intern_str(&h->strings, h->near.v[frame]);
        return;
    }
    const struct pgk_heap_func *fn = &h->funcs.v[f->ref];
    out->guid = fn->guid;
    out->function = pgk_intern_str(&h->strings, fn->name);
    out->file = pgk_intern_str(&h->strings, fn->file);
    out->module_path = pgk_intern_str(&h->strings, fn->module_path);
    out->decl_line = fn->decl_line;
    out->line_offset = (uint32_t)(f->where >> 32);
    out->column = (uint32_t)f->where;
    if (f->discriminator != PGK_DISCRIMINATOR_MAX)
        out->discriminator = f->discriminator;
}

static size_t describe_stack(const struct pgk_heap *h, uint32_t stack,
                             struct pgk_heap_frame *frames, size_t max)
{
    size_t n = 0;
    for (uint32_t node = stack; node; node = h->stacks.nodes.v[node].parent, n++)
        if (n < max)
            describe_frame(h, h->stacks.nodes.v[node].frame, &frames[n]);
    return n;
}

size_t pgk_heap_stack(const struct pgk_heap *heap, size_t context,
                      struct pgk_heap_frame *frames, size_t max)
{
    assert(context < heap->contexts.n);
    return describe_stack(heap, heap->contexts.v[context].stack, frames, max);
}

/* Records: members by GUID, contexts first, in order of arrival. */

static int compare_members(const void *a, const void *b, void *ctx)
{
    const struct pgk_heap *h = ctx;
    const struct pgk_heap_member *s = a, *t = b;
    uint64_t g = h->funcs.v[s->func].guid, k = h->funcs.v[t->func].guid;
    if (g != k)
        return g < k ? -1 : 1;
    return s->ref < t->ref ? -1 : s->ref > t->ref;
}

struct record_buffers {
    PGK_VEC(size_t) allocs;
    PGK_VEC(struct pgk_heap_call_site) calls;
    struct pgk_arena frames;
};

static int fill_record(const struct pgk_heap *h, const struct pgk_heap_member *members, size_t n,
                       struct record_buffers *b)
{
    b->allocs.n = b->calls.n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(members[i].ref & PGK_MEMBER_SITE)) {
            /* Functions of one GUID are one record. */
            bool again = i && members[i].ref == members[i - 1].ref;
            if (!again && !pgk_vec_push(&b->allocs, members[i].ref))
                return PGK_E_NOMEM;
            continue;
        }
        const struct pgk_heap_site *s = &h->sites.v[members[i].ref & ~PGK_MEMBER_SITE];
        size_t depth = describe_stack(h, s->stack, NULL, 0);
        struct pgk_heap_frame *frames = pgk_arena_alloc(&b->frames, depth, sizeof *frames);
        if (!frames)
            return PGK_E_NOMEM;
        describe_stack(h, s->stack, frames, depth);
        struct pgk_heap_call_site c = {frames, depth, s->callees, s->n_callees};
        if (!pgk_vec_push(&b->calls, c))
            return PGK_E_NOMEM;
    }
    return 0;
}

int pgk_heap_records(const struct pgk_heap *heap, pgk_heap_record_fn *fn, void *ctx)
{
    pgk_heap_member_vec m = {0};
    int status = pgk_heap_members(heap, &m) ? 0 : PGK_E_NOMEM;
    if (m.n)
        qsort_r(m.v, m.n, sizeof *m.v, compare_members, (void *)heap);

    struct record_buffers b = {0};
    for (size_t first = 0, next; first < m.n && !status; first = next) {
        const struct pgk_heap_func *f = &heap->funcs.v[m.v[first].func];
        for (next = first + 1; next < m.n; next++)
            if (heap->funcs.v[m.v[next].func].guid != f->guid)
                break;
        status = fill_record(heap, m.v + first, next - first, &b);
        if (!status)
            status = fn(ctx, &(struct pgk_heap_record){
                .guid = f->guid, .function = pgk_intern_str(&heap->strings, f->name),
                .alloc_sites = b.allocs.v, .n_alloc_sites = b.allocs.n,
                .call_sites = b.calls.v, .n_call_sites = b.calls.n});
        pgk_arena_free(&b.frames);
    }
    pgk_vec_free(&b.allocs);
    pgk_vec_free(&b.calls);
    pgk_vec_free(&m);
    return status;
}
