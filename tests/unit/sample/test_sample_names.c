/* Names of functions, by spelling and by GUID. */
#include "sample_names.h"

#include "hash.h"
#include "pgk_test.h"

static uint32_t add(struct pgk_sample_names *t, const char *s)
{
    uint32_t id = pgk_sample_names_add(t, s, strlen(s));
    assert_int_not_equal(id, 0);
    return id;
}

static void one_spelling_is_one_name(void **state)
{
    struct pgk_sample_names t = {0};
    (void)state;
    uint32_t first = add(&t, "main"), second = add(&t, "parse");
    assert_int_not_equal(first, second);
    assert_int_equal(add(&t, "main"), first);
    assert_int_equal(pgk_sample_names_find(&t, "parse", 5), second);
    assert_int_equal(pgk_sample_names_find(&t, "pars", 4), 0);
    assert_false(pgk_sample_names_unspelled(&t));
    pgk_sample_names_free(&t);
}

static void a_guid_and_its_spelling_are_one_name(void **state)
{
    const uint64_t main_guid = pgk_md5_low64("main", 4), parse_guid = pgk_md5_low64("parse", 5);
    struct pgk_sample_names t = {0};
    (void)state;
    uint32_t spelled = add(&t, "main"), number = pgk_sample_names_add_guid(&t, parse_guid);
    assert_int_equal(pgk_sample_names_add_guid(&t, main_guid), spelled);
    assert_true(pgk_sample_names_unspelled(&t));
    assert_null(t.list.v[number].s);
    assert_int_equal(add(&t, "parse"), number);
    assert_string_equal(t.list.v[number].s, "parse");
    assert_false(pgk_sample_names_unspelled(&t));
    assert_int_equal(pgk_name_guid(&t.list.v[spelled]), main_guid);
    assert_int_equal(pgk_sample_names_guid(&t, number), parse_guid);
    pgk_sample_names_free(&t);
}

static void only_names_that_are_there_are_spelled(void **state)
{
    struct pgk_sample_names t = {0};
    (void)state;
    uint32_t number = pgk_sample_names_add_guid(&t, pgk_md5_low64("main", 4));
    assert_true(pgk_sample_names_spell(&t, "other", 5));
    assert_null(t.list.v[number].s);
    assert_int_equal(pgk_sample_names_find(&t, "other", 5), 0);
    assert_true(pgk_sample_names_spell(&t, "main", 4));
    assert_string_equal(t.list.v[number].s, "main");
    pgk_sample_names_free(&t);
}

static void suffixes_that_compilers_drop(void **state)
{
    static const struct {
        const char *name;
        size_t length;
    } cases[] = {{"f", 1},           {"f.llvm.", 1},        {"f.llvm.12", 1}, {"f.part.0", 1},
                 {"f.cold", 6},      {"f.llvm.1.cold", 13}, {"f.part.0.llvm.7", 1},
                 {"f.llvm.7.part.0", 8}, {"", 0}};
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++)
        assert_int_equal(pgk_sample_drop_suffixes(cases[i].name, strlen(cases[i].name)),
                         cases[i].length);
}

static void suffixes_that_end_with_a_number(void **state)
{
    static const char *const suffixes[] = {".isra.", ".part."};
    static const struct {
        const char *name;
        size_t length;
    } cases[] = {{"f.isra.0", 1},    {"f.part.12", 1},     {"f.isra.0.part.1", 8}, {"f", 1},
                 {"f.isra.", 7},     {"f.isra.0.cold", 13}, {".isra.0", 7},         {"f0", 2},
                 {"12", 2},          {"", 0}};
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++)
        assert_int_equal(pgk_sample_drop_numbered(cases[i].name, strlen(cases[i].name), suffixes,
                                                  PGK_COUNTOF(suffixes)),
                         cases[i].length);
}

/* ---- order ---- */

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
    size_t n = t->list.n;
    uint32_t *rank = calloc(n, sizeof *rank), *by_rank = calloc(n, sizeof *by_rank);
    assert_true(pgk_sample_names_rank(t, rank));
    for (uint32_t id = 1; id < n; id++) {
        assert_in_range(rank[id], 1, n - 1);
        assert_int_equal(by_rank[rank[id]], 0);
        by_rank[rank[id]] = id;
    }
    for (size_t i = 2; i < n; i++)
        assert_true(plain_order(&t->list.v[by_rank[i - 1]], &t->list.v[by_rank[i]]) < 0);
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
            size_t len = test_random(&seed) % (round % 3 ? 12 : sizeof text);
            size_t same = round % 2 ? len - len / 8 : 0;
            for (size_t k = 0; k < len; k++)
                text[k] = k < same ? 'x' : letters[test_random(&seed) % 4];
            assert_int_not_equal(pgk_sample_names_add(&t, text, len), 0);
            if (round % 5 == 0)
                assert_int_not_equal(pgk_sample_names_add_guid(&t, test_random(&seed)), 0);
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
        cmocka_unit_test(one_spelling_is_one_name),
        cmocka_unit_test(a_guid_and_its_spelling_are_one_name),
        cmocka_unit_test(only_names_that_are_there_are_spelled),
        cmocka_unit_test(suffixes_that_compilers_drop),
        cmocka_unit_test(suffixes_that_end_with_a_number),
        cmocka_unit_test(names_are_in_the_order_of_their_bytes),
        cmocka_unit_test(names_are_sorted_like_by_quicksort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
