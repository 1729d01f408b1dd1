/* The functions of the sanitizers' common interface that programs call, documented in
 * <sanitizer/allocator_interface.h> and <sanitizer/common_interface_defs.h> of compiler-rt. */
#include "guest_processor.h"
#include "guest_text.h"
#include "guest_walk.h"
#include "runtime_access.h"
#include "runtime_alloc.h"
#include "runtime_heap.h"
#include "runtime_options.h"
#include "runtime_store.h"
#include "runtime_thread.h"

/* ---- what a program asks about its objects ---- */

PGRT_EXPORT size_t __sanitizer_get_allocated_size(const volatile void *p);
PGRT_EXPORT size_t __sanitizer_get_allocated_size_fast(const volatile void *p);
PGRT_EXPORT int __sanitizer_get_ownership(const volatile void *p);
PGRT_EXPORT const void *__sanitizer_get_allocated_begin(const void *p);
PGRT_EXPORT size_t __sanitizer_get_estimated_allocated_size(size_t n);
PGRT_EXPORT size_t __sanitizer_get_current_allocated_bytes(void);
PGRT_EXPORT size_t __sanitizer_get_heap_size(void);
PGRT_EXPORT size_t __sanitizer_get_free_bytes(void);
PGRT_EXPORT size_t __sanitizer_get_unmapped_bytes(void);
PGRT_EXPORT void __sanitizer_purge_allocator(void);

size_t __sanitizer_get_allocated_size(const volatile void *p)
{
    return pgrt_size((const void *)p);
}

size_t __sanitizer_get_allocated_size_fast(const volatile void *p)
{
    return pgrt_size((const void *)p);
}

int __sanitizer_get_ownership(const volatile void *p)
{
    return pgrt_size((const void *)p) != 0;
}

const void *__sanitizer_get_allocated_begin(const void *p)
{
    return pgrt_size(p) ? p : pgrt_heap_begin(p);
}

size_t __sanitizer_get_estimated_allocated_size(size_t n)
{
    return n;
}

size_t __sanitizer_get_current_allocated_bytes(void)
{
    u64 asked, taken;
    return pgrt_heap_bytes(&asked, &taken) ? asked : 0;
}

size_t __sanitizer_get_heap_size(void)
{
    u64 asked, taken;
    return pgrt_heap_bytes(&asked, &taken) ? taken : 0;
}

size_t __sanitizer_get_free_bytes(void)
{
    u64 asked, taken;
    return pgrt_heap_bytes(&asked, &taken) && taken > asked ? taken - asked : 0;
}

/* Address space of objects is kept. */
size_t __sanitizer_get_unmapped_bytes(void)
{
    return 0;
}

/* The allocator gives memory back by itself. */
void __sanitizer_purge_allocator(void) {}

/* ---- where the profile is ---- */

PGRT_EXPORT_WEAK const char *__sanitizer_get_report_path(void);

const char *__sanitizer_get_report_path(void)
{
    return pgrt_store_path();
}

/* ---- this call's stack ---- */

PGRT_EXPORT_WEAK void __sanitizer_print_stack_trace(void);

void __sanitizer_print_stack_trace(void)
{
    u64 pcs[PGG_DEPTH_MAX];
    char line[100];
    struct pgrt_thread *t = pgrt_enter_paused();
    if (!t)
        return;
    const struct pgg_stack_found found = pgg_walk(&t->walker, PGG_HERE, pcs);
    pgg_walk_pcs(&t->walker, &found, pcs);
    pgrt_leave(t);
    for (u32 i = 0; i < found.n; i++) {
        struct pgg_text text;
        pgg_text_init(&text, line, sizeof line);
        pgg_text_str(&text, "    #");
        pgg_text_u64(&text, i);
        pgg_text_str(&text, " 0x");
        pgg_text_hex(&text, pcs[i]);
        pgrt_say(line, NULL);
    }
}

/* ---- loads and stores at any address, which count as one access ---- */

#define UNALIGNED(bits)                                                            \
    PGRT_EXPORT uint##bits##_t __sanitizer_unaligned_load##bits(const void *p);    \
    uint##bits##_t __sanitizer_unaligned_load##bits(const void *p)                 \
    {                                                                              \
        uint##bits##_t v;                                                          \
        pgrt_count((uintptr_t)p);                                                  \
        __builtin_memcpy(&v, p, sizeof v);                                         \
        return v;                                                                  \
    }                                                                              \
    PGRT_EXPORT void __sanitizer_unaligned_store##bits(void *p, uint##bits##_t v); \
    void __sanitizer_unaligned_store##bits(void *p, uint##bits##_t v)              \
    {                                                                              \
        pgrt_count((uintptr_t)p);                                                  \
        __builtin_memcpy(p, &v, sizeof v);                                         \
    }
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)
