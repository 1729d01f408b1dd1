/* Tests of the bounded reader. */
#include "pgk_test.h"

#include "cursor.h"
#include "sink.h"

static const struct pgk_source SOURCE = {
    .file = "mem.profraw", .format = "raw heap profile", .version = 4, .base_off = 0x100};

static struct pgk_cursor over(const void *bytes, size_t size)
{
    struct pgk_cursor c;
    pgk_cur_init(&c, bytes, size, &SOURCE);
    return c;
}

static void assert_says(const struct pgk_cursor *c, int status, const char *text)
{
    struct pgk_err err;
    char buf[8192];
    assert_int_equal(pgk_cur_check(c, &err, "MIB 17"), status);
    assert_string_equal(test_printed(buf, &err), text);
    assert_int_equal(pgk_cur_check(c, NULL, NULL), status);
}

static void reads_straight_down_a_layout(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 'h', 'i'};
    struct pgk_cursor c = over(bytes, sizeof bytes);
    assert_int_equal(pgk_cur_u8(&c, "a"), 1);
    assert_int_equal(pgk_cur_u16(&c, "b"), 0x0302);
    assert_int_equal(pgk_cur_u32(&c, "c"), 0x07060504);
    assert_int_equal(pgk_cur_off(&c), 0x107);
    assert_true(pgk_cur_u64(&c, "d") == 0x0f0e0d0c0b0a0908u);
    assert_memory_equal(pgk_cur_take(&c, 2, "text"), "hi", 2);
    assert_int_equal(pgk_cur_left(&c), 0);
    assert_non_null(pgk_cur_take(&c, 0, "nothing"));
    assert_int_equal(pgk_cur_check(&c, NULL, "x"), 0);
}

static void the_first_failure_sticks(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7};
    struct pgk_cursor c = over(bytes, sizeof bytes);
    pgk_cur_u32(&c, "magic");
    assert_int_equal(pgk_cur_u64(&c, "stack id"), 0);
    assert_int_equal(pgk_cur_u8(&c, "later"), 0);
    assert_null(pgk_cur_take(&c, 0, "later"));
    assert_int_equal(pgk_cur_uleb(&c, "later"), 0);
    assert_int_equal(pgk_cur_sleb(&c, "later"), 0);
    assert_int_equal(pgk_cur_count(&c, 1, "later"), 0);
    assert_false(pgk_cur_seek(&c, 0x100, "later"));
    assert_int_equal(pgk_cur_left(&c), 0);
    assert_says(&c, PGK_E_TRUNCATED,
                "mem.profraw: raw heap profile v4: MIB 17, field stack id at offset 0x104 (260): "
                "found 3 bytes left, expected 8 bytes. The file is cut short; copy it again, or "
                "run the program to its end.");
}

static void a_loop_over_what_is_left_ends(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3};
    struct pgk_cursor c = over(bytes, sizeof bytes);
    int rounds = 0;
    while (pgk_cur_left(&c) && rounds < 10) {
        pgk_cur_u16(&c, "x");
        rounds++;
    }
    assert_int_equal(rounds, 2);
    assert_true(c.failed);
}

static void empty_windows_and_huge_wishes(void **state)
{
    (void)state;
    struct pgk_cursor c = over(NULL, 0);
    assert_int_equal(pgk_cur_left(&c), 0);
    assert_int_equal(pgk_cur_u8(&c, "x"), 0);
    assert_says(&c, PGK_E_TRUNCATED,
                "mem.profraw: raw heap profile v4: MIB 17, field x at offset 0x100 (256): found 0 "
                "bytes left, expected 1 byte. The file is cut short; copy it again, or run the "
                "program to its end.");
    c = over("abc", 3);
    assert_null(pgk_cur_take(&c, UINT64_MAX, "x"));
    assert_true(c.failed);
    pgk_cur_init(&c, "abc", 3, NULL);
    assert_int_equal(pgk_cur_u16(&c, "x"), 0x6261);
    assert_int_equal(pgk_cur_off(&c), 2);
}

static void uleb_limits(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        uint64_t value;
        size_t used;
    } good[] = {
        {"\x00", 1, 0, 1},
        {"\x7f", 1, 127, 1},
        {"\x80\x01", 2, 128, 2},
        {"\x80\x00", 2, 0, 2}, /* padded */
        {"\xe5\x8e\x26\xff", 4, 624485, 3},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9, INT64_MAX, 9},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX, 10},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, 0, 10},
    };
    for (size_t i = 0; i < PGK_COUNTOF(good); i++) {
        struct pgk_cursor c = over(good[i].bytes, good[i].size);
        assert_true(pgk_cur_uleb(&c, "n") == good[i].value);
        assert_int_equal(pgk_cur_off(&c), 0x100 + good[i].used);
        assert_int_equal(pgk_cur_check(&c, NULL, "x"), 0);
    }

    struct pgk_cursor c = over("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    assert_int_equal(pgk_cur_uleb(&c, "n"), 0);
    assert_says(&c, PGK_E_CORRUPT,
                "mem.profraw: raw heap profile v4: MIB 17, field n at offset 0x100 (256): found a "
                "LEB128 number of more than 64 bits, expected at most 64 bits. The file is cut "
                "short or damaged; copy it again, or create it again.");
    c = over("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11);
    assert_int_equal(pgk_cur_uleb(&c, "n"), 0);
    assert_int_equal(pgk_cur_check(&c, NULL, "x"), PGK_E_CORRUPT);
    c = over("\x80\x80", 2);
    assert_int_equal(pgk_cur_uleb(&c, "n"), 0);
    assert_says(&c, PGK_E_TRUNCATED,
                "mem.profraw: raw heap profile v4: MIB 17, field n at offset 0x100 (256): found 2 "
                "bytes left, expected 3 bytes. The file is cut short; copy it again, or run the "
                "program to its end.");
}

static void sleb_limits(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int64_t value;
    } good[] = {
        {"\x00", 1, 0},
        {"\x02", 1, 2},
        {"\x7e", 1, -2},
        {"\xff\x00", 2, 127},
        {"\x81\x7f", 2, -127},
        {"\x80\x7f", 2, -128},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\x3f", 9, INT64_MAX / 2},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x40", 9, INT64_MIN / 2},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, INT64_MAX},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, INT64_MIN},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, -1},
    };
    for (size_t i = 0; i < PGK_COUNTOF(good); i++) {
        struct pgk_cursor c = over(good[i].bytes, good[i].size);
        assert_true(pgk_cur_sleb(&c, "n") == good[i].value);
        assert_int_equal(pgk_cur_left(&c), 0);
        assert_int_equal(pgk_cur_check(&c, NULL, "x"), 0);
    }
    static const char *const bad[] = {
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7e",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    };
    for (size_t i = 0; i < PGK_COUNTOF(bad); i++) {
        struct pgk_cursor c = over(bad[i], 10);
        assert_int_equal(pgk_cur_sleb(&c, "n"), 0);
        assert_int_equal(pgk_cur_check(&c, NULL, "x"), PGK_E_CORRUPT);
    }
}

static void uleb_reads_what_the_sink_writes(void **state)
{
    (void)state;
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_memory(&s, NULL), 0);
    uint64_t seed = 4;
    for (int i = 0; i < 5000; i++)
        pgk_sink_uleb(s, test_random(&seed) >> i % 64);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(s, &size);
    struct pgk_cursor c = over(bytes, size);
    seed = 4;
    for (int i = 0; i < 5000; i++)
        assert_true(pgk_cur_uleb(&c, "n") == test_random(&seed) >> i % 64);
    assert_int_equal(pgk_cur_left(&c), 0);
    pgk_sink_drop(&s);
}

static void counts_must_fit_into_what_is_left(void **state)
{
    (void)state;
    uint8_t bytes[8 + 24] = {3};
    struct pgk_cursor c = over(bytes, sizeof bytes);
    assert_int_equal(pgk_cur_count(&c, 8, "MIBs"), 3);
    assert_int_equal(pgk_cur_left(&c), 24);

    c = over(bytes, sizeof bytes - 1);
    assert_int_equal(pgk_cur_count(&c, 8, "MIBs"), 0);
    assert_says(&c, PGK_E_TRUNCATED,
                "mem.profraw: raw heap profile v4: MIB 17, field MIBs at offset 0x100 (256): found "
                "23 bytes left, expected 3 items of at least 8 bytes. The file is cut short or "
                "damaged; copy it again, or create it again.");

    memset(bytes, 0xff, 8);
    c = over(bytes, sizeof bytes);
    assert_int_equal(pgk_cur_count(&c, SIZE_MAX, "MIBs"), 0);
    assert_true(c.failed);
    c = over(bytes, sizeof bytes);
    assert_int_equal(pgk_cur_count(&c, 0, "MIBs"), 0);
    assert_true(c.failed);
    memset(bytes, 0, 8);
    c = over(bytes, 8);
    assert_int_equal(pgk_cur_count(&c, 8, "MIBs"), 0);
    assert_false(c.failed);
    c = over(bytes, 7);
    assert_int_equal(pgk_cur_count(&c, 8, "MIBs"), 0);
    assert_int_equal(c.fail_kind, PGK_CUR_SHORT);
}

static void seeks_inside_the_window_only(void **state)
{
    (void)state;
    static const uint8_t bytes[16] = {[15] = 9};
    struct pgk_cursor c = over(bytes, sizeof bytes);
    assert_true(pgk_cur_seek(&c, 0x10f, "offset"));
    assert_int_equal(pgk_cur_u8(&c, "x"), 9);
    assert_true(pgk_cur_seek(&c, 0x100, "offset"));
    assert_true(pgk_cur_seek(&c, 0x110, "offset"));
    assert_int_equal(pgk_cur_left(&c), 0);
    assert_false(pgk_cur_seek(&c, 0x111, "offset"));
    assert_says(&c, PGK_E_TRUNCATED,
                "mem.profraw: raw heap profile v4: MIB 17, field offset at offset 0x110 (272): "
                "found a reference to offset 0x111, expected an offset from 0x100 to 0x110. The "
                "file is cut short or damaged; copy it again, or create it again.");
    c = over(bytes, sizeof bytes);
    assert_false(pgk_cur_seek(&c, 0xff, "offset"));
    assert_int_equal(pgk_cur_check(&c, NULL, "x"), PGK_E_CORRUPT);
    c = over(bytes, sizeof bytes);
    assert_false(pgk_cur_seek(&c, UINT64_MAX, "offset"));
}

static void rejects_with_the_source(void **state)
{
    (void)state;
    struct pgk_cursor c = over("abcd", 4);
    struct pgk_err err;
    char buf[8192];
    assert_int_equal(pgk_cur_reject(&c, &err, PGK_E_LIMIT, pgk_cur_off(&c) + 2, .field = "depth",
                                    .found = PGK_F("%d", 99), .expected = "at most 64"),
                     PGK_E_LIMIT);
    assert_string_equal(test_printed(buf, &err),
                        "mem.profraw: raw heap profile v4: field depth at offset 0x102 (258): "
                        "found 99, expected at most 64");
}

static void items_are_taken_within_the_bytes_left(void **state)
{
    (void)state;
    static const uint8_t bytes[10];
    struct pgk_cursor c;
    struct pgk_err err = {0};
    pgk_cur_init(&c, bytes, sizeof bytes, &(struct pgk_source){.file = "t"});
    assert_ptr_equal(pgk_cur_take_items(&c, 2, 4, "words"), bytes);
    assert_int_equal(pgk_cur_left(&c), 2);
    assert_non_null(pgk_cur_take_items(&c, 0, 4, "words"));
    assert_null(pgk_cur_take_items(&c, UINT64_MAX, 4, "words"));
    assert_null(pgk_cur_take_items(&c, 1, 1, "bytes"));
    assert_int_equal(pgk_cur_check(&c, &err, "record"), PGK_E_TRUNCATED);
    assert_string_equal(err.field, "words");
    assert_int_equal(err.offset, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_taken_within_the_bytes_left),
        cmocka_unit_test(reads_straight_down_a_layout),
        cmocka_unit_test(the_first_failure_sticks),
        cmocka_unit_test(a_loop_over_what_is_left_ends),
        cmocka_unit_test(empty_windows_and_huge_wishes),
        cmocka_unit_test(uleb_limits),
        cmocka_unit_test(sleb_limits),
        cmocka_unit_test(uleb_reads_what_the_sink_writes),
        cmocka_unit_test(counts_must_fit_into_what_is_left),
        cmocka_unit_test(seeks_inside_the_window_only),
        cmocka_unit_test(rejects_with_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
