/* Lists of names, compressed or not. */
#include "name_blocks.h"

#include "pgk_test.h"

struct seen {
    char text[256];
    int stop_at;
};

static int see(void *ctx, const char *name, size_t len)
{
    struct seen *s = ctx;
    strncat(s->text, name, len);
    strcat(s->text, "|");
    return s->stop_at && !--s->stop_at ? PGK_E_CANCELLED : 0;
}

static int read_blocks(const uint8_t *bytes, size_t size, struct seen *seen, struct pgk_err *err)
{
    struct pgk_cursor c;
    pgk_cur_init(&c, bytes, size, &(struct pgk_source){.file = "t"});
    return pgk_name_blocks_read(&c, "names", see, seen, err);
}

static void test_blocks(void **state)
{
    (void)state;
    struct pgk_sink *out;
    struct seen seen = {0};
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_bytes(out, "\3\0a\001b\0\0\0\1\0c", 11);
    pgk_sink_zeros(out, 3);
    assert_int_equal(pgk_name_block_write(out, "dd\001ee\001ff", 8, NULL), 0);
    pgk_sink_zeros(out, 5);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_blocks(bytes, size, &seen, NULL), 0);
    assert_string_equal(seen.text, "a|b|c|dd|ee|ff|");
    for (size_t n = 12; n < size - 5; n++) {
        struct pgk_err err = {0};
        seen = (struct seen){0};
        int status = read_blocks(bytes, n, &seen, &err);
        assert_true(n < 15 ? !status : status < 0 && *err.field);
    }
    seen = (struct seen){.stop_at = 2};
    assert_int_equal(read_blocks(bytes, size, &seen, NULL), PGK_E_CANCELLED);
    pgk_sink_drop(&out);
}

static void test_forged_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\x80\x80\x80\x80\x80\x80\x01\4zzzz", 12}, /* a terabyte of four bytes */
        {"\x08\4zzzz", 6},                          /* no stream */
        {"\x7f\0ab", 4},                            /* more than there is */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0", 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen = {0};
        struct pgk_err err = {0};
        assert_true(read_blocks((const uint8_t *)cases[i].bytes, cases[i].size, &seen, &err) < 0);
        assert_true(*err.field && *err.found && *err.expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_forged_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
