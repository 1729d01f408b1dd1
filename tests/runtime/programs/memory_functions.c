/* The results of the mem* and str* functions that the runtime replaces, at all short lengths and
 * around the lengths where they change their ways, at both ends of pages that have nothing beside
 * them. Prints how many comparisons were made. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LONGEST = 300, BIG = 1100 };

static unsigned checks, wrong;

static void check(int holds, const char *what, size_t n, size_t more)
{
    checks++;
    if (!holds && wrong++ < 20)
        fprintf(stderr, "%s is wrong: %zu, %zu\n", what, n, more);
}

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

/* A page between two that cannot be touched. */
static unsigned char *page(void)
{
    unsigned char *p = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE))
        _exit(2);
    return p + PAGE;
}

static unsigned char *a, *b, model[PAGE];

/* Bytes that differ from one another within any 64. */
static void pattern(unsigned char *p)
{
    for (size_t i = 0; i < PAGE; i++)
        p[i] = (unsigned char)(i * 7 + i / 251 + 1);
}

static int same_page(const unsigned char *p)
{
    size_t i = 0;
    while (i < PAGE && p[i] == model[i])
        i++;
    return i == PAGE;
}

static void model_move(size_t to, size_t from, size_t n)
{
    unsigned char kept[BIG];
    for (size_t i = 0; i < n; i++)
        kept[i] = model[from + i];
    for (size_t i = 0; i < n; i++)
        model[to + i] = kept[i];
}

/* Inside one page, overlapping in both directions, up to its ends. */
static void moves(size_t n)
{
    static const size_t apart[] = {0, 1, 3, 8, 15, 16, 17, 33, 63, 64, 65, 200};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        for (int up = 0; up < 2; up++) {
            size_t low = PAGE - n - apart[i], high = PAGE - n, to = up ? high : low,
                   from = up ? low : high;
            pattern(a);
            pattern(model);
            model_move(to, from, n);
            check(memmove(a + to, a + from, n) == a + to && same_page(a), "memmove", n, apart[i]);
        }
    pattern(model);
    pattern(b);
    for (size_t i = 0; i < n; i++)
        model[i] = b[PAGE - n + i];
    pattern(a);
    check(memcpy(a, b + PAGE - n, n) == a && same_page(a), "memcpy", n, 0);
}

static void fills(size_t n)
{
    for (size_t to = 0; to < 2; to++) {
        size_t at = to ? PAGE - n : 0;
        pattern(a);
        pattern(model);
        for (size_t i = 0; i < n; i++)
            model[at + i] = 0xa5;
        check(memset(a + at, 0x7a5, n) == a + at && same_page(a), "memset", n, to);
    }
}

/* Each place of a difference, the bytes in turn the larger ones. */
static void differences(size_t n)
{
    for (size_t end = 0; end < 2; end++) {
        unsigned char *x = end ? a + PAGE - n : a, *y = b + PAGE - n;
        for (size_t i = 0; i < n; i++)
            x[i] = y[i] = (unsigned char)(i % 255 + 1);
        check(!memcmp(x, y, n) && !bcmp(x, y, n), "memcmp of the same", n, end);
        for (size_t i = 0; i < n; i += n < 80 ? 1 : 13) {
            unsigned char was = x[i];
            x[i] = i % 3 ? 0xff : 0;
            int expected = sign(x[i] - y[i]);
            check(sign(memcmp(x, y, n)) == expected, "memcmp", n, i);
            check(!bcmp(x, y, n) == !expected, "bcmp", n, i);
            check(sign(memcmp(y, x, n)) == -expected, "memcmp", n, i);
            x[i] = was;
        }
    }
}

/* Strings of n bytes that end with their pages. */
static void strings(size_t n)
{
    char *x = (char *)a + PAGE - n - 1, *y = (char *)b + PAGE - n - 1;
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] = (char)(i % 255 + 1);
    x[n] = y[n] = 0;
    check(strlen(x) == n && strnlen(x, SIZE_MAX) == n, "strlen", n, 0);
    check(!strcmp(x, y) && !strncmp(x, y, n) && !strncmp(x, y, SIZE_MAX), "strcmp", n, 0);
    check(!strncmp(x, y - n, 0), "strncmp of nothing", n, 0);
    check(!memchr(x, 0, n) && memchr(x, 0, SIZE_MAX) == x + n, "memchr", n, 0);
    for (size_t i = 0; i < n; i += n < 80 ? 1 : 13) {
        char was = x[i];
        x[i] = i % 2 ? (char)255 : (char)0;
        int expected = sign((unsigned char)x[i] - (unsigned char)y[i]);
        check(sign(strcmp(x, y)) == expected && sign(strcmp(y, x)) == -expected, "strcmp", n, i);
        check(!strncmp(x, y, i), "strncmp before it", n, i);
        check(sign(strncmp(x, y, i + 1)) == expected, "strncmp", n, i);
        x[i] = was;
    }
    /* One of them begins anywhere in its page, so that they leave theirs at different places. */
    for (size_t shift = 0; shift < 40 && n + shift < PAGE; shift++) {
        char *z = (char *)b + PAGE - n - 1 - shift;
        for (size_t i = 0; i <= n; i++)
            z[i] = x[i];
        check(!strcmp(x, z), "strcmp", n, shift);
    }
    char *copy = strdup(x);
    check(copy && !strcmp(copy, x) && strlen(copy) == n, "strdup", n, 0);
}

int main(void)
{
    a = page();
    b = page();
    for (size_t n = 0; n <= LONGEST; n++) {
        moves(n);
        fills(n);
        differences(n);
        strings(n);
    }
    static const size_t large[] = {511, 1023, 1024, 1025, BIG};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        moves(large[i]);
        fills(large[i]);
        differences(large[i]);
        strings(large[i]);
    }
    printf("%u checks, %u wrong\n", checks, wrong);
    return wrong != 0;
}
