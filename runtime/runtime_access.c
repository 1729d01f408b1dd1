/* Counting accesses: what instrumented objects call, and ranges of the library functions. */
#include "runtime_access.h"

/* One count per 8 bytes from start on, to the granule that byte is in. */
void pgrt_count_range_slow(uintptr_t start, size_t n)
{
    if (PGG_UNLIKELY(!pgrt_words)) {
        if (!__memprof_shadow_memory_dynamic_address)
            return;
        for (uintptr_t a = start; a < start + n; a += 8)
            pgrt_count(a);
        return;
    }
    u64 *word = pgrt_word(start), counts = (n + 7) / 8;
    const u64 here = (PGRT_GRANULE + 7 - start % PGRT_GRANULE) / 8;
    if (counts <= here) {
        *word += counts;
        return;
    }
    *word++ += here;
    counts -= here;
    /* An unaligned range has its words at the same offset modulo 8 in each granule. */
    u64 *last = word + (counts - 1) / 8;
    pgg_words_add(word, last, 8);
    *last += (counts - 1) % 8 + 1;
}

void *pgrt_counted_copy_long(void *to, const void *from, size_t n)
{
    pgrt_count_range(from, n);
    pgrt_count_range(to, n);
    return pgg_copy_fast(to, from, n);
}

void *pgrt_counted_move_long(void *to, const void *from, size_t n)
{
    pgrt_count_range(from, n);
    pgrt_count_range(to, n);
    return pgg_move_fast(to, from, n);
}

PGRT_EXPORT void __memprof_load(uintptr_t a);
PGRT_EXPORT void __memprof_store(uintptr_t a);
PGRT_EXPORT void __memprof_hist_load(uintptr_t a);
PGRT_EXPORT void __memprof_hist_store(uintptr_t a);
PGRT_EXPORT void __memprof_record_access(const volatile void *p);
PGRT_EXPORT void __memprof_record_access_hist(const volatile void *p);
PGRT_EXPORT void __memprof_record_access_range(const volatile void *p, size_t n);
PGRT_EXPORT void __memprof_record_access_range_hist(const volatile void *p, size_t n);
PGRT_EXPORT void *__memprof_memcpy(void *to, const void *from, size_t n);
PGRT_EXPORT void *__memprof_memmove(void *to, const void *from, size_t n);
PGRT_EXPORT void *__memprof_memset(void *to, int c, size_t n);

void __memprof_load(uintptr_t a)
{
    pgrt_count(a);
}

void __memprof_store(uintptr_t a)
{
    pgrt_count(a);
}

void __memprof_hist_load(uintptr_t a)
{
    pgrt_count(a);
}

void __memprof_hist_store(uintptr_t a)
{
    pgrt_count(a);
}

void __memprof_record_access(const volatile void *p)
{
    pgrt_count((uintptr_t)p);
}

void __memprof_record_access_hist(const volatile void *p)
{
    pgrt_count((uintptr_t)p);
}

void __memprof_record_access_range(const volatile void *p, size_t n)
{
    pgrt_count_range((const void *)p, n);
}

void __memprof_record_access_range_hist(const volatile void *p, size_t n)
{
    pgrt_count_range((const void *)p, n);
}

void *__memprof_memcpy(void *to, const void *from, size_t n)
{
    return pgrt_counted_copy(to, from, n);
}

void *__memprof_memmove(void *to, const void *from, size_t n)
{
    return pgrt_counted_move(to, from, n);
}

void *__memprof_memset(void *to, int c, size_t n)
{
    pgrt_count_range(to, n);
    return pgg_fill_fast(to, c, n);
}
