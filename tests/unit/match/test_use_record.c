/* Records of what compiles used: whole ones, and what is wrong with others. */
#include "pgk_test.h"
#include "use_record.h"

static int read_text(struct pgk_use_record *r, const char *text, size_t n, struct pgk_err *err)
{
    const struct pgk_source src = {.file = "a.used", .format = "record"};
    *r = (struct pgk_use_record){0};
    *err = (struct pgk_err){0};
    return pgk_use_record_read(r, (const uint8_t *)text, n, &src, err);
}

static const char whole[] = "pgokit-use-record 1\nmodule a b.c\nprofile heap 3 4096\n"
                            "limits 0.5 0.25 0 7\nuse 1 2a ff\nuse 13 2b 0\nhinted 9\n"
                            "compared a\ncalls 1 2 3\nend\n";

static void a_whole_record(void **state)
{
    (void)state;
    struct pgk_use_record r;
    struct pgk_err err;
    assert_int_equal(read_text(&r, whole, strlen(whole), &err), 0);
    assert_int_equal(r.kind, PGK_USE_OF_HEAP);
    assert_int_equal(r.items, 3);
    assert_int_equal(r.weight, 4096);
    assert_true(r.limits.cold_lifetime == 0.5 && r.limits.cold_share == 0.25);
    assert_true(r.limits.cold_density == 0 && r.limits.hot_density == 7);
    assert_int_equal(r.lines.n, 2);
    assert_int_equal(r.lines.v[0].use, PGK_USE_HINTED);
    assert_int_equal(r.lines.v[0].key, 0x2a);
    assert_int_equal(r.lines.v[0].place, 0xff);
    assert_int_equal(r.lines.v[1].use, PGK_USE_NO_FUNCTION);
    assert_int_equal(r.hinted.v[0], 9);
    assert_int_equal(r.compared.v[0], 10);
    assert_int_equal(r.given + 10 * r.missed + 100 * r.unlocated, 321);
    pgk_use_record_free(&r);
}

static void a_record_that_was_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n < strlen(whole) - 1; n++) {
        struct pgk_use_record r;
        struct pgk_err err;
        int status = read_text(&r, whole, n, &err);
        assert_true(status == PGK_E_TRUNCATED || status == PGK_E_CORRUPT);
        assert_true(err.offset <= n && *err.field && *err.expected && *err.hint);
        pgk_use_record_free(&r);
    }
}

static void lines_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *line, *field;
    } wrong[] = {
        {"profile", "profile"},          {"profile sample 1 2", "profile"},
        {"profile heap 1", "profile"},   {"profile heap 1 2 3", "profile"},
        {"use 18 1 1", "use"},           {"use 1 g 1", "use"},
        {"use 1 1", "use"},              {"use -1 1 1", "use"},
        {"hinted", "hinted"},            {"compared x", "compared"},
        {"limits 1 2 3", "limits"},      {"limits a 1 1 1", "limits"},
        {"calls 1 2", "calls"},          {"else", "line"},
        {"", "line"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(wrong); i++) {
        struct pgk_use_record r;
        struct pgk_err err;
        char text[128];
        int n = snprintf(text, sizeof text, "pgokit-use-record 1\n%s\nend\n", wrong[i].line);
        assert_int_equal(read_text(&r, text, (size_t)n, &err), PGK_E_CORRUPT);
        assert_string_equal(err.field, wrong[i].field);
        assert_int_equal(err.offset, 20);
        pgk_use_record_free(&r);
    }
}

static void another_version(void **state)
{
    (void)state;
    struct pgk_use_record r;
    struct pgk_err err;
    static const char text[] = "pgokit-use-record 2\nend\n";
    assert_int_equal(read_text(&r, text, strlen(text), &err), PGK_E_CORRUPT);
    assert_string_equal(err.field, "first line");
    pgk_use_record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_record),
        cmocka_unit_test(a_record_that_was_cut),
        cmocka_unit_test(lines_that_are_wrong),
        cmocka_unit_test(another_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
