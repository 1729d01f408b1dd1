/* System calls, one small function for each need: the only place that makes them. Each returns
 * what it says, 0 or more, or a negative error number, and leaves errno alone. They can be called
 * from anywhere, also from signal handlers and before the C library is set up. Pointers are never
 * NULL unless it says so. */
#ifndef PGG_SYS_H
#define PGG_SYS_H

#include "guest.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* The process has put itself under a filter of system calls, which may answer one that it does not
 * know with a signal that kills: no others are made than programs make that allocate. */
extern bool pgg_confined;

/* ---- memory: addresses and sizes are multiples of PGG_PAGE ---- */
/* New zeroed pages of this process, at any free address: their address. */
long pgg_sys_pages(size_t bytes);
/* Whether the system would commit so much memory, as far as it reports. */
bool pgg_sys_has_memory(size_t bytes);
/* The same at a place where nothing is; -EEXIST where something is. */
long pgg_sys_pages_at(uintptr_t at, size_t bytes);
/* Reserves addresses that cannot be accessed. `at` is NULL, or a reserved range that loses its
 * content. */
long pgg_sys_reserve(void *at, size_t bytes);
/* Maps part of a file into reserved addresses, shared with it; fd < 0: memory of no file. */
long pgg_sys_map_file(void *at, size_t bytes, int fd, u64 off);
/* Maps code of a file in memory into reserved addresses; it is written through another mapping. */
long pgg_sys_map_code(void *at, size_t bytes, int fd);
long pgg_sys_memory_file(const char *name); /* a descriptor; what is in it may be run */
int pgg_sys_unmap(void *start, size_t bytes);
/* Grows pages of this process in place; -ENOMEM: the addresses after them are in use. */
long pgg_sys_resize_pages(void *start, size_t bytes, size_t to_bytes);
/* Moves their contents to other pages, which they replace; the old ones become zero. Untouched ones
 * stay untouched. -EINVAL: Linux is older than 5.7. */
long pgg_sys_move_pages(void *start, size_t bytes, void *to);
int pgg_sys_advise(void *start, size_t bytes, int advice); /* MADV_... */
int pgg_sys_protect(void *start, size_t bytes, int allowed); /* PROT_... */
/* Bit 0 of pages[i]: in memory. -ENOMEM: not all of it is mapped. `pages` must have an entry for
 * each PGG_PAGE bytes: an emulator reports the pages of the machine that it runs on. */
/* Copies memory of this process; returns the bytes copied, perhaps not all: up to a page that
 * cannot be read. */
long pgg_sys_copy_memory(void *to, const void *from, size_t n);
int pgg_sys_in_core(const void *start, size_t bytes, unsigned char *pages);

/* ---- files: paths that are not absolute begin at the current directory ---- */
long pgg_sys_open(const char *path, int flags, u32 mode); /* descriptor; O_... */
long pgg_sys_open_at(int dir, const char *path, int flags); /* of a descriptor, or AT_FDCWD */
int pgg_sys_close(int fd);
long pgg_sys_read(int fd, void *to, size_t n);          /* bytes; 0: the end */
long pgg_sys_write(int fd, const void *from, size_t n); /* bytes, perhaps not all */
int pgg_sys_write_all(int fd, const void *from, size_t n);
long pgg_sys_copy_descriptor(int fd, int lowest); /* the new one */
long pgg_sys_move_descriptor(int fd, int lowest); /* the new one; the old one is closed */
int pgg_sys_stat(const char *path, struct stat *to);
int pgg_sys_stat_at(const char *path, void *to, int flags); /* struct stat; AT_... */
int pgg_sys_fstat(int fd, struct stat *to);
bool pgg_sys_exists(const char *path);
int pgg_sys_make_directory(const char *path);
int pgg_sys_rename(const char *from, const char *to);   /* what was there is gone */
int pgg_sys_exchange(const char *one, const char *two); /* both are there */
int pgg_sys_remove(const char *path);
int pgg_sys_truncate(int fd, u64 bytes);
int pgg_sys_lock_file(int fd); /* -EWOULDBLOCK: somebody else has it locked */
int pgg_sys_reserve_blocks(int fd, u64 off, u64 bytes); /* -EOPNOTSUPP: not on this system */
int pgg_sys_punch_blocks(int fd, u64 off, u64 bytes); /* the same; the file stays as long */
long pgg_sys_read_link(const char *path, char *to, size_t n); /* bytes, without a zero byte */
long pgg_sys_directory(char *to, size_t n);             /* the current one; bytes */

/* ---- the process ---- */
int pgg_sys_process(void); /* number of the process, and of the thread */
int pgg_sys_thread(void);
void pgg_sys_yield(void); /* no system call where pgg_confined */
void pgg_sys_exit(int status) __attribute__((noreturn)); /* at once, of all threads */
int pgg_sys_signal_thread(int sig);                      /* the calling one */
int pgg_sys_signal_other(int thread, int sig);           /* another one of the process */
int pgg_sys_user(void);                                  /* effective, of the calling thread */
u32 pgg_sys_cpu(void);
int pgg_sys_limit(int resource, struct rlimit *to);      /* RLIMIT_... */
int pgg_sys_filter_mode(void);                           /* SECCOMP_MODE_... */
bool pgg_sys_ticks_allowed(void); /* to the calling thread, where they may be a fault */
int pgg_sys_host(struct utsname *to);
int pgg_sys_clock(clockid_t clock, struct timespec *to);
int pgg_sys_barrier(int command); /* MEMBARRIER_CMD_... */
/* Processor time that the calling thread has spent outside of the kernel. What the kernel's own
 * clock reports of that is scaled to the time that the thread has really run. */
u64 pgg_sys_user_ns(void);
/* A timer of what a thread of this process spends outside of the kernel, or of real time: its
 * number. It sends the signal to that thread, with the value. */
long pgg_sys_timer_new(int thread, bool real_time, int sig, void *value);
int pgg_sys_timer_set(int timer, u64 ns); /* once, after so long; 0: not at all */
int pgg_sys_timer_delete(int timer);
int pgg_sys_signals_block(u64 signals); /* of the calling thread; bit 0 is signal 1 */
int pgg_sys_signal_file(int fd, const void *signals, int flags); /* as signalfd(2) */
int pgg_sys_signal_queue(int sig, void *info); /* siginfo_t, to the calling thread */
/* Returns only when it could not; dir is a descriptor or AT_FDCWD. */
long pgg_sys_exec(int dir, const char *path, char *const argv[], char *const envp[], int flags);

/* ---- threads of ours ---- */
/* Calls run(arg), which never returns, in a new thread that shares all but descriptors, on a stack
 * that ends at `end` (aligned to 16 bytes), with this thread pointer. Its number, which is in
 * *number until it ends; then the kernel wakes who waits there. */
long pgg_sys_start_thread(void *end, volatile u32 *number, void *pointer, void (*run)(void *),
                          void *arg);
int pgg_sys_block_signals(u64 *before); /* all that can be, for the calling thread */
void pgg_sys_restore_signals(u64 before);
/* The calling thread gets descriptors of its own, none at first; -EINVAL or -ENOSYS: Linux is older
 * than 5.9. */
int pgg_sys_own_descriptors(void);
void pgg_sys_name_thread(const char *name); /* the calling one; 15 bytes at most */
void pgg_sys_end_thread(void) __attribute__((noreturn));
void pgg_sys_wait_while(volatile u32 *word, u32 value); /* perhaps not that long */
void pgg_sys_wake(volatile u32 *word);
/* Descriptor that can be read while the signal, which is blocked, waits for the thread. */
long pgg_sys_signal_descriptor(int sig);

/* ---- sockets: nothing here waits but poll ---- */
long pgg_sys_socket(void); /* of a stream to a process of this machine */
int pgg_sys_socket_mode(int fd, u32 mode); /* of the file that a name makes */
int pgg_sys_bind(int fd, const struct sockaddr_un *name);
int pgg_sys_listen(int fd, int waiting);
int pgg_sys_connect(int fd, const struct sockaddr_un *name);
long pgg_sys_accept(int fd);
int pgg_sys_poll(struct pollfd *fds, u32 n, u32 ms); /* how many are ready */

/* ---- what programs ask for, done in place of the C library: bytes done ---- */
long pgg_sys_pread(int fd, void *to, size_t n, off_t off);
long pgg_sys_pwrite(int fd, const void *from, size_t n, off_t off);
long pgg_sys_readv(int fd, const struct iovec *parts, int n);
long pgg_sys_writev(int fd, const struct iovec *parts, int n);
long pgg_sys_preadv(int fd, const struct iovec *parts, int n, off_t off);
long pgg_sys_pwritev(int fd, const struct iovec *parts, int n, off_t off);
/* `address` and its size may be NULL. */
long pgg_sys_recv(int fd, void *to, size_t n, int flags, void *address, socklen_t *size);
long pgg_sys_send(int fd, const void *from, size_t n, int flags, const void *address,
                  socklen_t size);
long pgg_sys_recvmsg(int fd, struct msghdr *m, int flags);
long pgg_sys_sendmsg(int fd, const struct msghdr *m, int flags);
/* Any call, and prctl, with as many arguments as registers can hold. */
enum { PGG_SYS_ARGUMENTS = 6 };
long pgg_sys_any(long number, const long *arguments);
long pgg_sys_control(const long *arguments);
/* The rights that the process loses if such a call succeeds: unrestricted system calls, reading
 * ticks. */
enum { PGG_LESS_CALLS = 1, PGG_LESS_TICKS = 2 };
u32 pgg_sys_any_takes(long number, const long *arguments);
u32 pgg_sys_control_takes(const long *arguments);
/* The result as the C library gives it: -1 with errno. */
long pgg_sys_with_errno(long result);

/* ---- a lock for what is rare: 0 is free ---- */
PGG_INLINE void pgg_lock(volatile u32 *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        pgg_sys_yield();
}

PGG_INLINE void pgg_unlock(volatile u32 *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#pragma GCC visibility pop
#endif
