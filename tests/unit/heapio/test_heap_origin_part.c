/* What profiles tell of their processes: merging, the facts of a file, the text, damage. */
#include "heap_origin_part.h"

#include "heap_samples.h"

static struct pgk_file_info facts_of(struct pgk_heap_origin origin)
{
    struct pgk_file_info info = {0};
    const struct pgk_heap_read_info read = {.version = 7, .origin = origin};
    pgk_heap_origin_note(&read, &info);
    assert_int_equal(info.version, 7);
    return info;
}

static void assert_text(struct pgk_heap_origin origin, const char *expected)
{
    char buf[160] = "";
    struct pgk_info_text text = {buf, sizeof buf, 0};
    const struct pgk_file_info info = facts_of(origin);
    pgk_heap_origin_describe(&info, &text);
    assert_string_equal(buf, expected);
}

static void what_is_said(void **state)
{
    (void)state;
    assert_text((struct pgk_heap_origin){0}, "");
    assert_text((struct pgk_heap_origin){.processes = 1}, "");
    assert_text((struct pgk_heap_origin){.processes = 1, .interrupted = 1}, ", interrupted");
    assert_text((struct pgk_heap_origin){.processes = 1, .interrupted = 1, .alive = 1},
                ", interrupted with 1 object alive");
    assert_text((struct pgk_heap_origin){.processes = 3}, ", of 3 processes");
    assert_text((struct pgk_heap_origin){.processes = 3, .interrupted = 2, .alive = 50},
                ", of 3 processes, 2 interrupted with 50 objects alive");
    assert_text((struct pgk_heap_origin){.others = 2}, "");
    assert_text((struct pgk_heap_origin){.processes = 1, .others = 2, .interrupted = 1},
                ", of 1 process and 2 other profiles, 1 interrupted");
    assert_text((struct pgk_heap_origin){.processes = 2, .library_accesses = 2},
                ", of 2 processes, accesses of library functions only");
}

/* One process that is otherwise, or a profile that does not tell, is enough for "not all". */
static void what_is_so_of_all(void **state)
{
    (void)state;
    struct pgk_heap_origin o = {.processes = 2, .one_thread = 2, .library_accesses = 2};
    assert_int_equal(facts_of(o).facts[PGK_FACT_ONE_THREAD], 1);
    assert_int_equal(facts_of(o).facts[PGK_FACT_LIBRARY_ACCESSES], 1);
    pgk_heap_origin_merge(&o, &(struct pgk_heap_origin){.others = 1});
    assert_int_equal(facts_of(o).facts[PGK_FACT_ONE_THREAD], 0);
    assert_int_equal(facts_of(o).facts[PGK_FACT_LIBRARY_ACCESSES], 0);
    o.others = 0;
    pgk_heap_origin_merge(&o, &(struct pgk_heap_origin){.processes = 1, .one_thread = 1});
    assert_int_equal(facts_of(o).facts[PGK_FACT_ONE_THREAD], 1);
    assert_int_equal(facts_of(o).facts[PGK_FACT_LIBRARY_ACCESSES], 0);
    assert_int_equal(facts_of((struct pgk_heap_origin){0}).facts[PGK_FACT_ONE_THREAD], 0);
}

static void sums_and_the_most(void **state)
{
    (void)state;
    struct pgk_heap_origin o = {.processes = 1, .alive = UINT64_MAX - 1, .own_ns = 5,
                                .own_bytes = 70};
    pgk_heap_origin_merge(&o, &(struct pgk_heap_origin){.processes = 2, .interrupted = 2,
                                                        .alive = 9, .own_ns = 6, .own_bytes = 50});
    assert_int_equal(o.processes, 3);
    assert_int_equal(o.interrupted, 2);
    assert_true(o.alive == UINT64_MAX);
    assert_int_equal(o.own_ns, 11);
    assert_int_equal(o.own_bytes, 70);
    pgk_heap_origin_scale(&o, 4);
    assert_int_equal(o.processes, 12);
    assert_int_equal(o.interrupted, 8);
    assert_true(o.alive == UINT64_MAX);
    assert_int_equal(o.own_bytes, 70);
}

static int read_back(const uint8_t *bytes, size_t size, struct pgk_heap_origin *o,
                     struct pgk_err *err)
{
    const struct pgk_source src = {.file = "t", .format = "t"};
    struct pgk_cursor c;
    pgk_cur_init(&c, bytes, size, &src);
    *err = (struct pgk_err){0};
    return pgk_heap_origin_read(&c, "processes", "create it again", o, err);
}

static void more_than_all_is_refused(void **state)
{
    (void)state;
    struct pgk_heap_origin o = {.processes = 2, .interrupted = 2, .alive = 300}, back = {0};
    struct pgk_sink *out;
    struct pgk_err err;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_heap_origin_write(&o, out);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_back(bytes, size, &back, &err), 0);
    assert_memory_equal(&o, &back, sizeof o);
    for (size_t n = 0; n < size; n++)
        assert_int_equal(read_back(bytes, n, &back, &err), PGK_E_TRUNCATED);
    pgk_sink_drop(&out);

    o.interrupted = 3;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_heap_origin_write(&o, out);
    bytes = pgk_sink_data(out, &size);
    assert_int_equal(read_back(bytes, size, &back, &err), PGK_E_CORRUPT);
    assert_string_equal(err.field, "interrupted");
    assert_string_equal(err.found, "3");
    assert_string_equal(err.expected, "at most the 2 processes");
    assert_int_equal(err.offset, 2);
    pgk_sink_drop(&out);
}

/* How processes were sampled is a part of its own. */
static void how_processes_were_sampled(void **state)
{
    (void)state;
    const struct pgk_source src = {.file = "t", .format = "t"};
    struct pgk_heap_origin o = {.processes = 3, .sampled = 2, .counted = 1, .made_bytes = 1 << 20,
                                .made_objects = 900, .drawn_bytes = 999, .drawn_objects = 800,
                                .sample_bytes = 4096, .visit_accesses = 77},
                           back = {.processes = 3};
    struct pgk_cursor c;
    struct pgk_sink *out;
    struct pgk_err err;
    size_t size;
    for (o.counted = 1; o.counted <= 4; o.counted += 3) { /* 4 of 3 processes cannot be */
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        pgk_heap_origin_write_sampled(&o, out);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        pgk_cur_init(&c, bytes, size, &src);
        assert_int_equal(pgk_heap_origin_read_sampled(&c, "sampled", "again", &back, &err),
                         o.counted == 1 ? 0 : PGK_E_CORRUPT);
        if (o.counted == 1)
            assert_memory_equal(&o, &back, sizeof o);
        for (size_t n = 0; n < size && o.counted == 1; n++) {
            pgk_cur_init(&c, bytes, n, &src);
            assert_int_equal(pgk_heap_origin_read_sampled(&c, "sampled", "again", &back, &err),
                             PGK_E_TRUNCATED);
        }
        pgk_sink_drop(&out);
    }
    assert_string_equal(err.field, "counted");
    assert_text((struct pgk_heap_origin){.processes = 1, .sampled = 1}, ", sampled");
    assert_text((struct pgk_heap_origin){.processes = 3, .sampled = 2},
                ", of 3 processes, 2 sampled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said),
        cmocka_unit_test(what_is_so_of_all),
        cmocka_unit_test(sums_and_the_most),
        cmocka_unit_test(more_than_all_is_refused),
        cmocka_unit_test(how_processes_were_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
