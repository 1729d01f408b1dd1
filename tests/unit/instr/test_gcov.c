/* Counters of gcc: merging kind by kind, cut and damaged files. */
#include "gcov_model.h"

#include "pgk_test.h"
#include "sink.h"

#define GCC_12 UINT32_C(0x4232322a)
#define GCC_16 UINT32_C(0x4236322a)

struct sample {
    uint32_t version; /* 0: of gcc 12.2 */
    uint32_t stamp, checksum;
    int64_t arcs[2], or_bits, first_call, conditions[2], path;
    int64_t total;
    struct pgk_gcov_value values[40];
    unsigned n_values;
};

static void put_words(struct pgk_sink *out, const uint32_t *words, size_t n)
{
    pgk_sink_bytes(out, words, n * sizeof *words);
}

static uint8_t *bytes_of(const struct sample *s, size_t *size)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    put_words(out, (uint32_t[]){0x67636461, s->version ? s->version : GCC_12, s->stamp, 7}, 4);
    put_words(out, (uint32_t[]){0xa1000000, 8, 1, 10}, 4);
    put_words(out, (uint32_t[]){0x01000000, 12, 99, s->checksum, 5}, 5);
    put_words(out, (uint32_t[]){0x01a10000, 16}, 2);
    pgk_sink_u64(out, (uint64_t)s->arcs[0]);
    pgk_sink_u64(out, (uint64_t)s->arcs[1]);
    put_words(out, (uint32_t[]){0x01a70000, 16 + 16 * s->n_values}, 2);
    pgk_sink_u64(out, (uint64_t)s->total);
    pgk_sink_u64(out, s->n_values);
    pgk_sink_bytes(out, s->values, s->n_values * sizeof *s->values);
    put_words(out, (uint32_t[]){0x01ab0000, (uint32_t)-16}, 2); /* two zeros */
    put_words(out, (uint32_t[]){0x01ad0000, 8}, 2);
    pgk_sink_u64(out, (uint64_t)s->or_bits);
    put_words(out, (uint32_t[]){0x01af0000, 8}, 2);
    pgk_sink_u64(out, (uint64_t)s->first_call);
    if (s->path) {
        put_words(out, (uint32_t[]){0x01b10000, 16}, 2);
        pgk_sink_u64(out, (uint64_t)s->conditions[0]);
        pgk_sink_u64(out, (uint64_t)s->conditions[1]);
        put_words(out, (uint32_t[]){0x01b30000, 8}, 2);
        pgk_sink_u64(out, (uint64_t)s->path);
    }
    pgk_sink_u32(out, 0);
    const uint8_t *bytes = pgk_sink_data(out, size);
    uint8_t *copy = malloc(*size);
    memcpy(copy, bytes, *size);
    pgk_sink_drop(&out);
    return copy;
}

static int add(struct pgk_gcov *g, const struct sample *s, uint64_t weight, struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.gcda", .format = "gcc counters"};
    size_t size;
    uint8_t *bytes = bytes_of(s, &size);
    int status = pgk_gcov_add(g, bytes, size, &src, weight, err);
    free(bytes);
    return status;
}

static struct pgk_gcov *fresh(void)
{
    struct pgk_gcov *g;
    assert_int_equal(pgk_gcov_new(&g, NULL), 0);
    return g;
}

static const struct sample one = {.stamp = 1,
                                  .checksum = 2,
                                  .arcs = {5, 0},
                                  .or_bits = 4,
                                  .first_call = 9,
                                  .total = 7,
                                  .values = {{100, 4}, {200, 3}},
                                  .n_values = 2},
                           two = {.stamp = 1,
                                  .checksum = 2,
                                  .arcs = {1, INT64_MAX},
                                  .or_bits = 3,
                                  .first_call = 6,
                                  .total = 5,
                                  .values = {{200, 4}, {300, 1}},
                                  .n_values = 2};

static void test_merging(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct pgk_gcov *g = fresh();
        struct pgk_gcov_function f = {.struct_size = sizeof f};
        struct pgk_gcov_value v[4];
        uint64_t total;
        assert_int_equal(add(g, turn ? &two : &one, turn ? 2 : 1, NULL), 0);
        assert_int_equal(add(g, turn ? &one : &two, turn ? 1 : 2, NULL), 0);
        pgk_gcov_function(g, 0, &f);
        assert_int_equal(f.counts[PGK_GCOV_ARCS][0], 7);
        assert_int_equal(f.counts[PGK_GCOV_ARCS][1], INT64_MAX);
        assert_int_equal(f.counts[PGK_GCOV_OR][0], 7);
        assert_int_equal(f.counts[PGK_GCOV_FIRST_CALL][0], 6);
        assert_int_equal(f.n_counts[PGK_GCOV_AVERAGE], 2);
        assert_int_equal(pgk_gcov_list(g, 0, PGK_GCOV_TOP, 0, v, 4, &total), 3);
        assert_int_equal(total, 17);
        assert_int_equal(v[0].value, 200);
        assert_int_equal(v[0].count, 11);
        assert_int_equal(v[1].value, 100);
        assert_int_equal(v[2].count, 2);
        assert_int_equal(pgk_gcov_runs(g), 3);
        pgk_gcov_close(&g);
    }
}

/* Counts are multiplied exactly, what is no count stays. */
static void test_scaling(void **state)
{
    (void)state;
    static const struct {
        uint64_t times, by;
        bool nearest;
        int64_t arcs[2], total, counts[2];
    } cases[] = {
        {1, 2, false, {1, INT64_MAX / 2}, 2, {2, 0}},
        {1, 2, true, {2, INT64_MAX / 2 + 1}, 3, {2, 1}},
        {3, 1, false, {9, INT64_MAX}, 15, {12, 3}},
        {29, 100, false, {0, 0}, 1, {1, 0}},
        {5, 5, true, {3, INT64_MAX}, 5, {4, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pgk_gcov *g = fresh();
        struct sample s = {.arcs = {3, i == 3 ? 3 : INT64_MAX}, .or_bits = 3, .first_call = 6,
                           .total = 5, .values = {{200, 4}, {300, 1}}, .n_values = 2};
        struct pgk_gcov_function f = {.struct_size = sizeof f};
        struct pgk_gcov_value v[2];
        uint64_t total;
        assert_int_equal(add(g, &s, 1, NULL), 0);
        assert_int_equal(pgk_gcov_largest(g), s.arcs[1]);
        pgk_gcov_scale(g, cases[i].times, cases[i].by, cases[i].nearest);
        pgk_gcov_function(g, 0, &f);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(f.counts[PGK_GCOV_ARCS][k], cases[i].arcs[k]);
        assert_int_equal(f.counts[PGK_GCOV_OR][0], 3);
        assert_int_equal(f.counts[PGK_GCOV_FIRST_CALL][0], 6);
        assert_int_equal(pgk_gcov_list(g, 0, PGK_GCOV_TOP, 0, v, 2, &total), 2);
        assert_int_equal(total, cases[i].total);
        assert_int_equal(v[0].value, 200);
        assert_int_equal(v[0].count, cases[i].counts[0]);
        assert_int_equal(v[1].count, cases[i].counts[1]);
        pgk_gcov_close(&g);
    }
}

/* A list that gets too long keeps what is most frequent, and says that it was cut. */
static void test_long_list(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    struct sample s = one;
    struct pgk_gcov *g = fresh(), *back = fresh();
    struct pgk_source src = {.file = "t.gcda"};
    struct pgk_gcov_value v[40];
    uint64_t total;
    size_t size;
    s.n_values = 40;
    for (int i = 0; i < 40; i++)
        s.values[i] = (struct pgk_gcov_value){i, 1 + i};
    assert_int_equal(add(g, &s, 1, NULL), 0);
    test_folder(folder);
    test_join(path, folder, "out.gcda");
    assert_int_equal(pgk_gcov_write(g, path, NULL), 0);
    uint8_t *bytes = (uint8_t *)test_read_file(path, &size);
    assert_int_equal(pgk_gcov_add(back, bytes, size, &src, 1, NULL), 0);
    assert_int_equal(pgk_gcov_list(back, 0, PGK_GCOV_TOP, 0, v, 40, &total), PGK_GCOV_LIST_MAX);
    assert_int_equal(v[0].count, 40);
    assert_int_equal(v[31].count, 9);
    assert_true(back->funcs.v[0].kind[PGK_GCOV_TOP].lists[0].cut);
    assert_int_equal(total, 7);
    free(bytes);
    test_folder_remove(folder);
    pgk_gcov_close(&g);
    pgk_gcov_close(&back);
}

static void test_mismatches(void **state)
{
    (void)state;
    struct sample stamp = one, checksum = one, shape = one;
    struct pgk_err err = {0};
    struct pgk_gcov *g = fresh();
    stamp.stamp = 8;
    checksum.checksum = 8;
    shape.n_values = 0; /* the same number of lists: fits */
    assert_int_equal(add(g, &one, 1, NULL), 0);
    assert_int_equal(add(g, &shape, 1, NULL), 0);
    assert_int_equal(add(g, &stamp, 1, &err), PGK_E_MISMATCH);
    assert_string_equal(err.field, "stamp");
    assert_int_equal(add(g, &checksum, 1, &err), PGK_E_MISMATCH);
    assert_string_equal(err.field, "checksum");
    pgk_gcov_close(&g);
    g = fresh();
    assert_int_equal(pgk_gcov_write(g, "/nonexistent/x", &err), PGK_E_EMPTY);
    pgk_gcov_close(&g);
}

/* Conditions and paths are masks: what was seen in any run, however often the run counts. */
static void test_masks(void **state)
{
    (void)state;
    struct sample a = one, b = one;
    struct pgk_gcov_function f = {.struct_size = sizeof f};
    struct pgk_gcov *g = fresh();
    a.version = b.version = GCC_16;
    a.conditions[0] = 1, a.conditions[1] = 4, a.path = 8;
    b.conditions[0] = 3, b.conditions[1] = 0, b.path = INT64_MIN;
    assert_int_equal(add(g, &a, 1, NULL), 0);
    assert_int_equal(add(g, &b, 5, NULL), 0);
    pgk_gcov_function(g, 0, &f);
    assert_int_equal(f.n_counts[PGK_GCOV_CONDITIONS], 2);
    assert_int_equal(f.counts[PGK_GCOV_CONDITIONS][0], 3);
    assert_int_equal(f.counts[PGK_GCOV_CONDITIONS][1], 4);
    assert_int_equal(f.counts[PGK_GCOV_PATHS][0], INT64_MIN | 8);
    pgk_gcov_close(&g);
}

/* Releases: what each has, and names that are none. */
static void test_releases(void **state)
{
    (void)state;
    static const char *const wrong[] = {"gcc", "gcc7", "gcc11.2", "gcc17.1", "gcc016", "gcc16.",
                                        "gcc16.2.0", "gcc16.10", "gcc16.x", "llvm16", "gcc12", ""};
    static const struct {
        const char *release;
        size_t dropped; /* conditions count two, paths one */
    } drops[] = {{"gcc16", 0}, {"gcc16.0", 0}, {"gcc15.2", 0}, {"gcc14.2", 1}, {"gcc12.3", 3}};
    struct sample s = one;
    unsigned major, minor;
    size_t dropped;
    s.version = GCC_16;
    s.path = 1;
    for (size_t i = 0; i < PGK_COUNTOF(drops); i++) {
        struct pgk_gcov_function f = {.struct_size = sizeof f};
        struct pgk_gcov *g = fresh();
        pgk_gcov_release(g, &major, &minor);
        assert_int_equal(major, 0);
        assert_int_equal(add(g, &s, 1, NULL), 0);
        pgk_gcov_release(g, &major, &minor);
        assert_true(major == 16 && minor == 2);
        assert_int_equal(pgk_gcov_set_release(g, drops[i].release, &dropped, NULL), 0);
        assert_int_equal(dropped, drops[i].dropped);
        pgk_gcov_release(g, &major, &minor);
        assert_int_equal(major, atoi(drops[i].release + 3));
        assert_int_equal(minor, drops[i].release[5] ? drops[i].release[6] - '0' : 2);
        pgk_gcov_function(g, 0, &f);
        assert_int_equal(f.n_counts[PGK_GCOV_PATHS], major > 14);
        assert_int_equal(f.n_counts[PGK_GCOV_CONDITIONS], major > 13 ? 2 : 0);
        pgk_gcov_close(&g);
    }
    struct pgk_gcov *g = fresh();
    assert_int_equal(add(g, &s, 1, NULL), 0);
    for (size_t i = 0; i < PGK_COUNTOF(wrong); i++) {
        struct pgk_err err = {0};
        assert_int_equal(pgk_gcov_set_release(g, wrong[i], &dropped, &err), PGK_E_ARG);
        assert_string_equal(err.field, "release");
    }
    pgk_gcov_close(&g);
}

/* Files of other releases do not mix, and those before 12 and after 16 are refused. */
static void test_versions(void **state)
{
    (void)state;
    static const struct {
        char word[5];
        int status;
    } cases[] = {{"*22B", 0},          {"*53B", 0},          {"e01B", PGK_E_VERSION},
                 {"*17B", PGK_E_VERSION}, {"*a6B", PGK_E_VERSION}, {"*26C", PGK_E_VERSION},
                 {"*26A", PGK_E_VERSION}, {"\0\0\0\0", PGK_E_VERSION}};
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct sample s = one;
        struct pgk_err err = {0};
        struct pgk_gcov *g = fresh();
        memcpy(&s.version, cases[i].word, sizeof s.version);
        s.version += !s.version; /* 0 would be the default */
        assert_int_equal(add(g, &s, 1, &err), cases[i].status);
        assert_string_equal(err.field, cases[i].status ? "version" : "");
        if (!cases[i].status) {
            s.version = GCC_16;
            assert_int_equal(add(g, &s, 1, &err), PGK_E_MISMATCH);
            assert_string_equal(err.field, "version");
        }
        pgk_gcov_close(&g);
    }
}

static void test_damage(void **state)
{
    (void)state;
    uint64_t seed = 4;
    size_t size, refused = 0;
    uint8_t *bytes = bytes_of(&one, &size);
    struct pgk_source src = {.file = "t.gcda"};
    for (size_t n = 0; n < size; n++) {
        struct pgk_gcov *g = fresh();
        struct pgk_err err = {0};
        uint8_t *part = malloc(n + 1);
        memcpy(part, bytes, n);
        /* Behind a record a file may end. */
        if (pgk_gcov_add(g, part, n, &src, 1, &err))
            assert_true(*err.field && *err.found && *err.expected);
        else
            assert_true(n >= 16 && n % 4 == 0);
        free(part);
        pgk_gcov_close(&g);
    }
    for (int i = 0; i < 20000; i++) {
        struct pgk_gcov *g = fresh();
        struct pgk_err err = {0};
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        bad[test_random(&seed) % size] = (uint8_t)test_random(&seed);
        bad[test_random(&seed) % size] ^= (uint8_t)(1 << test_random(&seed) % 8);
        if (pgk_gcov_add(g, bad, size, &src, 1, &err)) {
            refused++;
            assert_true(*err.field && *err.file);
        }
        free(bad);
        pgk_gcov_close(&g);
    }
    free(bytes);
    assert_in_range(refused, 2000, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_long_list),
        cmocka_unit_test(test_mismatches),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_releases),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
