/* The sample model: building, merging, checksums, order of merging, summaries. */
#include "sample_cases.h"

#include "sample_recs.h"

static uint32_t name(struct pgk_sample *p, const char *text)
{
    return pgk_sample_name(p, text, strlen(text));
}

static void a_profile_is_built(void **state)
{
    (void)state;
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    uint32_t f = pgk_sample_function(p, name(p, "main"));
    uint32_t g = pgk_sample_inlinee(p, f, pgk_sample_loc(4, 0), name(p, "parse"));
    assert_true(pgk_sample_add_target(p, f, pgk_sample_loc(9, 0), name(p, "parse"), 70));
    assert_true(pgk_sample_add_body(p, f, pgk_sample_loc(4, 0), 120));
    assert_true(pgk_sample_add_vtable(p, g, pgk_sample_loc(1, 0), name(p, "_ZTV1A"), 3));
    assert_true(pgk_sample_add_body(p, g, pgk_sample_loc(1, 0), 80));
    assert_int_equal(pgk_sample_inlinee(p, f, pgk_sample_loc(4, 0), name(p, "parse")), g);
    pgk_sample_add_total(p, g, 80);
    pgk_sample_add_total(p, f, 200);
    pgk_sample_add_head(p, f, 1);
    case_expect(p, "main:200:1\n 4: 120\n 9: 0 parse:70\n 4: parse:80\n  1: 80\n"
                   "  1: vtables _ZTV1A:3 \n");
}

static void contexts_are_built(void **state)
{
    (void)state;
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_set_kind(p, true, false, NULL, NULL), 0);
    uint32_t caller = pgk_sample_root(p, name(p, "main"));
    uint32_t f = pgk_sample_context(p, caller, pgk_sample_loc(3, 1), name(p, "foo"));
    pgk_sample_make_top(p, f);
    assert_true(pgk_sample_add_body(p, f, pgk_sample_loc(1, 0), 5));
    pgk_sample_add_total(p, f, 5);
    const struct pgk_sample_frame frames[] = {{pgk_sample_loc(3, 1), name(p, "main")},
                                              {0, name(p, "foo")}};
    assert_int_equal(pgk_sample_context_of(p, frames, 2), f);
    assert_int_equal(pgk_sample_context_of(p, frames, 2), f);
    assert_int_equal(pgk_sample_context_of(p, frames, 1), caller);
    case_expect(p, "[main:3.1 @ foo]:5:0\n 1: 5\n");
}

/* A list of records against a plain table, adding in any order, one by one and sorted. */
static void records_are_those_of_a_plain_table(void **state)
{
    (void)state;
    enum { PLACES = 40, NAMES = 6 };
    uint64_t seed = 0;
    for (int round = 0; round < 50; round++) {
        uint64_t plain[PLACES][NAMES] = {{0}};
        bool there[PLACES][NAMES] = {{false}};
        struct pgk_rec_heap heap = {0};
        struct pgk_sample_recs recs = {0};
        for (int step = 0; step < 60; step++) {
            struct pgk_sample_rec batch[20];
            size_t n = 1 + test_random(&seed) % 20;
            for (size_t i = 0; i < n; i++) {
                uint32_t place = (uint32_t)(test_random(&seed) % PLACES);
                uint32_t what = (uint32_t)(test_random(&seed) % NAMES);
                batch[i] = (struct pgk_sample_rec){.loc = place, .what = what,
                                                   .count = test_random(&seed) % 100};
                plain[place][what] += 2 * batch[i].count;
                there[place][what] = true;
            }
            for (size_t i = 0; i < n && step % 2; i++) {
                assert_true(pgk_recs_add(&heap, &recs, batch[i]));
                assert_true(pgk_recs_add(&heap, &recs, batch[i]));
            }
            if (step % 2 == 0)
                assert_true(pgk_recs_add_sorted(&heap, &recs, batch, pgk_recs_sort(batch, n), 2));
        }
        assert_true(pgk_recs_settle(&heap, &recs));
        uint32_t at = 0;
        for (uint32_t place = 0; place < PLACES; place++) {
            for (uint32_t what = 0; what < NAMES; what++) {
                const struct pgk_sample_rec *r = pgk_recs_find(&recs, place, what);
                assert_int_equal(r != NULL, there[place][what]);
                if (!r)
                    continue;
                assert_ptr_equal(r, &recs.v[at++]);
                assert_int_equal(r->count, plain[place][what]);
            }
        }
        assert_int_equal(at, recs.n);
        pgk_rec_heap_free(&heap);
    }
}

static struct pgk_sample *sum(const char *const *texts, size_t n, uint64_t weight)
{
    struct pgk_sample *all;
    assert_int_equal(pgk_sample_new(&all, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        struct pgk_sample *p = case_read(texts[i]);
        assert_int_equal(pgk_sample_merge(all, p, weight, NULL), 0);
        pgk_sample_close(&p);
    }
    return all;
}

static void profiles_add_up(void **state)
{
    (void)state;
    const char *twice[] = {CASE_PLAIN, CASE_PLAIN};
    struct pgk_sample *added = sum(twice, 2, 1);
    char *copies = case_text(added);
    pgk_sample_close(&added);
    case_expect(sum(twice, 1, 2), copies);
    assert_non_null(strstr(copies, "main:368038:14\n"));
    assert_non_null(strstr(copies, " 9: vtables _ZTV1A:200 _ZTV1B:400 \n"));
    free(copies);

    const char *full[] = {"f:18446744073709551615:1\n 1: 18446744073709551614 g:9\n",
                          "f:1:1\n 1: 5 g:1\n"};
    case_expect(sum(full, 2, 1), "f:18446744073709551615:2\n 1: 18446744073709551615 g:10\n");
}

/* Builds differ: the checksum with the most samples stays, whatever the order; what has no
 * checksum joins it. */
static void checksums_decide_what_is_added(void **state)
{
    (void)state;
    const char *texts[] = {
        "f:10:1\n 1: 10\n !CFGChecksum: 5\nz:1:1\n 1: 1\n !CFGChecksum: 1\n",
        "f:8:1\n 1: 8\n 2: g:4\n  1: 4\n  !CFGChecksum: 3\n !CFGChecksum: 6\n"
        "z:1:1\n 1: 1\n !CFGChecksum: 1\n",
        "f:7:1\n 1: 7\n 2: g:5\n  1: 5\n  !CFGChecksum: 4\n !CFGChecksum: 6\n"
        "z:1:1\n 1: 1\n !CFGChecksum: 1\n",
        "f:100:1\n 1: 100\nz:1:1\n 1: 1\n !CFGChecksum: 1\n",
    };
    static const uint8_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 3, 0, 1}, {1, 0, 3, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const char *ordered[4];
        for (size_t k = 0; k < 4; k++)
            ordered[k] = texts[orders[i][k]];
        struct pgk_sample *p = sum(ordered, 4, 1);
        struct pgk_sample_info info = {.struct_size = sizeof info};
        assert_int_equal(pgk_sample_finish(p, NULL), 0);
        pgk_sample_info(p, &info);
        assert_int_equal(info.conflicts, 2);
        assert_int_equal(info.conflict_samples, 14); /* f with 5, g with 3 */
        case_expect(p, "f:115:3\n 1: 115\n 2: g:5\n  1: 5\n  !CFGChecksum: 4\n !CFGChecksum: 6\n"
                       "z:4:4\n 1: 4\n !CFGChecksum: 1\n");
    }
}

/* However many, and whatever is guessed, one node each; inlinees come by checksum. */
static void many_checksums_of_one_function(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    uint32_t f = pgk_sample_function(p, name(p, "main")), g = name(p, "g"), hint = 0;
    uint64_t loc = pgk_sample_loc(4, 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N; i++) {
            uint64_t checksum = (i * UINT64_C(7919)) % N + 1;
            uint32_t id = pgk_sample_child(p, f, loc, g, 0, checksum, hint);
            assert_true(id && p->nodes.v[id].checksum == checksum);
            hint = i % 3 ? id : 0;
        }
        assert_int_equal(p->nodes.n, 2 + N);
    }
    assert_int_equal(pgk_sample_finish_variants(p, NULL), 0);
    uint32_t child = pgk_sample_first(p, f);
    for (uint64_t i = 1; i <= N; i++, child = pgk_sample_next(p, child))
        assert_int_equal(p->nodes.v[child].checksum, i);
    assert_int_equal(child, 0);
    pgk_sample_close(&p);
}

static void kinds_do_not_mix(void **state)
{
    (void)state;
    const char *others[] = {CASE_CONTEXTS, CASE_PROBES};
    for (size_t i = 0; i < 2; i++) {
        struct pgk_sample *a = case_read(CASE_PLAIN), *b = case_read(others[i]);
        struct pgk_err err = {0};
        assert_int_equal(pgk_sample_merge(a, b, 1, &err), PGK_E_MISMATCH);
        assert_true(*err.found && *err.expected);
        pgk_sample_close(&a);
        pgk_sample_close(&b);
    }
}

static struct pgk_sample_diff_figures figures_of(const char *base, const char *test)
{
    struct pgk_sample *p = case_read(base), *q = case_read(test);
    struct pgk_sample_diff *diff;
    struct pgk_sample_diff_figures f = {.struct_size = sizeof f};
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_finish(q, NULL), 0);
    assert_int_equal(pgk_sample_compare(&diff, p, q, NULL), 0);
    pgk_sample_diff_figures(diff, &f);
    pgk_sample_diff_close(&diff);
    pgk_sample_close(&p);
    pgk_sample_close(&q);
    return f;
}

static void limits_have_figures(void **state)
{
    (void)state;
    struct pgk_sample_diff_figures f =
        figures_of("foo:10:1\n 1: 10\n", "foo:15:1\n 1: 15\nbar:5:1\n 1: 5\n");
    assert_true(f.growth_percent == 100 && f.new_percent == 50 && f.moved_points == 25);
    f = figures_of("foo:20:1\n 1: 20\n", "foo:15:1\n 1: 15\n");
    assert_true(f.growth_percent == -25 && f.new_percent == 0 && f.moved_points == 0);
}

static void summaries_agree_where_compilers_read_the_same(void **state)
{
    (void)state;
    struct pgk_sample *p = case_read("foo:14:1\n 1: 10\n 2: 4\n");
    struct pgk_sample_summary a = {.struct_size = sizeof a}, b;
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_summarise(p, &a, NULL), 0);
    b = a;
    assert_true(pgk_sample_summaries_agree(&a, &b));
    b.cutoffs[3].min_count++;
    assert_false(pgk_sample_summaries_agree(&a, &b));
    b.cutoffs[3].ppm++; /* another cutoff */
    assert_true(pgk_sample_summaries_agree(&a, &b));
    b.max_count++;
    assert_false(pgk_sample_summaries_agree(&a, &b));
    pgk_sample_close(&p);
}

static void the_summary_is_that_of_llvm(void **state)
{
    (void)state;
    struct pgk_sample *p = case_read("foo:14:1\n 1: 10 bar:7\n 2.1: baz:4\n  1: 4\n");
    struct pgk_sample_summary s = {.struct_size = sizeof s};
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_summarise(p, &s, NULL), 0);
    assert_int_equal(s.total_count, 14);
    assert_int_equal(s.max_count, 10);
    assert_int_equal(s.max_function_count, 1);
    assert_int_equal(s.num_counts, 2);
    assert_int_equal(s.num_functions, 1);
    assert_int_equal(s.cutoffs[0].min_count, 0); /* of 14, one hundredth is nothing */
    assert_int_equal(s.cutoffs[1].min_count, 10);
    assert_int_equal(s.cutoffs[7].num_counts, 1);
    assert_int_equal(s.cutoffs[8].num_counts, 2);
    assert_int_equal(pgk_sample_hot_count(&s), 4);
    pgk_sample_close(&p);

    /* Contexts of a function count together. */
    p = case_read("[a:1 @ f]:3:2\n 1: 3\n[b:1 @ f]:4:2\n 1: 4\n");
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_summarise(p, &s, NULL), 0);
    assert_int_equal(s.max_count, 7);
    assert_int_equal(s.num_functions, 1);
    assert_int_equal(s.max_function_count, 4);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_is_built),
        cmocka_unit_test(contexts_are_built),
        cmocka_unit_test(records_are_those_of_a_plain_table),
        cmocka_unit_test(profiles_add_up),
        cmocka_unit_test(checksums_decide_what_is_added),
        cmocka_unit_test(many_checksums_of_one_function),
        cmocka_unit_test(kinds_do_not_mix),
        cmocka_unit_test(the_summary_is_that_of_llvm),
        cmocka_unit_test(limits_have_figures),
        cmocka_unit_test(summaries_agree_where_compilers_read_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
