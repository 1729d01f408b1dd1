#include "json_out.h"
#include "pgk_test.h"

#include <math.h>

struct written {
    struct pgk_sink *sink;
    struct pgk_text_out text;
    struct pgk_json j;
};

static void begin(struct written *w, enum pgk_json_layout layout)
{
    assert_int_equal(pgk_sink_memory(&w->sink, NULL), 0);
    pgk_text_to_sink(&w->text, w->sink);
    pgk_json_begin(&w->j, &w->text, layout);
}

static void expect(struct written *w, const char *wanted)
{
    size_t n;
    pgk_text_flush(&w->text);
    const uint8_t *bytes = pgk_sink_data(w->sink, &n);
    assert_int_equal(n, strlen(wanted));
    assert_memory_equal(bytes, wanted, n);
    pgk_sink_drop(&w->sink);
}

static void put_example(struct pgk_json *j)
{
    pgk_json_object(j, NULL);
    pgk_json_number(j, "a", 1);
    pgk_json_array(j, "b");
    pgk_json_number(j, NULL, 2);
    pgk_json_object(j, NULL);
    pgk_json_end_object(j);
    pgk_json_end_array(j);
    pgk_json_line(j, 1);
    pgk_json_flag(j, "c", true);
    pgk_json_end_object(j);
}

static void layouts_of_objects_and_arrays(void **state)
{
    static const char *const wanted[] = {
        [PGK_JSON_TIGHT] = "{\"a\":1,\"b\":[2,{}],\n \"c\":true}",
        [PGK_JSON_SPACED] = "{\"a\": 1, \"b\": [2, {}],\n \"c\": true}",
        [PGK_JSON_OUTLINE] = "{\"a\":1,\"b\":[2,{}],\n \"c\": true}",
        [PGK_JSON_PRETTY] = "{\n  \"a\":1,\n  \"b\":[\n    2,\n    {\n    }\n  ],\n  \"c\":true\n}",
    };
    (void)state;
    for (enum pgk_json_layout l = 0; l < PGK_COUNTOF(wanted); l++) {
        struct written w;
        begin(&w, l);
        put_example(&w.j);
        expect(&w, wanted[l]);
    }
}

static void an_end_can_begin_a_line(void **state)
{
    (void)state;
    struct written w;
    begin(&w, PGK_JSON_SPACED);
    pgk_json_array(&w.j, NULL);
    pgk_json_line(&w.j, 2);
    pgk_json_end_array(&w.j);
    expect(&w, "[\n  ]");
}

static void text_is_quoted(void **state)
{
    (void)state;
    struct written w;
    begin(&w, PGK_JSON_TIGHT);
    pgk_json_text(&w.j, NULL, "a\"b\\c\n\x01\x7f</script>\xc3\xa9\xff\xed\xa0\x80");
    expect(&w, "\"a\\\"b\\\\c\\u000a\\u0001\\u007f</script>\xc3\xa9"
               "\\ufffd\\ufffd\\ufffd\\ufffd\"");
    begin(&w, PGK_JSON_TIGHT);
    pgk_json_text_n(&w.j, NULL, "a\0b", 3);
    expect(&w, "\"a\\u0000b\"");
}

static void long_text_is_whole(void **state)
{
    enum { LONG = 3 * PGK_TEXT_OUT_BYTES };
    static char text[LONG + 1], wanted[LONG + 3];
    (void)state;
    struct written w;
    memset(text, 'x', LONG);
    snprintf(wanted, sizeof wanted, "\"%s\"", text);
    begin(&w, PGK_JSON_TIGHT);
    pgk_json_text(&w.j, NULL, text);
    expect(&w, wanted);
}

static void numbers_are_exact(void **state)
{
    (void)state;
    struct written w;
    begin(&w, PGK_JSON_TIGHT);
    pgk_json_array(&w.j, NULL);
    pgk_json_number(&w.j, NULL, 0);
    pgk_json_number(&w.j, NULL, UINT64_MAX);
    pgk_json_hex(&w.j, NULL, 0, 1);
    pgk_json_hex(&w.j, NULL, 0x12, 4);
    pgk_json_hex(&w.j, NULL, UINT64_MAX, 16);
    pgk_json_hex_bytes(&w.j, NULL, (const uint8_t[]){0, 0xff}, 2);
    pgk_json_end_array(&w.j);
    expect(&w, "[0,18446744073709551615,\"0x0\",\"0x0012\",\"0xffffffffffffffff\",\"00ff\"]");
}

static void doubles_are_numbers_or_null(void **state)
{
    (void)state;
    struct written w;
    begin(&w, PGK_JSON_TIGHT);
    pgk_json_array(&w.j, NULL);
    pgk_json_double(&w.j, NULL, 0.5);
    pgk_json_double(&w.j, NULL, 1);
    pgk_json_double(&w.j, NULL, 99999999999999984.0);
    pgk_json_double(&w.j, NULL, 1e17);
    pgk_json_double(&w.j, NULL, NAN);
    pgk_json_digits(&w.j, NULL, 1, 17);
    pgk_json_digits(&w.j, NULL, 1 / 3.0, 6);
    pgk_json_digits(&w.j, NULL, INFINITY, 6);
    pgk_json_fixed(&w.j, NULL, 12.34, 1);
    pgk_json_fixed(&w.j, NULL, -INFINITY, 1);
    pgk_json_end_array(&w.j);
    expect(&w, "[0.5,1.0,99999999999999984.0,1e+17,null,1,0.333333,null,12.3,null]");
}

static uint64_t twice(const void *of, uint32_t id)
{
    (void)of;
    return 2 * (uint64_t)id;
}

static void columns_become_arrays(void **state)
{
    static const struct pgk_json_column columns[] = {{"a", twice}, {"b", twice}};
    (void)state;
    struct written w;
    begin(&w, PGK_JSON_TIGHT);
    pgk_json_object(&w.j, NULL);
    pgk_json_columns(&w.j, columns, 2, NULL, (const uint32_t[]){4, 3}, 2);
    pgk_json_columns(&w.j, columns, 1, NULL, NULL, 2);
    pgk_json_end_object(&w.j);
    expect(&w, "{\"a\":[8,6],\"b\":[8,6],\"a\":[0,2]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_of_objects_and_arrays),
        cmocka_unit_test(an_end_can_begin_a_line),
        cmocka_unit_test(text_is_quoted),
        cmocka_unit_test(long_text_is_whole),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(doubles_are_numbers_or_null),
        cmocka_unit_test(columns_become_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
