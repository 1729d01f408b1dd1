/* What merging means: order and grouping do not show, counts saturate, contradictions are
 * found. */
#include "instr_samples.h"

static const uint64_t ir = SAMPLE_BIT(IR);

static void assert_same_text(const struct pgk_instr *a, const struct pgk_instr *b)
{
    char *x = sample_text(a), *y = sample_text(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void test_order_and_grouping(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const uint64_t weights[] = {1, 10, 3};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct pgk_instr *want = NULL;
        for (int grouping = 0; grouping < 3; grouping++)
            for (int o = 0; o < 6; o++) {
                struct pgk_instr *sum = sample_instr(), *part = sample_instr();
                for (int i = 0; i < 3; i++) {
                    int k = orders[o][i];
                    uint64_t flags = ir | (k ? SAMPLE_BIT(TEMPORAL) : 0);
                    /* Straight, in a part of its own, or the first two together. */
                    bool apart = grouping == 1 || (grouping == 2 && i < 2);
                    sample_instr_fill(apart ? part : sum, seed * 3 + (uint64_t)k, 40, flags,
                                      weights[k]);
                    if (grouping == 1 || (grouping == 2 && i == 1)) {
                        assert_int_equal(pgk_instr_merge(sum, part, 1, NULL), 0);
                        pgk_instr_close(&part);
                        part = sample_instr();
                    }
                }
                pgk_instr_close(&part);
                if (!want) {
                    want = sum;
                    continue;
                }
                assert_same_text(want, sum);
                pgk_instr_close(&sum);
            }
        pgk_instr_close(&want);
    }
}

/* The plain version: pairs of equal values from the largest counts down. */
static size_t plain_merge(struct pgk_instr_value *a, size_t n, const struct pgk_instr_value *b,
                          size_t m, uint64_t weight)
{
    bool taken[64] = {false}, used[64] = {false};
    for (size_t round = 0; round < m; round++) {
        size_t best = SIZE_MAX, into = SIZE_MAX;
        for (size_t k = 0; k < m; k++)
            if (!used[k] && (best == SIZE_MAX || b[k].count > b[best].count))
                best = k;
        used[best] = true;
        for (size_t i = 0; i < n; i++)
            if (!taken[i] && a[i].value == b[best].value &&
                (into == SIZE_MAX || a[i].count > a[into].count))
                into = i;
        if (into == SIZE_MAX) {
            into = n++;
            a[into] = (struct pgk_instr_value){b[best].value, 0};
        }
        a[into].count += b[best].count * weight;
        taken[into] = true;
    }
    return n;
}

static int by_all(const void *a, const void *b)
{
    const struct pgk_instr_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->count > y->count ? -1 : x->count < y->count;
}

static void test_sites_against_plain(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 2000; round++) {
        struct pgk_instr *p = sample_instr();
        struct pgk_instr_adder a;
        struct pgk_value_data d = {0};
        struct pgk_instr_value plain[64];
        size_t n = 0;
        assert_true(pgk_instr_adder_init(&a, p, "t", 1));
        struct pgk_instr_record r = {
            .name = sample_name(p, &p->names, 1), .counts = &seed, .n_counts = 1, .values = &d};
        for (int input = 0; input < 4; input++) {
            pgk_value_data_clear(&d);
            a.weight = 1 + sample_below(&seed, 3);
            uint32_t m = (uint32_t)sample_below(&seed, 8);
            assert_true(pgk_vec_push(&d.kind[1].counts, m));
            for (uint32_t i = 0; i < m; i++)
                assert_true(pgk_vec_push(
                    &d.kind[1].values,
                    (struct pgk_instr_value){sample_below(&seed, 4), sample_below(&seed, 9)}));
            n = plain_merge(plain, n, d.kind[1].values.v, m, a.weight);
            assert_int_equal(pgk_instr_add(&a, &r, NULL), 0);
        }
        const struct pgk_value_site *s = pgk_func_site(&p->funcs.v[0], PGK_VALUE_SIZE, 0);
        qsort(plain, n, sizeof *plain, by_all);
        assert_int_equal(s->n, n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(s->v[i].value, plain[i].value);
            assert_int_equal(s->v[i].count, plain[i].count);
        }
        pgk_value_data_free(&d);
        pgk_instr_close(&p);
    }
}

static uint64_t merged_count(const char *one, uint64_t weight, const char *other,
                             uint64_t other_weight, size_t counter)
{
    struct pgk_instr *p = sample_instr();
    struct pgk_instr_function f = {.struct_size = sizeof f};
    assert_int_equal(sample_read_text(p, one, weight, NULL), 0);
    assert_int_equal(sample_read_text(p, other, other_weight, NULL), 0);
    pgk_instr_function(p, 0, &f);
    uint64_t count = f.counts[counter];
    pgk_instr_close(&p);
    return count;
}

#define FUNC(counts) ":ir\nf\n10\n2\n" counts

static void test_saturation(void **state)
{
    (void)state;
    const char *small = FUNC("1\n5\n"), *large = FUNC("1\n18446744073709551610\n"),
               *largest = FUNC("1\n18446744073709551613\n");
    assert_int_equal(merged_count(small, 1, small, 3, 1), 20);
    assert_int_equal(merged_count(large, 1, small, 1, 1), PGK_COUNT_MAX);
    assert_int_equal(merged_count(small, 1, large, 1, 1), PGK_COUNT_MAX);
    assert_int_equal(merged_count(small, 1, large, 1000, 1), PGK_COUNT_MAX);
    assert_int_equal(merged_count(largest, 1, largest, 1, 1), PGK_COUNT_MAX);
    assert_int_equal(merged_count(largest, 1, largest, 7, 0), 8);
}

/* Hot and warm are no counts. A function that was counted beats them, in any order. */
static void test_pseudo_counts(void **state)
{
    (void)state;
    const char *hot = FUNC("18446744073709551615\n0\n"), *warm = FUNC("18446744073709551614\n0\n"),
               *real = FUNC("3\n4\n");
    assert_int_equal(merged_count(hot, 5, warm, 1, 0), PGK_COUNT_HOT);
    assert_int_equal(merged_count(warm, 5, hot, 1, 0), PGK_COUNT_HOT);
    assert_int_equal(merged_count(warm, 5, warm, 2, 0), PGK_COUNT_WARM);
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(merged_count(hot, 1, real, 2, c), 2 * (3 + c));
        assert_int_equal(merged_count(real, 2, hot, 1, c), 2 * (3 + c));
    }
}

static void test_conflicts(void **state)
{
    (void)state;
    static const char *const pairs[][3] = {
        {":ir\nf\n10\n2\n1\n2\n", ":ir\nf\n10\n1\n1\n", "counters"},
        {"f\n10\n1\n1\n$1\n1\n", "f\n10\n1\n1\n$2\n1\n1\n", "bitmap bytes"},
        {":ir\nf\n10\n1\n1\n1\n0\n1\n0\n", ":ir\nf\n10\n1\n1\n1\n0\n2\n0\n0\n",
         "sites of indirect calls"},
        {":ir\nf\n10\n1\n1\n1\n1\n1\n0\n", ":ir\nf\n10\n1\n1\n1\n1\n2\n0\n0\n",
         "sites of memory operations"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(pairs); i++)
        for (int turn = 0; turn < 2; turn++) {
            struct pgk_instr *p = sample_instr();
            struct pgk_instr_conflict c = {.struct_size = sizeof c};
            struct pgk_err err = {0};
            assert_int_equal(sample_read_text(p, pairs[i][turn], 1, NULL), 0);
            assert_int_equal(sample_read_text(p, pairs[i][!turn], 1, NULL), 0);
            assert_int_equal(
                sample_read_text(p, pairs[i][0][0] == ':' ? ":ir\ng\n1\n1\n1\n" : "g\n1\n1\n1\n", 1,
                                 NULL),
                0);
            assert_int_equal(pgk_instr_conflicts(p), 1);
            pgk_instr_conflict(p, 0, &c);
            assert_string_equal(c.name, "f");
            assert_string_equal(c.what, pairs[i][2]);
            assert_int_equal(pgk_instr_check_writable(p, "x", "test", &err), PGK_E_MISMATCH);
            assert_int_equal(pgk_instr_drop_conflicts(p, NULL), 0);
            assert_int_equal(pgk_instr_functions(p), 1);
            assert_int_equal(pgk_instr_check_writable(p, "x", "test", NULL), 0);
            char *text = sample_text(p);
            assert_null(strstr(text, "f\n# Func Hash"));
            free(text);
            pgk_instr_close(&p);
        }
}

/* Kept as the first input has them, with those that agree with it. */
static void test_kept_conflicts(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    const char *two = FUNC("1\n2\n");
    assert_int_equal(sample_read_text(p, two, 1, NULL), 0);
    assert_int_equal(sample_read_text(p, ":ir\nf\n10\n1\n9\n", 1, NULL), 0);
    assert_int_equal(sample_read_text(p, two, 1, NULL), 0);
    assert_int_equal(pgk_instr_conflicts(p), 1);
    pgk_instr_keep_conflicts(p);
    assert_int_equal(pgk_instr_check_writable(p, "x", "test", NULL), 0);
    char *text = sample_text(p);
    assert_non_null(strstr(text, "2\n4\n"));
    assert_null(strstr(text, "9\n"));
    free(text);
    pgk_instr_close(&p);
}

static void test_mixed_counts(void **state)
{
    (void)state;
    const char *warm = FUNC("18446744073709551614\n0\n"), *real = FUNC("3\n4\n");
    for (int turn = 0; turn < 3; turn++) {
        struct pgk_instr *p = sample_instr();
        assert_int_equal(sample_read_text(p, turn == 1 ? warm : real, 1, NULL), 0);
        assert_int_equal(sample_read_text(p, turn ? real : warm, 1, NULL), 0);
        assert_int_equal(pgk_instr_mixed(p, 0), turn != 2);
        pgk_instr_close(&p);
    }
}

/* What one input lacks altogether is no contradiction, and is not lost. */
static void test_missing_parts(void **state)
{
    (void)state;
    const char *without = ":ir\nf\n10\n1\n1\n", *with = ":ir\nf\n10\n1\n1\n1\n1\n1\n1\n8:5\n";
    for (int turn = 0; turn < 2; turn++) {
        struct pgk_instr *p = sample_instr();
        assert_int_equal(sample_read_text(p, turn ? without : with, 1, NULL), 0);
        assert_int_equal(sample_read_text(p, turn ? with : without, 1, NULL), 0);
        assert_int_equal(pgk_instr_conflicts(p), 0);
        char *text = sample_text(p);
        assert_non_null(strstr(text, "8:5\n"));
        free(text);
        pgk_instr_close(&p);
    }
}

static void test_kinds_do_not_mix(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    struct pgk_err err = {0};
    assert_int_equal(sample_read_text(p, ":ir\nf\n1\n1\n1\n", 1, NULL), 0);
    assert_int_equal(sample_read_text(p, ":csir\ng\n1\n1\n1\n", 1, NULL), 0);
    assert_int_equal(sample_read_text(p, "f\n1\n1\n1\n", 1, &err), PGK_E_MISMATCH);
    assert_string_equal(err.found, "front-end");
    assert_int_equal(sample_read_text(p, ":ir\n:single_byte_coverage\nf\n1\n1\n1\n", 1, &err),
                     PGK_E_MISMATCH);
    assert_string_equal(pgk_instr_origin_text(p), "IR with contexts");
    pgk_instr_close(&p);
}

static void test_drop_unused(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    size_t dropped;
    /* All hashes of a name stay if one of them ran. */
    assert_int_equal(
        sample_read_text(p, "a\n1\n1\n0\nb\n1\n1\n0\nb\n2\n1\n3\nc\n1\n1\n0\n$1\n4\n", 1, NULL), 0);
    assert_int_equal(pgk_instr_drop_unused(p, &dropped, NULL), 0);
    assert_int_equal(dropped, 1);
    assert_int_equal(pgk_instr_functions(p), 3);
    assert_int_equal(pgk_instr_lookup(p, pgk_md5_low64("a", 1), 1), SIZE_MAX);
    assert_int_not_equal(pgk_instr_lookup(p, pgk_md5_low64("b", 1), 1), SIZE_MAX);
    pgk_instr_close(&p);
}

static void test_overlap(void **state)
{
    (void)state;
    struct pgk_instr *a = sample_instr(), *b = sample_instr(), *none = sample_instr();
    struct pgk_instr_overlap o = {.struct_size = sizeof o};
    assert_int_equal(sample_read_text(a, "f\n1\n2\n6\n2\ng\n1\n1\n2\n", 1, NULL), 0);
    assert_int_equal(sample_read_text(b, "f\n1\n2\n1\n1\ng\n2\n1\n1\nh\n1\n1\n1\n", 1, NULL), 0);
    assert_int_equal(pgk_instr_overlap(a, a, false, &o, NULL), 0);
    assert_true(o.counters > 0.999999 && o.counters < 1.000001);
    assert_int_equal(pgk_instr_overlap(a, b, false, &o, NULL), 0);
    /* f: min(6/10, 1/4) + min(2/10, 1/4) */
    assert_true(o.counters > 0.4499 && o.counters < 0.4501);
    assert_int_equal(o.matched, 1);
    assert_int_equal(o.mismatched, 1);
    assert_int_equal(o.only_test, 1);
    assert_int_equal(o.only_base, 0);
    assert_true(o.values[PGK_VALUE_CALL] < 0);
    assert_int_equal(pgk_instr_overlap(a, none, false, &o, NULL), PGK_E_MISMATCH);
    assert_int_equal(pgk_instr_overlap(a, b, true, &o, NULL), PGK_E_EMPTY);
    pgk_instr_close(&a);
    pgk_instr_close(&b);
    pgk_instr_close(&none);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct pgk_instr *from = sample_instr();
    sample_instr_fill(from, 4, 12, ir | SAMPLE_BIT(TEMPORAL), 1);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_instr *into = NULL;
        pgk_mem_fail_after(nth);
        status = pgk_instr_new(&into, NULL);
        if (!status)
            status = pgk_instr_merge(into, from, 2, NULL);
        if (!status)
            status = pgk_instr_merge(into, from, 1, NULL);
        if (!status)
            status = pgk_instr_drop_unused(into, NULL, NULL);
        pgk_mem_fail_after(0);
        pgk_instr_close(&into);
        assert_in_range(nth, 1, 1000);
    }
    assert_int_equal(status, 0);
    pgk_instr_close(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_grouping),
        cmocka_unit_test(test_sites_against_plain),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_pseudo_counts),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_kept_conflicts),
        cmocka_unit_test(test_mixed_counts),
        cmocka_unit_test(test_missing_parts),
        cmocka_unit_test(test_kinds_do_not_mix),
        cmocka_unit_test(test_drop_unused),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
