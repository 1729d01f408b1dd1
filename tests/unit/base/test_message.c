/* Tests of log messages. */
#include "pgk_test.h"

#include "message.h"

static struct {
    int count;
    enum pgk_log_level level;
    char text[4096];
} last;

static void keep(void *ctx, enum pgk_log_level level, const char *text)
{
    assert_ptr_equal(ctx, &last);
    last.count++;
    last.level = level;
    snprintf(last.text, sizeof last.text, "%s", text);
}

static int reset(void **state)
{
    (void)state;
    memset(&last, 0, sizeof last);
    pgk_log_set(NULL, NULL);
    pgk_log_level(PGK_LOG_NOTE);
    return 0;
}

static void a_callback_gets_finished_sentences(void **state)
{
    (void)state;
    pgk_log_set(keep, &last);
    pgk_warn("%d files %s", 3, "left out");
    assert_int_equal(last.count, 1);
    assert_int_equal(last.level, PGK_LOG_WARNING);
    assert_string_equal(last.text, "3 files left out");
    pgk_note("note");
    assert_int_equal(last.level, PGK_LOG_NOTE);
    assert_int_equal(last.count, 2);
}

static void less_urgent_messages_are_dropped(void **state)
{
    (void)state;
    pgk_log_set(keep, &last);
    pgk_debug("dropped");
    assert_int_equal(last.count, 0);
    pgk_log_level(PGK_LOG_DEBUG);
    pgk_debug("kept");
    assert_int_equal(last.count, 1);
    pgk_log_level(PGK_LOG_WARNING);
    pgk_note("dropped");
    assert_int_equal(last.count, 1);
    pgk_warn("kept");
    assert_int_equal(last.count, 2);
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[4000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    pgk_log_set(keep, &last);
    pgk_warn("%s", text);
    assert_in_range(strlen(last.text), 1000, 3998);
}

static void by_default_messages_go_to_stderr(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int old = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    pgk_warn("a\x1b[31m %s", "file\n");
    pgk_note("b");
    pgk_debug("c");
    pgk_log_level(PGK_LOG_DEBUG);
    pgk_debug("d");
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);

    char text[256];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_string_equal(text, "pgokit: warning: a\\x1b[31m file\\x0a\n"
                              "pgokit: note: b\n"
                              "pgokit: debug: d\n");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_callback_gets_finished_sentences, reset, reset),
        cmocka_unit_test_setup_teardown(less_urgent_messages_are_dropped, reset, reset),
        cmocka_unit_test_setup_teardown(long_messages_are_cut, reset, reset),
        cmocka_unit_test_setup_teardown(by_default_messages_go_to_stderr, reset, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
