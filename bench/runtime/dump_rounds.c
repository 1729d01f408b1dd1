/* Dumps of a program with 2^DEPTH contexts, one object in each. Before each dump the objects of the
 * round before are freed and made anew, or, with `idle`, nothing is done. Prints for each dump the
 * bytes that it asked the system to write, those of them that were not about to be written anyway,
 * and its CPU time in microseconds.
 *
 * usage: dump_rounds DEPTH DUMPS [idle] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct cost {
    unsigned long long asked, dirtied, us;
};

static struct cost cost_now(void)
{
    char text[512];
    struct cost c = {0};
    struct timespec now;
    const int fd = open("/proc/self/io", O_RDONLY);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    close(fd);
    const char *asked = strstr(text, "wchar: "), *dirtied = strstr(text, "\nwrite_bytes: ");
    if (asked && dirtied) {
        c.asked = strtoull(asked + sizeof "wchar: " - 1, NULL, 10);
        c.dirtied = strtoull(dirtied + sizeof "\nwrite_bytes: " - 1, NULL, 10);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    c.us = (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
    return c;
}

__attribute__((noinline)) void ***each(void ***next, int depth);
void ***each(void ***next, int depth)
{
    if (!depth) {
        void **p = malloc(24);
        *next = p;
        __asm__ volatile("" ::: "memory");
        return p ? (void ***)p : next;
    }
    next = each(next, depth - 1);
    __asm__ volatile("nop" ::: "memory"); /* the two are calls from different places */
    next = each(next, depth - 1);
    __asm__ volatile("" ::: "memory");
    return next;
}

int main(int argc, char **argv)
{
    const int depth = argc > 1 ? atoi(argv[1]) : 0, dumps = argc > 2 ? atoi(argv[2]) : 0;
    const int idle = argc > 3 && !strcmp(argv[3], "idle");
    int (*dump)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "__memprof_profile_dump");
    void **list = NULL;
    if (!dump || !depth)
        return 2;
    for (int i = 0; i < dumps; i++) {
        while (list && !idle) {
            void **next = *list;
            free(list);
            list = next;
        }
        if (!list)
            *(void **)each(&list, depth) = NULL;
        const struct cost before = cost_now();
        if (dump())
            return 1;
        const struct cost after = cost_now();
        printf("%llu %llu %llu\n", after.asked - before.asked, after.dirtied - before.dirtied,
               after.us - before.us);
    }
    return 0;
}
