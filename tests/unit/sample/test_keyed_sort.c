/* Sorting by keys, against the plain way. */
#include "keyed_sort.h"

#include "compiler.h"
#include "mem.h"
#include "pgk_test.h"

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static void keys_are_sorted(void **state)
{
    (void)state;
    static const uint64_t masks[] = {0, 1, 0xff, 0xff00, UINT64_MAX, UINT64_C(0xff000000000000ff)};
    uint64_t seed = 1;
    for (size_t round = 0; round < 300; round++) {
        struct pgk_keyed v[300];
        size_t n = next_random(&seed) % PGK_COUNTOF(v);
        for (size_t i = 0; i < n; i++)
            v[i] = (struct pgk_keyed){
                .key = (next_random(&seed) * next_random(&seed)) & masks[round % 6],
                .value = (uint32_t)i};
        assert_true(pgk_keyed_sort(v, n));
        uint64_t values = 0;
        for (size_t i = 0; i < n; i++) {
            values += v[i].value;
            if (i && v[i - 1].key == v[i].key)
                assert_true(v[i - 1].value < v[i].value);
            else if (i)
                assert_true(v[i - 1].key < v[i].key);
        }
        assert_int_equal(values, n ? n * (n - 1) / 2 : 0);
    }
}

static void a_lack_of_memory_is_reported(void **state)
{
    (void)state;
    struct pgk_keyed v[] = {{2, 0}, {1, 1}};
    pgk_mem_fail_after(1);
    assert_false(pgk_keyed_sort(v, 2));
    pgk_mem_fail_after(0);
    assert_true(pgk_keyed_sort(v, 2));
    assert_int_equal(v[0].value, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_sorted),
        cmocka_unit_test(a_lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
