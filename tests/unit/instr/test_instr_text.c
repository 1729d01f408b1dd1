/* .proftext: what is written reads back, what people write is understood, mistakes are told with
 * their place. */
#include "instr_samples.h"

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct pgk_instr *p = sample_instr(), *back = sample_instr();
        sample_instr_fill(p, seed, 1 + (unsigned)seed,
                          seed & 1 ? SAMPLE_BIT(IR) | SAMPLE_BIT(TEMPORAL)
                                   : SAMPLE_BIT(ENTRY_FIRST),
                          1 + seed % 3);
        sample_instr_fill(p, seed + 1, 1 + (unsigned)seed, seed & 1 ? SAMPLE_BIT(IR) : 0, 1);
        if (pgk_instr_functions(p)) {
            char *first = sample_text(p), *second;
            assert_int_equal(sample_read_text(back, first, 1, NULL), 0);
            second = sample_text(back);
            assert_string_equal(first, second);
            free(first);
            free(second);
        }
        pgk_instr_close(&p);
        pgk_instr_close(&back);
    }
}

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash, first;
    } cases[] = {
        {"f\n0x1f\n1\n5\n", 31, 5},
        {"f\n017\n1\n5", 15, 5},
        {"# c\n\n:IR\r\n# d\r\nf\r\n\r\n10\r\n1\r\n5\r\n", 10, 5},
        {":fe\n:entry_first\n:not_entry_first\n f g\n1\n1\n5\n", 1, 5},
        {"f\n1\n1\n5\n1\n0\n1\n1\nns::a:b:7\n", 1, 5},
        /* Blanks around the number of bitmap bytes, which LLVM trims. */
        {"f\n1\n1\n5\n$ \t 1 \n0x2a\n", 1, 5},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p = sample_instr();
        struct pgk_instr_function f = {.struct_size = sizeof f};
        assert_true(pgk_instr_text_sniff((const uint8_t *)cases[i].text, strlen(cases[i].text)));
        assert_int_equal(sample_read_text(p, cases[i].text, 1, NULL), 0);
        assert_int_equal(pgk_instr_functions(p), 1);
        pgk_instr_function(p, 0, &f);
        assert_int_equal(f.hash, cases[i].hash);
        assert_int_equal(f.counts[0], cases[i].first);
        pgk_instr_close(&p);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field;
        uint64_t off;
    } cases[] = {
        {":other\nf\n1\n1\n1\n", "header word", 0},
        {"f\nx\n1\n1\n", "function hash", 2},
        {"f\n1\n0\n", "number of counters", 4},
        {"f\n1\n3\n1\n", "number of counters", 4},
        {"f\n1\n99999999999\n1\n", "number of counters", 4},
        {"f\n1\n1\n-1\n", "counter", 6},
        {"f\n1\n1\n18446744073709551616\n", "counter", 6},
        {"f\n1\n1\n 1\n", "counter", 6},
        {"f\n1\n1\n1\n$1\n256\n", "bitmap byte", 11},
        {"f\n1\n1\n1\n$1\n", "bitmap byte", 11},
        {"f\n1\n1\n1\n4\n", "number of value kinds", 8},
        {"f\n1\n1\n1\n1\n3\n1\n0\n", "value kind", 10},
        {"f\n1\n1\n1\n2\n1\n1\n0\n1\n1\n0\n", "value kind", 16},
        {"f\n1\n1\n1\n1\n1\n1\n1\nx:2\n", "value", 16},
        {"f\n1\n1\n1\n1\n0\n1\n1\nname\n", "value", 16},
        {"f\n1\n1\n1\n1\n0\n1\n1\n:7\n", "value", 16},
        {"f\n1\n1\n1\n1\n2\n1\n1\n:7\n", "value", 16},
        {"f\n1\n1\n1\n$ \n0\n", "number of bitmap bytes", 8},
        {"f\n1\n1\n1\n$1 1\n0\n", "number of bitmap bytes", 8},
        {"f\n1\n", "number of counters", 4},
        {":temporal_prof_traces\n1\n1\n", "weight of the trace", 26},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p = sample_instr();
        struct pgk_err err = {0};
        assert_true(sample_read_text(p, cases[i].text, 1, &err) < 0);
        assert_string_equal(err.field, cases[i].field);
        assert_int_equal(err.offset, cases[i].off);
        assert_true(*err.found && *err.expected && *err.hint);
        pgk_instr_close(&p);
    }
}

/* Other profiles are texts, too. */
static void test_sniff(void **state)
{
    (void)state;
    static const char *const others[] = {"",
                                         "\n\n",
                                         "# only\n",
                                         "main:184:0\n 4: 534\n 4.2: 534\n",
                                         "---\nHeapProfileRecords:\n",
                                         "f\n1\n",
                                         "f\n1\nx\n",
                                         ":unknown\nf\n1\n1\n1\n",
                                         "\1f\n1\n1\n"};
    for (size_t i = 0; i < PGK_COUNTOF(others); i++)
        assert_false(pgk_instr_text_sniff((const uint8_t *)others[i], strlen(others[i])));
    assert_true(pgk_instr_text_sniff((const uint8_t *)":ir\n", 4));
}

static void test_mutations(void **state)
{
    (void)state;
    uint64_t seed = 8;
    struct pgk_instr *p = sample_instr();
    sample_instr_fill(p, 7, 20, SAMPLE_BIT(IR) | SAMPLE_BIT(TEMPORAL), 1);
    char *text = sample_text(p);
    size_t size = strlen(text), refused = 0;
    for (int i = 0; i < 5000; i++) {
        struct pgk_instr *back = sample_instr();
        struct pgk_err err = {0};
        char *bad = strdup(text);
        bad[test_random(&seed) % size] = "0159:$#\nx"[test_random(&seed) % 9];
        bad[i % 2 ? size : test_random(&seed) % size] = 0;
        refused += sample_read_text(back, bad, 1, &err) < 0;
        assert_true(!err.status || *err.field);
        free(bad);
        pgk_instr_close(&back);
    }
    assert_in_range(refused, 100, 5000);
    free(text);
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sniff),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
