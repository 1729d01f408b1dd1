/* Reading many profiles on several threads. */
#include "pgokit/format.h"

#include "../heap_samples.h"

enum { FILES = 23 };

static char folder[TEST_PATH_SIZE], paths[FILES][TEST_PATH_SIZE];
static struct pgk_input inputs[FILES];

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

/* Files of very different sizes, some of which share contexts. */
static int set_up(void **state)
{
    (void)state;
    test_folder(folder);
    for (unsigned i = 0; i < FILES; i++) {
        struct pgk_heap *h = new_heap();
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        sample_fill(h, i % 9, i == 4 ? 3000 : 1 + 7 * i, 5, true);
        test_join(paths[i], folder, name);
        assert_int_equal(pgk_heap_partial_save(h, paths[i], NULL), 0);
        inputs[i] = (struct pgk_input){paths[i], 1 + i % 3};
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
            assert_int_equal(pgk_heap_read(all, inputs[i].path, NULL, NULL), 0);
    return all;
}

/* Also contexts come in the same order. */
static void assert_same(const struct pgk_heap *a, const struct pgk_heap *b)
{
    assert_int_equal(a->contexts.n, b->contexts.n);
    assert_int_equal(a->sites.n, b->sites.n);
    for (size_t c = 0; c < a->contexts.n; c++) {
        struct pgk_heap_frame x[16], y[16];
        size_t n = pgk_heap_stack(a, c, x, 16);
        assert_int_equal(pgk_heap_stack(b, c, y, 16), n);
        for (size_t i = 0; i < n; i++)
            assert_true(x[i].guid == y[i].guid && x[i].line_offset == y[i].line_offset &&
                        x[i].column == y[i].column && x[i].inlined == y[i].inlined);
        const struct pgk_mib *m = pgk_heap_mib(a, c, PGK_MIB_ROOM);
        assert_memory_equal(m->v, pgk_heap_mib(b, c, PGK_MIB_ROOM)->v, sizeof m->v);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    struct pgk_heap *want = plain();
    assert_true(want->contexts.n > 1000);
    for (unsigned threads = 1; threads < 30; threads += 3) {
        struct pgk_heap *got = NULL;
        struct pgk_file_info infos[FILES];
        memset(infos, 0, sizeof infos);
        assert_int_equal(pgk_heap_read_all(&got, inputs, FILES, threads, infos, NULL), 0);
        assert_same(want, got);
        for (size_t i = 0; i < FILES; i++)
            assert_true(infos[i].partial && infos[i].size_bytes > 20);
        pgk_heap_close(&got);
    }
    pgk_heap_close(&want);
}

static void few_inputs(void **state)
{
    (void)state;
    for (size_t n = 0; n < 4; n++) {
        struct pgk_heap *got = NULL, *want = new_heap();
        for (size_t i = 0; i < n; i++)
            for (uint64_t k = 0; k < inputs[i].weight; k++)
                assert_int_equal(pgk_heap_read(want, inputs[i].path, NULL, NULL), 0);
        assert_int_equal(pgk_heap_read_all(&got, inputs, n, 8, NULL, NULL), 0);
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
        assert_int_equal(pgk_heap_read_all(&got, inputs, FILES, threads, NULL, &err),
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
        status = pgk_heap_read_all(&got, inputs, 4, 2, NULL, NULL);
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
        cmocka_unit_test_setup_teardown(few_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_bad_file_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
