/* Uniformity of counters: which bits come of which counts, and what merging makes of them. */
#include "instr_samples.h"

enum { MOST = 10 };

/* What an input says of a function with `n` counters; NULL: nothing. */
struct said {
    const uint64_t *counts, *uniform;
    const uint8_t *bits;
};

static void add(struct pgk_instr *p, size_t n, struct said said, uint64_t weight)
{
    static const uint64_t ones[MOST] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct pgk_instr_adder a;
    struct pgk_uniformity u = {.counts = (uint64_t *)(uintptr_t)said.counts,
                               .uniform = (uint64_t *)(uintptr_t)said.uniform,
                               .bits = (uint8_t *)(uintptr_t)said.bits};
    assert_true(pgk_instr_adder_init(&a, p, "sample", weight));
    struct pgk_instr_record r = {.name = sample_name(p, &p->names, 0),
                                 .hash = 1,
                                 .counts = said.counts ? said.counts : ones,
                                 .n_counts = n,
                                 .uniformity = said.uniform || said.bits ? &u : NULL};
    assert_int_equal(pgk_instr_note_flags(&a, SAMPLE_BIT(IR), "test", NULL), 0);
    assert_int_equal(pgk_instr_add(&a, &r, NULL), 0);
}

/* The example of docs/formats/instr-indexed.md. */
static void test_nine_tenths(void **state)
{
    (void)state;
    static const uint64_t counts[] = {100, 50, 20, 64, 640, 1, 0, 3, 9, 10},
                          uniform[] = {100, 50, 10, 63, 576, 0, 0, 3, 0, 5};
    struct pgk_instr *p = sample_instr();
    uint8_t bits[3] = {0, 0, 7};
    add(p, MOST, (struct said){counts, uniform, NULL}, 1);
    assert_int_equal(pgk_instr_uniformity(p, 0, bits, 3), 2);
    assert_memory_equal(bits, "\xdb\xfc\7", 3);
    bits[1] = 9;
    assert_int_equal(pgk_instr_uniformity(p, 0, bits, 1), 2);
    assert_int_equal(bits[1], 9);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(pgk_uniform_count(&p->funcs.v[0], i), uniform[i]);
    pgk_instr_close(&p);
}

static void test_border(void **state)
{
    (void)state;
    static const struct {
        uint64_t count, uniform;
        bool is;
    } cases[] = {
        {1000, 900, true},  {1000, 899, false}, {64, 58, true},          {64, 57, false},
        {1, 0, false},      {1, 1, true},       {5, 7, true},            {0, 0, true},
        {9, 8, false},      {10, 9, true},      {PGK_COUNT_MAX, 1, false},
        {PGK_COUNT_MAX, PGK_COUNT_MAX, true},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p = sample_instr();
        uint8_t byte;
        add(p, 1, (struct said){&cases[i].count, &cases[i].uniform, NULL}, 1);
        assert_int_equal(pgk_instr_uniformity(p, 0, &byte, 1), 1);
        assert_int_equal(byte, cases[i].is ? 0xff : 0xfe);
        pgk_instr_close(&p);
    }
}

/* Sums of counts, `and` of bits, nothing of inputs that say nothing; in every order. */
static void test_merging(void **state)
{
    (void)state;
    static const uint64_t counts[][4] = {{100, 100, 100, 0}, {900, 900, 0, 100}},
                          uniform[][4] = {{0, 100, 100, 0}, {900, 700, 0, 100}};
    static const uint8_t bits[] = {0xf7, 0xff};
    const struct said inputs[] = {
        {counts[0], uniform[0], NULL}, {counts[1], uniform[1], NULL}, {NULL, NULL, &bits[0]},
        {NULL, NULL, &bits[1]},        {NULL, NULL, NULL},
    };
    const size_t n = PGK_COUNTOF(inputs);
    for (size_t first = 0; first < n; first++)
        for (size_t step = 1; step < n; step++) {
            struct pgk_instr *p = sample_instr(), *copy = sample_instr();
            uint8_t byte;
            for (size_t i = 0; i < n; i++)
                add(p, 4, inputs[(first + i * step) % n], 1);
            assert_int_equal(pgk_instr_uniformity(p, 0, &byte, 1), 1);
            assert_int_equal(byte, 0xf5); /* 900 of 1000, 800 of 1000, all, and a bit of 0 */
            assert_int_equal(pgk_instr_merge(copy, p, 3, NULL), 0);
            assert_int_equal(pgk_instr_uniformity(copy, 0, &byte, 1), 1);
            assert_int_equal(byte, 0xf5);
            /* A raw profile says the same by numbers. */
            assert_int_equal(pgk_uniform_count(&p->funcs.v[0], 0), p->funcs.v[0].counts[0]);
            assert_int_equal(pgk_uniform_count(&p->funcs.v[0], 1), 0);
            pgk_instr_close(&p);
            pgk_instr_close(&copy);
        }
}

static void test_nothing_known(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    uint8_t byte = 3;
    add(p, 4, (struct said){NULL, NULL, NULL}, 1);
    assert_int_equal(pgk_instr_uniformity(p, 0, &byte, 1), 0);
    assert_int_equal(byte, 3);
    assert_int_equal(pgk_uniform_count(&p->funcs.v[0], 2), 1);
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nine_tenths),
        cmocka_unit_test(test_border),
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
