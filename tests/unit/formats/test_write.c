/* Writing a profile as what its format's row says. */
#include "pgokit/format.h"

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
        assert_non_null(pgk_sample_encoding_name(e));
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
    assert_null(pgk_sample_encoding_name(PGK_SAMPLE_ENCODINGS));
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
                 {"gcc12", 0, PGK_SAMPLE_GCC, 12},      {"gcc16.2", 0, PGK_SAMPLE_GCC, 16},
                 {"gcc11", PGK_E_ARG, 0, 0},            {"gcc17", PGK_E_ARG, 0, 0},
                 {"gcc16x", PGK_E_ARG, 0, 0},           {"", PGK_E_ARG, 0, 0}};
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_sample_write_opts opts = {0};
        assert_int_equal(pgk_sample_write_for(&opts, cases[i].name, NULL), cases[i].status);
        assert_int_equal(opts.encoding, cases[i].encoding);
        assert_int_equal(opts.gcc_release, cases[i].release);
        assert_int_equal(pgk_sample_write_holds_times(&opts), cases[i].release == 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_encoding),
        cmocka_unit_test(test_what_an_encoding_cannot_hold),
        cmocka_unit_test(test_no_encoding),
        cmocka_unit_test(names_of_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
