/* A file that is mapped whole and grows where it is. */
#include "guest_mapped.h"

#include "guest_sys.h"

#include <errno.h>
#include <sys/mman.h>

int pgg_mapped_reserve(struct pgg_mapped *m, u64 bytes)
{
    const long p = pgg_sys_reserve(NULL, bytes);
    if (p < 0)
        return (int)p;
    m->base = (char *)p;
    m->capacity = bytes;
    return 0;
}

static int map(struct pgg_mapped *m, u64 to)
{
    const int fd = m->file.stream < 0 ? pgg_file_descriptor(&m->file) : -1;
    if (fd < 0 && m->file.stream < 0)
        return fd;
    const long p = pgg_sys_map_file(m->base + m->size, to - m->size, fd, m->size);
    if (p < 0)
        return (int)p;
    pgg_sys_advise(m->base + m->size, to - m->size, MADV_DONTFORK);
    m->size = to;
    return 0;
}

/* Fills the hole so far. A full disk is an error here and no signal at a later store. */
static int fill(struct pgg_mapped *m, u64 to)
{
    const int err = pgg_sys_advise(m->base + m->size, to - m->size, MADV_POPULATE_WRITE);
    if (!err)
        m->size = to;
    return err;
}

void pgg_mapped_let_go(struct pgg_mapped *m)
{
    char *behind = m->base + m->size;
    const u64 bytes = m->capacity - m->size;
    const int fd = pgg_file_descriptor(&m->file);
    if (fd < 0 || pgg_sys_advise(m->base, m->size, MADV_POPULATE_WRITE) < 0 ||
        !pgg_file_within_limit(m->capacity) || pgg_sys_truncate(fd, m->capacity) < 0 ||
        pgg_sys_map_file(behind, bytes, fd, m->size) < 0)
        return;
    pgg_sys_advise(behind, bytes, MADV_DONTFORK);
    m->whole = true;
    pgg_file_leave(&m->file);
}

int pgg_mapped_end(struct pgg_mapped *m)
{
    const int err = m->whole ? pgg_file_shorten(&m->file, m->size) : 0;
    if (m->whole)
        pgg_file_leave(&m->file);
    return err;
}

int pgg_mapped_grow(struct pgg_mapped *m, u64 to, const void *page)
{
    int err = to > m->capacity ? -EFBIG : 0;
    if (!err && m->whole)
        return fill(m, to);
    if (!err && m->file.stream < 0)
        err = pgg_file_grow(&m->file, m->size, to, page);
    return err ? err : map(m, to);
}

int pgg_mapped_write(struct pgg_mapped *m, u64 off, const void *from, u64 bytes)
{
    return off + bytes > m->size ? -EFBIG : pgg_file_write(&m->file, off, from, bytes);
}

int pgg_mapped_punch(struct pgg_mapped *m, u64 from, u64 to)
{
    return from < to ? pgg_file_punch(&m->file, from, to) : 0;
}

int pgg_mapped_move(struct pgg_mapped *m, int fd, u64 size)
{
    pgg_sys_reserve(m->base, m->size);
    pgg_file_leave(&m->file);
    if (fd >= 0)
        pgg_file_take(&m->file, fd);
    m->size = 0;
    return size ? map(m, size) : 0;
}

int pgg_mapped_split(struct pgg_mapped *m, int fd, u64 from)
{
    const u64 size = m->size - from;
    const long p = pgg_sys_map_file(m->base + from, size, fd, 0);
    if (p < 0)
        return (int)p;
    pgg_sys_advise(m->base + from, size, MADV_DONTFORK);
    pgg_sys_unmap(m->base, from);
    pgg_file_shorten(&m->file, from);
    pgg_file_leave(&m->file);
    pgg_file_take(&m->file, fd);
    m->base += from;
    m->capacity -= from;
    m->size = size;
    return 0;
}

void pgg_mapped_forked(struct pgg_mapped *m)
{
    pgg_file_leave(&m->file);
    if (m->base && !m->whole)
        pgg_sys_unmap(m->base + m->size, m->capacity - m->size);
    m->base = NULL;
    m->whole = false;
    m->size = 0;
}
