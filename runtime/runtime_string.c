/* Library functions that read and write the program's memory: counted by the rules in
 * docs/design/runtime.md, done by functions of the C library that no program replaces. */
#include "runtime_access.h"

#include <wchar.h>

char *strchrnul(const char *s, int c);
void *memrchr(const void *s, int c, size_t n);

PGRT_EXPORT void *memcpy(void *restrict to, const void *restrict from, size_t n);
PGRT_EXPORT void *memmove(void *to, const void *from, size_t n);
PGRT_EXPORT void *memset(void *to, int c, size_t n);
PGRT_EXPORT void bzero(void *to, size_t n);
PGRT_EXPORT int memcmp(const void *a, const void *b, size_t n);
PGRT_EXPORT int bcmp(const void *a, const void *b, size_t n);
PGRT_EXPORT void *memchr(const void *s, int c, size_t n);
PGRT_EXPORT size_t strlen(const char *s);
PGRT_EXPORT size_t strnlen(const char *s, size_t max);
PGRT_EXPORT char *strcpy(char *restrict to, const char *restrict from);
PGRT_EXPORT char *strncpy(char *restrict to, const char *restrict from, size_t n);
PGRT_EXPORT char *strcat(char *restrict to, const char *restrict from);
PGRT_EXPORT char *strncat(char *restrict to, const char *restrict from, size_t n);
PGRT_EXPORT int strcmp(const char *a, const char *b);
PGRT_EXPORT int strncmp(const char *a, const char *b, size_t n);
PGRT_EXPORT char *strchr(const char *s, int c);
PGRT_EXPORT char *strrchr(const char *s, int c);

/* As the C library for AArch64 calls them itself. Where it is linked statically, it would bring its
 * own. */
PGRT_EXPORT void *__memchr(const void *s, int c, size_t n) __attribute__((alias("memchr")));
PGRT_EXPORT size_t __strlen(const char *s) __attribute__((alias("strlen")));

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    return pgrt_counted_copy(to, from, n);
}

void *memmove(void *to, const void *from, size_t n)
{
    return pgrt_counted_move(to, from, n);
}

void *memset(void *to, int c, size_t n)
{
    pgrt_count_range(to, n);
    return pgg_fill_fast(to, c, n);
}

void bzero(void *to, size_t n)
{
    pgrt_count_range(to, n);
    pgg_fill_fast(to, 0, n);
}

static __attribute__((noinline)) int compare_long(const void *a, const void *b, size_t n)
{
    pgrt_count_range(a, n);
    pgrt_count_range(b, n);
    return pgg_compare(a, b, n);
}

/* The whole length on both sides, wherever they differ. */
int memcmp(const void *a, const void *b, size_t n)
{
    if (PGG_UNLIKELY(!pgrt_is_short(n)))
        return compare_long(a, b, n);
    pgrt_count_short(a, n);
    pgrt_count_short(b, n);
    return pgg_compare(a, b, n);
}

int bcmp(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n);
}

void *memchr(const void *s, int c, size_t n)
{
    size_t i = pgg_find_byte(s, (unsigned char)c, n);
    pgrt_count_range(s, i < n ? i + 1 : n);
    return i < n ? (char *)(uintptr_t)s + i : NULL;
}

static size_t length(const char *s)
{
    return (size_t)(strchrnul(s, 0) - s);
}

static size_t length_to(const char *s, size_t max)
{
    return pgg_find_byte((const unsigned char *)s, 0, max);
}

size_t strlen(const char *s)
{
    size_t n = length(s);
    pgrt_count_range(s, n + 1);
    return n;
}

size_t strnlen(const char *s, size_t max)
{
    size_t n = length_to(s, max);
    pgrt_count_range(s, n < max ? n + 1 : n);
    return n;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    size_t n = length(from) + 1;
    pgrt_count_range(from, n);
    pgrt_count_range(to, n);
    return pgg_copy_fast(to, from, n);
}

char *strncpy(char *restrict to, const char *restrict from, size_t n)
{
    size_t used = length_to(from, n);
    pgrt_count_range(from, used < n ? used + 1 : n);
    pgrt_count_range(to, n);
    pgg_copy_fast(to, from, used);
    pgg_fill_fast(to + used, 0, n - used);
    return to;
}

static char *append(char *to, const char *from, size_t n, size_t read)
{
    size_t old = length(to);
    pgrt_count_range(from, read);
    pgrt_count_range(to, old);
    pgrt_count_range(to + old, n + 1);
    pgg_copy_fast(to + old, from, n);
    to[old + n] = 0;
    return to;
}

char *strcat(char *restrict to, const char *restrict from)
{
    size_t n = length(from);
    return append(to, from, n, n + 1);
}

char *strncat(char *restrict to, const char *restrict from, size_t max)
{
    size_t n = length_to(from, max);
    return append(to, from, n, n < max ? n + 1 : n);
}

/* Up to and including the difference or the end. */
static int compare(const char *a, const char *b, size_t max)
{
    size_t i = pgg_difference_string(a, b, max);
    size_t read = i < max ? i + 1 : max;
    pgrt_count_range(a, read);
    pgrt_count_range(b, read);
    return i == max ? 0 : (unsigned char)a[i] - (unsigned char)b[i];
}

int strcmp(const char *a, const char *b)
{
    return compare(a, b, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
    return compare(a, b, n);
}

char *strchr(const char *s, int c)
{
    char *hit = strchrnul(s, c);
    pgrt_count_range(s, (size_t)(hit - s) + 1);
    return *hit == (char)c ? hit : NULL;
}

char *strrchr(const char *s, int c)
{
    size_t n = length(s) + 1;
    pgrt_count_range(s, n);
    return memrchr(s, c, n);
}

/* ---- rarer ones ---- */

PGRT_EXPORT void *mempcpy(void *restrict to, const void *restrict from, size_t n);
PGRT_EXPORT char *stpcpy(char *restrict to, const char *restrict from);
PGRT_EXPORT wchar_t *wmemcpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n);
PGRT_EXPORT wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n);
PGRT_EXPORT wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n);
PGRT_EXPORT size_t wcslen(const wchar_t *s);
PGRT_EXPORT wchar_t *wcscpy(wchar_t *restrict to, const wchar_t *restrict from);

void *mempcpy(void *restrict to, const void *restrict from, size_t n)
{
    return (char *)memcpy(to, from, n) + n;
}

char *stpcpy(char *restrict to, const char *restrict from)
{
    size_t n = length(from);
    memcpy(to, from, n + 1);
    return to + n;
}

wchar_t *wmemcpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n)
{
    return memcpy(to, from, n * sizeof *to);
}

wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n)
{
    return memmove(to, from, n * sizeof *to);
}

wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n)
{
    pgrt_count_range(to, n * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        to[i] = c;
        pgg_compiler_barrier();
    }
    return to;
}

static size_t wide_length(const wchar_t *s)
{
    size_t n = 0;
    while (s[n]) {
        n++;
        pgg_compiler_barrier();
    }
    return n;
}

size_t wcslen(const wchar_t *s)
{
    size_t n = wide_length(s);
    pgrt_count_range(s, (n + 1) * sizeof *s);
    return n;
}

wchar_t *wcscpy(wchar_t *restrict to, const wchar_t *restrict from)
{
    return memcpy(to, from, (wide_length(from) + 1) * sizeof *to);
}

/* ---- what the C library's headers make of them when a buffer's size is known ---- */

void __chk_fail(void) __attribute__((noreturn));

/* name, result type, parameters, bytes it needs, the function that does it */
#define CHECKED(name, type, params, need, call)  \
    PGRT_EXPORT type name params;                \
    type name params                             \
    {                                            \
        if (PGG_UNLIKELY((need) > space))        \
            __chk_fail();                        \
        return call;                             \
    }

CHECKED(__memcpy_chk, void *, (void *to, const void *from, size_t n, size_t space), n,
        memcpy(to, from, n))
CHECKED(__memmove_chk, void *, (void *to, const void *from, size_t n, size_t space), n,
        memmove(to, from, n))
CHECKED(__mempcpy_chk, void *, (void *to, const void *from, size_t n, size_t space), n,
        mempcpy(to, from, n))
CHECKED(__memset_chk, void *, (void *to, int c, size_t n, size_t space), n, memset(to, c, n))
CHECKED(__strcpy_chk, char *, (char *to, const char *from, size_t space), length(from) + 1,
        strcpy(to, from))
CHECKED(__stpcpy_chk, char *, (char *to, const char *from, size_t space), length(from) + 1,
        stpcpy(to, from))
CHECKED(__strncpy_chk, char *, (char *to, const char *from, size_t n, size_t space), n,
        strncpy(to, from, n))
CHECKED(__strcat_chk, char *, (char *to, const char *from, size_t space),
        length(to) + length(from) + 1, strcat(to, from))
CHECKED(__wmemcpy_chk, wchar_t *, (wchar_t *to, const wchar_t *from, size_t n, size_t space), n,
        wmemcpy(to, from, n))
CHECKED(__wmemmove_chk, wchar_t *, (wchar_t *to, const wchar_t *from, size_t n, size_t space), n,
        wmemmove(to, from, n))
CHECKED(__wmemset_chk, wchar_t *, (wchar_t *to, wchar_t c, size_t n, size_t space), n,
        wmemset(to, c, n))
CHECKED(__wcscpy_chk, wchar_t *, (wchar_t *to, const wchar_t *from, size_t space),
        wide_length(from) + 1, wcscpy(to, from))
CHECKED(__strncat_chk, char *, (char *to, const char *from, size_t n, size_t space),
        length(to) + length_to(from, n) + 1, strncat(to, from, n))
