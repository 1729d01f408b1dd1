/* What a thread keeps: the count to its next sample, exact sums, its walks. */
#include "sampler_thread.h"

#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "sampler_options.h"

#include <pthread.h>

PGG_TLS struct pgsm_hot pgsm_hot;

static struct pgsm_thread *volatile threads;
static pthread_key_t key;
static bool key_made;
static volatile u32 lock; /* of `hot` of all, which go with their threads */

/* Its sums stay in the record, which another thread takes over. */
static void end(void *arg)
{
    struct pgsm_thread *t = arg;
    struct pgsm_hot *hot = &pgsm_hot;
    const u64 charged = hot->charged + (hot->drawn - hot->left), objects = hot->objects;
    *hot = (struct pgsm_hot){
        .left = UINT64_C(1) << 62, .drawn = UINT64_C(1) << 62, .ended = true, .busy = 1};
    pgg_lock(&lock);
    t->hot = NULL;
    t->charged += charged;
    t->objects += objects;
    pgg_unlock(&lock);
    hot->busy = 0;
    __atomic_store_n(&t->used, 0, __ATOMIC_RELEASE);
}

void pgsm_threads_init(void)
{
    key_made = pthread_key_create(&key, end) == 0;
}

static struct pgsm_thread *take_record(void)
{
    for (struct pgsm_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next)
        if (!t->used && !__atomic_exchange_n(&t->used, 1, __ATOMIC_ACQ_REL))
            return t;
    struct pgsm_thread *t = pgg_map(pgg_whole_pages(sizeof *t));
    if (!t)
        return NULL;
    t->used = 1;
    t->next = threads;
    while (!__atomic_compare_exchange_n(&threads, &t->next, t, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return t;
}

/* Without a key, nobody would know that the thread has ended. */
static PGG_COLD struct pgsm_thread *begin(struct pgsm_hot *hot)
{
    static volatile u32 number;
    if (hot->ended || hot->busy || !key_made)
        return NULL;
    hot->busy = 1; /* the C library may allocate in here */
    struct pgsm_thread *t = take_record();
    if (t && pthread_setspecific(key, t)) {
        __atomic_store_n(&t->used, 0, __ATOMIC_RELEASE);
        t = NULL;
    }
    if (t) {
        const u64 n = __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED);
        pgsm_random_seed(&t->random, pgsm_options.seed ? pgsm_options.seed + (n << 32)
                                                       : pgg_ticks() ^ (u64)pgg_sys_thread() << 40);
        pgg_walker_init(&t->walker);
        t->hot = hot;
    }
    hot->self = t;
    hot->busy = 0;
    return t;
}

struct pgsm_thread *pgsm_thread(void)
{
    struct pgsm_hot *hot = &pgsm_hot;
    return PGG_LIKELY(hot->self) ? hot->self : begin(hot);
}

struct pgsm_made pgsm_made(void)
{
    struct pgsm_made made = {0};
    u32 n = 0;
    pgg_lock(&lock);
    for (struct pgsm_thread *t = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); t; t = t->next) {
        const volatile struct pgsm_hot *hot = t->hot;
        u64 charged = t->charged, objects = t->objects;
        if (hot) {
            charged += hot->charged + (hot->drawn - hot->left);
            objects += hot->objects;
        }
        made.bytes += charged - objects * PGSM_EACH;
        made.objects += objects;
        n += objects != 0;
    }
    pgg_unlock(&lock);
    made.several = n > 1;
    return made;
}

/* Other threads are not in the child, and their variables may be overwritten there. */
void pgsm_threads_after_fork(void)
{
    struct pgsm_hot *hot = &pgsm_hot;
    lock = 0;
    for (struct pgsm_thread *t = threads; t; t = t->next) {
        t->charged = t->objects = 0;
        if (t == hot->self)
            continue;
        t->hot = NULL;
        t->used = 0;
    }
    hot->charged = hot->objects = 0;
    hot->drawn = hot->left;
    if (hot->self && !pgsm_options.seed)
        pgsm_random_seed(&hot->self->random, pgg_ticks());
}
