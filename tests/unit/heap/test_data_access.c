/* Data access profiles in memory: adding up, one order, copies between models. */
#include "data_access.h"

#include "heap_samples.h"

static uint32_t name(struct pgk_heap *h, const char *text)
{
    return pgk_data_access_symbol(&h->strings, text, strlen(text));
}

static void profiles_add_up(void **state)
{
    (void)state;
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    struct pgk_data_store to = pgk_heap_data_store(h);
    struct pgk_data_place b[] = {{name(h, "b.h"), 9}, {name(h, "a.h"), 12}},
                          c[] = {{name(h, "a.h"), 12}, {name(h, "a.h"), 3}};
    assert_true(pgk_data_access_add(&to, name(h, "table"), 0, 5, b, 2));
    assert_true(pgk_data_access_add(&to, 0, 77, 100, NULL, 0));
    assert_true(pgk_data_access_add(&to, name(h, "table.llvm.123"), 0, 6, c, 2));
    assert_true(pgk_data_access_add(&to, name(h, "array"), 0, 11, NULL, 0));
    assert_true(pgk_data_access_add(&to, name(h, "max"), 0, UINT64_MAX, NULL, 0));
    assert_true(pgk_data_access_add(&to, name(h, "max"), 0, 2, NULL, 0));
    assert_true(pgk_data_access_add_cold_symbol(&to, name(h, "z")));
    assert_true(pgk_data_access_add_cold_symbol(&to, name(h, "y")));
    assert_true(pgk_data_access_add_cold_symbol(&to, name(h, "z")));
    assert_true(pgk_data_access_add_cold_hash(&to, 9));
    assert_true(pgk_data_access_add_cold_hash(&to, 3));
    pgk_data_access_sort(&to);

    assert_int_equal(h->data.entries.n, 4);
    const struct pgk_data_entry *e = h->data.entries.v;
    assert_int_equal(e[0].count, UINT64_MAX); /* saturates */
    assert_int_equal(e[1].hash, 77);
    assert_string_equal(pgk_intern_str(&h->strings, e[2].symbol), "array"); /* ties by name */
    assert_string_equal(pgk_intern_str(&h->strings, e[3].symbol), "table");
    assert_int_equal(e[3].count, 11);
    assert_int_equal(e[3].n_places, 3); /* united, in order */
    assert_int_equal(e[3].places[0].line, 3);
    assert_int_equal(e[3].places[1].line, 12);
    assert_int_equal(e[3].places[2].line, 9);
    assert_int_equal(h->data.cold_symbols.n, 2);
    assert_string_equal(pgk_intern_str(&h->strings, h->data.cold_symbols.v[0]), "y");
    assert_int_equal(h->data.cold_hashes.v[0], 3);
    assert_true(pgk_heap_has_data_access(h));

    /* Copied with the model; a second copy doubles. */
    struct pgk_heap *twice;
    assert_int_equal(pgk_heap_new(&twice, NULL), 0);
    assert_int_equal(pgk_heap_merge(twice, h, NULL), 0);
    assert_int_equal(pgk_heap_merge(twice, h, NULL), 0);
    assert_int_equal(twice->data.entries.n, 4);
    assert_int_equal(twice->data.entries.v[1].count, 200);
    assert_int_equal(twice->data.entries.v[3].count, 22);
    assert_int_equal(twice->data.entries.v[3].n_places, 3);
    assert_int_equal(twice->data.cold_symbols.n, 2);
    pgk_heap_close(&h);
    pgk_heap_close(&twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
