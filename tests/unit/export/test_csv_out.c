/* Tables as RFC 4180 has them. */
#include "csv_out.h"

#include "pgk_test.h"

static void expect_cell(const char *text, const char *expected)
{
    struct pgk_text_out out;
    struct pgk_sink *sink;
    size_t size;
    assert_int_equal(pgk_sink_memory(&sink, NULL), 0);
    pgk_text_to_sink(&out, sink);
    pgk_csv_cell(&out, text);
    pgk_text_flush(&out);
    const uint8_t *bytes = pgk_sink_data(sink, &size);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(bytes, expected, size);
    pgk_sink_drop(&sink);
}

static void cells_are_quoted(void **state)
{
    (void)state;
    expect_cell("", "\"\"");
    expect_cell("main", "\"main\"");
    expect_cell("f(int, char)", "\"f(int, char)\"");
    expect_cell("two\nlines", "\"two\nlines\"");
}

static void quotes_within_are_doubled(void **state)
{
    (void)state;
    expect_cell("operator\"\" _km", "\"operator\"\"\"\" _km\"");
    expect_cell("\"", "\"\"\"\"");
}

/* A spreadsheet computes what begins like this, also in quotes. */
static void what_begins_a_formula_gets_a_blank(void **state)
{
    (void)state;
    expect_cell("=1+1", "\" =1+1\"");
    expect_cell("+f", "\" +f\"");
    expect_cell("-f", "\" -f\"");
    expect_cell("@f", "\" @f\"");
    expect_cell("a=b", "\"a=b\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_quoted),
        cmocka_unit_test(quotes_within_are_doubled),
        cmocka_unit_test(what_begins_a_formula_gets_a_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
