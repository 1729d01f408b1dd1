/* Tests of the arena. */
#include "pgk_test.h"

#include "arena.h"
#include "mem.h"

static void gives_aligned_memory_that_does_not_overlap(void **state)
{
    (void)state;
    struct pgk_arena a = {0};
    enum { N = 3000 };
    static uint8_t *got[N];
    static size_t sizes[N];
    uint64_t seed = 1, total = 0;
    for (int i = 0; i < N; i++) {
        uint64_t r = test_random(&seed);
        sizes[i] = i % 500 == 7 ? r % 700000 : r % 200;
        if (r & 1 << 20) {
            got[i] = pgk_arena_alloc(&a, sizes[i], 1);
            assert_non_null(got[i]);
            assert_int_equal((uintptr_t)got[i] % 8, 0);
            total += sizes[i];
        } else {
            static const char text[700000];
            got[i] = (uint8_t *)pgk_arena_copy(&a, text, sizes[i]);
            assert_non_null(got[i]);
            assert_int_equal(got[i][sizes[i]], 0);
            total += sizes[i] + 1;
        }
        memset(got[i], i & 0xff, sizes[i]);
    }
    assert_int_equal(a.bytes, total);
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            if (got[i][k] != (i & 0xff))
                fail_msg("allocation %d is overwritten at byte %zu", i, k);
    pgk_arena_free(&a);
    assert_null(a.head);
    assert_int_equal(a.bytes, 0);
}

static void grows_into_large_pages(void **state)
{
    (void)state;
    struct pgk_arena a = {0};
    enum { N = 100000, BYTES = 64 };
    static uint64_t *got[N];
    for (uint64_t i = 0; i < N; i++) {
        got[i] = pgk_arena_alloc(&a, 1, BYTES);
        assert_non_null(got[i]);
        for (size_t k = 0; k < BYTES / 8; k++)
            got[i][k] = i;
    }
    for (uint64_t i = 0; i < N; i++)
        for (size_t k = 0; k < BYTES / 8; k++)
            assert_int_equal(got[i][k], i);
    pgk_arena_free(&a);
}

static void copies_end_in_nul_and_keep_nuls(void **state)
{
    (void)state;
    struct pgk_arena a = {0};
    char *s = pgk_arena_copy(&a, "ab\0cd", 5);
    assert_memory_equal(s, "ab\0cd", 6);
    assert_string_equal(pgk_arena_copy(&a, NULL, 0), "");
    pgk_arena_free(&a);
}

static void nothing_is_an_allocation_too(void **state)
{
    (void)state;
    struct pgk_arena a = {0};
    assert_non_null(pgk_arena_alloc(&a, 0, 8));
    assert_non_null(pgk_arena_alloc(&a, 8, 0));
    pgk_arena_free(&a);
    pgk_arena_free(&a);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    struct pgk_arena a = {0};
    assert_null(pgk_arena_alloc(&a, SIZE_MAX, 1));
    assert_null(pgk_arena_alloc(&a, SIZE_MAX - 6, 1));
    assert_null(pgk_arena_alloc(&a, SIZE_MAX / 2, 3));
    assert_null(pgk_arena_alloc(&a, (size_t)PTRDIFF_MAX + 1, 1));
    assert_null(pgk_arena_copy(&a, "", SIZE_MAX));
    assert_int_equal(a.bytes, 0);
    pgk_arena_free(&a);
}

static void a_large_request_leaves_the_newest_block_in_use(void **state)
{
    (void)state;
    struct pgk_arena a = {0};
    char *first = pgk_arena_alloc(&a, 1, 16);
    assert_non_null(pgk_arena_alloc(&a, 1, 3 << 20));
    char *second = pgk_arena_alloc(&a, 1, 16);
    assert_ptr_equal(second, first + 16);
    pgk_arena_free(&a);
}

static void running_out_of_memory_leaves_it_usable(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < 12; nth++) {
        struct pgk_arena a = {0};
        pgk_mem_fail_after(nth);
        size_t done = 0;
        while (done < 4000 && pgk_arena_alloc(&a, 1, 1000))
            done++;
        assert_int_equal(a.bytes, done * 1000);
        assert_true(nth > 1 || done == 0);
        pgk_mem_fail_after(0);
        assert_non_null(pgk_arena_alloc(&a, 1, 1000));
        pgk_arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_aligned_memory_that_does_not_overlap),
        cmocka_unit_test(grows_into_large_pages),
        cmocka_unit_test(copies_end_in_nul_and_keep_nuls),
        cmocka_unit_test(nothing_is_an_allocation_too),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(a_large_request_leaves_the_newest_block_in_use),
        cmocka_unit_test(running_out_of_memory_leaves_it_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
