/* Reading many files into one profile, of kinds whose merge does not depend on order or grouping:
 * each share of the files is read into a profile of its own, one file after the other, and the
 * shares are added up at the end. Heap profiles are read into one model: heap_read_all.c. */
#include "pgokit/format.h"

#include "fail.h"
#include "pool.h"
#include "progress.h"

#include <pthread.h>

/* More shares do not pay: what was read has to be added again. */
enum { SHARES_MAX = 8 };

/* The functions for profiles of one kind. */
struct kind {
    int (*new)(void **profile, struct pgk_err *err);
    int (*read)(void *profile, const struct pgk_input *input, struct pgk_err *err);
    int (*merge)(void *into, const void *from, struct pgk_err *err);
    void (*close)(void **profile);
    size_t least; /* inputs that a share must have to be worth a profile of its own */
};

struct shares {
    const struct kind *kind;
    const struct pgk_input *inputs;
    size_t n_inputs, n;
    void *profiles[SHARES_MAX];
    struct pgk_err errs[SHARES_MAX];
    pthread_mutex_t lock; /* of `progress` */
    struct pgk_progress progress;
};

static int read_share(void *ctx, size_t share, unsigned worker)
{
    struct shares *s = ctx;
    size_t first = s->n_inputs * share / s->n, end = s->n_inputs * (share + 1) / s->n;
    (void)worker;
    for (size_t i = first; i < end; i++) {
        PGK_TRY(s->kind->read(s->profiles[share], &s->inputs[i], &s->errs[share]));
        pthread_mutex_lock(&s->lock);
        pgk_progress_add(&s->progress, 1);
        pthread_mutex_unlock(&s->lock);
    }
    return 0;
}

static int first_error(const struct shares *s, int status, struct pgk_err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->errs[i].status == status) {
            if (err)
                *err = s->errs[i];
            return status;
        }
    }
    return pgk_fail_nomem(err);
}

static int run(struct shares *s, struct pgk_err *err)
{
    for (size_t i = 0; i < s->n; i++)
        PGK_TRY(s->kind->new(&s->profiles[i], err));
    pthread_mutex_init(&s->lock, NULL);
    pgk_progress_start(&s->progress, "reading", "files", s->n_inputs);
    int status = pgk_pool_run((unsigned)s->n, s->n, read_share, s);
    pgk_progress_end(&s->progress);
    pthread_mutex_destroy(&s->lock);
    if (status)
        return first_error(s, status, err);
    for (size_t i = 1; i < s->n; i++) {
        PGK_TRY(s->kind->merge(s->profiles[0], s->profiles[i], err));
        s->kind->close(&s->profiles[i]);
    }
    return 0;
}

static int read_all(const struct kind *kind, void **profile, const struct pgk_input *inputs,
                    size_t n, unsigned threads, struct pgk_err *err)
{
    struct shares s = {.kind = kind, .inputs = inputs, .n_inputs = n};
    s.n = pgk_pool_threads(threads, n / kind->least);
    s.n = s.n > SHARES_MAX ? SHARES_MAX : s.n < 1 ? 1 : s.n;
    int status = run(&s, err);
    if (!status) {
        *profile = s.profiles[0];
        s.profiles[0] = NULL;
    }
    for (size_t i = 0; i < s.n; i++)
        kind->close(&s.profiles[i]);
    return status;
}

#define KIND(name, merge_call, at_least)                                                       \
    static int name##_new(void **profile, struct pgk_err *err)                                 \
    {                                                                                          \
        return pgk_##name##_new((struct pgk_##name **)profile, err);                           \
    }                                                                                          \
    static int name##_read(void *profile, const struct pgk_input *input, struct pgk_err *err)  \
    {                                                                                          \
        return input->file ? pgk_##name##_read_file(profile, input->file, input->weight, err)  \
                           : pgk_##name##_read(profile, input->path, input->weight, err);      \
    }                                                                                          \
    static int name##_merge(void *into, const void *from, struct pgk_err *err)                 \
    {                                                                                          \
        return merge_call;                                                                     \
    }                                                                                          \
    static void name##_close(void **profile)                                                   \
    {                                                                                          \
        pgk_##name##_close((struct pgk_##name **)profile);                                     \
    }                                                                                          \
    static const struct kind name##_kind = {name##_new, name##_read, name##_merge,             \
                                            name##_close, at_least};

/* Most of a file of counters are zeros, which cost next to nothing. A program's counters of gcc are
 * small files that are read faster than shared out. */
KIND(instr, pgk_instr_merge(into, from, 1, err), 64)
KIND(sample, pgk_sample_merge(into, from, 1, err), 32)
KIND(gcov, ((void)into, (void)from, pgk_fail_nomem(err)), SIZE_MAX)

int pgk_instr_read_all(struct pgk_instr **profile, const struct pgk_input *inputs, size_t n,
                       unsigned threads, struct pgk_err *err)
{
    PGK_TRY(read_all(&instr_kind, (void **)profile, inputs, n, threads, err));
    if (!pgk_instr_conflicts(*profile) || threads == 1)
        return 0;
    /* One by one, so that each conflict names the file that brought it. */
    pgk_instr_close(profile);
    return read_all(&instr_kind, (void **)profile, inputs, n, 1, err);
}

int pgk_sample_read_all(struct pgk_sample **profile, const struct pgk_input *inputs, size_t n,
                        unsigned threads, struct pgk_err *err)
{
    return read_all(&sample_kind, (void **)profile, inputs, n, threads, err);
}

int pgk_gcov_read_all(struct pgk_gcov **profile, const struct pgk_input *inputs, size_t n,
                      unsigned threads, struct pgk_err *err)
{
    (void)threads;
    return read_all(&gcov_kind, (void **)profile, inputs, n, 1, err);
}
