/* Decoding chosen roots into flat arrays, and the order by address. */
#include "probe_index.h"

#include "mem.h"
#include "search.h"
#include "u64_set.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RECENT = 1 << 13, WAITING = 64 };

/* A walk that fills an index. */
struct fill {
    struct pgk_probe_index *ix;
    uint32_t *at_level; /* the open node of each level */
    bool no_memory;
    size_t n_waiting;
    /* Nodes whose function is to be looked for among all descriptors. That table is too large for
     * the cache: their reads of memory overlap. */
    struct waiting {
        uint64_t guid, guid_off;
        uint32_t node;
    } waiting[WAITING];
    /* Descriptors found last, by GUID: the same small functions are inlined all over. */
    struct recent {
        uint64_t guid;
        uint32_t desc;
    } recent[RECENT];
};

/* Finds the descriptors of the nodes that wait for theirs: many at once, so that the loads of one
 * do not wait for those of another. */
static int find_waiting(struct fill *f, struct pgk_probe_walk *w, struct pgk_err *err)
{
    struct pgk_probe_index *ix = f->ix;
    const struct pgk_probes *p = ix->source;
    for (size_t i = 0; i < f->n_waiting; i++) {
        uint32_t first = pgk_index_next(&p->desc_index, f->waiting[i].guid, &(uint32_t){0});
        if (first != PGK_INDEX_NONE)
            __builtin_prefetch(&p->descs.v[first]);
    }
    for (size_t i = 0; i < f->n_waiting; i++) {
        const struct waiting *n = &f->waiting[i];
        uint32_t desc = pgk_probe_desc_by_guid(p, n->guid);
        if (PGK_UNLIKELY(desc == PGK_PROBE_NONE)) {
            w->guid = n->guid;
            w->guid_off = n->guid_off;
            return pgk_probe_walk_reject(w, "GUID", PGK_F("%" PRIu64, n->guid),
                                         "the GUID of a function in .pseudo_probe_desc",
                                         PGK_E_CORRUPT, err);
        }
        ix->nodes[n->node].desc = desc;
        f->recent[n->guid % RECENT] = (struct recent){n->guid, desc};
    }
    f->n_waiting = 0;
    return 0;
}

static int fill_node(struct pgk_probe_walk *w, void *ctx, uint64_t guid, uint32_t site,
                     size_t level, uint32_t probes, struct pgk_err *err)
{
    struct fill *f = ctx;
    struct pgk_probe_index *ix = f->ix;
    const struct recent *r = &f->recent[guid % RECENT];
    uint32_t node = (uint32_t)ix->n_nodes++;
    (void)probes;
    f->at_level[level] = node;
    ix->nodes[node] = (struct pgk_probe_packed_node){
        .parent = level ? f->at_level[level - 1] : PGK_PROBE_NONE,
        .site = site,
        .desc = r->desc,
    };
    if (PGK_LIKELY(r->guid == guid))
        return 0;
    pgk_index_prefetch(&ix->source->desc_index, guid);
    f->waiting[f->n_waiting++] = (struct waiting){guid, w->guid_off, node};
    return f->n_waiting == WAITING ? find_waiting(f, w, err) : 0;
}

static void fill_probe(struct pgk_probe_walk *w, void *ctx, const struct pgk_probe_seen *seen)
{
    struct fill *f = ctx;
    struct pgk_probe_index *ix = f->ix;
    (void)w;
    uint64_t off = seen->addr - ix->base;
    if (PGK_UNLIKELY(off > ix->span))
        return;
    bool has_discriminator = seen->discriminator != 0;
    if (PGK_UNLIKELY(has_discriminator) &&
        !pgk_vec_push(&ix->discriminators,
                      (struct pgk_probe_value){(uint32_t)ix->n_probes, seen->discriminator}))
        f->no_memory = true;
    ix->probes[ix->n_probes++] = (struct pgk_probe_packed){
        .addr_off = (uint32_t)off,
        .node = (uint32_t)ix->n_nodes - 1,
        .bits = seen->index << PGK_PROBE_INDEX_SHIFT |
                (has_discriminator ? PGK_PROBE_DISCRIMINATOR_BIT : 0) |
                (seen->packed & PGK_PROBE_TYPE_BITS),
    };
}

static int fill_places(struct fill *f, const uint8_t *chosen, struct pgk_err *err)
{
    const struct pgk_probes *p = f->ix->source;
    struct pgk_probe_walk w = {.probes = p};
    int status = 0;
    for (size_t i = 0; i < p->places.n && !status; i++) {
        const struct pgk_probe_place *place = &p->places.v[i];
        if (!place->root.located || (chosen && !chosen[i]))
            continue;
        pgk_probe_cursor(p, place, &w.cur);
        w.last = place->start;
        status = pgk_probe_walk_root(&w, f, fill_node, fill_probe, err);
        if (!status && f->no_memory)
            status = pgk_fail_nomem(err);
    }
    if (!status)
        status = find_waiting(f, &w, err);
    pgk_vec_free(&w.pending);
    return status;
}

/* ---- order by address ---- */

enum { MAX_STRETCH_BITS = 9, FEW = 24 };

/* While it is sorted, a probe's entry has in its upper bits where in the stretch of code the probe
 * is: the entry alone says it all, and equal addresses stay in the order of the section. */
struct stretches {
    unsigned bits; /* a stretch is of 2^bits bytes of code */
    uint32_t *end; /* per stretch: where the next entry goes, then the end of its entries */
    uint32_t *scratch;
};

/* Few elements by insertion. */
static void sort_few(uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t x = v[i];
        size_t j = i;
        for (; j && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

/* The entries of one stretch by counting. */
static void sort_stretch(const struct stretches *s, uint32_t *v, size_t n)
{
    uint32_t end[(1 << MAX_STRETCH_BITS) + 1] = {0};
    unsigned shift = 32 - s->bits;
    for (size_t i = 0; i < n; i++)
        end[(v[i] >> shift) + 1]++;
    for (size_t b = 0; b < (size_t)1 << s->bits; b++)
        end[b + 1] += end[b];
    for (size_t i = 0; i < n; i++)
        s->scratch[end[v[i] >> shift]++] = v[i];
    memcpy(v, s->scratch, n * sizeof *v);
}

static int compare_probes(const void *a, const void *b, void *ctx)
{
    const struct pgk_probe_packed *probes = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (probes[x].addr_off != probes[y].addr_off)
        return probes[x].addr_off < probes[y].addr_off ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Few probes in much code: a table of stretches would take more than they do. */
static void sort_sparse(struct pgk_probe_index *ix)
{
    for (size_t i = 0; i < ix->n_probes; i++)
        ix->order[i] = (uint32_t)i;
    qsort_r(ix->order, ix->n_probes, sizeof *ix->order, compare_probes, ix->probes);
}

/* Distributes the probes over stretches of code: those of a function lie together in the section
 * and in the code, so that this and the sorting of each work in the cache. */
static int sort_dense(struct pgk_probe_index *ix, struct stretches *s, struct pgk_err *err)
{
    const struct pgk_probe_packed *probes = ix->probes;
    uint32_t *order = ix->order;
    size_t n = ix->n_probes, count = (size_t)(ix->span >> s->bits) + 1, most = 0;
    unsigned bits = s->bits, shift = 32 - bits;
    uint32_t *end = pgk_mem_zalloc(count + 1, sizeof *end);
    s->end = end;
    if (!end)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        end[(probes[i].addr_off >> bits) + 1]++;
    for (size_t k = 0; k < count; k++) {
        most = end[k + 1] > most ? end[k + 1] : most;
        end[k + 1] += end[k];
    }
    s->scratch = pgk_mem_alloc(most, sizeof *s->scratch);
    if (!s->scratch)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        uint32_t off = probes[i].addr_off;
        order[end[off >> bits]++] = off << shift | (uint32_t)i;
    }
    for (size_t k = 0, from = 0; k < count; from = end[k++]) {
        if (end[k] - from > FEW)
            sort_stretch(s, order + from, end[k] - from);
        else
            sort_few(order + from, end[k] - from);
    }
    for (size_t i = 0; i < n; i++)
        order[i] &= UINT32_MAX >> bits;
    return 0;
}

static int sort_by_address(struct pgk_probe_index *ix, struct pgk_err *err)
{
    size_t n = ix->n_probes;
    ix->order = pgk_mem_table(n + 1, sizeof *ix->order);
    if (!ix->order)
        return pgk_fail_nomem(err);
    unsigned spare = n ? (unsigned)__builtin_clz((uint32_t)n) : 0; /* bits that no number has */
    struct stretches s = {.bits = spare < MAX_STRETCH_BITS ? spare : MAX_STRETCH_BITS};
    if (!s.bits || ix->span >> s.bits > n * 2) {
        sort_sparse(ix);
        return 0;
    }
    int status = sort_dense(ix, &s, err);
    pgk_mem_free(s.end);
    pgk_mem_free(s.scratch);
    return status;
}

/* ---- making an index ---- */

static int allocate(struct pgk_probe_index *ix, struct fill *f, const uint8_t *chosen,
                    struct pgk_err *err)
{
    const struct pgk_probes *p = ix->source;
    uint64_t probes = 0, nodes = 0;
    for (size_t i = 0; i < p->places.n; i++) {
        const struct pgk_probe_root *r = &p->places.v[i].root;
        if (r->located && (!chosen || chosen[i])) {
            probes += r->probes;
            nodes += r->nodes;
        }
    }
    ix->probes = pgk_mem_table(probes + 1, sizeof *ix->probes);
    ix->nodes = pgk_mem_table(nodes + 1, sizeof *ix->nodes);
    f->at_level = pgk_mem_alloc(p->depth + 1, sizeof *f->at_level);
    return ix->probes && ix->nodes && f->at_level ? 0 : pgk_fail_nomem(err);
}

static int make(struct pgk_probe_index **index, const struct pgk_probes *p, const uint8_t *chosen,
                struct pgk_err *err)
{
    struct pgk_probe_index *ix = pgk_mem_zalloc(1, sizeof *ix);
    struct fill *f = pgk_mem_zalloc(1, sizeof *f);
    if (!ix || !f) {
        pgk_mem_free(ix);
        pgk_mem_free(f);
        return pgk_fail_nomem(err);
    }
    f->ix = ix;
    ix->source = p;
    if (p->text.n) {
        ix->base = p->text.v[0].low;
        ix->span = p->text.v[p->text.n - 1].high - ix->base;
    }
    int status = 0;
    if (ix->span >= UINT32_MAX)
        status = pgk_fail(err, PGK_E_LIMIT, .file = pgk_elf_path(p->elf), .format = "ELF",
                          .field = "executable sections",
                          .found = PGK_F("code over %" PRIu64 " bytes", ix->span),
                          .expected = "less than 4 GiB from the first to the last");
    if (!status)
        status = allocate(ix, f, chosen, err);
    if (!status)
        status = fill_places(f, chosen, err);
    if (!status)
        status = sort_by_address(ix, err);
    pgk_mem_free(f->at_level);
    pgk_mem_free(f);
    if (status < 0)
        pgk_probe_index_close(&ix);
    else
        *index = ix;
    return status;
}

int pgk_probe_index_all(struct pgk_probe_index **index, const struct pgk_probes *p,
                        struct pgk_err *err)
{
    return make(index, p, NULL, err);
}

int pgk_probe_index_functions(struct pgk_probe_index **index, const struct pgk_probes *p,
                              const uint64_t *guids, size_t count, struct pgk_err *err)
{
    uint8_t *chosen = pgk_mem_zalloc(p->places.n + 1, 1);
    uint64_t *set = pgk_mem_alloc(count + 1, sizeof *set);
    int status = chosen && set ? 0 : pgk_fail_nomem(err);
    if (!status) {
        if (count)
            memcpy(set, guids, count * sizeof *set);
        count = pgk_u64_set(set, count);
        for (size_t i = 0; i < p->places.n; i++)
            chosen[i] = pgk_u64_find(set, count, p->places.v[i].root.guid) < count;
        status = make(index, p, chosen, err);
    }
    pgk_mem_free(chosen);
    pgk_mem_free(set);
    return status;
}

/* True if [low, high] and a range have an address in common. */
static bool touches(const struct pgk_probe_range *ranges, size_t count, uint64_t low, uint64_t high)
{
    /* the first range that ends after `low` */
    PGK_SEARCH(from, count, mid, ranges[mid].high <= low)
    return from < count && ranges[from].low <= high;
}

int pgk_probe_index_ranges(struct pgk_probe_index **index, const struct pgk_probes *p,
                           const struct pgk_probe_range *ranges, size_t count, struct pgk_err *err)
{
    for (size_t i = 1; i < count; i++)
        if (ranges[i].low < ranges[i - 1].high)
            return pgk_fail(
                err, PGK_E_ARG, .field = "ranges",
                .found = PGK_F("0x%" PRIx64 " after 0x%" PRIx64, ranges[i].low, ranges[i - 1].high),
                .expected = "ascending ranges that do not overlap");
    uint8_t *chosen = pgk_mem_zalloc(p->places.n + 1, 1);
    if (!chosen)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->places.n; i++)
        chosen[i] = touches(ranges, count, p->places.v[i].root.low, p->places.v[i].root.high);
    int status = make(index, p, chosen, err);
    pgk_mem_free(chosen);
    return status;
}

void pgk_probe_index_close(struct pgk_probe_index **index)
{
    struct pgk_probe_index *ix = *index;
    if (!ix)
        return;
    *index = NULL;
    pgk_mem_free(ix->probes);
    pgk_mem_free(ix->nodes);
    pgk_mem_free(ix->order);
    pgk_vec_free(&ix->discriminators);
    pgk_mem_free(ix);
}
