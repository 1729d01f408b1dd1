/* A file that is mapped whole and grows where it is. */
#include "guest_mapped.h"

#include "guest_sys.h"

#include <sys/mman.h>

int pgg_mapped_reserve(struct pgg_mapped *m, u64 bytes)
{
    const long p = pgg_sys_reserve(NULL, bytes);
    if (p < 0)
        return (int)p;
    m->base = (char *)p;
    return 0;
}

static int map(struct pgg_mapped *m, u64 to)
{
    const long p = pgg_sys_map_file(m->base + m->size, to - m->size,
                                    m->file.stream < 0 ? m->file.fd : -1, m->size);
    if (p < 0)
        return (int)p;
    pgg_sys_advise(m->base + m->size, to - m->size, MADV_DONTFORK);
    m->size = to;
    return 0;
}

int pgg_mapped_grow(struct pgg_mapped *m, u64 to, const void *page)
{
    const int err = m->file.stream < 0 ? pgg_file_grow(&m->file, m->size, to, page) : 0;
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

void pgg_mapped_forked(struct pgg_mapped *m)
{
    pgg_file_leave(&m->file);
    m->size = 0;
}
