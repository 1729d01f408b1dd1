/* Walking and building instrumentation profiles by the public functions: what is walked in one
 * profile and built into another gives the same text. */
#include "instr_samples.h"

enum { MAX_SITES = 16, MAX_VALUES = 64 };

static void copy_function(const struct pgk_instr *from, size_t i, struct pgk_instr *to)
{
    struct pgk_instr_value values[MAX_SITES * PGK_VALUE_KINDS][MAX_VALUES];
    struct pgk_instr_site_values sites[MAX_SITES * PGK_VALUE_KINDS];
    struct pgk_instr_function f = {.struct_size = sizeof f};
    pgk_instr_function(from, i, &f);
    struct pgk_instr_addition a = {
        .struct_size = sizeof a, .name = f.name, .hash = f.hash, .counts = f.counts,
        .n_counts = f.n_counts, .bitmap = f.bitmap, .n_bitmap = f.n_bitmap, .sites = sites};
    for (enum pgk_value_kind k = 0; k < PGK_VALUE_KINDS; k++)
        for (size_t s = 0; s < pgk_instr_sites(from, i, k); s++) {
            assert_in_range(a.n_sites, 0, MAX_SITES * PGK_VALUE_KINDS - 1);
            size_t n = pgk_instr_site(from, i, k, s, values[a.n_sites], MAX_VALUES);
            assert_in_range(n, 0, MAX_VALUES);
            sites[a.n_sites] = (struct pgk_instr_site_values){k, values[a.n_sites], n};
            a.n_sites++;
        }
    assert_int_equal(pgk_instr_build_function(to, &a, NULL), 0);
}

static void test_what_is_walked_can_be_built(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct pgk_instr *from = sample_instr(), *to = sample_instr();
        sample_instr_fill(from, seed, 30, SAMPLE_BIT(IR) | SAMPLE_BIT(TEMPORAL), 1);
        assert_int_equal(pgk_instr_traits(from), PGK_INSTR_IS_IR);
        assert_int_equal(pgk_instr_build_kind(to, pgk_instr_traits(from), NULL), 0);
        for (size_t i = 0; pgk_instr_vtable_at(from, i); i++)
            assert_int_equal(pgk_instr_build_vtable(to, pgk_instr_vtable_at(from, i), NULL), 0);
        for (size_t i = 0; i < pgk_instr_functions(from); i++)
            copy_function(from, i, to);
        uint64_t weight;
        size_t n;
        const uint64_t *ids;
        for (size_t i = 0; (ids = pgk_instr_trace_at(from, i, &n, &weight)); i++)
            assert_int_equal(pgk_instr_build_trace(to, ids, n, weight, NULL), 0);
        for (size_t i = 0; i < pgk_instr_binary_ids(from); i++) {
            const uint8_t *id = pgk_instr_binary_id(from, i, &n);
            assert_int_equal(pgk_instr_build_binary_id(to, id, n, NULL), 0);
        }
        char *x = sample_text(from), *y = sample_text(to);
        assert_string_equal(x, y);
        for (size_t i = 0; i < pgk_instr_functions(to); i++)
            assert_false(pgk_instr_changed(to, i) && !pgk_instr_changed(from, i));
        free(x);
        free(y);
        pgk_instr_close(&from);
        pgk_instr_close(&to);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    struct pgk_err err = {0};
    uint64_t counts[] = {1, 2};
    struct pgk_instr_addition a = {.struct_size = sizeof a, .name = "main", .counts = counts,
                                   .n_counts = 2};
    assert_int_equal(pgk_instr_build_function(p, &a, &err), PGK_E_ARG);
    assert_string_equal(err.field, "kind");
    assert_int_equal(pgk_instr_build_kind(p, PGK_INSTR_IS_CONTEXTUAL, &err), PGK_E_ARG);
    assert_int_equal(pgk_instr_build_kind(p, 64, &err), PGK_E_ARG);
    assert_int_equal(pgk_instr_build_kind(p, PGK_INSTR_IS_IR, &err), 0);
    assert_int_equal(pgk_instr_build_kind(p, 0, &err), PGK_E_MISMATCH);
    assert_int_equal(pgk_instr_build_function(p, &a, &err), 0);
    a.n_counts = 1;
    assert_int_equal(pgk_instr_build_function(p, &a, &err), 0);
    assert_int_equal(pgk_instr_conflicts(p), 1);
    a.n_counts = 0;
    assert_int_equal(pgk_instr_build_function(p, &a, &err), PGK_E_ARG);
    a.n_counts = 2;
    a.name = "a\nb";
    assert_int_equal(pgk_instr_build_function(p, &a, &err), PGK_E_ARG);
    a.name = "f";
    counts[1] = UINT64_MAX;
    assert_int_equal(pgk_instr_build_function(p, &a, &err), PGK_E_ARG);
    const uint64_t strange = 1;
    assert_int_equal(pgk_instr_build_trace(p, &strange, 1, 1, &err), PGK_E_ARG);
    assert_int_equal(pgk_instr_build_binary_id(p, (const uint8_t *)"", 0, &err), PGK_E_ARG);
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_walked_can_be_built),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
