/* Numbers out of text, sorting, and comparing without case: done by the C library under names that
 * nobody replaces. Weak: in a static program the C library's own may be there as well. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* or headers define some of these functions */
#endif
#include "runtime_access.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#define REPLACES PGRT_EXPORT __attribute__((weak))

long __strtol_internal(const char *s, char **end, int base, int group);
unsigned long __strtoul_internal(const char *s, char **end, int base, int group);

/* What was used of the text, and the character that ended it. */
static void count_used(const char *s, char *end, char **to)
{
    pgrt_count_range(s, (size_t)(end - s) + 1);
    if (to)
        *to = end;
}

#define NUMBER(name, type, does)                                               \
    REPLACES type name(const char *restrict s, char **restrict to, int base);  \
    type name(const char *restrict s, char **restrict to, int base)            \
    {                                                                          \
        char *end = (char *)(uintptr_t)s;                                      \
        type v = (type)does(s, &end, base, 0);                                 \
        count_used(s, end, to);                                                \
        return v;                                                              \
    }
NUMBER(strtol, long, __strtol_internal)
NUMBER(strtoll, long long, __strtol_internal)
NUMBER(strtoimax, intmax_t, __strtol_internal)
NUMBER(strtoul, unsigned long, __strtoul_internal)
NUMBER(strtoull, unsigned long long, __strtoul_internal)
NUMBER(strtoumax, uintmax_t, __strtoul_internal)

#define DECIMAL(name, type)           \
    REPLACES type name(const char *s); \
    type name(const char *s)          \
    {                                 \
        return (type)strtol(s, NULL, 10); \
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
