/* heaptrack's files: what becomes contexts and a curve, releases of the format, refusals. */
#include "heaptrack.h"
#include "salvage.h"

#include "pgk_test.h"

static int read_text(const char *text, size_t size, struct pgk_heap **h, struct pgk_err *err)
{
    struct pgk_source src = {.file = "h.zst", .format = "heaptrack file"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_heaptrack_read(*h, (const uint8_t *)text, size, &src, &src.version, err);
}

static struct pgk_heap *good(const char *text)
{
    struct pgk_heap *h;
    struct pgk_err err;
    assert_true(pgk_heaptrack_sniff((const uint8_t *)text, strlen(text)));
    if (read_text(text, strlen(text), &h, &err))
        fail_msg("%s: %s", err.field, err.found);
    return h;
}

#define NAMES                      \
    "s 8 /bin/app\n"               \
    "s 4 main\ns 5 a b.c\ns 5 inner\ns 5 _init\n"
/* main at line 7; inner at 3 in main at 9; a symbol; nothing known */
#define PLACES "i 10 1 2 3 7\ni 20 1 4 3 3 2 3 9\ni 30 1 5\ni 40 1\n"
#define STACKS "t 3 0\nt 1 1\nt 2 1\nt 4 0\n"
#define FILE_3 "v 10400 3\nX ./app\nI 1000 5e2990\n" NAMES PLACES STACKS

static uint64_t value(const struct pgk_heap *h, size_t context, enum pgk_mib_id id)
{
    assert_true(pgk_heap_knows(h, context, id));
    return pgk_heap_value(h, context, id);
}

static void frames_are_functions_and_lines(void **state)
{
    struct pgk_heap_frame f[4];
    (void)state;
    struct pgk_heap *h = good(FILE_3 "a 10 3\na 10 4\n+ 0\n+ 1\n");
    assert_int_equal(pgk_heap_contexts(h), 2);
    assert_int_equal(pgk_heap_stack(h, 0, f, 4), 3);
    assert_string_equal(f[0].function, "inner");
    assert_string_equal(f[0].file, "a b.c");
    assert_int_equal(f[0].decl_line + f[0].line_offset, 3);
    assert_true(f[0].inlined);
    assert_string_equal(f[1].function, "main");
    assert_int_equal(f[1].decl_line + f[1].line_offset, 9);
    assert_false(f[1].inlined);
    assert_string_equal(f[2].function, "_init");
    assert_string_equal(f[2].file, "");
    assert_int_equal(pgk_heap_stack(h, 1, f, 4), 1);
    assert_string_equal(f[0].function, "[app]");
    assert_false(pgk_heap_needs_binaries(h));
    pgk_heap_close(&h);
}

/* Of one stack in two sizes: 2 objects of 16 bytes and one of 32, which is freed at once. */
static void objects_are_added_up(void **state)
{
    (void)state;
    struct pgk_heap *h = good(FILE_3 "a 10 2\na 20 2\n+ 0\n+ 1\n- 1\n+ 0\n- 0\n- 0\n");
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(value(h, 0, PGK_MIB_AllocCount), 3);
    assert_int_equal(value(h, 0, PGK_MIB_TotalSize), 64);
    assert_int_equal(value(h, 0, PGK_MIB_MinSize), 16);
    assert_int_equal(value(h, 0, PGK_MIB_MaxSize), 32);
    assert_int_equal(value(h, 0, PGK_MIB_TemporaryCount), 2);
    assert_int_equal(value(h, 0, PGK_MIB_PeakSize), 48);
    assert_int_equal(value(h, 0, PGK_MIB_PeakCount), 2);
    assert_int_equal(value(h, 0, PGK_MIB_ExitSize), 0);
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_TotalAccessCount));
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_TotalLifetime));
    pgk_heap_close(&h);
}

/* The peak is the first time at which so much was alive, and its time that of the line before. */
static void the_peak_is_of_one_moment(void **state)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    (void)state;
    struct pgk_heap *h = good(FILE_3 "a 10 2\na 64 4\nc 1\n+ 0\nc a\n+ 1\nc 14\n- 1\n+ 0\n+ 0\n"
                                     "c 1e\n- 0\n+ 1\nc 28\nc 28\n");
    pgk_heap_over_time(h, &t);
    assert_int_equal(t.processes, 1);
    assert_int_equal(t.peak_bytes, 0x64 + 2 * 16);
    assert_int_equal(t.peak_objects, 3);
    assert_int_equal(t.peak_ms, 30);
    const struct pgk_heap_point wanted[] = {
        {1, 0, 0, 0, 0}, {10, 16, 1, 16, 1}, {20, 116, 2, 116, 2}, {30, 48, 3, 148, 4},
        {40, 132, 3, 248, 5}};
    assert_int_equal(t.n_points, 5);
    assert_memory_equal(t.points, wanted, sizeof wanted);
    assert_int_equal(value(h, 0, PGK_MIB_PeakSize), 32);
    assert_int_equal(value(h, 1, PGK_MIB_PeakSize), 0x64);
    assert_int_equal(value(h, 0, PGK_MIB_ExitCount), 2);
    pgk_heap_close(&h);
}

/* Strings have no length before version 3. */
static void older_releases(void **state)
{
    struct pgk_heap_frame f[2];
    (void)state;
    static const char *const versions[] = {"v 10000 1\n", "v 10100 2\n"};
    for (size_t i = 0; i < PGK_COUNTOF(versions); i++) {
        char text[256];
        snprintf(text, sizeof text, "%sX ./app\ns /bin/app\ns main\ns a b.c\ni 10 1 2 3 7\n"
                                    "t 1 0\na 10 1\n+ 0\n", versions[i]);
        struct pgk_heap *h = good(text);
        assert_int_equal(pgk_heap_stack(h, 0, f, 2), 1);
        assert_string_equal(f[0].file, "a b.c");
        pgk_heap_close(&h);
    }
}

/* A recording of hours has a curve of at most 1000 points, of which the last one is the last. */
static void long_curves_are_thinned(void **state)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    char *text = NULL;
    size_t size;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    fputs(FILE_3 "a 10 2\n", out);
    for (int i = 1; i <= 2500; i++)
        fprintf(out, "+ 0\nc %x\n", i);
    fclose(out);
    struct pgk_heap *h = good(text);
    free(text);
    pgk_heap_over_time(h, &t);
    assert_in_range(t.n_points, 500, 1000);
    assert_int_equal(t.points[t.n_points - 1].ms, 2500);
    for (size_t i = 1; i < t.n_points; i++)
        assert_true(t.points[i].ms > t.points[i - 1].ms);
    pgk_heap_close(&h);
}

static void refused(const char *text, int status, const char *field)
{
    struct pgk_heap *h;
    struct pgk_err err;
    assert_int_equal(read_text(text, strlen(text), &h, &err), status);
    assert_string_equal(err.field, field);
    assert_int_not_equal(err.offset, PGK_NO_OFFSET);
    assert_string_not_equal(err.found, "");
    assert_string_not_equal(err.expected, "");
    pgk_heap_close(&h);
}

static void what_contradicts_itself_is_refused(void **state)
{
    (void)state;
    refused("v 10400 4\n", PGK_E_VERSION, "version of the file");
    refused("v 10400 3\nx 6 ./app\n", PGK_E_VERSION, "kind");
    refused("v 10400 3\nX ./app\ns 9 short\n", PGK_E_CORRUPT, "text");
    refused("v 10400 3\nX ./app\ns z\n", PGK_E_CORRUPT, "length");
    refused(FILE_3 "i 10 9\n", PGK_E_CORRUPT, "module");
    refused(FILE_3 "i 10 1 9\n", PGK_E_CORRUPT, "function");
    refused(FILE_3 "i 10 1 2 3\n", PGK_E_CORRUPT, "line");
    refused(FILE_3 "i 10 1 2 3 ffffffff\n", PGK_E_CORRUPT, "line");
    refused(FILE_3 "t 5 0\n", PGK_E_CORRUPT, "instruction");
    refused(FILE_3 "t 0 0\n", PGK_E_CORRUPT, "instruction");
    refused(FILE_3 "t 1 5\n", PGK_E_CORRUPT, "caller");
    refused(FILE_3 "a 10 5\n", PGK_E_CORRUPT, "stack");
    refused(FILE_3 "a 10 0\n", PGK_E_CORRUPT, "stack");
    refused(FILE_3 "+ 0\n", PGK_E_CORRUPT, "allocation");
    refused(FILE_3 "a 10 1\n- 0\n", PGK_E_CORRUPT, "allocation");
    refused(FILE_3 "a 10 1\n+ 0 1\n", PGK_E_CORRUPT, "end");
    refused(FILE_3 "a ffffffffffffffff 1\n+ 0\n+ 0\n", PGK_E_CORRUPT, "allocation");
    refused(FILE_3 "c 5\nc 4\n", PGK_E_CORRUPT, "milliseconds");
    refused(FILE_3 "c", PGK_E_TRUNCATED, "milliseconds");
    refused(FILE_3 "a 10 1\n+ 0", PGK_E_TRUNCATED, "end");
}

static void cut_files_are_read_or_refused(void **state)
{
    static const char text[] = FILE_3 "a 10 2\na 64 4\nc 1\n+ 0\n+ 1\n- 0\nc a\n";
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        struct pgk_heap *h;
        struct pgk_err err;
        int status = read_text(text, n, &h, &err);
        if (status)
            assert_string_not_equal(err.field, "");
        pgk_heap_close(&h);
    }
}

static void count_losses(void *ctx, const char *what)
{
    assert_string_not_equal(what, "");
    ++*(size_t *)ctx;
}

static int salvage(const char *text, size_t size, struct pgk_heap **h, size_t *losses)
{
    struct pgk_source src = {.file = "h.zst", .format = "heaptrack file"};
    struct pgk_salvage lost = {.fn = count_losses, .ctx = losses};
    *losses = 0;
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_heaptrack_salvage(*h, (const uint8_t *)text, size, &src, &lost, &src.version, NULL);
}

/* What a cut file held of each object, and of the peak before the cut; not of the exit. */
static void cut_files_are_salvaged_up_to_the_cut(void **state)
{
    static const char events[] = "a 10 2\na 64 4\nc 1\n+ 0\n+ 1\n- 0\nc a\n";
    char text[512];
    size_t losses;
    (void)state;
    size_t start = (size_t)snprintf(text, sizeof text, "%s", FILE_3),
           size = (size_t)snprintf(text, sizeof text, "%s%s", FILE_3, events);
    for (size_t n = start; n <= size; n++) {
        struct pgk_heap *h;
        const char *first = strstr(text, "+ 0\n"), *second = strstr(text, "+ 1\n");
        uint64_t objects = (n >= (size_t)(first + 4 - text)) + (n >= (size_t)(second + 4 - text));
        int status = salvage(text, n, &h, &losses);
        bool is_whole = n == start || text[n - 1] == '\n';
        assert_int_equal(status, objects || is_whole ? 0 : PGK_E_EMPTY);
        assert_int_equal(losses, is_whole ? 0 : status ? 2 : 3);
        assert_int_equal(pgk_heap_contexts(h), objects);
        for (size_t i = 0; i < objects; i++) {
            assert_int_equal(value(h, i, PGK_MIB_AllocCount), 1);
            assert_int_equal(pgk_heap_knows(h, i, PGK_MIB_ExitCount), is_whole);
            assert_int_equal(value(h, i, PGK_MIB_PeakCount), 1);
        }
        pgk_heap_close(&h);
    }
}

/* Lines after the damage count on with numbers of lines that may be lost. */
static void what_follows_damage_is_not_read(void **state)
{
    static const char text[] = FILE_3 "a 10 2\n+ 0\na zz 2\na 20 2\n+ 1\n+ 0\n";
    struct pgk_heap *h;
    size_t losses;
    (void)state;
    assert_int_equal(salvage(text, sizeof text - 1, &h, &losses), 0);
    assert_int_equal(losses, 3);
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(value(h, 0, PGK_MIB_TotalSize), 16);
    pgk_heap_close(&h);
    assert_int_equal(salvage("v 10400 3\nx 6 ./app\n", 20, &h, &losses), PGK_E_VERSION);
    pgk_heap_close(&h);
}

static void other_texts_are_not_taken(void **state)
{
    static const char *const texts[] = {"", "v", "v 1 3", "v 1 3\n", "v 1 3\nhello\n",
                                        "v x y\nX a\n", "vertex 1 2\nX a\n"};
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(texts); i++)
        assert_false(pgk_heaptrack_sniff((const uint8_t *)texts[i], strlen(texts[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_functions_and_lines),
        cmocka_unit_test(objects_are_added_up),
        cmocka_unit_test(the_peak_is_of_one_moment),
        cmocka_unit_test(older_releases),
        cmocka_unit_test(long_curves_are_thinned),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(cut_files_are_read_or_refused),
        cmocka_unit_test(cut_files_are_salvaged_up_to_the_cut),
        cmocka_unit_test(what_follows_damage_is_not_read),
        cmocka_unit_test(other_texts_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
