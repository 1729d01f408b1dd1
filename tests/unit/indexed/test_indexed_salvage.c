/* Salvage of indexed profiles: every cut, any damaged byte. */
#include "indexed.h"
#include "salvage.h"

#include "heap_samples.h"

static void note(void *ctx, const char *what)
{
    assert_true(*what);
    ++*(size_t *)ctx;
}

static uint8_t *write_bytes(uint32_t index, uint32_t memprof, size_t *size)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    struct pgk_heap *h;
    const struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts, .full_schema = true,
        .target = {.index_version = index, .memprof_version = memprof, .frame_ids = 2}};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, 4, 12, 6, true);
    test_folder(folder);
    assert_int_equal(pgk_indexed_write(h, NULL, test_join(path, folder, "p"), &opts, NULL), 0);
    uint8_t *bytes = (uint8_t *)test_read_file(path, size);
    test_folder_remove(folder);
    pgk_heap_close(&h);
    return bytes;
}

/* Contexts that are saved; -1 if nothing could be read. */
static int save(const uint8_t *bytes, size_t size, size_t *said)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "t", .format = "indexed profile"};
    *said = 0;
    struct pgk_salvage salvage = {.fn = note, .ctx = said};
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    int status = pgk_indexed_salvage(h, copy, size, &src, &salvage, NULL, &err);
    int contexts = status ? -1 : (int)h->contexts.n;
    assert_true(!status || *err.field);
    free(copy);
    pgk_heap_close(&h);
    return contexts;
}

static void test_every_cut(void **state)
{
    (void)state;
    for (uint32_t memprof = 0; memprof <= 4; memprof++) {
        size_t size, said, partly = 0;
        uint8_t *bytes = write_bytes(12, memprof, &size);
        int all = save(bytes, size, &said);
        assert_int_equal(said, 0);
        assert_true(all > 8);
        for (size_t n = 0; n < size; n++) {
            int saved = save(bytes, n, &said);
            assert_true(saved <= all);
            assert_true(saved < 0 || said > 0);
            partly += saved > 0 && saved < all;
        }
        assert_true(partly > 0); /* a cut among the records leaves those before it */
        free(bytes);
    }
}

static void test_any_byte(void **state)
{
    (void)state;
    for (uint32_t memprof = 2; memprof <= 4; memprof++) {
        size_t size, said, damaged = 0;
        uint8_t *bytes = write_bytes(13, memprof, &size);
        for (size_t i = 0; i < size; i++) {
            uint8_t old = bytes[i];
            bytes[i] ^= 0xff;
            damaged += save(bytes, size, &said) > 0 && said;
            bytes[i] = old;
        }
        assert_true(damaged > 50);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_any_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
