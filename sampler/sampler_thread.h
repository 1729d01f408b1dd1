/* What a thread keeps: the count to its next sample, exact sums, its walks. */
#ifndef PGSM_THREAD_H
#define PGSM_THREAD_H

#include "guest_depot.h"
#include "sampler_draw.h"

#pragma GCC visibility push(hidden)

/* Of a thread, as long as it needs them: the records of ended threads are taken over. */
struct pgsm_thread {
    struct pgsm_thread *next;
    volatile u32 used;
    const struct pgsm_hot *volatile hot; /* NULL: the thread has ended */
    u64 charged, objects;                /* by threads that have ended */
    struct pgsm_random random;
    struct pgg_walker walker;
    u64 pcs[PGG_DEPTH_MAX];
};

/* The variables of a thread that the way of all objects touches. */
struct pgsm_hot {
    u64 left;                 /* bytes to the next sample, PGSM_EACH for each object among them */
    u64 objects;              /* that it made */
    u64 drawn;                /* what `left` was when the count began */
    u64 charged;              /* bytes counted before that, PGSM_EACH for each object among them */
    double mean;              /* distance that `drawn` was drawn with; 0: nobody draws */
    struct pgsm_thread *self; /* NULL: none, or not yet */
    u32 busy;                 /* inside of the sampler: what the thread allocates is not sampled */
    bool ended;
};
extern PGG_TLS struct pgsm_hot pgsm_hot;

void pgsm_threads_init(void);
/* The calling thread's record, made when it is asked for first; NULL: it ends, or no memory. */
struct pgsm_thread *pgsm_thread(void);
/* Bytes and objects that all threads have made so far. By a thread that is busy. */
struct pgsm_made {
    u64 bytes, objects;
    bool several; /* threads made some */
};
struct pgsm_made pgsm_made(void);
void pgsm_threads_after_fork(void); /* in the child: nothing was made */

/* Counts an object of the calling thread; true: a sample lies in it. */
PGG_INLINE bool pgsm_count(u64 bytes)
{
    pgsm_hot.objects++;
    return __builtin_sub_overflow(pgsm_hot.left, bytes + PGSM_EACH, &pgsm_hot.left);
}

#pragma GCC visibility pop
#endif
