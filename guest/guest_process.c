/* What a recording says of its process. */
#include "guest_process.h"

#include "guest_bytes.h"
#include "guest_sys.h"
#include "guest_text.h"

#include <fcntl.h>

enum { PROGRAM_BYTES = 400, HOST_BYTES = 66 };

static const char mark[] = "...";

/* Marks a text of `used` bytes, with its zero byte, as cut. */
static void cut(char *text, u32 used)
{
    if (used >= sizeof mark)
        pgg_copy(text + used - sizeof mark, mark, sizeof mark);
}

static u32 put_program(char *to)
{
    const long n = pgg_sys_read_link("/proc/self/exe", to, PROGRAM_BYTES - 1);
    const u32 used = n > 0 ? (u32)n : 0;
    to[used] = 0;
    if (used == PROGRAM_BYTES - 1)
        cut(to, used + 1);
    return used + 1;
}

static u32 put_host(char *to)
{
    struct utsname host;
    struct pgg_text t;
    pgg_text_init(&t, to, HOST_BYTES);
    if (!pgg_sys_host(&host))
        pgg_text_str(&t, host.nodename);
    *t.at = 0;
    return (u32)(t.at - to) + 1;
}

/* As the kernel has it, which a program may have written over. */
static u32 put_arguments(char *to, u32 space)
{
    const long fd = pgg_sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    u32 used = 0;
    if (fd < 0)
        return 0;
    for (long n = 1; n > 0 && used < space; used += n > 0 ? (u32)n : 0)
        n = pgg_sys_read((int)fd, to + used, space - used);
    pgg_sys_close((int)fd);
    if (used && to[used - 1]) {
        if (used == space)
            cut(to, used);
        else
            to[used++] = 0;
    } else if (used == space) {
        cut(to, used);
    }
    return used;
}

u32 pgg_process_text(const char **text, bool arguments)
{
    static char kept[PGG_PROCESS_BYTES];
    static u32 used;
    *text = kept;
    if (used || pgg_confined)
        return used;
    u32 n = put_program(kept);
    n += put_host(kept + n);
    if (arguments)
        n += put_arguments(kept + n, PGG_PROCESS_BYTES - n);
    return used = n;
}

u64 pgg_process_clock_ms(void)
{
    struct timespec now = {0};
    pgg_sys_clock(CLOCK_REALTIME, &now);
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}
