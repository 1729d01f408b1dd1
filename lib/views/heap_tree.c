/* A heap profile as a tree of calling functions on a terminal. */
#include "demangle.h"
#include "mem.h"
#include "heap_frames.h"
#include "mib.h"
#include "opts.h"
#include "pgokit/human.h"
#include "pgokit/report.h"

#include <stdlib.h>
#include <string.h>

/* A function below a chain of callers: contexts that differ in lines only are one branch. */
struct branch {
    uint32_t node;         /* in `functions` */
    uint64_t bytes, count; /* of it and all below */
    size_t first, n;       /* its callees in `order` */
};

struct tree {
    const struct pgk_heap *heap;
    const struct pgk_heap_tree_opts *opts;
    FILE *out;
    struct pgk_heap_frames frames;
    uint32_t *nodes;                 /* by context: node of `frames.stacks` */
    struct pgk_stack_tree functions; /* a node's frame is a function */
    uint32_t *mapped;                /* by node of the stacks: node of `functions` */
    struct branch *branches;         /* by node of `functions` */
    uint32_t *order;                 /* callees of node 0, of node 1, ..., most bytes first */
};

static void tree_free(struct tree *t)
{
    pgk_heap_frames_free(&t->frames);
    pgk_mem_free(t->nodes);
    pgk_stack_tree_free(&t->functions);
    pgk_mem_free(t->mapped);
    pgk_mem_free(t->branches);
    pgk_mem_free(t->order);
}

/* Frames of libraries are skipped; a stack of nothing else keeps its leaf. */
static int map_functions(struct tree *t, struct pgk_err *err)
{
    size_t n = t->frames.stacks.nodes.n;
    t->mapped = pgk_mem_zalloc(n, sizeof *t->mapped);
    if (!t->mapped || !pgk_stack_tree_init(&t->functions))
        return pgk_fail_nomem(err);
    for (uint32_t node = 1; node < n; node++) {
        uint32_t at = t->mapped[t->frames.stacks.nodes.v[node].parent];
        if (t->opts->library || !pgk_frames_func(&t->frames, node)->library)
            at = pgk_stack_push(&t->functions, at, pgk_frames_at(&t->frames, node)->func);
        if (at == PGK_NODE_NONE)
            return pgk_fail_nomem(err);
        t->mapped[node] = at;
    }
    for (size_t c = 0; c < pgk_heap_contexts(t->heap); c++) {
        uint32_t *at = &t->mapped[t->nodes[c]];
        if (!*at && t->nodes[c])
            *at = pgk_stack_push(&t->functions, 0, pgk_frames_at(&t->frames, t->nodes[c])->func);
        if (*at == PGK_NODE_NONE)
            return pgk_fail_nomem(err);
    }
    return 0;
}

static void add_up(struct tree *t)
{
    const struct pgk_stack_node *nodes = t->functions.nodes.v;
    size_t n = t->functions.nodes.n;
    for (size_t c = 0; c < pgk_heap_contexts(t->heap); c++) {
        const struct pgk_mib *m = pgk_heap_mib(t->heap, c, PGK_MIB_SPACE);
        struct branch *b = &t->branches[t->mapped[t->nodes[c]]];
        b->bytes += m->v[PGK_MIB_TotalSize];
        b->count += m->v[PGK_MIB_AllocCount];
    }
    for (size_t i = n; i-- > 1;) {
        struct branch *up = &t->branches[nodes[i].parent];
        t->branches[i].node = (uint32_t)i;
        up->bytes += t->branches[i].bytes;
        up->count += t->branches[i].count;
        up->n++;
    }
}

static int by_bytes(const void *a, const void *b, void *branches)
{
    const struct branch *all = branches;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (all[x].bytes != all[y].bytes)
        return all[x].bytes > all[y].bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int link_branches(struct tree *t, struct pgk_err *err)
{
    size_t n = t->functions.nodes.n, at = 0;
    t->branches = pgk_mem_zalloc(n, sizeof *t->branches);
    t->order = pgk_mem_alloc(n, sizeof *t->order);
    if (!t->branches || !t->order)
        return pgk_fail_nomem(err);
    add_up(t);
    for (size_t i = 0; i < n; i++) {
        t->branches[i].first = at;
        at += t->branches[i].n;
        t->branches[i].n = 0;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct branch *up = &t->branches[t->functions.nodes.v[i].parent];
        t->order[up->first + up->n++] = i;
    }
    for (size_t i = 0; i < n; i++)
        qsort_r(t->order + t->branches[i].first, t->branches[i].n, sizeof *t->order, by_bytes,
                t->branches);
    return 0;
}

static void print_line(const struct tree *t, size_t level, uint64_t bytes, uint64_t count,
                       const char *name)
{
    enum { NAME_AT = 37, LEAST = 16 };
    const size_t width = t->opts->width, all_indent = 2 * level;
    const size_t space = width > NAME_AT + LEAST ? width - NAME_AT - LEAST : 0;
    const size_t indent = width && all_indent > space ? space : all_indent;
    char *copy = width ? pgk_mem_strdup(name) : NULL;
    if (copy)
        copy = pgk_fit_name(copy, space + LEAST - indent);
    char size[PGK_HUMAN_SIZE], objects[PGK_HUMAN_SIZE];
    uint64_t all = t->branches[0].bytes;
    fprintf(t->out, "%10s %6.1f %% %15s  %*s%s\n", pgk_human_bytes(size, (double)bytes),
            all ? 100.0 * (double)bytes / (double)all : 0, pgk_human_count(objects, count),
            (int)indent, "", copy ? copy : name);
    pgk_mem_free(copy);
}

/* Which callee of a branch comes next in the walk through the tree. */
struct step {
    uint32_t branch;
    size_t next;
};

/* Branches too small to show are one line, after those that are shown. */
static void print_rest(const struct tree *t, size_t level, const struct branch *up, size_t from)
{
    uint64_t bytes = 0, count = 0;
    char text[64];
    for (size_t i = from; i < up->n; i++) {
        bytes += t->branches[t->order[up->first + i]].bytes;
        count += t->branches[t->order[up->first + i]].count;
    }
    if (from == up->n)
        return;
    snprintf(text, sizeof text, "(%zu more)", up->n - from);
    print_line(t, level, bytes, count, text);
}

static int print_branches(const struct tree *t, struct pgk_err *err)
{
    PGK_VEC(struct step) path = {0};
    double least = t->opts->least * (double)t->branches[0].bytes;
    bool fits = pgk_vec_push(&path, (struct step){0, 0});
    while (fits && path.n) {
        struct step *at = &path.v[path.n - 1];
        const struct branch *up = &t->branches[at->branch];
        uint32_t next = at->next < up->n ? t->order[up->first + at->next] : 0;
        bool deep = t->opts->depth && path.n > t->opts->depth;
        if (deep || !next || (double)t->branches[next].bytes < least) {
            print_rest(t, path.n - 1, up, at->next);
            path.n--;
            continue;
        }
        at->next++;
        const struct pgk_view_func *f = &t->frames.funcs.v[t->functions.nodes.v[next].frame];
        print_line(t, path.n - 1, t->branches[next].bytes, t->branches[next].count,
                   pgk_frames_text(&t->frames, f->name));
        fits = pgk_vec_push(&path, (struct step){next, 0});
    }
    pgk_vec_free(&path);
    return fits ? 0 : pgk_fail_nomem(err);
}

static int make_tree(struct tree *t, struct pgk_err *err)
{
    t->nodes = pgk_mem_alloc(pgk_heap_contexts(t->heap) + 1, sizeof *t->nodes);
    if (!t->nodes)
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_heap_frames_init(&t->frames, err));
    PGK_TRY(pgk_heap_frames_add(&t->frames, t->heap, t->nodes, err));
    PGK_TRY(map_functions(t, err));
    return link_branches(t, err);
}

int pgk_heap_print_tree(const struct pgk_heap *heap, const struct pgk_heap_tree_opts *given,
                        FILE *out, struct pgk_err *err)
{
    struct pgk_heap_tree_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct tree t = {.heap = heap, .opts = opts, .out = out};
    int status = make_tree(&t, err);
    if (!status) {
        fprintf(out, "%s%10s %8s %15s  %s%s\n", opts->colour ? "\033[1m" : "", "bytes", "share",
                "objects", "function", opts->colour ? "\033[0m" : "");
        print_line(&t, 0, t.branches[0].bytes, t.branches[0].count, "whole program");
        status = print_branches(&t, err);
    }
    tree_free(&t);
    return status;
}
