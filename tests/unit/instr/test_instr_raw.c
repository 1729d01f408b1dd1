/* Raw counters of every version, pointer size and byte order; cut and damaged ones. */
#include "instr_raw.h"

#include "instr_samples.h"

static uint8_t *raw_bytes(const struct sample_raw *s, unsigned images, size_t *size)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    while (images--)
        sample_write_raw(out, s);
    const uint8_t *bytes = pgk_sink_data(out, size);
    uint8_t *copy = malloc(*size);
    memcpy(copy, bytes, *size);
    pgk_sink_drop(&out);
    return copy;
}

static int read_raw(struct pgk_instr **p, const uint8_t *bytes, size_t size, struct pgk_err *err)
{
    struct pgk_instr_adder a;
    struct pgk_source src = {.file = "t.profraw", .format = "raw counters"};
    *p = sample_instr();
    assert_true(pgk_instr_adder_init(&a, *p, "t.profraw", 1));
    return pgk_instr_raw_read(&a, bytes, size, &src, NULL, err);
}

#define FIRST(a, b) \
    "first\n# Func Hash:\n256\n# Num Counters:\n2\n# Counter Values:\n" a "\n" b "\n"
#define SITES(kinds, a, b, c, d)                                                                  \
    "# Num Value Kinds:\n" kinds "\n# ValueKind = IPVK_IndirectCallTarget:\n0\n"                  \
    "# NumValueSites:\n1\n3\nsecond:" a "\n** External Symbol **:" b "\n** External Symbol **:" c \
    "\n# ValueKind = IPVK_MemOPSize:\n1\n# NumValueSites:\n1\n1\n17:" d "\n"
#define VTABLE(a) "# ValueKind = IPVK_VTableTarget:\n2\n# NumValueSites:\n1\n1\n_ZTV1:" a "\n"
#define SECOND(a) "\nsecond\n# Func Hash:\n257\n# Num Counters:\n1\n# Counter Values:\n" a "\n"
#define BITMAP    "# Num Bitmap Bytes:\n$2\n# Bitmap Byte Values:\n0x2a\n0x1\n\n"
#define THIRD     "\nthird\n# Func Hash:\n258\n# Num Counters:\n1\n# Counter Values:\n0\n\n"

static const char *const single[] = {
    FIRST("5", "7") SITES("2", "9", "4", "2", "6") SECOND("3") THIRD,
    FIRST("5", "7") SITES("2", "9", "4", "2", "6") SECOND("3") BITMAP THIRD,
    FIRST("5", "7") SITES("3", "9", "4", "2", "6") VTABLE("8") SECOND("3") BITMAP THIRD,
};
static const char *const twice[] = {
    FIRST("10", "14") SITES("2", "18", "8", "4", "12") SECOND("6") THIRD,
    FIRST("10", "14") SITES("2", "18", "8", "4", "12") SECOND("6") BITMAP THIRD,
    FIRST("10", "14") SITES("3", "18", "8", "4", "12") VTABLE("16") SECOND("6") BITMAP THIRD,
};

/* Of sample_write_raw's functions: the second counter was counted 7 times, 6 of them uniform. */
static void assert_uniformity(const struct pgk_instr *p, bool known)
{
    static const uint8_t bits[] = {0xfd, 0xff, 0xff};
    for (size_t i = 0; i < PGK_COUNTOF(bits); i++) {
        uint8_t byte = 0;
        assert_int_equal(pgk_instr_uniformity(p, i, &byte, 1), known);
        assert_int_equal(byte, known ? bits[i] : 0);
        assert_int_equal(known ? p->funcs.v[i].uniformity->wave_size : 64, 64);
    }
}

static void test_versions(void **state)
{
    (void)state;
    for (uint32_t version = 8; version <= PGK_INSTR_RAW_NOW; version++)
        for (unsigned pointer = 4; pointer <= 8; pointer += 4)
            for (int big = 0; big < 2; big++)
                for (unsigned images = 1; images <= 2; images++) {
                    struct sample_raw s = {version, pointer, big, 0};
                    struct pgk_instr *p;
                    size_t size, id_size;
                    uint8_t *bytes = raw_bytes(&s, images, &size);
                    assert_true(pgk_instr_raw_sniff(bytes, size));
                    struct pgk_err err = {0};
                    char message[8192];
                    if (read_raw(&p, bytes, size, &err))
                        fail_msg("%s", test_printed(message, &err));
                    assert_uniformity(p, version >= 11);
                    char *text = sample_text(p);
                    const char *const *wanted = images == 1 ? single : twice;
                    assert_string_equal(text, wanted[version < 10 ? version - 8 : 2]);
                    assert_int_equal(pgk_instr_binary_ids(p), 1);
                    assert_memory_equal(pgk_instr_binary_id(p, 0, &id_size), "\xab\xcd\xef", 3);
                    assert_int_equal(id_size, 3);
                    free(text);
                    free(bytes);
                    pgk_instr_close(&p);
                }
}

/* A byte of 0 means that the block ran. */
static void test_byte_coverage(void **state)
{
    (void)state;
    struct sample_raw s = {PGK_INSTR_RAW_NOW, 8, false, SAMPLE_BIT(IR) | SAMPLE_BIT(BYTE_COVERAGE)};
    struct pgk_instr *p;
    size_t size;
    uint8_t *bytes = raw_bytes(&s, 1, &size);
    assert_int_equal(read_raw(&p, bytes, size, NULL), 0);
    char *text = sample_text(p);
    assert_non_null(strstr(text, "256\n# Num Counters:\n2\n# Counter Values:\n1\n1\n"));
    assert_non_null(strstr(text, "258\n# Num Counters:\n1\n# Counter Values:\n0\n"));
    free(text);
    free(bytes);
    pgk_instr_close(&p);
}

/* Random profiles, written and read again, are the same as text. */
static void test_write_and_read(void **state)
{
    (void)state;
    static const uint64_t flags[] = {0, SAMPLE_BIT(IR), SAMPLE_BIT(IR) | SAMPLE_BIT(TEMPORAL),
                                     SAMPLE_BIT(IR) | SAMPLE_BIT(CONTEXT_SENSITIVE)};
    for (unsigned i = 0; i < 200; i++) {
        struct pgk_instr *p = sample_instr(), *back;
        struct pgk_instr_loss loss = {0};
        struct pgk_sink *out;
        size_t size;
        sample_instr_fill(p, i + 1, 1 + i % 40, flags[i % 4], 1);
        if (!pgk_instr_functions(p)) {
            pgk_instr_close(&p);
            continue;
        }
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        assert_int_equal(pgk_instr_raw_write(p, PGK_INSTR_RAW_NOW, out, NULL), 0);
        assert_int_equal(pgk_instr_raw_loss(p, PGK_INSTR_RAW_NOW, &loss, NULL), 0);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        struct pgk_err err = {0};
        char message[8192];
        if (read_raw(&back, bytes, size, &err))
            fail_msg("%s", test_printed(message, &err));
        char *want = sample_text(p), *have = sample_text(back);
        if (!loss.traced_functions) /* else there is no trace left */
            assert_string_equal(have, want);
        assert_int_equal(pgk_instr_binary_ids(back), 1);
        assert_int_equal(pgk_instr_traces(back), pgk_instr_traces(p) - loss.traced_functions);
        free(want);
        free(have);
        pgk_sink_drop(&out);
        pgk_instr_close(&p);
        pgk_instr_close(&back);
    }
}

/* Of what versions cannot hold the rest is right. */
static void test_older_versions(void **state)
{
    (void)state;
    for (uint32_t version = 8; version <= PGK_INSTR_RAW_NOW; version++) {
        struct sample_raw s = {PGK_INSTR_RAW_NOW, 8, false, 0};
        struct pgk_instr *p, *back;
        struct pgk_instr_loss loss = {0};
        struct pgk_sink *out;
        size_t size;
        uint8_t *bytes = raw_bytes(&s, 1, &size);
        assert_int_equal(read_raw(&p, bytes, size, NULL), 0);
        assert_int_equal(pgk_instr_raw_loss(p, version, &loss, NULL), 0);
        assert_int_equal(loss.bitmap_functions, version < 9);
        assert_int_equal(loss.vtable_functions, version < 10);
        assert_int_equal(loss.uniform_functions, version < 11 ? 3 : 0);
        assert_int_equal(loss.unknown_targets, 0);
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        assert_int_equal(pgk_instr_raw_write(p, version, out, NULL), 0);
        const uint8_t *written = pgk_sink_data(out, &size);
        assert_int_equal(read_raw(&back, written, size, NULL), 0);
        assert_uniformity(back, version >= 11);
        char *text = sample_text(back);
        assert_string_equal(text, single[version < 10 ? version - 8 : 2]);
        free(text);
        free(bytes);
        pgk_sink_drop(&out);
        pgk_instr_close(&p);
        pgk_instr_close(&back);
    }
}

/* LLVM takes larger counts than 2^56 for damage from raw version 9 on. */
static void test_largest_count(void **state)
{
    (void)state;
    static const struct {
        const char *count;
        uint32_t version;
        int status;
    } cases[] = {
        {"72057594037927936", 10, 0},
        {"72057594037927937", 8, 0},
        {"72057594037927937", 9, PGK_E_LIMIT},
        {"72057594037927937", 10, PGK_E_LIMIT},
        {"18446744073709551615", 8, 0}, /* hot */
        {"18446744073709551615", 10, PGK_E_LIMIT},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        char text[100];
        struct pgk_instr *p = sample_instr();
        struct pgk_err err = {0};
        snprintf(text, sizeof text, ":ir\nf\n1\n2\n%s\n3\n", cases[i].count);
        assert_int_equal(sample_read_text(p, text, 1, NULL), 0);
        assert_int_equal(pgk_instr_raw_check(p, "t.profraw", cases[i].version, &err),
                         cases[i].status);
        if (cases[i].status)
            assert_string_equal(err.field, "counter 1");
        pgk_instr_close(&p);
    }
}

static void test_too_large_a_count(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (uint32_t version = 8; version <= PGK_INSTR_RAW_NOW; version++) {
            struct sample_raw s = {version, 8, big, 0};
            struct pgk_instr *p;
            struct pgk_err err = {0};
            size_t size, at = 0;
            uint8_t *bytes = raw_bytes(&s, 1, &size);
            const uint8_t five[2][8] = {{5}, {[7] = 5}}, seven[2][8] = {{7}, {[7] = 7}};
            while (memcmp(bytes + at, five[big], 8) || memcmp(bytes + at + 8, seven[big], 8))
                at += 8;
            bytes[at + (big ? 0 : 7)] = 1; /* 2^56 + 5 */
            int status = read_raw(&p, bytes, size, &err);
            assert_int_equal(status, version == 8 ? 0 : PGK_E_CORRUPT);
            if (status) {
                assert_string_equal(err.field, "counter 1");
                assert_string_equal(err.found, "72057594037927941");
                assert_int_equal(err.offset, at);
            }
            pgk_instr_close(&p);
            free(bytes);
        }
}

static void test_writing_out_of_memory(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    struct pgk_instr *p = sample_instr();
    sample_instr_fill(p, 7, 20, SAMPLE_BIT(IR) | SAMPLE_BIT(TEMPORAL), 1);
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sink *out;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_instr_raw_write(p, PGK_INSTR_RAW_NOW, out, NULL);
        pgk_mem_fail_after(0);
        size_t size;
        if (!status && !pgk_sink_data(out, &size))
            status = PGK_E_NOMEM;
        pgk_sink_drop(&out);
        assert_in_range(nth, 1, 1000);
    }
    assert_int_equal(status, 0);
    pgk_instr_close(&p);
}

static void test_truncations(void **state)
{
    (void)state;
    for (uint32_t version = 8; version <= PGK_INSTR_RAW_NOW; version++) {
        struct sample_raw s = {version, 8, false, 0};
        size_t size;
        uint8_t *bytes = raw_bytes(&s, 1, &size);
        for (size_t n = 1; n < size; n++) {
            struct pgk_instr *p;
            struct pgk_err err = {0};
            uint8_t *part = malloc(n);
            memcpy(part, bytes, n);
            assert_true(read_raw(&p, part, n, &err) < 0);
            assert_true(*err.field && *err.found && *err.expected && *err.record);
            assert_int_not_equal(err.offset, PGK_NO_OFFSET);
            free(part);
            pgk_instr_close(&p);
        }
        free(bytes);
    }
}

static void test_mutations(void **state)
{
    (void)state;
    uint64_t seed = 5;
    size_t refused = 0, size;
    struct sample_raw s = {PGK_INSTR_RAW_NOW, 8, false, 0};
    uint8_t *bytes = raw_bytes(&s, 2, &size);
    for (int i = 0; i < 20000; i++) {
        struct pgk_instr *p;
        struct pgk_err err = {0};
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        for (int k = 0; k < 2; k++)
            bad[test_random(&seed) % size] = (uint8_t)test_random(&seed);
        if (read_raw(&p, bad, size, &err) < 0) {
            refused++;
            assert_true(*err.field && *err.file);
        }
        pgk_instr_close(&p);
        free(bad);
    }
    free(bytes);
    assert_in_range(refused, 1000, 20000);
}

static void put_u64(uint8_t *bytes, size_t off, uint64_t v)
{
    memcpy(bytes + off, &v, sizeof v);
}

static void test_forged_uniform_counters(void **state)
{
    (void)state;
    static const struct {
        size_t off;
        uint64_t value;
        int status;
        const char *field;
    } cases[] = {
        {72, UINT64_MAX / 4, PGK_E_TRUNCATED, "n_uniform"},
        {80, 1 << 20, PGK_E_TRUNCATED, "pad_after_uniform"},
        {88, 0, PGK_E_CORRUPT, "uniform_ptr"},
        {192, 0, PGK_E_CORRUPT, "uniform_ptr"}, /* of the first function, as of code for a CPU */
    };
    struct sample_raw s = {11, 8, false, 0};
    size_t size;
    uint8_t *bytes = raw_bytes(&s, 1, &size), *bad = malloc(size);
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p;
        struct pgk_err err = {0};
        memcpy(bad, bytes, size);
        put_u64(bad, cases[i].off, cases[i].value);
        assert_int_equal(read_raw(&p, bad, size, &err), cases[i].status);
        assert_string_equal(err.field, cases[i].field);
        pgk_instr_close(&p);
    }
    free(bad);
    free(bytes);
}

static void test_forged(void **state)
{
    (void)state;
    static const struct {
        size_t off;
        uint64_t value;
        int status;
        const char *field;
    } cases[] = {
        {0, 7, PGK_E_FORMAT, "magic"},
        {8, 7, PGK_E_VERSION, "version"},
        {8, 12, PGK_E_VERSION, "version"},
        {8, 10 | UINT64_C(1) << 59, PGK_E_VERSION, "version"},
        {16, UINT64_MAX, PGK_E_TRUNCATED, "binary_ids_size"},
        {24, UINT64_MAX / 8, PGK_E_TRUNCATED, "n_records"},
        {40, UINT64_MAX / 4, PGK_E_TRUNCATED, "n_counters"},
        {40, 3, PGK_E_CORRUPT, NULL},
        {72, 1, PGK_E_TRUNCATED, NULL},
        {128, 0, PGK_E_CORRUPT, "length of binary id"},
        {144, 12345, PGK_E_CORRUPT, "name_ref"},
        {160, 0, PGK_E_CORRUPT, "counter_ptr"},
        {192, 0, PGK_E_CORRUPT, "n_counters"},
        {192, UINT32_MAX, PGK_E_CORRUPT, "counter_ptr"},
    };
    struct sample_raw s = {10, 8, false, 0};
    size_t size;
    uint8_t *bytes = raw_bytes(&s, 1, &size), *bad = malloc(size);
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p;
        struct pgk_err err = {0};
        memcpy(bad, bytes, size);
        put_u64(bad, cases[i].off, cases[i].value);
        int status = read_raw(&p, bad, size, &err);
        if (cases[i].field) {
            assert_int_equal(status, cases[i].status);
            assert_string_equal(err.field, cases[i].field);
        }
        assert_true(status < 0);
        pgk_instr_close(&p);
    }
    free(bad);
    free(bytes);
}

static void variants_that_are_not_known_are_not_ignored(void **state)
{
    (void)state;
    for (unsigned bit = 32; bit < 55; bit++)
        for (int big = 0; big < 2; big++) {
            struct sample_raw s = {PGK_INSTR_RAW_NOW, 8, big, UINT64_C(1) << bit};
            struct pgk_instr *p;
            struct pgk_err err = {0};
            size_t size;
            uint8_t *bytes = raw_bytes(&s, 1, &size);
            assert_int_equal(read_raw(&p, bytes, size, &err), PGK_E_VERSION);
            assert_string_equal(err.field, "variants in the version word");
            assert_non_null(strstr(err.hint, "newer than this pgokit"));
            pgk_instr_close(&p);
            free(bytes);
        }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct sample_raw s = {PGK_INSTR_RAW_NOW, 8, false, SAMPLE_BIT(IR)};
    size_t size;
    uint8_t *bytes = raw_bytes(&s, 2, &size);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_instr *p = sample_instr();
        struct pgk_instr_adder a;
        struct pgk_source src = {.file = "t"};
        assert_true(pgk_instr_adder_init(&a, p, "t", 1));
        pgk_mem_fail_after(nth);
        status = pgk_instr_raw_read(&a, bytes, size, &src, NULL, NULL);
        pgk_mem_fail_after(0);
        pgk_instr_close(&p);
        assert_in_range(nth, 1, 1000);
    }
    assert_int_equal(status, 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_byte_coverage),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_forged_uniform_counters),
        cmocka_unit_test(variants_that_are_not_known_are_not_ignored),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_older_versions),
        cmocka_unit_test(test_largest_count),
        cmocka_unit_test(test_too_large_a_count),
        cmocka_unit_test(test_writing_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
