/* Reading many heap profiles on several threads.
 *
 * The inputs are cut into as many runs of neighbours as there are threads, of about equal size in
 * bytes. Each run is read into a model of its own, one file after the other; then neighbours are
 * merged in pairs until one is left:
 *
 *     files  0 1 2 │ 3 4 │ 5 6 7 8 │ 9      one model per run
 *               └──┬──┘      └──┬──┘         first round
 *                  └─────┬──────┘            second round
 *
 * Since only neighbours are merged, the earlier into which the later goes, everything comes in
 * the order in which it would have been met by one thread. */
#include "pgokit/format.h"
#include "pgokit/log.h"

#include "fail.h"
#include "heap_model.h"
#include "mem.h"
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* A file that cannot be asked for its size (a pipe) counts as one that is small. */
enum { UNKNOWN_BYTES = 1 << 16 };

struct part { /* a run of neighbours */
    size_t first, end;
    struct pgk_heap *heap;
    struct pgk_err err;
};

struct read_all {
    const struct pgk_input *inputs;
    struct pgk_file_info *infos; /* may be NULL */
    uint64_t *sizes;             /* of the inputs, as files */
    struct part *parts;
    size_t n_parts, distance;    /* of models that are merged in this round */
    atomic_size_t lowest_failed; /* part */
    pthread_mutex_t lock;        /* of `progress` */
    struct pgk_progress progress;
};

/* So that what fails is the same for any timing, only later parts give up. */
static bool is_in_vain(const struct read_all *r, size_t part)
{
    return atomic_load_explicit(&r->lowest_failed, memory_order_relaxed) < part;
}

static void note_failure(struct read_all *r, size_t part)
{
    size_t lowest = atomic_load(&r->lowest_failed);
    while (part < lowest && !atomic_compare_exchange_weak(&r->lowest_failed, &lowest, part))
        continue;
}

/* What is read into is written by somebody. */
static int new_heap(struct pgk_heap **heap, struct pgk_err *err)
{
    PGK_TRY(pgk_heap_new(heap, err));
    (*heap)->no_partial_accesses = true;
    return 0;
}

/* A file that counts several times is read apart, to be multiplied before it is added. */
static int read_weighted(struct pgk_heap *into, const struct pgk_input *input,
                         struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_heap *one;
    if (input->weight == 1)
        return pgk_heap_read(into, input->path, info, err);
    PGK_TRY(new_heap(&one, err));
    int status = pgk_heap_read(one, input->path, info, err);
    if (!status) {
        status = pgk_heap_scale(one, input->weight, err);
        if (!status)
            status = pgk_heap_merge(into, one, err);
    }
    pgk_heap_close(&one);
    return status;
}

static int read_part(void *ctx, size_t number, unsigned worker)
{
    struct read_all *r = ctx;
    struct part *p = &r->parts[number];
    int status = new_heap(&p->heap, &p->err);
    (void)worker;
    for (size_t i = p->first; i < p->end && !status && !is_in_vain(r, number); i++) {
        status = read_weighted(p->heap, &r->inputs[i], r->infos ? &r->infos[i] : NULL, &p->err);
        pthread_mutex_lock(&r->lock);
        pgk_progress_add(&r->progress, r->sizes[i]);
        pthread_mutex_unlock(&r->lock);
    }
    if (status)
        note_failure(r, number);
    return status;
}

static int merge_pair(void *ctx, size_t pair, unsigned worker)
{
    struct read_all *r = ctx;
    size_t left = 2 * r->distance * pair, right = left + r->distance;
    (void)worker;
    if (right >= r->n_parts)
        return 0;
    int status = pgk_heap_merge(r->parts[left].heap, r->parts[right].heap, &r->parts[left].err);
    pgk_heap_close(&r->parts[right].heap);
    return status;
}

/* Cuts where a part has its share of the bytes; returns their sum. */
static uint64_t cut_into_parts(struct read_all *r, size_t count)
{
    uint64_t total = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        bool known = !stat(r->inputs[i].path, &st) && S_ISREG(st.st_mode);
        r->sizes[i] = known ? (uint64_t)st.st_size : UNKNOWN_BYTES;
        total += r->sizes[i];
    }
    for (size_t i = 0, part = 0; part < r->n_parts; part++) {
        r->parts[part].first = i;
        while (i < count && (part + 1 == r->n_parts ||
                             (double)sum + (double)r->sizes[i] / 2 <
                                 (double)total * (double)(part + 1) / (double)r->n_parts))
            sum += r->sizes[i++];
        r->parts[part].end = i;
    }
    return total;
}

static int read_and_merge(struct read_all *r, unsigned threads, uint64_t bytes)
{
    pgk_progress_start(&r->progress, "reading", "B", bytes);
    int status = pgk_pool_run(threads, r->n_parts, read_part, r);
    pgk_progress_end(&r->progress);
    for (r->distance = 1; r->distance < r->n_parts && !status; r->distance *= 2) {
        size_t pairs = (r->n_parts + 2 * r->distance - 1) / (2 * r->distance);
        status = pgk_pool_run(threads, pairs, merge_pair, r);
    }
    return status;
}

static const struct pgk_err *first_error(const struct read_all *r)
{
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].err.status)
            return &r->parts[i].err;
    return NULL;
}

int pgk_heap_read_all(struct pgk_heap **heap, const struct pgk_input *inputs, size_t count,
                      unsigned threads, struct pgk_file_info *infos, struct pgk_err *err)
{
    if (!count)
        return pgk_heap_new(heap, err);
    struct read_all r = {
        .inputs = inputs, .infos = infos, .n_parts = pgk_pool_threads(threads, count)};
    r.sizes = pgk_mem_alloc(count, sizeof *r.sizes);
    r.parts = pgk_mem_zalloc(r.n_parts, sizeof *r.parts);
    int status = r.sizes && r.parts ? 0 : pgk_fail_nomem(err);
    if (!status) {
        atomic_init(&r.lowest_failed, r.n_parts);
        pthread_mutex_init(&r.lock, NULL);
        status = read_and_merge(&r, threads, cut_into_parts(&r, count));
        pthread_mutex_destroy(&r.lock);
        const struct pgk_err *first = first_error(&r);
        if (status && err && first)
            *err = *first;
    }
    if (!status) {
        *heap = r.parts[0].heap;
        r.parts[0].heap = NULL;
    }
    for (size_t i = 0; r.parts && i < r.n_parts; i++)
        pgk_heap_close(&r.parts[i].heap);
    pgk_mem_free(r.parts);
    pgk_mem_free(r.sizes);
    return status;
}
