/* Writer of heap profiles with source positions. docs/formats/heap-paths.md
 *
 * Everything gets a number by what it is, not by when it came into the model: functions by GUID,
 * name and file; frames by function and place; stacks in the order of a walk through their tree. */
#include "heap_paths.h"
#include "opts.h"
#include "over_time_part.h"
#include "type_names.h"

#include <inttypes.h>
#include <stdlib.h>

struct path_node {
    uint32_t parent, name;
};

struct writer {
    const struct pgk_heap *h;
    struct pgk_intern strings;  /* of the file */
    PGK_VEC(struct path_node) paths; /* node i + 1; 0 is no path */
    uint32_t *path_of;          /* by string id of the model: path node */
    uint32_t *funcs, *func_at;  /* in order; by function its number */
    uint32_t *frames, *frame_at;
    uint32_t *nodes, *node_at;  /* in order, without the root; by node its number, 0: not in use */
    size_t n_frames, n_nodes;
    pgk_type_name_vec types;
    uint64_t plain_bytes;
    struct pgk_sink *sections[PGK_PATHS_SECTIONS_END];
};

static int order_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Ways of sorting. */

static int compare_funcs(const void *a, const void *b, void *ctx)
{
    const struct pgk_heap *h = ctx;
    const struct pgk_heap_func *f = &h->funcs.v[*(const uint32_t *)a],
                               *g = &h->funcs.v[*(const uint32_t *)b];
    int order = order_u64(f->guid, g->guid);
    if (!order)
        order = strcmp(pgk_intern_str(&h->strings, f->name), pgk_intern_str(&h->strings, g->name));
    return order ? order
                 : strcmp(pgk_intern_str(&h->strings, f->file),
                          pgk_intern_str(&h->strings, g->file));
}

static int compare_frames(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_frame *f = &w->h->frames.v[*(const uint32_t *)a],
                           *g = &w->h->frames.v[*(const uint32_t *)b];
    int order = order_u64(w->func_at[f->ref], w->func_at[g->ref]);
    if (!order)
        order = order_u64(f->where, g->where);
    return order ? order : order_u64(f->kind, g->kind);
}

/* Children of one node stand together, by frame. */
static int compare_nodes(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_stack_node *m = &w->h->stacks.nodes.v[*(const uint32_t *)a],
                                *n = &w->h->stacks.nodes.v[*(const uint32_t *)b];
    int order = order_u64(m->parent, n->parent);
    return order ? order : order_u64(w->frame_at[m->frame], w->frame_at[n->frame]);
}

static int compare_files(const void *a, const void *b, void *ctx)
{
    const struct pgk_heap *h = ctx;
    return strcmp(pgk_intern_str(&h->strings, *(const uint32_t *)a),
                  pgk_intern_str(&h->strings, *(const uint32_t *)b));
}

/* The path tree. */

/* Adds the nodes of a path behind those it shares with the one before, whose nodes `last` has. */
static bool add_path(struct writer *w, const char *path, const char *before, uint32_t *depth,
                     uint32_t *last)
{
    size_t shared = 0, common = 0;
    uint32_t kept = 0;
    while (path[common] && path[common] == before[common])
        if (path[common++] == '/') {
            shared = common;
            kept++;
        }
    *depth = kept;
    for (const char *at = path + shared;; at++) {
        size_t len = strcspn(at, "/");
        struct path_node node = {*depth ? last[*depth - 1] : 0, pgk_intern(&w->strings, at, len)};
        if (node.name == PGK_INDEX_NONE || !pgk_vec_push(&w->paths, node))
            return false;
        last[(*depth)++] = (uint32_t)w->paths.n;
        at += len;
        if (!*at)
            return true;
    }
}

/* Enters the files of all functions in sorted order, so that a path shares its folders with the one
 * before it; false when out of memory. */
static bool build_paths(struct writer *w)
{
    const struct pgk_intern *strings = &w->h->strings;
    PGK_VEC(uint32_t) files = {0};
    size_t longest = 1;
    w->path_of = pgk_mem_zalloc(strings->strs.n + 1, sizeof *w->path_of);
    bool ok = w->path_of != NULL;
    for (size_t i = 0; i < w->h->funcs.n && ok; i++) {
        uint32_t file = w->h->funcs.v[i].file;
        if (!file || w->path_of[file])
            continue;
        w->path_of[file] = 1;
        ok = pgk_vec_push(&files, file);
        longest = pgk_intern_len(strings, file) > longest ? pgk_intern_len(strings, file) : longest;
    }
    if (files.n)
        qsort_r(files.v, files.n, sizeof *files.v, compare_files, (void *)(uintptr_t)w->h);
    uint32_t *last = pgk_mem_alloc(longest + 1, sizeof *last), depth = 0;
    const char *before = "";
    ok = ok && last;
    for (size_t i = 0; i < files.n && ok; i++) {
        const char *path = pgk_intern_str(strings, files.v[i]);
        ok = add_path(w, path, before, &depth, last);
        w->path_of[files.v[i]] = (uint32_t)w->paths.n;
        before = path;
    }
    pgk_mem_free(last);
    pgk_vec_free(&files);
    return ok;
}

/* Numbers. */

static bool number_functions(struct writer *w)
{
    size_t n = w->h->funcs.n;
    w->funcs = pgk_mem_alloc(n + 1, sizeof *w->funcs);
    w->func_at = pgk_mem_alloc(n + 1, sizeof *w->func_at);
    if (!w->funcs || !w->func_at)
        return false;
    for (uint32_t i = 0; i < n; i++)
        w->funcs[i] = i;
    if (n)
        qsort_r(w->funcs, n, sizeof *w->funcs, compare_funcs, (void *)(uintptr_t)w->h);
    for (uint32_t i = 0; i < n; i++)
        w->func_at[w->funcs[i]] = i;
    return true;
}

static void use_stack(struct writer *w, uint32_t stack)
{
    for (uint32_t i = stack; i && !w->node_at[i]; i = w->h->stacks.nodes.v[i].parent)
        w->node_at[i] = 1;
}

static bool number_frames(struct writer *w)
{
    const struct pgk_heap *h = w->h;
    w->node_at = pgk_mem_zalloc(h->stacks.nodes.n + 1, sizeof *w->node_at);
    w->frame_at = pgk_mem_zalloc(h->frames.n + 1, sizeof *w->frame_at);
    w->frames = pgk_mem_alloc(h->frames.n + 1, sizeof *w->frames);
    if (!w->node_at || !w->frame_at || !w->frames)
        return false;
    for (size_t i = 0; i < h->contexts.n; i++)
        use_stack(w, h->contexts.v[i].stack);
    for (size_t i = 0; i < h->sites.n; i++)
        use_stack(w, h->sites.v[i].stack);
    for (size_t i = 1; i < h->stacks.nodes.n; i++)
        w->frame_at[h->stacks.nodes.v[i].frame] |= w->node_at[i];
    for (uint32_t i = 0; i < h->frames.n; i++)
        if (w->frame_at[i])
            w->frames[w->n_frames++] = i;
    if (w->n_frames)
        qsort_r(w->frames, w->n_frames, sizeof *w->frames, compare_frames, w);
    for (uint32_t i = 0; i < w->n_frames; i++)
        w->frame_at[w->frames[i]] = i;
    return true;
}

/* A walk from the root, children in the order of their frames. */
static bool number_stacks(struct writer *w)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    size_t n = 0, all = w->h->stacks.nodes.n;
    uint32_t *sorted = pgk_mem_alloc(all + 1, sizeof *sorted),
             *first = pgk_mem_zalloc(all + 1, sizeof *first);
    PGK_VEC(uint32_t) open = {0};
    w->nodes = pgk_mem_alloc(all + 1, sizeof *w->nodes);
    bool ok = sorted && first && w->nodes;
    for (uint32_t i = 1; i < all && ok; i++)
        if (w->node_at[i])
            sorted[n++] = i;
    if (n)
        qsort_r(sorted, n, sizeof *sorted, compare_nodes, w);
    for (size_t i = n; i-- > 0;)
        first[nodes[sorted[i]].parent] = (uint32_t)i + 1;
    ok = ok && pgk_vec_push(&open, 0);
    while (ok && open.n) {
        uint32_t node = open.v[--open.n];
        if (node) {
            w->nodes[w->n_nodes++] = node;
            w->node_at[node] = (uint32_t)w->n_nodes;
        }
        size_t begin = first[node], end = begin;
        while (begin && end <= n && nodes[sorted[end - 1]].parent == node)
            end++;
        while (end > begin && ok)
            ok = pgk_vec_push(&open, sorted[--end - 1]);
    }
    pgk_vec_free(&open);
    pgk_mem_free(sorted);
    pgk_mem_free(first);
    return ok;
}

/* Sections. */

static bool write_functions(struct writer *w, struct pgk_sink *out)
{
    pgk_sink_uleb(out, w->h->funcs.n);
    for (size_t i = 0; i < w->h->funcs.n; i++) {
        const struct pgk_heap_func *f = &w->h->funcs.v[w->funcs[i]];
        uint32_t name = pgk_intern(&w->strings, pgk_intern_str(&w->h->strings, f->name),
                                   pgk_intern_len(&w->h->strings, f->name));
        if (name == PGK_INDEX_NONE)
            return false;
        pgk_sink_u64(out, f->guid);
        pgk_sink_uleb(out, name);
        pgk_sink_uleb(out, w->path_of[f->file]);
        pgk_sink_uleb(out, f->decl_line);
    }
    return true;
}

static void write_paths(struct writer *w, struct pgk_sink *out)
{
    pgk_sink_uleb(out, w->paths.n);
    for (size_t i = 0; i < w->paths.n; i++) {
        uint32_t parent = w->paths.v[i].parent;
        pgk_sink_uleb(out, parent ? i + 1 - parent : 0);
        pgk_sink_uleb(out, w->paths.v[i].name);
    }
}

static void write_strings(struct writer *w, struct pgk_sink *out)
{
    size_t n = w->strings.strs.n ? w->strings.strs.n - 1 : 0; /* the first one is the empty one */
    pgk_sink_uleb(out, n);
    for (size_t i = 1; i <= n; i++) {
        pgk_sink_uleb(out, pgk_intern_len(&w->strings, (uint32_t)i));
        pgk_sink_bytes(out, pgk_intern_str(&w->strings, (uint32_t)i),
                       pgk_intern_len(&w->strings, (uint32_t)i));
    }
}

/* The sign in the lowest bit, so that small numbers of either sign are short. */
static uint64_t zigzag(uint32_t v)
{
    return (uint32_t)(v << 1 ^ (uint32_t)-(v >> 31));
}

static void write_frames(const struct writer *w, struct pgk_sink *out)
{
    uint64_t before = 0;
    pgk_sink_uleb(out, w->n_frames);
    for (size_t i = 0; i < w->n_frames; i++) {
        const struct pgk_frame *f = &w->h->frames.v[w->frames[i]];
        uint64_t func = w->func_at[f->ref];
        pgk_sink_uleb(out, func - before);
        pgk_sink_uleb(out, zigzag((uint32_t)(f->where >> 32)));
        pgk_sink_uleb(out, (uint32_t)f->where);
        pgk_sink_uleb(out, f->discriminator == PGK_DISCRIMINATOR_MAX ? 0 : f->discriminator);
        pgk_sink_u8(out, f->kind == PGK_FRAME_INLINED ? PGK_PATHS_INLINED : 0);
        before = func;
    }
}

static void write_stacks(const struct writer *w, struct pgk_sink *out)
{
    pgk_sink_uleb(out, w->n_nodes);
    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct pgk_stack_node *n = &w->h->stacks.nodes.v[w->nodes[i]];
        uint32_t parent = n->parent ? w->node_at[n->parent] : 0;
        pgk_sink_uleb(out, i + 1 - parent);
        pgk_sink_uleb(out, w->frame_at[n->frame]);
    }
}

static void write_context(const struct writer *w, const struct pgk_heap_context *c,
                          struct pgk_sink *out)
{
    struct pgk_mib mib;
    pgk_context_get(w->h, c, &mib);
    pgk_sink_uleb(out, w->node_at[c->stack]);
    pgk_sink_u8(out, (c->owned_by_chain ? PGK_PATHS_OWNED_BY_CHAIN : 0) |
                         (mib.hist_count ? PGK_PATHS_HISTOGRAM : 0));
    pgk_sink_uleb(out, mib.known);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (mib.known >> id & 1)
            pgk_sink_uleb(out, mib.v[id]);
    if (!mib.hist_count)
        return;
    pgk_sink_uleb(out, mib.hist_count);
    for (uint32_t i = 0; i < mib.hist_count; i++)
        pgk_sink_uleb(out, mib.hist[i]);
}

static void write_contexts(struct writer *w, struct pgk_sink *out)
{
    pgk_sink_uleb(out, w->h->contexts.n);
    for (size_t i = 0; i < w->n_nodes; i++) {
        uint32_t context = pgk_heap_context_at(w->h, w->nodes[i]);
        if (context != PGK_INDEX_NONE)
            write_context(w, &w->h->contexts.v[context], out);
    }
}

static int compare_sites(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_heap_site *s = &w->h->sites.v[*(const uint32_t *)a],
                               *t = &w->h->sites.v[*(const uint32_t *)b];
    int order = order_u64(w->func_at[s->func], w->func_at[t->func]);
    if (!order)
        order = order_u64(s->kind, t->kind);
    return order ? order : order_u64(w->node_at[s->stack], w->node_at[t->stack]);
}

static bool write_sites(struct writer *w, struct pgk_sink *out)
{
    size_t n = w->h->sites.n;
    uint32_t *order = pgk_mem_alloc(n + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (n)
        qsort_r(order, n, sizeof *order, compare_sites, w);
    pgk_sink_uleb(out, n);
    for (size_t i = 0; i < n; i++) {
        const struct pgk_heap_site *s = &w->h->sites.v[order[i]];
        pgk_sink_u8(out, (uint8_t)s->kind);
        pgk_sink_uleb(out, w->func_at[s->func]);
        pgk_sink_uleb(out, w->node_at[s->stack]);
        pgk_sink_uleb(out, s->n_callees);
        for (uint32_t k = 0; k < s->n_callees; k++)
            pgk_sink_u64(out, s->callees[k]);
    }
    pgk_mem_free(order);
    return true;
}

/* A string of the model as one of the file; false when out of memory. */
static bool write_string_id(struct writer *w, struct pgk_sink *out, uint32_t string)
{
    uint32_t id = pgk_intern(&w->strings, pgk_intern_str(&w->h->strings, string),
                             pgk_intern_len(&w->h->strings, string));
    pgk_sink_uleb(out, id);
    return id != PGK_INDEX_NONE;
}

/* The model keeps these in an order that depends on their content alone. */
static bool write_data(struct writer *w, struct pgk_sink *out)
{
    const struct pgk_data_access *d = &w->h->data;
    bool ok = true;
    pgk_sink_uleb(out, d->entries.n);
    for (size_t i = 0; i < d->entries.n && ok; i++) {
        const struct pgk_data_entry *e = &d->entries.v[i];
        ok = write_string_id(w, out, e->symbol);
        pgk_sink_u64(out, e->hash);
        pgk_sink_uleb(out, e->count);
        pgk_sink_uleb(out, e->n_places);
        for (uint32_t k = 0; k < e->n_places && ok; k++) {
            ok = write_string_id(w, out, e->places[k].file);
            pgk_sink_uleb(out, e->places[k].line);
        }
    }
    pgk_sink_uleb(out, d->cold_symbols.n);
    for (size_t i = 0; i < d->cold_symbols.n && ok; i++)
        ok = write_string_id(w, out, d->cold_symbols.v[i]);
    pgk_sink_uleb(out, d->cold_hashes.n);
    for (size_t i = 0; i < d->cold_hashes.n; i++)
        pgk_sink_u64(out, d->cold_hashes.v[i]);
    return ok;
}

static bool write_types(struct writer *w, struct pgk_sink *out)
{
    bool ok = pgk_heap_used_types(w->h, &w->types);
    pgk_sink_uleb(out, w->types.n);
    for (size_t i = 0; i < w->types.n && ok; i++)
        ok = write_string_id(w, out, w->types.v[i]);
    return ok;
}

static unsigned digits(uint64_t v)
{
    unsigned n = 1;
    while (v > 9) {
        v /= 10;
        n++;
    }
    return n;
}

/* What a frame takes as FUNCTION FILE:LINE:COLUMN:DISCRIMINATOR and a byte behind it. */
static uint64_t plain_size(const struct writer *w, const struct pgk_frame *f)
{
    const struct pgk_heap_func *fn = &w->h->funcs.v[f->ref];
    uint32_t line = fn->decl_line + (uint32_t)(f->where >> 32);
    return pgk_intern_len(&w->h->strings, fn->name) + pgk_intern_len(&w->h->strings, fn->file) + 5 +
           digits(line) + digits((uint32_t)f->where) +
           digits(f->discriminator == PGK_DISCRIMINATOR_MAX ? 0 : f->discriminator);
}

static bool count_plain(struct writer *w)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    uint64_t *size = pgk_mem_zalloc(w->h->stacks.nodes.n + 1, sizeof *size);
    if (!size)
        return false;
    for (size_t i = 0; i < w->n_nodes; i++) {
        uint32_t node = w->nodes[i]; /* its parent came before */
        size[node] = size[nodes[node].parent] + plain_size(w, &w->h->frames.v[nodes[node].frame]);
    }
    for (size_t i = 0; i < w->h->contexts.n; i++)
        w->plain_bytes += size[w->h->contexts.v[i].stack];
    pgk_mem_free(size);
    return true;
}

/* A profile without these has no section of them. */
static bool is_missing(const struct writer *w, int section)
{
    return (section == PGK_PATHS_DATA && !pgk_data_access_any(&w->h->data)) ||
           (section == PGK_PATHS_TIMES && !w->h->over_time.processes) ||
           (section == PGK_PATHS_SHARES && !w->h->over_time.shares.n) ||
           (section == PGK_PATHS_TYPES && !w->types.n) ||
           (section == PGK_PATHS_PROCESSES && !pgk_heap_origin_is_told(&w->h->origin));
}

static int write_sections(struct writer *w, struct pgk_sink *out, struct pgk_heap_paths_size *size,
                          struct pgk_err *err)
{
    struct pgk_sink **s = w->sections;
    uint32_t n = 0;
    for (int i = PGK_PATHS_STRINGS; i < PGK_PATHS_SECTIONS_END; i++)
        n += !is_missing(w, i);
    uint64_t off = pgk_sink_tell(out) + 16 + n * UINT64_C(24), stack_bytes = 0;
    pgk_sink_u64(out, PGK_HEAP_PATHS_MAGIC);
    pgk_sink_u32(out, PGK_HEAP_PATHS_VERSION);
    pgk_sink_u32(out, n);
    for (int i = PGK_PATHS_STRINGS; i < PGK_PATHS_SECTIONS_END; i++) {
        if (is_missing(w, i))
            continue;
        pgk_sink_u64(out, (uint64_t)i);
        pgk_sink_u64(out, off);
        pgk_sink_u64(out, pgk_sink_tell(s[i]));
        off += pgk_sink_tell(s[i]);
        stack_bytes += i <= PGK_PATHS_STACKS ? pgk_sink_tell(s[i]) : 0;
    }
    for (int i = PGK_PATHS_STRINGS; i < PGK_PATHS_SECTIONS_END; i++) {
        size_t bytes;
        if (is_missing(w, i))
            continue;
        const uint8_t *data = pgk_sink_data(s[i], &bytes);
        if (!data)
            return pgk_fail_nomem(err);
        pgk_sink_bytes(out, data, bytes);
    }
    const struct pgk_heap_paths_size result = {.stack_bytes = stack_bytes,
                                               .plain_bytes = w->plain_bytes};
    PGK_RESULT_GIVE(size, &result);
    return 0;
}

static int write_file(struct writer *w, struct pgk_sink *out, struct pgk_heap_paths_size *size,
                      struct pgk_err *err)
{
    struct pgk_sink **s = w->sections;
    for (int i = PGK_PATHS_STRINGS; i < PGK_PATHS_SECTIONS_END; i++)
        PGK_TRY(pgk_sink_memory(&s[i], err));
    if (!build_paths(w) || !number_functions(w) || !number_frames(w) || !number_stacks(w) ||
        !count_plain(w) || !write_functions(w, s[PGK_PATHS_FUNCTIONS]) ||
        !write_sites(w, s[PGK_PATHS_SITES]) || !write_data(w, s[PGK_PATHS_DATA]) ||
        !write_types(w, s[PGK_PATHS_TYPES]))
        return pgk_fail_nomem(err);
    write_paths(w, s[PGK_PATHS_PATHS]);
    write_strings(w, s[PGK_PATHS_STRINGS]);
    write_frames(w, s[PGK_PATHS_FRAMES]);
    write_stacks(w, s[PGK_PATHS_STACKS]);
    write_contexts(w, s[PGK_PATHS_CONTEXTS]);
    if (w->h->over_time.processes)
        pgk_over_time_write(&w->h->over_time, s[PGK_PATHS_TIMES]);
    pgk_heap_origin_write(&w->h->origin, s[PGK_PATHS_PROCESSES]);
    if (!pgk_over_time_write_shares(&w->h->over_time, w->node_at, s[PGK_PATHS_SHARES]))
        return pgk_fail_nomem(err);
    return write_sections(w, out, size, err);
}

int pgk_heap_paths_write(const struct pgk_heap *h, struct pgk_sink *out,
                         struct pgk_heap_paths_size *size, struct pgk_err *err)
{
    struct writer w = {.h = h};
    int status = write_file(&w, out, size, err);
    for (int i = 0; i < PGK_PATHS_SECTIONS_END; i++)
        pgk_sink_drop(&w.sections[i]);
    pgk_intern_free(&w.strings);
    pgk_vec_free(&w.paths);
    pgk_vec_free(&w.types);
    pgk_mem_free(w.path_of);
    pgk_mem_free(w.funcs);
    pgk_mem_free(w.func_at);
    pgk_mem_free(w.frames);
    pgk_mem_free(w.frame_at);
    pgk_mem_free(w.nodes);
    pgk_mem_free(w.node_at);
    return status;
}

int pgk_heap_write_paths(const struct pgk_heap *heap, const char *path,
                         struct pgk_heap_paths_size *size, struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_heap_check_writable(heap, path, "heap profile with source positions", err));
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = pgk_heap_paths_write(heap, out, size, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}
