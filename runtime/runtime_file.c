/* The file on disk: its name, making it, growing it, and knowing it again. Programs close
 * descriptors that they did not open, change directory and root, and take rights away from
 * themselves; what they then open under the same number must not be touched. */
#include "pgrt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

bool pgrt_file_within_limit(u64 bytes)
{
    struct rlimit limit;
    return pgrt_syscall(SYS_prlimit64, 0L, (long)RLIMIT_FSIZE, 0L, &limit, 0L, 0L) < 0 ||
           limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static char start_directory[1024];
static long start_mode; /* what system calls the process may make, as far as one can ask */

static long mode(void)
{
    return pgrt_syscall(SYS_prctl, (long)PR_GET_SECCOMP, 0L, 0L, 0L, 0L, 0L);
}

/* A filter may answer a call that it does not know with a signal. */
bool pgrt_file_may_open(void)
{
    return start_mode == SECCOMP_MODE_FILTER || mode() != SECCOMP_MODE_FILTER;
}

void pgrt_file_init(void)
{
    start_mode = mode();
    if (pgrt_syscall(SYS_getcwd, start_directory, sizeof start_directory, 0L, 0L, 0L, 0L) < 0 ||
        start_directory[0] != '/')
        start_directory[0] = 0;
}

static void put_name(struct pgrt_text *t, const char *name, unsigned number)
{
    if (name[0] != '/' && start_directory[0]) {
        pgrt_text_str(t, start_directory);
        pgrt_text_str(t, "/");
    }
    pgrt_text_str(t, name);
    if (number > 1) {
        pgrt_text_str(t, ".");
        pgrt_text_u64(t, number);
    }
}

/* A name that has the process number and exists belongs to an earlier program of the same
 * process, or to a process long gone: both stay. */
bool pgrt_file_choose(struct pgrt_file *f)
{
    char wanted[1024];
    bool unique;
    struct pgrt_text t;
    if (!pgrt_profile_path(wanted, sizeof wanted, &f->stream, &unique))
        return false;
    for (unsigned number = 1; number < 1000; number++) {
        pgrt_text_init(&t, f->path, sizeof f->path);
        put_name(&t, wanted, number);
        if (f->stream >= 0 || !unique ||
            pgrt_syscall(SYS_faccessat, (long)AT_FDCWD, f->path, 0L, 0L, 0L, 0L) < 0)
            break;
    }
    if (t.at == t.end)
        return false;
    pgrt_text_init(&t, f->part, sizeof f->part);
    pgrt_text_str(&t, f->path);
    pgrt_text_str(&t, ".part");
    return true;
}

static void make_directories(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        pgrt_syscall(SYS_mkdir, path, 0777L, 0L, 0L, 0L, 0L);
        *p = '/';
    }
}

static long open_part(const struct pgrt_file *f)
{
    return pgrt_syscall(SYS_openat, (long)AT_FDCWD, f->part,
                        (long)(O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW), 0644L, 0L,
                        0L);
}

/* Above the descriptors that shells hand around. */
static long move_up(long fd)
{
    long high = pgrt_syscall(SYS_fcntl, fd, (long)F_DUPFD_CLOEXEC, 200L, 0L, 0L, 0L);
    if (high < 0)
        return fd;
    pgrt_syscall(SYS_close, fd, 0L, 0L, 0L, 0L, 0L);
    return high;
}

long pgrt_file_create(struct pgrt_file *f, bool directories)
{
    struct stat old;
    /* A device or a pipe is not replaced by a file. */
    if (pgrt_syscall(SYS_stat, f->path, &old, 0L, 0L, 0L, 0L) == 0 && !S_ISREG(old.st_mode))
        return S_ISDIR(old.st_mode) ? -EISDIR : -EEXIST;
    long fd = open_part(f);
    if (fd == -ENOENT && directories) {
        make_directories(f->part);
        fd = open_part(f);
    }
    return fd < 0 ? fd : move_up(fd);
}

static bool is_ours(const struct pgrt_file *f, long fd)
{
    struct stat now;
    return fd >= 0 && pgrt_syscall(SYS_fstat, fd, &now, 0L, 0L, 0L, 0L) == 0 &&
           now.st_dev == f->device && now.st_ino == f->inode;
}

void pgrt_file_take(struct pgrt_file *f, int fd)
{
    struct stat now = {0};
    pgrt_syscall(SYS_fstat, (long)fd, &now, 0L, 0L, 0L, 0L);
    f->fd = fd;
    f->device = now.st_dev;
    f->inode = now.st_ino;
}

void pgrt_file_leave(struct pgrt_file *f)
{
    if (is_ours(f, f->fd))
        pgrt_syscall(SYS_close, (long)f->fd, 0L, 0L, 0L, 0L, 0L);
    f->fd = -1;
}

/* Some file systems write a file out when it takes the name of another one, which may cost more
 * than the whole program; not when the two change places. */
int pgrt_file_publish(const struct pgrt_file *f)
{
    enum { EXCHANGE = 2 };
    if (pgrt_syscall(SYS_renameat2, (long)AT_FDCWD, f->part, (long)AT_FDCWD, f->path,
                     (long)EXCHANGE, 0L) == 0)
        return (int)pgrt_syscall(SYS_unlink, f->part, 0L, 0L, 0L, 0L, 0L);
    return (int)pgrt_syscall(SYS_rename, f->part, f->path, 0L, 0L, 0L, 0L);
}

void pgrt_file_drop(const struct pgrt_file *f, int fd)
{
    pgrt_syscall(SYS_close, (long)fd, 0L, 0L, 0L, 0L, 0L);
    pgrt_syscall(SYS_unlink, f->part, 0L, 0L, 0L, 0L, 0L);
}

/* The program may have closed it. */
static int have_descriptor(struct pgrt_file *f)
{
    if (is_ours(f, f->fd))
        return 0;
    long fd = pgrt_syscall(SYS_openat, (long)AT_FDCWD, f->path,
                           (long)(O_RDWR | O_CLOEXEC | O_NOFOLLOW), 0L, 0L, 0L);
    if (fd < 0)
        return (int)fd;
    if (!is_ours(f, fd)) {
        pgrt_syscall(SYS_close, fd, 0L, 0L, 0L, 0L, 0L);
        return -ENOENT;
    }
    f->fd = (int)move_up(fd);
    return 0;
}

/* Blocks are reserved first, so that a full disk is an error here and no signal at a later store.
 * A write stops between two pages when it is interrupted by a kill. */
int pgrt_file_grow(struct pgrt_file *f, u64 from, u64 to, const void *page)
{
    enum { PAGES = 256 };
    struct iovec pages[PAGES];
    int err = pgrt_file_within_limit(to) ? have_descriptor(f) : -EFBIG;
    if (err)
        return err;
    err = (int)pgrt_syscall(SYS_fallocate, (long)f->fd, (long)FALLOC_FL_KEEP_SIZE, from, to - from,
                            0L, 0L);
    if (err && err != -EOPNOTSUPP && err != -ENOSYS)
        return err;
    for (u32 i = 0; i < PAGES; i++)
        pages[i] = (struct iovec){(void *)page, PGRT_PAGE};
    while (from < to) {
        u64 n = (to - from) / PGRT_PAGE;
        long done = pgrt_syscall(SYS_pwritev, (long)f->fd, pages, n < PAGES ? n : PAGES, from, 0L,
                                 0L);
        if (done == -EINTR)
            continue;
        if (done < PGRT_PAGE)
            return done < 0 ? (int)done : -ENOSPC;
        from += (u64)done & ~(u64)(PGRT_PAGE - 1);
    }
    return 0;
}
