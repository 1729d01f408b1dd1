/* Input, output and formatting: counts the program's memory that they read and write. The C
 * library's functions do the work, under names that no program replaces. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* or headers define some of these functions */
#endif
#include "runtime_access.h"
#include "runtime_alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <wchar.h>

size_t _IO_fread(void *to, size_t size, size_t n, FILE *f);
size_t _IO_fwrite(const void *from, size_t size, size_t n, FILE *f);
char *_IO_fgets(char *to, int n, FILE *f);
int _IO_fputs(const char *s, FILE *f);
int _IO_puts(const char *s);
int _IO_vfprintf(FILE *f, const char *format, va_list args);
int _IO_vsprintf(char *to, const char *format, va_list args);
int __vsnprintf(char *to, size_t n, const char *format, va_list args);
int __vasprintf_chk(char **to, int flag, const char *format, va_list args);
void __chk_fail(void) __attribute__((noreturn));
char *strchrnul(const char *s, int c);
ssize_t __read(int fd, void *to, size_t n);
ssize_t __write(int fd, const void *from, size_t n);

PGRT_EXPORT ssize_t read(int fd, void *to, size_t n);
PGRT_EXPORT ssize_t write(int fd, const void *from, size_t n);
PGRT_EXPORT size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict f);
PGRT_EXPORT size_t fwrite(const void *restrict from, size_t size, size_t n, FILE *restrict f);
PGRT_EXPORT char *fgets(char *restrict to, int n, FILE *restrict f);
PGRT_EXPORT int fputs(const char *restrict s, FILE *restrict f);
PGRT_EXPORT int puts(const char *s);
PGRT_EXPORT int printf(const char *restrict format, ...);
PGRT_EXPORT int fprintf(FILE *restrict f, const char *restrict format, ...);
PGRT_EXPORT int sprintf(char *restrict to, const char *restrict format, ...);
PGRT_EXPORT int snprintf(char *restrict to, size_t n, const char *restrict format, ...);
PGRT_EXPORT int vsnprintf(char *restrict to, size_t n, const char *restrict format, va_list args);
PGRT_EXPORT int vasprintf(char **restrict to, const char *restrict format, va_list args);
PGRT_EXPORT int asprintf(char **restrict to, const char *restrict format, ...);
PGRT_EXPORT int vprintf(const char *restrict format, va_list args);
PGRT_EXPORT int vfprintf(FILE *restrict f, const char *restrict format, va_list args)
    __attribute__((weak));
PGRT_EXPORT int vsprintf(char *restrict to, const char *restrict format, va_list args)
    __attribute__((weak));
/* The C library's header turns getline into this; getdelim does the work. */
PGRT_EXPORT ssize_t __getdelim(char **restrict line, size_t *restrict space, int end,
                               FILE *restrict f) __attribute__((weak));
PGRT_EXPORT ssize_t getline(char **restrict line, size_t *restrict space, FILE *restrict f);
/* In a static program the C library's copies come through our memcpy and count there. */
static void count(const void *start, size_t n)
{
    static int8_t linked_statically = -1;
    if (PGG_UNLIKELY(linked_statically < 0))
        linked_statically = !getauxval(AT_BASE);
    if (!linked_statically)
        pgrt_count_range(start, n);
}

static void count_string(const char *s)
{
    count(s, (size_t)(strchrnul(s, 0) - s) + 1);
}

ssize_t read(int fd, void *to, size_t n)
{
    ssize_t got = __read(fd, to, n);
    if (got > 0)
        pgrt_count_range(to, (size_t)got);
    return got;
}

ssize_t write(int fd, const void *from, size_t n)
{
    ssize_t done = __write(fd, from, n);
    if (done > 0)
        pgrt_count_range(from, (size_t)done);
    return done;
}

size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict f)
{
    size_t got = _IO_fread(to, size, n, f);
    count(to, got * size);
    return got;
}

size_t fwrite(const void *restrict from, size_t size, size_t n, FILE *restrict f)
{
    size_t done = _IO_fwrite(from, size, n, f);
    count(from, done * size);
    return done;
}

char *fgets(char *restrict to, int n, FILE *restrict f)
{
    char *got = _IO_fgets(to, n, f);
    if (got)
        count_string(got);
    return got;
}

ssize_t __getdelim(char **restrict line, size_t *restrict space, int end, FILE *restrict f)
{
    ssize_t n = getdelim(line, space, end, f);
    if (n > 0)
        count(*line, (size_t)n + 1);
    return n;
}

ssize_t getline(char **restrict line, size_t *restrict space, FILE *restrict f)
{
    return __getdelim(line, space, '\n', f);
}

int fputs(const char *restrict s, FILE *restrict f)
{
    int done = _IO_fputs(s, f);
    if (done >= 0)
        count_string(s);
    return done;
}

int puts(const char *s)
{
    int done = _IO_puts(s);
    if (done >= 0)
        count_string(s);
    return done;
}

/* One conversion's size of its argument. */
enum width { NARROW, LONG, MAX_WIDE, LONG_DOUBLE };

/* Passes over a conversion's flags, width, precision and length; false where its arguments are
 * numbered, which would take a second pass. */
static bool conversion(const char **at, va_list *args, enum width *width, int *precision)
{
    const char *s = *at;
    *precision = -1;
    *width = NARROW;
    while (*s == '-' || *s == '+' || *s == ' ' || *s == '#' || *s == '0' || *s == '\'' || *s == 'I')
        s++;
    for (int part = 0; part < 2; part++) {
        int v = 0;
        if (*s == '*') {
            v = va_arg(*args, int);
            s++;
        } else {
            for (; *s >= '0' && *s <= '9' && v < 100000000; s++)
                v = v * 10 + (*s - '0');
        }
        if (*s == '$')
            return false;
        if (part)
            *precision = v;
        else if (*s == '.')
            s++;
        else
            break;
    }
    for (;; s++) {
        switch (*s) {
        case 'h': continue;
        case 'l': *width = LONG; continue;
        case 'L': *width = LONG_DOUBLE; continue;
        case 'q':
        case 'j':
        case 'z':
        case 'Z':
        case 't': *width = MAX_WIDE; continue;
        }
        break;
    }
    *at = s;
    return true;
}

static void count_argument(const char *s, int precision)
{
    size_t n = 0, most = precision < 0 ? SIZE_MAX : (size_t)precision;
    while (s && n < most && s[n]) {
        n++;
        pgg_compiler_barrier();
    }
    if (s)
        count(s, n < most ? n + 1 : n);
}

static void count_wide_argument(const wchar_t *s, int precision)
{
    size_t n = 0;
    while (s && precision < 0 && s[n])
        n++;
    if (s && precision < 0)
        count(s, (n + 1) * sizeof *s);
}

/* The strings that a format reads. True if it may store, by %n. */
static bool count_arguments(const char *format, va_list given)
{
    bool stores = false;
    va_list args;
    va_copy(args, given);
    for (const char *s = format; *s; s++) {
        enum width width;
        int precision;
        if (*s != '%')
            continue;
        s++;
        if (!conversion(&s, &args, &width, &precision)) {
            stores = true;
            break;
        }
        if (!*s)
            break;
        if (*s == 's' && width == LONG)
            count_wide_argument(va_arg(args, const wchar_t *), precision);
        else if (*s == 's')
            count_argument(va_arg(args, const char *), precision);
        else if (*s == 'S')
            count_wide_argument(va_arg(args, const wchar_t *), precision);
        else if (*s == 'p' || *s == 'n') {
            va_arg(args, void *);
            stores |= *s == 'n';
        }
        else if (*s == 'm' || *s == '%')
            continue;
        else if ((*s | 32) == 'e' || (*s | 32) == 'f' || (*s | 32) == 'g' || (*s | 32) == 'a') {
            if (width == LONG_DOUBLE)
                va_arg(args, long double);
            else
                va_arg(args, double);
        } else if (width == NARROW)
            va_arg(args, int);
        else
            va_arg(args, long);
    }
    va_end(args);
    return stores;
}

static int written(const char *to, size_t space, int n)
{
    if (n >= 0 && space)
        count(to, (size_t)n + 1 < space ? (size_t)n + 1 : space);
    return n;
}

/* A format that may store must not lie in memory that can be written if `flag` says so. The C
 * library looks at that in few functions; this one is left to it. */
PGG_INLINE char *checked_text(int *n, int flag, const char *format, va_list args)
{
    char *text = NULL;
    *n = __vasprintf_chk(&text, flag, format, args);
    return *n < 0 ? NULL : text;
}

PGG_INLINE int print_text(char *to, size_t space, int flag, const char *format, va_list args)
{
    int n;
    if (PGG_UNLIKELY(count_arguments(format, args) && flag > 0)) {
        char *text = checked_text(&n, flag, format, args);
        if (text && space) {
            const size_t kept = (size_t)n < space ? (size_t)n : space - 1;
            pgg_copy(to, text, kept);
            to[kept] = 0;
        }
        free(text);
    } else {
        n = space == SIZE_MAX ? _IO_vsprintf(to, format, args)
                              : __vsnprintf(to, space, format, args);
    }
    return written(to, space, n);
}

PGG_INLINE int print_file(FILE *f, int flag, const char *format, va_list args)
{
    int n;
    if (PGG_LIKELY(!count_arguments(format, args) || flag <= 0))
        return _IO_vfprintf(f, format, args);
    char *text = checked_text(&n, flag, format, args);
    if (text && _IO_fwrite(text, 1, (size_t)n, f) != (size_t)n)
        n = -1;
    free(text);
    return n;
}

/* The text is an object of the caller's, as that of strdup is. */
static int print_new(char **to, int flag, const char *format, va_list args, const void *frame)
{
    char few[256];
    va_list again;
    va_copy(again, args);
    const int n = print_text(few, sizeof few, flag, format, args);
    char *text = n < 0 ? NULL : pgrt_alloc_for((size_t)n + 1, frame);
    if (text && (size_t)n < sizeof few)
        pgg_copy(text, few, (size_t)n + 1);
    else if (text)
        __vsnprintf(text, (size_t)n + 1, format, again);
    else if (n >= 0)
        errno = ENOMEM;
    va_end(again);
    *to = text;
    return text ? written(text, SIZE_MAX, n) : -1;
}

int vsnprintf(char *restrict to, size_t n, const char *restrict format, va_list args)
{
    return print_text(to, n, 0, format, args);
}

int vsprintf(char *restrict to, const char *restrict format, va_list args)
{
    return print_text(to, SIZE_MAX, 0, format, args);
}

int vfprintf(FILE *restrict f, const char *restrict format, va_list args)
{
    return print_file(f, 0, format, args);
}

int vprintf(const char *restrict format, va_list args)
{
    return print_file(stdout, 0, format, args);
}

int vasprintf(char **restrict to, const char *restrict format, va_list args)
{
    return print_new(to, 0, format, args, PGG_HERE);
}

/* name, parameters, the function that does it */
#define FORMAT(name, params, call)   \
    int name params                  \
    {                                \
        va_list args;                \
        va_start(args, format);      \
        const int n = call;          \
        va_end(args);                \
        return n;                    \
    }

FORMAT(printf, (const char *restrict format, ...), print_file(stdout, 0, format, args))
FORMAT(fprintf, (FILE *restrict f, const char *restrict format, ...),
       print_file(f, 0, format, args))
FORMAT(asprintf, (char **restrict to, const char *restrict format, ...),
       print_new(to, 0, format, args, PGG_HERE))
FORMAT(sprintf, (char *restrict to, const char *restrict format, ...),
       print_text(to, SIZE_MAX, 0, format, args))
FORMAT(snprintf, (char *restrict to, size_t size, const char *restrict format, ...),
       print_text(to, size, 0, format, args))

/* ---- what the C library's headers make of them when a buffer's size is known ---- */

#define REPLACES PGRT_EXPORT __attribute__((weak))

/* name, result type, parameters, whether it takes a capacity, the function that does it */
#define CHECKED(name, type, params, fits, call) \
    REPLACES type name params;                  \
    type name params                            \
    {                                           \
        if (PGG_UNLIKELY(!(fits)))             \
            __chk_fail();                       \
        return call;                            \
    }

CHECKED(__vfprintf_chk, int, (FILE *f, int flag, const char *format, va_list args), true,
        print_file(f, flag, format, args))
CHECKED(__vprintf_chk, int, (int flag, const char *format, va_list args), true,
        print_file(stdout, flag, format, args))
CHECKED(__vsnprintf_chk, int,
        (char *to, size_t n, int flag, size_t space, const char *format, va_list args), n <= space,
        print_text(to, n, flag, format, args))

REPLACES int __vsprintf_chk(char *to, int flag, size_t space, const char *format, va_list args);
int __vsprintf_chk(char *to, int flag, size_t space, const char *format, va_list args)
{
    const int n = print_text(to, space, flag, format, args);
    if (PGG_UNLIKELY(n >= 0 && (size_t)n >= space))
        __chk_fail();
    return n;
}

#define CHECKED_FORMAT(name, params, call) \
    REPLACES int name params;              \
    FORMAT(name, params, call)

CHECKED_FORMAT(__printf_chk, (int flag, const char *restrict format, ...),
               print_file(stdout, flag, format, args))
CHECKED_FORMAT(__fprintf_chk, (FILE *restrict f, int flag, const char *restrict format, ...),
               print_file(f, flag, format, args))
CHECKED_FORMAT(__asprintf_chk, (char **restrict to, int flag, const char *restrict format, ...),
               print_new(to, flag, format, args, PGG_HERE))
CHECKED_FORMAT(__sprintf_chk,
               (char *restrict to, int flag, size_t space, const char *restrict format, ...),
               __vsprintf_chk(to, flag, space, format, args))
CHECKED_FORMAT(__snprintf_chk,
               (char *restrict to, size_t size, int flag, size_t space,
                const char *restrict format, ...),
               __vsnprintf_chk(to, size, flag, space, format, args))

CHECKED(__fread_chk, size_t,
        (void *restrict to, size_t space, size_t size, size_t n, FILE *restrict f),
        !size || n <= space / size, fread(to, size, n, f))

/* A line longer than the capacity is an error; a larger length is not. */
REPLACES char *__fgets_chk(char *restrict to, size_t space, int n, FILE *restrict f);
char *__fgets_chk(char *restrict to, size_t space, int n, FILE *restrict f)
{
    if (PGG_LIKELY(n <= 0 || (size_t)n <= space))
        return fgets(to, n, f);
    if (!space)
        __chk_fail();
    char *got = fgets(to, (int)space, f);
    const size_t used = got ? (size_t)(strchrnul(to, 0) - to) : 0;
    if (used + 1 == space && (!used || to[used - 1] != '\n')) {
        const int next = getc(f);
        if (next != EOF)
            __chk_fail();
    }
    return got;
}
