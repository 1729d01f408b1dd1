/* Counters as text, and counts of pairs. */
#include "address_counts.h"

#include "pgk_test.h"

enum { SPAN = 1 << PGK_CODE_PAGE_BITS, BASE = 0x1000 };

static struct pgk_code *some_code(void)
{
    static uint8_t marks[SPAN], pages[1] = {1};
    static struct pgk_code code = {.base = BASE, .span = SPAN, .marks = marks, .pages = pages};
    for (size_t i = 0; i < SPAN; i += 2)
        marks[i] = 2;
    return &code;
}

struct counts {
    struct pgk_counters counters;
    struct pgk_call_trie calls;
    struct pgk_named_counts named;
    struct pgk_sample *profile;
    struct pgk_address_counts raw;
};

static bool any_ranges; /* what is read next may have those that do not fit */

static int read_as(struct counts *c, const char *text, bool as_seen, struct pgk_err *err)
{
    struct pgk_source src = {.file = "test", .format = "address counts"};
    assert_int_equal(pgk_sample_new(&c->profile, NULL), 0);
    c->raw = (struct pgk_address_counts){.counters = &c->counters,
                                         .calls = &c->calls,
                                         .named = &c->named,
                                         .profile = c->profile,
                                         .code = some_code(),
                                         .base = BASE,
                                         .limits = {.longest = SIZE_MAX},
                                         .any_ranges = any_ranges,
                                         .as_seen = as_seen};
    return pgk_address_counts_read(&c->raw, (const uint8_t *)text, strlen(text), &src, err);
}

static int read_text(struct counts *c, const char *text, struct pgk_err *err)
{
    return read_as(c, text, false, err);
}

static void release(struct counts *c)
{
    pgk_counters_free(&c->counters);
    pgk_call_trie_free(&c->calls);
    pgk_vec_free(&c->named.ranges.list);
    pgk_vec_free(&c->named.branches.list);
    pgk_sample_close(&c->profile);
    memset(c, 0, sizeof *c);
}

/* Read, put in order, and written again. */
static void check(const char *text, const char *expected)
{
    struct counts c = {0};
    struct pgk_sink *out;
    size_t n;
    assert_int_equal(read_text(&c, text, NULL), 0);
    pgk_pairs_sort(&c.counters.ranges);
    pgk_pairs_sort(&c.counters.branches);
    pgk_call_counts_sort(&c.calls.ranges);
    pgk_call_counts_sort(&c.calls.branches);
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    if (!c.named.ranges.list.n && !c.named.branches.list.n)
        c.raw.named = NULL;
    assert_int_equal(pgk_address_counts_write(&c.raw, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, &n);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(bytes, expected, n);
    pgk_sink_drop(&out);
    release(&c);
}

static void test_plain(void **state)
{
    (void)state;
    check("0\n0\n", "0\n0\n");
    check("2\n30-32:4\n  10-20:5 \r\n2\n20->30:18446744073709551615\nfffffffffffff001->10:7\n",
          "2\n10-20:5\n30-32:4\n2\nfffffffffffff001->10:7\n20->30:18446744073709551615\n");
    check("2\n10-20:5\n10-20:6\n0\n", "1\n10-20:11\n0\n");
}

static void test_contexts(void **state)
{
    (void)state;
    check("[0x40 @ 0x10]\n 1\n 10-20:5\n 0\n[]\n 0\n 1\n 2->4:1\n",
          "[]\n  0\n  1\n  2->4:1\n[0x40 @ 0x10]\n  1\n  10-20:5\n  0\n");
    check("[]\n1\n2-4:3\n0\n[main:3 @ b]\n 2\n 10-20:5\n10-20:1\n 1\n20->10:9\n[main]\n0\n0\n"
          "[main:3.1 @ a::b c:65535 @ b]\n0\n1\nfffffffffffff001->10:7\n",
          "[]\n  1\n  2-4:3\n  0\n"
          "[main:3 @ b]\n  1\n  10-20:6\n  1\n  20->10:9\n"
          "[main:3.1 @ a::b c:65535 @ b]\n  0\n  1\n  fffffffffffff001->10:7\n");
    /* Recursion is removed, which makes two contexts one. */
    check("[0x10 @ 0x10]\n1\n10-20:5\n0\n[0x10]\n1\n10-20:2\n0\n", "[0x10]\n  1\n  10-20:7\n  0\n");
}

/* Ranges that do not fit are refused, or cut to what is code. */
static void test_any_ranges(void **state)
{
    (void)state;
    static const char text[] = "2\n0-ffffffff:5\nffff0000-ffffffff:7\n0\n";
    struct counts c = {0};
    struct pgk_err err = {0};
    assert_int_equal(read_text(&c, text, &err), PGK_E_CORRUPT);
    release(&c);
    any_ranges = true;
    assert_int_equal(read_text(&c, text, &err), 0);
    any_ranges = false;
    assert_int_equal(c.counters.ranges.list.n, 1);
    const struct pgk_pair *range = &c.counters.ranges.list.v[0];
    assert_int_equal(range->count, 5);
    assert_true(pgk_code_is(c.raw.code, range->from) && pgk_code_is(c.raw.code, range->to));
    assert_true(range->from < range->to);
    assert_int_equal(c.raw.unfit, 12);
    release(&c);
}

/* What the windows of a recording saw, of counts that were multiplied; a text without a scale, or
 * with the scale 0, has its counts as they are. */
static void test_no_scale_undoes_the_scale(void **state)
{
    (void)state;
    static const char counts[] = "4\n10-20:98\n22-24:73\n26-28:74\n2a-2c:3\n";
    static const struct {
        const char *branches;
        uint64_t scale, ranges[4], branch;
    } rows[] = {
        {"2\n20->30:490\nfffffffffffff001->fffffffffffff001:49\n", 49, {2, 1, 2, 1}, 10},
        {"1\n20->30:490\n", 0, {98, 73, 74, 3}, 490},
        {"2\n20->30:490\nfffffffffffff001->fffffffffffff001:0\n", 0, {98, 73, 74, 3}, 490},
    };
    for (size_t row = 0; row < 3; row++) {
        struct counts c = {0};
        char text[200];
        snprintf(text, sizeof text, "%s%s", counts, rows[row].branches);
        assert_int_equal(read_as(&c, text, true, NULL), 0);
        assert_int_equal(c.raw.scale, rows[row].scale);
        pgk_pairs_sort(&c.counters.ranges);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(c.counters.ranges.list.v[i].count, rows[row].ranges[i]);
        assert_int_equal(c.counters.branches.list.v[0].count, rows[row].branch);
        release(&c);
        assert_int_equal(read_text(&c, text, NULL), 0);
        assert_int_equal(c.counters.branches.list.v[0].count, 490);
        release(&c);
    }
}

static void refuse(const char *text, const char *record, const char *field)
{
    struct counts c = {0};
    struct pgk_err err = {0};
    assert_true(read_text(&c, text, &err) < 0);
    assert_string_equal(err.record, record);
    assert_string_equal(err.field, field);
    release(&c);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("x\n", "line 1", "number of ranges");
    refuse("1\n", "line 2", "range");
    refuse("1\n10-20\n", "line 2", "range");
    refuse("1\n10-20:-1\n", "line 2", "range");
    refuse("1\n10-20:18446744073709551616\n", "line 2", "range");
    refuse("1\n10->20:1\n", "line 2", "range");
    refuse("1\n10-21:1\n0\n", "line 2", "range"); /* no instruction */
    refuse("1\n10-20:1\n", "line 3", "number of branches");
    refuse("0\n1\n10-20:1\n", "line 3", "branch");
    refuse("0\n0\n0\n", "line 3", "end");
    refuse("[main:3 @ f]\n0\n0\n[0x10]\n0\n0\n", "line 4", "context");
    refuse("[main @ f]\n0\n0\n", "line 1", "context");
    refuse("[main:x @ f]\n0\n0\n", "line 1", "context");
    refuse("[main:3.x @ f]\n0\n0\n", "line 1", "context");
    refuse("[main:65536 @ f]\n0\n0\n", "line 1", "context");
    refuse("[main:3 @ ]\n0\n0\n", "line 1", "context");
    refuse("[main:3 @  @ f]\n0\n0\n", "line 1", "context");
    refuse("[main\n0\n0\n", "line 1", "context");
    refuse("[0x10 @]\n0\n0\n", "line 1", "context");
    refuse("[0x10]\n0\n0\nx\n", "line 4", "context");
}

static bool sniff(const char *text)
{
    return pgk_address_counts_sniff((const uint8_t *)text, strlen(text));
}

static void test_sniff(void **state)
{
    (void)state;
    assert_true(sniff("1\n10-20:1\n") && sniff("0\n0\n") && sniff("[]\n  0\n") &&
                sniff("[0x1 @ 0x2]\n  3\n"));
    assert_false(sniff("") || sniff("\n") || sniff("5\n") || sniff("5\n  10 0x1/0x2/\n") ||
                 sniff("[\n") || sniff("PERF_RECORD_MMAP2\n") || sniff("1\n10->20:1\n"));
}

static void test_pairs(void **state)
{
    (void)state;
    struct pgk_pairs pairs = {0};
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(pgk_pairs_add(&pairs, (i * 7) % 100, i % 3, 2));
    assert_int_equal(pairs.list.n, 300);
    pgk_pairs_sort(&pairs);
    uint64_t sum = 0;
    for (size_t i = 0; i < pairs.list.n; i++) {
        sum += pairs.list.v[i].count;
        assert_true(!i || pairs.list.v[i - 1].from < pairs.list.v[i].from ||
                    (pairs.list.v[i - 1].from == pairs.list.v[i].from &&
                     pairs.list.v[i - 1].to < pairs.list.v[i].to));
    }
    assert_true(sum == 2000);
    pgk_pairs_free(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_any_ranges),
        cmocka_unit_test(test_no_scale_undoes_the_scale),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sniff),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
