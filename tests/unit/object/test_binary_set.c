/* Tests of lib/object/binary_set.c. */
#include "../dwarf_samples.h"

#include "binary_set.h"

/* Writes an executable with this build id, with debug information if `debug`. */
static void write_program(const char *path, const char *id, bool debug)
{
    struct test_dwarf d = {0};
    if (debug)
        typical(&d);
    struct test_bytes note = test_build_id(id, strlen(id));
    struct test_section s = {
        .name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n};
    struct test_bytes image = td_elf_with(&d, &s, 1);
    test_write_file(path, image.v, image.n);
    tb_free(&image);
    tb_free(&note);
    td_free(&d);
}

static void binaries_are_found_by_build_id(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], one[TEST_PATH_SIZE], two[TEST_PATH_SIZE], link_[TEST_PATH_SIZE];
    test_folder(folder);
    write_program(test_join(one, folder, "one"), "first id", true);
    write_program(test_join(two, folder, "two"), "second id", false);
    assert_int_equal(symlink("one", test_join(link_, folder, "link")), 0);
    struct pgk_binaries *set;
    struct pgk_err err = {0};
    assert_int_equal(pgk_binaries_new(&set, NULL, &err), 0);
    assert_int_equal(pgk_binaries_count(set), 0);
    assert_int_equal(pgk_binaries_find(set, (const uint8_t *)"first id", 8), PGK_INDEX_NONE);
    assert_int_equal(pgk_binaries_add(set, one, &err), 0);
    assert_int_equal(pgk_binaries_add(set, two, &err), 0);
    assert_int_equal(pgk_binaries_add(set, one, &err), 0);
    assert_int_equal(pgk_binaries_add(set, link_, &err), 0);
    assert_int_equal(pgk_binaries_count(set), 2);
    assert_int_equal(pgk_binaries_find(set, (const uint8_t *)"first id", 8), 0);
    assert_int_equal(pgk_binaries_find(set, (const uint8_t *)"second id", 9), 1);
    assert_int_equal(pgk_binaries_find(set, (const uint8_t *)"second id", 8), PGK_INDEX_NONE);
    assert_int_equal(pgk_binaries_find(set, NULL, 0), PGK_INDEX_NONE);
    assert_string_equal(pgk_elf_path(pgk_binaries_elf(set, 1)), two);

    struct pgk_symboliser *sym = NULL, *again = NULL;
    assert_int_equal(pgk_binaries_symboliser(set, 0, &sym, &err), 0);
    assert_int_equal(pgk_binaries_symboliser(set, 0, &again, &err), 0);
    assert_ptr_equal(sym, again);
    sym = NULL;
    assert_int_equal(pgk_binaries_symboliser(set, 1, &sym, &err), PGK_E_NODEBUG);
    assert_null(sym);
    assert_string_equal(err.file, two);
    pgk_binaries_close(&set);
    assert_null(set);
    pgk_binaries_close(&set);
    test_folder_remove(folder);
}

static void what_is_no_binary_is_refused(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    test_folder(folder);
    test_write_file(test_join(path, folder, "text"), "hello", 5);
    struct pgk_binaries *set;
    struct pgk_err err = {0};
    assert_int_equal(pgk_binaries_new(&set, NULL, &err), 0);
    assert_int_equal(pgk_binaries_add(set, path, &err), PGK_E_FORMAT);
    assert_string_equal(err.file, path);
    assert_int_equal(pgk_binaries_add(set, folder, &err), PGK_E_IO);
    assert_int_equal(pgk_binaries_count(set), 0);
    pgk_binaries_close(&set);
    test_folder_remove(folder);
}

static void options_are_copied_and_checked(void **state)
{
    (void)state;
    char dir[] = "/somewhere";
    const char *dirs[] = {dir};
    struct pgk_binaries_opts opts = {sizeof opts, dirs, 1, 3};
    struct pgk_binaries *set = NULL;
    struct pgk_err err = {0};
    assert_int_equal(pgk_binaries_new(&set, &opts, &err), 0);
    dir[0] = 'x';
    assert_int_equal(pgk_binaries_threads(set), 3);
    pgk_binaries_close(&set);

    opts.struct_size = 4;
    assert_int_equal(pgk_binaries_new(&set, &opts, &err), PGK_E_ARG);
    struct {
        struct pgk_binaries_opts known;
        uint64_t newer;
    } longer = {{sizeof longer, NULL, 0, 0}, 0};
    assert_int_equal(pgk_binaries_new(&set, &longer.known, &err), 0);
    pgk_binaries_close(&set);
    longer.newer = 1;
    assert_int_equal(pgk_binaries_new(&set, &longer.known, &err), PGK_E_ARG);
    assert_null(set);
}

static void a_debug_file_goes_to_the_binary_of_its_build_id(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], one[TEST_PATH_SIZE], two[TEST_PATH_SIZE], debug[TEST_PATH_SIZE];
    struct pgk_symboliser *sym = NULL;
    struct pgk_binaries *set;
    struct pgk_err err = {0};
    test_folder(folder);
    write_program(test_join(one, folder, "one"), "first id", false);
    write_program(test_join(two, folder, "two"), "second id", false);
    write_program(test_join(debug, folder, "two.debug"), "second id", true);
    assert_int_equal(pgk_binaries_new(&set, NULL, &err), 0);
    assert_int_equal(pgk_binaries_add(set, one, &err), 0);
    assert_int_equal(pgk_binaries_add_debug(set, debug, &err), PGK_E_MISMATCH);
    assert_string_equal(err.file, debug);
    assert_string_equal(err.field, "build id");
    assert_int_equal(pgk_binaries_add(set, two, &err), 0);
    assert_int_equal(pgk_binaries_add_debug(set, debug, &err), 0);
    assert_int_equal(pgk_binaries_count(set), 2);
    assert_int_equal(pgk_binaries_symboliser(set, 0, &sym, NULL), PGK_E_NODEBUG);
    assert_int_equal(pgk_binaries_symboliser(set, 1, &sym, &err), 0);
    assert_int_equal(pgk_binaries_find_file(set, two), 1);
    assert_int_equal(pgk_binaries_find_file(set, debug), PGK_INDEX_NONE);
    pgk_binaries_close(&set);
    test_folder_remove(folder);
}

static void a_debug_file_without_build_id_goes_to_an_only_binary(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], one[TEST_PATH_SIZE], two[TEST_PATH_SIZE], debug[TEST_PATH_SIZE];
    struct pgk_symboliser *sym = NULL;
    struct pgk_binaries *set;
    struct pgk_err err = {0};
    test_folder(folder);
    write_program(test_join(one, folder, "one"), "first id", false);
    write_program(test_join(two, folder, "two"), "second id", false);
    write_program(test_join(debug, folder, "debug"), "", true);
    for (int binaries = 0; binaries <= 2; binaries++) {
        assert_int_equal(pgk_binaries_new(&set, NULL, &err), 0);
        if (binaries >= 1)
            assert_int_equal(pgk_binaries_add(set, one, &err), 0);
        if (binaries == 2)
            assert_int_equal(pgk_binaries_add(set, two, &err), 0);
        assert_int_equal(pgk_binaries_add_debug(set, debug, &err),
                         binaries == 1 ? 0 : PGK_E_MISMATCH);
        if (binaries == 1)
            assert_int_equal(pgk_binaries_symboliser(set, 0, &sym, &err), 0);
        pgk_binaries_close(&set);
    }
    test_folder_remove(folder);
}

static void what_is_no_debug_file_is_refused(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], one[TEST_PATH_SIZE], text[TEST_PATH_SIZE];
    struct pgk_binaries *set;
    struct pgk_err err = {0};
    test_folder(folder);
    write_program(test_join(one, folder, "one"), "first id", false);
    test_write_file(test_join(text, folder, "text"), "hello", 5);
    assert_int_equal(pgk_binaries_new(&set, NULL, &err), 0);
    assert_int_equal(pgk_binaries_add(set, one, &err), 0);
    assert_int_equal(pgk_binaries_add_debug(set, text, &err), PGK_E_FORMAT);
    assert_string_equal(err.file, text);
    assert_int_equal(pgk_binaries_add_debug(set, one, &err), PGK_E_NODEBUG);
    assert_int_equal(pgk_binaries_add_debug(set, text, NULL), PGK_E_FORMAT);
    pgk_binaries_close(&set);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binaries_are_found_by_build_id),
        cmocka_unit_test(what_is_no_binary_is_refused),
        cmocka_unit_test(options_are_copied_and_checked),
        cmocka_unit_test(a_debug_file_goes_to_the_binary_of_its_build_id),
        cmocka_unit_test(a_debug_file_without_build_id_goes_to_an_only_binary),
        cmocka_unit_test(what_is_no_debug_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
