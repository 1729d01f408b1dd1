/* Calls each library function that counts on objects of its own, and says by the rules what the
 * counts are: one for each 8 bytes that were read or written, rounded up.
 * Prints `site_FUNCTION objects bytes accesses least most`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

enum { BYTES = 200 };

/* Filled by system calls that nobody counts: `text` in front, dots up to the end. */
static int filler;

static void *fill(void *object, const void *text, size_t n)
{
    char bytes[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = i < n ? ((const char *)text)[i] : '.';
    bytes[BYTES - 1] = bytes[BYTES - 2] = bytes[BYTES - 3] = bytes[BYTES - 4] = 0;
    if (pwrite(filler, bytes, BYTES, 0) != BYTES || pread(filler, object, BYTES, 0) != BYTES)
        abort();
    return object;
}

/* One object per function; `a` is a fresh string "alpha beta", and n bytes are counted. */
#define CASE(name, n, ...)                                  \
    __attribute__((noinline)) void *site_##name(void);      \
    void *site_##name(void)                                 \
    {                                                       \
        void *p = malloc(BYTES);                            \
        __asm__ volatile("" : "+r"(p)::"memory");           \
        return p;                                           \
    }                                                       \
    static void call_##name(void)                           \
    {                                                       \
        char *a = fill(site_##name(), "alpha beta", 11);    \
        wchar_t *w = (wchar_t *)(void *)a;                  \
        (void)w;                                            \
        __VA_ARGS__;                                        \
        __asm__ volatile("" ::"r"(a) : "memory");           \
        printed += snprintf(report + printed, sizeof report - (size_t)printed,                    \
                            "site_" #name " 1 %d %d %d %d\n", BYTES, (n), (n), (n));              \
        free(a);                                            \
    }

static char report[1 << 14];
static int printed;
static volatile size_t sink;
static char other[BYTES];
static FILE *file;
static int null;

/* What the compiler does not know: it would write some calls out, uncounted. */
static size_t N(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static const char *S(const char *s)
{
    __asm__ volatile("" : "+r"(s));
    return s;
}

#define UP(n) (((n) + 7) / 8)

CASE(memcpy, UP(100), memcpy(other, a, N(100)))
CASE(memcpy_to, UP(100), memcpy(a, other, N(100)))
CASE(mempcpy, UP(50), mempcpy(a, other, N(50)))
CASE(memmove, 2 * UP(60), memmove(a + 8, a, N(60)))
CASE(memset, UP(199), memset(a, 1, N(199)))
CASE(bzero, UP(33), bzero(a, N(33)))
CASE(memcmp, UP(77), sink = (size_t)memcmp(a, other, 77))
CASE(memchr, UP(7), sink = (size_t)memchr(a, 'b', 100))
CASE(strlen, UP(11), sink = strlen(a))
CASE(strnlen, UP(5), sink = strnlen(a, 5))
CASE(strcpy, UP(11), strcpy(other, a))
CASE(stpcpy, UP(11), stpcpy(other, a))
CASE(strncpy, UP(100), strncpy(a, S("xyz"), N(100)))
CASE(strcat, UP(10) + UP(4), strcat(a, S("xyz")))
CASE(strcmp, UP(6), sink = (size_t)strcmp(a, "alpha"))
CASE(strncmp, UP(3), sink = (size_t)strncmp(a, "alpha", 3))
CASE(strchr, UP(6), sink = (size_t)strchr(a, ' '))
CASE(strrchr, UP(11), sink = (size_t)strrchr(a, ' '))
CASE(strstr, UP(8), sink = (size_t)strstr(a, "be"))
CASE(strspn, UP(6), sink = strspn(a, "aplh"))
CASE(strcspn, UP(6), sink = strcspn(a, " "))
CASE(strpbrk, UP(7), sink = (size_t)strpbrk(a, "xb"))
CASE(strdup, UP(11), free(strdup(a)))
CASE(wmemset, UP(160), wmemset(w, L'x', 40))
CASE(wmemcpy, UP(80), wmemcpy(w, (wchar_t *)(void *)other, 20))
CASE(wcslen, UP(16), fill(a, L"abc", 16); sink = wcslen(w))
CASE(snprintf_to, UP(10), snprintf(a, 100, "%d %s", 123456, "ab"))
CASE(snprintf_cut, UP(20), snprintf(a, 20, "%100d", 1))
CASE(sprintf_to, UP(4), sprintf(a, S("%s"), "abc"))
CASE(printf_argument, UP(11), snprintf(other, 100, "%d %5.2f %s %c", 1, 2.0, a, 'x'))
CASE(printf_precision, UP(3), fprintf(file, "%-*.*s|%zu\n", 9, 3, a, sink))
CASE(fputs, UP(11), fputs(a, file))
CASE(fwrite, UP(90), fwrite(a, 9, 10, file))
CASE(fread, UP(64), rewind(file); sink = fread(a, 8, 8, file))
CASE(fgets, UP(12), rewind(file); sink = (size_t)fgets(a, 100, file))
CASE(write, UP(150), sink = (size_t)write(null, a, 150))
CASE(read, UP(44), lseek(filler, 0, SEEK_SET); sink = (size_t)read(filler, a, 44))

int main(void)
{
    filler = open("filler", O_RDWR | O_CREAT | O_TRUNC, 0600);
    null = open("/dev/null", O_WRONLY);
    file = fopen("lines", "w+");
    if (filler < 0 || null < 0 || !file)
        return 2;
    fputs("eleven byte\nand enough bytes for all that is read from this file in one piece\n", file);
    void (*const calls[])(void) = {
        call_memcpy, call_memcpy_to, call_mempcpy, call_memmove, call_memset, call_bzero,
        call_memcmp, call_memchr, call_strlen, call_strnlen, call_strcpy, call_stpcpy,
        call_strncpy, call_strcat, call_strcmp, call_strncmp, call_strchr, call_strrchr,
        call_strstr, call_strspn, call_strcspn, call_strpbrk, call_strdup, call_wmemset,
        call_wmemcpy, call_wcslen, call_snprintf_to, call_snprintf_cut, call_sprintf_to,
        call_printf_argument, call_printf_precision, call_fputs, call_fwrite, call_fread,
        call_fgets, call_write, call_read,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        calls[i]();
    printf("%s", report);
    return 0;
}
