/* Objects that pointers of all kinds lead to, and some that none does: `leaks exit`, or `leaks
 * fork` for a child that ends in the same way. Lost ones are made by a thread that has ended, so
 * that no stack has what is left of their addresses; nor has a kept object, as all of them are
 * filled. `leaks waiting` has a thread whose stack has what is left of one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))
#define PAGE 65536 /* of any kernel */

struct node {
    struct node *volatile next;
    char bytes[40];
};

static struct node *volatile first;
static void *volatile inside, *volatile of_none, *volatile aligned, *volatile huge, *volatile grown;
static char *volatile locked;
static _Thread_local void *volatile of_thread;
static pthread_key_t key;
static int ready[2];

/* ---- kept ---- */

FUNCTION static void kept_list(void)
{
    for (int i = 0; i < 10; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = first;
        first = n;
    }
}

FUNCTION static void kept_inside(void)
{
    inside = (char *)memset(malloc(5000), 1, 5000) + 4999;
}

FUNCTION static void kept_of_none(void)
{
    of_none = malloc(0);
}

FUNCTION static void kept_aligned(void)
{
    aligned = memset(aligned_alloc(4096, 4096), 1, 4096);
}

/* The last word of a large object is the only way to a small one. */
FUNCTION static void kept_by_huge(void)
{
    const size_t n = (32 << 20) / sizeof(void *);
    void **words = calloc(n, sizeof *words);
    words[n - 1] = malloc(77);
    huge = words;
}

FUNCTION static void kept_grown(void)
{
    grown = memset(realloc(realloc(malloc(10), 1000), 100000), 1, 100000);
}

/* Nobody may read it. */
FUNCTION static void kept_locked(void)
{
    locked = memset(aligned_alloc(PAGE, 2 * PAGE), 1, 2 * PAGE);
    mprotect(locked, 2 * PAGE, PROT_NONE);
}

FUNCTION static void kept_of_thread(void)
{
    of_thread = memset(malloc(70), 1, 70);
}

/* Variables of a library that is loaded now. */
FUNCTION static void kept_of_library(void)
{
    void *library = dlopen("./kept.so", RTLD_NOW);
    void **(*variable)(void) = library ? (void **(*)(void))dlsym(library, "variable") : NULL;
    if (variable)
        *variable() = memset(malloc(71), 1, 71);
}

/* The only pointer is in a page of a large mapping that the program has made, as by an arena. */
FUNCTION static void kept_mapped(void)
{
    const size_t bytes = (size_t)1 << 30;
    char *arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED)
        abort();
    *(void **)(void *)(arena + bytes / 2 + 40) = memset(malloc(88), 1, 88);
}

/* What the allocator has left on the stack of a thread that goes on would be taken for pointers. */
FUNCTION static void wipe(void)
{
    char bytes[100000];
    memset(bytes, 0, sizeof bytes);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

FUNCTION static void *kept_waiting(void *argument)
{
    void *volatile here = memset(malloc(333), 1, 333);
    of_thread = memset(malloc(444), 1, 444);
    pthread_setspecific(key, memset(malloc(555), 1, 555));
    wipe();
    if (write(ready[1], "x", 1) != 1)
        abort();
    pause();
    return here ? argument : NULL;
}

FUNCTION static void *kept_argument(void)
{
    return memset(malloc(222), 1, 222);
}

/* ---- lost ---- */

FUNCTION static void lost_alone(void)
{
    *(volatile char *)malloc(100) = 1;
}

FUNCTION static void lost_ring(void)
{
    struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    a->next = b;
    b->next = a;
}

/* The first one points to the second, which nobody else does. */
FUNCTION static void lost_chain(void)
{
    struct node *a = malloc(sizeof *a), *b = malloc(3 * sizeof *b);
    a->next = b;
    b->next = NULL;
}

FUNCTION static void lost_large(void)
{
    *(volatile char *)malloc(8 << 20) = 1;
}

/* An address that is written otherwise is none. */
FUNCTION static void lost_hidden(void)
{
    static volatile uintptr_t hidden;
    hidden = ~(uintptr_t)malloc(60);
}

FUNCTION static void *lose(void *argument)
{
    lost_alone();
    lost_ring();
    lost_chain();
    lost_large();
    lost_hidden();
    return argument;
}

/* ---- a thread that waits ---- */

/* Far below what the thread uses later: also what the allocator leaves there. */
FUNCTION static void lost_below(void)
{
    volatile char deep[64 << 10];
    deep[0] = 1;
    void *volatile here = memset(malloc(66), 1, 66);
    __asm__ volatile("" : : "r"(deep), "r"(&here) : "memory");
}

static volatile long number; /* of the thread */

FUNCTION static void *kept_above(void *argument)
{
    int nobody[2];
    void *volatile here = memset(malloc(55), 1, 55);
    lost_below();
    if (pipe(nobody))
        abort();
    number = syscall(SYS_gettid);
    if (write(ready[1], "x", 1) != 1 || read(nobody[0], memset(malloc(33), 1, 33), 33) != 1)
        abort();
    return here ? argument : NULL;
}

/* Returns when the thread waits in its system call: false if the system does not tell. */
static int waits(void)
{
    char name[80], text[200];
    snprintf(name, sizeof name, "/proc/self/task/%ld/syscall", number);
    for (;;) {
        FILE *file = fopen(name, "re");
        const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[n] = 0;
        if (file)
            fclose(file);
        if (!n)
            return 0;
        if (*text != 'r' && strtol(text, NULL, 10) == SYS_read) /* not "running" */
            return 1;
        usleep(1000);
    }
}

/* Other threads' stale pointers: status 77 if the system does not tell how they wait. */
static int with_waiting(void)
{
    pthread_t waiting;
    char c;
    if (pipe(ready) || pthread_create(&waiting, NULL, kept_above, NULL) ||
        read(ready[0], &c, 1) != 1)
        abort();
    return waits() ? 0 : 77;
}

/* ---- end ---- */

/* The pointer is in a register or on the stack, as it is asked for afterwards. */
static void (*volatile end)(int) = exit;

FUNCTION static int kept_by_caller(int status)
{
    volatile char *here = memset(malloc(44), 1, 44);
    end(status);
    return *here;
}

static void keep(bool maps)
{
    pthread_t waiting, losing;
    char c;
    if (pipe(ready) || pthread_key_create(&key, NULL) ||
        pthread_create(&waiting, NULL, kept_waiting, kept_argument()) ||
        read(ready[0], &c, 1) != 1 || pthread_create(&losing, NULL, lose, NULL) ||
        pthread_join(losing, NULL))
        abort();
    kept_list();
    kept_inside();
    kept_of_none();
    kept_aligned();
    kept_by_huge();
    kept_grown();
    kept_locked();
    kept_of_thread();
    kept_of_library();
    if (maps)
        kept_mapped();
    wipe();
}

/* A child of the one that has all this: what it inherits is not its own. */
static int in_child(void)
{
    const pid_t child = fork();
    int status = 1;
    if (child == 0) {
        pthread_t losing;
        if (pthread_create(&losing, NULL, lose, NULL) || pthread_join(losing, NULL))
            abort();
        kept_of_thread();
        wipe();
        return kept_by_caller(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        abort();
    return kept_by_caller(0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "waiting"))
        return with_waiting();
    keep(argc < 2 || strcmp(argv[1], "exit-unmapped") != 0);
    return argc > 1 && !strcmp(argv[1], "fork") ? in_child() : kept_by_caller(0);
}
