/* Input and output by system calls: what the kernel reads and writes of the program's memory. The
 * calls are made here, as the C library's have no second name. Threads can be cancelled in them.
 * Weak: in a static program the C library's own may be there as well. */
#undef _FILE_OFFSET_BITS /* or the names without 64 become those with it */
#include "pgrt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define REPLACES PGRT_EXPORT __attribute__((weak))

static long with_errno(long result)
{
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

/* A system call that a thread can be cancelled in, as the C library makes it. */
#define CANCELLABLE(...)                                             \
    __extension__({                                                  \
        int type_;                                                   \
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type_);  \
        long result_ = with_errno(pgrt_syscall(__VA_ARGS__));        \
        int error_ = errno;                                          \
        pthread_setcanceltype(type_, &type_);                        \
        errno = error_;                                              \
        result_;                                                     \
    })

/* Counts the bytes done, from the first buffer on. */
static ssize_t count_parts(const struct iovec *parts, size_t n, ssize_t done)
{
    size_t left = done > 0 ? (size_t)done : 0;
    for (size_t i = 0; i < n && left; i++) {
        size_t here = parts[i].iov_len < left ? parts[i].iov_len : left;
        pgrt_count_range(parts[i].iov_base, here);
        left -= here;
    }
    return done;
}

/* Of a message that is cut off its whole length may come back. */
static ssize_t count_bytes(const void *start, size_t room, ssize_t done)
{
    if (done > 0)
        pgrt_count_range(start, (size_t)done < room ? (size_t)done : room);
    return done;
}

/* Of `n` bytes at `at`. */
#define TRANSFER(name, params, at, number, ...)                        \
    REPLACES ssize_t name params;                                      \
    ssize_t name params                                                \
    {                                                                  \
        return count_bytes(at, n, CANCELLABLE(number, __VA_ARGS__));   \
    }
#define TRANSFER_PARTS(name, params, parts, n, number, ...)                         \
    REPLACES ssize_t name params;                                                   \
    ssize_t name params                                                             \
    {                                                                               \
        return count_parts(parts, (size_t)(n), CANCELLABLE(number, __VA_ARGS__));   \
    }

#define L(x) ((long)(x))
TRANSFER(pread, (int fd, void *to, size_t n, off_t off), to, SYS_pread64, L(fd), to, n, off, 0L, 0L)
TRANSFER(pread64, (int fd, void *to, size_t n, off64_t off), to, SYS_pread64, L(fd), to, n, off, 0L,
         0L)
TRANSFER(pwrite, (int fd, const void *from, size_t n, off_t off), from, SYS_pwrite64, L(fd), from,
         n, off, 0L, 0L)
TRANSFER(pwrite64, (int fd, const void *from, size_t n, off64_t off), from, SYS_pwrite64, L(fd),
         from, n, off, 0L, 0L)
TRANSFER(recv, (int fd, void *to, size_t n, int flags), to, SYS_recvfrom, L(fd), to, n, L(flags),
         0L, 0L)
TRANSFER(send, (int fd, const void *from, size_t n, int flags), from, SYS_sendto, L(fd), from, n,
         L(flags), 0L, 0L)
TRANSFER(recvfrom,
         (int fd, void *restrict to, size_t n, int flags, __SOCKADDR_ARG address,
          socklen_t *restrict size),
         to, SYS_recvfrom, L(fd), to, n, L(flags), address.__sockaddr__, size)
TRANSFER(sendto,
         (int fd, const void *from, size_t n, int flags, __CONST_SOCKADDR_ARG address,
          socklen_t size),
         from, SYS_sendto, L(fd), from, n, L(flags), address.__sockaddr__, L(size))

TRANSFER_PARTS(readv, (int fd, const struct iovec *parts, int n), parts, n, SYS_readv, L(fd), parts,
               L(n), 0L, 0L, 0L)
TRANSFER_PARTS(writev, (int fd, const struct iovec *parts, int n), parts, n, SYS_writev, L(fd),
               parts, L(n), 0L, 0L, 0L)
TRANSFER_PARTS(preadv, (int fd, const struct iovec *parts, int n, off_t off), parts, n, SYS_preadv,
               L(fd), parts, L(n), off, 0L, 0L)
TRANSFER_PARTS(preadv64, (int fd, const struct iovec *parts, int n, off64_t off), parts, n,
               SYS_preadv, L(fd), parts, L(n), off, 0L, 0L)
TRANSFER_PARTS(pwritev, (int fd, const struct iovec *parts, int n, off_t off), parts, n,
               SYS_pwritev, L(fd), parts, L(n), off, 0L, 0L)
TRANSFER_PARTS(pwritev64, (int fd, const struct iovec *parts, int n, off64_t off), parts, n,
               SYS_pwritev, L(fd), parts, L(n), off, 0L, 0L)
TRANSFER_PARTS(recvmsg, (int fd, struct msghdr *m, int flags), m->msg_iov, m->msg_iovlen,
               SYS_recvmsg, L(fd), m, L(flags), 0L, 0L, 0L)
TRANSFER_PARTS(sendmsg, (int fd, const struct msghdr *m, int flags), m->msg_iov, m->msg_iovlen,
               SYS_sendmsg, L(fd), m, L(flags), 0L, 0L, 0L)

/* ---- what the C library's headers make of them when a buffer's size is known ---- */

void __chk_fail(void) __attribute__((noreturn));
ssize_t read(int fd, void *to, size_t n);

/* name, parameters, the function that does it */
#define CHECKED(name, params, call)      \
    REPLACES ssize_t name params;        \
    ssize_t name params                  \
    {                                    \
        if (PGRT_UNLIKELY(n > room))     \
            __chk_fail();                \
        return call;                     \
    }
CHECKED(__read_chk, (int fd, void *to, size_t n, size_t room), read(fd, to, n))
CHECKED(__pread_chk, (int fd, void *to, size_t n, off_t off, size_t room), pread(fd, to, n, off))
CHECKED(__pread64_chk, (int fd, void *to, size_t n, off64_t off, size_t room),
        pread64(fd, to, n, off))
CHECKED(__recv_chk, (int fd, void *to, size_t n, size_t room, int flags), recv(fd, to, n, flags))
CHECKED(__recvfrom_chk,
        (int fd, void *restrict to, size_t n, size_t room, int flags, __SOCKADDR_ARG address,
         socklen_t *restrict size),
        recvfrom(fd, to, n, flags, address, size))

/* ---- the state of a file ---- */

/* The kernel fills the structure as the C library has it. */
static int status_of(const char *path, void *to, int flags)
{
    int result = (int)with_errno(pgrt_syscall(SYS_newfstatat, L(AT_FDCWD), path, to, L(flags), 0L,
                                              0L));
    if (!result)
        pgrt_count_range(to, sizeof(struct stat));
    return result;
}

#define STATUS(name, type, flags)                                \
    REPLACES int name(const char *restrict path, type *restrict to); \
    int name(const char *restrict path, type *restrict to)       \
    {                                                            \
        return status_of(path, to, flags);                       \
    }
STATUS(stat, struct stat, 0)
STATUS(stat64, struct stat64, 0)
STATUS(lstat, struct stat, AT_SYMLINK_NOFOLLOW)
STATUS(lstat64, struct stat64, AT_SYMLINK_NOFOLLOW)
