/* Reads many heap profiles on several threads. The threads share one model, so that a stack which
 * another thread has added already is found. */
#include "pgokit/format.h"

#include "fail.h"
#include "heap_shared.h"
#include "pool.h"
#include "progress.h"

#include <pthread.h>
#include <sys/stat.h>

/* A file that cannot be asked for its size (a pipe) counts as one that is small. */
enum { UNKNOWN_BYTES = 1 << 16 };

struct read_all {
    struct pgk_heap *heap;
    const struct pgk_input *inputs;
    uint64_t *sizes;
    pthread_mutex_t lock;        /* of all below */
    struct pgk_progress progress;
    size_t failed;               /* the first input that could not be read */
    struct pgk_err err;          /* and why */
};

static uint64_t size_of(const struct pgk_input *input)
{
    struct stat st;
    return !stat(input->path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : UNKNOWN_BYTES;
}

/* The caller will write this profile, so partial access counts must be marked as unknown. */
static int new_heap(struct pgk_heap **heap, struct pgk_err *err)
{
    PGK_TRY(pgk_heap_new(heap, err));
    (*heap)->no_partial_accesses = true;
    return 0;
}

static int read_one(void *ctx, size_t number, unsigned worker)
{
    struct read_all *r = ctx;
    struct pgk_err err = {0};
    (void)worker;
    const struct pgk_input *input = &r->inputs[number];
    int status = input->file ? pgk_heap_read_file(r->heap, input->file, input->weight, &err)
                             : pgk_heap_read(r->heap, input->path, input->weight, &err);
    pthread_mutex_lock(&r->lock);
    pgk_progress_add(&r->progress, r->sizes[number]);
    if (status && number < r->failed) {
        r->failed = number;
        r->err = err;
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

static int read_all(struct read_all *r, size_t count, unsigned threads, struct pgk_err *err)
{
    uint64_t total = 0;
    r->sizes = pgk_mem_alloc(count, sizeof *r->sizes);
    if (!r->sizes)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        total += r->sizes[i] = size_of(&r->inputs[i]);
    if (pgk_pool_threads(threads, count) > 1)
        PGK_TRY(pgk_heap_share(r->heap, err));
    pthread_mutex_init(&r->lock, NULL);
    pgk_progress_start(&r->progress, "reading", "B", total);
    int status = pgk_pool_run(threads, count, read_one, r);
    pgk_progress_end(&r->progress);
    pthread_mutex_destroy(&r->lock);
    pgk_heap_unshare(r->heap);
    if (status && err)
        *err = r->err;
    return status;
}

int pgk_heap_read_all(struct pgk_heap **profile, const struct pgk_input *inputs, size_t n,
                      unsigned threads, struct pgk_err *err)
{
    struct read_all r = {.inputs = inputs, .failed = n};
    PGK_TRY(new_heap(&r.heap, err));
    int status = n ? read_all(&r, n, threads, err) : 0;
    pgk_mem_free(r.sizes);
    if (status)
        pgk_heap_close(&r.heap);
    else
        *profile = r.heap;
    return status;
}
