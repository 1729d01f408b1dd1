/* The callbacks of objects compiled with -fsanitize=thread and linked without its runtime: gcc's
 * method to count accesses. Atomic ones have to be done here. */
#include "runtime_access.h"
#include "runtime_start.h"

#define DO(name, params) \
    PGRT_EXPORT void name params; \
    void name params

/* Objects of gcc have no module constructor of their own that calls __memprof_init. */
DO(__tsan_init, (void))
{
    pgrt_accesses_count();
}

DO(__tsan_func_entry, (void *pc))
{
    (void)pc;
}

DO(__tsan_func_exit, (void)) {}

#define ACCESS(name)               \
    DO(__tsan_##name, (void *a))   \
    {                              \
        pgrt_count((uintptr_t)a);  \
    }
#define ACCESSES(bytes)             \
    ACCESS(read##bytes)             \
    ACCESS(write##bytes)            \
    ACCESS(volatile_read##bytes)    \
    ACCESS(volatile_write##bytes)   \
    ACCESS(unaligned_read##bytes)   \
    ACCESS(unaligned_write##bytes)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

/* A member that is not aligned is one access; a larger range is a copy, one per 8 bytes. */
static void range(const void *a, size_t n)
{
    if (n <= 16)
        pgrt_count((uintptr_t)a);
    else
        pgrt_count_range(a, n);
}

DO(__tsan_read_range, (void *a, size_t n))
{
    range(a, n);
}

DO(__tsan_write_range, (void *a, size_t n))
{
    range(a, n);
}

DO(__tsan_vptr_update, (void **a, void *value))
{
    (void)value;
    pgrt_count((uintptr_t)a);
}

DO(__tsan_vptr_read, (void **a))
{
    pgrt_count((uintptr_t)a);
}

#define FETCH(bits, type, what)                                                       \
    PGRT_EXPORT type __tsan_atomic##bits##_fetch_##what(volatile type *a, type v, int order); \
    type __tsan_atomic##bits##_fetch_##what(volatile type *a, type v, int order)      \
    {                                                                                 \
        (void)order;                                                                  \
        pgrt_count((uintptr_t)a);                                                     \
        return __atomic_fetch_##what(a, v, __ATOMIC_SEQ_CST);                         \
    }

#define COMPARE(bits, type, strength, weak)                                                   \
    PGRT_EXPORT int __tsan_atomic##bits##_compare_exchange_##strength(                        \
        volatile type *a, type *expected, type v, int order, int failed);                     \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *a, type *expected,   \
                                                          type v, int order, int failed)      \
    {                                                                                         \
        (void)order;                                                                          \
        (void)failed;                                                                         \
        pgrt_count((uintptr_t)a);                                                             \
        return __atomic_compare_exchange_n(a, expected, v, weak, __ATOMIC_SEQ_CST,            \
                                           __ATOMIC_SEQ_CST);                                 \
    }

#define ATOMICS(bits, type)                                                                   \
    PGRT_EXPORT type __tsan_atomic##bits##_load(const volatile type *a, int order);           \
    type __tsan_atomic##bits##_load(const volatile type *a, int order)                        \
    {                                                                                         \
        (void)order;                                                                          \
        pgrt_count((uintptr_t)a);                                                             \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                          \
    }                                                                                         \
    PGRT_EXPORT void __tsan_atomic##bits##_store(volatile type *a, type v, int order);        \
    void __tsan_atomic##bits##_store(volatile type *a, type v, int order)                     \
    {                                                                                         \
        (void)order;                                                                          \
        pgrt_count((uintptr_t)a);                                                             \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                         \
    PGRT_EXPORT type __tsan_atomic##bits##_exchange(volatile type *a, type v, int order);     \
    type __tsan_atomic##bits##_exchange(volatile type *a, type v, int order)                  \
    {                                                                                         \
        (void)order;                                                                          \
        pgrt_count((uintptr_t)a);                                                             \
        return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                   \
    }                                                                                         \
    FETCH(bits, type, add)                                                                    \
    FETCH(bits, type, sub)                                                                    \
    FETCH(bits, type, and)                                                                    \
    FETCH(bits, type, or)                                                                     \
    FETCH(bits, type, xor)                                                                    \
    FETCH(bits, type, nand)                                                                   \
    COMPARE(bits, type, strong, false)                                                        \
    COMPARE(bits, type, weak, true)                                                           \
    PGRT_EXPORT type __tsan_atomic##bits##_compare_exchange_val(                              \
        volatile type *a, type expected, type v, int order, int failed);                      \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, type v,  \
                                                    int order, int failed)                    \
    {                                                                                         \
        (void)order;                                                                          \
        (void)failed;                                                                         \
        pgrt_count((uintptr_t)a);                                                             \
        __atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST,                 \
                                    __ATOMIC_SEQ_CST);                                        \
        return expected;                                                                      \
    }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* 16 bytes go through one compare-and-swap alone: cmpxchg16b on x86-64. */
__extension__ typedef unsigned __int128 u128;

static u128 exchange_if(volatile u128 *a, u128 expected, u128 v)
{
    return __sync_val_compare_and_swap(a, expected, v);
}

#define WIDE(name, result)                                                              \
    PGRT_EXPORT u128 __tsan_atomic128_##name(volatile u128 *a, u128 v, int order);      \
    u128 __tsan_atomic128_##name(volatile u128 *a, u128 v, int order)                   \
    {                                                                                   \
        (void)order;                                                                    \
        pgrt_count((uintptr_t)a);                                                       \
        for (u128 old = exchange_if(a, 0, 0), seen;; old = seen)                        \
            if ((seen = exchange_if(a, old, (result))) == old)                          \
                return old;                                                             \
    }

WIDE(exchange, v)
WIDE(fetch_add, old + v)
WIDE(fetch_sub, old - v)
WIDE(fetch_and, old & v)
WIDE(fetch_or, old | v)
WIDE(fetch_xor, old ^ v)
WIDE(fetch_nand, ~(old & v))

PGRT_EXPORT u128 __tsan_atomic128_load(volatile u128 *a, int order);
u128 __tsan_atomic128_load(volatile u128 *a, int order)
{
    (void)order;
    pgrt_count((uintptr_t)a);
    return exchange_if(a, 0, 0);
}

DO(__tsan_atomic128_store, (volatile u128 *a, u128 v, int order))
{
    __tsan_atomic128_exchange(a, v, order);
}

PGRT_EXPORT u128 __tsan_atomic128_compare_exchange_val(volatile u128 *a, u128 expected, u128 v,
                                                       int order, int failed);
u128 __tsan_atomic128_compare_exchange_val(volatile u128 *a, u128 expected, u128 v, int order,
                                           int failed)
{
    (void)order;
    (void)failed;
    pgrt_count((uintptr_t)a);
    return exchange_if(a, expected, v);
}

#define WIDE_COMPARE(strength)                                                              \
    PGRT_EXPORT int __tsan_atomic128_compare_exchange_##strength(                           \
        volatile u128 *a, u128 *expected, u128 v, int order, int failed);                   \
    int __tsan_atomic128_compare_exchange_##strength(volatile u128 *a, u128 *expected, u128 v, \
                                                     int order, int failed)                 \
    {                                                                                       \
        u128 wanted = *expected;                                                            \
        *expected = __tsan_atomic128_compare_exchange_val(a, wanted, v, order, failed);     \
        return *expected == wanted;                                                         \
    }

WIDE_COMPARE(strong)
WIDE_COMPARE(weak)

DO(__tsan_atomic_thread_fence, (int order))
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

DO(__tsan_atomic_signal_fence, (int order))
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

PGRT_EXPORT void *__memprof_memcpy(void *to, const void *from, size_t n);
PGRT_EXPORT void *__memprof_memmove(void *to, const void *from, size_t n);
PGRT_EXPORT void *__memprof_memset(void *to, int c, size_t n);
PGRT_EXPORT void *__tsan_memcpy(void *to, const void *from, size_t n);
PGRT_EXPORT void *__tsan_memmove(void *to, const void *from, size_t n);
PGRT_EXPORT void *__tsan_memset(void *to, int c, size_t n);

void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    return __memprof_memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n)
{
    return __memprof_memmove(to, from, n);
}

void *__tsan_memset(void *to, int c, size_t n)
{
    return __memprof_memset(to, c, n);
}
