/* A runtime that does nothing: the counters of instrumented code go somewhere, nobody reads them,
 * nothing is intercepted. What a program costs with it is what inline counting costs. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uintptr_t __memprof_shadow_memory_dynamic_address;

void __memprof_init(void) {}
void __memprof_version_mismatch_check_v1(void) {}
void *__memprof_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
void *__memprof_memmove(void *to, const void *from, size_t n) { return memmove(to, from, n); }
void *__memprof_memset(void *to, int byte, size_t n) { return memset(to, byte, n); }

static void map_counters(void)
{
    /* valgrind has no room for more, and places all that it runs low in memory. */
    enum { ALL = 44, IN_VALGRIND = 35 };
    int bits = ALL;
    void *shadow = mmap(NULL, 1ULL << bits, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shadow == MAP_FAILED) {
        bits = IN_VALGRIND;
        shadow = mmap(NULL, 1ULL << bits, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (shadow == MAP_FAILED)
        abort();
    madvise(shadow, 1ULL << bits, MADV_NOHUGEPAGE);
    __memprof_shadow_memory_dynamic_address = (uintptr_t)shadow;
}

/* With -pgokit-heap-tally of the plugin. */
uint64_t pgokit_heap_updates, pgokit_heap_accesses;

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("PGOKIT_BENCH_TALLY");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%llu %llu\n", (unsigned long long)pgokit_heap_updates,
                (unsigned long long)pgokit_heap_accesses);
        fclose(file);
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const start)(void) = map_counters;
