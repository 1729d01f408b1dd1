#include "pgk_test.h"
#include "pgokit/report.h"
#include "sample_model.h"

static char folder[TEST_PATH_SIZE];

static int setup(void **state)
{
    (void)state;
    test_folder(folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static uint32_t name(struct pgk_sample *p, const char *s)
{
    return pgk_sample_name(p, s, strlen(s));
}

/* Contexts, inlinees, calls and types. */
static struct pgk_sample *sample(uint64_t count)
{
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_set_kind(p, true, false, "", NULL), 0);
    uint32_t top = pgk_sample_function(p, name(p, "main"));
    uint32_t called = pgk_sample_context(p, top, pgk_sample_loc(3, 1), name(p, "_Z5parsev"));
    pgk_sample_make_top(p, called);
    uint32_t inlined = pgk_sample_inlinee(p, called, pgk_sample_loc(2, 0), name(p, "peek"));
    assert_true(pgk_sample_add_body(p, top, pgk_sample_loc(1, 0), count));
    assert_true(pgk_sample_add_body(p, inlined, pgk_sample_loc(1, 0), 7));
    assert_true(pgk_sample_add_target(p, called, pgk_sample_loc(4, 0), name(p, "next"), 5));
    assert_true(pgk_sample_add_vtable(p, called, pgk_sample_loc(4, 0), name(p, "_ZTV1A"), 3));
    pgk_sample_add_total(p, top, count);
    pgk_sample_add_total(p, called, 7);
    pgk_sample_add_total(p, inlined, 7);
    pgk_sample_add_head(p, top, 2);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    return p;
}

static void an_empty_profile_is_refused(void **state)
{
    struct pgk_sample *p;
    char path[TEST_PATH_SIZE];
    (void)state;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    for (size_t f = 0; pgk_export_format_at(f); f++)
        assert_int_equal(pgk_sample_export(p, pgk_export_format_at(f)->name,
                                           test_join(path, folder, "empty"), NULL, NULL),
                         PGK_E_EMPTY);
    assert_int_equal(test_folder_entries(folder), 0);
    pgk_sample_close(&p);
}

/* A run that fails leaves what was there before. */
static void out_of_memory_anywhere(void **state)
{
    struct pgk_sample *p = sample(10), *base = sample(20);
    char path[TEST_PATH_SIZE];
    (void)state;
    test_join(path, folder, "out");
    for (size_t f = 0; pgk_export_format_at(f); f++) {
        const char *format = pgk_export_format_at(f)->name;
        struct pgk_sample_export_opts opts = {.struct_size = sizeof opts, .title = "t"};
        opts.base = strcmp(format, "html") ? NULL : base;
        for (uint64_t nth = 1, failed = 1; failed; nth++) {
            size_t size;
            test_write_file(path, "old", 3);
            pgk_mem_fail_after(nth);
            int status = pgk_sample_export(p, format, path, &opts, NULL);
            pgk_mem_fail_after(0);
            failed = status != 0;
            assert_true(!status || status == PGK_E_NOMEM);
            char *now = test_read_file(path, &size);
            assert_int_equal(size == 3 && !memcmp(now, "old", 3), failed);
            free(now);
        }
    }
    assert_int_equal(unlink(path), 0);
    pgk_sample_close(&p);
    pgk_sample_close(&base);
}

static void stacks_are_folded(void **state)
{
    struct pgk_sample *p = sample(10);
    char path[TEST_PATH_SIZE];
    size_t size;
    (void)state;
    test_join(path, folder, "folded");
    assert_int_equal(pgk_sample_export(p, "folded", path, NULL, NULL), 0);
    char *text = test_read_file(path, &size);
    static const char wanted[] = "main 10\nmain;parse;peek 7\n";
    assert_int_equal(size, sizeof wanted - 1);
    assert_memory_equal(text, wanted, size);
    free(text);
    assert_int_equal(unlink(path), 0);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_profile_is_refused),
        cmocka_unit_test(out_of_memory_anywhere),
        cmocka_unit_test(stacks_are_folded),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
