#include "markdown_out.h"
#include "pgk_test.h"

static void expect(const char *text, const char *wanted)
{
    struct pgk_sink *sink;
    struct pgk_text_out out;
    size_t n;
    assert_int_equal(pgk_sink_memory(&sink, NULL), 0);
    pgk_text_to_sink(&out, sink);
    pgk_md_code(&out, text);
    pgk_text_flush(&out);
    const uint8_t *bytes = pgk_sink_data(sink, &n);
    assert_int_equal(n, strlen(wanted));
    assert_memory_equal(bytes, wanted, n);
    pgk_sink_drop(&sink);
}

static void markup_in_a_text_is_code(void **state)
{
    (void)state;
    expect("", "");
    expect("operator new(unsigned long)", "`operator new(unsigned long)`");
    expect("<b>*x*</b>[a](b)@all", "`<b>*x*</b>[a](b)@all`");
}

static void a_text_does_not_end_its_span(void **state)
{
    (void)state;
    expect("a`b", "`` a`b ``");
    expect("```", "```` ``` ````");
    expect(" a", "`  a `");
    expect("a\\", "`a\\`");
}

static void a_text_does_not_end_its_cell_or_line(void **state)
{
    (void)state;
    expect("operator|", "`operator\\|`");
    expect("a\\|b", "`a\\x5c\\|b`");
    expect("a\n| b", "`a\\x0a\\| b`");
}

static void a_long_text_is_cut(void **state)
{
    char text[1001], wanted[300];
    (void)state;
    memset(text, 'x', 1000);
    text[1000] = '\0';
    snprintf(wanted, sizeof wanted, "`%.240s...`", text);
    expect(text, wanted);
    text[240] = '\0';
    snprintf(wanted, sizeof wanted, "`%.240s`", text);
    expect(text, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_in_a_text_is_code),
        cmocka_unit_test(a_text_does_not_end_its_span),
        cmocka_unit_test(a_text_does_not_end_its_cell_or_line),
        cmocka_unit_test(a_long_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
