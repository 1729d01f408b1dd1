/* pprof's heap profiles: values, functions, addresses, refusals. */
#include "pprof_read.h"

#include "pgk_test.h"

/* A message that is put together. */
struct message {
    uint8_t bytes[2048];
    size_t n;
};

static void varint(struct message *m, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        m->bytes[m->n++] = (uint8_t)(v | 128);
    m->bytes[m->n++] = (uint8_t)v;
}

static void number(struct message *m, unsigned field, uint64_t v)
{
    varint(m, field << 3);
    varint(m, v);
}

static void bytes(struct message *m, unsigned field, const void *what, size_t n)
{
    varint(m, field << 3 | 2);
    varint(m, n);
    memcpy(m->bytes + m->n, what, n);
    m->n += n;
}

/* Fields 1, 2, ... of a message, without those that are 0. */
static void fields(struct message *m, unsigned field, const uint64_t *values, size_t n)
{
    struct message part = {.n = 0};
    for (size_t i = 0; i < n; i++)
        if (values[i])
            number(&part, (unsigned)i + 1, values[i]);
    bytes(m, field, part.bytes, part.n);
}
#define FIELDS(m, field, ...)                                      \
    fields(m, field, (const uint64_t[]){__VA_ARGS__},              \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

enum { TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, TEXT, PERIOD_TYPE = 11, PERIOD };

/* Texts 1 to 13. */
static void put_texts(struct message *m)
{
    static const char *const texts[] = {
        "", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space",
        "main", "a.c", "_Z5innerv", "inner()", "/lib/libz.so.1", "0A0b0c", "space"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        bytes(m, TEXT, texts[i], strlen(texts[i]));
}

static void put_types(struct message *m)
{
    FIELDS(m, TYPE, 1, 2);
    FIELDS(m, TYPE, 3, 4);
    FIELDS(m, TYPE, 5, 2);
    FIELDS(m, TYPE, 6, 4);
    FIELDS(m, PERIOD_TYPE, 13, 4);
    number(m, PERIOD, 1000);
}

/* Location 5: inner, line 12, in main, line 25; 6: main, line 20. */
static void put_places(struct message *m)
{
    struct message location = {.n = 0};
    FIELDS(m, FUNCTION, 1, 10, 9, 8, 10);
    FIELDS(m, FUNCTION, 2, 7, 0, 8);
    number(&location, 1, 5);
    FIELDS(&location, 4, 1, 12);
    FIELDS(&location, 4, 2, 25);
    bytes(m, LOCATION, location.bytes, location.n);
    location.n = 0;
    number(&location, 1, 6);
    FIELDS(&location, 4, 2, 20, 3);
    bytes(m, LOCATION, location.bytes, location.n);
}

/* Packed numbers, as all writers have them. */
static void put_sample(struct message *m, const uint8_t *places, size_t n, const uint8_t *values,
                       size_t n_values)
{
    struct message sample = {.n = 0};
    bytes(&sample, 1, places, n);
    bytes(&sample, 2, values, n_values);
    bytes(m, SAMPLE, sample.bytes, sample.n);
}
#define SAMPLE_OF(m, places, values) \
    put_sample(m, (const uint8_t *)(places), strlen(places), (const uint8_t *)(values), 4)

static int read_message(const struct message *m, struct pgk_heap **h, uint64_t *sample_bytes,
                        struct pgk_err *err)
{
    struct pgk_source src = {.file = "h.pb.gz", .format = "heap profile of pprof"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_pprof_read(*h, m->bytes, m->n, &src, sample_bytes, err);
}

static struct pgk_heap *good(const struct message *m)
{
    struct pgk_heap *h;
    struct pgk_err err;
    uint64_t sample_bytes;
    assert_true(pgk_pprof_sniff(m->bytes, m->n));
    if (read_message(m, &h, &sample_bytes, &err))
        fail_msg("%s %s: %s, expected %s", err.record, err.field, err.found, err.expected);
    assert_int_equal(sample_bytes, 1000);
    return h;
}

static void frames_are_functions_and_lines(void **state)
{
    struct message m = {.n = 0};
    struct pgk_heap_frame f[4];
    (void)state;
    put_types(&m);
    SAMPLE_OF(&m, "\5\6", "\7\70\1\10");
    put_places(&m);
    put_texts(&m);
    struct pgk_heap *h = good(&m);
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(pgk_heap_stack(h, 0, f, 4), 3);
    assert_string_equal(f[0].function, "_Z5innerv");
    assert_string_equal(f[0].file, "a.c");
    assert_int_equal(f[0].decl_line, 10);
    assert_int_equal(f[0].line_offset, 2);
    assert_true(f[0].inlined);
    assert_string_equal(f[1].function, "main");
    assert_int_equal(f[1].decl_line + f[1].line_offset, 25);
    assert_false(f[1].inlined);
    assert_int_equal(f[2].decl_line + f[2].line_offset, 20);
    assert_int_equal(f[2].column, 3);
    assert_false(f[2].inlined);
    pgk_heap_close(&h);
}

/* Go has a sample for each size; those of one stack are added up. */
static void samples_are_added_up(void **state)
{
    struct message m = {.n = 0};
    (void)state;
    put_types(&m);
    put_texts(&m);
    put_places(&m);
    SAMPLE_OF(&m, "\6", "\7\70\1\10");
    SAMPLE_OF(&m, "\6", "\1\20\0\0");
    SAMPLE_OF(&m, "\5", "\0\0\0\0");
    struct pgk_heap *h = good(&m);
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_AllocCount), 8);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_TotalSize), 72);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_ExitCount), 1);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_ExitSize), 8);
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_PeakSize));
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_TotalAccessCount));
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_MinSize));
    pgk_heap_close(&h);
}

/* TCMalloc and V8 tell what is alive only, under other names. */
static void what_is_alive_stands_for_all(void **state)
{
    struct message m = {.n = 0}, sample = {.n = 0};
    (void)state;
    FIELDS(&m, TYPE, 13, 4);
    number(&m, PERIOD, 1000);
    number(&sample, 1, 6);
    number(&sample, 2, 99);
    bytes(&m, SAMPLE, sample.bytes, sample.n);
    put_texts(&m);
    put_places(&m);
    struct pgk_heap *h = good(&m);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_TotalSize), 99);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_ExitSize), 99);
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_AllocCount));
    pgk_heap_close(&h);
}

/* Without functions places are addresses: in files by where these were loaded, or link-time ones
 * where the mapping does not tell. */
static void addresses_are_in_files(void **state)
{
    struct message m = {.n = 0};
    struct pgk_heap_frame f[4];
    (void)state;
    put_types(&m);
    put_texts(&m);
    FIELDS(&m, MAPPING, 1, 0x7000, 0x9000, 0x2000, 11, 0);
    FIELDS(&m, MAPPING, 2, 0x7000, 0x9000, 0x2000, 11, 12);
    FIELDS(&m, MAPPING, 3, 0, 0, 0, 0, 12);
    FIELDS(&m, LOCATION, 1, 1, 0x7123);
    FIELDS(&m, LOCATION, 2, 2, 0x7123);
    FIELDS(&m, LOCATION, 3, 3, 0x7123);
    FIELDS(&m, LOCATION, 4, 0, 0x7123);
    SAMPLE_OF(&m, "\1\2\3\4", "\7\70\1\10");
    struct pgk_heap *h = good(&m);
    assert_int_equal(pgk_heap_stack(h, 0, f, 4), 4);
    const uint64_t wanted[] = {0x2123, 0x2123, 0x7123, 0x7123};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(f[i].address, wanted[i]);
    assert_int_equal(h->modules.n, 3);
    assert_string_equal(pgk_intern_str(&h->strings, h->modules.v[0].name), "/lib/libz.so.1");
    assert_true(h->modules.v[0].by_file_off && h->modules.v[1].by_file_off);
    assert_false(h->modules.v[2].by_file_off);
    assert_string_equal(pgk_intern_str(&h->strings, h->modules.v[2].build_id), "\x0a\x0b\x0c");
    pgk_heap_close(&h);
}

static void refused(const struct message *m, int status, const char *record, const char *field)
{
    struct pgk_heap *h;
    struct pgk_err err;
    uint64_t sample_bytes;
    assert_int_equal(read_message(m, &h, &sample_bytes, &err), status);
    assert_string_equal(err.record, record);
    assert_string_equal(err.field, field);
    assert_int_not_equal(err.offset, PGK_NO_OFFSET);
    assert_string_not_equal(err.found, "");
    assert_string_not_equal(err.expected, "");
    pgk_heap_close(&h);
}

/* The beginning of a message, to which each refusal adds something. */
static struct message started(void)
{
    struct message m = {.n = 0};
    put_types(&m);
    put_texts(&m);
    put_places(&m);
    return m;
}

static void what_refers_to_nothing_is_refused(void **state)
{
    struct message m = started(), inner = {.n = 0};
    (void)state;
    SAMPLE_OF(&m, "\7", "\7\70\1\10");
    refused(&m, PGK_E_CORRUPT, "sample", "location_id");
    m = started();
    FIELDS(&m, FUNCTION, 3, 99);
    refused(&m, PGK_E_CORRUPT, "function", "name");
    m = started();
    FIELDS(&m, FUNCTION, 1, 7);
    refused(&m, PGK_E_CORRUPT, "function", "id");
    m = started();
    FIELDS(&m, LOCATION, 7, 9, 1);
    refused(&m, PGK_E_CORRUPT, "location", "mapping_id");
    m = started();
    number(&inner, 1, 7);
    FIELDS(&inner, 4, 9);
    bytes(&m, LOCATION, inner.bytes, inner.n);
    refused(&m, PGK_E_CORRUPT, "line", "function_id");
}

static void values_that_cannot_be_are_refused(void **state)
{
    struct message m = started(), sample = {.n = 0};
    (void)state;
    put_sample(&m, (const uint8_t *)"\6", 1, (const uint8_t *)"\1\1\1", 3);
    refused(&m, PGK_E_CORRUPT, "sample", "value");
    m = started();
    put_sample(&m, (const uint8_t *)"\6", 1, (const uint8_t *)"\1\1\1\1\1", 5);
    refused(&m, PGK_E_CORRUPT, "sample", "value");
    m = started();
    number(&sample, 1, 6);
    number(&sample, 2, UINT64_MAX);
    bytes(&m, SAMPLE, sample.bytes, sample.n);
    refused(&m, PGK_E_MISMATCH, "sample", "value");
}

static void what_is_damaged_is_refused(void **state)
{
    struct message m = {.n = 0};
    (void)state;
    FIELDS(&m, TYPE, 7, 4);
    put_texts(&m);
    refused(&m, PGK_E_MISMATCH, "profile", "sample_type");
    m = (struct message){.n = 0};
    bytes(&m, TEXT, "x", 1);
    refused(&m, PGK_E_CORRUPT, "profile", "string_table");
    m = started();
    number(&m, SAMPLE, 1);
    refused(&m, PGK_E_CORRUPT, "profile", "sample");
    m = started();
    varint(&m, SAMPLE << 3 | 3);
    refused(&m, PGK_E_CORRUPT, "profile", "tag");
    m = started();
    varint(&m, SAMPLE << 3 | 2);
    varint(&m, 1000);
    refused(&m, PGK_E_TRUNCATED, "profile", "size");
}

/* A stack of more frames than anyone records, by naming one location again and again. */
static void huge_stacks_are_refused(void **state)
{
    static struct message m;
    struct message location = {.n = 0};
    uint8_t places[100];
    (void)state;
    m.n = 0;
    put_types(&m);
    put_texts(&m);
    FIELDS(&m, FUNCTION, 1, 7);
    number(&location, 1, 6);
    for (int i = 0; i < 300; i++)
        FIELDS(&location, 4, 1);
    bytes(&m, LOCATION, location.bytes, location.n);
    memset(places, 6, sizeof places);
    put_sample(&m, places, sizeof places, (const uint8_t *)"\1\1\1\1", 4);
    refused(&m, PGK_E_CORRUPT, "sample", "location_id");
}

static void cut_files_are_read_or_refused(void **state)
{
    struct message m = started();
    (void)state;
    SAMPLE_OF(&m, "\5\6", "\7\70\1\10");
    for (const size_t whole = m.n; m.n-- > 0;) {
        struct pgk_heap *h;
        struct pgk_err err;
        uint64_t sample_bytes;
        assert_true(m.n < whole);
        if (read_message(&m, &h, &sample_bytes, &err))
            assert_string_not_equal(err.field, "");
        pgk_heap_close(&h);
    }
}

static void other_files_are_not_taken(void **state)
{
    static const char *const texts[] = {"", "\n", "\n\4\x08\1", "\nmain\n2\x05space",
                                        "hello\x32\x05space"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(pgk_pprof_sniff((const uint8_t *)texts[i], strlen(texts[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_functions_and_lines),
        cmocka_unit_test(samples_are_added_up),
        cmocka_unit_test(what_is_alive_stands_for_all),
        cmocka_unit_test(addresses_are_in_files),
        cmocka_unit_test(what_refers_to_nothing_is_refused),
        cmocka_unit_test(values_that_cannot_be_are_refused),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(huge_stacks_are_refused),
        cmocka_unit_test(cut_files_are_read_or_refused),
        cmocka_unit_test(other_files_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
