/* A file's bytes: mapped where possible, else read into memory. */
#include "filemap.h"

#include "compressed.h"
#include "mem.h"
#include "vec.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t nothing[1];

enum { READ_BYTES = 1 << 16 };

typedef PGK_VEC(uint8_t) byte_vec;

ssize_t pgk_read_some(int fd, void *into, size_t size)
{
    ssize_t got;
    do
        got = read(fd, into, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Until there are `enough` bytes, or to the end. */
static int read_more(byte_vec *buf, size_t enough, int fd, const char *name, struct pgk_err *err)
{
    while (buf->n < enough) {
        if (!pgk_vec_reserve(buf, READ_BYTES))
            return pgk_fail(err, PGK_E_NOMEM, .file = name,
                            .hint = "give a file instead of a pipe, it needs less memory");
        size_t space = buf->cap - buf->n < enough - buf->n ? buf->cap - buf->n : enough - buf->n;
        ssize_t got = pgk_read_some(fd, buf->v + buf->n, space);
        if (got < 0)
            return pgk_fail_errno(err, name, "read");
        if (got == 0)
            break;
        buf->n += (size_t)got;
    }
    return 0;
}

/* The buffer becomes the map's. */
static void take_buffer(struct pgk_filemap *m, byte_vec *buf)
{
    if (!buf->n)
        pgk_vec_free(buf);
    *m = (struct pgk_filemap){.bytes = buf->n ? buf->v : nothing, .size = buf->n};
}

/* For pipes, for files that cannot be mapped and for those of /proc, whose size is 0
 * until they are read. */
static int read_all(struct pgk_filemap *m, int fd, const char *name, struct pgk_err *err)
{
    byte_vec buf = {0};
    int status = read_more(&buf, SIZE_MAX, fd, name, err);
    if (status)
        pgk_vec_free(&buf);
    else
        take_buffer(m, &buf);
    return status;
}

static int map_fd(struct pgk_filemap *m, int fd, const char *name, struct pgk_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pgk_fail_errno(err, name, "read");
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return pgk_fail_errno(err, name, "read");
    }
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
        return pgk_fail(err, PGK_E_IO, .file = name,
                        .found = isatty(fd) ? "cannot read a profile from a terminal"
                                            : "cannot read a profile from a device",
                        .hint = "name a file, or pipe one in and name it '-'");
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= PTRDIFF_MAX) {
        size_t size = (size_t)st.st_size;
        void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            (void)madvise(p, size, MADV_SEQUENTIAL);
            *m = (struct pgk_filemap){.bytes = p, .size = size, .mapped = true};
            return 0;
        }
    }
    return read_all(m, fd, name, err);
}

/* The content of a compressed file, the first bytes at least, takes the place of its bytes; that
 * before its damage, too. */
static int unpack(struct pgk_filemap *m, struct pgk_filemap raw, const char *name, size_t enough,
                  struct pgk_err *err)
{
    uint8_t *bytes;
    size_t size;
    bool cut;
    enum pgk_compression how = pgk_compression_of(raw.bytes, raw.size);
    if (how == PGK_PLAIN) {
        *m = raw;
        return 0;
    }
    int status = pgk_decompress_head(how, raw.bytes, raw.size, enough, name, &bytes, &size, &cut,
                                     err);
    pgk_filemap_close(&raw);
    if (status && !pgk_is_damage(status))
        return status;
    if (!size)
        pgk_mem_free(bytes);
    *m = (struct pgk_filemap){.bytes = size ? bytes : nothing, .size = size, .cut = cut};
    return status;
}

static int open_fd(struct pgk_filemap *m, int fd, const char *name, size_t enough,
                   struct pgk_err *err)
{
    struct pgk_filemap raw = {0};
    PGK_TRY(map_fd(&raw, fd, name, err));
    return unpack(m, raw, name, enough, err);
}

static int open_path(struct pgk_filemap *m, const char *path, size_t enough, struct pgk_err *err)
{
    if (strcmp(path, "-") == 0)
        return open_fd(m, STDIN_FILENO, "standard input", enough, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pgk_fail_errno(err, path, "open");
    int status = open_fd(m, fd, path, enough, err);
    close(fd);
    return status;
}

int pgk_filemap_open(struct pgk_filemap *m, const char *path, struct pgk_err *err)
{
    struct pgk_filemap whole = {0};
    int status = open_path(&whole, path, SIZE_MAX, err);
    if (status)
        pgk_filemap_close(&whole);
    else
        *m = whole;
    return status;
}

int pgk_filemap_open_damaged(struct pgk_filemap *m, const char *path, struct pgk_err *err)
{
    return open_path(m, path, SIZE_MAX, err);
}

int pgk_filemap_open_head(struct pgk_filemap *m, const char *path, struct pgk_err *err)
{
    enum { HEAD_BYTES = 64 << 10 };
    int status = open_path(m, path, HEAD_BYTES, err);
    return pgk_is_damage(status) ? 0 : status;
}

static bool is_pipe(int fd)
{
    struct stat st;
    return !fstat(fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int open_pipe(struct pgk_filemap *m, const char *name, size_t head,
                     bool (*is_streamed)(const uint8_t *, size_t), int *fd, struct pgk_err *err)
{
    byte_vec buf = {0};
    struct pgk_filemap raw;
    int status = read_more(&buf, head, *fd, name, err);
    bool streamed = !status && is_streamed(buf.v, buf.n);
    if (!status && !streamed)
        status = read_more(&buf, SIZE_MAX, *fd, name, err);
    if (!streamed) {
        close(*fd);
        *fd = -1;
    }
    if (status) {
        pgk_vec_free(&buf);
        return status;
    }
    take_buffer(&raw, &buf);
    if (!streamed)
        return unpack(m, raw, name, SIZE_MAX, err);
    *m = raw;
    return 0;
}

int pgk_filemap_open_stream(struct pgk_filemap *m, const char *path, size_t head,
                            bool (*is_streamed)(const uint8_t *, size_t), int *fd,
                            struct pgk_err *err)
{
    struct pgk_filemap whole = {0};
    bool dash = strcmp(path, "-") == 0;
    *fd = dash ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
               : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *name = dash ? "standard input" : path;
    if (*fd < 0)
        return pgk_fail_errno(err, name, "open");
    int status = 0;
    if (is_pipe(*fd)) {
        status = open_pipe(&whole, name, head, is_streamed, fd, err);
    } else {
        status = open_fd(&whole, *fd, name, SIZE_MAX, err);
        close(*fd);
        *fd = -1;
    }
    if (status)
        pgk_filemap_close(&whole);
    else
        *m = whole;
    return status;
}

void pgk_filemap_done(const struct pgk_filemap *m, size_t first, size_t end)
{
    assert(first <= end);
    if (!m->mapped)
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    first &= ~(page - 1);
    end = (end < m->size ? end : m->size) & ~(page - 1);
    if (first < end)
        (void)madvise((void *)(uintptr_t)(m->bytes + first), end - first, MADV_DONTNEED);
}

void pgk_filemap_close(struct pgk_filemap *m)
{
    if (m->mapped)
        (void)munmap((void *)(uintptr_t)m->bytes, m->size);
    else if (m->size)
        pgk_mem_free((void *)(uintptr_t)m->bytes);
    *m = (struct pgk_filemap){0};
}
