/* Reading many files on several threads, for kinds of profiles whose merge does not depend on
 * order or grouping: each share of the files is read into a profile of its own, one file after
 * the other; the shares are added up at the end. Shows its progress. */
#ifndef PGK_SHARES_H
#define PGK_SHARES_H

#include "fail.h"
#include "pgokit/log.h"

#include <pthread.h>
#include <stddef.h>

/* More shares do not pay: what was read has to be added again. */
enum { PGK_SHARES_MAX = 8 };

struct pgk_shares {
    int (*read)(void *ctx, size_t share, size_t input, struct pgk_err *err);
    int (*merge)(void *ctx, size_t share, struct pgk_err *err); /* into share 0 */
    void *ctx;
    size_t inputs, n; /* n: shares, set by pgk_shares_plan */
    size_t least;     /* inputs that a share must have to be worth a profile of its own */
    struct pgk_err errs[PGK_SHARES_MAX];
    pthread_mutex_t lock; /* of `progress` */
    struct pgk_progress progress;
};

/* How many shares there are for so many inputs; 1 or more. */
void pgk_shares_plan(struct pgk_shares *s, unsigned threads);
PGK_MUST_USE int pgk_shares_run(struct pgk_shares *s, struct pgk_err *err);

#endif
