/* System calls. Only those that every processor has: with a directory, where older ones have a
 * form without. */
#include "guest_sys.h"

#include "guest_processor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* Arguments that are not given are 0. */
#define CALL(...) CALL_6(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define CALL_6(name, a, b, c, d, e, f, ...) \
    pgg_syscall(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum {
    USABLE = PROT_READ | PROT_WRITE,
    PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
};

bool pgg_confined;

/* ---- memory ---- */

long pgg_sys_pages(size_t bytes)
{
    return CALL(mmap, 0, bytes, USABLE, PRIVATE, -1);
}

bool pgg_sys_has_memory(size_t bytes)
{
    const long at = CALL(mmap, 0, bytes, USABLE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return at >= 0 && CALL(munmap, at, bytes) == 0;
}

long pgg_sys_pages_at(uintptr_t at, size_t bytes)
{
    return CALL(mmap, at, bytes, USABLE, PRIVATE | MAP_FIXED_NOREPLACE, -1);
}

long pgg_sys_reserve(void *at, size_t bytes)
{
    return CALL(mmap, at, bytes, PROT_NONE, PRIVATE | (at ? MAP_FIXED : 0), -1);
}

long pgg_sys_map_file(void *at, size_t bytes, int fd, u64 off)
{
    return fd < 0 ? CALL(mmap, at, bytes, USABLE, MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, -1)
                  : CALL(mmap, at, bytes, USABLE, MAP_FIXED | MAP_SHARED, fd, off);
}

long pgg_sys_map_code(void *at, size_t bytes, int fd)
{
    return CALL(mmap, at, bytes, PROT_READ | PROT_EXEC, MAP_FIXED | MAP_SHARED, fd);
}

/* Kernels that distinguish executable files need the flag; older ones do not know it. */
long pgg_sys_memory_file(const char *name)
{
    enum { MAY_RUN = 0x10 };
    const long fd = CALL(memfd_create, name, MFD_CLOEXEC | MAY_RUN);
    return fd == -EINVAL ? CALL(memfd_create, name, MFD_CLOEXEC) : fd;
}

int pgg_sys_unmap(void *start, size_t bytes)
{
    return (int)CALL(munmap, start, bytes);
}

long pgg_sys_resize_pages(void *start, size_t bytes, size_t to_bytes)
{
    return CALL(mremap, start, bytes, to_bytes);
}

long pgg_sys_move_pages(void *start, size_t bytes, void *to)
{
    enum { MAY_MOVE = 1, FIXED = 2, KEEP = 4 };
    return CALL(mremap, start, bytes, bytes, MAY_MOVE | FIXED | KEEP, to);
}

int pgg_sys_protect(void *start, size_t bytes, int allowed)
{
    return (int)CALL(mprotect, start, bytes, allowed);
}

int pgg_sys_advise(void *start, size_t bytes, int advice)
{
    return (int)CALL(madvise, start, bytes, advice);
}

long pgg_sys_copy_memory(void *to, const void *from, size_t n)
{
    const struct iovec here = {to, n}, there = {(void *)from, n};
    return CALL(process_vm_readv, pgg_sys_process(), &here, 1, &there, 1, 0);
}

int pgg_sys_in_core(const void *start, size_t bytes, unsigned char *pages)
{
    return (int)CALL(mincore, start, bytes, pages);
}

/* ---- files ---- */

long pgg_sys_open(const char *path, int flags, u32 mode)
{
    return CALL(openat, AT_FDCWD, path, flags, mode);
}

long pgg_sys_open_at(int dir, const char *path, int flags)
{
    return CALL(openat, dir, path, flags);
}

int pgg_sys_close(int fd)
{
    return (int)CALL(close, fd);
}

long pgg_sys_read(int fd, void *to, size_t n)
{
    return CALL(read, fd, to, n);
}

long pgg_sys_write(int fd, const void *from, size_t n)
{
    return CALL(write, fd, from, n);
}

int pgg_sys_write_all(int fd, const void *from, size_t n)
{
    const char *p = from;
    while (n) {
        long done = pgg_sys_write(fd, p, n);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            return done ? (int)done : -EIO;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

long pgg_sys_copy_descriptor(int fd, int lowest)
{
    return CALL(fcntl, fd, F_DUPFD_CLOEXEC, lowest);
}

long pgg_sys_move_descriptor(int fd, int lowest)
{
    const long higher = pgg_sys_copy_descriptor(fd, lowest);
    if (higher >= 0)
        pgg_sys_close(fd);
    return higher;
}

int pgg_sys_stat_at(const char *path, void *to, int flags)
{
    return (int)CALL(newfstatat, AT_FDCWD, path, to, flags);
}

int pgg_sys_stat(const char *path, struct stat *to)
{
    return pgg_sys_stat_at(path, to, 0);
}

int pgg_sys_fstat(int fd, struct stat *to)
{
    return (int)CALL(fstat, fd, to);
}

bool pgg_sys_exists(const char *path)
{
    return CALL(faccessat, AT_FDCWD, path) == 0;
}

int pgg_sys_make_directory(const char *path)
{
    return (int)CALL(mkdirat, AT_FDCWD, path, 0777);
}

int pgg_sys_rename(const char *from, const char *to)
{
    return (int)CALL(renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int pgg_sys_exchange(const char *one, const char *two)
{
    enum { EXCHANGE = 2 };
    return (int)CALL(renameat2, AT_FDCWD, one, AT_FDCWD, two, EXCHANGE);
}

int pgg_sys_remove(const char *path)
{
    return (int)CALL(unlinkat, AT_FDCWD, path);
}

int pgg_sys_truncate(int fd, u64 bytes)
{
    return (int)CALL(ftruncate, fd, bytes);
}

int pgg_sys_lock_file(int fd)
{
    enum { EXCLUSIVE = 2, AT_ONCE = 4 };
    return (int)CALL(flock, fd, EXCLUSIVE | AT_ONCE);
}

int pgg_sys_reserve_blocks(int fd, u64 off, u64 bytes)
{
    return (int)CALL(fallocate, fd, FALLOC_FL_KEEP_SIZE, off, bytes);
}

int pgg_sys_punch_blocks(int fd, u64 off, u64 bytes)
{
    return (int)CALL(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, bytes);
}

long pgg_sys_read_link(const char *path, char *to, size_t n)
{
    return CALL(readlinkat, AT_FDCWD, path, to, n);
}

long pgg_sys_directory(char *to, size_t n)
{
    return CALL(getcwd, to, n);
}

/* ---- the process ---- */

int pgg_sys_process(void)
{
    return (int)CALL(getpid);
}

int pgg_sys_thread(void)
{
    return (int)CALL(gettid);
}

void pgg_sys_yield(void)
{
    if (pgg_confined)
        pgg_pause();
    else
        CALL(sched_yield);
}

void pgg_sys_exit(int status)
{
    for (;;)
        CALL(exit_group, status);
}

int pgg_sys_signal_thread(int sig)
{
    return (int)CALL(tgkill, pgg_sys_process(), pgg_sys_thread(), sig);
}

int pgg_sys_signal_other(int thread, int sig)
{
    return (int)CALL(tgkill, pgg_sys_process(), thread, sig);
}

int pgg_sys_user(void)
{
    return (int)CALL(geteuid);
}

u32 pgg_sys_cpu(void)
{
    u32 cpu = 0;
    return CALL(getcpu, &cpu) < 0 ? UINT32_MAX : cpu;
}

int pgg_sys_limit(int resource, struct rlimit *to)
{
    return (int)CALL(prlimit64, 0, resource, 0, to);
}

int pgg_sys_filter_mode(void)
{
    return (int)CALL(prctl, PR_GET_SECCOMP);
}

bool pgg_sys_ticks_allowed(void)
{
    int state = PR_TSC_ENABLE;
    CALL(prctl, PR_GET_TSC, &state);
    return state == PR_TSC_ENABLE;
}

int pgg_sys_host(struct utsname *to)
{
    return (int)CALL(uname, to);
}

int pgg_sys_clock(clockid_t clock, struct timespec *to)
{
    return (int)CALL(clock_gettime, clock, to);
}

int pgg_sys_barrier(int command)
{
    return (int)CALL(membarrier, command);
}

u64 pgg_sys_user_ns(void)
{
    struct rusage used = {0};
    CALL(getrusage, RUSAGE_THREAD, &used);
    return (u64)used.ru_utime.tv_sec * 1000000000 + (u64)used.ru_utime.tv_usec * 1000;
}

long pgg_sys_timer_new(int thread, bool real_time, int sig, void *value)
{
    enum { VIRTUAL = 1, PER_THREAD = 4 }; /* of the kernel's numbers for clocks of threads */
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig};
    int timer = 0;
    event.sigev_value.sival_ptr = value;
    event._sigev_un._tid = thread;
    const clockid_t spent = (clockid_t)(~(u32)thread << 3) | PER_THREAD | VIRTUAL;
    const long err = CALL(timer_create, real_time ? CLOCK_MONOTONIC : spent, &event, &timer);
    return err < 0 ? err : timer;
}

int pgg_sys_timer_set(int timer, u64 ns)
{
    const struct itimerspec when = {.it_value = {(time_t)(ns / 1000000000),
                                                 (long)(ns % 1000000000)}};
    return (int)CALL(timer_settime, timer, 0, &when, 0);
}

int pgg_sys_timer_delete(int timer)
{
    return (int)CALL(timer_delete, timer);
}

int pgg_sys_signals_block(u64 signals)
{
    return (int)CALL(rt_sigprocmask, SIG_BLOCK, &signals, 0, sizeof signals);
}

int pgg_sys_signal_file(int fd, const void *signals, int flags)
{
    return (int)CALL(signalfd4, fd, signals, sizeof(u64), flags);
}

int pgg_sys_signal_queue(int sig, void *info)
{
    return (int)CALL(rt_tgsigqueueinfo, pgg_sys_process(), pgg_sys_thread(), sig, info);
}

long pgg_sys_exec(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    return CALL(execveat, dir, path, argv, envp, flags);
}

/* ---- threads of ours ---- */

long pgg_sys_start_thread(void *end, volatile u32 *number, void *pointer, void (*run)(void *),
                          void *arg)
{
    const u64 flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                      CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    return pgg_clone(SYS_clone, flags, end, number, pointer, run, arg);
}

int pgg_sys_block_signals(u64 *before)
{
    const u64 all = UINT64_MAX;
    return (int)CALL(rt_sigprocmask, SIG_SETMASK, &all, before, sizeof all);
}

void pgg_sys_restore_signals(u64 before)
{
    CALL(rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof before);
}

int pgg_sys_own_descriptors(void)
{
    return (int)CALL(close_range, 0, UINT32_MAX, CLOSE_RANGE_UNSHARE);
}

void pgg_sys_name_thread(const char *name)
{
    CALL(prctl, PR_SET_NAME, name);
}

void pgg_sys_end_thread(void)
{
    for (;;)
        CALL(exit, 0);
}

/* The kernel wakes who waits for the end of a thread as if it were of another process. */
void pgg_sys_wait_while(volatile u32 *word, u32 value)
{
    CALL(futex, word, FUTEX_WAIT, value);
}

void pgg_sys_wake(volatile u32 *word)
{
    CALL(futex, word, FUTEX_WAKE, INT32_MAX);
}

long pgg_sys_signal_descriptor(int sig)
{
    const u64 set = UINT64_C(1) << (sig - 1);
    return CALL(signalfd4, -1, &set, sizeof set, O_CLOEXEC | O_NONBLOCK);
}

/* ---- sockets ---- */

long pgg_sys_socket(void)
{
    return CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int pgg_sys_socket_mode(int fd, u32 mode)
{
    return (int)CALL(fchmod, fd, mode);
}

int pgg_sys_bind(int fd, const struct sockaddr_un *name)
{
    return (int)CALL(bind, fd, name, sizeof *name);
}

int pgg_sys_listen(int fd, int waiting)
{
    return (int)CALL(listen, fd, waiting);
}

int pgg_sys_connect(int fd, const struct sockaddr_un *name)
{
    return (int)CALL(connect, fd, name, sizeof *name);
}

long pgg_sys_accept(int fd)
{
    return CALL(accept4, fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int pgg_sys_poll(struct pollfd *fds, u32 n, u32 ms)
{
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    return (int)CALL(ppoll, fds, n, &limit);
}

/* ---- what programs ask for ---- */

long pgg_sys_pread(int fd, void *to, size_t n, off_t off)
{
    return CALL(pread64, fd, to, n, off);
}

long pgg_sys_pwrite(int fd, const void *from, size_t n, off_t off)
{
    return CALL(pwrite64, fd, from, n, off);
}

long pgg_sys_readv(int fd, const struct iovec *parts, int n)
{
    return CALL(readv, fd, parts, n);
}

long pgg_sys_writev(int fd, const struct iovec *parts, int n)
{
    return CALL(writev, fd, parts, n);
}

long pgg_sys_preadv(int fd, const struct iovec *parts, int n, off_t off)
{
    return CALL(preadv, fd, parts, n, off);
}

long pgg_sys_pwritev(int fd, const struct iovec *parts, int n, off_t off)
{
    return CALL(pwritev, fd, parts, n, off);
}

long pgg_sys_recv(int fd, void *to, size_t n, int flags, void *address, socklen_t *size)
{
    return CALL(recvfrom, fd, to, n, flags, address, size);
}

long pgg_sys_send(int fd, const void *from, size_t n, int flags, const void *address,
                  socklen_t size)
{
    return CALL(sendto, fd, from, n, flags, address, size);
}

long pgg_sys_recvmsg(int fd, struct msghdr *m, int flags)
{
    return CALL(recvmsg, fd, m, flags);
}

long pgg_sys_sendmsg(int fd, const struct msghdr *m, int flags)
{
    return CALL(sendmsg, fd, m, flags);
}

long pgg_sys_any(long number, const long *arguments)
{
    return pgg_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                       arguments[4], arguments[5]);
}

long pgg_sys_control(const long *arguments)
{
    return pgg_sys_any(SYS_prctl, arguments);
}

u32 pgg_sys_control_takes(const long *arguments)
{
    if (arguments[0] == PR_SET_SECCOMP)
        return PGG_LESS_CALLS | (arguments[1] == SECCOMP_MODE_STRICT ? PGG_LESS_TICKS : 0);
    return arguments[0] == PR_SET_TSC && arguments[1] == PR_TSC_SIGSEGV ? PGG_LESS_TICKS : 0;
}

u32 pgg_sys_any_takes(long number, const long *arguments)
{
    if (number == SYS_prctl)
        return pgg_sys_control_takes(arguments);
    if (number != SYS_seccomp)
        return 0;
    return arguments[0] == SECCOMP_SET_MODE_STRICT   ? PGG_LESS_CALLS | PGG_LESS_TICKS
           : arguments[0] == SECCOMP_SET_MODE_FILTER ? PGG_LESS_CALLS
                                                     : 0;
}

long pgg_sys_with_errno(long result)
{
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}
