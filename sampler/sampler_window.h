/* Loads and stores that the recorder's windows see. */
#ifndef PGSM_WINDOW_H
#define PGSM_WINDOW_H

#include "sampler_range.h"

#pragma GCC visibility push(hidden)

enum { PGSM_WINDOWS = 4, PGSM_SEEN = 64 };

/* An object of which a window has seen accesses. If it has ended since, `was` has its note, which
 * goes into the sums when the window's weight is known. */
struct pgsm_seen {
    u32 note, serial, loads, stores;
    bool ended;
    u32 end_ms, end_cpu;
    struct pgsm_note was;
};
struct pgsm_window {
    u32 n;
    struct pgsm_seen seen[PGSM_SEEN];
};
extern struct pgsm_window pgsm_windows[PGSM_WINDOWS];

/* For the recorder (recorder_access.h). */
void pgsm_take(u32 window, u64 address, u32 bytes, u32 accesses, bool store);
void pgsm_window_ended(u32 window, u64 weight);
/* With the lock. Whether a window has seen the object, which ends now: the window adds it to its
 * sum. */
bool pgsm_window_keeps(const struct pgsm_note *note, u32 now_ms, u32 cpu);
/* With the lock, at the end: objects that wait for a window go to their sums without what it
 * saw. */
void pgsm_windows_finish(void);
void pgsm_windows_clear(void);

#pragma GCC visibility pop
#endif
