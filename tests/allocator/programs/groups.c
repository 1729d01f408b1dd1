/* Allocates as tests of the allocator ask: groups MODE. Objects of two kinds come from one function
 * in turn, so that only their callers tell them apart; what is wrong is said, with exit status 1.
 * DEPTH: so many functions are between the two; VARY: whose frames are never equally large. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OBJECTS = 20000, SIZE = 48, PAGE = 4096 };

#define NOINLINE __attribute__((noinline, noclone, no_icf))

void *pgokit_malloc_hint(size_t n, uint8_t hint) __attribute__((weak));

static void *kept[OBJECTS], *passing[OBJECTS];

static void check(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

#ifndef DEPTH
#define DEPTH 0
#endif
#ifdef VARY
static size_t more_of_frame(int depth)
{
    static _Thread_local size_t calls;
    return 16 + (calls++ * 80 + (size_t)depth * 48) % 512;
}
#endif

static NOINLINE void *take_below(size_t n, int depth)
{
#ifdef VARY
    char *more = __builtin_alloca(more_of_frame(depth));
    __asm__ volatile("" : : "r"(more) : "memory");
#endif
    void *p = depth ? take_below(n, depth - 1) : malloc(n);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static NOINLINE void *take(size_t n)
{
    void *p = DEPTH ? take_below(n, DEPTH) : malloc(n);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static NOINLINE void *take_kept(size_t n)
{
    void *p = take(n);
    __asm__ volatile("# kept" : "+r"(p));
    return p;
}

static NOINLINE void *take_passing(size_t n)
{
    void *p = take(n);
    __asm__ volatile("# passing" : "+r"(p));
    return p;
}

static void fill(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        kept[i] = memset(take_kept(SIZE), 1, SIZE);
        passing[i] = memset(take_passing(SIZE), 2, SIZE);
    }
}

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

/* Pages that objects of both kinds are on. */
static int shared_pages(void)
{
    static uintptr_t a[OBJECTS], b[OBJECTS];
    int shared = 0;
    for (int i = 0; i < OBJECTS; i++) {
        a[i] = (uintptr_t)kept[i] / PAGE;
        b[i] = (uintptr_t)passing[i] / PAGE;
    }
    qsort(a, OBJECTS, sizeof *a, by_address);
    qsort(b, OBJECTS, sizeof *b, by_address);
    for (int i = 0, k = 0; i < OBJECTS; i++) {
        while (k < OBJECTS && b[k] < a[i])
            k++;
        shared += k < OBJECTS && b[k] == a[i] && (!i || a[i] != a[i - 1]);
    }
    return shared;
}

static void free_all(void **objects, int value)
{
    for (int i = 0; i < OBJECTS; i++) {
        for (int k = 0; k < SIZE; k++)
            check(((char *)objects[i])[k] == value, "an object was overwritten");
        free(objects[i]);
    }
}

static void record(void)
{
    fill();
    for (volatile int i = 0; i < 30000000; i++)
        continue;
    free_all(passing, 2);
    for (volatile int i = 0; i < 30000000; i++)
        continue;
}

static void pages(void)
{
    fill();
    printf("%d\n", shared_pages());
    free_all(passing, 2);
    free_all(kept, 1);
}

/* Asks for what groups hold, by a signal. */
static void ask(void)
{
    fill();
    raise(SIGUSR2);
    free_all(passing, 2);
    free_all(kept, 1);
}

/* The oldest objects of the kinds do not have addresses that a processor takes for one another. */
static void stagger(void)
{
    enum { LOOKED_AT = PAGE - 1, ALIKE = (1 << 28) - 1 };
    fill();
    check((((uintptr_t)kept[0] ^ (uintptr_t)passing[0]) & (ALIKE & ~LOOKED_AT)) != 0,
          "groups begin at addresses that look alike");
}

/* Sizes grow and shrink by functions of both kinds, which move objects between groups. */
static void resize(void)
{
    static const size_t sizes[] = {1, 16, 48, 49, 200, 1024, 1025, 5000, 14336, 14337, 100000, 3};
    enum { N = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            char *p = (i + k) % 2 ? take_kept(sizes[i]) : take_passing(sizes[i]);
            const size_t both = sizes[i] < sizes[k] ? sizes[i] : sizes[k];
            check(malloc_usable_size(p) >= sizes[i], "malloc_usable_size");
            memset(p, i + 1, malloc_usable_size(p));
            p = realloc(p, sizes[k]);
            check(malloc_usable_size(p) >= sizes[k], "malloc_usable_size after realloc");
            for (size_t at = 0; at < both; at++)
                check(p[at] == i + 1, "realloc lost bytes");
            free(p);
        }
    check(realloc(take_kept(SIZE), 0) == NULL, "realloc to nothing");
    free(NULL);
}

static void align(void)
{
    for (size_t at = 8; at <= 1 << 20; at *= 2)
        for (size_t n = 1; n < 20000; n = n * 3 + 1) {
            void *p = NULL, *q = aligned_alloc(at, n), *r = memalign(at, n);
            check(!posix_memalign(&p, at, n) && p && q && r, "aligned memory");
            check(!((uintptr_t)p % at || (uintptr_t)q % at || (uintptr_t)r % at), "alignment");
            memset(p, 1, n);
            memset(q, 2, n);
            memset(r, 3, n);
            free(p);
            free(q);
            free(r);
        }
    errno = 0;
    check(!aligned_alloc(3, 8) && errno == EINVAL, "an alignment of 3");
    void *volatile huge = malloc(SIZE_MAX / 2);
    check(!huge && errno == ENOMEM, "more memory than there is");
    check(!calloc(SIZE_MAX / 2, 4), "a product that overflows");
    char *zero = calloc(300, 3);
    for (int i = 0; i < 900; i++)
        check(!zero[i], "calloc");
    free(zero);
}

/* Objects for cold memory: some of 64 MiB. Prints how many KiB of the process are in swap. */
static void cold(void)
{
    enum { N = 1 << 18, BYTES = 256 };
    static unsigned char *objects[N];
    char line[128];
    long swapped = 0;
    check(pgokit_malloc_hint != NULL, "pgokit_malloc_hint");
    for (int i = 0; i < N; i++)
        objects[i] = memset(pgokit_malloc_hint(BYTES, 1), i & 0xff, BYTES);
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmSwap:", 7))
            swapped = atol(line + 7);
    fclose(f);
    for (int i = 0; i < N; i++)
        check(objects[i][0] == (i & 0xff) && objects[i][BYTES - 1] == (i & 0xff),
              "an object that came back from swap");
    printf("%ld\n", swapped);
}

/* Whether the memory of an object is for huge pages, as the kernel has it. */
static int is_for_huge_pages(const void *object)
{
    char line[512];
    int within = 0, found = 0;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f && fgets(line, sizeof line, f)) {
        uintptr_t start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            within = (uintptr_t)object >= start && (uintptr_t)object < end;
        else if (within && !strncmp(line, "VmFlags:", 8))
            found = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return found;
}

/* Prints it for an object with a hint for hot and one for cold, and for those of the two kinds. */
static void huge(void)
{
    check(pgokit_malloc_hint != NULL, "pgokit_malloc_hint");
    void *hot = pgokit_malloc_hint(SIZE, 254), *cold_one = pgokit_malloc_hint(SIZE, 1);
    fill();
    printf("%d %d %d %d\n", is_for_huge_pages(hot), is_for_huge_pages(cold_one),
           is_for_huge_pages(kept[0]), is_for_huge_pages(passing[0]));
    free(hot);
    free(cold_one);
    free_all(passing, 2);
    free_all(kept, 1);
}

/* Threads pass objects on to one another, which then free them. */
enum { THREADS = 8, SLOTS = 512, ROUNDS = 200000 };
static void *slots[SLOTS];

static void *swap(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245 + 12345;
        const size_t n = 16 + (seed >> 16) % 900;
        unsigned char *p = seed >> 30 & 1 ? take_kept(n) : take_passing(n);
        memset(p, (int)(n & 0xff), n);
        *(uint16_t *)(void *)p = (uint16_t)n;
        unsigned char *old = __atomic_exchange_n(&slots[(seed >> 8) % SLOTS], p, __ATOMIC_ACQ_REL);
        if (old) {
            const size_t m = *(uint16_t *)(void *)old;
            check(old[m - 1] == (m & 0xff) && old[2] == (m & 0xff), "an object was overwritten");
            free(old);
        }
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[THREADS];
    for (int round = 0; round < 3; round++) {
        for (uintptr_t i = 0; i < THREADS; i++)
            check(!pthread_create(&t[i], NULL, swap, (void *)(i + 1)), "pthread_create");
        for (int i = 0; i < THREADS; i++)
            pthread_join(t[i], NULL);
    }
}

static void forks(void)
{
    pthread_t t;
    int status;
    check(!pthread_create(&t, NULL, swap, (void *)1), "pthread_create");
    for (int i = 0; i < 30; i++) {
        const pid_t child = fork();
        check(child >= 0, "fork");
        if (!child) {
            fill();
            free_all(passing, 2);
            free_all(kept, 1);
            exit(0);
        }
        check(waitpid(child, &status, 0) == child && !status, "a child");
    }
    pthread_join(t, NULL);
}

/* The library's objects are of two kinds, too. */
static void library(const char *path)
{
    void *module = dlopen(path, RTLD_NOW);
    check(module != NULL, "dlopen");
    void *(*first)(size_t), *(*second)(size_t);
    *(void **)&first = dlsym(module, "library_first");
    *(void **)&second = dlsym(module, "library_second");
    for (int i = 0; i < OBJECTS; i++) {
        kept[i] = memset(first(SIZE), 1, SIZE);
        passing[i] = memset(second(SIZE), 2, SIZE);
    }
    printf("%d\n", shared_pages());
    for (volatile int i = 0; i < 30000000; i++)
        continue;
    free_all(passing, 2);
    for (volatile int i = 0; i < 30000000; i++)
        continue;
    free_all(kept, 1);
    dlclose(module);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "record"))
        record();
    else if (!strcmp(mode, "pages"))
        pages();
    else if (!strcmp(mode, "cold"))
        cold();
    else if (!strcmp(mode, "huge"))
        huge();
    else if (!strcmp(mode, "ask"))
        ask();
    else if (!strcmp(mode, "stagger"))
        stagger();
    else if (!strcmp(mode, "resize"))
        resize();
    else if (!strcmp(mode, "align"))
        align();
    else if (!strcmp(mode, "threads"))
        threads();
    else if (!strcmp(mode, "forks"))
        forks();
    else if (!strcmp(mode, "library"))
        library(argv[2]);
    else
        return 2;
    return 0;
}
