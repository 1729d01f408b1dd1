#include "json_out.h"
#include "pgk_test.h"

static struct pgk_sink *sink(void)
{
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_memory(&s, NULL), 0);
    return s;
}

static void expect(struct pgk_sink *s, const char *wanted)
{
    size_t n;
    const uint8_t *bytes = pgk_sink_data(s, &n);
    assert_int_equal(n, strlen(wanted));
    assert_memory_equal(bytes, wanted, n);
    pgk_sink_drop(&s);
}

static void test_text_is_quoted(void **state)
{
    (void)state;
    struct pgk_sink *s = sink();
    pgk_json_text(s, "a\"b\\c\n\x01</script>\xc3\xa9");
    expect(s, "\"a\\\"b\\\\c\\u000a\\u0001</script>\xc3\xa9\"");
}

static void test_numbers_are_exact(void **state)
{
    (void)state;
    struct pgk_sink *s = sink();
    pgk_json_number(s, 0);
    pgk_json_number(s, UINT64_MAX);
    expect(s, "018446744073709551615");
}

static void test_doubles_are_numbers_or_null(void **state)
{
    (void)state;
    struct pgk_sink *s = sink();
    bool first = true;
    pgk_json_comma(s, &first);
    pgk_json_double(s, 0.5);
    pgk_json_comma(s, &first);
    pgk_json_double(s, 0.0 / (double)first);
    expect(s, "0.5,null");
}

static void test_members_are_separated(void **state)
{
    (void)state;
    struct pgk_sink *s = sink();
    bool first = true;
    pgk_json_key(s, &first, "a");
    pgk_json_number(s, 1);
    pgk_json_key(s, &first, "b");
    pgk_json_number(s, 2);
    expect(s, "\"a\":1,\"b\":2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_quoted),
        cmocka_unit_test(test_numbers_are_exact),
        cmocka_unit_test(test_doubles_are_numbers_or_null),
        cmocka_unit_test(test_members_are_separated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
