#include "heap_advice.h"

#include "file_info.h"
#include "heap_samples.h"
#include "heap_view.h"
#include "pgk_test.h"

/* 1000 objects of 64 B that live for a second each and are used a bit: nothing to say. */
static struct pgk_mib ordinary(void)
{
    struct pgk_mib m = {.known = (UINT64_C(1) << PGK_MIB_AccessHistogram) - 1};
    m.v[PGK_MIB_AllocCount] = 1000;
    m.v[PGK_MIB_TotalSize] = 64000;
    m.v[PGK_MIB_MinSize] = m.v[PGK_MIB_MaxSize] = 64;
    m.v[PGK_MIB_TotalAccessCount] = 5000;
    m.v[PGK_MIB_TotalLifetime] = 1000 * 1000;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 1000 * 100;
    return m;
}

static void know_times(struct pgk_mib *m)
{
    for (enum pgk_mib_id id = PGK_MIB_PeakSize; id <= PGK_MIB_TemporaryCount; id++)
        m->known |= UINT64_C(1) << id;
}

static void expect_only(const struct pgk_mib *m, enum pgk_advice_rule rule, uint64_t bytes)
{
    for (enum pgk_advice_rule r = 0; r < PGK_ADVICE_RULES; r++)
        assert_int_equal(pgk_advice_stake(r, m), r == rule ? bytes : 0);
}

static void ordinary_contexts_need_no_advice(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    expect_only(&m, PGK_ADVICE_RULES, 0);
    m.v[PGK_MIB_AllocCount] = 0;
    expect_only(&m, PGK_ADVICE_RULES, 0);
}

static void objects_never_used(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_TotalAccessCount] = 0;
    expect_only(&m, PGK_ADVICE_UNUSED, 64000);
    m.known &= ~(UINT64_C(1) << PGK_MIB_TotalAccessCount);
    expect_only(&m, PGK_ADVICE_RULES, 0);
}

static void short_lived_is_what_the_label_says(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_TotalLifetime] = 9999;
    expect_only(&m, PGK_ADVICE_SHORT_LIVED, 64000);
    m.v[PGK_MIB_TotalLifetime] = 10000;
    expect_only(&m, PGK_ADVICE_RULES, 0);
    m.v[PGK_MIB_TotalLifetime] = 0;
    m.v[PGK_MIB_AllocCount] = 1;
    expect_only(&m, PGK_ADVICE_SHORT_LIVED, 64000);
}

/* The buffer of stdout, and objects of which some were left. */
static void objects_left_at_exit_need_no_stack(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    know_times(&m);
    m.v[PGK_MIB_TotalLifetime] = 10;
    m.v[PGK_MIB_ExitCount] = 10;
    m.v[PGK_MIB_ExitSize] = 640;
    expect_only(&m, PGK_ADVICE_SHORT_LIVED, 63360);
    m.v[PGK_MIB_ExitCount] = m.v[PGK_MIB_AllocCount];
    m.v[PGK_MIB_ExitSize] = m.v[PGK_MIB_TotalSize];
    assert_int_equal(pgk_advice_stake(PGK_ADVICE_SHORT_LIVED, &m), 0);
}

static void cold_words_between_busy_ones(void **state)
{
    (void)state;
    const uint64_t hist[8] = {900, 0, 0, 100, 0, 0, 0, 5};
    struct pgk_mib m = ordinary();
    m.hist = hist;
    m.hist_count = 8;
    expect_only(&m, PGK_ADVICE_COLD_PART, 5 * 8 * 1000);
    /* objects of several sizes share a histogram */
    m.v[PGK_MIB_MinSize] = 8;
    expect_only(&m, PGK_ADVICE_RULES, 0);
}

static void tail_that_is_never_reached(void **state)
{
    (void)state;
    const uint64_t hist[8] = {900, 100};
    struct pgk_mib m = ordinary();
    m.hist = hist;
    m.hist_count = 8;
    expect_only(&m, PGK_ADVICE_TOO_LARGE, 64000 - 16 * 1000);
    /* an object may end before the last word used: then nothing is certain */
    m.v[PGK_MIB_MinSize] = 8;
    m.v[PGK_MIB_MaxSize] = 120;
    expect_only(&m, PGK_ADVICE_RULES, 0);
}

static void too_few_accesses_to_reach_all(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_TotalAccessCount] = 100;
    expect_only(&m, PGK_ADVICE_TOO_LARGE, 64000 - 100 * 64);
    m.v[PGK_MIB_TotalAccessCount] = 500;
    expect_only(&m, PGK_ADVICE_TOO_LARGE, 32000);
    m.v[PGK_MIB_TotalAccessCount] = 501;
    expect_only(&m, PGK_ADVICE_RULES, 0);
    m.v[PGK_MIB_TotalAccessCount] = UINT64_MAX;
    expect_only(&m, PGK_ADVICE_RULES, 0);
}

static void objects_freed_on_another_cpu(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_NumMigratedCpu] = 499;
    expect_only(&m, PGK_ADVICE_RULES, 0);
    m.v[PGK_MIB_NumMigratedCpu] = 500;
    expect_only(&m, PGK_ADVICE_FOREIGN_FREE, 32000);
    m.v[PGK_MIB_NumMigratedCpu] = UINT64_MAX;
    expect_only(&m, PGK_ADVICE_FOREIGN_FREE, 64000);
}

static void hints_follow_the_compiler(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 1000 * UINT64_C(100001);
    expect_only(&m, PGK_ADVICE_HOT, 64000);
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 0;
    m.v[PGK_MIB_TotalLifetime] = UINT64_C(1000) * 200000;
    expect_only(&m, PGK_ADVICE_COLD, 64000);
}

static void add(struct pgk_heap *h, uint64_t guid, const struct pgk_mib *m)
{
    uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, pgk_heap_func(h, guid, 0, 0, 0), 0);
    assert_int_equal(pgk_heap_add(h, pgk_stack_push(&h->stacks, 0, frame), m, NULL), 0);
}

static void savings_before_hints_and_large_before_small(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_advice_list list;
    struct pgk_mib cold = ordinary(), unused = ordinary(), more = ordinary();
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    cold.v[PGK_MIB_TotalLifetimeAccessDensity] = 0;
    cold.v[PGK_MIB_TotalLifetime] = UINT64_C(1000) * 200000;
    cold.v[PGK_MIB_TotalSize] = 1 << 30;
    cold.v[PGK_MIB_TotalAccessCount] = 1 << 30;
    unused.v[PGK_MIB_TotalAccessCount] = more.v[PGK_MIB_TotalAccessCount] = 0;
    more.v[PGK_MIB_TotalSize] = 70000;
    add(h, 1, &cold);
    add(h, 2, &unused);
    add(h, 3, &more);
    assert_int_equal(pgk_heap_advise(h, NULL, &list, NULL), 0);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.v[0].rule, PGK_ADVICE_UNUSED);
    assert_int_equal(list.v[0].bytes, 134000);
    assert_int_equal(list.v[0].objects, 2000);
    assert_int_equal(list.stakes[list.v[0].first].context, 2);
    assert_int_equal(list.stakes[list.v[0].first + 1].context, 1);
    assert_int_equal(list.v[1].rule, PGK_ADVICE_COLD);
    pgk_advice_free(&list);
    pgk_heap_close(&h);
}

/* Accesses of library functions alone do not tell what is unused, or how much is. */
static void some_accesses_are_no_reason(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_advice_list list;
    struct pgk_file_info info = {.facts = {[PGK_FACT_LIBRARY_ACCESSES] = true}};
    struct pgk_mib unused = ordinary(), brief = ordinary();
    unused.v[PGK_MIB_TotalAccessCount] = brief.v[PGK_MIB_TotalAccessCount] = 0;
    brief.v[PGK_MIB_TotalLifetime] = 1000;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    add(h, 1, &unused);
    add(h, 2, &brief);
    assert_int_equal(pgk_heap_advise(h, &info, &list, NULL), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].rule, PGK_ADVICE_SHORT_LIVED);
    assert_int_equal(list.v[0].bytes, brief.v[PGK_MIB_TotalSize]);
    pgk_advice_free(&list);
    pgk_heap_close(&h);
}

/* The system moves a thread between CPUs, and no other one frees what it made; nor is it known of
 * profiles that say nothing of their threads. */
static void one_thread_is_no_reason(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_advice_list list;
    struct pgk_file_info one = {.facts = {[PGK_FACT_PROCESSES] = 1, [PGK_FACT_ONE_THREAD] = true}},
                         several = {.facts = {[PGK_FACT_PROCESSES] = 1}}, silent = {0};
    struct pgk_mib moved = ordinary();
    moved.v[PGK_MIB_NumMigratedCpu] = moved.v[PGK_MIB_AllocCount];
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    add(h, 1, &moved);
    assert_int_equal(pgk_heap_advise(h, &several, &list, NULL), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].rule, PGK_ADVICE_FOREIGN_FREE);
    pgk_advice_free(&list);
    const struct pgk_file_info *const others[] = {&one, &silent, NULL};
    for (size_t i = 0; i < PGK_COUNTOF(others); i++) {
        assert_int_equal(pgk_heap_advise(h, others[i], &list, NULL), 0);
        assert_int_equal(list.n, 0);
        pgk_advice_free(&list);
    }
    pgk_heap_close(&h);
}

/* What is known of blocks says more than the number of accesses does. */
static void objects_of_which_half_is_never_touched(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_TotalAccessCount] = 100; /* in 6400 bytes at most */
    m.known |= UINT64_C(1) << PGK_MIB_TouchedSize | UINT64_C(1) << PGK_MIB_UntouchedSize;
    m.v[PGK_MIB_UntouchedSize] = 31999;
    expect_only(&m, PGK_ADVICE_RULES, 0);
    m.v[PGK_MIB_UntouchedSize] = 32000;
    expect_only(&m, PGK_ADVICE_TOO_LARGE, 32000);
    m.v[PGK_MIB_UntouchedSize] = 70000;
    expect_only(&m, PGK_ADVICE_TOO_LARGE, 64000);
    m.v[PGK_MIB_TotalAccessCount] = 0;
    expect_only(&m, PGK_ADVICE_UNUSED, 64000);
}

static void objects_that_nobody_freed(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_ExitSize] = 640;
    m.v[PGK_MIB_ExitCount] = 999;
    know_times(&m);
    expect_only(&m, PGK_ADVICE_RULES, 0);
    m.v[PGK_MIB_ExitCount] = 1000;
    expect_only(&m, PGK_ADVICE_LEAKED, 640);
    m.known &= ~(UINT64_C(1) << PGK_MIB_ExitSize);
    expect_only(&m, PGK_ADVICE_RULES, 0);
}

/* More is known of temporary objects than that they live for a moment. */
static void temporary_is_short_lived_too(void **state)
{
    (void)state;
    struct pgk_mib m = ordinary();
    m.v[PGK_MIB_AllocCount] = 4000;
    m.v[PGK_MIB_TotalLifetime] = 0;
    know_times(&m);
    const struct {
        uint64_t temporary, stake;
    } of[] = {{1999, 0}, {2000, 32000}, {UINT64_MAX, 64000}};
    for (size_t i = 0; i < PGK_COUNTOF(of); i++) {
        m.v[PGK_MIB_TemporaryCount] = of[i].temporary;
        assert_int_equal(pgk_advice_stake(PGK_ADVICE_TEMPORARY, &m), of[i].stake);
        assert_int_equal(pgk_advice_stake(PGK_ADVICE_SHORT_LIVED, &m), 64000);
    }
    m.v[PGK_MIB_AllocCount] = m.v[PGK_MIB_TemporaryCount] = 999;
    expect_only(&m, PGK_ADVICE_SHORT_LIVED, 64000);
    m.v[PGK_MIB_AllocCount] = m.v[PGK_MIB_TemporaryCount] = 1000;
    m.known &= ~(UINT64_C(1) << PGK_MIB_TemporaryCount);
    expect_only(&m, PGK_ADVICE_SHORT_LIVED, 64000);
}

/* The page has advice below a tile of that name: contexts of few objects, of many, and of objects
 * that are freed at once are in both. Few objects in all are not worth advice. */
static void short_lived_bytes_are_one_number(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_advice_list list;
    struct pgk_heap_totals totals;
    const uint64_t objects[] = {900, 99, 4000};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct pgk_mib m = ordinary();
        know_times(&m);
        m.v[PGK_MIB_AllocCount] = objects[i];
        m.v[PGK_MIB_TotalLifetime] = 0;
        m.v[PGK_MIB_TemporaryCount] = i == 2 ? 4000 : 0;
        add(h, i + 1, &m);
        assert_int_equal(pgk_heap_advise(h, NULL, &list, NULL), 0);
        pgk_heap_totals(h, NULL, &totals);
        uint64_t advised = 0;
        for (size_t k = 0; k < list.n; k++)
            advised += list.v[k].rule == PGK_ADVICE_SHORT_LIVED ? list.v[k].bytes : 0;
        assert_int_equal(advised, i < 2 ? 0 : totals.label_bytes[PGK_LABEL_SHORT_LIVED]);
        assert_int_equal(totals.label_bytes[PGK_LABEL_SHORT_LIVED], (i + 1) * 64000);
        pgk_advice_free(&list);
    }
    pgk_heap_close(&h);
}

/* What a killed process had was perhaps in use. */
static void interrupted_is_not_leaked(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_advice_list list;
    struct pgk_file_info info = {.facts = {[PGK_FACT_INTERRUPTED] = true}};
    struct pgk_mib kept = ordinary();
    kept.v[PGK_MIB_ExitSize] = 64000;
    kept.v[PGK_MIB_ExitCount] = 1000;
    know_times(&kept);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    add(h, 1, &kept);
    assert_int_equal(pgk_heap_advise(h, NULL, &list, NULL), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].rule, PGK_ADVICE_LEAKED);
    pgk_advice_free(&list);
    assert_int_equal(pgk_heap_advise(h, &info, &list, NULL), 0);
    assert_int_equal(list.n, 0);
    pgk_advice_free(&list);
    pgk_heap_close(&h);
}

static void hot_hints_only_where_few_are_hot(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_advice_list list;
    struct pgk_mib hot = ordinary(), other = ordinary();
    hot.v[PGK_MIB_TotalLifetimeAccessDensity] = 1000 * UINT64_C(100001);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    add(h, 1, &hot);
    assert_int_equal(pgk_heap_advise(h, NULL, &list, NULL), 0);
    assert_int_equal(list.n, 0);
    pgk_advice_free(&list);
    add(h, 2, &other);
    assert_int_equal(pgk_heap_advise(h, NULL, &list, NULL), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].rule, PGK_ADVICE_HOT);
    pgk_advice_free(&list);
    pgk_heap_close(&h);
}

/* A diff that adds something, whose every line is of one kind. */
static void every_rule_has_an_example(void **state)
{
    (void)state;
    for (enum pgk_advice_rule rule = 0; rule < PGK_ADVICE_RULES; rule++) {
        const char *line = pgk_advice_texts[rule].example;
        bool adds = false;
        assert_non_null(line);
        for (; *line; line = strchr(line, '\n') + 1) {
            assert_true(*line == '+' || *line == '-' || *line == ' ');
            assert_non_null(strchr(line, '\n'));
            adds |= *line == '+';
        }
        assert_true(adds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_contexts_need_no_advice),
        cmocka_unit_test(objects_never_used),
        cmocka_unit_test(short_lived_is_what_the_label_says),
        cmocka_unit_test(short_lived_bytes_are_one_number),
        cmocka_unit_test(cold_words_between_busy_ones),
        cmocka_unit_test(objects_left_at_exit_need_no_stack),
        cmocka_unit_test(tail_that_is_never_reached),
        cmocka_unit_test(too_few_accesses_to_reach_all),
        cmocka_unit_test(objects_freed_on_another_cpu),
        cmocka_unit_test(hints_follow_the_compiler),
        cmocka_unit_test(savings_before_hints_and_large_before_small),
        cmocka_unit_test(some_accesses_are_no_reason),
        cmocka_unit_test(one_thread_is_no_reason),
        cmocka_unit_test(objects_of_which_half_is_never_touched),
        cmocka_unit_test(objects_that_nobody_freed),
        cmocka_unit_test(temporary_is_short_lived_too),
        cmocka_unit_test(interrupted_is_not_leaked),
        cmocka_unit_test(hot_hints_only_where_few_are_hot),
        cmocka_unit_test(every_rule_has_an_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
