/* Functions of the C library in a program that is linked with -static. */
#include "guest_sys.h"
#include "recorder_real.h"

/* Names of the C library's archive. */
int __pthread_create_2_1(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __thrd_create(thrd_t *, thrd_start_t, void *);
int __sigwait(const sigset_t *, int *);
int __sigwaitinfo(const sigset_t *, siginfo_t *);
int __sigtimedwait(const sigset_t *, siginfo_t *, const struct timespec *);

/* The only one that has no second name; it does nothing but this call. */
static int real_signalfd(int fd, const sigset_t *mask, int flags)
{
    return (int)pgg_sys_with_errno(pgg_sys_signal_file(fd, mask, flags));
}

const struct pgbr_real *pgbr_real(void)
{
    static const struct pgbr_real real = {
        .pthread_create = __pthread_create_2_1,
        .thrd_create = __thrd_create,
        .sigwait = __sigwait,
        .sigwaitinfo = __sigwaitinfo,
        .sigtimedwait = __sigtimedwait,
        .signalfd = real_signalfd,
    };
    return &real;
}

/* Nothing can be preloaded here. */
bool pgbr_real_alone(void)
{
    return false;
}
