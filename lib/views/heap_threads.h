/* Which thread allocated: the first one of the process, or those that run a function. A heap
 * profile does not number threads, but whole stacks end where threads start. */
#ifndef PGK_HEAP_THREADS_H
#define PGK_HEAP_THREADS_H

#include "heap_frames.h"

enum {
    PGK_THREAD_UNKNOWN, /* the stack does not say it */
    PGK_THREAD_MAIN,    /* the first thread */
    PGK_THREAD_FUNC     /* and more: of threads that run function `n - PGK_THREAD_FUNC` of the tree:
                           the outermost one that is of no library of the language or system */
};

/* By the outermost frames of a stack, which is known to have all of them. `program` is the path of
 * the process's file, "" if that is not known. */
uint32_t pgk_frames_thread(const struct pgk_heap_frames *t, uint32_t stack, const char *program);

#endif
