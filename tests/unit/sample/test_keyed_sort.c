/* Sorting by keys, against the plain way; the order of names, which goes by words. */
#include "keyed_sort.h"
#include "pgk_test.h"
#include "sample_names.h"

#include <stdlib.h>

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

/* GUIDs by number, then spellings bytewise and the shorter one first. */
static int plain_order(const struct pgk_sample_name *a, const struct pgk_sample_name *b)
{
    if (!a->s || !b->s) {
        if (!a->s && !b->s)
            return a->guid < b->guid ? -1 : a->guid > b->guid;
        return a->s ? 1 : -1;
    }
    size_t shorter = a->len < b->len ? a->len : b->len;
    int c = memcmp(a->s, b->s, shorter);
    return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

static void check_ranks(const struct pgk_sample_names *t)
{
    size_t n = t->v.n;
    uint32_t *rank = calloc(n, sizeof *rank), *by_rank = calloc(n, sizeof *by_rank);
    assert_true(pgk_sample_names_rank(t, rank));
    for (uint32_t id = 1; id < n; id++) {
        assert_in_range(rank[id], 1, n - 1);
        assert_int_equal(by_rank[rank[id]], 0);
        by_rank[rank[id]] = id;
    }
    for (size_t i = 2; i < n; i++)
        assert_true(plain_order(&t->v.v[by_rank[i - 1]], &t->v.v[by_rank[i]]) < 0);
    free(rank);
    free(by_rank);
}

/* Names out of few letters, NULs among them, have much in common; long ones more than a word. */
static void names_are_in_the_order_of_their_bytes(void **state)
{
    (void)state;
    static const char letters[] = {'a', 'b', 0, (char)0xff};
    uint64_t seed = 7;
    for (size_t round = 0; round < 60; round++) {
        struct pgk_sample_names t = {0};
        char text[200];
        for (size_t i = 0; i < 1 + round * 5; i++) {
            size_t len = next_random(&seed) % (round % 3 ? 12 : sizeof text);
            size_t same = round % 2 ? len - len / 8 : 0;
            for (size_t k = 0; k < len; k++)
                text[k] = k < same ? 'x' : letters[next_random(&seed) % 4];
            assert_int_not_equal(pgk_sample_names_add(&t, text, len), 0);
            if (round % 5 == 0)
                assert_int_not_equal(pgk_sample_names_add_guid(&t, next_random(&seed)), 0);
        }
        check_ranks(&t);
        pgk_sample_names_free(&t);
    }
}

/* Where every choice of a middle is a bad one. */
static void names_are_sorted_like_by_quicksort(void **state)
{
    (void)state;
    struct pgk_sample_names t = {0};
    char text[16];
    for (unsigned i = 0; i < 3000; i++) {
        unsigned organ_pipe = i < 1500 ? 2 * i : 2 * (3000 - i) - 1;
        snprintf(text, sizeof text, "%04u", organ_pipe);
        assert_int_not_equal(pgk_sample_names_add(&t, text, strlen(text)), 0);
    }
    check_ranks(&t);
    pgk_sample_names_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_sorted),
        cmocka_unit_test(a_lack_of_memory_is_reported),
        cmocka_unit_test(names_are_in_the_order_of_their_bytes),
        cmocka_unit_test(names_are_sorted_like_by_quicksort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
