/* Tests of lib/sample/sample_rename.c: names by rules and by files, filters, discriminators. */
#include "sample_cases.h"

static void canonical(const char *from, const char *to, enum pgk_sample_suffixes suffixes)
{
    char text[200], means[200];
    snprintf(text, sizeof text, "%s:5:1\n 1: 5\n", from);
    snprintf(means, sizeof means, "%s:5:1\n 1: 5\n", to);
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_canonicalise(&p, suffixes, NULL), 0);
    case_expect(p, means);
}

static void suffixes_of_names_are_cut(void **state)
{
    (void)state;
    static const char *const cut[][2] = {
        {"foo.llvm.123", "foo"}, {"foo.part.0", "foo"}, {"foo.part.0.llvm.9", "foo"},
        {"foo.llvm.", "foo"}, {"foo.__uniq.12.llvm.5", "foo.__uniq.12"},
        {"foo.llvm.9.part.0", "foo.llvm.9"}, {"foo.llvm.1.2", "foo.llvm.1.2"},
        {"foo.llvm.12.cold", "foo.llvm.12.cold"}, {"foo.cold", "foo.cold"},
        {"foo.constprop.0", "foo.constprop.0"}, {"foo.resume.llvm.7", "foo.resume"},
    };
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        canonical(cut[i][0], cut[i][1], PGK_SAMPLE_SUFFIXES_SELECTED);
    canonical("foo.a.b", "foo", PGK_SAMPLE_SUFFIXES_ALL);
    canonical(".omp", ".omp", PGK_SAMPLE_SUFFIXES_ALL);
    canonical("foo.constprop.0.isra.12", "foo", PGK_SAMPLE_SUFFIXES_GCC);
    canonical("foo.part.0.cold", "foo", PGK_SAMPLE_SUFFIXES_GCC);
    canonical("foo.cold.3", "foo", PGK_SAMPLE_SUFFIXES_GCC);
    canonical("foo..bar.__uniq.1", "foo..bar.__uniq.1", PGK_SAMPLE_SUFFIXES_GCC);
}

static void names_are_replaced_by_a_file(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    test_folder(folder);
    test_join(path, folder, "pairs");
    test_write_file(path, "# old new\nfoo bar\n A\tB\n", 23);
    struct pgk_sample *p = case_read("foo:3:1\n 1: 2 foo:1 bar:2\n 2: vtables A:1 B:2 \n"
                                     " 3: foo:1\n  1: 1\n!x:1:1\n 1: 1\nbar:1:1\n 1: 1\n");
    assert_int_equal(pgk_sample_remap(&p, path, NULL), 0);
    case_expect(p, "bar:4:2\n 1: 3 bar:3\n 2: vtables B:3 \n 3: bar:1\n  1: 1\n!x:1:1\n 1: 1\n");
    test_write_file(path, "foo\n", 4);
    struct pgk_err err;
    p = case_read(CASE_PLAIN);
    assert_int_equal(pgk_sample_remap(&p, path, &err), PGK_E_CORRUPT);
    assert_string_equal(err.record, "line 1");
    case_expect(p, CASE_PLAIN);
    test_folder_remove(folder);
}

static void guids_are_spelled_by_a_file(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    test_folder(folder);
    test_join(path, folder, "names");
    test_write_file(path, "unused\nfoo\n  bar  \n", 19);
    struct pgk_sample *p = case_read("6699318081062747564:2:1\n 1: 2 16434608426314478903:1\n");
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_true(pgk_sample_names_unspelled(&p->names));
    assert_int_equal(pgk_sample_name_from_file(p, path, NULL), 0);
    assert_false(pgk_sample_names_unspelled(&p->names));
    case_expect(p, "foo:2:1\n 1: 2 bar:1\n");
    test_folder_remove(folder);
}

static void filter(const char *keep, const char *drop, const char *means)
{
    struct pgk_sample *p = case_read("foo:3:1\n 1: 3\nbar:2:1\n 1: 2\nfoobar:1:1\n 1: 1\n");
    assert_int_equal(pgk_sample_filter(p, keep, drop, NULL), 0);
    case_expect(p, means);
}

static void functions_are_filtered_by_patterns(void **state)
{
    (void)state;
    filter("foo", NULL, "foo:3:1\n 1: 3\nfoobar:1:1\n 1: 1\n");
    filter("^foo$", NULL, "foo:3:1\n 1: 3\n");
    filter("foo", "bar", "foo:3:1\n 1: 3\n");
    filter(NULL, "foo", "bar:2:1\n 1: 2\n");
    struct pgk_sample *p = case_read("6699318081062747564:2:1\n 1: 2\n");
    struct pgk_err err;
    assert_int_equal(pgk_sample_filter(p, "foo", NULL, &err), 0);
    assert_int_equal(pgk_sample_filter(p, "(", NULL, &err), PGK_E_ARG);
    case_expect(p, "6699318081062747564:2:1\n 1: 2\n");
}

static int keep(struct pgk_sample **p, const char *text, const char *function, struct pgk_err *err)
{
    *p = case_read(text);
    return pgk_sample_keep_function(*p, function, "t.prof", err);
}

static void one_function_or_context_is_kept(void **state)
{
    (void)state;
    static const char contexts[] = "[main:3 @ foo]:5:2\n 1: 5\n[main]:3:0\n 3: 3 foo:2\n"
                                   "[foo]:1:1\n 1: 1\n";
    struct pgk_sample *p;
    struct pgk_err err = {0};
    assert_int_equal(keep(&p, "foo:3:1\n 1: 3\nfoobar:1:1\n 1: 1\n", "foo", &err), 0);
    case_expect(p, "foo:3:1\n 1: 3\n");
    assert_int_equal(keep(&p, contexts, "foo", &err), 0);
    case_expect(p, "[main:3 @ foo]:5:2\n 1: 5\n[foo]:1:1\n 1: 1\n");
    assert_int_equal(keep(&p, contexts, "[main:3 @ foo]", &err), 0);
    case_expect(p, "[main:3 @ foo]:5:2\n 1: 5\n");
    static const char *const unknown[] = {"fo", "[main:3 @ fo]", "[]", ""};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(keep(&p, contexts, unknown[i], &err), PGK_E_EMPTY);
        assert_string_equal(err.file, "t.prof");
        pgk_sample_close(&p);
    }
}

/* Against the same places with their discriminators cut by hand. */
static void discriminators_are_cut_to_those_of_a_pass(void **state)
{
    (void)state;
    static const uint32_t bits[] = {[PGK_SAMPLE_FLOW_BASE] = 8, [PGK_SAMPLE_FLOW_PASS1] = 14,
                                    [PGK_SAMPLE_FLOW_PASS2] = 20, [PGK_SAMPLE_FLOW_PASS3] = 26};
    uint64_t random = 1;
    for (unsigned pass = 0; pass < sizeof bits / sizeof *bits; pass++) {
        struct pgk_sample *full, *cut;
        struct pgk_err err = {0};
        assert_int_equal(pgk_sample_new(&full, NULL), 0);
        assert_int_equal(pgk_sample_new(&cut, NULL), 0);
        uint32_t f = pgk_sample_function(full, pgk_sample_name(full, "f", 1));
        uint32_t g = pgk_sample_function(cut, pgk_sample_name(cut, "f", 1));
        for (int i = 0; i < 300; i++) {
            uint32_t line = (uint32_t)(test_random(&random) % 9),
                     discriminator = (uint32_t)test_random(&random) >> test_random(&random) % 32;
            assert_true(pgk_sample_add_body(full, f, pgk_sample_loc(line, discriminator), 1));
            discriminator &= (UINT32_C(1) << bits[pass]) - 1;
            assert_true(pgk_sample_add_body(cut, g, pgk_sample_loc(line, discriminator), 1));
        }
        assert_int_equal(pgk_sample_reduce_flow(&full, pass, &err), PGK_E_ARG);
        pgk_sample_mark_flow(full);
        assert_int_equal(pgk_sample_reduce_flow(&full, pass, &err), 0);
        char *text = case_text(cut);
        case_expect(full, text);
        free(text);
        pgk_sample_close(&cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffixes_of_names_are_cut),
        cmocka_unit_test(names_are_replaced_by_a_file),
        cmocka_unit_test(guids_are_spelled_by_a_file),
        cmocka_unit_test(functions_are_filtered_by_patterns),
        cmocka_unit_test(one_function_or_context_is_kept),
        cmocka_unit_test(discriminators_are_cut_to_those_of_a_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
