/* Writer of raw heap profiles: one dump. docs/formats/raw-heap.md
 *
 * A model does not know where modules were loaded, which differs between processes anyway. A
 * program that has a fixed place keeps it, all else is put to places of its own, in an order that
 * depends on what the modules are: equal models give equal bytes. */
#include "estimate.h"
#include "heap_raw.h"
#include "search.h"

#include <inttypes.h>
#include <stdlib.h>

#define FIRST_PLACE (UINT64_C(1) << 40) /* above fixed programs, below stacks and libraries */
#define PLACE_GAP UINT64_C(0x10000)     /* LLVM counts the first byte after a segment as part of
                                         * it */
#define SPAN_MAX (UINT64_C(1) << 40)    /* of the segments of a module */
#define PAGE_MASK UINT64_C(0xfff)

struct place {
    uint64_t start, end, bias;
    uint32_t module;
};

struct writer {
    const struct pgk_heap *h;
    struct pgk_sink *out;
    const struct pgk_raw_version *version;
    struct pgk_raw_mib mib;
    uint32_t *order;         /* modules, the program first */
    bool *program;           /* by module: first one of some profile */
    PGK_VEC(uint64_t) loose; /* addresses outside of all modules, sorted */
    PGK_VEC(struct place) places;
    uint64_t *pcs;      /* by frame */
    uint32_t *contexts; /* in the order of the file */
};

static bool by_file_off(const struct writer *w)
{
    return !pgk_raw_has_build_ids(w->version);
}

/* Can this version say that the address belongs to the module? */
static bool is_in_module(const struct writer *w, const struct pgk_frame *f)
{
    if (f->ref == PGK_INDEX_NONE || w->h->modules.v[f->ref].by_file_off != by_file_off(w))
        return false;
    for (size_t i = 0; i < w->h->texts.n; i++) {
        const struct pgk_heap_text *t = &w->h->texts.v[i];
        if (t->module == f->ref && f->where - t->at < t->size)
            return true;
    }
    return false;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Frames of the contexts; others may be left in the model, but will not be in the file. */
static bool *used_frames(const struct pgk_heap *h)
{
    bool *frames = pgk_mem_zalloc(h->frames.n + 1, sizeof *frames);
    bool *nodes = pgk_mem_zalloc(h->stacks.nodes.n + 1, sizeof *nodes);
    bool ok = frames && nodes;
    for (size_t i = 0; ok && i < h->contexts.n; i++)
        nodes[h->contexts.v[i].stack] = true;
    for (size_t i = h->stacks.nodes.n; ok && i-- > 1;) {
        const struct pgk_stack_node *node = &h->stacks.nodes.v[i];
        if (nodes[i])
            nodes[node->parent] = frames[node->frame] = true;
    }
    pgk_mem_free(nodes);
    if (!ok) {
        pgk_mem_free(frames);
        frames = NULL;
    }
    return frames;
}

static bool find_loose(struct writer *w)
{
    bool *used = used_frames(w->h), ok = used != NULL;
    for (size_t i = 0; ok && i < w->h->frames.n; i++)
        if (used[i] && !is_in_module(w, &w->h->frames.v[i]))
            ok = pgk_vec_push(&w->loose, w->h->frames.v[i].where);
    if (ok && w->loose.n)
        qsort(w->loose.v, w->loose.n, sizeof *w->loose.v, compare_u64);
    pgk_mem_free(used);
    return ok;
}

/* Modules by what they are; the program, of which LLVM wants to see the segment first, in
 * front. Where profiles of several programs were merged, one of them. */
static int compare_modules(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_intern *strings = &w->h->strings;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct pgk_heap_module *m = &w->h->modules.v[i], *n = &w->h->modules.v[k];
    if (w->program[i] != w->program[k])
        return w->program[i] ? -1 : 1;
    size_t m_size = pgk_intern_len(strings, m->build_id),
           n_size = pgk_intern_len(strings, n->build_id);
    int order = memcmp(pgk_intern_str(strings, m->build_id), pgk_intern_str(strings, n->build_id),
                       m_size < n_size ? m_size : n_size);
    if (order || m_size != n_size)
        return order ? order : m_size < n_size ? -1 : 1;
    if (m->text_size != n->text_size)
        return m->text_size < n->text_size ? -1 : 1;
    return m->text_off < n->text_off ? -1 : m->text_off > n->text_off;
}

static bool order_modules(struct writer *w)
{
    size_t n = w->h->modules.n;
    w->order = pgk_mem_alloc(n + 1, sizeof *w->order);
    w->program = pgk_mem_zalloc(n + 1, sizeof *w->program);
    if (!w->order || !w->program)
        return false;
    for (size_t i = 0; i < w->h->loaded.n; i++)
        if (!i || w->h->loaded.v[i].profile != w->h->loaded.v[i - 1].profile)
            w->program[w->h->loaded.v[i].module] = true;
    for (uint32_t i = 0; i < n; i++)
        w->order[i] = i;
    if (!n)
        return true;
    qsort_r(w->order, n, sizeof *w->order, compare_modules, w);
    /* Only the first one is known as a program when the file is read again. */
    memset(w->program, 0, n * sizeof *w->program);
    w->program[w->order[0]] = true;
    qsort_r(w->order, n, sizeof *w->order, compare_modules, w);
    return true;
}

/* The end of a place or loose address in the range, or 0 if the range is free. */
static uint64_t obstacle(const struct writer *w, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < w->places.n; i++)
        if (start < w->places.v[i].end && w->places.v[i].start < end)
            return w->places.v[i].end;
    PGK_SEARCH(low, w->loose.n, mid, w->loose.v[mid] < start)
    return low < w->loose.n && w->loose.v[low] < end ? w->loose.v[low] + 1 : 0;
}

static bool is_free(const struct writer *w, uint32_t module, uint64_t bias)
{
    for (size_t i = 0; i < w->h->texts.n; i++) {
        const struct pgk_heap_text *t = &w->h->texts.v[i];
        if (t->module == module && obstacle(w, t->at + bias, t->at + bias + t->size))
            return false;
    }
    return true;
}

static bool add_places(struct writer *w, uint32_t module, uint64_t bias)
{
    for (size_t i = 0; i < w->h->texts.n; i++) {
        const struct pgk_heap_text *t = &w->h->texts.v[i];
        struct place p = {t->at + bias, t->at + bias + t->size, bias, module};
        if (t->module == module && !pgk_vec_push(&w->places, p))
            return false;
    }
    return true;
}

/* Segments of one module lie as far apart as they were linked; `low` is the first. */
static bool module_span(const struct writer *w, uint32_t module, uint64_t *low, uint64_t *high)
{
    bool any = false;
    for (size_t i = 0; i < w->h->texts.n; i++) {
        const struct pgk_heap_text *t = &w->h->texts.v[i];
        if (t->module != module)
            continue;
        uint64_t end = t->at + t->size;
        bool wraps = end < t->at;
        uint64_t first = wraps ? 0 : t->at, last = wraps ? UINT64_MAX : end;
        *low = !any || first < *low ? first : *low;
        *high = !any || last > *high ? last : *high;
        any = true;
    }
    return any;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Chooses where the module lies in the process that the file pretends to come from: at its own
 * place if it has one that is free, else at *next or above, clear of addresses that lie in no
 * module. */
static int place_module(struct writer *w, uint32_t module, uint64_t *next, const char *path,
                        struct pgk_err *err)
{
    const struct pgk_heap_module *m = &w->h->modules.v[module];
    uint64_t low = 0, high = 0, bias = m->bias;
    if (m->by_file_off != by_file_off(w) || !module_span(w, module, &low, &high))
        return 0;
    if (high - low > SPAN_MAX)
        return pgk_fail(err, PGK_E_LIMIT, .file = path, .format = "raw heap profile",
                        .record = PGK_F("module %u", module), .field = "executable segments",
                        .found = PGK_F("0x%" PRIx64 " to 0x%" PRIx64, low, high),
                        .expected = "at most 1 TiB from first to last",
                        .hint = "the input is damaged");
    if (!m->fixed || !is_free(w, module, bias)) {
        uint64_t place = *next, blocked;
        for (;;) {
            bias = place - (low & ~PAGE_MASK);
            blocked = bias ? obstacle(w, low + bias, high + bias) : place + 1;
            if (!blocked)
                break;
            place = (blocked + PLACE_GAP) & ~(PLACE_GAP - 1);
        }
        *next = (high + bias + 2 * PLACE_GAP) & ~(PLACE_GAP - 1);
    }
    size_t first = w->places.n;
    if (!add_places(w, module, bias))
        return pgk_fail_nomem(err);
    qsort(w->places.v + first, w->places.n - first, sizeof *w->places.v, compare_places);
    return 0;
}

static int place_modules(struct writer *w, const char *path, struct pgk_err *err)
{
    uint64_t next = FIRST_PLACE;
    if (!find_loose(w) || !order_modules(w))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < w->h->modules.n; i++)
        PGK_TRY(place_module(w, w->order[i], &next, path, err));
    return 0;
}

static bool compute_pcs(struct writer *w)
{
    const struct pgk_heap *h = w->h;
    uint64_t *bias = pgk_mem_zalloc(h->modules.n + 1, sizeof *bias);
    w->pcs = pgk_mem_alloc(h->frames.n + 1, sizeof *w->pcs);
    for (size_t i = 0; bias && i < w->places.n; i++)
        bias[w->places.v[i].module] = w->places.v[i].bias;
    for (size_t i = 0; bias && w->pcs && i < h->frames.n; i++) {
        const struct pgk_frame *f = &h->frames.v[i];
        w->pcs[i] = f->where + (is_in_module(w, f) ? bias[f->ref] : 0);
    }
    pgk_mem_free(bias);
    return bias && w->pcs;
}

/* Contexts by their addresses, leaf first. */
static int compare_contexts(const void *a, const void *b, void *ctx)
{
    const struct writer *w = ctx;
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    uint32_t x = w->h->contexts.v[*(const uint32_t *)a].stack,
             y = w->h->contexts.v[*(const uint32_t *)b].stack;
    for (; x != y; x = nodes[x].parent, y = nodes[y].parent) {
        if (!x || !y)
            return x ? 1 : -1;
        uint64_t p = w->pcs[nodes[x].frame], q = w->pcs[nodes[y].frame];
        if (p != q)
            return p < q ? -1 : 1;
    }
    return 0;
}

static bool order_contexts(struct writer *w)
{
    size_t n = w->h->contexts.n;
    w->contexts = pgk_mem_alloc(n + 1, sizeof *w->contexts);
    if (!w->contexts)
        return false;
    for (uint32_t i = 0; i < n; i++)
        w->contexts[i] = i;
    qsort_r(w->contexts, n, sizeof *w->contexts, compare_contexts, w);
    return true;
}

static void write_segments(struct writer *w)
{
    pgk_sink_u64(w->out, w->places.n);
    for (size_t i = 0; i < w->places.n; i++) {
        const struct place *p = &w->places.v[i];
        uint32_t id = w->h->modules.v[p->module].build_id;
        const struct {
#define PGK_RAW_SEGMENT(name, type, first, meaning) uint64_t name;
#include "heap_raw.def"
#undef PGK_RAW_SEGMENT
        } s = {.start = p->start, .end = p->end,
               .offset = by_file_off(w) ? p->start - p->bias : p->bias,
               .build_id_size = pgk_intern_len(&w->h->strings, id)};
#define PGK_RAW_SEGMENT(name, type, first, meaning) \
    if (w->version->version >= (first))             \
        pgk_sink_u64(w->out, s.name);
#include "heap_raw.def"
#undef PGK_RAW_SEGMENT
        pgk_sink_bytes(w->out, pgk_intern_str(&w->h->strings, id), s.build_id_size);
        pgk_sink_zeros(w->out, PGK_HEAP_RAW_ID_MAX - s.build_id_size);
    }
}

static void write_mib(struct writer *w, const struct pgk_mib *m)
{
    for (size_t i = 0; i < w->mib.count; i++) {
        enum pgk_mib_id id = w->mib.fields[i].id;
        /* Fields that readers of this version do not believe say nothing. */
        uint64_t v = id == PGK_MIB_AccessHistogramSize ? m->hist_count
                     : w->mib.known >> id & 1          ? pgk_mib_llvm_value(m, id)
                                                       : 0;
        pgk_sink_bytes(w->out, &v, w->mib.fields[i].bytes);
    }
    for (uint32_t i = 0; i < m->hist_count; i++)
        pgk_raw_put_element(w->out, w->version->element, m->hist[i]);
}

static void write_stack(struct writer *w, uint32_t stack)
{
    const struct pgk_stack_node *nodes = w->h->stacks.nodes.v;
    uint64_t n = 0;
    for (uint32_t i = stack; i; i = nodes[i].parent)
        n++;
    pgk_sink_u64(w->out, n);
    for (uint32_t i = stack; i; i = nodes[i].parent)
        pgk_sink_u64(w->out, w->pcs[nodes[i].frame]);
}

static void write_dump(struct writer *w)
{
    struct pgk_sink *out = w->out;
    size_t n = w->h->contexts.n;
    struct pgk_heap_raw_header header = {.magic = PGK_HEAP_RAW_MAGIC,
                                         .version = w->version->version};
    uint64_t start = pgk_sink_off(out), off = start;
    pgk_sink_zeros(out, sizeof header);
    header.segment_off = pgk_sink_off(out) - start;
    write_segments(w);
    header.mib_off = pgk_sink_off(out) - start;
    pgk_sink_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        pgk_sink_u64(out, i + 1); /* the stack id */
        write_mib(w, pgk_heap_mib(w->h, w->contexts[i], PGK_MIB_SPACE));
    }
    pgk_sink_align(out, 8);
    header.stack_off = pgk_sink_off(out) - start;
    pgk_sink_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        pgk_sink_u64(out, i + 1);
        write_stack(w, w->h->contexts.v[w->contexts[i]].stack);
    }
    header.total_size = pgk_sink_off(out) - start;
#define PGK_RAW_HEADER(name, type, meaning)     \
    pgk_sink_patch_u64(out, off, header.name); \
    off += sizeof header.name;
#include "heap_raw.def"
#undef PGK_RAW_HEADER
}

static int check(const struct pgk_heap *h, const char *path, uint32_t version, struct pgk_err *err)
{
    if (!pgk_raw_version(version))
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "raw heap profile",
                        .field = "version", .found = PGK_F("%u", version),
                        .expected = PGK_F("1 to %d", PGK_RAW_NOW),
                        .hint = "choose another --format-version");
    if (!h->contexts.n)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .format = "raw heap profile",
                        .record = "contexts", .found = "none", .expected = "at least one",
                        .hint = "the inputs hold no heap data");
    for (size_t i = 0; i < h->frames.n; i++)
        if (h->frames.v[i].kind != PGK_FRAME_ADDRESS)
            return pgk_fail(err, PGK_E_ARG, .file = path, .format = "raw heap profile",
                            .record = "contexts", .found = "frames that are places in functions",
                            .expected = "frames that are addresses",
                            .hint = "only profiles that were never symbolised (raw ones, or texts "
                                    "of symbolize=0) can become raw profiles");
    return 0;
}

int pgk_heap_raw_write(const struct pgk_heap *h, struct pgk_sink *out, uint32_t version,
                       const char *path, struct pgk_err *err)
{
    PGK_TRY(check(h, path, version, err));
    const struct pgk_raw_version *v = pgk_raw_version(version);
    struct writer w = {.h = h, .out = out, .version = v, .mib = pgk_raw_mib(v)};
    int status = place_modules(&w, path, err);
    if (!status && (!compute_pcs(&w) || !order_contexts(&w)))
        status = pgk_fail_nomem(err);
    if (!status)
        write_dump(&w);
    pgk_mem_free(w.order);
    pgk_mem_free(w.program);
    pgk_vec_free(&w.loose);
    pgk_vec_free(&w.places);
    pgk_mem_free(w.pcs);
    pgk_mem_free(w.contexts);
    return status;
}

int pgk_heap_write_raw(const struct pgk_heap *heap, const char *path, uint32_t version,
                       struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = pgk_heap_raw_write(heap, out, version, path, err);
    if (!status)
        return pgk_sink_commit(&out, err);
    pgk_sink_drop(&out);
    return status;
}
