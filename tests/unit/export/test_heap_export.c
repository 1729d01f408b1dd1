#include "heap_samples.h"
#include "pgk_test.h"
#include "pgokit/report.h"

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

static struct pgk_heap *sample(uint64_t seed)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, seed, 20, 6, false);
    const struct pgk_heap_point points[] = {{0, 0, 0, 0, 0}, {5, 9, 1, 9, 1}, {8, 4, 1, 9, 1}};
    const struct pgk_heap_times times = {.struct_size = sizeof times, .processes = 1, .peak_ms = 5,
                                         .peak_bytes = 9, .peak_objects = 1, .points = points,
                                         .n_points = PGK_COUNTOF(points)};
    assert_int_equal(pgk_heap_build_over_time(h, &times, NULL), 0);
    return h;
}

static void an_empty_profile_is_refused(void **state)
{
    struct pgk_heap *h;
    char path[TEST_PATH_SIZE];
    (void)state;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (size_t f = 0; pgk_export_format_at(f); f++)
        assert_int_equal(pgk_heap_export(h, pgk_export_format_at(f)->name,
                                         test_join(path, folder, "empty"), NULL, NULL),
                         PGK_E_EMPTY);
    assert_int_equal(test_folder_entries(folder), 0);
    pgk_heap_close(&h);
}

/* A run that fails leaves what was there before. */
static void out_of_memory_anywhere(void **state)
{
    struct pgk_heap *h = sample(5), *base = sample(6);
    char path[TEST_PATH_SIZE];
    (void)state;
    test_join(path, folder, "out");
    for (size_t f = 0; pgk_export_format_at(f); f++) {
        const char *format = pgk_export_format_at(f)->name;
        struct pgk_heap_export_opts opts = {.struct_size = sizeof opts, .title = "t"};
        opts.base = strcmp(format, "html") ? NULL : base;
        for (uint64_t nth = 1, failed = 1; failed; nth++) {
            size_t size;
            test_write_file(path, "old", 3);
            pgk_mem_fail_after(nth);
            int status = pgk_heap_export(h, format, path, &opts, NULL);
            pgk_mem_fail_after(0);
            failed = status != 0;
            assert_true(!status || status == PGK_E_NOMEM);
            char *now = test_read_file(path, &size);
            assert_int_equal(size == 3 && !memcmp(now, "old", 3), failed);
            free(now);
        }
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(test_folder_entries(folder), 0);
    pgk_heap_close(&h);
    pgk_heap_close(&base);
}

static void weights_are_named(void **state)
{
    static const char *const names[] = {"bytes",  "count",        "accesses", "lifetime-bytes",
                                        "leaked", "leaked-count", "peak",     "peak-count"};
    (void)state;
    for (enum pgk_heap_weight w = 0; w < PGK_HEAP_WEIGHTS; w++)
        assert_string_equal(pgk_heap_weight_name(w), names[w]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_profile_is_refused),
        cmocka_unit_test(out_of_memory_anywhere),
        cmocka_unit_test(weights_are_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
