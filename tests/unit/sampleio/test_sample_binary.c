/* The binary encodings of sample profiles: round trips, truncations, forged numbers. */
#include "sample_cases.h"

#include "line_buffer.h"
#include "sample_format.h"
#include "sample_gcc.h"
#include "sample_records.h"

#include <inttypes.h>

typedef struct pgk_sample_write_opts opts_t;

static int read_bytes(const uint8_t *bytes, size_t size, enum pgk_sample_encoding encoding,
                      struct pgk_sample **p, struct pgk_err *err)
{
    *p = NULL;
    *err = (struct pgk_err){0};
    int status = pgk_sample_new(p, err);
    if (status)
        return status;
    switch (encoding) {
    case PGK_SAMPLE_BINARY:
        return pgk_sample_raw_read(*p, bytes, size, &case_source, 1, err);
    case PGK_SAMPLE_GCC:
        return pgk_sample_gcc_read(*p, bytes, size, &case_source, 1, NULL, err);
    default:
        return pgk_sample_ext_read(*p, bytes, size, &case_source, 1, NULL, err);
    }
}

static void round_trip(const char *text, opts_t opts, const char *means)
{
    struct pgk_sink *out = case_encode(text, &opts);
    struct pgk_sample *p;
    struct pgk_err err;
    char printed[8192];
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    if (read_bytes(bytes, size, opts.encoding, &p, &err))
        fail_msg("%s", test_printed(printed, &err));
    case_expect(p, means);
    pgk_sink_drop(&out);
}

/* CASE_PLAIN as it is without vtables. */
static const char PLAIN_BODY[] =
    "main:184019:7\n 4: 534\n 4.2: 534\n 9: 2064 _Z3bari:1471 _Z3fooi:631\n"
    " 10: inline1:1000\n  1: 1000\n  2: deep:10\n   1: 10 _Z3fooi:10\n"
    "_Z3bari:20301:1437\n 1: 1437\n_Z3fooi:7711:610\n 1: 610\n";

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (int bits = 0; bits < 4; bits++) {
        bool compress = bits & 1, split = bits & 2;
        round_trip(CASE_PLAIN, (opts_t){.vtables = true, .compress = compress,
                                        .split_layout = split}, CASE_PLAIN);
        round_trip(CASE_PROBES, (opts_t){.compress = compress, .split_layout = split},
                   CASE_PROBES);
        round_trip(CASE_CONTEXTS, (opts_t){.compress = compress, .vtables = split},
                   CASE_CONTEXTS);
    }
    round_trip(CASE_PLAIN, (opts_t){.encoding = PGK_SAMPLE_EXT_BINARY}, PLAIN_BODY);
    round_trip(CASE_PLAIN, (opts_t){.encoding = PGK_SAMPLE_BINARY}, PLAIN_BODY);
    /* LLVM drops attributes of a profile that is not preinlined. */
    round_trip("f:1:1\n 1: 1\n !Attributes: 1\n", (opts_t){0},
               "f:1:1\n 1: 1\n !Attributes: 1\n");
}

static void names_as_guids(void **state)
{
    (void)state;
    round_trip("foo:14:1\n 1: 10 bar:7\n 1: vtables _ZTV1A:3 \n 2.1: baz:4\n  1: 4\n",
               (opts_t){.md5 = true, .vtables = true},
               "6699318081062747564:14:1\n 1: 10 16434608426314478903:7\n"
               " 1: vtables 12105754951942688208:3 \n 2.1: 7546896869197086323:4\n  1: 4\n");
    /* What is known by GUID alone makes all names GUIDs, and is no longer a string of digits. */
    round_trip("6699318081062747564:1:1\n 1: 1 bar:1\n", (opts_t){0},
               "6699318081062747564:1:1\n 1: 1 16434608426314478903:1\n");
}

/* GCC's form has no totals: they are sums of what is there. */
static void the_form_of_gcc(void **state)
{
    (void)state;
    round_trip("f:1:7\n 1: 10 g:3\n 2.3: h:9\n  4: 5\n", (opts_t){.encoding = PGK_SAMPLE_GCC},
               "f:15:7\n 1: 10 g:3\n 2.3: h:5\n  4: 5\n");
}

/* What gcc's form cannot hold is counted: discriminators that are cut to its 16 bits, or that the
 * compiler does not know at all, and totals that are no sums. */
static void discriminators_and_totals_are_not_lost_to_gcc_in_silence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t cut, discriminators, totals; /* for gcc 13, 11, and both */
    } cases[] = {
        {"f:9:1\n 1: 4\n 2: 5\n", 0, 0, 0},
        {"f:9:1\n 1.65535: 4\n 2.1: 5\n", 0, 2, 0},
        {"f:9:1\n 1.65536: 4 g:2\n 1: 5\n", 1, 1, 0},
        {"f:9:1\n 1.65537: 4\n 2.65537: g:5\n  3.70000: 5\n", 3, 3, 0},
        {"f:10:1\n 1: 4\n 2: g:3\n  3: 5\n", 0, 0, 1},
        {"f:8:1\n 1.1: 4\n", 0, 1, 1},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++)
        for (unsigned gcc = 11; gcc <= 13; gcc += 2) {
            struct pgk_sample *p = case_read(cases[i].text), *adapted;
            struct pgk_sample_written lost = {0};
            opts_t opts = {.encoding = PGK_SAMPLE_GCC, .gcc_release = gcc};
            assert_int_equal(pgk_sample_finish(p, NULL), 0);
            assert_int_equal(pgk_sample_gcc_adapt(&adapted, p, &opts, &lost, NULL), 0);
            assert_int_equal(lost.discriminators_cut, gcc == 13 ? cases[i].cut : 0);
            assert_int_equal(lost.discriminators_dropped,
                             gcc == 11 ? cases[i].discriminators : 0);
            assert_int_equal(lost.totals_dropped, cases[i].totals);
            pgk_sample_close(&adapted);
            pgk_sample_close(&p);
        }
}

/* The bytes that llvm-profdata-22 writes for this profile, from the format's page. */
static void the_bytes_are_as_documented(void **state)
{
    (void)state;
    struct pgk_sink *out = case_encode("foo:14:1\n 1: 10 bar:7\n 1: vtables _ZTV1A:3 \n"
                                       " 2.1: baz:4\n  1: 4\n",
                                       &(opts_t){.vtables = true});
    static const uint8_t profiles[] = {1, 3, 14, 1, 1, 0, 10, 1, 1, 7, 1, 2, 1, 2, 4,
                                       1, 1, 0, 4, 0, 0, 0, 1, 1, 0, 1, 0, 3};
    static const uint8_t names[] = "\4_ZTV1A\0bar\0baz\0foo";
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(size, 379);
    assert_memory_equal(bytes + 0x147, names, sizeof names);
    assert_memory_equal(bytes + 0x15c, profiles, sizeof profiles);
    assert_memory_equal(bytes + 0x178, "\1\3\0", 3);
    pgk_sink_drop(&out);
}

static const struct truncation {
    const char *text;
    opts_t opts;
} truncations[] = {
    {CASE_PLAIN, {.vtables = true}},
    {CASE_PLAIN, {.vtables = true, .compress = true, .md5 = true}},
    {CASE_PROBES, {.split_layout = true}},
    {CASE_CONTEXTS, {0}},
    {CASE_PLAIN, {.encoding = PGK_SAMPLE_GCC}},
    {CASE_PLAIN, {.encoding = PGK_SAMPLE_GCC, .gcc_release = 16}},
};

/* Each prefix in memory of its own, so that a sanitizer sees a read past its end. */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truncations / sizeof *truncations; i++) {
        struct pgk_sink *out = case_encode(truncations[i].text, &truncations[i].opts);
        size_t size;
        const uint8_t *bytes = pgk_sink_data(out, &size);
        /* Behind the functions GCC's form has an empty list that nobody needs. */
        size_t needed = truncations[i].opts.encoding == PGK_SAMPLE_GCC ? size - 12 : size;
        for (size_t n = 0; n < needed; n++) {
            struct pgk_sample *p;
            struct pgk_err err;
            uint8_t *part = malloc(n + 1);
            memcpy(part, bytes, n);
            if (!read_bytes(part, n, truncations[i].opts.encoding, &p, &err))
                fail_msg("case %zu: %zu of %zu bytes are taken for a whole", i, n, size);
            assert_true(*err.field && *err.record && *err.found && *err.expected);
            assert_string_equal(err.file, "t.prof");
            pgk_sample_close(&p);
            free(part);
        }
        pgk_sink_drop(&out);
    }
}

/* A raw binary has no count of functions: it may end between two. */
static void every_truncation_of_raw_is_refused(void **state)
{
    (void)state;
    opts_t opts = {.encoding = PGK_SAMPLE_BINARY};
    struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
    size_t size, whole = 0;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    for (size_t n = 0; n <= size; n++) {
        struct pgk_sample *p;
        struct pgk_err err;
        whole += !read_bytes(bytes, n, PGK_SAMPLE_BINARY, &p, &err);
        pgk_sample_close(&p);
    }
    assert_int_equal(whole, 4); /* with 0, 1, 2 and 3 functions */
    pgk_sink_drop(&out);
}

/* As LLVM 14 wrote it: main with an inlinee foo, and foo. */
static void compact_binaries_of_old_releases(void **state)
{
    (void)state;
    static const uint8_t summary[] = {10, 7, 3, 3, 2, 0};
    static const uint8_t records[] = {
        1, 0, 9, 1, 1, 0, 7, 0, 1, 2, 1, 1, 2, 1, 3, 0, 2, 0, 0, /* head, name, total, ... */
        3, 1, 1, 1, 1, 0, 1, 0, 0};
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_uleb(out, PGK_SAMPLE_MAGIC_COMPACT);
    pgk_sink_uleb(out, PGK_SAMPLE_VERSION);
    pgk_sink_bytes(out, summary, sizeof summary);
    pgk_sink_uleb(out, 2);
    pgk_sink_uleb(out, UINT64_C(15822663052811949562)); /* main */
    pgk_sink_uleb(out, UINT64_C(6699318081062747564));  /* foo */
    uint64_t start = pgk_sink_off(out) + 8;
    pgk_sink_u64(out, start + sizeof records);
    pgk_sink_bytes(out, records, sizeof records);
    pgk_sink_uleb(out, 2);
    pgk_sink_uleb(out, 0);
    pgk_sink_uleb(out, start);
    pgk_sink_uleb(out, 1);
    pgk_sink_uleb(out, start + 19);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    for (size_t n = 0; n <= size; n++) {
        struct pgk_sample *p;
        struct pgk_err err = {0};
        uint8_t *part = malloc(n + 1);
        memcpy(part, bytes, n);
        assert_int_equal(pgk_sample_new(&p, NULL), 0);
        int status = pgk_sample_compact_read(p, part, n, &case_source, 1, &err);
        free(part);
        if (n == size) {
            assert_int_equal(status, 0);
            for (const char *name = "main\0foo\0"; *name; name += strlen(name) + 1)
                assert_true(pgk_sample_names_spell(&p->names, name, strlen(name)));
            case_expect(p, "main:9:1\n 1: 7\n 2.1: foo:2\n  3: 2\nfoo:1:3\n 1: 1\n");
            continue;
        }
        if (!status)
            fail_msg("%zu of %zu bytes are taken for a whole", n, size);
        assert_true(*err.field && *err.record && *err.found && *err.expected);
        pgk_sample_close(&p);
    }
    pgk_sink_drop(&out);
}

struct forgery {
    size_t off, size;
    uint64_t value;
    int status;
    const char *field;
};

static void forged_numbers_are_refused(void **state)
{
    (void)state;
    const struct forgery forgeries[] = {
        {9, 1, PGK_SAMPLE_NOW + 1, PGK_E_VERSION, "version"},
        {10, 8, UINT64_MAX, PGK_E_TRUNCATED, "number of sections"},
        {0x12 + 16, 8, UINT64_MAX, PGK_E_TRUNCATED, "summary"},
        {0x12 + 24, 8, 84, PGK_E_TRUNCATED, NULL},
        {0x12 + 24, 8, 86, PGK_E_CORRUPT, "end of section"},
        {0x32, 8, 1, PGK_E_CORRUPT, "summary"}, /* two summaries */
        {0x147, 1, 3, PGK_E_CORRUPT, "end of section"},
        {0x147, 1, 127, PGK_E_TRUNCATED, "number of names"},
        {0x147, 1, 5, PGK_E_TRUNCATED, NULL},
        {0x15d, 1, 4, PGK_E_CORRUPT, "function"},
        {0x15f, 1, 127, PGK_E_TRUNCATED, "number of lines"},
        {0x163, 1, 127, PGK_E_TRUNCATED, "number of call targets"},
        {0x164, 1, 4, PGK_E_CORRUPT, "call target"},
        {0x166, 1, 127, PGK_E_TRUNCATED, "number of inlinees"},
        {0x169, 1, 4, PGK_E_CORRUPT, "inlinee"},
        {0x172, 1, 127, PGK_E_TRUNCATED, "number of places with vtables"},
        {0x175, 1, 127, PGK_E_TRUNCATED, "number of vtables"},
        {0x176, 1, 4, PGK_E_CORRUPT, "vtable"},
    };
    struct pgk_sink *out = case_encode("foo:14:1\n 1: 10 bar:7\n 1: vtables _ZTV1A:3 \n"
                                       " 2.1: baz:4\n  1: 4\n",
                                       &(opts_t){.vtables = true});
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        struct pgk_sample *p;
        struct pgk_err err;
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        memcpy(bad + forgeries[i].off, &forgeries[i].value, forgeries[i].size);
        if (read_bytes(bad, size, PGK_SAMPLE_EXT_BINARY, &p, &err) != forgeries[i].status)
            fail_msg("forgery %zu: status %d, field %s", i, err.status, err.field);
        if (forgeries[i].field)
            assert_string_equal(err.field, forgeries[i].field);
        pgk_sample_close(&p);
        free(bad);
    }
    pgk_sink_drop(&out);
}

static void put_section(struct pgk_sink *out, uint64_t type, uint64_t flags, uint64_t off,
                        uint64_t size)
{
    const uint64_t entry[] = {type, flags, off, size};
    for (int i = 0; i < 4; i++)
        pgk_sink_u64(out, entry[i]);
}

/* A file of one section, a profile section, of these bytes. */
static struct pgk_sink *one_section(uint64_t type, uint64_t flags, const void *bytes, size_t n)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_uleb(out, PGK_SAMPLE_MAGIC_EXT);
    pgk_sink_uleb(out, PGK_SAMPLE_VERSION);
    pgk_sink_u64(out, 1);
    pgk_sink_u64(out, type);
    pgk_sink_u64(out, flags);
    pgk_sink_u64(out, 50);
    pgk_sink_u64(out, n);
    pgk_sink_bytes(out, bytes, n);
    return out;
}

static void sizes_that_would_fill_memory_are_refused(void **state)
{
    (void)state;
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    /* 1 GiB said to be in 10 bytes. */
    static const uint8_t bomb[] = {0x80, 0x80, 0x80, 0x80, 4, 10, 0x78, 0xda, 1, 2, 3, 4, 5, 6,
                                   7, 8};
    struct pgk_sink *out = one_section(PGK_SEC_NAMES, PGK_SECF_COMPRESSED, bomb, sizeof bomb);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, PGK_SAMPLE_EXT_BINARY, &p, &err), PGK_E_LIMIT);
    pgk_sample_close(&p);
    pgk_sink_drop(&out);

    /* A thousand and more inlinees, one in the other: by raw binary, which has no sections. */
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_uleb(out, PGK_SAMPLE_MAGIC_BINARY);
    pgk_sink_uleb(out, PGK_SAMPLE_VERSION);
    pgk_sink_zeros(out, 6);
    pgk_sink_bytes(out, "\1f\0\0\0", 5); /* one name, head samples, name 0 */
    for (int i = 0; i < 100000; i++)
        pgk_sink_bytes(out, "\1\0\1\1\0\0", 6);
    pgk_sink_zeros(out, 3);
    bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, PGK_SAMPLE_BINARY, &p, &err), PGK_E_LIMIT);
    assert_string_equal(err.field, "number of inlinees");
    pgk_sample_close(&p);
    pgk_sink_drop(&out);
}

/* The same in GCC's form, whose numbers have four bytes. */
static void sizes_of_gccs_form_that_would_fill_memory(void **state)
{
    (void)state;
    struct pgk_sink *out;
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    static const uint32_t head[] = {2, 0, 0xaa000000, 0, 2};
    static const uint32_t function[] = {0xac000000, 0, 1, 1, 0, 1, 0, 1}, inlinee[] = {1, 1, 0, 1};
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_bytes(out, "adcg", 4);
    pgk_sink_bytes(out, head, sizeof head);
    pgk_sink_bytes(out, "\1\0\0\0\0\2\0\0\0f\0", 11); /* names: an empty one, f */
    pgk_sink_bytes(out, function, sizeof function);
    for (int i = 0; i < 100000; i++)
        pgk_sink_bytes(out, inlinee, sizeof inlinee);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, PGK_SAMPLE_GCC, &p, &err), PGK_E_CORRUPT);
    assert_string_equal(err.field, "number of inlinees");
    assert_string_equal(err.expected, "nesting of at most 1000 levels");
    pgk_sample_close(&p);
    pgk_sink_drop(&out);
}

/* Sections whose contents are right, but twice there; contexts without or with too many
 * frames; metadata nested without end. */
static struct pgk_sink *sections(size_t n, const uint64_t (*entries)[2], const uint8_t *const *v,
                                 const size_t *sizes)
{
    struct pgk_sink *out;
    uint64_t off = 18 + 32 * n;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_uleb(out, PGK_SAMPLE_MAGIC_EXT);
    pgk_sink_uleb(out, PGK_SAMPLE_VERSION);
    pgk_sink_u64(out, n);
    for (size_t i = 0; i < n; off += sizes[i++])
        put_section(out, entries[i][0], entries[i][1], off, sizes[i]);
    for (size_t i = 0; i < n; i++)
        pgk_sink_bytes(out, v[i], sizes[i]);
    return out;
}

static void refused(struct pgk_sink *out, int status, const char *record, const char *field)
{
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, PGK_SAMPLE_EXT_BINARY, &p, &err), status);
    assert_string_equal(err.record, record);
    assert_string_equal(err.field, field);
    pgk_sample_close(&p);
    pgk_sink_drop(&out);
}

static void tables_that_would_fill_memory_are_refused(void **state)
{
    (void)state;
    static const uint8_t summary[] = {0, 0, 0, 0, 0, 0}, names[] = {1, 'f', 0};
    static const uint8_t empty_context[] = {1, 0}, deep_context[] = {1, 0xe9, 7};
    static uint8_t nested[60000] = {0}; /* function 0, 1 inlinee, its line, ... */
    const uint64_t with_contexts[][2] = {{PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_CONTEXTS},
                                         {PGK_SEC_NAMES, 0}, {PGK_SEC_CONTEXTS, 0}};
    const uint64_t with_metadata[][2] = {{PGK_SEC_SUMMARY, 0}, {PGK_SEC_NAMES, 0},
                                         {PGK_SEC_METADATA, 0}};
    const uint64_t twice[][2] = {{PGK_SEC_SUMMARY, 0}, {PGK_SEC_NAMES, 0}, {PGK_SEC_NAMES, 0}};
    refused(sections(3, with_contexts, (const uint8_t *[]){summary, names, empty_context},
                     (size_t[]){6, 3, 2}),
            PGK_E_LIMIT, "context table", "number of frames");
    refused(sections(3, with_contexts, (const uint8_t *[]){summary, names, deep_context},
                     (size_t[]){6, 3, 3}),
            PGK_E_LIMIT, "context table", "number of frames");
    for (size_t i = 1; i < sizeof nested; i += 4)
        nested[i] = 1;
    refused(sections(3, with_metadata, (const uint8_t *[]){summary, names, nested},
                     (size_t[]){6, 3, sizeof nested}),
            PGK_E_CORRUPT, "function metadata", "number of inlinees");
    refused(sections(3, twice, (const uint8_t *[]){summary, names, names}, (size_t[]){6, 3, 3}),
            PGK_E_CORRUPT, "section table", "name table");
}

/* Flags of each type of section that LLVM 24 knows. */
static uint64_t known_flags(uint64_t type)
{
    switch (type) {
    case 1:
        return UINT64_C(0x3700000003);
    case 2:
        return UINT64_C(0xf00000003);
    case 3:
        return UINT64_C(0x100000003);
    case 4:
    case 5:
    case 7:
        return UINT64_C(0x300000003);
    }
    return 3;
}

static void expect_newer(int status, const struct pgk_err *err, uint64_t off, const char *found)
{
    assert_int_equal(status, PGK_E_VERSION);
    assert_int_equal(err->offset, off);
    assert_string_equal(err->record, "section table");
    assert_non_null(strstr(err->found, found));
    assert_non_null(strstr(err->hint, "newer than this pgokit"));
}

/* Each flag of each section is flipped; one that is not known is refused by every reader. */
static void flags_that_are_not_known_are_not_ignored(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        opts_t opts;
    } cases[] = {{CASE_PLAIN, {.vtables = true, .split_layout = true}},
                 {CASE_PROBES, {.compress = true}},
                 {CASE_CONTEXTS, {.vtables = true}},
                 {CASE_PLAIN, {.composite = true, .indexed = true, .symbol_guids = true}}};
    uint64_t types = 0, refusals = 0;
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_sink *out = case_encode(cases[i].text, &cases[i].opts);
        size_t size;
        uint8_t *bytes = (uint8_t *)(uintptr_t)pgk_sink_data(out, &size);
        for (uint64_t entry = 18; entry < 18 + 32 * (uint64_t)bytes[10]; entry += 32)
            for (unsigned bit = 0; bit < 64; bit++) {
                struct pgk_sample *p;
                struct pgk_err err;
                char found[32];
                types |= UINT64_C(1) << bytes[entry];
                snprintf(found, sizeof found, "bit %u (0x%" PRIx64 ")", bit, UINT64_C(1) << bit);
                bytes[entry + 8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
                int status = read_bytes(bytes, size, PGK_SAMPLE_EXT_BINARY, &p, &err);
                pgk_sample_close(&p);
                if (known_flags(bytes[entry]) >> bit & 1) {
                    assert_int_not_equal(status, PGK_E_VERSION);
                } else {
                    struct pgk_sample_ext_info info;
                    expect_newer(status, &err, entry + 8, found);
                    assert_int_equal(pgk_sample_new(&p, NULL), 0);
                    status = pgk_sample_ext_read_function(p, bytes, size, &case_source, "main",
                                                          &info, &err);
                    expect_newer(status, &err, entry + 8, found);
                    status = pgk_sample_ext_read_functions(p, bytes, size, &case_source, NULL, 0,
                                                           &info, &err);
                    expect_newer(status, &err, entry + 8, found);
                    pgk_sample_close(&p);
                    refusals++;
                }
                bytes[entry + 8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
        pgk_sink_drop(&out);
    }
    assert_int_equal(types, UINT64_C(0x3000000fe)); /* 1 to 7, 32 and 33 */
    assert_in_range(refusals, 1500, 2500);
}

/* One that is empty holds nothing. */
static void sections_that_are_not_known_are_not_ignored(void **state)
{
    (void)state;
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    for (int full = 0; full < 2; full++) {
        struct pgk_sink *out = one_section(8, 0, "x", (size_t)full);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        int status = read_bytes(bytes, size, PGK_SAMPLE_EXT_BINARY, &p, &err);
        if (full)
            expect_newer(status, &err, 18, "a section of type 8");
        else
            assert_int_equal(status, 0);
        pgk_sample_close(&p);
        pgk_sink_drop(&out);
    }
}

static struct pgk_sample *read_one(struct pgk_sink *out, const char *function, int expected,
                                   struct pgk_sample_ext_info *info)
{
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_ext_read_function(p, bytes, size, &case_source, function, info,
                                                  &err), expected);
    return p;
}

/* One function by the offset table is what the whole file has of it. */
static void one_function_is_read_alone(void **state)
{
    (void)state;
    for (int bits = 0; bits < 8; bits++) {
        opts_t opts = {.vtables = true, .compress = bits & 1, .split_layout = bits & 2,
                       .md5 = bits & 4};
        struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
        struct pgk_sample_ext_info info;
        case_expect(read_one(out, "_Z3bari", 0, &info), "_Z3bari:20301:1437\n 1: 1437\n");
        assert_true(info.has_summary && info.has_vtables);
        assert_int_equal(info.summary.num_functions, 3);
        struct pgk_sample *none = read_one(out, "inline1", PGK_E_EMPTY, NULL);
        pgk_sample_close(&none);
        pgk_sink_drop(&out);
    }
    opts_t opts = {0};
    struct pgk_sink *out = case_encode(CASE_PROBES, &opts);
    case_expect(read_one(out, "main", 0, NULL),
                "main:100:1\n 1: 60\n 2: foo:40\n  1: 40\n  !CFGChecksum: 22\n"
                " !CFGChecksum: 11\n");
    pgk_sink_drop(&out);
}

static int read_part(const uint8_t *bytes, size_t size, const char *function,
                     struct pgk_sample **p, struct pgk_err *err)
{
    struct pgk_sample_ext_info info;
    uint64_t guid = pgk_sample_guid(function);
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_sample_new(p, NULL), 0);
    return pgk_sample_ext_read_functions(*p, bytes, size, &case_source, &guid, *function != 0,
                                         &info, err);
}

static void expect_part(struct pgk_sink *out, const char *function, const char *text)
{
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_part(bytes, size, function, &p, &err), 0);
    for (const char *s = "a.llvm.7\0b\0c\0deep\0inline1\0main\0_Z3bari\0_Z3fooi\0"; *s;
         s += strlen(s) + 1)
        assert_true(pgk_sample_names_spell(&p->names, s, strlen(s)));
    case_expect(p, text);
}

/* Of some functions: their records, and those of what they are inlined into. */
static void functions_are_read_in_part(void **state)
{
    (void)state;
    static const char text[] = "a.llvm.7:9:1\n 1: 9\nb:8:1\n 1: 3\n 2: c:5\n  1: 5 b:1\n";
    for (int bits = 0; bits < 8; bits++) {
        opts_t opts = {.compress = bits & 1, .split_layout = bits & 2, .md5 = bits & 4};
        struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
        expect_part(out, "_Z3bari", "_Z3bari:20301:1437\n 1: 1437\n");
        expect_part(out, "deep",
                    "main:184019:7\n 4: 534\n 4.2: 534\n 9: 2064 _Z3bari:1471 _Z3fooi:631\n"
                    " 10: inline1:1000\n  1: 1000\n  2: deep:10\n   1: 10 _Z3fooi:10\n");
        expect_part(out, "nowhere", "");
        expect_part(out, "", "");
        pgk_sink_drop(&out);
        out = case_encode(text, &opts);
        expect_part(out, "c", "b:8:1\n 1: 3\n 2: c:5\n  1: 5 b:1\n");
        if (!opts.md5)
            expect_part(out, "a", "a.llvm.7:9:1\n 1: 9\n");
        pgk_sink_drop(&out);
    }
}

/* Damage is refused with an offset and a field; nothing is read beyond the bytes. */
static void damaged_parts_are_refused(void **state)
{
    (void)state;
    opts_t opts = {.vtables = true};
    struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    for (size_t i = 0; i < 2 * size; i++) {
        size_t n = i < size ? i : size;
        uint8_t *damaged = malloc(n + 1); /* of its own, so that sanitizers see its end */
        struct pgk_sample *p;
        struct pgk_err err;
        memcpy(damaged, bytes, n);
        if (i >= size)
            damaged[i - size] ^= 0xff;
        int status = read_part(damaged, n, "deep", &p, &err);
        assert_int_equal(status, err.status);
        if (status && status != PGK_E_ARG) /* that: one that has to be read as a whole */
            assert_true(*err.field);
        pgk_sample_close(&p);
        free(damaged);
    }
    pgk_sink_drop(&out);
    struct pgk_sample *p;
    struct pgk_err err;
    out = case_encode(CASE_CONTEXTS, &opts);
    bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_part(bytes, size, "main", &p, &err), PGK_E_ARG);
    pgk_sample_close(&p);
    pgk_sink_drop(&out);
}

/* All contexts of a function, and what stands apart from them: checksums and attributes. */
static void one_function_is_read_in_its_contexts(void **state)
{
    (void)state;
    static const char text[] = "[main:3.1 @ foo]:5:2\n 1: 5 bar:4\n !CFGChecksum: 99\n"
                               " !Attributes: 2\n"
                               "[foo]:4:1\n 1: 4\n !CFGChecksum: 99\n"
                               "[main:3.1 @ foo:300 @ bar]:4:4\n 2: 4\n !CFGChecksum: 5\n"
                               "[main]:3:0\n 3.1: 3 foo:2\n !CFGChecksum: 7\n";
    for (int bits = 0; bits < 4; bits++) {
        opts_t opts = {.compress = bits & 1, .md5 = bits & 2};
        struct pgk_sink *out = case_encode(text, &opts);
        struct pgk_sample *p = read_one(out, "foo", 0, NULL);
        for (const char *s = "main\0bar\0"; *s; s += strlen(s) + 1)
            assert_true(pgk_sample_names_spell(&p->names, s, strlen(s)));
        case_expect(p, "[main:3.1 @ foo]:5:2\n 1: 5 bar:4\n !CFGChecksum: 99\n"
                       " !Attributes: 2\n[foo]:4:1\n 1: 4\n !CFGChecksum: 99\n");
        p = read_one(out, "baz", PGK_E_EMPTY, NULL);
        pgk_sample_close(&p);
        p = read_one(out, "[foo]", PGK_E_ARG, NULL);
        pgk_sample_close(&p);
        pgk_sink_drop(&out);
    }
}

/* GUIDs as numbers of any length, which no tool writes and all read. */
static void guids_of_fewer_bytes(void **state)
{
    (void)state;
    enum { HEAD = 18 + 3 * 32, NAMES = 1 + 1 + 10, OFFSETS = 5, RECORD = 5 };
    static const uint8_t offsets[OFFSETS] = {2, 0, 0, 1, RECORD}, records[2 * RECORD] = {
        1, 0, 7, 0, 0, /* head, name, total, lines, inlinees */
        2, 1, 9, 0, 0};
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_uleb(out, PGK_SAMPLE_MAGIC_EXT);
    pgk_sink_uleb(out, PGK_SAMPLE_VERSION);
    pgk_sink_u64(out, 3);
    put_section(out, PGK_SEC_NAMES, PGK_SECF_NAMES_MD5, HEAD, NAMES);
    put_section(out, PGK_SEC_OFFSETS, 0, HEAD + NAMES, OFFSETS);
    put_section(out, PGK_SEC_PROFILES, 0, HEAD + NAMES + OFFSETS, sizeof records);
    pgk_sink_uleb(out, 2);
    pgk_sink_uleb(out, 5);
    pgk_sink_uleb(out, UINT64_C(0xf000000000000001));
    pgk_sink_bytes(out, offsets, sizeof offsets);
    pgk_sink_bytes(out, records, sizeof records);
    case_expect(read_one(out, "17293822569102704641", 0, NULL), "17293822569102704641:9:2\n");
    struct pgk_sample *p;
    struct pgk_err err;
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_bytes(bytes, size, PGK_SAMPLE_EXT_BINARY, &p, &err), 0);
    case_expect(p, "17293822569102704641:9:2\n5:7:1\n");
    pgk_sink_drop(&out);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    opts_t opts = {.vtables = true, .compress = true};
    struct pgk_sink *out = case_encode(CASE_PLAIN, &opts);
    size_t size;
    const uint8_t *bytes = pgk_sink_data(out, &size);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sample *p;
        struct pgk_sink *again = NULL;
        struct pgk_err err;
        pgk_mem_fail_after(nth);
        status = read_bytes(bytes, size, PGK_SAMPLE_EXT_BINARY, &p, &err);
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

/* Numbers of every length, against a loop over their bytes, with hardly a byte behind them. */
static void numbers_of_every_length(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        uint8_t plain[PGK_ULEB_BYTES], made[2 * PGK_ULEB_BYTES];
        unsigned bits = (unsigned)i % 65, n = 0;
        uint64_t v = bits ? test_random(&seed) >> (64 - bits) : 0, rest = v;
        do
            plain[n++] = (uint8_t)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
        while (rest >>= 7);
        assert_ptr_equal(pgk_put_uleb(made, v), made + n);
        assert_memory_equal(made, plain, n);
        for (size_t behind = 0; behind < 3; behind++) {
            struct pgk_cursor c;
            memset(made + n, 0xff, behind);
            pgk_cur_init(&c, made, n + behind, &case_source);
            assert_int_equal(pgk_sample_uleb(&c, "number"), v);
            assert_int_equal(pgk_cur_left(&c), behind);
            assert_false(c.failed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(names_as_guids),
        cmocka_unit_test(the_form_of_gcc),
        cmocka_unit_test(the_bytes_are_as_documented),
        cmocka_unit_test(discriminators_and_totals_are_not_lost_to_gcc_in_silence),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_truncation_of_raw_is_refused),
        cmocka_unit_test(forged_numbers_are_refused),
        cmocka_unit_test(sizes_that_would_fill_memory_are_refused),
        cmocka_unit_test(one_function_is_read_alone),
        cmocka_unit_test(functions_are_read_in_part),
        cmocka_unit_test(damaged_parts_are_refused),
        cmocka_unit_test(one_function_is_read_in_its_contexts),
        cmocka_unit_test(guids_of_fewer_bytes),
        cmocka_unit_test(compact_binaries_of_old_releases),
        cmocka_unit_test(sizes_of_gccs_form_that_would_fill_memory),
        cmocka_unit_test(numbers_of_every_length),
        cmocka_unit_test(tables_that_would_fill_memory_are_refused),
        cmocka_unit_test(flags_that_are_not_known_are_not_ignored),
        cmocka_unit_test(sections_that_are_not_known_are_not_ignored),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
