/* Lists that people write: blanks, empty lines, comments, line ends. */
#include "text_lines.h"

#include "pgk_test.h"

static char path[TEST_PATH_SIZE], folder[TEST_PATH_SIZE];

static int set_up(void **state)
{
    (void)state;
    test_folder(folder);
    test_join(path, folder, "list");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static int note_line(void *ctx, const char *line, size_t len, uint64_t number, struct pgk_err *err)
{
    (void)err;
    char *text = ctx;
    sprintf(text + strlen(text), "%d:%.*s|", (int)number, (int)len, line);
    return number == 9 ? PGK_E_LIMIT : 0;
}

static int note_pair(void *ctx, const char *old, size_t n_old, const char *new, size_t n_new,
                     struct pgk_err *err)
{
    (void)err;
    char *text = ctx;
    sprintf(text + strlen(text), "%.*s>%.*s|", (int)n_old, old, (int)n_new, new);
    return 0;
}

static void lines_are_given_without_blanks(void **state)
{
    (void)state;
    static const char list[] = "one\n\n  two words\t\r\n# three\n \t\nlast";
    char text[200] = "";
    test_write_file(path, list, sizeof list - 1);
    assert_int_equal(pgk_text_lines(path, note_line, text, NULL), 0);
    assert_string_equal(text, "1:one|3:two words|4:# three|6:last|");
    test_write_file(path, "\n\n\n\n\n\n\n\nx\ny\n", 13);
    assert_int_equal(pgk_text_lines(path, note_line, text, NULL), PGK_E_LIMIT);
}

static void lines_hold_pairs(void **state)
{
    (void)state;
    static const char list[] = "# old new\n\na b\n c \t d\r\n";
    static const char *const wrong[] = {"a b\none\n", "a b\na b c\n"};
    char text[200] = "";
    test_write_file(path, list, sizeof list - 1);
    assert_int_equal(pgk_text_pairs(path, note_pair, text, NULL), 0);
    assert_string_equal(text, "a>b|c>d|");
    for (size_t i = 0; i < PGK_COUNTOF(wrong); i++) {
        struct pgk_err err = {0};
        test_write_file(path, wrong[i], strlen(wrong[i]));
        assert_int_equal(pgk_text_pairs(path, note_pair, text, &err), PGK_E_CORRUPT);
        assert_string_equal(err.record, "line 2");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_given_without_blanks),
        cmocka_unit_test(lines_hold_pairs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
