/* Reading many files on several threads. */
#include "shares.h"

#include "pool.h"

void pgk_shares_plan(struct pgk_shares *s, unsigned threads)
{
    s->n = pgk_pool_threads(threads, s->inputs / s->least);
    if (s->n > PGK_SHARES_MAX)
        s->n = PGK_SHARES_MAX;
    if (s->n < 1)
        s->n = 1;
}

static int read_share(void *ctx, size_t share, unsigned worker)
{
    struct pgk_shares *s = ctx;
    size_t first = s->inputs * share / s->n, end = s->inputs * (share + 1) / s->n;
    (void)worker;
    for (size_t i = first; i < end; i++) {
        PGK_TRY(s->read(s->ctx, share, i, &s->errs[share]));
        pthread_mutex_lock(&s->lock);
        pgk_progress_add(&s->progress, 1);
        pthread_mutex_unlock(&s->lock);
    }
    return 0;
}

static int first_error(const struct pgk_shares *s, int status, struct pgk_err *err)
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

int pgk_shares_run(struct pgk_shares *s, struct pgk_err *err)
{
    pthread_mutex_init(&s->lock, NULL);
    pgk_progress_start(&s->progress, "reading", "files", s->inputs);
    int status = pgk_pool_run((unsigned)s->n, s->n, read_share, s);
    pgk_progress_end(&s->progress);
    pthread_mutex_destroy(&s->lock);
    if (status)
        return first_error(s, status, err);
    for (size_t i = 1; i < s->n; i++)
        PGK_TRY(s->merge(s->ctx, i, err));
    return 0;
}
