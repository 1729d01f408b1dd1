/* Tests of lib/emit/proto_out.c by a plain reader of protocol buffers. */
#include "../pgk_test.h"

#include "mem.h"
#include "proto_out.h"

struct reader {
    const uint8_t *at, *end;
};

static uint64_t read_varint(struct reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(r->at < r->end && shift < 70);
        v |= (uint64_t)(*r->at & 0x7f) << shift;
        if (!(*r->at++ & 0x80))
            return v;
    }
}

static void numbers_come_back(void **state)
{
    (void)state;
    uint64_t random = 1;
    struct pgk_proto m = {0};
    uint64_t values[2000];
    for (size_t i = 0; i < 2000; i++) {
        values[i] = i < 64 ? (UINT64_C(1) << i) - 1 : test_random(&random) >> (i % 64);
        pgk_proto_number(&m, 1 + (unsigned)(i % 40), values[i]);
    }
    struct reader r = {m.bytes.v, m.bytes.v + m.bytes.n};
    for (size_t i = 0; i < 2000; i++) {
        if (!values[i])
            continue; /* the default is left out */
        assert_int_equal(read_varint(&r), (1 + i % 40) << 3);
        assert_true(read_varint(&r) == values[i]);
    }
    assert_ptr_equal(r.at, r.end);
    assert_false(m.full);
    pgk_vec_free(&m.bytes);
}

static void varints_are_as_short_as_can_be(void **state)
{
    (void)state;
    static const struct {
        uint64_t v;
        size_t bytes;
    } cases[] = {{0, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}, {UINT64_MAX, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pgk_proto m = {0};
        pgk_proto_varint(&m, cases[i].v);
        assert_int_equal(m.bytes.n, cases[i].bytes);
        pgk_vec_free(&m.bytes);
    }
}

static void a_message_lies_in_another(void **state)
{
    (void)state;
    struct pgk_proto outer = {0}, inner = {0};
    pgk_proto_bytes(&inner, 2, "name", 4);
    pgk_proto_bytes(&inner, 3, NULL, 0);
    pgk_proto_message(&outer, 17, &inner);
    assert_int_equal(inner.bytes.n, 0);
    pgk_proto_message(&outer, 1, &inner);
    /* Field and length: of 17 in two bytes, of those within, and of the empty one. */
    static const uint8_t expected[] = {0x8a, 1, 8, 0x12, 4, 'n', 'a', 'm', 'e', 0x1a, 0, 0x0a, 0};
    assert_int_equal(outer.bytes.n, sizeof expected);
    assert_memory_equal(outer.bytes.v, expected, sizeof expected);
    pgk_vec_free(&outer.bytes);
    pgk_vec_free(&inner.bytes);
}

static void a_lack_of_memory_sticks(void **state)
{
    (void)state;
    struct pgk_proto outer = {0}, inner = {0};
    pgk_mem_fail_after(1);
    pgk_proto_number(&inner, 1, 5);
    pgk_mem_fail_after(0);
    assert_true(inner.full);
    pgk_proto_number(&inner, 1, 5);
    pgk_proto_message(&outer, 1, &inner);
    assert_true(outer.full);
    pgk_vec_free(&outer.bytes);
    pgk_vec_free(&inner.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(varints_are_as_short_as_can_be),
        cmocka_unit_test(a_message_lies_in_another),
        cmocka_unit_test(a_lack_of_memory_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
