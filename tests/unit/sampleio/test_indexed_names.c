/* Indexed tables, symbols as GUIDs, and composite profiles, which LLVM 24 brought. */
#include "indexed_names.h"

#include "eytzinger.h"
#include "sample_cases.h"
#include "sample_records.h"

typedef struct pgk_sample_write_opts opts_t;

static int read_bytes(const uint8_t *bytes, size_t size, struct pgk_sample **p,
                      struct pgk_sample_ext_info *info, struct pgk_err *err)
{
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_sample_new(p, NULL), 0);
    return pgk_sample_ext_read(*p, bytes, size, &case_source, 1, info, err);
}

/* Of every small number of items each is where a search finds it, and no other is found. */
static void each_item_is_found(void **state)
{
    (void)state;
    uint64_t rising[70], placed[70];
    for (size_t n = 0; n <= 70; n++) {
        for (size_t i = 0; i < n; i++)
            rising[i] = 10 * i + 5;
        pgk_eytzinger_put(placed, rising, n);
        const uint8_t *bytes = (const uint8_t *)placed;
        size_t k = pgk_eytzinger_least(0, n);
        for (size_t i = 0; i < n; i++, k = pgk_eytzinger_next(k, n)) {
            assert_int_equal(placed[k], rising[i]);
            assert_int_equal(pgk_eytzinger_find(bytes, n, rising[i]), k);
            assert_int_equal(pgk_eytzinger_find(bytes, n, rising[i] + 1), n);
        }
        assert_int_equal(k, n);
        assert_int_equal(pgk_eytzinger_find(bytes, n, 0), n);
    }
    static const uint64_t six[] = {1, 2, 3, 4, 5, 6}, order[] = {4, 2, 6, 1, 3, 5};
    pgk_eytzinger_put(placed, six, 6);
    assert_memory_equal(placed, order, sizeof order);
}

/* What llvm-profdata of LLVM 24 writes for this text with --use-md5 --md5-indexed-tables
 * --split-layout, from the name table on. docs/formats/sample-binary.md has the same bytes. */
static void the_bytes_are_those_of_llvm(void **state)
{
    (void)state;
    static const char text[] = "main:5:1\n 1: 2\n 2: foo:3\n  1: 3\nbar:4:1\n 1: 4 ext:2\n";
    static const uint8_t expected[] = {
        1, 1, 2,
        0xfa, 0xd5, 0x8d, 0xe7, 0x36, 0x64, 0x95, 0xdb, /* main */
        0x37, 0xb5, 0x1d, 0x19, 0x4a, 0x75, 0x13, 0xe4, /* bar */
        0xab, 0xf7, 0x71, 0x84, 0xf5, 0x54, 0x03, 0xd7, /* ext */
        0xac, 0xbd, 0x18, 0xdb, 0x4c, 0xc2, 0xf8, 0x5c, /* foo */
        1, 0, 5, 1, 1, 0, 2, 0, 1, 2, 0, 3, 3, 1, 1, 0, 3, 0, 0, /* main */
        0, 0, 0, 0,                                              /* its offset */
        1, 1, 4, 1, 1, 0, 4, 1, 2, 2, 0,                         /* bar */
        0, 0, 0, 0,
    };
    struct pgk_sink *out = case_encode(text, &(opts_t){.indexed = true, .split_layout = true});
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_true(size > sizeof expected);
    assert_memory_equal(bytes + size - sizeof expected, expected, sizeof expected);
    assert_int_equal(bytes[9], 0x67);
    assert_int_equal(bytes[18 + 32 + 8 + 4], 0xb);     /* flags of the names */
    assert_int_equal(bytes[18 + 2 * 32 + 8 + 4], 2);   /* of the offsets */
    pgk_sink_drop(&out);
}

/* The same of a composite record: index, one block of type 0 with its size, inlinees. */
static void composite_bytes_are_those_of_llvm(void **state)
{
    (void)state;
    static const uint8_t end[] = {0, 1, 0, 7, 1, 5, 1, 1, 0, 2, 0, /* x, a block with head 1 */
                                  0,                               /* no inlinees */
                                  1, 0, 0};                        /* its offset */
    struct pgk_sink *out = case_encode("x:5:1\n 1: 2\n", &(opts_t){.composite = true});
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(bytes[9], 0x69);
    assert_memory_equal(bytes + size - sizeof end, end, sizeof end);
    pgk_sink_drop(&out);
    /* Nothing is in a block that has neither samples nor lines. */
    out = case_encode("x:0:0\n", &(opts_t){.composite = true});
    bytes = pgk_sink_data(out, &size);
    assert_memory_equal(bytes + size - 6, "\0\0\0\1\0\0", 6); /* record; offset table */
    pgk_sink_drop(&out);
}

static opts_t nth_opts(unsigned bits)
{
    return (opts_t){.indexed = bits & 1, .split_layout = bits & 2, .compress = bits & 4,
                    .composite = bits & 8, .vtables = bits & 16, .symbol_guids = bits & 1};
}

static void spell(struct pgk_sample *p)
{
    static const char names[] = "main\0foo\0deep\0inline1\0_Z3bari\0_Z3fooi\0"
                                "_ZTV1A\0_ZTV1B\0_ZTV1C\0";
    for (const char *s = names; *s; s += strlen(s) + 1)
        pgk_sample_names_spell(&p->names, s, strlen(s));
}

/* Whole, one function, and in part, in every combination of layouts. */
static void what_is_written_is_read(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 32; bits++) {
        opts_t opts = nth_opts(bits);
        struct pgk_sink *out = case_encode(CASE_PLAIN, &opts), *plain;
        struct pgk_sample_ext_info info;
        struct pgk_sample *p;
        struct pgk_err err;
        size_t size;
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(read_bytes(bytes, size, &p, &info, &err), 0);
        assert_int_equal(info.indexed, opts.indexed);
        assert_int_equal(info.symbol_guids, opts.symbol_guids);
        spell(p);
        plain = case_encode(CASE_PLAIN, &(opts_t){.vtables = opts.vtables});
        struct pgk_sample *same;
        assert_int_equal(read_bytes(pgk_sink_data(plain, &size), size, &same, NULL, &err), 0);
        char *text = case_text(same);
        case_expect(p, text);
        pgk_sample_close(&same);
        free(text);
        pgk_sink_drop(&plain);
        bytes = pgk_sink_data(out, &size);
        assert_int_equal(pgk_sample_new(&p, NULL), 0);
        assert_int_equal(pgk_sample_ext_read_function(p, bytes, size, &case_source, "_Z3bari",
                                                      &info, &err), 0);
        case_expect(p, "_Z3bari:20301:1437\n 1: 1437\n");
        assert_int_equal(pgk_sample_new(&p, NULL), 0);
        assert_int_equal(pgk_sample_ext_read_function(p, bytes, size, &case_source, "deep", &info,
                                                      &err), PGK_E_EMPTY);
        pgk_sample_close(&p);
        uint64_t guid = pgk_sample_guid("_Z3fooi");
        assert_int_equal(pgk_sample_new(&p, NULL), 0);
        assert_int_equal(pgk_sample_ext_read_functions(p, bytes, size, &case_source, &guid, 1,
                                                       &info, &err), 0);
        spell(p);
        case_expect(p, "_Z3fooi:7711:610\n 1: 610\n");
        pgk_sink_drop(&out);
    }
}

/* Contexts and probes: indexed tables have no place for contexts, which keep theirs. */
static void contexts_and_probes(void **state)
{
    (void)state;
    static const char *const texts[] = {CASE_CONTEXTS, CASE_PROBES};
    for (unsigned bits = 0; bits < 32; bits++)
        for (unsigned i = bits & 2; i < 2; i++) {
            opts_t opts = nth_opts(bits & ~2u);
            struct pgk_sink *out = case_encode(texts[i], &opts);
            struct pgk_sample_ext_info info;
            struct pgk_sample *p;
            struct pgk_err err;
            size_t size;
            const uint8_t *bytes = pgk_sink_data(out, &size);
            assert_int_equal(read_bytes(bytes, size, &p, &info, &err), 0);
            assert_int_equal(info.indexed, opts.indexed && i);
            spell(p);
            case_expect(p, texts[i]);
            assert_int_equal(pgk_sample_new(&p, NULL), 0);
            assert_int_equal(pgk_sample_ext_read_function(p, bytes, size, &case_source, "foo",
                                                          &info, &err), 0);
            assert_true(p->kind.probes);
            pgk_sample_close(&p);
            pgk_sink_drop(&out);
        }
}

/* Each prefix and each byte that differs: read or refused with a field, by all three readers. */
static void damage_is_refused(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 16; bits++) {
        opts_t opts = nth_opts(bits);
        struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
        size_t size;
        const uint8_t *bytes = pgk_sink_data(out, &size);
        for (size_t i = 0; i < 2 * size; i++) {
            size_t n = i < size ? i : size;
            uint8_t *damaged = malloc(n + 1); /* of its own, so that sanitizers see its end */
            struct pgk_sample_ext_info info;
            struct pgk_sample *p;
            struct pgk_err err;
            memcpy(damaged, bytes, n);
            if (i >= size)
                damaged[i - size] ^= 0xff;
            int status = read_bytes(damaged, n, &p, &info, &err);
            if (i < size)
                assert_int_not_equal(status, 0);
            if (status)
                assert_true(*err.field && *err.record && *err.found && *err.expected);
            pgk_sample_close(&p);
            assert_int_equal(pgk_sample_new(&p, NULL), 0);
            status = pgk_sample_ext_read_function(p, damaged, n, &case_source, "main", &info,
                                                  &err);
            pgk_sample_close(&p);
            uint64_t guid = pgk_sample_guid("main");
            assert_int_equal(pgk_sample_new(&p, NULL), 0);
            status |= pgk_sample_ext_read_functions(p, damaged, n, &case_source, &guid, 1, &info,
                                                    &err);
            pgk_sample_close(&p);
            free(damaged);
        }
        pgk_sink_drop(&out);
    }
}

static void refused(const uint8_t *bytes, size_t size, int expected, const char *field)
{
    struct pgk_sample *p;
    struct pgk_err err;
    int status = read_bytes(bytes, size, &p, NULL, &err);
    if (status != expected || strcmp(err.field, field))
        fail_msg("status %d, field %s instead of %d, %s", status, err.field, expected, field);
    pgk_sample_close(&p);
}

/* In a copy of the file one byte is another. */
static void refused_with(const uint8_t *bytes, size_t size, size_t at, uint8_t value, int expected,
                         const char *field)
{
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    copy[at] = value;
    refused(copy, size, expected, field);
    free(copy);
}

static void forged_tables_are_refused(void **state)
{
    (void)state;
    enum { ENTRY = 18, ENTRY_BYTES = 32, FLAGS = 8, OFF = 16 };
    struct pgk_sink *out = case_encode(CASE_PLAIN, &(opts_t){.indexed = true});
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    uint64_t names, offsets;
    memcpy(&names, bytes + ENTRY + ENTRY_BYTES + OFF, sizeof names);
    memcpy(&offsets, bytes + ENTRY + 3 * ENTRY_BYTES + OFF, sizeof offsets);
    refused_with(bytes, size, names, 2, PGK_E_CORRUPT, "end of section");
    refused_with(bytes, size, names, 100, PGK_E_TRUNCATED, "number of names of a span");
    refused_with(bytes, size, names + 3 + 7, 0, PGK_E_CORRUPT, "GUID"); /* the root's high byte */
    refused_with(bytes, size, offsets + 2, 1, PGK_E_CORRUPT, "offset");
    /* One function less in the first span, one more among the others. */
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    copy[names]--;
    copy[names + 2]++;
    struct pgk_sample *p;
    struct pgk_err err;
    assert_int_not_equal(read_bytes(copy, size, &p, NULL, &err), 0);
    pgk_sample_close(&p);
    free(copy);
    size_t name_flags = ENTRY + ENTRY_BYTES + FLAGS + 4;
    refused_with(bytes, size, name_flags, 8, PGK_E_CORRUPT, "flags"); /* of strings */
    refused_with(bytes, size, name_flags, 3, PGK_E_CORRUPT, "end of section");
    pgk_sink_drop(&out);
    out = case_encode(CASE_PLAIN, &(opts_t){.md5 = true});
    bytes = pgk_sink_data(out, &size);
    refused_with(bytes, size, ENTRY + 3 * ENTRY_BYTES + FLAGS + 4, 2, PGK_E_CORRUPT, "flags");
    pgk_sink_drop(&out);
}

/* ---- composite ---- */

/* "x:5:1" with a line, in a file of its own making: what is in `record`. */
static struct pgk_sink *composite(const uint8_t *record, size_t n, uint32_t version)
{
    struct pgk_sink *out;
    static const uint8_t summary[] = {0, 0, 0, 0, 0, 0}, names[] = {1, 'x', 0};
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_uleb(out, PGK_SAMPLE_MAGIC_EXT);
    pgk_sink_uleb(out, version);
    pgk_sink_u64(out, 3);
    uint64_t off = 18 + 3 * 32;
    const uint64_t table[][4] = {{PGK_SEC_SUMMARY, 0, off, 6},
                                 {PGK_SEC_NAMES, 0, off + 6, 3},
                                 {PGK_SEC_COMPOSITE, 0, off + 9, n}};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 4; k++)
            pgk_sink_u64(out, table[i][k]);
    pgk_sink_bytes(out, summary, sizeof summary);
    pgk_sink_bytes(out, names, sizeof names);
    pgk_sink_bytes(out, record, n);
    return out;
}



static void expect_composite(const uint8_t *record, size_t n, int expected, const char *field,
                             size_t unknown)
{
    struct pgk_sink *out = composite(record, n, PGK_SAMPLE_COMPOSITE);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    if (expected) {
        refused(bytes, size, expected, field);
    } else {
        struct pgk_sample *p;
        struct pgk_err err;
        assert_int_equal(read_bytes(bytes, size, &p, NULL, &err), 0);
        assert_int_equal(p->unknown_blocks, unknown);
        case_expect(p, "x:5:1\n 1: 2\n");
    }
    pgk_sink_drop(&out);
}

static void blocks_of_composite_records(void **state)
{
    (void)state;
    static const uint8_t good[] = {0, 1, 0, 7, 1, 5, 1, 1, 0, 2, 0, 0};
    static const uint8_t unknown[] = {0, 2, 127, 2, 9, 9, 0, 7, 1, 5, 1, 1, 0, 2, 0, 0};
    static const uint8_t unknown_last[] = {0, 2, 0, 7, 1, 5, 1, 1, 0, 2, 0, 127, 1, 0xff, 0};
    static const uint8_t twice[] = {0, 2, 0, 7, 1, 5, 1, 1, 0, 2, 0,
                                    0, 7, 1, 5, 1, 1, 0, 2, 0, 0};
    static const uint8_t shorter[] = {0, 1, 0, 6, 1, 5, 1, 1, 0, 2, 0, 0};
    static const uint8_t longer[] = {0, 1, 0, 8, 1, 5, 1, 1, 0, 2, 0, 0};
    static const uint8_t outside[] = {0, 1, 127, 100, 1, 5, 1, 1, 0, 2, 0, 0};
    static const uint8_t too_many[] = {0, 100, 0, 7, 1, 5, 1, 1, 0, 2, 0, 0};
    expect_composite(good, sizeof good, 0, NULL, 0);
    expect_composite(unknown, sizeof unknown, 0, NULL, 1);
    expect_composite(unknown_last, sizeof unknown_last, 0, NULL, 1);
    expect_composite(twice, sizeof twice, PGK_E_CORRUPT, "type of block", 0);
    expect_composite(shorter, sizeof shorter, PGK_E_TRUNCATED, "number of lines", 0);
    expect_composite(longer, sizeof longer, PGK_E_CORRUPT, "block of lines", 0);
    expect_composite(outside, sizeof outside, PGK_E_TRUNCATED, "size of block", 0);
    expect_composite(too_many, sizeof too_many, PGK_E_TRUNCATED, "number of blocks", 0);
    for (uint32_t version = 103; version < 105; version++) {
        struct pgk_sink *out = composite(good, sizeof good, version);
        size_t size;
        const uint8_t *bytes = pgk_sink_data(out, &size);
        refused(bytes, size, PGK_E_CORRUPT, "composite profiles");
        pgk_sink_drop(&out);
    }
}

/* A request for composite profiles in a version that has none. */
static void versions_without_composite_profiles(void **state)
{
    (void)state;
    struct pgk_sample *p = case_read(CASE_PLAIN);
    struct pgk_sink *out;
    struct pgk_err err = {0};
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    opts_t opts = {.composite = true, .version = 104};
    assert_int_equal(pgk_sample_ext_write(p, p->by_heat.n, &opts, out, &err), PGK_E_ARG);
    assert_non_null(strstr(err.found, "version 104"));
    pgk_sink_drop(&out);
    pgk_sample_close(&p);
}

/* ---- symbols ---- */

static size_t symbols_of(const struct pgk_sample *p, opts_t opts, struct pgk_sample **again)
{
    struct pgk_sink *out;
    struct pgk_err err;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_sample_ext_write(p, p->by_heat.n, &opts, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, again, NULL, &err), 0);
    assert_int_equal(pgk_sample_finish(*again, NULL), 0);
    pgk_sink_drop(&out);
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(*again, &info);
    return info.n_symbols;
}

/* A name and its GUID are one symbol. A list of strings has no place for one known by its GUID. */
static void symbols_by_guid(void **state)
{
    (void)state;
    struct pgk_sample *p = case_read(CASE_PLAIN), *guids, *strings, *both;
    static const char *const symbols[] = {"foo", "bar", "cold", "6699318081062747564"};
    for (unsigned i = 0; i < PGK_COUNTOF(symbols); i++)
        assert_true(pgk_sample_add_symbol(p, symbols[i], strlen(symbols[i])));
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_unspelled_symbols(p), 1);
    assert_int_equal(symbols_of(p, (opts_t){.symbol_guids = true}, &guids), 3);
    assert_int_equal(pgk_sample_unspelled_symbols(guids), 3);
    assert_int_equal(symbols_of(guids, (opts_t){.symbol_guids = true}, &both), 3);
    assert_int_equal(symbols_of(p, (opts_t){0}, &strings), 3);
    assert_int_equal(pgk_sample_unspelled_symbols(strings), 0);
    pgk_sample_close(&strings);
    assert_int_equal(symbols_of(guids, (opts_t){0}, &strings), 0);
    pgk_sample_close(&strings);
    pgk_sample_close(&both);
    pgk_sample_close(&guids);
    pgk_sample_close(&p);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    opts_t opts = nth_opts(1 | 2 | 4 | 8);
    struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sample *p;
        struct pgk_sink *again = NULL;
        struct pgk_err err = {0};
        assert_int_equal(pgk_sample_new(&p, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_sample_ext_read(p, bytes, size, &case_source, 1, NULL, &err);
        if (!status && !pgk_sample_add_symbol(p, "cold", 4))
            status = PGK_E_NOMEM;
        if (!status)
            status = pgk_sample_finish(p, &err);
        if (!status)
            status = pgk_sink_memory(&again, &err);
        if (!status)
            status = pgk_sample_ext_write(p, p->by_heat.n, &opts, again, &err);
        if (!status)
            status = pgk_sink_commit(&again, &err);
        pgk_mem_fail_after(0);
        pgk_sink_drop(&again);
        pgk_sample_close(&p);
        assert_in_range(nth, 1, 500);
    }
    assert_int_equal(status, 0);
    pgk_sink_drop(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_found),
        cmocka_unit_test(the_bytes_are_those_of_llvm),
        cmocka_unit_test(composite_bytes_are_those_of_llvm),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(contexts_and_probes),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(forged_tables_are_refused),
        cmocka_unit_test(blocks_of_composite_records),
        cmocka_unit_test(versions_without_composite_profiles),
        cmocka_unit_test(symbols_by_guid),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
