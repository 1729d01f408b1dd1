/* Tests of reading messages of protocol buffers. */
#include "pgk_test.h"

#include "proto_in.h"

static const struct pgk_source SOURCE = {.file = "a.pb", .format = "pprof", .base_off = 0x20};

static void fields_come_in_turn(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x08, 0x96, 0x01,                          /* 1: 150 */
                                    0x12, 0x02, 'h',  'i',                     /* 2: "hi" */
                                    0x19, 1,    0,    0,   0,   0, 0, 0, 0x80, /* 3: 8 bytes */
                                    0x25, 2,    0,    0,   0x70};              /* 4: 4 bytes */
    struct pgk_err err = {0};
    const struct pgk_proto_in in = {&SOURCE, &err};
    struct pgk_proto_field f;
    struct pgk_cursor c;
    uint64_t n = 0;
    pgk_cur_init(&c, bytes, sizeof bytes, &SOURCE);
    assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), 1);
    assert_true(f.number == 1 && f.is_number && f.value == 150 && f.off == 0x20);
    assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), 1);
    assert_true(f.number == 2 && !f.is_number && pgk_cur_off(&f.inside) == 0x25);
    assert_memory_equal(f.inside.at, "hi", 2);
    assert_int_equal(pgk_proto_in_number(&in, &f, "part", "count", &n), PGK_E_CORRUPT);
    assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), 1);
    assert_true(f.is_number && f.value == UINT64_C(0x8000000000000001));
    assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), 1);
    assert_int_equal(pgk_proto_in_number(&in, &f, "part", "count", &n), 0);
    assert_true(n == 0x70000002);
    assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), 0);
}

static int add(void *ctx, uint64_t value, uint64_t off)
{
    uint64_t *sum = ctx;
    *sum = *sum * 1000 + value;
    assert_true(off >= 0x20);
    return 0;
}

static void numbers_are_packed_or_alone(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x0a, 3, 5, 0x81, 0x01, 0x08, 7, 0x0a, 8,
                                    9,    0, 0, 0,    0,    0,    0, 0};
    struct pgk_err err = {0};
    const struct pgk_proto_in in = {&SOURCE, &err};
    struct pgk_proto_field f;
    struct pgk_cursor c;
    uint64_t sum = 0;
    pgk_cur_init(&c, bytes, sizeof bytes, &SOURCE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), 1);
        assert_int_equal(pgk_proto_in_numbers(&in, &f, "part", i == 2, add, &sum), 0);
    }
    assert_true(sum == UINT64_C(5129007009));
}

static void damage_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[4];
        size_t n;
        int status;
    } rows[] = {
        {{0x08}, 1, PGK_E_TRUNCATED},          {{0x12, 9, 'x'}, 3, PGK_E_TRUNCATED},
        {{0x19, 0, 0, 0}, 4, PGK_E_TRUNCATED}, {{0x0b}, 1, PGK_E_CORRUPT},
        {{0x00, 1}, 2, PGK_E_CORRUPT},
    };
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        struct pgk_err err = {0};
        const struct pgk_proto_in in = {&SOURCE, &err};
        struct pgk_proto_field f;
        struct pgk_cursor c;
        pgk_cur_init(&c, rows[i].bytes, rows[i].n, &SOURCE);
        assert_int_equal(pgk_proto_in_next(&in, &c, "part", &f), rows[i].status);
        assert_true(err.offset >= 0x20 && *err.field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_in_turn),
        cmocka_unit_test(numbers_are_packed_or_alone),
        cmocka_unit_test(damage_is_refused_at_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
