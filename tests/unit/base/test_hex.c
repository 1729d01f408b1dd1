/* Hexadecimal digits, in both directions. */
#include "hex.h"

#include "pgokit/human.h"

#include "pgk_test.h"

static void every_byte_is_read_as_it_was_written(void **state)
{
    (void)state;
    uint8_t bytes[256], read[sizeof bytes];
    char text[2 * sizeof bytes + 1];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    pgk_human_hex(text, sizeof text, bytes, sizeof bytes);
    assert_int_equal(strlen(text), 2 * sizeof bytes);
    assert_int_equal(pgk_hex_read(text, text + strlen(text), read, sizeof read), sizeof read);
    assert_memory_equal(read, bytes, sizeof bytes);
}

static void only_whole_bytes_are_written(void **state)
{
    (void)state;
    char text[8];
    assert_string_equal(pgk_human_hex(text, sizeof text, (const uint8_t *)"\x01\xf0\xab\xcd", 4),
                        "01f0ab");
    assert_string_equal(pgk_human_hex(text, 7, (const uint8_t *)"\x01\xf0\xab", 3), "01f0ab");
    assert_string_equal(pgk_human_hex(text, 6, (const uint8_t *)"\x01\xf0\xab", 3), "01f0");
    assert_string_equal(pgk_human_hex(text, 1, (const uint8_t *)"\x01", 1), "");
    assert_string_equal(pgk_human_hex(text, sizeof text, NULL, 0), "");
}

static size_t read_text(const char *text, uint8_t bytes[4])
{
    return pgk_hex_read(text, text + strlen(text), bytes, 4);
}

static void reading_ends_at_what_is_no_pair_of_digits(void **state)
{
    (void)state;
    uint8_t bytes[4];
    assert_int_equal(read_text("", bytes), 0);
    assert_int_equal(read_text("a", bytes), 0);
    assert_int_equal(read_text("aB1", bytes), 1);
    assert_int_equal(bytes[0], 0xab);
    assert_int_equal(read_text("ab1g", bytes), 1);
    assert_int_equal(read_text("abg1", bytes), 1);
    assert_int_equal(read_text("ab\xff" "1", bytes), 1);
    assert_int_equal(read_text("0011223344", bytes), 4);
}

static void build_ids_as_text(void **state)
{
    (void)state;
    char buf[PGK_BUILD_ID_TEXT];
    uint8_t id[200];
    memset(id, 0xab, sizeof id);
    assert_string_equal(pgk_build_id_text(buf, id, 0), "none");
    assert_string_equal(pgk_build_id_text(buf, (const uint8_t *)"\x01\xf0", 2), "01f0");
    assert_int_equal(strlen(pgk_build_id_text(buf, id, 20)), 40);
    assert_int_equal(strlen(pgk_build_id_text(buf, id, sizeof id)), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_read_as_it_was_written),
        cmocka_unit_test(only_whole_bytes_are_written),
        cmocka_unit_test(reading_ends_at_what_is_no_pair_of_digits),
        cmocka_unit_test(build_ids_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
