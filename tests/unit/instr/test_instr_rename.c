/* Renaming and choosing functions of counters. */
#include "instr_samples.h"

static const char TEXT[] = ":ir\n:temporal_prof_traces\n1\n1\n2\nold,other,\n"
                           "old\n1\n1\n5\n1\n0\n1\n2\nother:3\nold:2\n\nother\n2\n1\n7\n";

static struct pgk_instr *read_text(const char *text)
{
    struct pgk_instr *p = sample_instr();
    assert_int_equal(sample_read_text(p, text, 1, NULL), 0);
    return p;
}

/* Consumes the profile. */
static void expect(struct pgk_instr *p, const char *means)
{
    struct pgk_instr *wanted = read_text(means);
    char *found = sample_text(p), *expected = sample_text(wanted);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    pgk_instr_close(&p);
    pgk_instr_close(&wanted);
}

static int remap(struct pgk_instr **p, const char *pairs, struct pgk_err *err)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    test_folder(folder);
    test_write_file(test_join(path, folder, "pairs"), pairs, strlen(pairs));
    int status = pgk_instr_remap(p, path, err);
    test_folder_remove(folder);
    return status;
}

/* Functions, call targets and traces alike. */
static void test_everywhere(void **state)
{
    (void)state;
    struct pgk_instr *p = read_text(TEXT);
    assert_int_equal(remap(&p, "# names\nold new\nnone nothing\n", NULL), 0);
    expect(p, ":ir\n:temporal_prof_traces\n1\n1\n2\nnew,other,\nnew\n1\n1\n5\n1\n0\n1\n2\n"
              "other:3\nnew:2\n\nother\n2\n1\n7\n");
}

static void test_two_become_one(void **state)
{
    (void)state;
    struct pgk_instr *p = read_text("a\n1\n2\n5\n6\n\nb\n1\n2\n10\n20\n\nc\n1\n1\n1\n");
    assert_int_equal(remap(&p, "a b\n", NULL), 0);
    assert_int_equal(pgk_instr_conflicts(p), 0);
    expect(p, "b\n1\n2\n15\n26\n\nc\n1\n1\n1\n");
    p = read_text("a\n1\n2\n5\n6\n\nc\n1\n1\n1\n");
    assert_int_equal(remap(&p, "a c\n", NULL), 0);
    assert_int_equal(pgk_instr_conflicts(p), 1);
    pgk_instr_close(&p);
}

/* Names are exchanged, not passed on. */
static void test_exchange(void **state)
{
    (void)state;
    struct pgk_instr *p = read_text("a\n1\n1\n5\n\nb\n1\n1\n6\n");
    assert_int_equal(remap(&p, "a b\nb a\na c\n", NULL), 0);
    expect(p, "a\n1\n1\n6\n\nb\n1\n1\n5\n");
}

static void test_damaged_list(void **state)
{
    (void)state;
    struct pgk_instr *p = read_text(TEXT);
    assert_int_equal(remap(&p, "old\n", NULL), PGK_E_CORRUPT);
    expect(p, TEXT);
}

static void test_filter(void **state)
{
    (void)state;
    static const char text[] = "alpha\n1\n1\n1\n\nbeta\n1\n1\n2\n\nf.c;alpha\n1\n1\n3\n";
    static const struct {
        const char *keep, *drop, *means;
    } cases[] = {
        {"alpha", NULL, "alpha\n1\n1\n1\n\nf.c;alpha\n1\n1\n3\n"},
        {"^alpha$", NULL, "alpha\n1\n1\n1\n"},
        {NULL, "alpha", "beta\n1\n1\n2\n"},
        {"a", ";", "alpha\n1\n1\n1\n\nbeta\n1\n1\n2\n"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p = read_text(text);
        assert_int_equal(pgk_instr_filter(p, cases[i].keep, cases[i].drop, NULL), 0);
        expect(p, cases[i].means);
    }
    struct pgk_instr *p = read_text(text);
    assert_int_equal(pgk_instr_filter(p, NULL, "(", NULL), PGK_E_ARG);
    expect(p, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_two_become_one),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_damaged_list),
        cmocka_unit_test(test_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
