/* The file of the profile. */
#include "sampler_file.h"

#include "guest_bytes.h"
#include "guest_file.h"
#include "guest_sys.h"
#include "sampler_options.h"
#include "sampler_start.h"

#include <errno.h>

struct pgsm_out {
    int fd, err;
    size_t used;
    char buffer[32 << 10];
};

static struct pgg_file file = PGG_NO_FILE;
static bool named;

static void flush(struct pgsm_out *to)
{
    if (!to->err)
        to->err = pgg_sys_write_all(to->fd, to->buffer, to->used);
    to->used = 0;
}

void pgsm_put(struct pgsm_out *to, const void *bytes, size_t n)
{
    for (const char *from = bytes; n;) {
        const size_t space = sizeof to->buffer - to->used, part = n < space ? n : space;
        pgg_copy(to->buffer + to->used, from, part);
        to->used += part;
        from += part;
        n -= part;
        if (to->used == sizeof to->buffer)
            flush(to);
    }
}

static int name_file(void)
{
    char wanted[sizeof file.path];
    bool unique;
    if (named)
        return 0;
    if (!pgsm_profile_path(wanted, sizeof wanted, pgsm_process, &unique) ||
        !pgg_file_choose(&file, wanted, unique))
        return -ENAMETOOLONG;
    named = true;
    return 0;
}

int pgsm_file_write(void (*write)(void *arg, struct pgsm_out *to), void *arg)
{
    static struct pgsm_out out;
    int err = name_file();
    const long fd = err ? err : pgg_file_create(&file, pgg_file_root_is_first());
    if (fd < 0)
        return (int)fd;
    out = (struct pgsm_out){.fd = (int)fd};
    write(arg, &out);
    flush(&out);
    err = out.err ? out.err : pgg_file_publish(&file);
    if (err) {
        pgg_file_drop(&file, (int)fd);
        return err;
    }
    pgg_sys_close((int)fd);
    return 0;
}

const char *pgsm_file_path(void)
{
    return file.path;
}

void pgsm_file_forked(void)
{
    named = false;
}
