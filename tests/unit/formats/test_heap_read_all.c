/* Reading many profiles on several threads. */
#include "pgokit/format.h"

#include "../heap_samples.h"
#include "heap_partial.h"
#include "heap_raw.h"

enum { FILES = 23 };

static char folder[TEST_PATH_SIZE], paths[FILES][TEST_PATH_SIZE];
static struct pgk_input inputs[FILES];

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

static void save_raw(const struct pgk_heap *h, const char *path)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_open(&out, path, NULL), 0);
    assert_int_equal(pgk_heap_raw_write(h, out, 5, path, NULL), 0);
    assert_int_equal(pgk_sink_commit(&out, NULL), 0);
}

/* Files of all formats whose readers add in a way of their own, and of very different sizes; some
 * share contexts, some have histograms and values beyond 32 bits. */
static int set_up(void **state)
{
    (void)state;
    test_folder(folder);
    for (unsigned i = 0; i < FILES; i++) {
        const struct pgk_indexed_write_opts all = {
            .struct_size = sizeof all, .target = *pgk_indexed_target("llvm22"),
            .full_schema = true};
        struct pgk_heap *h = new_heap();
        char name[16];
        unsigned contexts = i % 8 == 4 ? 3000 : 1 + 7 * i;
        snprintf(name, sizeof name, "%u", i);
        test_join(paths[i], folder, name);
        if (i % 4 < 2) {
            sample_fill_addresses(h, i % 3, contexts, 3, false, i % 4);
            save_raw(h, paths[i]);
        } else {
            sample_fill(h, i % 3, contexts, 5, true);
            assert_int_equal(i % 4 == 2 ? pgk_heap_write_partial(h, paths[i], NULL)
                                        : pgk_indexed_write(h, NULL, paths[i], &all, NULL),
                             0);
        }
        inputs[i] = (struct pgk_input){paths[i], i % 5 == 2 ? 3 : 1, NULL};
        pgk_heap_close(&h);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

/* One after the other, each as often as it counts. */
static struct pgk_heap *plain(void)
{
    struct pgk_heap *all = new_heap();
    for (size_t i = 0; i < FILES; i++)
        for (uint64_t k = 0; k < inputs[i].weight; k++)
            assert_int_equal(pgk_heap_read(all, inputs[i].path, 1, NULL), 0);
    return all;
}

/* A partial profile says all that a model does, in an order that depends on nothing else. */
static void assert_same(const struct pgk_heap *a, const struct pgk_heap *b)
{
    struct pgk_sink *x, *y;
    size_t x_size, y_size;
    assert_int_equal(pgk_sink_memory(&x, NULL), 0);
    assert_int_equal(pgk_sink_memory(&y, NULL), 0);
    assert_int_equal(pgk_heap_partial_write(a, x, NULL), 0);
    assert_int_equal(pgk_heap_partial_write(b, y, NULL), 0);
    const uint8_t *x_bytes = pgk_sink_data(x, &x_size), *y_bytes = pgk_sink_data(y, &y_size);
    assert_int_equal(x_size, y_size);
    assert_memory_equal(x_bytes, y_bytes, x_size);
    pgk_sink_drop(&x);
    pgk_sink_drop(&y);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    struct pgk_heap *want = plain();
    assert_true(want->contexts.n > 1000);
    for (unsigned threads = 1; threads < 30; threads += 3) {
        struct pgk_heap *got = NULL;
        assert_int_equal(pgk_heap_read_all(&got, inputs, FILES, threads, NULL), 0);
        assert_same(want, got);
        pgk_heap_close(&got);
    }
    pgk_heap_close(&want);
}

/* Files that were opened before are the same, and know afterwards what they are. */
static void opened_files_know_what_they_are(void **state)
{
    (void)state;
    struct pgk_heap *want = plain(), *got = NULL;
    struct pgk_input opened[FILES];
    for (size_t i = 0; i < FILES; i++) {
        opened[i] = inputs[i];
        assert_int_equal(pgk_file_open(&opened[i].file, inputs[i].path, NULL), 0);
        assert_true(pgk_file_holds(opened[i].file, PGK_KIND_HEAP));
        assert_false(pgk_file_holds(opened[i].file, PGK_KIND_SAMPLE));
    }
    assert_int_equal(pgk_heap_read_all(&got, opened, FILES, 3, NULL), 0);
    assert_same(want, got);
    for (size_t i = 0; i < FILES; i++) {
        const struct pgk_file_info *info = pgk_file_info(opened[i].file);
        assert_int_equal(pgk_file_info_fact(info, PGK_FACT_SHARD), i % 4 == 2);
        assert_true(pgk_file_info_size_bytes(info) > 20);
        pgk_file_close(&opened[i].file);
        assert_null(opened[i].file);
    }
    pgk_heap_close(&got);
    pgk_heap_close(&want);
}

static void few_inputs(void **state)
{
    (void)state;
    for (size_t n = 0; n < 4; n++) {
        struct pgk_heap *got = NULL, *want = new_heap();
        for (size_t i = 0; i < n; i++)
            for (uint64_t k = 0; k < inputs[i].weight; k++)
                assert_int_equal(pgk_heap_read(want, inputs[i].path, 1, NULL), 0);
        assert_int_equal(pgk_heap_read_all(&got, inputs, n, 8, NULL), 0);
        assert_same(want, got);
        pgk_heap_close(&got);
        pgk_heap_close(&want);
    }
}

/* Of several bad files it is always the first that is told of. */
static void the_first_bad_file_is_named(void **state)
{
    (void)state;
    test_write_file(paths[6], "", 0);
    test_write_file(paths[9], "bad", 3);
    assert_int_equal(unlink(paths[20]), 0);
    for (unsigned threads = 1; threads < 30; threads += 2) {
        struct pgk_heap *got = NULL;
        struct pgk_err err = {0};
        assert_int_equal(pgk_heap_read_all(&got, inputs, FILES, threads, &err),
                         PGK_E_TRUNCATED);
        assert_string_equal(err.file, paths[6]);
        assert_null(got);
    }
}

static void running_out_of_memory(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth += 1 + nth / 4) {
        struct pgk_heap *got = NULL;
        pgk_mem_fail_after(nth);
        status = pgk_heap_read_all(&got, inputs, 4, 2, NULL);
        pgk_mem_fail_after(0);
        assert_true(!status == (got != NULL));
        pgk_heap_close(&got);
        assert_in_range(nth, 1, 100000);
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(opened_files_know_what_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(few_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_bad_file_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
