/* Progress of long work, which pgk_progress_enable() of the public log.h turns on: a bar on stderr
 * if that is a terminal. */
#ifndef PGK_PROGRESS_H
#define PGK_PROGRESS_H

#include "pgokit/log.h"

#include <stdint.h>

/* `what` names the work ("reading"), `unit` what is counted: "B" prints MB/s and time left, NULL
 * the time that has passed. */
struct pgk_progress {
    const char *what, *unit;
    uint64_t total;             /* 0: unknown */
    _Atomic uint64_t done;
    uint64_t start_ns, last_ns; /* when it started, and was last drawn */
    bool drawn;                 /* there is a bar to wipe */
    struct pgk_progress *outer; /* what it is a part of, which shows nothing meanwhile */
};
/* The texts and the struct must live until the end, which must be. */
void pgk_progress_start(struct pgk_progress *p, const char *what, const char *unit, uint64_t total);
void pgk_progress_add(struct pgk_progress *p, uint64_t more); /* one thread at a time */
void pgk_progress_end(struct pgk_progress *p);                /* wipes the bar */

/* Takes a progress bar off the screen until it is drawn next, so that a message gets a
 * line of its own. */
void pgk_progress_wipe(void);

#endif
