/* Memory that the program maps itself. Each mapping is a line with its addresses, as
 * "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 [name]", and lines "Key: value", of which the
 * last one is "VmFlags: rd wr mr mw me ac". */
#include "runtime_reach_maps.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_sys.h"

#include <fcntl.h>

struct lines {
    int fd;
    char *text;
    size_t capacity, used, next;
};

/* The next line, without its end; NULL past the last one. */
static char *next_line(struct lines *l, char **end)
{
    for (;;) {
        char *from = l->text + l->next;
        const size_t left = l->used - l->next,
                     n = pgg_find_byte((const unsigned char *)from, '\n', left);
        if (n < left) {
            *end = from + n;
            **end = 0;
            l->next += n + 1;
            return from;
        }
        pgg_move_fast(l->text, from, left);
        l->next = 0;
        l->used = left;
        const long got = pgg_sys_read(l->fd, l->text + left, l->capacity - left);
        if (got <= 0)
            return NULL;
        l->used += (size_t)got;
    }
}

static bool take(const char **s, const char *text)
{
    const char *at = *s;
    while (*text && *at == *text)
        at++, text++;
    if (*text)
        return false;
    *s = at;
    return true;
}

static bool take_hex(const char **s, uintptr_t *value)
{
    const char *start = *s;
    *value = 0;
    for (;; ++*s) {
        const char c = **s;
        const u32 digit = c >= '0' && c <= '9'   ? (u32)(c - '0')
                          : c >= 'a' && c <= 'f' ? (u32)(c - 'a') + 10
                                                 : 16;
        if (digit == 16)
            return *s > start;
        *value = *value << 4 | digit;
    }
}

/* Those with the names that the kernel gives to stacks and to pages of its own are not. */
static bool may_be_of_program(const char *s, struct pgrt_range *range)
{
    if (!take_hex(&s, &range->from) || !take(&s, "-") || !take_hex(&s, &range->to) ||
        !take(&s, " rw-p 00000000 00:00 0"))
        return false;
    while (take(&s, " "))
        ;
    return !*s || take(&s, "[heap]") || take(&s, "[anon:");
}

static bool is_accounted(const char *flags)
{
    while (*flags && !take(&flags, " nr"))
        flags++;
    return !*flags;
}

u32 pgrt_maps_of_program(struct pgrt_range *to, u32 most, char *text, size_t bytes)
{
    struct lines l = {.text = text, .capacity = bytes};
    struct pgrt_range range = {0};
    u32 n = 0;
    char *end;
    if (pgg_confined)
        return 0;
    l.fd = (int)pgg_sys_open("/proc/self/smaps", O_RDONLY | O_CLOEXEC, 0);
    if (l.fd < 0)
        return 0;
    bool wanted = false;
    for (const char *line; n < most && (line = next_line(&l, &end));) {
        if (*line >= 'A' && *line <= 'Z') {
            if (wanted && take(&line, "VmFlags:") && is_accounted(line))
                to[n++] = range;
        } else {
            wanted = may_be_of_program(line, &range);
        }
    }
    pgg_sys_close(l.fd);
    return n;
}

/* ---- pages ---- */

/* What the kernel says of a page: in memory, or swapped out. */
static bool is_touched(u64 page)
{
    return page >> 62;
}

static long ask_pages(int fd, u64 *pages, uintptr_t from, u64 n)
{
    const long got = pgg_sys_pread(fd, pages, n * sizeof *pages,
                                   (off_t)(from / pgg_page() * sizeof *pages));
    return got / (long)sizeof *pages;
}

bool pgrt_maps_each_touched(const struct pgrt_range *range, const void *known,
                            void (*f)(void *arg, uintptr_t from, uintptr_t to), void *arg)
{
    enum { PAGES = 512 };
    u64 pages[PAGES];
    const uintptr_t page = pgg_page();
    const int fd = (int)pgg_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const bool good = ask_pages(fd, pages, (uintptr_t)known, 1) == 1 && is_touched(pages[0]);
    for (uintptr_t at = range->from; good && at < range->to;) {
        const u64 left = (range->to - at) / page;
        const long got = ask_pages(fd, pages, at, left < PAGES ? left : PAGES);
        if (got <= 0)
            break;
        for (long i = 0; i < got;) {
            const long first = i;
            while (i < got && is_touched(pages[i]))
                i++;
            if (i > first)
                f(arg, at + (uintptr_t)first * page, at + (uintptr_t)i * page);
            else
                i++;
        }
        at += (uintptr_t)got * page;
    }
    pgg_sys_close(fd);
    return good;
}
