/* Calls each library function that counts on objects of its own, and says by the rules what the
 * counts are: one for each 8 bytes that were read or written, rounded up.
 * Prints `site_FUNCTION objects bytes accesses least most`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
    if (syscall(SYS_pwrite64, filler, bytes, BYTES, 0) != BYTES ||
        syscall(SYS_pread64, filler, object, BYTES, 0) != BYTES)
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
                            "site_" #name " 1 %d %d %d %d\n", BYTES, (int)(n), (int)(n), \
                            (int)(n));                      \
        free(a);                                            \
    }

static char report[1 << 14];
static int printed;
static volatile size_t sink;

/* What strtol and strtoul are in programs that are built with glibc 2.38 or later as C23. */
long strtol_c23(const char *, char **, int) __asm__("__isoc23_strtol");
unsigned long strtoul_c23(const char *, char **, int) __asm__("__isoc23_strtoul");
static char other[BYTES];
static FILE *file;
static int null;

static int pair[2]; /* of sockets */

static int equal(const void *a, const void *b)
{
    (void)a, (void)b;
    return 0;
}

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

/* What -D_FORTIFY_SOURCE calls for a buffer whose size it knows; the others it calls for any. */
ssize_t __read_chk(int fd, void *to, size_t n, size_t space);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t off, size_t space);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t off, size_t space);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t space, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t space, int flags, struct sockaddr *from,
                       socklen_t *size);
size_t __fread_chk(void *to, size_t space, size_t size, size_t n, FILE *f);
char *__fgets_chk(char *to, size_t space, int n, FILE *f);
int __sprintf_chk(char *to, int flag, size_t space, const char *format, ...);
wchar_t *__wmemcpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t space);
wchar_t *__wmemmove_chk(wchar_t *to, const wchar_t *from, size_t n, size_t space);
wchar_t *__wmemset_chk(wchar_t *to, wchar_t c, size_t n, size_t space);
wchar_t *__wcscpy_chk(wchar_t *to, const wchar_t *from, size_t space);

enum { to_space, to_text, to_file };

static void formatted(int where, char *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sink = (size_t)(where == to_space   ? vsnprintf(to, 100, format, args)
                    : where == to_text ? vsprintf(to, format, args)
                                       : vfprintf(file, format, args));
    va_end(args);
}

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
CASE(memmem, UP(8), sink = (size_t)memmem(a, N(150), "be", 2))
CASE(memmem_none, UP(150), sink = (size_t)memmem(a, N(150), "bee", 3))
CASE(memmem_part, UP(6), sink = (size_t)memmem("alpha", 5, a, 6))
CASE(strtok, UP(1) + UP(6) + 1, sink = (size_t)strtok(a, S(" ")))
CASE(strtok_next, UP(1) + UP(6) + 1 + UP(1) + UP(5) + UP(1), sink = (size_t)strtok(a, S(" "));
     sink = (size_t)strtok(NULL, S(" ")); sink = (size_t)strtok(NULL, S("+")))
CASE(strtok_set, 2 * UP(11), char *rest = NULL;
     sink = (size_t)strtok_r((char[]){"xyz"}, a, &rest))
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
CASE(pread, UP(150), sink = (size_t)pread(filler, a, 150, 7))
CASE(pwrite, UP(33), sink = (size_t)pwrite(filler, a, 33, 0))
CASE(readv, UP(9) + UP(7), lseek(filler, 0, SEEK_SET);
     sink = (size_t)readv(filler, (struct iovec[]){{other, 10}, {a + 64, 9}, {a + 128, 7}}, 3))
CASE(readv_less, UP(3), lseek(filler, BYTES - 13, SEEK_SET);
     sink = (size_t)readv(filler, (struct iovec[]){{other, 10}, {a, 9}, {a + 64, 7}}, 3))
CASE(writev, UP(90), sink = (size_t)writev(null, (struct iovec[]){{a, 90}}, 1))
CASE(preadv, UP(20), sink = (size_t)preadv(filler, (struct iovec[]){{a, 20}}, 1, 5))
CASE(pwritev, UP(21), sink = (size_t)pwritev(filler, (struct iovec[]){{a, 21}}, 1, 5))
CASE(send, UP(44), sink = (size_t)send(pair[0], a, 44, 0))
CASE(recv, UP(44), sink = (size_t)recv(pair[1], a, BYTES, 0))
CASE(sendto, UP(55), sink = (size_t)sendto(pair[0], a, 55, 0, NULL, 0))
CASE(recvfrom, UP(55), sink = (size_t)recvfrom(pair[1], a, BYTES, 0, NULL, NULL))
CASE(send_long, UP(150), sink = (size_t)send(pair[0], a, 150, 0))
CASE(recv_cut, UP(20), sink = (size_t)recv(pair[1], a, 20, MSG_TRUNC))
CASE(sendmsg, UP(66), sink = (size_t)sendmsg(
     pair[0], &(struct msghdr){.msg_iov = &(struct iovec){a, 66}, .msg_iovlen = 1}, 0))
CASE(recvmsg, UP(66), sink = (size_t)recvmsg(
     pair[1], &(struct msghdr){.msg_iov = &(struct iovec){a, BYTES}, .msg_iovlen = 1}, 0))
CASE(stat, UP(sizeof(struct stat)), sink = (size_t)stat("/", (void *)a))
CASE(lstat, UP(sizeof(struct stat)), sink = (size_t)lstat("/", (void *)a))
CASE(stat_missing, 0, sink = (size_t)stat("no such file", (void *)a))
CASE(strtol, UP(8), fill(a, " 123456x", 8); sink = (size_t)strtol(a, NULL, 10))
CASE(strtol_none, UP(1), sink = (size_t)strtol(a, NULL, 10))
CASE(strtoull, UP(18), fill(a, "0xffffffffffffff.", 18); sink = strtoull(a, NULL, 16))
CASE(strtol_c23, 2 * UP(8), fill(a, " -0b101", 8);
     if (strtol_c23(a, NULL, 0) != -5 || strtol_c23(a, NULL, 2) != -5) abort())
CASE(strtol_c23_none, 2 * UP(2), fill(a, "0b2", 4);
     if (strtol_c23(a, NULL, 0) || strtol_c23(a, NULL, 10)) abort())
CASE(strtoul_c23, UP(35), fill(a, "0B11111111111111111111111111111111", 35);
     if (strtoul_c23(a, NULL, 2) != UINT32_MAX) abort())
CASE(atoi, UP(4), fill(a, "-12", 4); sink = (size_t)(atoi)(a))
CASE(qsort, UP(80), qsort(a, 10, 8, equal))
CASE(strcasecmp, UP(6), sink = (size_t)strcasecmp(a, "ALPHA"))
CASE(strncasecmp, UP(9), sink = (size_t)strncasecmp(a, "ALPHA BEta", 9))
CASE(sscanf_text, UP(6), sscanf(S("words of text"), "words %*s %100s", a))
CASE(sscanf_numbers, 1 + 1 + 2 + 1,
     sscanf(S("12 3.5 -7 x 88"), "%d %lf %Lf%*[ x]%hhu %d", (int *)a, (double *)(a + 64),
            (long double *)(a + 128), (unsigned char *)(a + 40), (int *)other))
CASE(sscanf_stopped, 1, sscanf(S("12 no number"), "%ld %ld", (long *)a, (long *)(a + 64)))
CASE(fscanf, UP(7), rewind(file); fscanf(file, "%20[^ ]", a))
CASE(vsnprintf, UP(4), formatted(to_space, a, "%d", 123))
CASE(vsprintf, UP(4), formatted(to_text, a, "%d", 123))
CASE(vfprintf, UP(11), formatted(to_file, a, "%s", a))
CASE(asprintf, UP(11), char *made = NULL; sink = (size_t)asprintf(&made, "%s", a);
     free(made))
CASE(read_chk, UP(44), lseek(filler, 0, SEEK_SET);
     sink = (size_t)__read_chk(filler, a, 44, BYTES))
CASE(pread_chk, UP(150), sink = (size_t)__pread_chk(filler, a, 150, 7, BYTES))
CASE(pread64_chk, UP(150), sink = (size_t)__pread64_chk(filler, a, 150, 7, 150))
CASE(recv_chk, 2 * UP(44), send(pair[0], a, 44, 0);
     sink = (size_t)__recv_chk(pair[1], a, BYTES, BYTES, 0))
CASE(recvfrom_chk, 2 * UP(55), send(pair[0], a, 55, 0);
     sink = (size_t)__recvfrom_chk(pair[1], a, BYTES, BYTES, 0, NULL, NULL))
CASE(fread_chk, UP(64), rewind(file); sink = __fread_chk(a, BYTES, 8, 8, file))
CASE(fgets_chk, UP(13), rewind(file); sink = (size_t)__fgets_chk(a, BYTES, 100, file))
CASE(fgets_chk_long, UP(13), rewind(file); sink = (size_t)__fgets_chk(a, 13, 100, file))
CASE(sprintf_chk, UP(4), __sprintf_chk(a, 1, BYTES, S("%s"), "abc"))
CASE(sprintf_chk_stores, UP(4), int n = 0; __sprintf_chk(a, 1, 4, S("%d%n"), 123, &n);
     if (n != 3) abort())
CASE(wmemcpy_chk, UP(80), __wmemcpy_chk(w, (wchar_t *)(void *)other, 20, 50))
CASE(wmemmove_chk, UP(80), __wmemmove_chk(w, (wchar_t *)(void *)other, 20, 20))
CASE(wmemset_chk, UP(160), __wmemset_chk(w, L'x', 40, 50))
CASE(wcscpy_chk, UP(16), __wcscpy_chk(w, L"abc", 4))
CASE(getline, UP(13), rewind(file);
     sink = (size_t)getline(&(char *){a}, &(size_t){BYTES}, file))

int main(void)
{
    filler = open("filler", O_RDWR | O_CREAT | O_TRUNC, 0600);
    null = open("/dev/null", O_WRONLY);
    file = fopen("lines", "w+");
    if (filler < 0 || null < 0 || !file || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
        return 2;
    fputs("eleven byte\nand enough bytes for all that is read from this file in one piece\n", file);
    void (*const calls[])(void) = {
        call_memcpy, call_memcpy_to, call_mempcpy, call_memmove, call_memset, call_bzero,
        call_memcmp, call_memchr, call_strlen, call_strnlen, call_strcpy, call_stpcpy,
        call_strncpy, call_strcat, call_strcmp, call_strncmp, call_strchr, call_strrchr,
        call_strstr, call_memmem, call_memmem_none, call_memmem_part, call_strtok,
        call_strtok_next, call_strtok_set, call_strspn, call_strcspn, call_strpbrk, call_strdup,
        call_wmemset,
        call_wmemcpy, call_wcslen, call_snprintf_to, call_snprintf_cut, call_sprintf_to,
        call_printf_argument, call_printf_precision, call_fputs, call_fwrite, call_fread,
        call_fgets, call_write, call_read, call_pread, call_pwrite, call_readv, call_readv_less,
        call_writev, call_preadv, call_pwritev, call_send, call_recv, call_sendto, call_recvfrom,
        call_send_long, call_recv_cut, call_sendmsg, call_recvmsg, call_stat, call_lstat,
        call_stat_missing, call_strtol, call_strtol_none, call_strtoull,
        call_strtol_c23, call_strtol_c23_none, call_strtoul_c23, call_atoi, call_qsort,
        call_strcasecmp, call_strncasecmp, call_sscanf_text, call_sscanf_numbers,
        call_sscanf_stopped, call_fread_chk, call_fgets_chk, call_fgets_chk_long, call_getline,
        call_fscanf, call_vsnprintf, call_vsprintf,
        call_vfprintf, call_asprintf, call_read_chk, call_pread_chk, call_pread64_chk,
        call_recv_chk, call_recvfrom_chk, call_sprintf_chk, call_sprintf_chk_stores,
        call_wmemcpy_chk, call_wmemmove_chk, call_wmemset_chk, call_wcscpy_chk,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        calls[i]();
    printf("%s", report);
    return 0;
}
