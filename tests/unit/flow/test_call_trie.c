/* Calling contexts without recursion, paths of the tree of calls. */
#include "call_trie.h"

#include "pgk_test.h"

#include <string.h>

/* Letters stand for frames. */
static void check_compressed(const char *frames, const char *expected)
{
    char v[64];
    size_t n = strlen(frames);
    memcpy(v, frames, n);
    v[pgk_compress_recursion(v, n, 1, SIZE_MAX)] = 0;
    assert_string_equal(v, expected);

    /* The same with larger items, which differ in their last bytes. */
    for (size_t size = 8; size <= 24; size += 8) {
        uint8_t items[64 * 24] = {0};
        for (size_t i = 0; i < n; i++)
            items[i * size + size - 1] = (uint8_t)frames[i];
        assert_int_equal(pgk_compress_recursion(items, n, size, SIZE_MAX), strlen(expected));
        for (size_t i = 0; i < strlen(expected); i++)
            assert_int_equal(items[i * size + size - 1], expected[i]);
    }
}

static void test_compress_many(void **state)
{
    (void)state;
    enum { PERIOD = 90, N = 3 * PERIOD };
    uint64_t v[N];
    for (size_t i = 0; i < N; i++)
        v[i] = i % PERIOD;
    assert_int_equal(pgk_compress_recursion(v, N, sizeof *v, SIZE_MAX), PERIOD);
    for (size_t i = 0; i < PERIOD; i++)
        assert_int_equal(v[i], i);
    assert_int_equal(pgk_compress_recursion(v, PERIOD, sizeof *v, SIZE_MAX), PERIOD);
}

static void test_compress(void **state)
{
    (void)state;
    check_compressed("", "");
    check_compressed("a", "a");
    check_compressed("aa", "a");
    check_compressed("ababc", "abc");
    check_compressed("aabb", "ab");
    check_compressed("abcabcabc", "abc");
    check_compressed("aaabaaab", "ab"); /* the shortest period first */
    check_compressed("abcb", "abcb");   /* repetitions must be neighbours */
    check_compressed("xababyababz", "xabyabz");
}

static void check_limited(const char *frames, size_t longest, const char *expected)
{
    char v[64] = "";
    size_t n = strlen(frames);
    memcpy(v, frames, n);
    v[pgk_compress_recursion(v, n, 1, longest)] = 0;
    assert_string_equal(v, expected);
}

static void test_compress_short_ones_only(void **state)
{
    (void)state;
    check_limited("aabab", 0, "aabab");
    check_limited("aabab", 1, "abab");
    check_limited("aabab", 2, "ab");
    check_limited("abcabc", 2, "abcabc");
    check_limited("abcabc", 3, "abc");
}

static void test_path(void **state)
{
    (void)state;
    struct pgk_call_trie trie = {0};
    pgk_addr_vec calls = {0};
    const uint64_t callers[] = {0x30, 0x20, 0x10}; /* innermost first */
    uint32_t node = pgk_call_trie_find(&trie, callers, 3);
    assert_int_not_equal(node, PGK_INDEX_NONE);
    assert_int_equal(pgk_call_trie_find(&trie, callers, 3), node);
    assert_true(pgk_call_trie_path(&trie, node, &calls));
    assert_int_equal(calls.n, 3);
    assert_int_equal(calls.v[0], 0x10);
    assert_int_equal(calls.v[2], 0x30);

    /* What called from elsewhere hides its callers; 0 is no call. */
    const uint64_t mixed[] = {0x50, 0, PGK_ADDR_EXTERNAL, 0x10};
    node = pgk_call_trie_find(&trie, mixed, 4);
    assert_true(pgk_call_trie_path(&trie, node, &calls));
    assert_int_equal(calls.n, 1);
    assert_int_equal(calls.v[0], 0x50);
    assert_int_equal(pgk_call_trie_find(&trie, NULL, 0), PGK_CALL_ROOT);
    pgk_vec_free(&calls);
    pgk_call_trie_free(&trie);
}

static void test_counts(void **state)
{
    (void)state;
    struct pgk_call_trie trie = {0};
    assert_true(pgk_call_counts_add(&trie.branches, 2, 8, 9, 5));
    assert_true(pgk_call_counts_add(&trie.branches, 1, 8, 9, 1));
    assert_true(pgk_call_counts_add(&trie.branches, 2, 8, 9, UINT64_MAX));
    pgk_call_counts_sort(&trie.branches);
    pgk_call_counts_sort(&trie.branches);
    assert_int_equal(trie.branches.list.n, 2);
    assert_int_equal(trie.branches.list.v[0].node, 1);
    assert_int_equal(trie.branches.list.v[0].count, 1);
    assert_true(trie.branches.list.v[1].count == UINT64_MAX); /* sums stop there */
    pgk_call_trie_free(&trie);
}

/* Many, in no order, of few nodes and keys. */
static void test_many_counts(void **state)
{
    (void)state;
    enum { MANY = 300000, NODES = 7, KEYS = 100 };
    struct pgk_call_counts counts = {0};
    uint64_t sum = 0;
    for (uint64_t i = 0; i < MANY; i++)
        assert_true(pgk_call_counts_add(&counts, (uint32_t)(i * 3 % NODES), i % KEYS, 1, 1));
    assert_true(counts.list.n < MANY); /* memory grows with keys only */
    pgk_call_counts_sort(&counts);
    assert_int_equal(counts.list.n, NODES * KEYS);
    for (size_t i = 0; i < counts.list.n; i++) {
        assert_int_equal(counts.list.v[i].node, i / KEYS);
        assert_int_equal(counts.list.v[i].from, i % KEYS);
        sum += counts.list.v[i].count;
    }
    assert_true(sum == MANY);
    pgk_vec_free(&counts.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compress),
        cmocka_unit_test(test_compress_short_ones_only),
        cmocka_unit_test(test_compress_many),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_many_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
