/* Records of one place in the order of LLVM's files. */
#include "sample_cases.h"

#include "sample_order.h"

static struct pgk_sample *finished(const char *text)
{
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    return p;
}

static const struct pgk_sample_recs *records(const struct pgk_sample *p)
{
    return &pgk_sample_node(p, p->by_identity.v[0])->recs;
}

static const char *name(const struct pgk_sample *p, const struct pgk_sample_rec *r)
{
    return p->names.list.v[pgk_rec_name(r)].s;
}

/* Names come into the model as the text has them, which is the order of the records. */
static void targets_come_by_count_then_name_and_types_by_name(void **state)
{
    (void)state;
    struct pgk_sample *p = finished("f:9:0\n 1: 9 zed:3 bee:3 low:1 top:5\n"
                                    " 1: vtables _ZTV1Z:1 _ZTV1A:2 _ZTV1M:9 \n");
    const struct pgk_sample_recs *recs = records(p);
    struct pgk_sample_order o = {.p = p};
    struct pgk_sample_place place;
    static const struct {
        const char *name;
        uint64_t count;
    } targets[] = {{"top", 5}, {"bee", 3}, {"zed", 3}, {"low", 1}},
      types[] = {{"_ZTV1A", 2}, {"_ZTV1M", 9}, {"_ZTV1Z", 1}};
    assert_int_equal(pgk_order_place(&o, recs, 0, &place), recs->n);
    assert_true(place.loc == pgk_sample_loc(1, 0) && place.has_body);
    assert_int_equal(place.samples, 9);
    assert_int_equal(place.n_targets, PGK_COUNTOF(targets));
    assert_int_equal(place.n_vtables, PGK_COUNTOF(types));
    for (size_t i = 0; i < PGK_COUNTOF(targets); i++) {
        assert_string_equal(name(p, &place.targets[i]), targets[i].name);
        assert_int_equal(place.targets[i].count, targets[i].count);
    }
    for (size_t i = 0; i < PGK_COUNTOF(types); i++) {
        assert_string_equal(name(p, &place.vtables[i]), types[i].name);
        assert_int_equal(place.vtables[i].count, types[i].count);
    }
    assert_string_equal(name(p, &recs->v[1]), "zed"); /* the profile stays as it is */
    pgk_order_free(&o);
    pgk_sample_close(&p);
}

static void places_follow_one_another(void **state)
{
    (void)state;
    struct pgk_sample *p = finished("f:9:0\n 1: 4\n 2.3: 5 g:5\n 7: vtables _ZTV1A:2 \n");
    const struct pgk_sample_recs *recs = records(p);
    struct pgk_sample_order o = {.p = p};
    struct pgk_sample_place place;
    uint32_t at = pgk_order_place(&o, recs, 0, &place);
    assert_true(place.has_body && place.samples == 4 && !place.n_targets && !place.n_vtables);
    at = pgk_order_place(&o, recs, at, &place);
    assert_true(place.loc == pgk_sample_loc(2, 3) && place.samples == 5);
    assert_true(place.n_targets == 1 && !place.n_vtables);
    assert_string_equal(name(p, place.targets), "g");
    at = pgk_order_place(&o, recs, at, &place);
    assert_true(place.loc == pgk_sample_loc(7, 0) && !place.has_body && place.samples == 0);
    assert_true(!place.n_targets && place.n_vtables == 1);
    assert_string_equal(name(p, place.vtables), "_ZTV1A");
    assert_int_equal(at, recs->n);
    assert_int_equal(o.sorted.cap, 0); /* single values need no sorting */
    pgk_order_free(&o);
    pgk_sample_close(&p);
}

static void a_place_is_found_or_what_is_behind_it(void **state)
{
    (void)state;
    struct pgk_sample *p = finished("f:9:0\n 2: 4 g:1 h:1\n 2.3: 5\n 7: 1\n");
    const struct pgk_sample_recs *recs = records(p), none = {0};
    assert_int_equal(pgk_order_find_place(recs, 0), 0);
    assert_int_equal(pgk_order_find_place(recs, pgk_sample_loc(2, 0)), 0);
    assert_int_equal(pgk_order_find_place(recs, pgk_sample_loc(2, 1)), 3);
    assert_int_equal(pgk_order_find_place(recs, pgk_sample_loc(2, 3)), 3);
    assert_int_equal(pgk_order_find_place(recs, pgk_sample_loc(7, 0)), 4);
    assert_int_equal(pgk_order_find_place(recs, pgk_sample_loc(7, 1)), recs->n);
    assert_int_equal(pgk_order_find_place(&none, 0), 0);
    pgk_sample_close(&p);
}

/* A profile of `n` functions, whose names do not come in their order. */
static struct pgk_sample *of_functions(uint32_t n)
{
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    for (uint32_t i = 0; i < n; i++) {
        char text[24];
        int size = snprintf(text, sizeof text, "f%u", i * 7919u);
        assert_int_not_equal(pgk_sample_function(p, pgk_sample_name(p, text, (size_t)size)), 0);
    }
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    return p;
}

static const struct pgk_sample *compared; /* by qsort, which takes no argument for it */

static int compare(const void *a, const void *b)
{
    const struct pgk_sample_rec *x = a, *y = b;
    if (pgk_rec_is_target(x) && x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(name(compared, x), name(compared, y));
}

/* Few values and many are sorted in two ways; qsort by names is the plain version of both. */
static void few_and_many_values_are_sorted_alike(void **state)
{
    (void)state;
    enum { MOST = 300 };
    struct pgk_sample *p = of_functions(MOST);
    struct pgk_sample_order o = {.p = p};
    uint64_t seed = 3;
    compared = p;
    for (uint32_t n = 2; n <= MOST; n += n < 40 ? 1 : 37)
        for (int types = 0; types < 2; types++) {
            static struct pgk_sample_rec given[MOST], plain[MOST];
            for (uint32_t i = 0; i < n; i++)
                pgk_rec_set(&given[i], pgk_sample_loc(1, 0),
                            p->nodes.v[1 + i].name | (types ? PGK_REC_VTABLE : 0),
                            test_random(&seed) % 8);
            for (uint32_t i = n - 1; i > 0; i--) {
                uint32_t k = (uint32_t)(test_random(&seed) % (i + 1));
                struct pgk_sample_rec swapped = given[i];
                given[i] = given[k];
                given[k] = swapped;
            }
            memcpy(plain, given, n * sizeof *given);
            qsort(plain, n, sizeof *plain, compare);
            const struct pgk_sample_rec *sorted = pgk_order_values(&o, given, n);
            assert_non_null(sorted);
            assert_memory_equal(sorted, plain, n * sizeof *plain);
        }
    pgk_order_free(&o);
    pgk_sample_close(&p);
}

static void one_value_is_given_back(void **state)
{
    (void)state;
    struct pgk_sample_order o = {0};
    const struct pgk_sample_rec one = {.what = 1};
    pgk_mem_fail_after(1);
    const struct pgk_sample_rec *same = pgk_order_values(&o, &one, 1);
    pgk_mem_fail_after(0);
    assert_ptr_equal(same, &one);
    assert_false(o.failed);
}

static void out_of_memory_is_noted(void **state)
{
    (void)state;
    struct pgk_sample *p = finished("f:9:0\n 1: 9 g:3 h:4\n 2: 1\n");
    const struct pgk_sample_recs *recs = records(p);
    struct pgk_sample_order o = {.p = p};
    struct pgk_sample_place place;
    pgk_mem_fail_after(1);
    uint32_t next = pgk_order_place(&o, recs, 0, &place);
    pgk_mem_fail_after(0);
    assert_true(o.failed);
    assert_int_equal(next, 3);
    assert_true(place.has_body && place.samples == 9 && !place.n_targets && !place.n_vtables);
    o.failed = false;
    pgk_mem_fail_after(1);
    const struct pgk_sample_rec *values = pgk_order_values(&o, recs->v + 1, 2);
    pgk_mem_fail_after(0);
    assert_null(values);
    assert_true(o.failed);
    pgk_order_free(&o);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_come_by_count_then_name_and_types_by_name),
        cmocka_unit_test(places_follow_one_another),
        cmocka_unit_test(a_place_is_found_or_what_is_behind_it),
        cmocka_unit_test(few_and_many_values_are_sorted_alike),
        cmocka_unit_test(one_value_is_given_back),
        cmocka_unit_test(out_of_memory_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
