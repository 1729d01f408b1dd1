/* Tests of guest/guest_options.c and guest_text.c: what an options string sets and what is said of
 * it. */
#include "../pgk_test.h"

#include "guest_options.h"
#include "guest_text.h"

static u64 depth, verbosity, every;
static char name[PGG_OPTION_TEXT];

static const struct pgg_option rows[] = {
    {.name = "depth", .meaning = "frames", .value = &depth, .initial = 64, .lowest = 1,
     .highest = 1000},
    {.name = "verbosity", .meaning = "how much", .value = &verbosity, .highest = 3},
    {.name = "every", .meaning = "seconds", .value = &every, .highest = UINT64_MAX},
    {.name = "name", .meaning = "of the file", .text = name},
};
static const struct pgg_other_name others[] = {{"stack_depth", "depth"}};
static const struct pgg_options options = {
    .who = "test", .rows = rows, .n = 4, .others = others, .others_n = 1};

/* What is said while the string is parsed, or the options are printed. */
static char said[8192];

static void catch_stderr(const char *items, bool print)
{
    int kept = dup(STDERR_FILENO), pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(dup2(pipe_ends[1], STDERR_FILENO), STDERR_FILENO);
    close(pipe_ends[1]);
    pgg_options_parse(&options, items);
    if (print)
        pgg_options_print(&options);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    ssize_t n = read(pipe_ends[0], said, sizeof said - 1);
    assert_true(n >= 0);
    said[n] = '\0';
    close(pipe_ends[0]);
}

static int reset(void **state)
{
    (void)state;
    pgg_options_reset(&options);
    name[0] = '\0';
    return 0;
}

static void every_separator_and_both_quotes_are_known(void **state)
{
    (void)state;
    catch_stderr("::depth=12,name='a:b c'\tverbosity=yes\n every=\"0x10\"", false);
    assert_int_equal(depth, 12);
    assert_string_equal(name, "a:b c");
    assert_int_equal(verbosity, 1);
    assert_int_equal(every, 16);
    assert_string_equal(said, "");
    catch_stderr("stack_depth=7:name=", false);
    assert_int_equal(depth, 7);
    assert_string_equal(name, "");
    pgg_options_parse(&options, NULL);
    assert_int_equal(depth, 7);
}

static void numbers_are_cut_to_their_range(void **state)
{
    (void)state;
    catch_stderr("depth=0:verbosity=99", false);
    assert_int_equal(depth, 1);
    assert_int_equal(verbosity, 3);
    catch_stderr("depth=4294967295", false);
    assert_int_equal(depth, 1000);
}

static void what_is_no_number_is_ignored_with_a_word(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "x", "12x", "0x", "-1", "0xg", "99999999999999999999"};
    char items[64];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(items, sizeof items, "depth=%s", wrong[i]);
        catch_stderr(items, false);
        assert_int_equal(depth, 64);
        assert_string_equal(
            said, "test: the value of this option is not a number, so it is ignored: depth\n");
    }
}

static void unknown_names_are_said(void **state)
{
    (void)state;
    catch_stderr("depht=3:nothing", false);
    assert_string_equal(
        said, "test: unknown option, which has no effect; help=1 prints all: depht\n");
    assert_int_equal(depth, 64);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char items[3 * PGG_OPTION_TEXT];
    memset(items, 'x', sizeof items);
    memcpy(items, "name=", 5);
    items[sizeof items - 1] = '\0';
    catch_stderr(items, false);
    assert_int_equal(strlen(name), PGG_OPTION_TEXT - 1);
    /* A name that is longer than any is cut, too, and what follows is read. */
    memset(items, 'd', 200);
    strcpy(items + 200, "=1:depth=5");
    catch_stderr(items, false);
    assert_int_equal(depth, 5);
}

static void all_options_are_printed(void **state)
{
    (void)state;
    catch_stderr("every=18446744073:name=out", true);
    assert_int_equal(every, 18446744073);
    assert_string_equal(said, "test: depth (64): frames\n"
                              "test: verbosity (0): how much\n"
                              "test: every (18446744073): seconds\n"
                              "test: name (out): of the file\n");
}

static void text_stops_at_the_end_of_its_buffer(void **state)
{
    (void)state;
    char buffer[8];
    struct pgg_text t;
    pgg_text_init(&t, buffer, sizeof buffer);
    pgg_text_u64(&t, 0);
    pgg_text_str(&t, "-");
    pgg_text_u64(&t, UINT64_MAX);
    assert_string_equal(buffer, "0-18446");
    assert_ptr_equal(t.at, t.end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_separator_and_both_quotes_are_known, reset),
        cmocka_unit_test_setup(numbers_are_cut_to_their_range, reset),
        cmocka_unit_test_setup(what_is_no_number_is_ignored_with_a_word, reset),
        cmocka_unit_test_setup(unknown_names_are_said, reset),
        cmocka_unit_test_setup(long_texts_are_cut, reset),
        cmocka_unit_test_setup(all_options_are_printed, reset),
        cmocka_unit_test_setup(text_stops_at_the_end_of_its_buffer, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
