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
    m->room = bytes;
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

int pgg_mapped_grow(struct pgg_mapped *m, u64 to, const void *page)
{
    int err = to > m->room ? -EFBIG : 0;
    if (!err && m->file.stream < 0)
        err = pgg_file_grow(&m->file, m->size, to, page);
    return err ? err : map(m, to);
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
    m->room -= from;
    m->size = size;
    return 0;
}

void pgg_mapped_forked(struct pgg_mapped *m)
{
    pgg_file_leave(&m->file);
    if (m->base)
        pgg_sys_unmap(m->base + m->size, m->room - m->size);
    m->base = NULL;
    m->size = 0;
}
