/* Salvage of raw heap profiles: every cut, damaged counts and headers, zeros behind the end. */
#include "heap_raw.h"
#include "salvage.h"

#include "heap_samples.h"

struct said {
    char text[4000];
};

static void note(void *ctx, const char *what)
{
    struct said *s = ctx;
    size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof s->text - n, "%s\n", what);
}

/* The contexts that are saved; -1 for none. */
static int save(const uint8_t *bytes, size_t size, struct said *s, uint64_t *total)
{
    struct pgk_sink *clean;
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "t.profraw", .format = "raw heap profile"};
    *s = (struct said){0};
    struct pgk_salvage salvage = {.fn = note, .ctx = s};
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    assert_int_equal(pgk_sink_memory(&clean, NULL), 0);
    int status = pgk_heap_raw_salvage(clean, copy, size, &src, &salvage, &err), contexts = -1;
    if (status) {
        assert_int_equal(status, PGK_E_EMPTY);
    } else {
        const uint8_t *whole = pgk_sink_data(clean, &size);
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        char text[8192];
        if (pgk_heap_raw_read(h, whole, size, &src, NULL, &err))
            fail_msg("%s", test_printed(text, &err));
        contexts = (int)h->contexts.n;
        *total = 0;
        for (size_t i = 0; i < h->contexts.n; i++)
            *total += pgk_heap_mib(h, i, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize];
        pgk_heap_close(&h);
    }
    pgk_sink_drop(&clean);
    free(copy);
    return contexts;
}

static const struct sample_segment segments[] = {
    {.start = 0x1000, .end = 0x2000, .id = {1, 2, 3}, .id_size = 20},
};
static const struct sample_stack stacks[] = {
    {.id = 5, .pcs = {0x1010, 0x1020}, .n = 2},
    {.id = 6, .pcs = {0x1110, 0x1020, 0xdeadbeef00000000}, .n = 3},
    {.id = 7, .pcs = {0x1210}, .n = 1},
};

/* Two dumps of three contexts; sizes 1, 2, 4 in each. */
static struct pgk_sink *two_dumps(uint32_t version)
{
    struct sample_block blocks[3] = {{.id = 5}, {.id = 6, .hist_count = version > 3 ? 3 : 0},
                                     {.id = 7}};
    for (int i = 0; i < 3; i++) {
        blocks[i].mib.v[PGK_MIB_AllocCount] = 1;
        blocks[i].mib.v[PGK_MIB_TotalSize] = 1u << i;
    }
    struct sample_dump d = {version, segments, 1, blocks, 3, stacks, 3, NULL};
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    sample_write_dump(out, &d);
    sample_write_dump(out, &d);
    return out;
}

static void a_sound_file_is_kept_whole(void **state)
{
    (void)state;
    for (uint32_t version = 3; version <= 5; version++) {
        struct pgk_sink *out = two_dumps(version);
        struct said s;
        size_t size;
        uint64_t total;
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(save(bytes, size, &s, &total), 3);
        assert_int_equal(total, 14);
        assert_string_equal(s.text, "");
        /* A kill while the file grew. */
        pgk_sink_zeros(out, 5000);
        bytes = pgk_sink_data(out, &size);
        assert_int_equal(save(bytes, size, &s, &total), 3);
        assert_int_equal(total, 14);
        assert_string_equal(s.text, "");
        pgk_sink_drop(&out);
    }
}

/* The more of a file is there the more is saved, and what is missing is said. */
static void whole_records_survive_every_cut(void **state)
{
    (void)state;
    struct pgk_sink *out = two_dumps(5);
    struct said s;
    size_t size;
    uint64_t total = 0;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    size_t half = size / 2;
    for (size_t n = 1; n < size; n++) {
        int saved = save(bytes, n, &s, &total);
        if (n != half)
            assert_true(*s.text);
        if (n >= half) {
            assert_int_equal(saved, 3); /* the first dump is whole */
            assert_true(total >= 7 && total <= 14);
        }
        if (n < half - 8 - 2 * 8 - 8 * 2) /* no stack of the first dump */
            assert_true(saved <= 2);
    }
    /* Two stacks of the first dump are whole. */
    assert_int_equal(save(bytes, half - 1, &s, &total), 2);
    assert_int_equal(total, 3);
    assert_non_null(strstr(s.text, "1 of 3 stacks"));
    assert_non_null(strstr(s.text, "(id 7) is lost"));
    pgk_sink_drop(&out);
}

static void damaged_records_are_left_out(void **state)
{
    (void)state;
    struct pgk_sink *out = two_dumps(4);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    size_t half = size / 2, mibs = 48 + 8 + 64;
    const struct {
        size_t at;
        uint64_t value;
        int saved;
        uint64_t total;
        const char *says;
    } cases[] = {
        {0, 0, 3, 7, "where no dump begins"},
        {half, 0, 3, 7, "where no dump begins"},
        {8, 9, 3, 7, "whose version is 9"},
        {16, UINT64_MAX / 2, 3, 14, "after the end of the file"},
        {16, 8, 3, 14, ""},
        {24, UINT64_MAX, 3, 14, "all segments"},
        {32, UINT64_MAX, 3, 7, "all MIBs"},
        {40, UINT64_MAX, 3, 14, "all stacks"}, /* the other dump has the same ones */
        {mibs, 100, 3, 14, "of 100 MIBs"},
        {mibs, 1, 3, 8, ""},
        {mibs + 8, 99, 3, 13, "(id 99) is lost"},
        {mibs + 8 + 8 + 132, UINT32_MAX, 3, 7, "3 of 3 MIBs"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct said s;
        uint64_t total = 0;
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + cases[i].at, &cases[i].value, 8);
        assert_int_equal(save(bad, size, &s, &total), cases[i].saved);
        assert_int_equal(total, cases[i].total);
        assert_non_null(strstr(s.text, cases[i].says));
        free(bad);
    }
    pgk_sink_drop(&out);
}

/* Any byte changed: never a crash, and what is saved is sound. */
static void any_wrong_byte_leaves_a_sound_file(void **state)
{
    (void)state;
    struct pgk_sink *out = two_dumps(5);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    uint8_t *bad = malloc(size);
    for (size_t i = 0; i < size; i++)
        for (unsigned with = 0; with < 2; with++) {
            struct said s;
            uint64_t total;
            memcpy(bad, bytes, size);
            bad[i] = with ? 0xff : (uint8_t)(bad[i] + 1);
            save(bad, size, &s, &total);
        }
    free(bad);
    pgk_sink_drop(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_file_is_kept_whole),
        cmocka_unit_test(whole_records_survive_every_cut),
        cmocka_unit_test(damaged_records_are_left_out),
        cmocka_unit_test(any_wrong_byte_leaves_a_sound_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
