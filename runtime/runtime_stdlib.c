/* Numbers out of text, sorting, and comparing without case: done by the C library under names that
 * no program replaces. Weak: in a static program the C library's own may be there as well. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* or headers define some of these functions */
#endif
#include "runtime_access.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#define REPLACES PGRT_EXPORT __attribute__((weak))

long __strtol_internal(const char *s, char **end, int base, int group);
unsigned long __strtoul_internal(const char *s, char **end, int base, int group);

/* The part of the text that was used, and the character that ended it. */
static void count_used(const char *s, char *end, char **to)
{
    pgrt_count_range(s, (size_t)(end - s) + 1);
    if (to)
        *to = end;
}

/* The digits of a number that C23 reads with the base 2 for its prefix 0b; NULL if `s` is none. */
static const char *binary_digits(const char *s, int base, bool *negative)
{
    if (base != 0 && base != 2)
        return NULL;
    while (isspace((unsigned char)*s))
        s++;
    *negative = *s == '-';
    s += *s == '-' || *s == '+';
    return s[0] == '0' && (s[1] | 32) == 'b' && (s[2] | 1) == '1' ? s + 2 : NULL;
}

static long c23_strtol(const char *s, char **end, int base, int group)
{
    bool negative;
    const char *digits = binary_digits(s, base, &negative);
    if (!digits)
        return __strtol_internal(s, end, base, group);
    const unsigned long v = __strtoul_internal(digits, end, 2, group);
    if (v > (unsigned long)LONG_MAX + negative) {
        errno = ERANGE;
        return negative ? LONG_MIN : LONG_MAX;
    }
    return (long)(negative ? -v : v);
}

static unsigned long c23_strtoul(const char *s, char **end, int base, int group)
{
    bool negative;
    const char *digits = binary_digits(s, base, &negative);
    if (!digits)
        return __strtoul_internal(s, end, base, group);
    const int before = errno;
    errno = 0;
    const unsigned long v = __strtoul_internal(digits, end, 2, group);
    if (errno)
        return v;
    errno = before;
    return negative ? -v : v;
}

/* Symbols are given apart from the names in C: since glibc 2.38 a header can make strtol mean
 * __isoc23_strtol, and which of the two a program calls depends on how that was compiled. */
#define NUMBER(name, symbol, type, does)                                                      \
    REPLACES type name(const char *restrict s, char **restrict to, int base) __asm__(symbol); \
    type name(const char *restrict s, char **restrict to, int base)                           \
    {                                                                                         \
        char *end = (char *)(uintptr_t)s;                                                     \
        type v = (type)does(s, &end, base, 0);                                                \
        count_used(s, end, to);                                                               \
        return v;                                                                             \
    }
#define NUMBERS(name, type, does, c23_does)                                \
    NUMBER(replaced_##name, #name, type, does)                             \
    NUMBER(replaced_c23_##name, "__isoc23_" #name, type, c23_does)
NUMBERS(strtol, long, __strtol_internal, c23_strtol)
NUMBERS(strtoll, long long, __strtol_internal, c23_strtol)
NUMBERS(strtoimax, intmax_t, __strtol_internal, c23_strtol)
NUMBERS(strtoul, unsigned long, __strtoul_internal, c23_strtoul)
NUMBERS(strtoull, unsigned long long, __strtoul_internal, c23_strtoul)
NUMBERS(strtoumax, uintmax_t, __strtoul_internal, c23_strtoul)

#define DECIMAL(name, type)                        \
    REPLACES type name(const char *s);             \
    type name(const char *s)                       \
    {                                              \
        return (type)replaced_strtol(s, NULL, 10); \
    }
DECIMAL(atoi, int)
DECIMAL(atol, long)
DECIMAL(atoll, long long)

REPLACES void qsort(void *start, size_t n, size_t size, int (*compare)(const void *, const void *));

static int without_argument(const void *a, const void *b, void *compare)
{
    int (*function)(const void *, const void *);
    __builtin_memcpy(&function, compare, sizeof function);
    return function(a, b);
}

/* The whole array once, whatever the order costs; what `compare` reads is the program's own. */
void qsort(void *start, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    pgrt_count_range(start, n * size);
    qsort_r(start, n, size, without_argument, &compare);
}

REPLACES int strcasecmp(const char *a, const char *b);
REPLACES int strncasecmp(const char *a, const char *b, size_t max);

/* Up to and including the difference. */
int strncasecmp(const char *a, const char *b, size_t max)
{
    size_t i = 0;
    int difference = 0;
    for (; i < max; i++) {
        difference = tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
        if (difference || !a[i])
            break;
    }
    const size_t n = i < max ? i + 1 : i;
    pgrt_count_range(a, n);
    pgrt_count_range(b, n);
    return difference;
}

int strcasecmp(const char *a, const char *b)
{
    return strncasecmp(a, b, SIZE_MAX);
}
