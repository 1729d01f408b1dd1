/* What a window sees, between two blocks of the program: compiled for general registers only. */
#include "sampler_window.h"

struct pgsm_window pgsm_windows[PGSM_WINDOWS];

/* An object that is not among the last ones is begun anew: what was seen of it before is added to
 * the same sums. Beyond the last entry nothing is seen; a window has few objects. */
static struct pgsm_seen *seen_of(struct pgsm_window *w, u32 number, u32 serial)
{
    for (u32 i = w->n; i--;)
        if (w->seen[i].note == number && w->seen[i].serial == serial)
            return &w->seen[i];
    if (w->n == PGSM_SEEN)
        return NULL;
    struct pgsm_seen *seen = &w->seen[w->n++];
    seen->note = number;
    seen->serial = serial;
    seen->loads = seen->stores = 0;
    seen->ended = false;
    return seen;
}

void pgsm_take(u32 window, u64 address, u32 bytes, u32 accesses, bool store)
{
    const struct pgsm_note *note = pgsm_note_at(address);
    if (!note || note->state != PGSM_LIVE || !note->context)
        return;
    struct pgsm_seen *seen = seen_of(&pgsm_windows[window], (u32)(note - pgsm_notes), note->serial);
    /* As the exact profile counts library functions, which is where most wide accesses are. */
    const u32 words = (bytes + 7) / 8, n = words > accesses ? words : accesses;
    if (seen)
        *(store ? &seen->stores : &seen->loads) += n;
}
