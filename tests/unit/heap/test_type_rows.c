/* Rows of types: read, found, refused. */
#include "type_rows.h"

#include "heap_model.h"
#include "pgk_test.h"
#include "pgokit/log.h"

static char last_message[400];

static void keep_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level;
    snprintf(last_message, sizeof last_message, "%s", text);
}

#define READ(rows, text) assert_true(pgk_type_rows_read((rows), text, sizeof text, "app"))

static const char *name_at(const struct pgk_type_rows *rows, uint64_t guid, uint32_t line,
                           uint32_t column, bool allocates)
{
    const struct pgk_type_row *row =
        pgk_type_rows_find(rows, guid, pgk_frame_place(line, column), allocates);
    return !row ? "none" : row->contradictory ? "?" : pgk_intern_str(&rows->names, row->type);
}

static void calls_are_found_by_their_place(void **state)
{
    (void)state;
    struct pgk_type_rows rows = {0};
    READ(&rows, "00000000000000ff 3 7 a ns::Foo\0"
                "00000000000000ff 3 7 c Bar\0"
                "00000000000000ff 4 7 c \0"
                "ffffffffffffffff 4294967295 4294967295 a a b");
    assert_string_equal(name_at(&rows, 0xff, 3, 7, true), "ns::Foo");
    assert_string_equal(name_at(&rows, 0xff, 3, 7, false), "Bar");
    assert_string_equal(name_at(&rows, 0xff, 4, 7, false), "");
    assert_string_equal(name_at(&rows, 0xff, 4, 7, true), "none");
    assert_string_equal(name_at(&rows, 0xff, 3, 8, true), "none");
    assert_string_equal(name_at(&rows, 0xfe, 3, 7, true), "none");
    assert_string_equal(name_at(&rows, UINT64_MAX, UINT32_MAX, UINT32_MAX, true), "a b");
    /* Profiles of LLVM have 16 bits of a line. */
    assert_string_equal(name_at(&rows, UINT64_MAX, 0xffff, UINT32_MAX, true), "a b");
    pgk_type_rows_free(&rows);
}

static void two_types_of_one_place_are_none(void **state)
{
    (void)state;
    struct pgk_type_rows rows = {0};
    READ(&rows, "01 1 1 a Foo\0" "01 1 1 a Foo\0" "01 1 2 a Foo\0" "01 1 2 a Bar\0"
                "01 1 3 c \0" "01 1 3 c Foo");
    READ(&rows, "01 1 1 a Foo");
    assert_string_equal(name_at(&rows, 1, 1, 1, true), "Foo");
    assert_string_equal(name_at(&rows, 1, 1, 2, true), "?");
    assert_string_equal(name_at(&rows, 1, 1, 3, false), "?");
    pgk_type_rows_free(&rows);
}

static void one_type_has_one_spelling(void **state)
{
    (void)state;
    struct pgk_type_rows rows = {0};
    READ(&rows, "01 1 1 a a<b<c> >\0" "01 1 1 a a<b<c>>\0" "01 1 2 a  > \0" "01 1 3 a a<b<c> > >");
    assert_string_equal(name_at(&rows, 1, 1, 1, true), "a<b<c>>");
    assert_string_equal(name_at(&rows, 1, 1, 2, true), " >");
    assert_string_equal(name_at(&rows, 1, 1, 3, true), "a<b<c>>>");
    pgk_type_rows_free(&rows);
}

static void linkage_names_of_types_are_read(void **state)
{
    (void)state;
    struct pgk_type_rows rows = {0};
    READ(&rows, "01 1 1 a _ZTSN4shop4ItemILi201EEE\0" "01 1 1 a shop::Item<201>\0"
                "01 1 2 a _ZTS3Foo**\0" "01 1 3 a _ZTS\0" "01 1 4 a _ZTS*");
    assert_string_equal(name_at(&rows, 1, 1, 1, true), "shop::Item<201>");
    assert_string_equal(name_at(&rows, 1, 1, 2, true), "Foo**");
    assert_string_equal(name_at(&rows, 1, 1, 3, true), "_ZTS");
    assert_string_equal(name_at(&rows, 1, 1, 4, true), "_ZTS*");
    pgk_type_rows_free(&rows);
}

static void bad_rows_are_left_out_and_reported(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "x", "01", "01 1", "01 1 1", "01 1 1 ", "01 1 1 a", "01 1 1 b T", "01 1 1 aT", " 1 1 a T",
        "0g 1 1 a T", "01  1 a T", "01 4294967296 1 a T", "01 1 4294967296 a T", "01 -1 1 a T",
        "00000000000000001 1 1 a T", "01 99999999999 1 a T",
    };
    pgk_log_set(keep_message, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pgk_type_rows rows = {0};
        char bytes[80] = "02 1 1 a Good", want[80];
        size_t good = strlen(bytes) + 1, n = good + strlen(bad[i]) + 1;
        strcpy(bytes + good, bad[i]);
        *last_message = 0;
        assert_true(pgk_type_rows_read(&rows, bytes, n, "app"));
        assert_int_equal(rows.list.n, 1);
        snprintf(want, sizeof want, "app: 1 row of " PGK_TYPES_SECTION
                 " cannot be read, the first at offset %zu: found", good);
        assert_memory_equal(last_message, want, strlen(want));
        pgk_type_rows_free(&rows);
    }
    pgk_log_set(NULL, NULL);
}

/* However it is cut, what is whole is read. */
static void a_section_that_is_cut_has_the_rows_before(void **state)
{
    (void)state;
    static const char bytes[] = "01 1 1 a One\0" "01 1 2 a Two";
    pgk_log_set(keep_message, NULL);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct pgk_type_rows rows = {0};
        char *copy = malloc(n + 1);
        assert_non_null(copy);
        memcpy(copy, bytes, n);
        *last_message = 0;
        assert_true(pgk_type_rows_read(&rows, copy, n, "app"));
        assert_int_equal(rows.list.n, (n >= sizeof "01 1 1 a One") + (n == sizeof bytes));
        assert_int_equal(!*last_message, !n || n == sizeof "01 1 1 a One" || n == sizeof bytes);
        pgk_type_rows_free(&rows);
        free(copy);
    }
    pgk_log_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_found_by_their_place),
        cmocka_unit_test(two_types_of_one_place_are_none),
        cmocka_unit_test(one_type_has_one_spelling),
        cmocka_unit_test(linkage_names_of_types_are_read),
        cmocka_unit_test(bad_rows_are_left_out_and_reported),
        cmocka_unit_test(a_section_that_is_cut_has_the_rows_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
