/* Bytes: lengths that are not short, and what is seldom asked for. */
#include "guest_bytes.h"

size_t pgg_strlen(const char *s)
{
    const char *p = s;
    while (*p) {
        p++;
        pgg_compiler_barrier(); /* or the loop becomes a call of strlen */
    }
    return (size_t)(p - s);
}

bool pgg_streq(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

void pgg_zero(void *p, size_t n)
{
    pgg_fill_string(p, 0, n);
}

void pgg_copy(void *to, const void *from, size_t n)
{
    pgg_copy_string(to, from, n);
}

/* More than 64 bytes to lower addresses, or to higher ones: 64 at a time. The last, or first, 64
 * are loaded before anything is stored, and stored after all the others. */
struct bytes64 {
    pgg_v16 v[4];
};

PGG_INLINE struct bytes64 load64(const char *p)
{
    return (struct bytes64){{pgg_load16(p), pgg_load16(p + 16), pgg_load16(p + 32),
                             pgg_load16(p + 48)}};
}

PGG_INLINE void store64(char *p, struct bytes64 b)
{
    pgg_store16(p, b.v[0]);
    pgg_store16(p + 16, b.v[1]);
    pgg_store16(p + 32, b.v[2]);
    pgg_store16(p + 48, b.v[3]);
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

/* The C library's copy under a name that no program replaces and that, on x86-64, does not call
 * memcpy; statically linked, all its other names end in memcpy, which this library replaces. */
void *__mempcpy(void *to, const void *from, size_t n);

void *pgg_copy_long(void *to, const void *from, size_t n)
{
    if (PGG_MEMPCPY_COPIES)
        __mempcpy(to, from, n);
    else
        move_down(to, from, n);
    return to;
}

void *pgg_move_long(void *to, const void *from, size_t n)
{
    if ((uintptr_t)to - (uintptr_t)from >= n && (uintptr_t)from - (uintptr_t)to >= n)
        return pgg_copy_long(to, from, n);
    if (to <= from)
        move_down(to, from, n);
    else
        move_up(to, from, n);
    return to;
}

void *pgg_fill_long(void *to, int c, size_t n)
{
    char *p = to;
    const pgg_v16 all = pgg_all_bytes((char)c);
    if (n >= 1024) {
        pgg_fill_string(p, c, n);
        return to;
    }
    for (size_t i = 0; i + PGG_BYTES16 <= n; i += PGG_BYTES16)
        pgg_store16(p + i, all);
    pgg_store16(p + n - PGG_BYTES16, all);
    return to;
}
