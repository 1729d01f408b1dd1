#include "pgk_test.h"
#include "source_lines.h"

static char folder[TEST_PATH_SIZE];

static int setup(void **state)
{
    char path[TEST_PATH_SIZE];
    (void)state;
    test_folder(folder);
    assert_int_equal(mkdir(test_join(path, folder, "src"), 0777), 0);
    test_write_file(test_join(path, folder, "src/a.c"), "one\ntwo\r\n\nfour", 14);
    test_write_file(test_join(path, folder, "src/empty.c"), "", 0);
    test_write_file(test_join(path, folder, "src/secret"), "secret\n", 7);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void expect_line(const struct pgk_source_file *f, uint32_t line, const char *wanted)
{
    size_t len;
    const char *text = pgk_source_line(f, line, &len);
    assert_non_null(text);
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(text, wanted, len);
}

static const struct pgk_source_file *find(struct pgk_source_lines *s, const char *name)
{
    const struct pgk_source_file *file;
    assert_int_equal(pgk_source_find(s, name, &file, NULL), 0);
    return file;
}

static void lines_without_their_ends(void **state)
{
    struct pgk_source_lines s = {0};
    char path[TEST_PATH_SIZE];
    size_t len;
    (void)state;
    const struct pgk_source_file *f = find(&s, test_join(path, folder, "src/a.c"));
    assert_non_null(f);
    expect_line(f, 1, "one");
    expect_line(f, 2, "two");
    expect_line(f, 3, "");
    expect_line(f, 4, "four");
    assert_null(pgk_source_line(f, 0, &len));
    assert_null(pgk_source_line(f, 5, &len));
    assert_null(pgk_source_line(f, UINT32_MAX, &len));
    pgk_source_lines_free(&s);
}

/* Built in another place: leading folders are tried and dropped one by one. */
static void moved_sources_are_found_below_a_folder(void **state)
{
    const char *folders[] = {"/nonexistent", folder};
    struct pgk_source_lines s = {.folders = folders, .n_folders = 2};
    (void)state;
    assert_non_null(find(&s, "/home/builder/project/src/a.c"));
    assert_non_null(find(&s, "src/a.c"));
    assert_null(find(&s, "/home/builder/project/src/b.c"));
    pgk_source_lines_free(&s);
}

static void only_sources_are_opened(void **state)
{
    struct pgk_source_lines s = {0};
    char path[TEST_PATH_SIZE];
    (void)state;
    assert_null(find(&s, test_join(path, folder, "src/secret")));
    assert_null(find(&s, test_join(path, folder, "src")));
    assert_null(find(&s, test_join(path, folder, "src/empty.c")));
    assert_null(find(&s, "/etc/passwd"));
    assert_null(find(&s, "/dev/null.c"));
    assert_null(find(&s, ""));
    pgk_source_lines_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_without_their_ends),
        cmocka_unit_test(moved_sources_are_found_below_a_folder),
        cmocka_unit_test(only_sources_are_opened),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
