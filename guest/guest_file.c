/* The file on disk. */
#include "guest_file.h"

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

static void put_name(struct pgg_text *t, const char *name, unsigned number)
{
    if (name[0] != '/' && start_directory[0]) {
        pgg_text_str(t, start_directory);
        pgg_text_str(t, "/");
    }
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

static long open_part(const struct pgg_file *f)
{
    return pgg_sys_open(f->part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
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

static bool is_ours(const struct pgg_file *f, long fd)
{
    struct stat now;
    return fd >= 0 && pgg_sys_fstat((int)fd, &now) == 0 && is_same(id_of(&now), f->id);
}

void pgg_file_take(struct pgg_file *f, int fd)
{
    struct stat now = {0};
    pgg_sys_fstat(fd, &now);
    f->fd = fd;
    f->id = id_of(&now);
}

void pgg_file_leave(struct pgg_file *f)
{
    if (is_ours(f, f->fd))
        pgg_sys_close(f->fd);
    f->fd = -1;
}

/* Some file systems write a file out when it takes the name of another one, which may cost more
 * than the whole program; not when the two change places. */
int pgg_file_publish(const struct pgg_file *f)
{
    if (pgg_sys_exchange(f->part, f->path) == 0)
        return pgg_sys_remove(f->part);
    return pgg_sys_rename(f->part, f->path);
}

void pgg_file_drop(const struct pgg_file *f, int fd)
{
    pgg_sys_close(fd);
    pgg_sys_remove(f->part);
}

/* The program may have closed it. */
static int have_descriptor(struct pgg_file *f)
{
    if (is_ours(f, f->fd))
        return 0;
    long fd = pgg_sys_open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0)
        return (int)fd;
    if (!is_ours(f, fd)) {
        pgg_sys_close((int)fd);
        return -ENOENT;
    }
    f->fd = (int)move_up(fd);
    return 0;
}

int pgg_file_shorten(struct pgg_file *f, u64 bytes)
{
    const int err = have_descriptor(f);
    if (err)
        return err;
    return bytes ? pgg_sys_truncate(f->fd, bytes) : pgg_sys_remove(f->path);
}

/* Blocks are reserved first, so that a full disk is an error here and no signal at a later store.
 * A write stops between two pages when it is interrupted by a kill. */
int pgg_file_grow(struct pgg_file *f, u64 from, u64 to, const void *page)
{
    enum { PAGES = 256 };
    struct iovec pages[PAGES];
    int err = pgg_file_within_limit(to) ? have_descriptor(f) : -EFBIG;
    if (err)
        return err;
    err = pgg_sys_reserve_blocks(f->fd, from, to - from);
    if (err && err != -EOPNOTSUPP && err != -ENOSYS)
        return err;
    for (u32 i = 0; i < PAGES; i++)
        pages[i] = (struct iovec){(void *)page, PGG_PAGE};
    while (from < to) {
        u64 n = (to - from) / PGG_PAGE;
        long done = pgg_sys_pwritev(f->fd, pages, (int)(n < PAGES ? n : PAGES), (off_t)from);
        if (done == -EINTR)
            continue;
        if (done < PGG_PAGE)
            return done < 0 ? (int)done : -ENOSPC;
        from += (u64)done & ~(u64)(PGG_PAGE - 1);
    }
    return 0;
}
