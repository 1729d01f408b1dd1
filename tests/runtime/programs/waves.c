/* Allocates and frees at random for some tenths of a second, and keeps what was alive after each
 * step, in memory that is not on the heap. The trace goes to a file: u64 each, for every step
 * allocations so far, their bytes, and objects and bytes alive of each of the four sites.
 *
 * usage: waves SEED TRACE [dump|kill|exec|long] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITES = 4, SLOTS = 512, STEPS = 60000 };

struct step {
    uint64_t allocations, bytes, objects[SITES], alive[SITES];
};

extern int __memprof_profile_dump(void) __attribute__((weak));

#define SITE(n)                                      \
    __attribute__((noinline)) void *site_##n(size_t); \
    void *site_##n(size_t size)                      \
    {                                                \
        void *p = malloc(size);                      \
        __asm__ volatile("" ::"r"(p) : "memory");    \
        return p;                                    \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
static void *(*const sites[SITES])(size_t) = {site_0, site_1, site_2, site_3};

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

int main(int argc, char **argv)
{
    static struct {
        void *p;
        size_t size;
        int site;
    } slots[SLOTS];
    const char *end = argc > 3 ? argv[3] : "";
    struct step *trace = mmap(NULL, STEPS * sizeof *trace, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc < 3 || trace == MAP_FAILED)
        return 2;
    state = strtoull(argv[1], NULL, 0) * 77777;
    struct step now = {0};
    for (int i = 0; i < STEPS; i++) {
        /* The heap grows and shrinks in waves. */
        uint32_t slot = random_below(SLOTS / 2 + (uint32_t)(i / 4000 % 4) * SLOTS / 8);
        int site = (int)random_below(SITES);
        if (slots[slot].p) {
            free(slots[slot].p);
            slots[slot].p = NULL;
            now.objects[slots[slot].site]--;
            now.alive[slots[slot].site] -= slots[slot].size;
        } else if (i / 5000 % 3 != 2 || random_below(3) == 0) {
            size_t size = 1 + random_below(1u << random_below(14));
            slots[slot].p = sites[site](size);
            slots[slot].size = size;
            slots[slot].site = site;
            now.allocations++;
            now.bytes += size;
            now.objects[site]++;
            now.alive[site] += size;
        }
        trace[i] = now;
        if (!strcmp(end, "long") && i % 40 == 0) /* more points than are kept */
            usleep(1000);
        else if (i % 1500 == 0)
            usleep(5000);
        if (i == STEPS / 2 && !strcmp(end, "dump") && __memprof_profile_dump)
            __memprof_profile_dump();
    }
    int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, trace, STEPS * sizeof *trace) != STEPS * (ssize_t)sizeof *trace)
        return 3;
    if (!strcmp(end, "kill"))
        raise(SIGKILL);
    if (!strcmp(end, "exec"))
        execl("/bin/true", "true", (char *)NULL);
    return 0;
}
