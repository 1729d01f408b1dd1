/* The results of the mem* and str* functions that the runtime replaces, at all short lengths and
 * around the lengths where they change their ways, at both ends of pages that have nothing beside
 * them. Prints how many comparisons were made. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

/* At the end of a page, in bytes of few kinds, by looking at each place. */
static void searches(unsigned seed)
{
    const size_t n = seed % 97 + seed % 7 * (seed % 400), m = 1 + seed / 3 % (seed % 5 ? 6 : 70);
    unsigned char *s = a + PAGE - n - 1, *part = b + PAGE - m - 1;
    unsigned random = seed * 2654435761u;
    for (size_t i = 0; i <= n; i++)
        s[i] = i < n ? (random = random * 1664525 + 1013904223) >> 31 ? 'x' : 'y' : 0;
    for (size_t i = 0; i <= m; i++)
        part[i] = i < m ? seed % 2 && n >= m ? s[(seed / 8) % (n - m + 1) + i] : 'y' : 0;
    size_t first = 0;
    while (first + m <= n && memcmp(s + first, part, m))
        first++;
    void *expected = first + m <= n ? s + first : NULL;
    check(memmem(s, n, part, m) == expected, "memmem", n, m);
    check(strstr((char *)s, (char *)part) == expected, "strstr", n, m);
    check(memmem(s, n, part, 0) == s, "memmem of nothing", n, 0);
}

/* Where the first bytes always look right. */
static void same_letters(void)
{
    enum { N = 1 << 20 };
    unsigned char *s = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(s, 'x', N);
    check(!memmem(s, N / 2, "xy", 2), "memmem", N / 2, 2);
    s[N / 4] = 'y';
    check(!memmem(s, N / 2, s + N / 2, N / 3), "memmem", N / 2, N / 3);
    check(memmem(s, N, s + 9, N / 2) == s + 9, "memmem", N, N / 2);
    check(memmem(s, N, s + N / 4 + 1, N / 2) == s + N / 4 + 1, "memmem of the same", N, N / 2);
    munmap(s, N);
}

static void tokens(void)
{
    static const char *const words[] = {"one", "two", "three", NULL};
    for (int way = 0; way < 2; way++) {
        char text[] = ",,one;two,;three;", *rest = NULL, *from = text;
        for (int i = 0; i < 4; i++, from = NULL) {
            const char *word = way ? strtok_r(from, ",;", &rest) : strtok(from, ",;");
            check(word && words[i] ? !strcmp(word, words[i]) : !word && !words[i], "strtok",
                  (size_t)i, (size_t)way);
        }
        check(!(way ? strtok_r(NULL, ",;", &rest) : strtok(NULL, ",;")), "strtok", 5, 0);
    }
}

char *__fgets_chk(char *to, size_t space, int n, FILE *f);
int __sprintf_chk(char *to, int flag, size_t space, const char *format, ...);
ssize_t __read_chk(int fd, void *to, size_t n, size_t space);

/* What is to be refused ends the process. */
static void refusals(void)
{
    for (int i = 0; i < 6; i++) {
        const pid_t child = fork();
        if (!child) {
            char to[100], writable[] = "%d%n";
            int n;
            FILE *f = fmemopen((char[]){"a line\n"}, 7, "r");
            dup2(open("/dev/null", O_WRONLY), 2);
            switch (i) {
            case 0: __sprintf_chk(to, 1, 3, "%d", 123); break;
            case 1: __sprintf_chk(to, 1, 100, writable, 123, &n); break;
            case 2: __fgets_chk(to, 7, 100, f); break;
            case 3: __read_chk(0, to, 101, 100); break;
            case 4: __fgets_chk(to, 8, 100, f); _exit(0);
            case 5: __sprintf_chk(to, 0, 100, writable, 123, &n); _exit(0);
            }
            _exit(1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        check(i < 4 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT : !status, "refusal",
              (size_t)i, (size_t)status);
    }
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
    for (unsigned seed = 0; seed < 20000; seed++)
        searches(seed);
    same_letters();
    tokens();
    refusals();
    printf("%u checks, %u wrong\n", checks, wrong);
    return wrong != 0;
}
