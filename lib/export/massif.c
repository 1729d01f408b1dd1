/* Massif's format, which ms_print and massif-visualizer show: the curve of a heap, and who held it
 * at the peak and at exit. https://valgrind.org/docs/manual/ms-manual.html
 *
 * A detailed snapshot is a tree that is read from the allocating function on: below each place
 * stand its callers. Places below a share of the whole are summed up, as massif does. */
#include "exporters.h"

#include "heap_frames.h"
#include "heap_view.h"
#include "pgokit/human.h"
#include "valgrind_place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { THRESHOLD_PARTS = 100 }; /* a place that holds less than such a part is summed up */
#define SUMMED_UP (UINT32_C(1) << 31) /* the children of a node that are */

struct massif {
    const struct pgk_heap *heap;
    struct pgk_sink *out;
    struct pgk_heap_frames frames;
    uint32_t *stacks;             /* nodes of `frames`, by context */
    struct pgk_stack_tree callers; /* of frames, the allocating one first */
    uint32_t *context_nodes;      /* nodes of `callers`, by context */
    uint64_t *bytes;              /* by node */
    uint32_t *depth;              /* by node */
    uint32_t *order;              /* nodes but the root, by parent, then falling bytes */
    uint32_t *first;              /* by node: its first child in `order` + 1; 0: none */
    unsigned snapshot;
    pgk_place_text place;
    bool full; /* out of memory */
};

static bool build_tree(struct massif *m)
{
    const struct pgk_stack_node *nodes = m->frames.stacks.nodes.v;
    size_t contexts = pgk_heap_contexts(m->heap);
    m->context_nodes = pgk_mem_alloc(contexts + 1, sizeof *m->context_nodes);
    if (!m->context_nodes || !pgk_stack_tree_init(&m->callers))
        return false;
    for (size_t c = 0; c < contexts; c++) {
        uint32_t to = 0;
        for (uint32_t node = m->stacks[c]; node && to != PGK_NODE_NONE; node = nodes[node].parent)
            to = pgk_stack_push(&m->callers, to, nodes[node].frame);
        if (to == PGK_NODE_NONE)
            return false;
        m->context_nodes[c] = to;
    }
    size_t n = m->callers.nodes.n;
    m->bytes = pgk_mem_alloc(n, sizeof *m->bytes);
    m->depth = pgk_mem_zalloc(n, sizeof *m->depth);
    m->order = pgk_mem_alloc(n, sizeof *m->order);
    m->first = pgk_mem_alloc(n, sizeof *m->first);
    if (!m->bytes || !m->depth || !m->order || !m->first)
        return false;
    for (size_t i = 1; i < n; i++)
        m->depth[i] = m->depth[m->callers.nodes.v[i].parent] + 1;
    return true;
}

/* Ties in the order of the profile. */
static int by_parent_and_bytes(const void *a, const void *b, void *ctx)
{
    const struct massif *m = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t p = m->callers.nodes.v[x].parent, q = m->callers.nodes.v[y].parent;
    if (p != q)
        return p < q ? -1 : 1;
    if (m->bytes[x] != m->bytes[y])
        return m->bytes[x] > m->bytes[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void weigh(struct massif *m, enum pgk_mib_id field)
{
    uint32_t n = (uint32_t)m->callers.nodes.n;
    memset(m->bytes, 0, n * sizeof *m->bytes);
    memset(m->first, 0, n * sizeof *m->first);
    for (size_t c = 0; c < pgk_heap_contexts(m->heap); c++)
        m->bytes[m->context_nodes[c]] += pgk_heap_value(m->heap, c, field);
    for (uint32_t i = n; i-- > 1;)
        m->bytes[m->callers.nodes.v[i].parent] += m->bytes[i];
    for (uint32_t i = 1; i < n; i++)
        m->order[i - 1] = i;
    if (n > 1)
        qsort_r(m->order, n - 1, sizeof *m->order, by_parent_and_bytes, m);
    for (uint32_t i = n - 1; i-- > 0;)
        m->first[m->callers.nodes.v[m->order[i]].parent] = i + 1;
}

/* Children of a node that hold something: how many are shown and summed up, and of how much. */
struct children {
    uint32_t shown, summed;
    uint64_t summed_bytes;
};

static struct children children_of(const struct massif *m, uint32_t node)
{
    struct children c = {0};
    for (size_t i = m->first[node]; i && i < m->callers.nodes.n; i++) {
        uint32_t child = m->order[i - 1];
        if (m->callers.nodes.v[child].parent != node || !m->bytes[child])
            break;
        if (m->bytes[child] >= m->bytes[0] / THRESHOLD_PARTS) {
            c.shown++;
        } else {
            c.summed++;
            c.summed_bytes += m->bytes[child];
        }
    }
    return c;
}

static void put_place(struct massif *m, uint32_t node)
{
    if (!node) {
        pgk_sink_printf(m->out, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
        return;
    }
    const char *place = pgk_valgrind_place(
        &m->place, &m->frames, &m->frames.frames.v[m->callers.nodes.v[node].frame]);
    m->full |= !place;
    pgk_sink_printf(m->out, "%s", place ? place : "");
}

static void put_node(struct massif *m, uint32_t entry)
{
    uint32_t node = entry & ~SUMMED_UP;
    struct children c = children_of(m, node);
    if (entry & SUMMED_UP) {
        pgk_sink_printf(m->out, "%*sn0: %" PRIu64 " in %" PRIu32 " place%s, %sbelow massif's "
                        "threshold (%d.00%%)\n", (int)m->depth[node] + 1, "", c.summed_bytes,
                        c.summed, pgk_plural(c.summed), c.summed == 1 ? "" : "all ",
                        100 / THRESHOLD_PARTS);
        return;
    }
    pgk_sink_printf(m->out, "%*sn%" PRIu32 ": %" PRIu64 " ", (int)m->depth[node], "",
                    c.shown + (c.summed > 0), m->bytes[node]);
    put_place(m, node);
    pgk_sink_printf(m->out, "\n");
}

/* False when out of memory. */
static bool put_tree(struct massif *m)
{
    PGK_VEC(uint32_t) open = {0};
    bool ok = pgk_vec_push(&open, 0);
    while (ok && open.n) {
        uint32_t node = open.v[--open.n];
        put_node(m, node);
        if (node & SUMMED_UP)
            continue;
        struct children c = children_of(m, node);
        if (c.summed)
            ok = pgk_vec_push(&open, node | SUMMED_UP);
        for (uint32_t i = c.shown; i-- > 0 && ok;)
            ok = pgk_vec_push(&open, m->order[m->first[node] - 1 + i]);
    }
    pgk_vec_free(&open);
    return ok;
}

static void begin_snapshot(struct massif *m, uint64_t ms, uint64_t bytes, const char *tree)
{
    pgk_sink_printf(m->out,
                    "#-----------\nsnapshot=%u\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
                    "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
                    m->snapshot++, ms, bytes, tree);
}

static bool put_detailed(struct massif *m, uint64_t ms, enum pgk_mib_id field, const char *tree)
{
    weigh(m, field);
    begin_snapshot(m, ms, m->bytes[0], tree);
    return put_tree(m);
}

static bool knows_exit(const struct massif *m)
{
    for (size_t c = 0; c < pgk_heap_contexts(m->heap); c++)
        if (pgk_heap_knows(m->heap, c, PGK_MIB_ExitSize))
            return true;
    return false;
}

/* The points of the curve, but at the peak and in the end what is known by context. */
static bool put_snapshots(struct massif *m, const struct pgk_heap_times *t)
{
    uint64_t end_ms = t->n_points ? t->points[t->n_points - 1].ms : t->peak_ms;
    size_t i = 0;
    for (; i < t->n_points && t->points[i].ms < t->peak_ms; i++)
        begin_snapshot(m, t->points[i].ms, t->points[i].bytes, "empty");
    if (!put_detailed(m, t->peak_ms, PGK_MIB_PeakSize, "peak"))
        return false;
    for (; i < t->n_points; i++)
        if (t->points[i].ms > t->peak_ms && t->points[i].ms < end_ms)
            begin_snapshot(m, t->points[i].ms, t->points[i].bytes, "empty");
    if (knows_exit(m))
        return put_detailed(m, end_ms > t->peak_ms ? end_ms : t->peak_ms, PGK_MIB_ExitSize,
                            "detailed");
    if (end_ms > t->peak_ms)
        begin_snapshot(m, end_ms, t->points[t->n_points - 1].bytes, "empty");
    return true;
}

static int write_file(struct massif *m, const struct pgk_heap_export_opts *opts,
                      const struct pgk_heap_times *times, struct pgk_err *err)
{
    char title[1024] = "";
    PGK_TRY(pgk_heap_frames_make(&m->frames, m->heap, &m->stacks, err));
    if (!build_tree(m))
        return pgk_fail_nomem(err);
    if (opts->title)
        pgk_human_text(title, sizeof title, opts->title);
    pgk_sink_printf(m->out, "desc: heap profile of pgokit\ncmd: %s\ntime_unit: ms\n", title);
    return put_snapshots(m, times) && !m->full ? 0 : pgk_fail_nomem(err);
}

int pgk_export_massif(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                      struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_heap_times times = {.struct_size = sizeof times};
    struct massif m = {.heap = heap, .out = out};
    pgk_heap_over_time(heap, &times);
    if (times.processes != 1)
        return pgk_fail(err, times.processes ? PGK_E_ARG : PGK_E_EMPTY, .file = opts->title,
                        .record = "heap over time",
                        .found = PGK_F("%" PRIu64 " processes", times.processes),
                        .expected = "one, which pgokit's runtime recorded",
                        .hint = "export the profile of one process");
    int status = write_file(&m, opts, &times, err);
    pgk_heap_frames_free(&m.frames);
    pgk_stack_tree_free(&m.callers);
    pgk_mem_free(m.stacks);
    pgk_mem_free(m.context_nodes);
    pgk_mem_free(m.bytes);
    pgk_mem_free(m.depth);
    pgk_mem_free(m.order);
    pgk_mem_free(m.first);
    pgk_vec_free(&m.place);
    return status;
}
