/* Tests of reading JSON. */
#include "pgk_test.h"

#include "json_in.h"

static const struct pgk_source SOURCE = {.file = "a.jsonl", .format = "JSON", .base_off = 0x10};

struct text {
    struct pgk_arena arena;
    struct pgk_cursor c;
    struct pgk_err err;
};

static void begin(struct text *t, const char *json)
{
    *t = (struct text){0};
    pgk_cur_init(&t->c, json, strlen(json), &SOURCE);
}

static const struct pgk_json_value *next(struct text *t)
{
    const struct pgk_json_value *v = NULL;
    assert_int_equal(pgk_json_in_next(&t->c, &t->arena, &v, &t->err), 1);
    return v;
}

static void values_come_one_after_the_other(void **state)
{
    (void)state;
    struct text t;
    const struct pgk_json_value *none = NULL;
    begin(&t, " {\"a\": [1, \"2\", null, true], \"b\" : {}}\n[]\n-3 ");
    const struct pgk_json_value *v = next(&t), *a = pgk_json_in_member(v, "a");
    assert_int_equal(v->off, 0x11);
    assert_int_equal(v->n, 2);
    assert_int_equal(a->n, 4);
    uint64_t n = 0;
    assert_true(pgk_json_in_integer(a->first, &n) && n == 1);
    assert_true(pgk_json_in_integer(a->first->next, &n) && n == 2);
    assert_false(pgk_json_in_integer(a->first->next->next, &n));
    assert_int_equal(a->first->next->next->next->kind, PGK_JSON_TRUE);
    assert_null(a->first->next->next->next->next);
    assert_int_equal(pgk_json_in_member(v, "b")->kind, PGK_JSON_OBJECT);
    assert_null(pgk_json_in_member(v, "c"));
    assert_null(pgk_json_in_member(a, "c"));
    assert_null(pgk_json_in_member(NULL, "c"));
    assert_int_equal(next(&t)->kind, PGK_JSON_ARRAY);
    assert_true(pgk_json_in_integer(next(&t), &n) && n == (uint64_t)-3);
    assert_int_equal(pgk_json_in_next(&t.c, &t.arena, &none, &t.err), 0);
    assert_null(none);
    pgk_arena_free(&t.arena);
}

static void escapes_become_bytes(void **state)
{
    (void)state;
    struct text t;
    begin(&t, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00\\ud83dx\" \"plain\" \"\"");
    assert_true(pgk_json_in_is(next(&t), "\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                                         "\xef\xbf\xbdx"));
    const struct pgk_json_value *v = next(&t);
    assert_true(pgk_json_in_is(v, "plain"));
    assert_false(pgk_json_in_is(v, "plainer"));
    assert_true(pgk_json_in_is(next(&t), ""));
    pgk_arena_free(&t.arena);
}

static void numbers_have_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint64_t n;
        bool is_one;
    } rows[] = {
        {"18446744073709551615", UINT64_MAX, true},
        {"\"1770000000000000001\"", 1770000000000000001u, true},
        {"1e3", 1000, true},
        {"2.9", 2, true},
        {"\"x\"", 0, false},
        {"1e40", 0, false},
        {"1-2", 0, false},
    };
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        struct text t;
        uint64_t n = 0;
        begin(&t, rows[i].json);
        assert_int_equal(pgk_json_in_integer(next(&t), &n), rows[i].is_one);
        assert_true(!rows[i].is_one || n == rows[i].n);
        pgk_arena_free(&t.arena);
    }
}

static void what_is_no_json_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint64_t at;
    } rows[] = {
        {"{\"a\"", 4}, {"{\"a\" 1}", 5}, {"{1}", 1},       {"[1 2]", 3}, {"[1,", 3},
        {"\"abc", 4},  {"\"\\x\"", 1},   {"\"\\u12\"", 1}, {"nul", 0},   {"}", 0},
    };
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        struct text t;
        const struct pgk_json_value *v = NULL;
        begin(&t, rows[i].json);
        assert_int_equal(pgk_json_in_next(&t.c, &t.arena, &v, &t.err), PGK_E_CORRUPT);
        assert_int_equal(t.err.offset, 0x10 + rows[i].at);
        assert_null(v);
        pgk_arena_free(&t.arena);
    }
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    char deep[4000];
    struct text t;
    const struct pgk_json_value *v = NULL;
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    begin(&t, deep);
    assert_int_equal(pgk_json_in_next(&t.c, &t.arena, &v, &t.err), PGK_E_CORRUPT);
    pgk_arena_free(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_one_after_the_other),
        cmocka_unit_test(escapes_become_bytes),
        cmocka_unit_test(numbers_have_64_bits),
        cmocka_unit_test(what_is_no_json_is_refused_at_its_place),
        cmocka_unit_test(depth_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
