/* Reading by a format: what is stored through its arguments. */
#include "runtime_access.h"

#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#define REPLACES PGRT_EXPORT __attribute__((weak))

int __isoc99_vsscanf(const char *s, const char *format, va_list args);
int __isoc99_vfscanf(FILE *f, const char *format, va_list args);
/* From glibc 2.38 on; only programs that were built with it call the functions that replace their
 * callers. */
__attribute__((weak)) int __isoc23_vsscanf(const char *s, const char *format, va_list args);
__attribute__((weak)) int __isoc23_vfscanf(FILE *f, const char *format, va_list args);
REPLACES int __isoc99_sscanf(const char *restrict s, const char *restrict format, ...);
REPLACES int __isoc99_fscanf(FILE *restrict f, const char *restrict format, ...);
REPLACES int __isoc99_scanf(const char *restrict format, ...);
REPLACES int __isoc23_sscanf(const char *restrict s, const char *restrict format, ...);
REPLACES int __isoc23_fscanf(FILE *restrict f, const char *restrict format, ...);
REPLACES int __isoc23_scanf(const char *restrict format, ...);

/* A conversion of the format, without its "%". */
struct conversion {
    bool stores;    /* no "*" */
    bool allocates; /* "m" */
    size_t width;   /* 0: not given */
    int longs;      /* of its length; negative: "h" */
    char type;      /* 0: the format ends in it, or numbers its arguments */
};

/* Reads the conversion after a "%", and leaves *at at its last character. */
static struct conversion next_conversion(const char **at)
{
    struct conversion c = {.stores = true};
    const char *s = *at;
    for (; *s == '*' || *s == '\''; s++)
        c.stores &= *s != '*';
    for (; *s >= '0' && *s <= '9' && c.width < 100000000; s++)
        c.width = c.width * 10 + (size_t)(*s - '0');
    c.allocates = *s == 'm';
    s += c.allocates;
    for (;; s++) {
        if (*s == 'l' || *s == 'L' || *s == 'q' || *s == 'j' || *s == 'z' || *s == 't')
            c.longs += *s == 'l' ? 1 : 2;
        else if (*s == 'h')
            c.longs--;
        else
            break;
    }
    c.type = *s == '$' ? 0 : *s;
    if (c.type == '[') {
        s += s[1] == '^' ? 2 : 1;
        s += *s == ']';
        while (*s && *s != ']')
            s++;
        c.type = *s ? '[' : 0;
    }
    *at = s;
    return c;
}

static size_t text_bytes(const struct conversion *c, const void *to)
{
    const bool wide = c->longs > 0 || c->type == 'S' || c->type == 'C';
    const size_t each = wide ? sizeof(wchar_t) : 1;
    size_t n = 0;
    if (c->type == 'c' || c->type == 'C')
        return (c->width ? c->width : 1) * each;
    while (wide ? ((const wchar_t *)to)[n] != 0 : ((const char *)to)[n] != 0) {
        n++;
        pgg_compiler_barrier();
    }
    return (n + 1) * each;
}

/* Bytes that a conversion stored at `to`. */
static size_t bytes_of(const struct conversion *c, const void *to)
{
    static const uint8_t whole[] = {1, 2, 4, 8, 8}, real[] = {4, 4, 4, 8, 16};
    const int length = c->longs < -2 ? 0 : c->longs > 2 ? 4 : c->longs + 2;
    switch (c->type) {
    case 's':
    case 'S':
    case 'c':
    case 'C':
    case '[':
        return c->allocates ? sizeof(void *) : text_bytes(c, to);
    case 'p': return sizeof(void *);
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return real[length];
    default: return whole[length];
    }
}

/* The first `stored` arguments. */
static void count_stored(const char *format, va_list args, int stored)
{
    for (const char *s = format; *s; s++) {
        if (*s != '%' || *++s == '%')
            continue;
        const struct conversion c = next_conversion(&s);
        if (!c.type || (c.type != 'n' && c.stores && stored-- <= 0))
            return;
        if (c.stores) {
            const void *to = va_arg(args, const void *);
            pgrt_count_range(to, bytes_of(&c, to));
        }
    }
}

#define SCAN(name, params, call)                \
    int name params                             \
    {                                           \
        va_list args, again;                    \
        va_start(args, format);                 \
        va_copy(again, args);                   \
        int stored = call;                      \
        count_stored(format, again, stored);    \
        va_end(again);                          \
        va_end(args);                           \
        return stored;                          \
    }
SCAN(__isoc99_sscanf, (const char *restrict s, const char *restrict format, ...),
     __isoc99_vsscanf(s, format, args))
SCAN(__isoc99_fscanf, (FILE *restrict f, const char *restrict format, ...),
     __isoc99_vfscanf(f, format, args))
SCAN(__isoc99_scanf, (const char *restrict format, ...), __isoc99_vfscanf(stdin, format, args))
SCAN(__isoc23_sscanf, (const char *restrict s, const char *restrict format, ...),
     (__isoc23_vsscanf ? __isoc23_vsscanf : __isoc99_vsscanf)(s, format, args))
SCAN(__isoc23_fscanf, (FILE *restrict f, const char *restrict format, ...),
     (__isoc23_vfscanf ? __isoc23_vfscanf : __isoc99_vfscanf)(f, format, args))
SCAN(__isoc23_scanf, (const char *restrict format, ...),
     (__isoc23_vfscanf ? __isoc23_vfscanf : __isoc99_vfscanf)(stdin, format, args))
