/* What windows have seen goes to the objects and sums, once it is known what it stands for. */
#include "sampler_window.h"

#include "recorder_access.h"
#include "sampler_lock.h"
#include "sampler_sums.h"
#include "sampler_thread.h"

_Static_assert((u32)PGSM_WINDOWS == (u32)PGBR_WINDOWS_AT_ONCE, "one for each");

bool pgsm_window_keeps(const struct pgsm_note *note, u32 now_ms, u32 cpu)
{
    const u32 number = (u32)(pgsm_note_of((const void *)pgsm_start(note)) - pgsm_notes);
    for (struct pgsm_window *w = pgsm_windows; w < pgsm_windows + PGSM_WINDOWS; w++)
        for (struct pgsm_seen *seen = w->seen; seen < w->seen + w->n; seen++) {
            if (seen->note != number || seen->serial != note->serial || seen->ended)
                continue;
            seen->was = *note;
            seen->end_ms = now_ms;
            seen->end_cpu = cpu;
            seen->ended = true;
            return true;
        }
    return false;
}

/* The object, if it is still there. */
static struct pgsm_note *object_of(struct pgsm_seen *seen)
{
    struct pgsm_note *note = &pgsm_notes[seen->note];
    if (seen->ended)
        return &seen->was;
    return note->serial == seen->serial && note->state == PGSM_LIVE && note->context ? note : NULL;
}

/* What all objects of a context got from this window, squared: that is the variance if windows come
 * rarely. */
static void add_variance(struct pgsm_window *w, const double *more)
{
    for (u32 i = 0; i < w->n; i++) {
        const struct pgsm_note *note = object_of(&w->seen[i]);
        double all = 0;
        bool first = note;
        for (u32 k = 0; first && k < w->n; k++) {
            const struct pgsm_note *other = object_of(&w->seen[k]);
            if (!other || other->context != note->context)
                continue;
            first = k >= i;
            all += more[k];
        }
        struct pgsm_sum *sum = first ? pgsm_sum_of(note->context) : NULL;
        if (sum)
            sum->access_variance += all * all;
    }
}

static void take_seen(struct pgsm_window *w, double weight)
{
    double more[PGSM_SEEN];
    for (u32 i = 0; i < w->n; i++) {
        struct pgsm_seen *seen = &w->seen[i];
        struct pgsm_note *note = object_of(seen);
        struct pgsm_sum *sum = note ? pgsm_sum_of(note->context) : NULL;
        more[i] = 0;
        if (!sum)
            continue;
        note->loads += weight * seen->loads;
        note->stores += weight * seen->stores;
        note->hits += seen->loads + seen->stores;
        sum->hits += seen->loads + seen->stores;
        more[i] = weight * (seen->loads + seen->stores) * note->times;
    }
    add_variance(w, more);
    for (struct pgsm_seen *seen = w->seen; seen < w->seen + w->n; seen++) {
        struct pgsm_sum *sum = seen->ended ? pgsm_sum_of(seen->was.context) : NULL;
        if (sum)
            pgsm_sum_end(sum, &seen->was, seen->end_ms, seen->end_cpu);
    }
    w->n = 0;
}

/* The recorder begins no window inside of the sampler, but a signal handler may end one there: then
 * what was seen stays for the next window of this number. */
void pgsm_window_ended(u32 window, u64 weight)
{
    struct pgsm_window *w = &pgsm_windows[window];
    if (!w->n || pgsm_hot.busy)
        return;
    pgsm_lock();
    take_seen(w, (double)weight / (1 << PGBR_WEIGHT_PLACES));
    pgsm_unlock();
}

void pgsm_windows_finish(void)
{
    for (struct pgsm_window *w = pgsm_windows; w < pgsm_windows + PGSM_WINDOWS; w++)
        take_seen(w, 0);
}

void pgsm_windows_clear(void)
{
    for (struct pgsm_window *w = pgsm_windows; w < pgsm_windows + PGSM_WINDOWS; w++)
        w->n = 0;
}
