/* Allocation: objects, of which no two share a granule. */
#ifndef PGRT_ALLOC_H
#define PGRT_ALLOC_H

#include "guest_memory.h"
#include "guest_processor.h"
#include "runtime_object.h"

#pragma GCC visibility push(hidden)

struct pgrt_thread;
/* A new object, NULL when there is no memory; leaves errno alone. `frame` is the frame address
 * of the function that the program called. */
void *pgrt_alloc(size_t n, size_t align, bool zero, const void *frame);
/* The same for functions of the C library that return an object. Where malloc is not ours it comes
 * from there, as the program frees it there. */
void *pgrt_alloc_for(size_t n, const void *frame);
void *pgrt_realloc_for(void *p, size_t n, const void *frame);
extern bool pgrt_malloc_is_theirs;
/* The functions that the program would call without the runtime, for memory of other allocators;
 * NULL: the C library. */
extern void (*pgrt_free_behind)(void *p);
extern void *(*pgrt_realloc_behind)(void *p, size_t n);
void *pgrt_realloc(void *p, size_t n, const void *frame);
void pgrt_free(void *p);
size_t pgrt_size(const void *p); /* bytes the program asked for; 0 for anything else */
struct pgrt_use pgrt_use(const struct pgrt_object *o);
void pgrt_alloc_keep_pages(void); /* gives no memory back to the system from now on */
void pgrt_free_now(struct pgrt_thread *t, void *object);
/* Regions that held objects: 4 MiB of address space each, in the order of their first object. */
enum { PGRT_REGION_SHIFT = 22, PGRT_REGIONS_MAX = 1 << 18 };
extern u32 pgrt_region_list[PGRT_REGIONS_MAX], pgrt_region_count;

#pragma GCC visibility pop
#endif
