/* Atomic output: buffered writing to a temporary file that becomes the target. */
#include "sink.h"

#include "compressed.h"
#include "mem.h"
#include "path.h"
#include "unfinished_list.h"
#include "vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 128 << 10, MAX_LINKS = 40 };

enum sink_kind {
    SINK_MEMORY, /* never leaves memory */
    SINK_STREAM, /* kept in memory, written to `fd` at commit */
    SINK_FILE,   /* written to a temporary file whenever the buffer is full */
    SINK_PART,   /* written to its place in another sink whenever the buffer is full */
};

/* Blocks signals, so that none comes between creating a temporary file and recording its name. */
static void hold_signals(sigset_t *old)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, old);
}

static void let_signals(const sigset_t *old)
{
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

struct pgk_sink {
    enum sink_kind kind;
    int fd;     /* SINK_FILE: temporary file; SINK_STREAM: the target; else -1 */
    int dir_fd; /* of the target's folder, SINK_FILE only; else -1 */
    PGK_VEC(uint8_t) buf;
    uint64_t flushed;         /* bytes that are in the temporary file; of a part: where in the
                                 other sink the buffer begins */
    uint64_t to_disk;         /* up to here the disk was asked to write */
    struct pgk_sink *whole;   /* SINK_PART only */
    char *path;               /* as the user typed it */
    char name[NAME_MAX + 1];  /* of the target in its folder */
    char temp[NAME_MAX + 1];  /* of the temporary file; empty: it has no name */
    bool compress;            /* all bytes stay in memory until commit */
    bool failed;
    struct pgk_err err;       /* the first failure */
};

/* ---- failures ---- */

static const char *output_hint(int e)
{
    switch (e) {
    case ENOSPC:
    case EDQUOT: return "free some space or choose another folder with -o";
    case EISDIR: return "name a file inside it with -o";
    case ENOENT: return "create the folder first, or choose another one with -o";
    case EPIPE: return "the program that reads the output has stopped";
    case EFBIG: return "raise the limit with 'ulimit -f' or choose another folder with -o";
    case EACCES:
    case EPERM:
    case EROFS: return "choose a folder you may write to with -o";
    }
    return "choose another file with -o";
}

static int fail_io(struct pgk_err *err, const char *path, const char *what)
{
    int e = errno;
    return pgk_fail(err, PGK_E_IO, .sys_errno = e, .file = path,
                    .found = PGK_F("cannot %s", what), .hint = output_hint(e));
}

static void stick_errno(struct pgk_sink *s, const char *what)
{
    if (!s->failed)
        fail_io(&s->err, s->path, what);
    s->failed = true;
}

static void stick_nomem(struct pgk_sink *s)
{
    if (!s->failed)
        pgk_fail(&s->err, PGK_E_NOMEM, .file = s->path,
                 .hint = "write to a file instead of a pipe, it needs less memory");
    s->failed = true;
}

/* ---- opening ---- */

/* Follows symbolic links to the name of the file that is to be replaced. The name need
 * not exist: realpath(3) could not follow a link that dangles. */
static int follow_links(char target[PATH_MAX], const char *path, struct pgk_err *err)
{
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return fail_io(err, path, "create");
    }
    strcpy(target, path);
    for (int i = 0; i < MAX_LINKS; i++) {
        char link[PATH_MAX], joined[2 * PATH_MAX];
        ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0)
            return 0;
        link[n] = '\0';
        int dir_len = link[0] == '/' ? 0 : (int)(pgk_base_name(target) - target);
        pgk_format(joined, sizeof joined, "%.*s%s", dir_len, target, link);
        if (strlen(joined) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return fail_io(err, path, "create");
        }
        strcpy(target, joined);
    }
    errno = ELOOP;
    return fail_io(err, path, "create");
}

/* Splits the target into a handle of its folder, which outlives a chdir, and a name. */
static int open_folder(struct pgk_sink *s, char target[PATH_MAX], struct pgk_err *err)
{
    char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    if (!*name || strlen(name) > NAME_MAX) {
        errno = *name ? ENAMETOOLONG : *target ? EISDIR : ENOENT;
        return fail_io(err, s->path, "create");
    }
    strcpy(s->name, name);
    const char *folder = ".";
    if (slash) {
        slash[slash == target] = '\0'; /* keeps the slash of "/name" */
        folder = target;
    }
    s->dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return s->dir_fd < 0 ? fail_io(err, s->path, "create") : 0;
}

/* ".OUT.pgokit-PID-N.tmp", with OUT cut if the name gets too long for a file system. */
static void make_temp_name(struct pgk_sink *s)
{
    static atomic_uint serial;
    char tail[48];
    int n = snprintf(tail, sizeof tail, ".pgokit-%ld-%u.tmp", (long)getpid(),
                     atomic_fetch_add(&serial, 1));
    int space = NAME_MAX - 1 - n;
    pgk_format(s->temp, sizeof s->temp, ".%.*s%s", space, s->name, tail);
}

static bool has_path_in_proc(int fd)
{
    char proc[64];
    return access(pgk_format(proc, sizeof proc, "/proc/self/fd/%d", fd), F_OK) == 0;
}

/* Preferably a file without a name, which vanishes with the process whatever happens.
 * Naming it later needs /proc. */
static int open_temp(struct pgk_sink *s, struct pgk_err *err)
{
    s->fd = openat(s->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (s->fd >= 0 && has_path_in_proc(s->fd))
        return 0;
    if (s->fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOSYS)
        return fail_io(err, s->path, "create");
    if (s->fd >= 0)
        close(s->fd);
    sigset_t old;
    hold_signals(&old);
    do {
        make_temp_name(s);
        s->fd = openat(s->dir_fd, s->temp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    } while (s->fd < 0 && errno == EEXIST);
    if (s->fd >= 0)
        pgk_unfinished_add(s->dir_fd, s->temp);
    else
        s->temp[0] = '\0';
    let_signals(&old);
    return s->fd < 0 ? fail_io(err, s->path, "create") : 0;
}

/* The new file takes over what a user may have set on the old one. Only root can give a
 * file away, so a refusal is no failure. */
static int inherit(struct pgk_sink *s, const struct stat *old, struct pgk_err *err)
{
    if (fchown(s->fd, old->st_uid, old->st_gid) != 0 && errno != EPERM && errno != EINVAL)
        return fail_io(err, s->path, "set the owner of");
    if (fchmod(s->fd, old->st_mode & 0777) != 0)
        return fail_io(err, s->path, "set the mode of");
    return 0;
}

static int open_file(struct pgk_sink *s, const struct stat *old, struct pgk_err *err)
{
    char target[PATH_MAX];
    /* Renaming needs no leave of the old file; a write-protected one is meant to stay. */
    if (old && faccessat(AT_FDCWD, s->path, W_OK, AT_EACCESS) != 0)
        return fail_io(err, s->path, "replace");
    PGK_TRY(follow_links(target, s->path, err));
    PGK_TRY(open_folder(s, target, err));
    PGK_TRY(open_temp(s, err));
    if (old)
        PGK_TRY(inherit(s, old, err));
    if (!pgk_vec_reserve(&s->buf, BUFFER_BYTES))
        return pgk_fail_nomem(err);
    return 0;
}

static int open_target(struct pgk_sink *s, const char *path, struct pgk_err *err)
{
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        s->kind = SINK_STREAM;
        s->path = pgk_mem_strdup("standard output");
        s->fd = s->path ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
        if (!s->path)
            return pgk_fail_nomem(err);
        return s->fd < 0 ? fail_io(err, s->path, "write to") : 0;
    }
    s->path = pgk_mem_strdup(path);
    if (!s->path)
        return pgk_fail_nomem(err);
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail_io(err, path, "write to");
    }
    s->kind = !exists || S_ISREG(st.st_mode) ? SINK_FILE : SINK_STREAM;
    s->compress = pgk_compression_for(path) == PGK_ZSTD;
    if (s->kind == SINK_FILE)
        return open_file(s, exists ? &st : NULL, err);
    s->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return s->fd < 0 ? fail_io(err, path, "open") : 0;
}

int pgk_sink_open(struct pgk_sink **sink, const char *path, struct pgk_err *err)
{
    struct pgk_sink *s = NULL;
    PGK_TRY(pgk_sink_memory(&s, err));
    int status = open_target(s, path, err);
    if (status < 0)
        pgk_sink_drop(&s);
    else
        *sink = s;
    return status;
}

int pgk_sink_memory(struct pgk_sink **sink, struct pgk_err *err)
{
    struct pgk_sink *s = pgk_mem_zalloc(1, sizeof *s);
    if (!s)
        return pgk_fail_nomem(err);
    s->kind = SINK_MEMORY;
    s->fd = s->dir_fd = -1;
    *sink = s;
    return 0;
}

/* ---- writing ---- */

static bool write_all(int fd, const uint8_t *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool write_all_at(int fd, const uint8_t *p, size_t n, uint64_t off)
{
    while (n > 0) {
        ssize_t done = pwrite(fd, p, n, (off_t)off);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
        off += (uint64_t)done;
    }
    return true;
}

/* True if bytes leave as soon as the buffer is full. */
static bool is_flushed(const struct pgk_sink *s)
{
    return s->kind == SINK_PART || (s->kind == SINK_FILE && !s->compress);
}

/* Lets the disk begin with what was flushed, so that syncing need not wait for all of it. */
static void start_writeback(struct pgk_sink *s, int fd)
{
    enum { ENOUGH = 512 << 10 };
    if (s->flushed - s->to_disk < ENOUGH)
        return;
    (void)sync_file_range(fd, (off_t)s->to_disk, (off_t)(s->flushed - s->to_disk),
                          SYNC_FILE_RANGE_WRITE);
    s->to_disk = s->flushed;
}

/* Appends bytes to those that were flushed. */
static void put(struct pgk_sink *s, const uint8_t *bytes, size_t n)
{
    const struct pgk_sink *into = s->kind == SINK_PART ? s->whole : s;
    if (s->failed || !n)
        return;
    if (s->kind == SINK_STREAM ? !write_all(s->fd, bytes, n)
        : is_flushed(into)     ? !write_all_at(into->fd, bytes, n, s->flushed)
                               : !memcpy(into->buf.v + s->flushed, bytes, n))
        stick_errno(s, "write");
    s->flushed += n;
    if (is_flushed(into))
        start_writeback(s, into->fd);
}

static void flush(struct pgk_sink *s)
{
    put(s, s->buf.v, s->buf.n);
    s->buf.n = 0;
}

/* The place for the next `n` bytes, which are counted as written; NULL after a failure. For a file
 * `n` is at most the buffer's size. */
static uint8_t *reserve(struct pgk_sink *s, size_t n)
{
    if (is_flushed(s) && n > s->buf.cap - s->buf.n)
        flush(s);
    if (s->failed)
        return NULL;
    if (!pgk_vec_reserve(&s->buf, n)) {
        stick_nomem(s);
        return NULL;
    }
    uint8_t *p = s->buf.v + s->buf.n;
    s->buf.n += n;
    return p;
}

void pgk_sink_bytes(struct pgk_sink *s, const void *bytes, size_t n)
{
    if (n == 0 || s->failed)
        return;
    if (is_flushed(s) && n >= s->buf.cap) {
        flush(s);
        put(s, bytes, n);
        return;
    }
    uint8_t *p = reserve(s, n);
    if (p)
        memcpy(p, bytes, n);
}

void pgk_sink_u8(struct pgk_sink *s, uint8_t v)
{
    pgk_sink_bytes(s, &v, sizeof v);
}

void pgk_sink_u16(struct pgk_sink *s, uint16_t v)
{
    pgk_sink_bytes(s, &v, sizeof v);
}

void pgk_sink_u32(struct pgk_sink *s, uint32_t v)
{
    pgk_sink_bytes(s, &v, sizeof v);
}

void pgk_sink_u64(struct pgk_sink *s, uint64_t v)
{
    pgk_sink_bytes(s, &v, sizeof v);
}

void pgk_sink_uleb(struct pgk_sink *s, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    pgk_sink_bytes(s, bytes, n);
}

void pgk_sink_zeros(struct pgk_sink *s, size_t n)
{
    static const uint8_t zeros[4096];
    for (; n > sizeof zeros && !s->failed; n -= sizeof zeros)
        pgk_sink_bytes(s, zeros, sizeof zeros);
    pgk_sink_bytes(s, zeros, n < sizeof zeros ? n : sizeof zeros);
}

void pgk_sink_align(struct pgk_sink *s, size_t alignment)
{
    size_t over = alignment ? (size_t)(pgk_sink_off(s) % alignment) : 0;
    if (over)
        pgk_sink_zeros(s, alignment - over);
}

void pgk_sink_pad(struct pgk_sink *s, uint64_t n)
{
    pgk_sink_zeros(s, -n & 7);
}

void pgk_sink_printf(struct pgk_sink *s, const char *fmt, ...)
{
    char text[512], *all = text;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n >= (int)sizeof text) {
        all = pgk_mem_alloc((size_t)n + 1, 1);
        if (!all) {
            stick_nomem(s);
            return;
        }
        va_start(args, fmt);
        n = vsnprintf(all, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    if (n >= 0)
        pgk_sink_bytes(s, all, (size_t)n);
    else
        stick_errno(s, "format the text for");
    if (all != text)
        pgk_mem_free(all);
}

uint64_t pgk_sink_off(const struct pgk_sink *s)
{
    return s->flushed + s->buf.n;
}

void pgk_sink_patch_u64(struct pgk_sink *s, uint64_t off, uint64_t v)
{
    if (s->failed)
        return;
    if (pgk_sink_off(s) < sizeof v || off > pgk_sink_off(s) - sizeof v) {
        pgk_fail(&s->err, PGK_E_ARG, .file = s->path, .offset = &off,
                 .found = "a change of bytes that are not written yet");
        s->failed = true;
        return;
    }
    const uint8_t *bytes = (const uint8_t *)&v;
    size_t in_file = 0;
    if (off < s->flushed) {
        in_file = s->flushed - off < sizeof v ? (size_t)(s->flushed - off) : sizeof v;
        if (!write_all_at(s->fd, bytes, in_file, off))
            stick_errno(s, "write");
    }
    if (in_file < sizeof v)
        memcpy(s->buf.v + (off + in_file - s->flushed), bytes + in_file, sizeof v - in_file);
}

const uint8_t *pgk_sink_data(const struct pgk_sink *s, size_t *size)
{
    static const uint8_t nothing[1];
    *size = s->failed ? 0 : s->buf.n;
    if (s->failed)
        return NULL;
    return s->buf.v ? s->buf.v : nothing;
}

/* ---- parts ---- */

uint64_t pgk_sink_leave(struct pgk_sink *s, uint64_t n)
{
    uint64_t off = pgk_sink_off(s);
    if (is_flushed(s)) {
        flush(s);
        s->flushed += n;
        s->to_disk = s->flushed;
    } else {
        (void)reserve(s, n);
    }
    return off;
}

/* Several threads begin and end parts of one whole, and each part passes on whether it failed. */
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

int pgk_sink_part(struct pgk_sink **part, struct pgk_sink *whole, uint64_t off)
{
    struct pgk_sink *s = NULL;
    PGK_TRY(pgk_sink_memory(&s, NULL));
    s->path = pgk_mem_strdup(whole->path ? whole->path : "");
    if (!s->path || !pgk_vec_reserve(&s->buf, BUFFER_BYTES)) {
        pgk_sink_drop(&s);
        return PGK_E_NOMEM;
    }
    s->kind = SINK_PART;
    s->whole = whole;
    s->flushed = s->to_disk = off;
    pthread_mutex_lock(&parts_lock);
    s->failed = whole->failed;
    pthread_mutex_unlock(&parts_lock);
    *part = s;
    return 0;
}

void pgk_sink_end_part(struct pgk_sink **part)
{
    struct pgk_sink *s = *part;
    flush(s);
    if (s->failed) {
        pthread_mutex_lock(&parts_lock);
        if (!s->whole->failed)
            s->whole->err = s->err;
        s->whole->failed = true;
        pthread_mutex_unlock(&parts_lock);
    }
    pgk_sink_drop(part);
}

/* ---- closing ---- */

static bool link_as(const struct pgk_sink *s, const char *name)
{
    char proc[64];
    pgk_format(proc, sizeof proc, "/proc/self/fd/%d", s->fd);
    return linkat(AT_FDCWD, proc, s->dir_fd, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Gives the finished file its name. One without a name can be linked to a free name in
 * one step; to replace a file it needs a temporary name first. */
static bool put_in_place(struct pgk_sink *s)
{
    if (!s->temp[0]) {
        if (link_as(s, s->name))
            return true;
        if (errno != EEXIST)
            return false;
        bool linked;
        do {
            make_temp_name(s);
            linked = link_as(s, s->temp);
        } while (!linked && errno == EEXIST);
        if (!linked) {
            s->temp[0] = '\0';
            return false;
        }
    }
    if (renameat(s->dir_fd, s->temp, s->dir_fd, s->name) != 0)
        return false;
    pgk_unfinished_remove(s->dir_fd, s->temp);
    s->temp[0] = '\0';
    return true;
}

static bool put_compressed(void *ctx, const uint8_t *bytes, size_t size)
{
    struct pgk_sink *s = ctx;
    if (!write_all(s->fd, bytes, size))
        stick_errno(s, "write");
    return !s->failed;
}

/* Writes what is in memory. */
static void write_out(struct pgk_sink *s)
{
    if (s->failed)
        return;
    if (!s->compress)
        flush(s);
    else if (!pgk_compress(s->buf.v, s->buf.n, put_compressed, s))
        stick_nomem(s);
}

static void finish_file(struct pgk_sink *s)
{
    write_out(s);
    if (!s->failed && fsync(s->fd) != 0 && errno != EINVAL && errno != ENOSYS)
        stick_errno(s, "write");
    if (s->failed)
        return;
    /* Signals wait, so that none leaves the temporary file. */
    sigset_t old;
    hold_signals(&old);
    if (!put_in_place(s))
        stick_errno(s, "create");
    let_signals(&old);
}

static void finish_stream(struct pgk_sink *s)
{
    if (s->failed)
        return;
    /* Earlier output of the program comes first. */
    if (fflush(stdout) != 0)
        stick_errno(s, "write");
    write_out(s);
}

int pgk_sink_commit(struct pgk_sink **sink, struct pgk_err *err)
{
    struct pgk_sink *s = *sink;
    if (s->kind == SINK_FILE)
        finish_file(s);
    else if (s->kind == SINK_STREAM)
        finish_stream(s);
    int status = s->failed ? s->err.status : 0;
    if (s->failed && err)
        *err = s->err;
    pgk_sink_drop(sink);
    return status;
}

void pgk_sink_drop(struct pgk_sink **sink)
{
    struct pgk_sink *s = *sink;
    if (!s)
        return;
    if (s->temp[0]) {
        (void)unlinkat(s->dir_fd, s->temp, 0);
        pgk_unfinished_remove(s->dir_fd, s->temp);
    }
    if (s->fd >= 0)
        close(s->fd);
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    pgk_vec_free(&s->buf);
    pgk_mem_free(s->path);
    pgk_mem_free(s);
    *sink = NULL;
}
