/* Tests of lib/disasm/llvm_sort.c: the order of std::sort of GNU's C++ library. */
#include "../pgk_test.h"

#include "llvm_sort.h"

enum { MOST = 40, KEYS = 5 };

/* Numbers of the elements below in the order in which std::sort of g++ 12 leaves them. */
static void std_sort_leaves_the_same_order(void **state)
{
    (void)state;
    static const struct {
        unsigned n;
        uint8_t order[MOST];
    } cases[] = {
        {3, {1, 0, 2}},
        {16, {0, 7, 8, 3, 4, 12, 9, 10, 13, 1, 2, 6, 11, 15, 5, 14}},
        {17, {10, 8, 16, 11, 4, 3, 2, 7, 12, 13, 14, 5, 9, 1, 6, 15, 0}},
        {40, {2,  21, 7,  17, 35, 32, 14, 12, 30, 26, 23, 22, 19, 6, 1,  16, 36, 37, 38, 24,
              39, 31, 29, 28, 27, 0,  20, 18, 11, 10, 8,  4,  3,  25, 15, 13, 33, 34, 9,  5}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pgk_probe_desc v[MOST];
        uint64_t random = cases[c].n;
        for (unsigned i = 0; i < cases[c].n; i++)
            v[i] = (struct pgk_probe_desc){.guid = test_random(&random) % KEYS, .hash = i};
        pgk_llvm_sort_descs(v, cases[c].n);
        for (unsigned i = 0; i < cases[c].n; i++)
            assert_int_equal(v[i].hash, cases[c].order[i]);
    }
}

/* Any number of elements and of keys, also in orders that are hard for a quicksort. */
static void everything_is_sorted_and_nothing_lost(void **state)
{
    (void)state;
    enum { LARGE = 3000 };
    struct pgk_probe_desc *v = calloc(LARGE, sizeof *v);
    uint64_t random = 1;
    assert_non_null(v);
    for (int round = 0; round < 200; round++) {
        size_t n = test_random(&random) % (round % 8 ? 100 : LARGE);
        uint64_t keys = 1 + test_random(&random) % (2 * n + 1), sum = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t key = round % 4 == 0   ? i
                           : round % 4 == 1 ? n - i
                                            : test_random(&random) % keys;
            v[i] = (struct pgk_probe_desc){.guid = key, .hash = key ^ (i * i)};
            sum += (i * i + 1) * (key + 7);
        }
        pgk_llvm_sort_descs(v, n);
        for (size_t i = 0; i < n; i++) {
            assert_true(!i || v[i - 1].guid <= v[i].guid);
            sum -= ((v[i].hash ^ v[i].guid) + 1) * (v[i].guid + 7);
        }
        assert_true(sum == 0);
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(std_sort_leaves_the_same_order),
        cmocka_unit_test(everything_is_sorted_and_nothing_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
