/* The file on disk. */
#include "guest_file.h"

#include "guest_helper.h"
#include "guest_memory.h"
#include "guest_sys.h"

#include <errno.h>
#include <fcntl.h>

bool pgg_file_within_limit(u64 bytes)
{
    struct rlimit limit;
    return pgg_sys_limit(RLIMIT_FSIZE, &limit) < 0 ||
           limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static char start_directory[1024];
static struct pgg_file_id start_root;

static struct pgg_file_id id_of(const struct stat *file)
{
    return (struct pgg_file_id){file->st_dev, file->st_ino};
}

static bool is_same(struct pgg_file_id a, struct pgg_file_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

static struct pgg_file_id root_now(void)
{
    struct stat root = {0};
    pgg_sys_stat("/", &root);
    return id_of(&root);
}

bool pgg_file_root_is_first(void)
{
    return is_same(root_now(), start_root);
}

void pgg_file_init(void)
{
    start_root = root_now();
    if (pgg_sys_directory(start_directory, sizeof start_directory) < 0 ||
        start_directory[0] != '/')
        start_directory[0] = 0;
}

static void put_program_name(struct pgg_text *t)
{
    char exe[1024], *name = exe;
    long n = pgg_sys_read_link("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0) {
        pgg_text_str(t, "program");
        return;
    }
    exe[n] = 0;
    for (char *p = exe; *p; p++)
        if (*p == '/')
            name = p + 1;
    pgg_text_str(t, name);
}

static void put_time(struct pgg_text *t)
{
    struct timespec now = {0};
    pgg_sys_clock(CLOCK_REALTIME, &now);
    pgg_text_u64(t, (u64)now.tv_sec);
}

bool pgg_file_expand(struct pgg_text *t, const char *template, int process)
{
    bool has_process = false;
    for (const char *s = template; *s; s++) {
        struct utsname host;
        char one[2] = {*s, 0};
        if (*s != '%' || !s[1]) {
            pgg_text_str(t, one);
            continue;
        }
        switch (*++s) {
        case 'p':
            has_process = true;
            pgg_text_u64(t, (u64)process);
            break;
        case 'h':
            if (pgg_sys_host(&host) == 0)
                pgg_text_str(t, host.nodename);
            break;
        case 'e': put_program_name(t); break;
        case 't': put_time(t); break;
        case '%': pgg_text_str(t, "%"); break;
        default:
            one[0] = *s;
            pgg_text_str(t, "%");
            pgg_text_str(t, one);
        }
    }
    return has_process;
}

void pgg_file_absolute(struct pgg_text *t, const char *name)
{
    if (name[0] != '/' && start_directory[0]) {
        pgg_text_str(t, start_directory);
        pgg_text_str(t, "/");
    }
}

static void put_name(struct pgg_text *t, const char *name, unsigned number)
{
    pgg_file_absolute(t, name);
    pgg_text_str(t, name);
    if (number > 1) {
        pgg_text_str(t, ".");
        pgg_text_u64(t, number);
    }
}

bool pgg_file_choose(struct pgg_file *f, const char *wanted, bool unique)
{
    struct pgg_text t;
    f->root = root_now();
    for (unsigned number = 1; number < 1000; number++) {
        pgg_text_init(&t, f->path, sizeof f->path);
        put_name(&t, wanted, number);
        if (f->stream >= 0 || !unique || !pgg_sys_exists(f->path))
            break;
    }
    if (t.at == t.end)
        return false;
    pgg_text_init(&t, f->part, sizeof f->part);
    pgg_text_str(&t, f->path);
    pgg_text_str(&t, ".part");
    return true;
}

static void make_directories(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        pgg_sys_make_directory(path);
        *p = '/';
    }
}

/* Opening a pipe or a device that no other process has open would wait. */
enum { AT_ONCE = O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

long pgg_file_open(const char *path, int flags)
{
    struct stat now;
    const long fd = pgg_sys_open(path, flags | AT_ONCE | O_NOFOLLOW, 0644);
    if (fd < 0 || (pgg_sys_fstat((int)fd, &now) == 0 && S_ISREG(now.st_mode)))
        return fd == -ENXIO ? -EEXIST : fd;
    pgg_sys_close((int)fd);
    return -EEXIST;
}

static long open_part(const struct pgg_file *f)
{
    return pgg_file_open(f->part, O_RDWR | O_CREAT | O_TRUNC);
}

/* Above the descriptors that shells hand around. */
static long move_up(long fd)
{
    const long high = pgg_sys_move_descriptor((int)fd, 200);
    return high < 0 ? fd : high;
}

long pgg_file_create(struct pgg_file *f, bool directories)
{
    struct stat old;
    if (!is_same(root_now(), f->root))
        return -EXDEV;
    /* A device or a pipe is not replaced by a file. */
    if (pgg_sys_stat(f->path, &old) == 0 && !S_ISREG(old.st_mode))
        return S_ISDIR(old.st_mode) ? -EISDIR : -EEXIST;
    long fd = open_part(f);
    if (fd == -ENOENT && directories) {
        make_directories(f->part);
        fd = open_part(f);
    }
    return fd < 0 ? fd : move_up(fd);
}

static bool is_open_as(long fd, struct pgg_file_id id)
{
    struct stat now;
    return fd >= 0 && pgg_sys_fstat((int)fd, &now) == 0 && is_same(id_of(&now), id);
}

/* What the calling thread has of it. */
static struct pgg_held *mine(struct pgg_file *f)
{
    return &f->held[pgg_is_helper];
}

void pgg_file_take(struct pgg_file *f, int fd)
{
    struct stat now = {0};
    pgg_sys_fstat(fd, &now);
    f->id = id_of(&now);
    *mine(f) = (struct pgg_held){fd, f->id};
    f->keeper = pgg_is_helper ? pgg_sys_thread() : 0;
}

void pgg_file_leave(struct pgg_file *f)
{
    struct pgg_held *m = mine(f);
    if (is_open_as(m->fd, m->id))
        pgg_sys_close(m->fd);
    m->fd = -1;
}

/* Some file systems write a file out when it takes the name of another one, which may cost more
 * than the whole program; not when the two change places. */
int pgg_file_publish(const struct pgg_file *f)
{
    if (pgg_sys_exchange(f->part, f->path) == 0)
        return pgg_sys_remove(f->part);
    return pgg_sys_rename(f->part, f->path);
}

bool pgg_file_is_published(const struct pgg_file *f)
{
    struct stat now;
    return pgg_sys_stat(f->path, &now) == 0 && is_same(id_of(&now), f->id);
}

void pgg_file_drop(const struct pgg_file *f, int fd)
{
    pgg_sys_close(fd);
    pgg_sys_remove(f->part);
}

/* The file under this name, if it is the one. */
static long open_again(const struct pgg_file *f, const char *name, int flags)
{
    const long fd = pgg_sys_open(name, O_RDWR | AT_ONCE | flags, 0);
    if (fd < 0 || is_open_as(fd, f->id))
        return fd;
    pgg_sys_close((int)fd);
    return -ENOENT;
}

/* The file that the helper made, whatever its name is by now. */
static long open_from_keeper(const struct pgg_file *f)
{
    char name[80];
    struct pgg_text t;
    pgg_text_init(&t, name, sizeof name);
    pgg_text_str(&t, "/proc/self/task/");
    pgg_text_u64(&t, (u64)f->keeper);
    pgg_text_str(&t, "/fd/");
    pgg_text_u64(&t, (u64)f->held[1].fd);
    return open_again(f, name, 0);
}

/* The program may have closed it, or the helper may have made another. */
int pgg_file_descriptor(struct pgg_file *f)
{
    struct pgg_held *m = mine(f);
    if (is_open_as(m->fd, f->id))
        return m->fd;
    pgg_file_leave(f);
    long fd = open_again(f, f->path, O_NOFOLLOW);
    if (fd < 0 && f->keeper && !pgg_is_helper)
        fd = open_from_keeper(f);
    if (fd < 0)
        return (int)fd;
    *m = (struct pgg_held){(int)move_up(fd), f->id};
    return m->fd;
}

int pgg_file_shorten(struct pgg_file *f, u64 bytes)
{
    const int fd = pgg_file_descriptor(f);
    if (fd < 0)
        return fd;
    return bytes ? pgg_sys_truncate(fd, bytes) : pgg_sys_remove(f->path);
}

int pgg_file_write(struct pgg_file *f, u64 off, const void *from, u64 bytes)
{
    const int fd = pgg_file_within_limit(off + bytes) ? pgg_file_descriptor(f) : -EFBIG;
    if (fd < 0)
        return fd;
    for (u64 n = 0; n < bytes;) {
        const long done = pgg_sys_pwrite(fd, (const char *)from + n, bytes - n, (off_t)(off + n));
        if (done <= 0 && done != -EINTR)
            return done < 0 ? (int)done : -ENOSPC;
        n += done > 0 ? (u64)done : 0;
    }
    return 0;
}

int pgg_file_punch(struct pgg_file *f, u64 from, u64 to)
{
    const int fd = pgg_file_descriptor(f);
    return fd < 0 ? fd : pgg_sys_punch_blocks(fd, from, to - from);
}

/* Blocks are reserved first, so that a full disk is an error here and no signal at a later store.
 * A write stops between two pages when it is interrupted by a kill. */
int pgg_file_grow(struct pgg_file *f, u64 from, u64 to, const void *page)
{
    enum { PAGES = 256 };
    struct iovec pages[PAGES];
    const int fd = pgg_file_within_limit(to) ? pgg_file_descriptor(f) : -EFBIG;
    if (fd < 0)
        return fd;
    const int err = pgg_sys_reserve_blocks(fd, from, to - from);
    if (err && err != -EOPNOTSUPP && err != -ENOSYS)
        return err;
    for (u32 i = 0; i < PAGES; i++)
        pages[i] = (struct iovec){(void *)page, PGG_PAGE};
    while (from < to) {
        u64 n = (to - from) / PGG_PAGE;
        long done = pgg_sys_pwritev(fd, pages, (int)(n < PAGES ? n : PAGES), (off_t)from);
        if (done == -EINTR)
            continue;
        if (done < PGG_PAGE)
            return done < 0 ? (int)done : -ENOSPC;
        from += (u64)done & ~(u64)(PGG_PAGE - 1);
    }
    return 0;
}

/* ---- files that are given ---- */

/* NULL: it can be read. */
static const char *refusal(const struct stat *file, u64 most)
{
    if (!S_ISREG(file->st_mode))
        return "it is not a regular file";
    if (file->st_uid && file->st_uid != (uid_t)pgg_sys_user())
        return "it belongs to another user; make a copy of your own";
    if (!file->st_size)
        return "it is empty";
    return (u64)file->st_size > most ? "it is larger than such a file can be" : NULL;
}

static void *read_all(int fd, size_t size, size_t *bytes)
{
    char *to = pgg_map(pgg_whole_pages(size));
    long n = 1;
    for (*bytes = 0; to && n > 0 && *bytes < size; *bytes += n > 0 ? (size_t)n : 0)
        do
            n = pgg_sys_read(fd, to + *bytes, size - *bytes);
        while (n == -EINTR);
    return to;
}

void *pgg_file_read(const char *path, u64 most, size_t *bytes, const char **why)
{
    struct stat file;
    void *to = NULL;
    const long fd = pgg_sys_open(path, O_RDONLY | AT_ONCE, 0);
    const int err = fd < 0 ? (int)fd : pgg_sys_fstat((int)fd, &file);
    *why = err ? pgg_errno_name(err) : refusal(&file, most);
    if (!*why && !(to = read_all((int)fd, (size_t)file.st_size, bytes)))
        *why = pgg_errno_name(-ENOMEM);
    if (fd >= 0)
        pgg_sys_close((int)fd);
    return to;
}
