/* An allocator that knows hints: counts them, and prints the counts when the program ends. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *name;
    unsigned hint, n;
} counts[64];

static void count(const char *name, unsigned hint)
{
    size_t i = 0;
    while (counts[i].name && (strcmp(counts[i].name, name) != 0 || counts[i].hint != hint))
        i++;
    counts[i].name = name;
    counts[i].hint = hint;
    counts[i].n++;
}

__attribute__((destructor)) static void print(void)
{
    for (size_t i = 0; counts[i].name; i++)
        fprintf(stderr, "%s %u %u\n", counts[i].name, counts[i].hint, counts[i].n);
}

#define HINTED(name, params, hint, value) \
    void *name params                     \
    {                                     \
        count(#name, hint);               \
        return value;                     \
    }

HINTED(pgokit_malloc_hint, (size_t n, uint8_t hint), hint, malloc(n))
HINTED(pgokit_calloc_hint, (size_t n, size_t size, uint8_t hint), hint, calloc(n, size))
HINTED(pgokit_realloc_hint, (void *p, size_t n, uint8_t hint), hint, realloc(p, n))
HINTED(pgokit_aligned_alloc_hint, (size_t align, size_t n, uint8_t hint), hint,
       aligned_alloc(align, n))
HINTED(pgokit_strdup_hint, (const char *s, uint8_t hint), hint, strdup(s))
HINTED(_Znwm12__hot_cold_t, (size_t n, uint8_t hint), hint, malloc(n))
HINTED(_Znam12__hot_cold_t, (size_t n, uint8_t hint), hint, malloc(n))
HINTED(_ZnwmRKSt9nothrow_t12__hot_cold_t, (size_t n, const void *tag, uint8_t hint), hint,
       tag ? malloc(n) : NULL)
HINTED(_ZnamRKSt9nothrow_t12__hot_cold_t, (size_t n, const void *tag, uint8_t hint), hint,
       tag ? malloc(n) : NULL)
HINTED(_ZnwmSt11align_val_t12__hot_cold_t, (size_t n, size_t align, uint8_t hint), hint,
       aligned_alloc(align, n))
