/* Tests of lib/sample/sample_layout.c: layouts, cold contexts. */
#include "sample_cases.h"

static void relayout(const char *text, enum pgk_sample_layout layout, const char *means)
{
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_relayout(&p, layout, NULL), 0);
    case_expect(p, means);
}

static void inlinees_become_functions(void **state)
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

static void contexts_become_inlinees(void **state)
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

static void cold_contexts_are_merged_or_cut(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlinees_become_functions),
        cmocka_unit_test(contexts_become_inlinees),
        cmocka_unit_test(cold_contexts_are_merged_or_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
