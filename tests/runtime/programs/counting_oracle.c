/* A slow plain heap for objects that call it for each access: no address is used twice, so an
 * access is of the object that was ever there. Objects begin where the profiler's do in a granule
 * of 64: those of more than 248 bytes 16 bytes into it. Prints, for each object, the address that
 * asked for it, its bytes, its accesses, and its bytes in granules that were accessed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { GRANULE = 64, HEADER = 16, SMALL_MAX = 248, MOST_OBJECTS = 1 << 20 };
#define HEAP_BYTES ((size_t)1 << 32)

static struct object {
    uintptr_t asked_by, begin;
    size_t bytes;
    uint64_t accesses;
} objects[MOST_OBJECTS];
static unsigned n_objects = 1;
static char *heap;
static size_t used;
static uint32_t *owner; /* by granule of the heap */
static bool *accessed;  /* the same */

uintptr_t __memprof_shadow_memory_dynamic_address;

void __memprof_init(void) {}
void __memprof_version_mismatch_check_v1(void) {}

static void count(uintptr_t address)
{
    size_t granule = (address - (uintptr_t)heap) / GRANULE;
    if (!heap || address - (uintptr_t)heap >= used)
        return;
    objects[owner[granule]].accesses++;
    accessed[granule] = true;
}

void __memprof_load(uintptr_t address)
{
    count(address);
}

void __memprof_store(uintptr_t address)
{
    count(address);
}

static void count_range(const void *start, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        count((uintptr_t)start + i);
}

void *__memprof_memcpy(void *to, const void *from, size_t n)
{
    count_range(from, n);
    count_range(to, n);
    return memcpy(to, from, n);
}

void *__memprof_memmove(void *to, const void *from, size_t n)
{
    count_range(from, n);
    count_range(to, n);
    return memmove(to, from, n);
}

void *__memprof_memset(void *to, int byte, size_t n)
{
    count_range(to, n);
    return memset(to, byte, n);
}

static void *new_object(size_t bytes, void *asked_by)
{
    if (!heap) {
        heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        owner = mmap(NULL, HEAP_BYTES / GRANULE * sizeof *owner, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        accessed = mmap(NULL, HEAP_BYTES / GRANULE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    size_t granules = (bytes + HEADER) / GRANULE + 1;
    if (n_objects == MOST_OBJECTS || used + granules * GRANULE > HEAP_BYTES)
        __builtin_trap();
    for (size_t i = 0; i < granules; i++)
        owner[used / GRANULE + i] = n_objects;
    char *object = heap + used + (bytes > SMALL_MAX ? HEADER : 0);
    objects[n_objects++] = (struct object){(uintptr_t)asked_by, (uintptr_t)object, bytes, 0};
    used += granules * GRANULE;
    return object;
}

void *malloc(size_t bytes)
{
    return new_object(bytes, __builtin_return_address(0));
}

void *calloc(size_t n, size_t bytes)
{
    return new_object(n * bytes, __builtin_return_address(0));
}

void *realloc(void *old, size_t bytes)
{
    char *to = new_object(bytes, __builtin_return_address(0));
    size_t had = old ? objects[owner[((char *)old - heap) / GRANULE]].bytes : 0;
    return old ? memcpy(to, old, had < bytes ? had : bytes) : to;
}

void free(void *object)
{
    (void)object;
}

/* operator new[] and delete[] of C++, by their names in the object file. */
void *_Znam(size_t bytes)
{
    return new_object(bytes, __builtin_return_address(0));
}

void _ZdaPv(void *object)
{
    (void)object;
}

static size_t touched(const struct object *o)
{
    size_t bytes = 0;
    for (uintptr_t at = o->begin; at < o->begin + o->bytes; at++)
        bytes += accessed[(at - (uintptr_t)heap) / GRANULE];
    return bytes;
}

__attribute__((destructor)) static void print(void)
{
    for (unsigned i = 1; i < n_objects; i++)
        printf("object %lx %zu %lu %zu\n", (unsigned long)objects[i].asked_by, objects[i].bytes,
               (unsigned long)objects[i].accesses, touched(&objects[i]));
}
