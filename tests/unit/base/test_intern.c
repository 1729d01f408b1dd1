/* Tests of string interning, against a plain list of strings. */
#include "pgk_test.h"

#include "intern.h"

static void equal_strings_have_equal_ids(void **state)
{
    (void)state;
    struct pgk_intern t = {0};
    uint32_t a = pgk_intern_cstr(&t, "alpha"), b = pgk_intern_cstr(&t, "beta");
    assert_int_not_equal(a, b);
    assert_int_not_equal(a, 0);
    assert_int_equal(pgk_intern(&t, "alphabet", 5), a);
    assert_int_not_equal(pgk_intern(&t, "alphabet", 6), a);
    assert_string_equal(pgk_intern_str(&t, a), "alpha");
    assert_int_equal(pgk_intern_len(&t, b), 4);
    pgk_intern_free(&t);
}

static void the_empty_string_is_id_0(void **state)
{
    (void)state;
    struct pgk_intern t = {0};
    assert_string_equal(pgk_intern_str(&t, 0), "");
    assert_int_equal(pgk_intern_len(&t, 0), 0);
    assert_int_equal(pgk_intern_cstr(&t, ""), 0);
    assert_int_equal(pgk_intern_cstr(&t, NULL), 0);
    assert_int_equal(pgk_intern(&t, "x", 0), 0);
    assert_int_equal(pgk_intern_cstr(&t, "x"), 1);
    assert_int_equal(pgk_intern(&t, NULL, 0), 0);
    assert_string_equal(pgk_intern_str(&t, 0), "");
    pgk_intern_free(&t);
    pgk_intern_free(&t);
}

static void strings_may_hold_any_bytes(void **state)
{
    (void)state;
    struct pgk_intern t = {0};
    uint32_t a = pgk_intern(&t, "a\0b", 3), b = pgk_intern(&t, "a\0c", 3);
    uint32_t c = pgk_intern(&t, "\0", 1);
    assert_int_not_equal(a, b);
    assert_int_not_equal(c, 0);
    assert_memory_equal(pgk_intern_str(&t, b), "a\0c", 4);
    assert_int_equal(pgk_intern_len(&t, c), 1);
    pgk_intern_free(&t);
}

static void same_as_a_plain_list(void **state)
{
    (void)state;
    enum { N = 4000, MAX = 40 };
    static char list[N][MAX + 1];
    static size_t lens[N];
    uint32_t known = 1; /* 0 is the empty string */
    uint64_t seed = 11;
    struct pgk_intern t = {0};
    for (int round = 0; round < 20000 && known < N; round++) {
        /* Few letters, so that many are equal or begin alike. */
        char s[MAX + 1] = {0};
        size_t len = test_random(&seed) % (round % 4 ? 7 : MAX);
        for (size_t i = 0; i < len; i++)
            s[i] = (char)('a' + test_random(&seed) % 3);
        uint32_t expected = 0;
        while (expected < known && (lens[expected] != len || memcmp(list[expected], s, len) != 0))
            expected++;
        uint32_t got = pgk_intern(&t, s, len);
        if (got != expected)
            fail_msg("\"%s\" is %u, a plain list says %u", s, got, expected);
        if (expected == known) {
            memcpy(list[known], s, sizeof s);
            lens[known++] = len;
        }
    }
    assert_true(known > 1000);
    for (uint32_t id = 0; id < known; id++) {
        assert_int_equal(pgk_intern_len(&t, id), lens[id]);
        assert_string_equal(pgk_intern_str(&t, id), list[id]);
    }
    pgk_intern_free(&t);
}

static void texts_stay_where_they_are(void **state)
{
    (void)state;
    struct pgk_intern t = {0};
    uint32_t first = pgk_intern_cstr(&t, "first");
    const char *s = pgk_intern_str(&t, first);
    for (int i = 0; i < 100000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(pgk_intern_cstr(&t, name), first + 1 + (uint32_t)i);
    }
    assert_ptr_equal(pgk_intern_str(&t, first), s);
    assert_string_equal(s, "first");
    pgk_intern_free(&t);
}

static void running_out_of_memory_keeps_what_was_there(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 25; nth++) {
        struct pgk_intern t = {0};
        pgk_mem_fail_after(nth);
        char name[32];
        uint32_t n = 0;
        for (;; n++) {
            snprintf(name, sizeof name, "name %u", n);
            if (pgk_intern_cstr(&t, name) == PGK_INDEX_NONE)
                break;
        }
        assert_int_equal(pgk_intern_cstr(&t, ""), 0);
        pgk_mem_fail_after(0);
        for (uint32_t i = 0; i <= n; i++) {
            snprintf(name, sizeof name, "name %u", i);
            assert_int_equal(pgk_intern_cstr(&t, name), i + 1);
            assert_string_equal(pgk_intern_str(&t, i + 1), name);
        }
        pgk_intern_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_strings_have_equal_ids),
        cmocka_unit_test(the_empty_string_is_id_0),
        cmocka_unit_test(strings_may_hold_any_bytes),
        cmocka_unit_test(same_as_a_plain_list),
        cmocka_unit_test(texts_stay_where_they_are),
        cmocka_unit_test(running_out_of_memory_keeps_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
