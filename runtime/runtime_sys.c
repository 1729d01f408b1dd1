/* System calls, text and memory, without the C library's state. */
#include "pgrt_bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

long pgrt_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long);
    register long d __asm__("r10") = va_arg(args, long);
    register long e __asm__("r8") = va_arg(args, long);
    register long f __asm__("r9") = va_arg(args, long);
    va_end(args);
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r11", "memory");
    return result;
}

u64 pgrt_mapped_bytes;

void *pgrt_map(size_t bytes)
{
    long p = pgrt_syscall(SYS_mmap, 0L, bytes, (long)(PROT_READ | PROT_WRITE),
                          (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE), -1L, 0L);
    if (p < 0)
        return NULL;
    __atomic_fetch_add(&pgrt_mapped_bytes, bytes, __ATOMIC_RELAXED);
    return (void *)p;
}

void pgrt_unmap(void *start, size_t bytes)
{
    __atomic_fetch_sub(&pgrt_mapped_bytes, bytes, __ATOMIC_RELAXED);
    pgrt_syscall(SYS_munmap, start, bytes, 0L, 0L, 0L, 0L);
}

int pgrt_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        long done = pgrt_syscall(SYS_write, (long)fd, p, n, 0L, 0L, 0L);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            return done ? (int)done : -EIO;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

size_t pgrt_strlen(const char *s)
{
    const char *p = s;
    while (*p) {
        p++;
        pgrt_compiler_barrier(); /* or the loop becomes a call of strlen */
    }
    return (size_t)(p - s);
}

bool pgrt_streq(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

void pgrt_zero(void *p, size_t n)
{
    __asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(0) : "memory");
}

void pgrt_copy(void *to, const void *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* The C library's copy under a name that nobody replaces; statically linked, all its other
 * names end in memcpy, which is ours. */
void *__mempcpy(void *to, const void *from, size_t n);

void *pgrt_copy_long(void *to, const void *from, size_t n)
{
    __mempcpy(to, from, n);
    return to;
}

/* More than 64 bytes to lower addresses, or to higher ones: 64 at a time. The last, or first, 64
 * are loaded before anything is stored, and stored after all the others. */
struct bytes64 {
    __m128i v[4];
};

PGRT_INLINE struct bytes64 load64(const char *p)
{
    return (struct bytes64){{pgrt_load16(p), pgrt_load16(p + 16), pgrt_load16(p + 32),
                             pgrt_load16(p + 48)}};
}

PGRT_INLINE void store64(char *p, struct bytes64 b)
{
    pgrt_store16(p, b.v[0]);
    pgrt_store16(p + 16, b.v[1]);
    pgrt_store16(p + 32, b.v[2]);
    pgrt_store16(p + 48, b.v[3]);
}

static void move_down(char *to, const char *from, size_t n)
{
    const struct bytes64 last = load64(from + n - 64);
    for (size_t i = 0; i < n - 64; i += 64)
        store64(to + i, load64(from + i));
    store64(to + n - 64, last);
}

static void move_up(char *to, const char *from, size_t n)
{
    const struct bytes64 first = load64(from);
    for (size_t left = n; left > 64; left -= 64)
        store64(to + left - 64, load64(from + left - 64));
    store64(to, first);
}

void *pgrt_move_long(void *to, const void *from, size_t n)
{
    if ((uintptr_t)to - (uintptr_t)from >= n && (uintptr_t)from - (uintptr_t)to >= n)
        return pgrt_copy_long(to, from, n);
    if (to <= from)
        move_down(to, from, n);
    else
        move_up(to, from, n);
    return to;
}

/* More than PGRT_SHORT bytes. */
void *pgrt_fill_long(void *to, int c, size_t n)
{
    char *p = to;
    const __m128i all = _mm_set1_epi8((char)c);
    if (n >= 1024) {
        size_t left = n;
        __asm__ volatile("rep stosb" : "+D"(p), "+c"(left) : "a"(c) : "memory");
        return to;
    }
    for (size_t i = 0; i + PGRT_BYTES16 <= n; i += PGRT_BYTES16)
        pgrt_store16(p + i, all);
    pgrt_store16(p + n - PGRT_BYTES16, all);
    return to;
}

void pgrt_text_init(struct pgrt_text *t, char *buffer, size_t size)
{
    t->at = buffer;
    t->end = buffer + size - 1;
    *t->at = 0;
}

void pgrt_text_str(struct pgrt_text *t, const char *s)
{
    while (*s && t->at < t->end)
        *t->at++ = *s++;
    *t->at = 0;
}

void pgrt_text_u64(struct pgrt_text *t, u64 v)
{
    char digits[21], *p = digits + 20;
    *p = 0;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    pgrt_text_str(t, p);
}

void pgrt_say(const char *a, const char *b)
{
    char line[1600];
    struct pgrt_text t;
    pgrt_text_init(&t, line, sizeof line - 1);
    pgrt_text_str(&t, "pgokit heap profiler: ");
    pgrt_text_str(&t, a);
    if (b) {
        pgrt_text_str(&t, ": ");
        pgrt_text_str(&t, b);
    }
    *t.at++ = '\n';
    pgrt_write_all(2, line, (size_t)(t.at - line));
}

const char *pgrt_errno_name(long err)
{
    switch (-err) {
    case EACCES: return "permission denied";
    case EPERM: return "operation not permitted";
    case ENOENT: return "no such directory";
    case ENOTDIR: return "not a directory";
    case EROFS: return "read-only file system";
    case ENOSPC: return "no space left on the device";
    case EDQUOT: return "disk quota exceeded";
    case EFBIG: return "file size limit reached";
    case ENOMEM: return "out of memory";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "the name is too long";
    case EISDIR: return "it is a directory";
    case EEXIST: return "it exists and is no file";
    default: return "refused by the system";
    }
}

extern char **__environ __attribute__((weak));

/* Value of an environment variable. Before the C library has its environment, that of the
 * kernel, which is kept in a buffer. */
const char *pgrt_getenv(const char *name)
{
    static char early[32768];
    size_t n = pgrt_strlen(name);
    if (&__environ && __environ) {
        for (char **e = __environ; *e; e++) {
            size_t i = 0;
            while (i < n && (*e)[i] == name[i])
                i++;
            if (i == n && (*e)[n] == '=')
                return *e + n + 1;
        }
        return NULL;
    }
    if (!early[0]) {
        long fd = pgrt_syscall(SYS_openat, -100L, "/proc/self/environ", 0L, 0L, 0L, 0L);
        if (fd < 0)
            return NULL;
        size_t used = 0;
        long got;
        while (used < sizeof early - 2 &&
               (got = pgrt_syscall(SYS_read, fd, early + used, sizeof early - 2 - used, 0L, 0L,
                                   0L)) > 0)
            used += (size_t)got;
        pgrt_syscall(SYS_close, fd, 0L, 0L, 0L, 0L, 0L);
    }
    for (const char *e = early; *e; e += pgrt_strlen(e) + 1) {
        size_t i = 0;
        while (i < n && e[i] == name[i])
            i++;
        if (i == n && e[n] == '=')
            return e + n + 1;
    }
    return NULL;
}
