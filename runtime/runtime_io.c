/* Input and output by system calls: what the kernel reads and writes of the program's memory. The
 * calls are made here, as the C library's have no second name. Threads can be cancelled in them.
 * Weak: in a static program the C library's own may be there as well. */
#undef _FILE_OFFSET_BITS /* or the names without 64 become those with it */
#include "runtime_access.h"

#include "guest_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define REPLACES PGRT_EXPORT __attribute__((weak))

/* A system call that a thread can be cancelled in, as the C library makes it. */
#define CANCELLABLE(call)                                            \
    __extension__({                                                  \
        int type_;                                                   \
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type_);  \
        long result_ = pgg_sys_with_errno(call);                     \
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
static ssize_t count_bytes(const void *start, size_t space, ssize_t done)
{
    if (done > 0)
        pgrt_count_range(start, (size_t)done < space ? (size_t)done : space);
    return done;
}

/* Of `n` bytes at `at`. */
#define TRANSFER(name, params, at, call)               \
    REPLACES ssize_t name params;                      \
    ssize_t name params                                \
    {                                                  \
        return count_bytes(at, n, CANCELLABLE(call));  \
    }
#define TRANSFER_PARTS(name, params, parts, n, call)               \
    REPLACES ssize_t name params;                                  \
    ssize_t name params                                            \
    {                                                              \
        return count_parts(parts, (size_t)(n), CANCELLABLE(call)); \
    }

TRANSFER(pread, (int fd, void *to, size_t n, off_t off), to, pgg_sys_pread(fd, to, n, off))
TRANSFER(pread64, (int fd, void *to, size_t n, off64_t off), to, pgg_sys_pread(fd, to, n, off))
TRANSFER(pwrite, (int fd, const void *from, size_t n, off_t off), from,
         pgg_sys_pwrite(fd, from, n, off))
TRANSFER(pwrite64, (int fd, const void *from, size_t n, off64_t off), from,
         pgg_sys_pwrite(fd, from, n, off))
TRANSFER(recv, (int fd, void *to, size_t n, int flags), to,
         pgg_sys_recv(fd, to, n, flags, NULL, NULL))
TRANSFER(send, (int fd, const void *from, size_t n, int flags), from,
         pgg_sys_send(fd, from, n, flags, NULL, 0))
TRANSFER(recvfrom,
         (int fd, void *restrict to, size_t n, int flags, __SOCKADDR_ARG address,
          socklen_t *restrict size),
         to, pgg_sys_recv(fd, to, n, flags, address.__sockaddr__, size))
TRANSFER(sendto,
         (int fd, const void *from, size_t n, int flags, __CONST_SOCKADDR_ARG address,
          socklen_t size),
         from, pgg_sys_send(fd, from, n, flags, address.__sockaddr__, size))

TRANSFER_PARTS(readv, (int fd, const struct iovec *parts, int n), parts, n,
               pgg_sys_readv(fd, parts, n))
TRANSFER_PARTS(writev, (int fd, const struct iovec *parts, int n), parts, n,
               pgg_sys_writev(fd, parts, n))
TRANSFER_PARTS(preadv, (int fd, const struct iovec *parts, int n, off_t off), parts, n,
               pgg_sys_preadv(fd, parts, n, off))
TRANSFER_PARTS(preadv64, (int fd, const struct iovec *parts, int n, off64_t off), parts, n,
               pgg_sys_preadv(fd, parts, n, off))
TRANSFER_PARTS(pwritev, (int fd, const struct iovec *parts, int n, off_t off), parts, n,
               pgg_sys_pwritev(fd, parts, n, off))
TRANSFER_PARTS(pwritev64, (int fd, const struct iovec *parts, int n, off64_t off), parts, n,
               pgg_sys_pwritev(fd, parts, n, off))
TRANSFER_PARTS(recvmsg, (int fd, struct msghdr *m, int flags), m->msg_iov, m->msg_iovlen,
               pgg_sys_recvmsg(fd, m, flags))
TRANSFER_PARTS(sendmsg, (int fd, const struct msghdr *m, int flags), m->msg_iov, m->msg_iovlen,
               pgg_sys_sendmsg(fd, m, flags))

/* ---- what the C library's headers make of them when a buffer's size is known ---- */

void __chk_fail(void) __attribute__((noreturn));
ssize_t read(int fd, void *to, size_t n);

/* name, parameters, the function that does it */
#define CHECKED(name, params, call)      \
    REPLACES ssize_t name params;        \
    ssize_t name params                  \
    {                                    \
        if (PGG_UNLIKELY(n > space))     \
            __chk_fail();                \
        return call;                     \
    }
CHECKED(__read_chk, (int fd, void *to, size_t n, size_t space), read(fd, to, n))
CHECKED(__pread_chk, (int fd, void *to, size_t n, off_t off, size_t space), pread(fd, to, n, off))
CHECKED(__pread64_chk, (int fd, void *to, size_t n, off64_t off, size_t space),
        pread64(fd, to, n, off))
CHECKED(__recv_chk, (int fd, void *to, size_t n, size_t space, int flags), recv(fd, to, n, flags))
CHECKED(__recvfrom_chk,
        (int fd, void *restrict to, size_t n, size_t space, int flags, __SOCKADDR_ARG address,
         socklen_t *restrict size),
        recvfrom(fd, to, n, flags, address, size))

/* ---- the state of a file ---- */

/* The kernel fills the structure as the C library has it. */
static int status_of(const char *path, void *to, int flags)
{
    int result = (int)pgg_sys_with_errno(pgg_sys_stat_at(path, to, flags));
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
