/* Begin and end of sampled objects. */
#include "sampler_object.h"

#include "guest_bytes.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "sampler_budget.h"
#include "sampler_dump.h"
#include "sampler_lock.h"
#include "sampler_probe.h"
#include "sampler_sums.h"
#include "sampler_time.h"
#include "sampler_window.h"

#include <stdlib.h>

enum { UNSAMPLED_BYTES = 1 << 20 }; /* until a thread looks again whether samples are drawn */

volatile bool pgsm_on;
u64 pgsm_dropped;
static volatile u32 waiting; /* first note of a list */

/* ---- the count ---- */

/* Ends the count so far, to which `bytes` do not belong, and begins one to the next sample. */
static void draw_next(struct pgsm_hot *hot, u64 bytes)
{
    struct pgsm_thread *t = pgsm_on ? pgsm_thread() : NULL;
    hot->charged += hot->drawn - hot->left - bytes;
    hot->mean = t ? pgsm_mean() : 0;
    hot->left = hot->drawn = t ? pgsm_draw(&t->random, hot->mean) : UNSAMPLED_BYTES;
}

/* Objects that the one at hand stands for, if it is sampled; else 0. Where nobody drew so far, the
 * count to the first sample begins with it. */
static double drawn_times(size_t bytes)
{
    struct pgsm_hot *hot = &pgsm_hot;
    const u64 counted = bytes + PGSM_EACH;
    if (bytes > PTRDIFF_MAX) { /* nobody has so much: no object was made */
        hot->left += counted;
        hot->objects--;
        return 0;
    }
    if (!(hot->mean > 0)) {
        draw_next(hot, counted);
        if (!__builtin_sub_overflow(hot->left, counted, &hot->left))
            return 0;
    }
    const double mean = hot->mean;
    draw_next(hot, 0);
    return mean > 0 && pgsm_on && !hot->busy && hot->self ? 1 / pgsm_probability(bytes, mean) : 0;
}

void pgsm_draw_anew(void)
{
    draw_next(&pgsm_hot, 0);
}

/* ---- begin ---- */

static u32 context_of(struct pgsm_thread *t, const void *frame)
{
    const u32 known = pgg_walk_known(&t->walker, frame);
    if (known)
        return known;
    struct pgg_stack_found found = pgg_walk(&t->walker, frame, t->pcs);
    const u32 id = pgg_context_of_walk(&t->walker, frame, &found, t->pcs);
    if (id)
        pgg_walk_remember(found.reads, id);
    return id;
}

/* With the lock. */
static void note_begin(struct pgsm_note *note, u32 context, double times)
{
    struct pgsm_sum *sum = context ? pgsm_sum_have(context) : NULL;
    note->context = sum ? context : 0;
    note->times = times;
    note->born_ms = pgsm_now_ms();
    note->cpu = (uint16_t)pgsm_cpu();
    if (!sum) {
        pgsm_dropped++;
        return;
    }
    pgsm_sum_begin(sum, note);
    pgsm_probe_alloc((const void *)pgsm_start(note), note->size,
                     (u64)((double)note->size * times + 0.5));
}

void *pgsm_begin(size_t bytes, size_t align, bool zero, const void *frame)
{
    struct pgsm_hot *hot = &pgsm_hot;
    const double times = drawn_times(bytes);
    if (!(times > 0))
        return NULL;
    const u64 ticks = pgg_ticks();
    hot->busy = 1;
    const u32 context = context_of(hot->self, frame);
    hot->busy = 0;
    pgsm_lock();
    struct pgsm_note *note = pgsm_range_take(bytes, align, zero);
    void *p = NULL;
    if (note) {
        note_begin(note, context, times);
        p = (void *)pgsm_start(note);
    } else {
        pgsm_dropped++;
    }
    pgsm_unlock();
    pgsm_spent(ticks);
    pgsm_dump_if_due();
    return p;
}

void *pgsm_begin_unseen(size_t bytes, size_t align)
{
    struct pgsm_note *note = pgsm_range_take(bytes, align, true);
    return note ? (void *)pgsm_start(note) : NULL;
}

/* ---- end ---- */

static PGG_COLD __attribute__((noreturn)) void is_wrong(const char *what)
{
    pgsm_say(what, "the program frees memory that it does not have");
    abort();
}

/* Of no profile is what no sum has: it was made before sampling began, or in another process. */
static void end_sampled(const struct pgsm_note *note)
{
    struct pgsm_sum *sum = note->context ? pgsm_sum_of(note->context) : NULL;
    if (!sum)
        return;
    pgsm_probe_free((const void *)pgsm_start(note));
    const u32 now_ms = pgsm_now_ms(), cpu = pgsm_cpu();
    if (!pgsm_window_keeps(note, now_ms, cpu))
        pgsm_sum_end(sum, note, now_ms, cpu);
}

static void end_note(struct pgsm_note *note)
{
    end_sampled(note);
    pgsm_range_give(note);
}

void pgsm_end_waiting(void)
{
    if (PGG_LIKELY(!waiting))
        return;
    for (u32 next, at = __atomic_exchange_n(&waiting, 0, __ATOMIC_ACQ_REL); at; at = next) {
        next = pgsm_notes[at].next;
        end_note(&pgsm_notes[at]);
    }
}

static void wait(struct pgsm_note *note)
{
    u32 first = __atomic_load_n(&waiting, __ATOMIC_RELAXED);
    do
        note->next = first;
    while (!__atomic_compare_exchange_n(&waiting, &first, (u32)(note - pgsm_notes), false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static struct pgsm_note *live_note(const void *p, uint8_t becomes)
{
    struct pgsm_note *note = pgsm_note_of(p);
    uint8_t live = PGSM_LIVE;
    if (PGG_UNLIKELY(!note))
        is_wrong("free(): invalid pointer");
    if (PGG_UNLIKELY(!__atomic_compare_exchange_n(&note->state, &live, becomes, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
        is_wrong("free(): memory that is free already");
    return note;
}

/* A handler of signals may free while its thread is in the sampler. */
void pgsm_end(void *p)
{
    struct pgsm_note *note = live_note(p, PGSM_WAITS);
    if (PGG_UNLIKELY(pgsm_hot.busy)) {
        wait(note);
        return;
    }
    const u64 ticks = pgg_ticks();
    pgsm_lock();
    end_note(note);
    pgsm_unlock();
    pgsm_spent(ticks);
}

/* ---- questions ---- */

size_t pgsm_object_usable(const void *p)
{
    const struct pgsm_note *note = pgsm_note_of(p);
    if (PGG_UNLIKELY(!note || note->state != PGSM_LIVE))
        is_wrong("invalid pointer");
    return pgsm_usable(note);
}

/* ---- realloc ---- */

/* The object ends, and another one begins where it was. */
static bool again_in_place(struct pgsm_note *note, size_t bytes, u32 context, double times)
{
    const struct pgsm_note before = *note;
    if (!pgsm_range_resize(note, bytes))
        return false;
    end_sampled(&before);
    note->loads = note->stores = 0;
    note->hits = note->context = 0;
    note->serial++;
    if (times > 0)
        note_begin(note, context, times);
    return true;
}

/* A program may use all that malloc_usable_size said, not only what it asked for. */
static void copy(struct pgsm_note *to, const struct pgsm_note *from)
{
    const size_t had = pgsm_usable(from), bytes = had < to->size ? had : to->size;
    if (!pgsm_range_move(from, to))
        pgg_copy((void *)pgsm_start(to), (const void *)pgsm_start(from), bytes);
}

/* With the lock. What stays in place is there without a sample, too, until it is freed. */
static void *again_locked(struct pgsm_note *note, size_t bytes, u32 context, double times)
{
    if (again_in_place(note, bytes, context, times))
        return (void *)pgsm_start(note);
    struct pgsm_note *to = times > 0 ? pgsm_range_take(bytes, PGSM_ALIGN, false) : NULL;
    if (!to)
        return NULL;
    copy(to, note);
    note_begin(to, context, times);
    end_note(note);
    return (void *)pgsm_start(to);
}

bool pgsm_again(void *p, size_t bytes, const void *frame, void **out)
{
    struct pgsm_hot *hot = &pgsm_hot;
    const double times = pgsm_count(bytes) ? drawn_times(bytes) : 0;
    struct pgsm_note *note = pgsm_note_of(p);
    u32 context = 0;
    if (PGG_UNLIKELY(!note || note->state != PGSM_LIVE))
        is_wrong("realloc(): invalid pointer");
    if (PGG_UNLIKELY(hot->busy || bytes > PTRDIFF_MAX))
        return false;
    const u64 ticks = pgg_ticks();
    if (times > 0) {
        hot->busy = 1;
        context = context_of(hot->self, frame);
        hot->busy = 0;
    }
    pgsm_lock();
    *out = again_locked(note, bytes, context, times);
    pgsm_unlock();
    pgsm_spent(ticks);
    return *out;
}
