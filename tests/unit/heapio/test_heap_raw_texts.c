/* What raw profiles say of their process, and where the files of their modules were. */
#include "heap_partial.h"
#include "heap_raw.h"

#include "heap_samples.h"

static const struct sample_segment segments[] = {
    {.start = 0x1000, .end = 0x2000, .id = {1}, .id_size = 20},
    {.start = 0x3000, .end = 0x4000, .id = {2}, .id_size = 20},
    {.start = 0x5000, .end = 0x6000, .id = {3}, .id_size = 20},
};
static const struct sample_stack stacks[] = {
    {.id = 5, .pcs = {0x1010, 0x3010, 0x5010}, .n = 3},
};
static const struct sample_block blocks[] = {{.id = 5}};

#define TEXT(field, bytes) .field = (bytes), .n_##field = sizeof(bytes) - 1

static struct sample_dump dump(const struct sample_times *times)
{
    return (struct sample_dump){.version = 5, .segments = segments, .n_segments = 3,
                                .blocks = blocks, .n_blocks = 1, .stacks = stacks, .n_stacks = 1,
                                .times = times};
}

static int read_into(struct pgk_heap *heap, const struct sample_times *times, size_t n,
                     struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.profraw", .format = "raw heap profile"};
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        const struct sample_dump d = dump(&times[i]);
        sample_write_dump(out, &d);
    }
    const uint8_t *bytes = pgk_sink_data(out, &size);
    const int status = pgk_heap_raw_read(heap, bytes, size, &src, NULL, err);
    pgk_sink_drop(&out);
    return status;
}

static struct pgk_heap *read_all(const struct sample_times *times, size_t n)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    if (read_into(h, times, n, &err))
        fail_msg("%s, %s: %s", err.record, err.field, err.found);
    return h;
}

static void assert_paths(const struct pgk_heap *h, const char *first, const char *second,
                         const char *third)
{
    struct pgk_heap_frame f[3];
    assert_int_equal(pgk_heap_stack(h, 0, f, 3), 3);
    assert_string_equal(f[0].module_path, first);
    assert_string_equal(f[1].module_path, second);
    assert_string_equal(f[2].module_path, third);
}

static void assert_recording(const struct pgk_heap *h, const char *program, const char *host,
                             const char *command_line, uint64_t start_ms)
{
    struct pgk_heap_recording r = {.struct_size = sizeof r};
    assert_true(pgk_heap_recording(h, &r));
    assert_string_equal(r.program, program);
    assert_string_equal(r.host, host);
    assert_string_equal(r.command_line, command_line);
    assert_int_equal(r.start_ms, start_ms);
}

static const struct sample_times known = {
    TEXT(process, "/bin/app\0box\0app\0-x\0a b\0it's\0\0"),
    TEXT(paths, "\0\0\0/bin/app\0\1lib/liba.so\0\10liba-2.so\0"), .start_time = 1000};

static void process_and_paths_are_read(void **state)
{
    (void)state;
    struct pgk_heap *h = read_all(&known, 1);
    assert_recording(h, "/bin/app", "box", "app -x 'a b' 'it'\\''s' ''", 1000);
    assert_paths(h, "/bin/app", "/lib/liba.so", "/lib/libliba-2.so");
    pgk_heap_close(&h);

    const struct sample_times nothing = {0};
    struct pgk_heap_recording r = {.struct_size = sizeof r};
    h = read_all(&nothing, 1);
    assert_false(pgk_heap_recording(h, &r));
    assert_string_equal(r.program, "");
    assert_paths(h, "", "", "");
    pgk_heap_close(&h);
}

/* A library that was loaded after the first dump has its path in the second one. */
static void later_dumps_add_paths(void **state)
{
    (void)state;
    const struct sample_times dumps[] = {{TEXT(paths, "\0\0\0/bin/app\0")},
                                         {TEXT(paths, "\1\0\0/liba.so\0\0/libb.so\0")}};
    struct pgk_heap *h = read_all(dumps, 2);
    assert_paths(h, "/bin/app", "/liba.so", "/libb.so");
    pgk_heap_close(&h);
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const struct sample_times wrong[] = {
        {TEXT(process, "/bin/app\0box")},
        {TEXT(paths, "\0\0\0/bin/app")},
        {TEXT(paths, "\0\0\1/bin/app\0")},
        {TEXT(paths, "\0\0\0/a\0\3/b\0")},
        {TEXT(paths, "\0\0\0/a\0\0")},
    };
    for (size_t i = 0; i < PGK_COUNTOF(wrong); i++) {
        struct pgk_heap *h;
        struct pgk_err err = {0};
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        assert_int_equal(read_into(h, &wrong[i], 1, &err), PGK_E_CORRUPT);
        assert_string_equal(err.field, i ? "part PATHS" : "part PROCESS");
        pgk_heap_close(&h);
    }
}

/* In whatever order profiles are merged: the first path by bytes, the process that started
 * first. */
static void merging_does_not_depend_on_the_order(void **state)
{
    (void)state;
    const struct sample_times times[] = {
        known,
        {TEXT(process, "/bin/app\0abc\0app\0"), TEXT(paths, "\0\0\0/a/app\0\0/z.so\0"),
         .start_time = 999},
        {TEXT(process, "/bin/app\0abc\0app\0"), .start_time = 1000},
        {TEXT(process, "/a\0a\0a\0")}, /* when is not known */
    };
    enum { N = PGK_COUNTOF(times) };
    for (size_t first = 0; first < N; first++) {
        struct pgk_heap *h, *one;
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        for (size_t i = 0; i < N; i++) {
            one = read_all(&times[(first + i) % N], 1);
            assert_int_equal(pgk_heap_merge(h, one, NULL), 0);
            pgk_heap_close(&one);
        }
        assert_recording(h, "/bin/app", "abc", "app", 999);
        assert_paths(h, "/a/app", "/lib/liba.so", "/lib/libliba-2.so");
        pgk_heap_close(&h);
    }
}

static void partial_profiles_keep_them(void **state)
{
    (void)state;
    struct pgk_heap *h = read_all(&known, 1), *again;
    struct pgk_source src = {.file = "t", .format = "t"};
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_heap_partial_write(h, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    assert_int_equal(pgk_heap_new(&again, NULL), 0);
    assert_int_equal(pgk_heap_partial_read(again, bytes, size, &src, NULL, NULL), 0);
    assert_recording(again, "/bin/app", "box", "app -x 'a b' 'it'\\''s' ''", 1000);
    assert_paths(again, "/bin/app", "/lib/liba.so", "/lib/libliba-2.so");
    pgk_sink_drop(&out);
    pgk_heap_close(&again);
    pgk_heap_close(&h);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_source src = {.file = "t.profraw", .format = "raw heap profile"};
        const struct sample_dump d = dump(&known);
        struct pgk_heap *h;
        struct pgk_sink *out;
        size_t size;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        sample_write_dump(out, &d);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_heap_raw_read(h, bytes, size, &src, NULL, NULL);
        pgk_mem_fail_after(0);
        pgk_sink_drop(&out);
        pgk_heap_close(&h);
        assert_in_range(nth, 1, 200);
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process_and_paths_are_read),
        cmocka_unit_test(later_dumps_add_paths),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(merging_does_not_depend_on_the_order),
        cmocka_unit_test(partial_profiles_keep_them),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
