/* Tests of lib/base/mem.c. */
#include "../pgk_test.h"

#include "mem.h"

static void sizes_that_overflow_give_nothing(void **state)
{
    (void)state;
    assert_null(pgk_mem_alloc(SIZE_MAX / 2, 3));
    assert_null(pgk_mem_zalloc(SIZE_MAX, SIZE_MAX));
    assert_null(pgk_mem_alloc((size_t)PTRDIFF_MAX + 1, 1));
    assert_null(pgk_mem_large((size_t)PTRDIFF_MAX + 1));
    char *p = pgk_mem_alloc(4, 1);
    memcpy(p, "kept", 4);
    assert_null(pgk_mem_resize(p, SIZE_MAX, 2));
    assert_memory_equal(p, "kept", 4); /* and is still the caller's */
    pgk_mem_free(p);
}

static void no_bytes_are_memory_too(void **state)
{
    (void)state;
    void *a = pgk_mem_alloc(0, 8), *b = pgk_mem_zalloc(5, 0);
    assert_non_null(a);
    assert_non_null(b);
    pgk_mem_free(a);
    pgk_mem_free(b);
    pgk_mem_free(NULL);
}

static void tables_are_zeroed_and_large_blocks_aligned(void **state)
{
    (void)state;
    enum { WORDS = 3 << 17 }; /* 3 MiB, brought in at once */
    uint64_t *table = pgk_mem_table(WORDS, sizeof *table), sum = 0;
    assert_non_null(table);
    for (size_t i = 0; i < WORDS; i++)
        sum |= table[i];
    assert_true(sum == 0);
    pgk_mem_free(table);
    char *large = pgk_mem_large(PGK_MEM_LARGE);
    assert_non_null(large);
    assert_int_equal((uintptr_t)large % PGK_MEM_LARGE, 0);
    memset(large, 1, PGK_MEM_LARGE);
    pgk_mem_free(large);
}

/* Of the calls 1, 2, 3... the nth and all after it fail, whichever function they go through. */
static void allocations_fail_from_the_nth_on(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 6; nth++) {
        void *p[6] = {NULL};
        pgk_mem_fail_after(nth);
        p[0] = pgk_mem_alloc(1, 1);
        p[1] = pgk_mem_zalloc(1, 1);
        p[2] = pgk_mem_resize(NULL, 1, 1);
        p[3] = pgk_mem_strdup("x");
        p[4] = pgk_mem_table(1, 1);
        p[5] = pgk_mem_large(PGK_MEM_LARGE);
        pgk_mem_fail_after(0);
        for (uint64_t i = 0; i < 6; i++) {
            assert_int_equal(p[i] != NULL, i + 1 < nth);
            pgk_mem_free(p[i]);
        }
    }
    void *p = pgk_mem_alloc(1, 1);
    assert_non_null(p);
    pgk_mem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_give_nothing),
        cmocka_unit_test(no_bytes_are_memory_too),
        cmocka_unit_test(tables_are_zeroed_and_large_blocks_aligned),
        cmocka_unit_test(allocations_fail_from_the_nth_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
