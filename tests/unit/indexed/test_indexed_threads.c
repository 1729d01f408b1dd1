/* Indexed profiles are the same bytes whoever writes them: one thread or several, to a file or to
 * memory, from stacks in order or in none. */
#include "indexed.h"

#include "heap_samples.h"
#include "stack_order.h"

/* More than are left to one thread. */
enum { CONTEXTS = 12000, FUNCS = 400 };

static char *written(struct pgk_heap *h, bool use_up, uint32_t memprof, unsigned threads,
                     const char *name, size_t *size)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    const struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts,
        .threads = threads,
        .consumed = use_up ? h : NULL,
        .target = {.name = "test", .index_version = 12, .memprof_version = memprof,
                   .frame_ids = memprof >= 4 ? 2 : 1}};
    test_folder(folder);
    test_join(path, folder, name);
    assert_int_equal(pgk_indexed_write(h, NULL, path, &opts, NULL), 0);
    char *bytes = test_read_file(path, size);
    test_folder_remove(folder);
    return bytes;
}

static void test_threads(void **state)
{
    (void)state;
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, 5, CONTEXTS, FUNCS, true);
    assert_true(h->contexts.n > 10000 && !stacks_in_order(&h->stacks));
    for (uint32_t memprof = 1; memprof <= 4; memprof++) {
        size_t size, again, packed[2];
        char *want = written(h, false, memprof, 1, "one.profdata", &size), *zst[2];
        for (unsigned threads = 2; threads <= 4; threads++) {
            struct pgk_heap *copy;
            char *got = written(h, false, memprof, threads, "several.profdata", &again);
            assert_int_equal(size, again);
            assert_memory_equal(want, got, size);
            free(got);
            assert_int_equal(pgk_heap_new(&copy, NULL), 0);
            assert_int_equal(pgk_heap_merge(copy, h, NULL), 0);
            assert_true(stacks_in_order(&copy->stacks));
            got = written(copy, true, memprof, threads, "in_order.profdata", &again);
            assert_int_equal(size, again);
            assert_memory_equal(want, got, size);
            free(got);
            pgk_heap_close(&copy);
        }
        for (unsigned i = 0; i < 2; i++) /* kept in memory until it is packed */
            zst[i] = written(h, false, memprof, 1 + 2 * i, "packed.zst", &packed[i]);
        assert_int_equal(packed[0], packed[1]);
        assert_memory_equal(zst[0], zst[1], packed[0]);
        free(zst[0]);
        free(zst[1]);
        free(want);
    }
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
