#include "call_align.h"
#include "index.h"
#include "pgk_test.h"

enum { MAX = 12 };

/* Calls of functions 1, 2, ...; 0 is a call by address. */
struct side {
    struct pgk_anchor place[MAX];
    unsigned callee[MAX];
    size_t n;
};
struct both {
    struct side old, now;
    struct pgk_aligned to[MAX];
};

static unsigned alike(void *ctx, size_t i, size_t j)
{
    const struct both *b = ctx;
    return b->old.callee[i] == b->now.callee[j] ? 2 : !b->now.callee[j];
}

static void add(struct side *s, uint32_t line, uint32_t column, unsigned callee)
{
    s->place[s->n] = (struct pgk_anchor){line, column, false};
    s->callee[s->n++] = callee;
}

static void align(struct both *b)
{
    assert_int_equal(pgk_calls_align(b->old.place, b->old.n, b->now.place, b->now.n, alike, b,
                                     b->to, NULL), 0);
}

static void expect(const struct both *b, size_t i, uint32_t to, bool ambiguous)
{
    assert_int_equal(b->to[i].to, to);
    assert_int_equal(b->to[i].ambiguous, ambiguous);
}

static void lines_move_together(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 3, 5, 1);
    add(&b.old, 7, 5, 2);
    add(&b.old, 9, 5, 1);
    add(&b.now, 1, 5, 1); /* new */
    add(&b.now, 5, 5, 1);
    add(&b.now, 9, 5, 2);
    add(&b.now, 11, 5, 1);
    align(&b);
    expect(&b, 1, 2, false);
    expect(&b, 2, 3, false);
    expect(&b, 0, 1, false);
}

static void one_of_two_is_a_guess(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 3, 5, 1);
    add(&b.now, 6, 5, 1);
    add(&b.now, 9, 5, 1);
    align(&b);
    assert_true(b.to[0].to != PGK_INDEX_NONE && b.to[0].ambiguous);
}

static void what_is_gone_has_no_partner(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 3, 5, 1);
    add(&b.old, 4, 5, 2);
    add(&b.now, 4, 9, 2);
    align(&b);
    expect(&b, 0, PGK_INDEX_NONE, false);
    expect(&b, 1, 0, false);
    b.now.n = 0;
    align(&b);
    expect(&b, 1, PGK_INDEX_NONE, false);
}

static void calls_of_one_macro_share_a_place(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 6, 7, 1);
    add(&b.old, 7, 5, 1); /* of a function that also stands at the place of the call before */
    add(&b.now, 6, 3, 1);
    align(&b);
    assert_true((b.to[0].to == PGK_INDEX_NONE) != (b.to[1].to == PGK_INDEX_NONE));
    b.now.place[0].several = true;
    align(&b);
    assert_int_equal(b.to[0].to, 0);
    assert_int_equal(b.to[1].to, 0);
}

/* A macro of several lines: what is behind its first line is of the same place. */
static void a_place_of_several_calls_has_no_rivals_behind(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 6, 7, 1);
    add(&b.now, 9, 9, 1);
    add(&b.now, 10, 9, 1);
    align(&b);
    assert_true(b.to[0].ambiguous);
    b.old.place[0].several = true;
    align(&b);
    expect(&b, 0, 0, false);
}

/* f(g()), of which one compiler has f before g, and the other one behind it. */
static void calls_of_one_line_may_cross(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 6, 4, 1);
    add(&b.old, 6, 9, 2);
    add(&b.now, 8, 9, 2);
    add(&b.now, 8, 20, 1);
    align(&b);
    assert_int_equal(b.to[0].to, 1);
    assert_int_equal(b.to[1].to, 0);
    b.now.place[0].offset = 7; /* on lines of their own they may not */
    align(&b);
    assert_true((b.to[0].to == PGK_INDEX_NONE) != (b.to[1].to == PGK_INDEX_NONE));
}

static void known_callees_come_before_unknown_ones(void **state)
{
    (void)state;
    struct both b = {0};
    add(&b.old, 3, 5, 1);
    add(&b.now, 3, 9, 0);
    add(&b.now, 8, 5, 1);
    align(&b);
    assert_int_equal(b.to[0].to, 1);
}

/* The number of pairs is that of the longest common subsequence, found the slow way. */
static size_t longest(const struct both *b, size_t i, size_t j)
{
    if (i == b->old.n || j == b->now.n)
        return 0;
    size_t left = longest(b, i + 1, j), right = longest(b, i, j + 1);
    size_t best = left > right ? left : right;
    if (b->old.callee[i] == b->now.callee[j] && longest(b, i + 1, j + 1) + 1 > best)
        best = longest(b, i + 1, j + 1) + 1;
    return best;
}

static void as_many_pairs_as_there_can_be(void **state)
{
    (void)state;
    uint64_t seed = 0;
    for (int round = 0; round < 300; round++) {
        struct both b = {0};
        size_t n_old = test_random(&seed) % 7, n_now = test_random(&seed) % 7, pairs = 0;
        for (size_t i = 0; i < n_old; i++)
            add(&b.old, (uint32_t)i * 3, 1, 1 + test_random(&seed) % 3);
        for (size_t j = 0; j < n_now; j++)
            add(&b.now, (uint32_t)j * 3 + test_random(&seed) % 3, 1, 1 + test_random(&seed) % 3);
        align(&b);
        uint32_t last = 0;
        for (size_t i = 0; i < b.old.n; i++) {
            if (b.to[i].to == PGK_INDEX_NONE)
                continue;
            assert_true(!pairs || b.to[i].to > last);
            last = b.to[i].to;
            pairs++;
        }
        assert_int_equal(pairs, longest(&b, 0, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_move_together),
        cmocka_unit_test(one_of_two_is_a_guess),
        cmocka_unit_test(what_is_gone_has_no_partner),
        cmocka_unit_test(calls_of_one_macro_share_a_place),
        cmocka_unit_test(a_place_of_several_calls_has_no_rivals_behind),
        cmocka_unit_test(calls_of_one_line_may_cross),
        cmocka_unit_test(known_callees_come_before_unknown_ones),
        cmocka_unit_test(as_many_pairs_as_there_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
