/* Writing a profile as what its format's row says. */
#include "pgokit/format.h"

#include "../instr_samples.h"
#include "../sample_cases.h"

static const char text[] = "main:30:1\n 1: 10\n 2: 20 leaf:20\n";

/* Formats that files of the encodings are read as. */
static const char *const formats[PGK_SAMPLE_ENCODINGS] = {
    [PGK_SAMPLE_EXT_BINARY] = "extensible sample profile",
    [PGK_SAMPLE_TEXT] = "text sample profile",
    [PGK_SAMPLE_BINARY] = "raw binary sample profile",
    [PGK_SAMPLE_GCC] = "GCC AutoFDO profile",
};

static struct pgk_sample *profile_new(void)
{
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    return p;
}

static void test_every_encoding(void **state)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    struct pgk_sample *p = profile_new();
    (void)state;
    test_folder(folder);
    test_join(path, folder, "profile");
    for (enum pgk_sample_encoding e = 0; e < PGK_SAMPLE_ENCODINGS; e++) {
        const struct pgk_sample_write_opts opts = {.struct_size = sizeof opts, .encoding = e};
        struct pgk_file *file;
        assert_int_equal(pgk_sample_write(p, path, &opts, NULL, NULL), 0);
        assert_int_equal(pgk_file_open(&file, path, NULL), 0);
        assert_string_equal(pgk_file_info_format(pgk_file_info(file))->name, formats[e]);
        pgk_file_close(&file);
    }
    test_folder_remove(folder);
    pgk_sample_close(&p);
}

static void test_what_an_encoding_cannot_hold(void **state)
{
    struct pgk_sample *p = profile_new();
    (void)state;
    for (enum pgk_sample_encoding e = 0; e < PGK_SAMPLE_ENCODINGS; e++) {
        const struct pgk_sample_write_opts opts = {
            .struct_size = sizeof opts, .encoding = e, .partial = true};
        struct pgk_sample_written written = {.struct_size = sizeof written};
        assert_int_equal(pgk_sample_write(p, "/dev/null", &opts, &written, NULL), 0);
        assert_int_equal(written.partial_dropped, e != PGK_SAMPLE_EXT_BINARY);
    }
    pgk_sample_close(&p);
}

static void test_no_encoding(void **state)
{
    const struct pgk_sample_write_opts opts = {.struct_size = sizeof opts,
                                               .encoding = PGK_SAMPLE_ENCODINGS};
    struct pgk_sample *p = profile_new();
    (void)state;
    assert_int_equal(pgk_sample_write(p, "/nowhere/out", &opts, NULL, NULL), PGK_E_ARG);
    pgk_sample_close(&p);
}

static void names_of_targets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int status;
        enum pgk_sample_encoding encoding;
        unsigned release;
    } cases[] = {{"text", 0, PGK_SAMPLE_TEXT, 0},       {"gcc", 0, PGK_SAMPLE_GCC, 0},
                 {"gcc11", 0, PGK_SAMPLE_GCC, 11},      {"gcc16.2", 0, PGK_SAMPLE_GCC, 16},
                 {"gcc10", PGK_E_ARG, 0, 0},            {"gcc17", PGK_E_ARG, 0, 0},
                 {"gcc16x", PGK_E_ARG, 0, 0},           {"", PGK_E_ARG, 0, 0}};
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_sample_write_opts opts = {0};
        assert_int_equal(pgk_sample_write_for(&opts, cases[i].name, NULL), cases[i].status);
        assert_int_equal(opts.encoding, cases[i].encoding);
        assert_int_equal(opts.gcc_release, cases[i].release);
        assert_int_equal(pgk_sample_write_holds_times(&opts), cases[i].release == 16);
    }
}

/* ---- counters ---- */

static const char *const counter_formats[PGK_INSTR_FORMS] = {
    [PGK_INSTR_INDEXED] = "indexed profile",
    [PGK_INSTR_TEXT] = "text counters",
    [PGK_INSTR_RAW] = "raw counters",
};

static void counters_in_every_form(void **state)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    struct pgk_instr *p = sample_instr();
    (void)state;
    test_folder(folder);
    test_join(path, folder, "profile");
    sample_instr_fill(p, 1, 5, SAMPLE_BIT(IR), 1);
    for (enum pgk_instr_form form = 0; form < PGK_INSTR_FORMS; form++) {
        const struct pgk_instr_target target = {.form = form};
        struct pgk_file *file;
        assert_non_null(pgk_instr_form_name(form));
        assert_int_equal(pgk_instr_write(p, path, &target, NULL), 0);
        assert_int_equal(pgk_file_open(&file, path, NULL), 0);
        const struct pgk_format *format = pgk_file_info_format(pgk_file_info(file));
        assert_string_equal(format->name, counter_formats[form]);
        pgk_file_close(&file);
    }
    test_folder_remove(folder);
    pgk_instr_close(&p);
}

/* Of a version that is none the message names the format and those that there are. */
static void counters_of_no_such_version(void **state)
{
    static const struct {
        struct pgk_instr_target target;
        const char *expected;
    } cases[] = {{{PGK_INSTR_RAW, 7}, "8 to 11"},
                 {{PGK_INSTR_RAW, 12}, "8 to 11"},
                 {{PGK_INSTR_INDEXED, 4}, "5 to 14"},
                 {{PGK_INSTR_INDEXED, 15}, "5 to 14"},
                 {{PGK_INSTR_TEXT, 1}, "none, because only one version is written"},
                 {{PGK_INSTR_FORMS, 0}, "an enum pgk_instr_form"}};
    struct pgk_instr *p = sample_instr();
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr_loss loss = {.struct_size = sizeof loss};
        struct pgk_err err = {0};
        assert_int_equal(pgk_instr_write(p, "/nowhere/out", &cases[i].target, &err), PGK_E_ARG);
        assert_string_equal(err.expected, cases[i].expected);
        assert_int_equal(pgk_instr_loss(p, &cases[i].target, &loss, NULL), PGK_E_ARG);
    }
    assert_null(pgk_instr_form_name(PGK_INSTR_FORMS));
    pgk_instr_close(&p);
}

static void counters_without_functions(void **state)
{
    struct pgk_instr *p = sample_instr();
    (void)state;
    for (enum pgk_instr_form form = 0; form < PGK_INSTR_FORMS; form++) {
        const struct pgk_instr_target target = {.form = form};
        struct pgk_err err = {0};
        assert_int_equal(pgk_instr_write(p, "/nowhere/out", &target, &err), PGK_E_EMPTY);
        assert_string_equal(err.format, counter_formats[form]);
    }
    pgk_instr_close(&p);
}

/* LLVM takes a larger count than 2^56 in a raw file for damage. */
static void counters_that_a_form_cannot_hold(void **state)
{
    struct pgk_instr *p = sample_instr();
    (void)state;
    assert_int_equal(sample_read_text(p, "f\n1\n1\n72057594037927937\n", 1, NULL), 0);
    for (enum pgk_instr_form form = 0; form < PGK_INSTR_FORMS; form++) {
        const struct pgk_instr_target target = {.form = form};
        assert_int_equal(pgk_instr_write(p, "/dev/null", &target, NULL),
                         form == PGK_INSTR_RAW ? PGK_E_LIMIT : 0);
    }
    assert_int_equal(pgk_instr_write(p, "/dev/null", &(struct pgk_instr_target){PGK_INSTR_RAW, 8},
                                     NULL),
                     0);
    pgk_instr_close(&p);
}

static void what_a_form_leaves_out_of_counters(void **state)
{
    static const struct {
        struct pgk_instr_target target;
        bool bitmaps, ids;
    } cases[] = {{{PGK_INSTR_INDEXED, 0}, false, false}, {{PGK_INSTR_INDEXED, 8}, true, true},
                 {{PGK_INSTR_INDEXED, 10}, true, false}, {{PGK_INSTR_TEXT, 0}, false, true},
                 {{PGK_INSTR_RAW, 0}, false, false},     {{PGK_INSTR_RAW, 8}, true, false}};
    struct pgk_instr *p = sample_instr();
    (void)state;
    sample_instr_fill(p, 3, 40, SAMPLE_BIT(IR), 1);
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr_loss loss = {.struct_size = sizeof loss};
        assert_int_equal(pgk_instr_loss(p, &cases[i].target, &loss, NULL), 0);
        assert_int_equal(loss.bitmap_functions > 0, cases[i].bitmaps);
        assert_int_equal(loss.binary_ids > 0, cases[i].ids);
    }
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_in_every_form),
        cmocka_unit_test(counters_of_no_such_version),
        cmocka_unit_test(counters_without_functions),
        cmocka_unit_test(counters_that_a_form_cannot_hold),
        cmocka_unit_test(what_a_form_leaves_out_of_counters),
        cmocka_unit_test(test_every_encoding),
        cmocka_unit_test(test_what_an_encoding_cannot_hold),
        cmocka_unit_test(test_no_encoding),
        cmocka_unit_test(names_of_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
