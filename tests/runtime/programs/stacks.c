/* Allocates at the end of random chains of functions of every shape of frame, and keeps the
 * stack that the C library's own unwinder sees there. Prints each stack, outermost code last,
 * without functions of the library that malloc comes from.
 *
 * usage: stacks SEED CHAINS [LIBRARY] */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACKS = 8192, FRAMES = 64 };

static struct {
    void *pcs[FRAMES];
    int n;
} stacks[STACKS];
static int count;
static uint64_t state;
static ucontext_t outside, inside;
static void (*volatile in_library)(void (*)(int), int);

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

__attribute__((noinline, noclone)) void leaf(void)
{
    /* The runtime knows a stack again that it has just seen. */
    for (int i = 0; i < 3 && count < STACKS; i++) {
        stacks[count].n = backtrace(stacks[count].pcs, FRAMES);
        char *volatile p = malloc(1 + below(100));
        count++;
        free(p);
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void go(int depth);

/* The callee-saved registers are in use across the call, rbp too. */
__attribute__((noinline)) void busy(int depth)
{
    uint64_t v[6];
    for (int i = 0; i < 6; i++)
        v[i] = below(1000) * (uint64_t)depth;
    uint64_t a = v[0], b = v[1] + a, c = v[2] * b, d = v[3] ^ c, e = v[4] | d, f = v[5] + e;
    go(depth);
    state += (a ^ b ^ c ^ d ^ e ^ f) & 1;
}

/* rbp points into the stack and is no frame pointer. */
__attribute__((noinline)) void misleading(int depth)
{
    volatile uint64_t box[8] = {1, 2, 3, 4};
    volatile uint64_t *p = &box[below(4)], *q = p + 1, *r = p + 2, *s = q + 2, *t = box;
    go(depth);
    state += (*p + *q + *r + *s + *t) & 1;
}

__attribute__((noinline)) void growing(int depth)
{
    volatile char *p = alloca(16 + below(500));
    p[0] = 1;
    go(depth);
    state += (uint64_t)p[0];
}

__attribute__((noinline)) void realigned(int depth)
{
    volatile char p[96] __attribute__((aligned(64)));
    p[depth & 7] = 1;
    go(depth);
    state += (uint64_t)p[depth & 7];
}

__attribute__((noinline)) void realigned_growing(int depth)
{
    volatile char p[64] __attribute__((aligned(64)));
    volatile char *q = alloca(16 + below(100));
    p[depth & 7] = q[0] = 1;
    go(depth);
    state += (uint64_t)(p[depth & 7] + q[0]);
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) void chained(int depth)
{
    go(depth);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void wide(int depth)
{
    volatile char p[40000];
    p[below(40000)] = 1;
    go(depth);
    __asm__ volatile("" ::"r"(p) : "memory");
}

static int sort_depth;

static int in_sort(const void *a, const void *b)
{
    if (sort_depth >= 0) {
        int depth = sort_depth;
        sort_depth = -1;
        go(depth);
    }
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) void sorting(int depth)
{
    int v[3] = {3, 1, 2};
    sort_depth = depth;
    qsort(v, 3, sizeof *v, in_sort);
}

static volatile int signal_depth, aside; /* aside: on no thread's stack, where one goes but once */

static void in_signal(int sig)
{
    int before = aside;
    aside |= sig == SIGUSR2;
    go(signal_depth);
    aside = before;
}

__attribute__((noinline)) void signalling(int depth)
{
    signal_depth = depth;
    raise(aside || below(2) ? SIGUSR1 : SIGUSR2);
}

/* The second half of the chain on a stack that the program made. */
static void in_context(void)
{
    go(signal_depth);
}

__attribute__((noinline)) void switching(int depth)
{
    static char memory[1 << 18];
    if (aside) {
        go(depth);
        return;
    }
    aside = 1;
    signal_depth = depth;
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = sizeof memory;
    inside.uc_link = &outside;
    makecontext(&inside, in_context, 0);
    swapcontext(&outside, &inside);
    aside = 0;
}

static void *in_thread(void *arg)
{
    go((int)(intptr_t)arg);
    return NULL;
}

__attribute__((noinline)) void threading(int depth)
{
    pthread_t id;
    if (!pthread_create(&id, NULL, in_thread, (void *)(intptr_t)depth))
        pthread_join(id, NULL);
}

static jmp_buf back;

__attribute__((noinline)) void jumping(int depth)
{
    jmp_buf old;
    memcpy(&old, &back, sizeof old);
    if (!setjmp(back)) {
        go(depth);
        longjmp(back, 1);
    }
    memcpy(&back, &old, sizeof old);
    leaf();
}

__attribute__((noinline)) void visiting(int depth)
{
    if (in_library)
        in_library(go, depth);
    else
        go(depth);
    __asm__ volatile("" ::: "memory");
}

static void (*const kinds[])(int) = {
    busy, misleading, growing, realigned, realigned_growing, chained, wide, sorting, signalling,
    switching, threading, jumping, visiting, busy, misleading, chained, growing, visiting,
};

static void go(int depth)
{
    if (depth > 0)
        kinds[below(sizeof kinds / sizeof *kinds)](depth - 1);
    else
        leaf();
    __asm__ volatile("" ::: "memory");
}

static void *visit(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    in_library = library ? (void (*)(void (*)(int), int))dlsym(library, "in_library") : NULL;
    return library;
}

static bool is_of_malloc(void *pc)
{
    Dl_info of_malloc, here;
    return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &of_malloc) && dladdr(pc, &here) &&
           here.dli_fbase == of_malloc.dli_fbase;
}

int main(int argc, char **argv)
{
    void *none[1], *library = NULL;
    stack_t stack = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
    struct sigaction here = {.sa_handler = in_signal, .sa_flags = SA_NODEFER};
    struct sigaction there = {.sa_handler = in_signal, .sa_flags = SA_NODEFER | SA_ONSTACK};
    if (argc < 3)
        return 2;
    backtrace(none, 1); /* loads what it takes */
    state = strtoull(argv[1], NULL, 0);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &here, NULL);
    sigaction(SIGUSR2, &there, NULL);
    for (int i = 0; i < atoi(argv[2]); i++) {
        /* Each time another library comes to lie in the same place. */
        if (argc > 3 && i % 100 == 0) {
            char path[4096];
            if (library)
                dlclose(library);
            snprintf(path, sizeof path, "%s.%d", argv[3], i / 100 % 2);
            library = visit(path);
            if (!library)
                return 3;
        }
        go((int)below(9));
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < stacks[i].n; j++)
            if (!is_of_malloc(stacks[i].pcs[j]))
                printf("%s%lx", j ? " " : "", (unsigned long)stacks[i].pcs[j]);
        putchar('\n');
    }
    return 0;
}
