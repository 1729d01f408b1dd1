/* Changing sample profiles: layouts, cold contexts, names, filters. */
#include "sample_cases.h"

static void relayout(const char *text, enum pgk_sample_layout layout, const char *means)
{
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_relayout(&p, layout, NULL), 0);
    case_expect(p, means);
}

static void test_flat(void **state)
{
    (void)state;
    relayout("f:100:1\n 1: 60\n 2: g:40\n  1: 30\n  3: 10\ng:5:5\n 1: 5\n", PGK_SAMPLE_FLAT,
             "f:90:60\n 1: 60\n 2: 30 g:30\ng:45:35\n 1: 35\n 3: 10\n");
    /* Types of objects are added up, which LLVM leaves to chance. */
    relayout("f:9:1\n 1: 4\n 2: g:5\n  1: 5\n  1: vtables A:2 \ng:3:1\n 1: 3\n 1: vtables A:1 \n",
             PGK_SAMPLE_FLAT, "f:9:4\n 1: 4\n 2: 5 g:5\ng:8:8\n 1: 8\n 1: vtables A:3 \n");
    relayout("[a:1 @ f]:3:2\n 1: 3\n !Attributes: 1\n[f]:4:2\n 1: 4\n", PGK_SAMPLE_FLAT,
             "f:7:4\n 1: 7\n");
}

static void test_nested(void **state)
{
    (void)state;
    relayout("[main]:10:1\n 3: 8 foo:6\n[main:3 @ foo]:5:2\n 1: 5\n[x:1 @ bar]:2:2\n 1: 2\n",
             PGK_SAMPLE_NESTED, "main:9:1\n 3: 2\n 3: foo:5\n  1: 5\nbar:2:2\n 1: 2\n");
    relayout(CASE_PROBES, PGK_SAMPLE_NESTED, CASE_PROBES);
}

static void trim(const char *text, struct pgk_sample_trim_opts opts, const char *means)
{
    struct pgk_sample *p = case_read(text);
    opts.struct_size = sizeof opts;
    assert_int_equal(pgk_sample_trim(&p, &opts, NULL), 0);
    case_expect(p, means);
}

static void test_trim(void **state)
{
    (void)state;
    static const char text[] = "[a:1 @ b:2 @ c]:5:1\n 1: 5\n[a:9 @ b:2 @ c]:4:1\n 1: 4\n"
                               "[hot]:100:1\n 1: 100\n";
    trim(text, (struct pgk_sample_trim_opts){.trim = true, .cold_below = 50},
         "[hot]:100:1\n 1: 100\n");
    trim(text, (struct pgk_sample_trim_opts){.merge = true, .cold_below = 50},
         "[hot]:100:1\n 1: 100\n[c]:9:2\n 1: 9\n");
    trim(text, (struct pgk_sample_trim_opts){.merge = true, .depth = 2, .cold_below = 50},
         "[hot]:100:1\n 1: 100\n[b:2 @ c]:9:2\n 1: 9\n");
    trim(text, (struct pgk_sample_trim_opts){.merge = true, .trim = true, .cold_below = 9},
         "[hot]:100:1\n 1: 100\n[c]:9:2\n 1: 9\n");
    trim(CASE_PLAIN, (struct pgk_sample_trim_opts){.trim = true, .cold_below = 1 << 30},
         CASE_PLAIN);
}

static void canonical(const char *from, const char *to, enum pgk_sample_suffixes suffixes)
{
    char text[200], means[200];
    snprintf(text, sizeof text, "%s:5:1\n 1: 5\n", from);
    snprintf(means, sizeof means, "%s:5:1\n 1: 5\n", to);
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_canonicalise(&p, suffixes, NULL), 0);
    case_expect(p, means);
}

static void test_canonical_names(void **state)
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
}

static void test_remap(void **state)
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

static void test_spelling_of_guids(void **state)
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

static void test_filters(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat),            cmocka_unit_test(test_nested),
        cmocka_unit_test(test_trim),            cmocka_unit_test(test_canonical_names),
        cmocka_unit_test(test_remap),           cmocka_unit_test(test_spelling_of_guids),
        cmocka_unit_test(test_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
