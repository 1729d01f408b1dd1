/* Tests of numbers and texts for people. */
#include "pgk_test.h"

#include "pgokit/human.h"

#include <math.h>

struct row {
    double value;
    const char *text;
};

static void check(const struct row *rows, size_t n, const char *(*format)(char *, double))
{
    for (size_t i = 0; i < n; i++) {
        char buf[PGK_HUMAN_SIZE];
        if (strcmp(format(buf, rows[i].value), rows[i].text) != 0)
            fail_msg("%.17g is \"%s\", not \"%s\"", rows[i].value, buf, rows[i].text);
    }
}

static void bytes(void **state)
{
    (void)state;
    const double KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
    const struct row rows[] = {
        {0, "0 B"},
        {1, "1 B"},
        {512, "512 B"},
        {999, "999 B"},
        {1000, "0.98 KiB"},
        {1023, "1.00 KiB"},
        {1024, "1.00 KiB"},
        {1025, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {9.994 * KiB, "9.99 KiB"},
        {9.996 * KiB, "10.0 KiB"},
        {12.34 * KiB, "12.3 KiB"},
        {99.94 * KiB, "99.9 KiB"},
        {99.96 * KiB, "100 KiB"},
        {999.4 * KiB, "999 KiB"},
        {999.5 * KiB, "0.98 MiB"},
        {999.95 * KiB, "0.98 MiB"},
        {1000 * KiB, "0.98 MiB"},
        {MiB - 1, "1.00 MiB"},
        {MiB, "1.00 MiB"},
        {12.3 * MiB, "12.3 MiB"},
        {123 * GiB, "123 GiB"},
        {1023 * GiB, "1.00 TiB"},
        {1024 * GiB, "1.00 TiB"},
        {18446744073709551615.0, "16.0 EiB"},
        {0x1p70, "1.02e+03 EiB"},
        {0.5, "0.50 B"},
        {12.34, "12.3 B"},
        {999.7, "0.98 KiB"},
        {-0.0, "0 B"},
        {-1536, "-1.50 KiB"},
        {INFINITY, "inf EiB"},
    };
    check(rows, sizeof rows / sizeof rows[0], pgk_human_bytes);
}

static void milliseconds(void **state)
{
    (void)state;
    const struct row rows[] = {
        {0, "0 ms"},
        {37, "37 ms"},
        {0.3, "300 µs"},
        {0.0082, "8.20 µs"},
        {0.9994, "999 µs"},
        {0.9996, "1.00 ms"},
        {37.25, "37.2 ms"},
        {999, "999 ms"},
        {999.4, "999 ms"},
        {999.6, "1.00 s"},
        {1000, "1.00 s"},
        {1500, "1.50 s"},
        {9994, "9.99 s"},
        {9996, "10.0 s"},
        {12345, "12.3 s"},
        {59940, "59.9 s"},
        {59960, "1 min"},
        {60000, "1 min"},
        {125000, "2 min 5 s"},
        {125499, "2 min 5 s"},
        {125500, "2 min 6 s"},
        {3599499, "59 min 59 s"},
        {3599500, "1 h"},
        {3600000, "1 h"},
        {12000000, "3 h 20 min"},
        {86369000, "23 h 59 min"},
        {86370000, "1 d"},
        {187200000, "2 d 4 h"},
        {1e300, "1.16e+292 d"},
        {-1500, "-1.50 s"},
    };
    check(rows, sizeof rows / sizeof rows[0], pgk_human_ms);
}

static void never_more_than_three_digits_in_a_row(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 200000; i++) {
        double v = ldexp((double)(test_random(&seed) >> 11), -(int)(test_random(&seed) % 53));
        const char *(*const formats[])(char *, double) = {pgk_human_bytes, pgk_human_ms};
        for (int f = 0; f < 2; f++) {
            char buf[PGK_HUMAN_SIZE];
            formats[f](buf, f ? v / 2e5 : v); /* fewer than 1000 days */
            size_t run = 0;
            for (const char *p = buf; *p; p++) {
                run = *p >= '0' && *p <= '9' ? run + 1 : 0;
                if (run > 3)
                    fail_msg("%.17g is \"%s\"", v, buf);
            }
        }
    }
}

static void counts(void **state)
{
    (void)state;
    const struct {
        uint64_t n;
        const char *text;
    } rows[] = {
        {0, "0"},
        {7, "7"},
        {999, "999"},
        {1000, "1,000"},
        {12345678, "12,345,678"},
        {100000, "100,000"},
        {UINT64_MAX, "18,446,744,073,709,551,615"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[PGK_HUMAN_SIZE];
        assert_string_equal(pgk_human_count(buf, rows[i].n), rows[i].text);
    }
}

static void texts_cannot_command_a_terminal(void **state)
{
    (void)state;
    const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {"plain text_1.c", "plain text_1.c"},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
        {"\xc3\xb6 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xb6 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b" "31m", "\\xc2\\x9b31m"},                     /* C1 control */
        {"a\xe2\x80\xae" "b", "a\\xe2\\x80\\xae" "b"},           /* right-to-left override */
        {"a\xe2\x81\xa6", "a\\xe2\\x81\\xa6"},                   /* left-to-right isolate */
        {"\xff\x80\xc3", "\\xff\\x80\\xc3"},                     /* not UTF-8 */
        {"\xc0\xaf", "\\xc0\\xaf"},                              /* overlong */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},                     /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                     /* surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},            /* beyond Unicode */
        {"\xe2\x82", "\\xe2\\x82"},                              /* cut short */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[128];
        assert_string_equal(pgk_human_text(buf, sizeof buf, rows[i].in), rows[i].out);
    }
}

static void a_cut_text_ends_with_a_whole_character(void **state)
{
    (void)state;
    char buf[8];
    assert_string_equal(pgk_human_text(buf, 1, "abc"), "");
    assert_string_equal(pgk_human_text(buf, 3, "abc"), "ab");
    assert_string_equal(pgk_human_text(buf, 5, "ab\xe2\x82\xac"), "ab");
    assert_string_equal(pgk_human_text(buf, 6, "ab\xe2\x82\xac"), "ab\xe2\x82\xac");
    assert_string_equal(pgk_human_text(buf, 6, "ab\n"), "ab");
    assert_string_equal(pgk_human_text(buf, 7, "ab\n"), "ab\\x0a");
}

static void long_texts_lose_their_middle(void **state)
{
    (void)state;
    const struct {
        const char *in;
        size_t columns;
        const char *out;
    } rows[] = {
        {"operator new", 0, "operator new"},
        {"operator new", 12, "operator new"},
        {"operator new", 11, "oper... new"},
        {"operator new", 4, "...w"},
        {"operator new", 3, "ope"},
        {"operator new", 1, "o"},
        {"", 5, ""},
        {"\xc3\xa4\xc3\xb6\xc3\xbc", 3, "\xc3\xa4\xc3\xb6\xc3\xbc"}, /* three letters */
        {"\xe2\x82\xac" "234567\xe2\x82\xac", 6, "\xe2\x82\xac...7\xe2\x82\xac"},
        {"\xe2\x82\xac" "23\xe2\x82\xac", 3, "\xe2\x82\xac" "23"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[64];
        strcpy(buf, rows[i].in);
        assert_string_equal(pgk_human_fit(buf, rows[i].columns), rows[i].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),
        cmocka_unit_test(milliseconds),
        cmocka_unit_test(never_more_than_three_digits_in_a_row),
        cmocka_unit_test(counts),
        cmocka_unit_test(texts_cannot_command_a_terminal),
        cmocka_unit_test(a_cut_text_ends_with_a_whole_character),
        cmocka_unit_test(long_texts_lose_their_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
