/* Tests of arrays and of the memory they come from. */
#include "pgk_test.h"

#include "vec.h"

static void grows_and_keeps_what_is_in_it(void **state)
{
    (void)state;
    PGK_VEC(uint32_t) v = {0};
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(pgk_vec_push(&v, i * 3));
    assert_int_equal(v.n, 100000);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(v.v[i], i * 3);
    pgk_vec_free(&v);
    assert_null(v.v);
    assert_int_equal(v.n + v.cap, 0);
}

static void pushes_structs(void **state)
{
    (void)state;
    struct point {
        int x, y;
    };
    PGK_VEC(struct point) v = {0};
    assert_true(pgk_vec_push(&v, (struct point){.x = 1, .y = 2}));
    assert_true(pgk_vec_push(&v, v.v[0]));
    assert_int_equal(v.v[1].y, 2);
    pgk_vec_free(&v);
}

static void grows_by_half_so_that_pushing_is_cheap(void **state)
{
    (void)state;
    PGK_VEC(char) v = {0};
    int moves = 0;
    for (int i = 0; i < 1000000; i++) {
        size_t cap = v.cap;
        assert_true(pgk_vec_push(&v, 'x'));
        moves += v.cap != cap;
    }
    assert_in_range(moves, 5, 40);
    pgk_vec_free(&v);
}

static void reserves_exactly_when_much_is_asked_for(void **state)
{
    (void)state;
    PGK_VEC(uint64_t) v = {0};
    size_t none = 0;
    assert_true(pgk_vec_reserve(&v, none));
    assert_null(v.v);
    assert_true(pgk_vec_reserve(&v, 1000));
    assert_int_equal(v.cap, 1000);
    uint64_t *before = v.v;
    assert_true(pgk_vec_reserve(&v, 1000));
    assert_ptr_equal(v.v, before);
    pgk_vec_free(&v);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    PGK_VEC(uint64_t) v = {0};
    assert_true(pgk_vec_push(&v, 7));
    assert_false(pgk_vec_reserve(&v, SIZE_MAX));
    assert_false(pgk_vec_reserve(&v, SIZE_MAX - 1));
    assert_false(pgk_vec_reserve(&v, SIZE_MAX / 8));
    assert_int_equal(v.v[0], 7);
    assert_int_equal(v.n, 1);
    pgk_vec_free(&v);

    assert_null(pgk_mem_alloc(SIZE_MAX / 2, 3));
    assert_null(pgk_mem_zalloc(SIZE_MAX, 1));
    assert_null(pgk_mem_resize(NULL, SIZE_MAX / 4, 8));
}

static void running_out_of_memory_keeps_what_was_there(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 10; nth++) {
        PGK_VEC(uint32_t) v = {0};
        pgk_mem_fail_after(nth);
        uint32_t i = 0;
        while (pgk_vec_push(&v, i))
            i++;
        pgk_mem_fail_after(0);
        assert_int_equal(v.n, i);
        assert_int_equal(v.n, v.cap);
        for (uint32_t k = 0; k < i; k++)
            assert_int_equal(v.v[k], k);
        assert_true(pgk_vec_push(&v, i));
        pgk_vec_free(&v);
    }
}

static void the_nth_allocation_and_all_after_it_fail(void **state)
{
    (void)state;
    pgk_mem_fail_after(3);
    void *a = pgk_mem_alloc(1, 1), *b = pgk_mem_zalloc(1, 1);
    assert_non_null(a);
    assert_non_null(b);
    assert_null(pgk_mem_resize(a, 2, 1));
    assert_null(pgk_mem_strdup("x"));
    assert_null(pgk_mem_alloc(1, 1));
    pgk_mem_fail_after(0);
    char *s = pgk_mem_strdup("text");
    assert_string_equal(s, "text");
    pgk_mem_free(s);
    pgk_mem_free(a);
    pgk_mem_free(b);
    pgk_mem_free(NULL);
}

static void nothing_is_an_allocation_too(void **state)
{
    (void)state;
    void *p = pgk_mem_alloc(0, 8), *q = pgk_mem_zalloc(8, 0);
    assert_non_null(p);
    assert_non_null(q);
    p = pgk_mem_resize(p, 0, 0);
    assert_non_null(p);
    pgk_mem_free(p);
    pgk_mem_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps_what_is_in_it),
        cmocka_unit_test(pushes_structs),
        cmocka_unit_test(grows_by_half_so_that_pushing_is_cheap),
        cmocka_unit_test(reserves_exactly_when_much_is_asked_for),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(running_out_of_memory_keeps_what_was_there),
        cmocka_unit_test(the_nth_allocation_and_all_after_it_fail),
        cmocka_unit_test(nothing_is_an_allocation_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
