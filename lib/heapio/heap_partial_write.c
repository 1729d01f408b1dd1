/* Writer of partial heap profiles. docs/formats/partial-heap.md
 *
 * Everything is numbered by what it is, not by when it came into the model: strings by their
 * bytes, functions and frames by their parts, stacks in the order of a walk from the root that
 * takes callees by the number of their frame. What no context, site or run refers to is not
 * written. */
#include "heap_partial.h"
#include "over_time_part.h"
#include "type_names.h"
#include "u64_set.h"

#include <stdlib.h>

/* Things of one part: their order, and the number of each; NOT_USED for what is left out. */
#define NOT_USED UINT32_MAX
#define USED 0
struct ranks {
    uint32_t *order; /* positions in the model, by number */
    uint32_t *of;    /* number, by position in the model */
    uint32_t n;
};

struct writer {
    const struct pgk_heap *h;
    struct pgk_sink *out;
    struct ranks strings, files, modules, funcs, frames, nodes, contexts, sites;
    pgk_type_name_vec types;
};

static bool ranks_init(struct ranks *r, size_t n, uint32_t use)
{
    r->order = pgk_mem_alloc(n + 1, sizeof *r->order);
    r->of = pgk_mem_alloc(n + 1, sizeof *r->of);
    for (size_t i = 0; r->of && i < n; i++)
        r->of[i] = use;
    return r->order && r->of;
}

static void ranks_free(struct ranks *r)
{
    pgk_mem_free(r->order);
    pgk_mem_free(r->of);
}

/* Numbers the first `n` things of the model that are in use. */
static void rank(struct ranks *r, size_t n, uint32_t first_number,
                 int (*compare)(const void *, const void *, void *), struct writer *w)
{
    for (uint32_t i = 0; i < n; i++)
        if (r->of[i] != NOT_USED)
            r->order[r->n++] = i;
    if (r->n)
        qsort_r(r->order, r->n, sizeof *r->order, compare, w);
    for (uint32_t i = 0; i < r->n; i++)
        r->of[r->order[i]] = first_number + i;
}

#define COMPARE(a, b)                 \
    do {                              \
        if ((a) != (b))               \
            return (a) < (b) ? -1 : 1; \
    } while (0)

static int compare_strings(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_str *x = &w->h->strings.strs.v[*(const uint32_t *)a],
                         *y = &w->h->strings.strs.v[*(const uint32_t *)b];
    int order = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    if (order)
        return order;
    COMPARE(x->len, y->len);
    return 0;
}

static int compare_modules(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_heap_module *x = &w->h->modules.v[*(const uint32_t *)a],
                                 *y = &w->h->modules.v[*(const uint32_t *)b];
    COMPARE(w->strings.of[x->build_id], w->strings.of[y->build_id]);
    COMPARE(x->by_file_off, y->by_file_off);
    COMPARE(x->text_size, y->text_size);
    COMPARE(x->text_off, y->text_off);
    COMPARE(w->strings.of[x->name], w->strings.of[y->name]);
    return 0;
}

static int compare_funcs(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_heap_func *x = &w->h->funcs.v[*(const uint32_t *)a],
                               *y = &w->h->funcs.v[*(const uint32_t *)b];
    COMPARE(x->guid, y->guid);
    COMPARE(w->strings.of[x->name], w->strings.of[y->name]);
    COMPARE(w->files.of[x->file], w->files.of[y->file]);
    return 0;
}

/* What a file holds in place of the reference of a frame. */
static uint32_t ref_of(const struct writer *w, const struct pgk_frame *f)
{
    if (f->kind != PGK_FRAME_ADDRESS)
        return w->funcs.of[f->ref];
    return f->ref == PGK_INDEX_NONE ? 0 : w->modules.of[f->ref] + 1;
}

static int compare_frames(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_frame *x = &w->h->frames.v[*(const uint32_t *)a],
                           *y = &w->h->frames.v[*(const uint32_t *)b];
    COMPARE(x->kind, y->kind);
    COMPARE(ref_of(w, x), ref_of(w, y));
    COMPARE(x->where, y->where);
    return 0;
}

static int compare_callees(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    uint32_t x = w->frames.of[w->h->stacks.nodes.v[*(const uint32_t *)a].frame],
             y = w->frames.of[w->h->stacks.nodes.v[*(const uint32_t *)b].frame];
    COMPARE(x, y);
    return 0;
}

static int compare_contexts(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    COMPARE(w->nodes.of[w->h->contexts.v[*(const uint32_t *)a].stack],
            w->nodes.of[w->h->contexts.v[*(const uint32_t *)b].stack]);
    return 0;
}

static int compare_sites(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_heap_site *x = &w->h->sites.v[*(const uint32_t *)a],
                               *y = &w->h->sites.v[*(const uint32_t *)b];
    COMPARE(w->funcs.of[x->func], w->funcs.of[y->func]);
    COMPARE(x->kind, y->kind);
    COMPARE(w->nodes.of[x->stack], w->nodes.of[y->stack]);
    return 0;
}

/* ---- what is in use ---- */

static void use_nodes(struct writer *w)
{
    const struct pgk_heap *h = w->h;
    const struct pgk_stack_node *nodes = h->stacks.nodes.v;
    for (size_t i = 0; i < h->contexts.n; i++)
        w->nodes.of[h->contexts.v[i].stack] = USED;
    for (size_t i = 0; i < h->sites.n; i++)
        w->nodes.of[h->sites.v[i].stack] = USED;
    for (size_t i = h->stacks.nodes.n; i-- > 1;) {
        if (w->nodes.of[i] == NOT_USED)
            continue;
        w->nodes.of[nodes[i].parent] = USED;
        w->frames.of[nodes[i].frame] = USED;
    }
}

/* Marks what else is referred to, once frames are marked. Each step marks for the later ones:
 * functions and modules before the strings that these name. */
static void use_rest(struct writer *w)
{
    const struct pgk_heap *h = w->h;
    for (size_t i = 0; i < h->sites.n; i++)
        w->funcs.of[h->sites.v[i].func] = USED;
    for (size_t i = 0; i < h->frames.n; i++) {
        const struct pgk_frame *f = &h->frames.v[i];
        if (w->frames.of[i] == NOT_USED)
            continue;
        if (f->kind != PGK_FRAME_ADDRESS)
            w->funcs.of[f->ref] = USED;
        else if (f->ref != PGK_INDEX_NONE)
            w->modules.of[f->ref] = USED;
    }
    for (size_t i = 0; i < h->loaded.n; i++) {
        w->modules.of[h->loaded.v[i].module] = USED;
        w->strings.of[h->loaded.v[i].profile] = USED;
    }
    for (size_t i = 0; i < h->texts.n; i++)
        w->modules.of[h->texts.v[i].module] = USED;
    for (size_t i = 0; i < h->modules.n; i++) {
        const struct pgk_heap_module *m = &h->modules.v[i];
        if (w->modules.of[i] != NOT_USED)
            w->strings.of[m->build_id ? m->build_id : m->name] =
                w->strings.of[m->path] = USED;
    }
    w->strings.of[h->recorded.program] = w->strings.of[h->recorded.host] =
        w->strings.of[h->recorded.command_line] = USED;
    for (size_t i = 0; i < h->data.entries.n; i++) {
        const struct pgk_data_entry *e = &h->data.entries.v[i];
        w->strings.of[e->symbol] = USED;
        for (uint32_t k = 0; k < e->n_places; k++)
            w->files.of[e->places[k].file] = USED;
    }
    for (size_t i = 0; i < h->data.cold_symbols.n; i++)
        w->strings.of[h->data.cold_symbols.v[i]] = USED;
    for (size_t i = 0; i < w->types.n; i++)
        w->strings.of[w->types.v[i]] = USED;
    for (size_t i = 0; i < h->funcs.n; i++)
        if (w->funcs.of[i] != NOT_USED)
            w->strings.of[h->funcs.v[i].name] = w->files.of[h->funcs.v[i].file] = USED;
}

/* ---- the order of stacks ---- */

/* Callees of each node, in the order in which they are walked. */
struct callees {
    uint32_t *first; /* by node, and one more */
    uint32_t *all;
};

static void find_callees(struct writer *w, struct callees *c)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    size_t n = w->h->stacks.nodes.n;
    for (size_t i = 1; i < n; i++)
        if (w->nodes.of[i] != NOT_USED)
            c->first[nodes[i].parent]++;
    uint32_t end = 0;
    for (size_t i = 0; i < n; i++)
        c->first[i] = end += c->first[i];
    c->first[n] = end;
    for (size_t i = n; i-- > 1;)
        if (w->nodes.of[i] != NOT_USED)
            c->all[--c->first[nodes[i].parent]] = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        if (c->first[i + 1] - c->first[i] > 1)
            qsort_r(c->all + c->first[i], c->first[i + 1] - c->first[i], sizeof *c->all,
                    compare_callees, w);
}

/* Numbers nodes on a walk from the root, callers before callees. */
static void walk(struct writer *w, const struct callees *c, uint32_t *waiting)
{
    size_t n = 0;
    waiting[n++] = 0;
    while (n) {
        uint32_t node = waiting[--n];
        w->nodes.of[node] = w->nodes.n;
        w->nodes.order[w->nodes.n++] = node;
        for (uint32_t i = c->first[node + 1]; i-- > c->first[node];)
            waiting[n++] = c->all[i];
    }
}

static bool rank_nodes(struct writer *w)
{
    size_t n = w->h->stacks.nodes.n;
    struct callees c = {pgk_mem_zalloc(n + 1, sizeof *c.first), pgk_mem_alloc(n, sizeof *c.all)};
    uint32_t *waiting = pgk_mem_alloc(n, sizeof *waiting);
    bool ok = c.first && c.all && waiting;
    if (ok) {
        find_callees(w, &c);
        walk(w, &c, waiting);
    }
    pgk_mem_free(c.first);
    pgk_mem_free(c.all);
    pgk_mem_free(waiting);
    return ok;
}

static bool rank_all(struct writer *w)
{
    const struct pgk_heap *h = w->h;
    size_t n_strings = h->strings.strs.n ? h->strings.strs.n : 1;
    if (!ranks_init(&w->strings, n_strings, NOT_USED) ||
        !ranks_init(&w->files, n_strings, NOT_USED) ||
        !ranks_init(&w->modules, h->modules.n, NOT_USED) ||
        !ranks_init(&w->funcs, h->funcs.n, NOT_USED) ||
        !ranks_init(&w->frames, h->frames.n, NOT_USED) ||
        !ranks_init(&w->nodes, h->stacks.nodes.n, NOT_USED) ||
        !ranks_init(&w->contexts, h->contexts.n, USED) ||
        !ranks_init(&w->sites, h->sites.n, USED) || !pgk_heap_used_types(h, &w->types))
        return false;
    use_nodes(w);
    use_rest(w);
    w->strings.of[0] = w->files.of[0] = NOT_USED; /* the empty one is 0 without being written */
    rank(&w->strings, n_strings, 1, compare_strings, w);
    rank(&w->files, n_strings, 1, compare_strings, w);
    w->strings.of[0] = w->files.of[0] = 0;
    rank(&w->modules, h->modules.n, 0, compare_modules, w);
    rank(&w->funcs, h->funcs.n, 0, compare_funcs, w);
    rank(&w->frames, h->frames.n, 0, compare_frames, w);
    if (!rank_nodes(w))
        return false;
    rank(&w->contexts, h->contexts.n, 0, compare_contexts, w);
    rank(&w->sites, h->sites.n, 0, compare_sites, w);
    return true;
}

/* ---- the parts ---- */

/* The number of a field is its tag. */
static bool write_fields(struct writer *w)
{
    uint64_t n = 0;
    for (size_t i = 0; i < PGK_MIB_FIELDS; i++)
        n += pgk_mib_is_carried(i);
    pgk_sink_uleb(w->out, n);
    for (size_t i = 0; i < PGK_MIB_FIELDS; i++)
        if (pgk_mib_is_carried(i))
            pgk_sink_uleb(w->out, pgk_mib_fields[i].tag);
    return true;
}

static bool write_strings(struct writer *w)
{
    pgk_sink_uleb(w->out, w->strings.n);
    for (uint32_t i = 0; i < w->strings.n; i++) {
        size_t len = pgk_intern_len(&w->h->strings, w->strings.order[i]);
        pgk_sink_uleb(w->out, len);
        pgk_sink_bytes(w->out, pgk_intern_str(&w->h->strings, w->strings.order[i]), len);
    }
    return true;
}

/* A walk over paths in the order of their bytes, so that a path shares its folders with the one
 * before it. Each component that is new is a node. */
struct path_walk {
    struct pgk_str before;
    uint32_t *last; /* nodes of the path before, by depth */
    uint32_t nodes;
};

/* Where the components begin that a path does not share, and how many it shares. */
static size_t shared_folders(struct pgk_str path, struct pgk_str before, uint32_t *depth)
{
    size_t shared = 0;
    for (size_t i = 0; i < path.len && i < before.len && path.s[i] == before.s[i]; i++)
        if (path.s[i] == '/') {
            shared = i + 1;
            ++*depth;
        }
    return shared;
}

/* Steps over the nodes of a path, and writes those that are new, unless `out` is NULL. */
static void step_path(struct path_walk *walk, struct pgk_str path, struct pgk_sink *out)
{
    uint32_t depth = 0;
    const char *at = path.s + shared_folders(path, walk->before, &depth),
               *const end = path.s + path.len;
    for (const char *slash; at; at = slash ? slash + 1 : NULL) {
        slash = memchr(at, '/', (size_t)(end - at));
        const size_t len = (size_t)((slash ? slash : end) - at);
        walk->nodes++;
        if (out) {
            pgk_sink_uleb(out, depth ? walk->nodes - walk->last[depth - 1] : 0);
            pgk_sink_uleb(out, len);
            pgk_sink_bytes(out, at, len);
        }
        walk->last[depth++] = walk->nodes;
    }
    walk->before = path;
}

/* Writes the tree; then the number of a file is that of its last node. */
static bool write_paths(struct writer *w)
{
    const struct pgk_str *strings = w->h->strings.strs.v;
    size_t longest = 0;
    for (uint32_t i = 0; i < w->files.n; i++)
        longest = strings[w->files.order[i]].len > longest ? strings[w->files.order[i]].len
                                                           : longest;
    uint32_t *last = pgk_mem_alloc(longest + 1, sizeof *last);
    struct path_walk counted = {.last = last}, walk = {.last = last};
    if (!last)
        return false;
    for (uint32_t i = 0; i < w->files.n; i++)
        step_path(&counted, strings[w->files.order[i]], NULL);
    pgk_sink_uleb(w->out, counted.nodes);
    for (uint32_t i = 0; i < w->files.n; i++) {
        step_path(&walk, strings[w->files.order[i]], w->out);
        w->files.of[w->files.order[i]] = walk.nodes;
    }
    pgk_mem_free(last);
    return true;
}

static bool write_modules(struct writer *w)
{
    pgk_sink_uleb(w->out, w->modules.n);
    for (uint32_t i = 0; i < w->modules.n; i++) {
        const struct pgk_heap_module *m = &w->h->modules.v[w->modules.order[i]];
        /* What distinguishes modules without build id means nothing if there is one. */
        pgk_sink_uleb(w->out, w->strings.of[m->build_id]);
        pgk_sink_uleb(w->out, m->by_file_off);
        pgk_sink_uleb(w->out, m->build_id ? 0 : m->text_size);
        pgk_sink_uleb(w->out, m->build_id ? 0 : m->text_off);
        pgk_sink_uleb(w->out, m->build_id ? 0 : w->strings.of[m->name]);
        pgk_sink_uleb(w->out, m->fixed);
        pgk_sink_uleb(w->out, m->bias);
    }
    return true;
}

static int compare_texts(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_heap_text *x = a, *y = b;
    COMPARE(w->modules.of[x->module], w->modules.of[y->module]);
    COMPARE(x->at, y->at);
    COMPARE(x->size, y->size);
    return 0;
}

static bool write_texts(struct writer *w)
{
    size_t n = w->h->texts.n;
    struct pgk_heap_text *texts = pgk_mem_alloc(n + 1, sizeof *texts);
    if (!texts)
        return false;
    for (size_t i = 0; i < n; i++)
        texts[i] = w->h->texts.v[i];
    qsort_r(texts, n, sizeof *texts, compare_texts, w);
    pgk_sink_uleb(w->out, n);
    for (size_t i = 0; i < n; i++) {
        pgk_sink_uleb(w->out, w->modules.of[texts[i].module]);
        pgk_sink_uleb(w->out, texts[i].at);
        pgk_sink_uleb(w->out, texts[i].size);
    }
    pgk_mem_free(texts);
    return true;
}

/* Profiles of one name from two folders are one: nothing is known of them but which binaries
 * they need. */
static bool write_runs(struct writer *w)
{
    size_t n = w->h->loaded.n;
    uint64_t *runs = pgk_mem_alloc(n + 1, sizeof *runs);
    if (!runs)
        return false;
    for (size_t i = 0; i < n; i++)
        runs[i] = (uint64_t)w->strings.of[w->h->loaded.v[i].profile] << 32 |
                  w->modules.of[w->h->loaded.v[i].module];
    n = pgk_u64_set(runs, n);
    pgk_sink_uleb(w->out, n);
    for (size_t i = 0; i < n; i++) {
        pgk_sink_uleb(w->out, runs[i] >> 32);
        pgk_sink_uleb(w->out, (uint32_t)runs[i]);
    }
    pgk_mem_free(runs);
    return true;
}

static bool write_functions(struct writer *w)
{
    pgk_sink_uleb(w->out, w->funcs.n);
    for (uint32_t i = 0; i < w->funcs.n; i++) {
        const struct pgk_heap_func *f = &w->h->funcs.v[w->funcs.order[i]];
        pgk_sink_u64(w->out, f->guid);
        pgk_sink_uleb(w->out, w->strings.of[f->name]);
        pgk_sink_uleb(w->out, w->files.of[f->file]);
        pgk_sink_uleb(w->out, f->decl_line);
    }
    return true;
}

/* Frames of one kind are in the order of their functions. */
static void write_place(struct writer *w, const struct pgk_frame *f, uint32_t *before)
{
    const uint32_t function = ref_of(w, f);
    pgk_sink_uleb(w->out, function - *before);
    pgk_sink_uleb(w->out, pgk_partial_line((uint32_t)(f->where >> 32)));
    pgk_sink_uleb(w->out, (uint32_t)f->where);
    pgk_sink_uleb(w->out, f->discriminator == PGK_DISCRIMINATOR_MAX ? 0 : f->discriminator + 1);
    *before = function;
}

static bool write_frames(struct writer *w)
{
    uint32_t before[PGK_FRAME_INLINED + 1] = {0};
    pgk_sink_uleb(w->out, w->frames.n);
    for (uint32_t i = 0; i < w->frames.n; i++) {
        const struct pgk_frame *f = &w->h->frames.v[w->frames.order[i]];
        const enum pgk_frame_kind kind =
            f->kind == PGK_FRAME_SYMBOL ? PGK_FRAME_CALLER : (enum pgk_frame_kind)f->kind;
        pgk_sink_uleb(w->out, kind);
        if (kind == PGK_FRAME_ADDRESS) {
            pgk_sink_uleb(w->out, ref_of(w, f));
            pgk_sink_uleb(w->out, f->where);
        } else {
            write_place(w, f, &before[kind]);
        }
    }
    return true;
}

static bool write_nodes(struct writer *w)
{
    pgk_sink_uleb(w->out, w->nodes.n - 1);
    for (uint32_t i = 1; i < w->nodes.n; i++) {
        const struct pgk_stack_node *node = &w->h->stacks.nodes.v[w->nodes.order[i]];
        pgk_sink_uleb(w->out, i - w->nodes.of[node->parent]);
        pgk_sink_uleb(w->out, w->frames.of[node->frame]);
    }
    return true;
}

static void write_mib(struct writer *w, const struct pgk_mib *m)
{
    uint64_t mask = 0;
    unsigned place = 0;
    for (size_t i = 0; i < PGK_MIB_FIELDS; i++)
        if (pgk_mib_is_carried(i))
            mask |= (uint64_t)(m->known >> i & 1) << place++;
    pgk_sink_uleb(w->out, mask);
    for (size_t i = 0; i < PGK_MIB_FIELDS; i++)
        if (pgk_mib_is_carried(i) && m->known >> i & 1)
            pgk_sink_uleb(w->out, m->v[i]);
    if (m->hist_count)
        pgk_sink_uleb(w->out, m->hist_count);
    for (uint32_t i = 0; i < m->hist_count; i++)
        pgk_sink_uleb(w->out, m->hist[i]);
}

static bool write_contexts(struct writer *w)
{
    pgk_sink_uleb(w->out, w->contexts.n);
    for (uint32_t i = 0; i < w->contexts.n; i++) {
        const struct pgk_heap_context *c = &w->h->contexts.v[w->contexts.order[i]];
        const struct pgk_mib *m = pgk_heap_mib(w->h, w->contexts.order[i], PGK_MIB_SPACE);
        pgk_sink_uleb(w->out, w->nodes.of[c->stack]);
        pgk_sink_uleb(w->out, (c->owned_by_chain ? PGK_PARTIAL_OWNED_BY_CHAIN : 0) |
                                  (m->hist_count ? PGK_PARTIAL_HISTOGRAM : 0));
        write_mib(w, m);
    }
    return true;
}

static bool write_sites(struct writer *w)
{
    pgk_sink_uleb(w->out, w->sites.n);
    for (uint32_t i = 0; i < w->sites.n; i++) {
        const struct pgk_heap_site *s = &w->h->sites.v[w->sites.order[i]];
        pgk_sink_uleb(w->out, s->kind);
        pgk_sink_uleb(w->out, w->funcs.of[s->func]);
        pgk_sink_uleb(w->out, w->nodes.of[s->stack]);
        pgk_sink_uleb(w->out, s->n_callees);
        pgk_sink_bytes(w->out, s->callees, s->n_callees * sizeof *s->callees);
    }
    return true;
}

/* The model keeps these parts in an order of their own, which depends on their content alone. */
static bool write_data(struct writer *w)
{
    pgk_sink_uleb(w->out, w->h->data.entries.n);
    for (size_t i = 0; i < w->h->data.entries.n; i++) {
        const struct pgk_data_entry *e = &w->h->data.entries.v[i];
        pgk_sink_uleb(w->out, w->strings.of[e->symbol]);
        pgk_sink_u64(w->out, e->hash);
        pgk_sink_uleb(w->out, e->count);
        pgk_sink_uleb(w->out, e->n_places);
        for (uint32_t k = 0; k < e->n_places; k++) {
            pgk_sink_uleb(w->out, w->files.of[e->places[k].file]);
            pgk_sink_uleb(w->out, e->places[k].line);
        }
    }
    return true;
}

static bool write_cold_symbols(struct writer *w)
{
    pgk_sink_uleb(w->out, w->h->data.cold_symbols.n);
    for (size_t i = 0; i < w->h->data.cold_symbols.n; i++)
        pgk_sink_uleb(w->out, w->strings.of[w->h->data.cold_symbols.v[i]]);
    return true;
}

static bool write_cold_literals(struct writer *w)
{
    pgk_sink_uleb(w->out, w->h->data.cold_hashes.n);
    for (size_t i = 0; i < w->h->data.cold_hashes.n; i++)
        pgk_sink_u64(w->out, w->h->data.cold_hashes.v[i]);
    return true;
}

static bool write_times(struct writer *w)
{
    const struct pgk_over_time *t = &w->h->over_time;
    pgk_sink_uleb(w->out, t->processes > 0);
    if (t->processes)
        pgk_over_time_write(t, w->out);
    return true;
}

static bool write_shares(struct writer *w)
{
    return pgk_over_time_write_shares(&w->h->over_time, w->nodes.of, w->out);
}

static bool write_types(struct writer *w)
{
    pgk_sink_uleb(w->out, w->types.n);
    for (size_t i = 0; i < w->types.n; i++)
        pgk_sink_uleb(w->out, w->strings.of[w->types.v[i]]);
    return true;
}

static bool write_processes(struct writer *w)
{
    const bool known = pgk_heap_origin_is_known(&w->h->origin);
    pgk_sink_uleb(w->out, known);
    if (known)
        pgk_heap_origin_write(&w->h->origin, w->out);
    return true;
}

static bool write_places(struct writer *w)
{
    const struct pgk_heap_module *modules = w->h->modules.v;
    size_t n = 0;
    for (uint32_t i = 0; i < w->modules.n; i++)
        n += modules[w->modules.order[i]].path != 0;
    pgk_sink_uleb(w->out, n);
    for (uint32_t i = 0; i < w->modules.n; i++) {
        const uint32_t path = modules[w->modules.order[i]].path;
        if (!path)
            continue;
        pgk_sink_uleb(w->out, i);
        pgk_sink_uleb(w->out, w->strings.of[path]);
    }
    return true;
}

static bool write_recording(struct writer *w)
{
    const struct pgk_recorded *r = &w->h->recorded;
    const bool known = pgk_recorded_is_known(r);
    pgk_sink_uleb(w->out, known);
    if (!known)
        return true;
    pgk_sink_uleb(w->out, w->strings.of[r->program]);
    pgk_sink_uleb(w->out, w->strings.of[r->host]);
    pgk_sink_uleb(w->out, w->strings.of[r->command_line]);
    pgk_sink_uleb(w->out, r->start_time);
    return true;
}

/* Files of profiles without samples end before this part. */
static bool write_sampled(struct writer *w)
{
    if (!w->h->origin.sampled)
        return true;
    pgk_sink_uleb(w->out, 1);
    pgk_heap_origin_write_sampled(&w->h->origin, w->out);
    return true;
}

static bool write_all(struct writer *w)
{
    enum { SIZE_OFF = 16 };
    uint64_t start = pgk_sink_off(w->out);
    if (!rank_all(w))
        return false;
    pgk_sink_u64(w->out, PGK_HEAP_PARTIAL_MAGIC);
    pgk_sink_u64(w->out, PGK_HEAP_PARTIAL_VERSION);
    pgk_sink_u64(w->out, 0);
#define PGK_PARTIAL_PART(name, least, meaning) \
    if (!write_##name(w))                      \
        return false;
#include "heap_partial.def"
#undef PGK_PARTIAL_PART
    pgk_sink_patch_u64(w->out, start + SIZE_OFF, pgk_sink_off(w->out) - start);
    return true;
}

int pgk_heap_partial_write(const struct pgk_heap *h, struct pgk_sink *out, struct pgk_err *err)
{
    struct writer w = {.h = h, .out = out};
    bool ok = write_all(&w);
    struct ranks *all[] = {&w.strings, &w.files, &w.modules,  &w.funcs,
                           &w.frames,  &w.nodes, &w.contexts, &w.sites};
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        ranks_free(all[i]);
    pgk_vec_free(&w.types);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_heap_write_partial(const struct pgk_heap *heap, const char *path, struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = pgk_heap_partial_write(heap, out, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}
