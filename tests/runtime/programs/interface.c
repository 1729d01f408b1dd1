/* What the sanitizers' common interface offers to a program; each failure is an exit status.
 *
 * usage: interface [hooks | override] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __sanitizer_get_ownership(const volatile void *p);
size_t __sanitizer_get_allocated_size(const volatile void *p);
const void *__sanitizer_get_allocated_begin(const void *p);
size_t __sanitizer_get_estimated_allocated_size(size_t n);
size_t __sanitizer_get_current_allocated_bytes(void);
size_t __sanitizer_get_heap_size(void);
size_t __sanitizer_get_free_bytes(void);
size_t __sanitizer_get_unmapped_bytes(void);
void __sanitizer_purge_allocator(void);
void __sanitizer_print_stack_trace(void);
uint32_t __sanitizer_unaligned_load32(const void *p);
void __sanitizer_unaligned_store32(void *p, uint32_t v);
int __sanitizer_install_malloc_and_free_hooks(void (*on_alloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static volatile size_t allocated, freed;
static const volatile void *volatile last;

static void on_alloc(const volatile void *p, size_t n)
{
    last = p;
    allocated += n;
}

static void on_free(const volatile void *p)
{
    freed += p == last;
}

#ifdef OVERRIDE
void __sanitizer_malloc_hook(const volatile void *p, size_t n)
{
    on_alloc(p, n);
}

void __sanitizer_free_hook(const volatile void *p)
{
    on_free(p);
}
#endif

static int hooks(void)
{
#ifndef OVERRIDE
    if (!__sanitizer_install_malloc_and_free_hooks(on_alloc, on_free))
        return 10;
#endif
    size_t before = allocated;
    char *volatile p = malloc(1234);
    if (allocated != before + 1234 || last != p)
        return 11;
    p = realloc(p, 5000);
    if (allocated != before + 6234 || last != p)
        return 12;
    size_t was_freed = freed;
    free(p);
    return freed == was_freed + 1 ? 0 : 13;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return hooks();
    size_t before = __sanitizer_get_current_allocated_bytes();
    char *p = malloc(100000);
    if (!__sanitizer_get_ownership(p) || __sanitizer_get_allocated_size(p) != 100000)
        return 1;
    if (__sanitizer_get_allocated_begin(p) != p ||
        __sanitizer_get_allocated_begin(p + 99999) != p || __sanitizer_get_allocated_begin(&p))
        return 2;
    if (__sanitizer_get_current_allocated_bytes() < before + 100000)
        return 3;
    if (__sanitizer_get_heap_size() < 100000 || __sanitizer_get_estimated_allocated_size(7) != 7)
        return 4;
    (void)__sanitizer_get_free_bytes();
    (void)__sanitizer_get_unmapped_bytes();
    __sanitizer_purge_allocator();
    __sanitizer_unaligned_store32(p + 1, 0x12345678);
    if (__sanitizer_unaligned_load32(p + 1) != 0x12345678)
        return 5;
    __sanitizer_print_stack_trace();
    free(p);
    return __sanitizer_get_current_allocated_bytes() < before + 100000 ? 0 : 6;
}
