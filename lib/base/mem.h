/* Heap memory of the library. All of it comes through here, so that a test can
 * make the nth allocation fail. Sizes are checked for overflow. */
#ifndef PGK_MEM_H
#define PGK_MEM_H

#include <stddef.h>
#include <stdint.h>

/* NULL when out of memory or when count * size overflows. Free with pgk_mem_free. */
void *pgk_mem_alloc(size_t count, size_t size);
void *pgk_mem_zalloc(size_t count, size_t size);
/* Zeroed memory that will be touched all over in no order, such as a hash table: the
 * pages of a large one are brought in at once. */
void *pgk_mem_table(size_t count, size_t size);
/* Uninitialised memory that will soon be filled from end to end: a multiple of PGK_MEM_LARGE
 * bytes, on large pages where the system has them, which come at the cost of a few small ones. */
enum { PGK_MEM_LARGE = 2 << 20 };
void *pgk_mem_large(size_t bytes);
void *pgk_mem_resize(void *old, size_t count, size_t size);
void pgk_mem_free(void *p);
char *pgk_mem_strdup(const char *s);

/* Tests only: the nth allocation from now (1 = the next) and all after it
 * fail; 0 turns this off. Counts all threads of the process together. */
void pgk_mem_fail_after(uint64_t nth);

#endif
