/* A thread of our own in somebody else's process, which the C library does not know: it makes
 * system calls alone, has a stack, thread variables and descriptors of its own, and blocks all
 * signals. What it opens takes no number of the program's descriptors, and nothing that the program
 * closes is kept open by it. It is not there in a child. */
#ifndef PGG_HELPER_H
#define PGG_HELPER_H

#include "guest.h"

#pragma GCC visibility push(hidden)

extern PGG_TLS u32 pgg_is_helper; /* 1 in such a thread, else 0 */

/* Its descriptor that can be read once it is to end. */
enum { PGG_HELPER_BELL = 0 };

struct pgg_helper {
    int (*begin)(void);  /* 0, or a negative error number: it ends */
    void (*serve)(void); /* until the bell rings */
    const char *name;    /* of the thread: 15 bytes at most */
    const void *furthest; /* from the thread pointer, of the caller's variables that it uses */
    char *memory;
    volatile u32 number; /* of the thread; 0 once it has ended */
    volatile u32 began;
    int error;
};

/* Waits until `begin` has returned: 0, its error, or that there is no such thread. Signals do not
 * end this wait, nor does it take long. */
int pgg_helper_start(struct pgg_helper *h);
/* Rings the bell and waits for the end of the thread. */
void pgg_helper_end(struct pgg_helper *h);
void pgg_helper_ring(const struct pgg_helper *h); /* without waiting */
bool pgg_helper_runs(const struct pgg_helper *h);

#pragma GCC visibility pop
#endif
