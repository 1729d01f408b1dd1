/* Sample profiles for gcc: what is changed for each release, files and times, damaged files. */
#include "sample_cases.h"

typedef struct pgk_sample_write_opts opts_t;

static int read_gcc(const uint8_t *bytes, size_t size, struct pgk_sample **p, struct pgk_err *err)
{
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_sample_new(p, NULL), 0);
    return pgk_sample_gcc_read(*p, bytes, size, &case_source, 1, NULL, err);
}

/* What the profile is after it was written for a release. */
static void round_trip(const char *text, unsigned release, const char *means)
{
    struct pgk_sink *out =
        case_encode(text, &(opts_t){.encoding = PGK_SAMPLE_GCC, .gcc_release = release});
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_gcc(bytes, size, &p, &err), 0);
    case_expect(p, means);
    pgk_sink_drop(&out);
}

/* The largest count of a line stays, calls and inlinees are added up, and a head is the count of
 * the first line at least. */
static void gcc_12_goes_by_lines(void **state)
{
    (void)state;
    round_trip("f:1:0\n 1: 10\n 2: 10 g:3\n 2.1: 30 g:4 h:1\n 2.7: 20\n 3.1: h:9\n  4: 5\n"
               " 3.2: h:9\n  4: 6\n  4.1: 2\n"
               "g:1:50\n 4: 7\n"
               "h:1:0\n 0: 0\n",
               12,
               "f:51:10\n 1: 10\n 2: 30 g:7 h:1\n 3: h:11\n  4: 11\n"
               "g:7:50\n 4: 7\n"
               "h:0:0\n 0: 0\n");
}

/* Clones of a function are added up under its name, but for the heads of parts: these are entered
 * from within. gcc up to 15 takes off all from the first dot on, 16 what gcc appends itself. */
static void clones_are_their_function(void **state)
{
    (void)state;
    static const char text[] = "f:1:3\n 1: 3\n"
                               "f.constprop.0:1:4\n 1: 4 g.isra.0.cold:9\n"
                               "f.constprop.0.part.12:1:5\n 2: 6 f.llvm.7:1\n"
                               "f.cold:1:7\n 3: 1\n"
                               ".x:1:1\n 1: 1\n";
    for (unsigned release = 13; release <= 15; release++)
        round_trip(text, release, "f:14:7\n 1: 7 g:9\n 2: 6 f:1\n 3: 1\n.x:1:1\n 1: 1\n");
    round_trip(text, 16, "f:14:7\n 1: 7 g:9\n 2: 6 f.llvm.7:1\n 3: 1\n.x:1:1\n 1: 1\n");
}

static void contexts_go_to_their_functions(void **state)
{
    (void)state;
    round_trip("[main:3 @ f]:5:2\n 1: 5\n[main:4 @ f]:6:1\n 1: 6\n[main]:3:0\n 3: 3 f:2\n", 16,
               "f:11:3\n 1: 11\nmain:3:0\n 3: 3 f:2\n");
}

static void what_gcc_cannot_take_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *found;
    } cases[] = {{CASE_PROBES, "a profile whose places are probes"},
                 {"12345678901234:1:1\n 1: 1\n", "names that are known by their GUIDs alone"}};
    struct pgk_gcc_compiler compiler;
    struct pgk_gcc_changes changes;
    assert_false(pgk_gcc_compiler(10, &compiler));
    assert_false(pgk_gcc_compiler(17, &compiler));
    assert_true(pgk_gcc_compiler(16, &compiler));
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_sample *p = case_read(cases[i].text), *adapted = NULL;
        struct pgk_err err = {0};
        assert_int_equal(pgk_sample_finish(p, NULL), 0);
        assert_int_equal(pgk_gcc_adapt(&adapted, p, &compiler, &changes, &err), PGK_E_ARG);
        assert_string_equal(err.found, cases[i].found);
        assert_null(adapted);
        pgk_sample_close(&p);
    }
}

static void expect_origin(const struct pgk_sample *p, const char *name, const char *file,
                          uint64_t first_run)
{
    struct pgk_sample_function f = {.struct_size = sizeof f};
    assert_true(pgk_sample_get(p, pgk_sample_find_function(p, name), &f));
    assert_string_equal(f.file, file);
    assert_int_equal(f.first_run, first_run);
}

/* g has two files, which are as good as none, also when one of them comes again. */
static struct pgk_sample *with_origins(void)
{
    struct pgk_sample *p;
    uint32_t f, g;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_build_function(p, "f", &f, NULL), 0);
    assert_int_equal(pgk_sample_build_function(p, "g", &g, NULL), 0);
    assert_int_equal(pgk_sample_build_line(p, f, 1, 0, 5, NULL), 0);
    assert_int_equal(pgk_sample_build_line(p, g, 1, 0, 4, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, f, "dir/f.c", 70, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, f, NULL, 60, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, f, "", 0, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, g, "a.c", 0, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, g, "b.c", 0, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, g, "a.c", 0, NULL), 0);
    assert_int_equal(pgk_sample_build_origin(p, g, "a\n.c", 0, NULL), PGK_E_ARG);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    return p;
}

static void the_earliest_time_counts_and_several_files_are_none(void **state)
{
    (void)state;
    struct pgk_sample *p = with_origins(), *again;
    struct pgk_err err;
    struct pgk_sink *out;
    size_t size;
    expect_origin(p, "f", "dir/f.c", 60);
    expect_origin(p, "g", "", 0);
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(case_gcc_write(p, 16, out), 0);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_gcc(bytes, size, &again, &err), 0);
    assert_int_equal(pgk_sample_finish(again, NULL), 0);
    expect_origin(again, "f", "dir/f.c", 60);
    expect_origin(again, "g", "", 61); /* times are for all or for none */
    pgk_sample_close(&again);
    pgk_sample_close(&p);
    pgk_sink_drop(&out);
}

/* What is wrong with a file of version 3 is said with the field. */
static void damaged_files_of_version_3(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t word;
        const char *field;
    } cases[] = {{4, 4, "version"},        {12, 0xa9000000, "tag of summary"},
                 {56, 17, "rows"},         {56, 15, "rows"},
                 {384, 1, "tag of names"}, {405, 1, "file of name"}};
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_sink *out = case_encode(
            "f:1:1\n 1: 1\n", &(opts_t){.encoding = PGK_SAMPLE_GCC, .gcc_release = 16});
        struct pgk_sample *p;
        struct pgk_err err;
        size_t size;
        const uint8_t *bytes = pgk_sink_data(out, &size);
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + cases[i].at, &cases[i].word, sizeof cases[i].word);
        assert_int_not_equal(read_gcc(bad, size, &p, &err), 0);
        assert_string_equal(err.field, cases[i].field);
        pgk_sample_close(&p);
        free(bad);
        pgk_sink_drop(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_12_goes_by_lines),
        cmocka_unit_test(clones_are_their_function),
        cmocka_unit_test(contexts_go_to_their_functions),
        cmocka_unit_test(what_gcc_cannot_take_is_refused),
        cmocka_unit_test(the_earliest_time_counts_and_several_files_are_none),
        cmocka_unit_test(damaged_files_of_version_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
