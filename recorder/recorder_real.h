/* Functions of the C library in front of which the recorder has its own of the same name. In a
 * dynamic program they are looked up (recorder_real_dynamic.c). A static one has nothing that could
 * look them up, but its archive of the C library has a second name for each, by which the library
 * calls them itself (recorder_real_static.c). */
#ifndef PGBR_REAL_H
#define PGBR_REAL_H

#include "pgbr.h"

#include <pthread.h>
#include <signal.h>
#include <threads.h>
#include <time.h>

#pragma GCC visibility push(hidden)

struct pgbr_real {
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*sigwait)(const sigset_t *, int *);
    int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*signalfd)(int, const sigset_t *, int);
    int (*dlclose)(void *); /* of a dynamic program */
};
const struct pgbr_real *pgbr_real(void);
/* A program that is linked with the recorder may run with it preloaded, too. The program's recorder
 * records, because its functions come first. The other one may have started before, and is
 * stopped. True: there was one. */
bool pgbr_real_alone(void);

#pragma GCC visibility pop
#endif
