/* Sorting by groups gives what qsort gives. */
#include "group_sort.h"

#include "pgk_test.h"

struct record {
    uint32_t group, rank;
    uint64_t payload;
};

static int compare(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void check(size_t n, uint32_t groups, uint32_t ranks)
{
    struct record *v = malloc((n + 1) * sizeof *v), *want = malloc((n + 1) * sizeof *want);
    assert_true(v && want);
    for (size_t i = 0; i < n; i++) {
        v[i] = (struct record){(uint32_t)rand() % groups, (uint32_t)rand() % ranks, 0};
        v[i].payload = (uint64_t)v[i].group << 32 | v[i].rank;
    }
    memcpy(want, v, n * sizeof *v);
    qsort(want, n, sizeof *want, compare);
    pgk_sort_groups(v, n, sizeof *v, compare);
    assert_memory_equal(v, want, n * sizeof *v);
    free(v);
    free(want);
}

static void groups_are_sorted_like_by_qsort(void **state)
{
    (void)state;
    srand(1);
    check(0, 1, 1);
    check(1, 1, 1);
    check(100, 10, 1000);                /* too few for counting */
    check(10000, 3000, 1000);            /* small groups */
    check(10000, 20, 1000);              /* large ones */
    check(10000, 1, 3);                  /* one */
    check(10000, 2000000000, 1000);      /* numbers too far apart */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_sorted_like_by_qsort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
