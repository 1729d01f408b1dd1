/* Finding bytes in bytes, and taking strings apart. */
#include "runtime_access.h"

PGRT_EXPORT void *memmem(const void *s, size_t n, const void *part, size_t m);
PGRT_EXPORT char *strstr(const char *s, const char *part);
PGRT_EXPORT size_t strspn(const char *s, const char *set);
PGRT_EXPORT size_t strcspn(const char *s, const char *set);
PGRT_EXPORT char *strpbrk(const char *s, const char *set);
PGRT_EXPORT char *strtok(char *restrict s, const char *restrict set);
PGRT_EXPORT char *strtok_r(char *restrict s, const char *restrict set, char **restrict rest);
PGRT_EXPORT char *__strtok_r(char *restrict s, const char *restrict set, char **restrict rest);

char *strchrnul(const char *s, int c);

static size_t length(const char *s)
{
    return (size_t)(strchrnul(s, 0) - s);
}

/* How many bytes in front are the same. */
static size_t same_bytes(const unsigned char *a, const unsigned char *b, size_t n)
{
    size_t i = 0;
    for (; i + PGG_BYTES16 <= n; i += PGG_BYTES16) {
        const u32 unlike = pgg_unlike16(a + i, b + i);
        if (unlike)
            return i + (size_t)__builtin_ctz(unlike);
    }
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* By sums of m bytes that roll on: the time does not depend on what the bytes are. */
static size_t find_rolling(const unsigned char *s, size_t n, const unsigned char *part, size_t m)
{
    const u64 base = 0x9e3779b97f4a7c15;
    u64 wanted = 0, sum = 0, first = 1; /* weight of the first byte */
    for (size_t i = 0; i < m; i++) {
        wanted = wanted * base + part[i];
        sum = sum * base + s[i];
        first *= i ? base : 1;
    }
    for (size_t i = 0;; i++) {
        if (sum == wanted && same_bytes(s + i, part, m) == m)
            return i;
        if (i + m == n)
            return n;
        sum = (sum - s[i] * first) * base + s[i + m];
    }
}

/* The place of the part, or n. First tries each place with its first byte, as long as this costs no
 * more than a few passes over all bytes. */
static size_t find_bytes(const unsigned char *s, size_t n, const unsigned char *part, size_t m)
{
    if (!m || m > n)
        return m ? n : 0;
    for (size_t i = 0, spent = 0; spent / 4 <= n; i++) {
        i += pgg_find_byte(s + i, part[0], n - m + 1 - i);
        if (i > n - m)
            return n;
        const size_t same = same_bytes(s + i, part, m);
        if (same == m)
            return i;
        spent += same;
        if (i == n - m)
            return n;
    }
    return find_rolling(s, n, part, m);
}

/* Up to the end of the match, or all; the part is read once. */
void *memmem(const void *s, size_t n, const void *part, size_t m)
{
    const size_t i = find_bytes(s, n, part, m);
    const bool found = i + m <= n;
    pgrt_count_range(part, m);
    pgrt_count_range(s, found ? i + m : n);
    return found ? (char *)(uintptr_t)s + i : NULL;
}

char *strstr(const char *s, const char *part)
{
    const size_t n = length(s), m = length(part),
                 i = find_bytes((const unsigned char *)s, n, (const unsigned char *)part, m);
    const bool found = i + m <= n;
    pgrt_count_range(part, m + 1);
    pgrt_count_range(s, found ? i + m : n + 1);
    return found ? (char *)(uintptr_t)s + i : NULL;
}

/* Bytes in front of the first one that is in the set, or is not. */
static size_t span(const char *s, const char *set, bool inside)
{
    bool in[256] = {false};
    size_t n = 0, m = length(set);
    for (size_t i = 0; i < m; i++)
        in[(unsigned char)set[i]] = true;
    while (s[n] && in[(unsigned char)s[n]] == inside)
        n++;
    pgrt_count_range(set, m + 1);
    pgrt_count_range(s, n + 1);
    return n;
}

size_t strspn(const char *s, const char *set)
{
    return span(s, set, true);
}

size_t strcspn(const char *s, const char *set)
{
    return span(s, set, false);
}

char *strpbrk(const char *s, const char *set)
{
    const char *hit = s + span(s, set, false);
    return *hit ? (char *)(uintptr_t)hit : NULL;
}

/* Over separators, over what is between them, and a zero onto the next one. */
char *strtok_r(char *restrict s, const char *restrict set, char **restrict rest)
{
    s = s ? s : *rest;
    if (!s)
        return NULL;
    s += span(s, set, true);
    *rest = s;
    if (!*s)
        return NULL;
    char *end = s + span(s, set, false);
    if (*end) {
        *end = 0;
        pgrt_count_range(end++, 1);
    }
    *rest = end;
    return s;
}

char *__strtok_r(char *restrict s, const char *restrict set, char **restrict rest)
{
    return strtok_r(s, set, rest);
}

char *strtok(char *restrict s, const char *restrict set)
{
    static char *rest;
    return strtok_r(s, set, &rest);
}
