#include "heap_diff.h"
#include "heap_samples.h"
#include "pgk_test.h"
#include "pgokit/report.h"

enum { UNKNOWN = -1 };

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

/* A context of a function, with 1000 bytes allocated, and what was alive, if it is known. */
static void add(struct pgk_heap *h, uint64_t guid, int64_t peak, int64_t at_exit)
{
    struct pgk_mib m = {0};
    uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, pgk_heap_func(h, guid, 0, 0, 0), 1);
    pgk_mib_set(&m, PGK_MIB_TotalSize, 1000);
    pgk_mib_set(&m, PGK_MIB_AllocCount, 10);
    if (peak != UNKNOWN)
        pgk_mib_set(&m, PGK_MIB_PeakSize, (uint64_t)peak);
    if (at_exit != UNKNOWN)
        pgk_mib_set(&m, PGK_MIB_ExitSize, (uint64_t)at_exit);
    assert_int_equal(pgk_heap_add(h, pgk_stack_push(&h->stacks, 0, frame), &m, NULL), 0);
}

static struct pgk_heap_diff_figures compare(const struct pgk_heap *before,
                                            const struct pgk_heap *now)
{
    struct pgk_heap_diff_figures f = {.struct_size = sizeof f};
    assert_int_equal(pgk_heap_compare(before, now, &f, NULL), 0);
    return f;
}

static char *text_of(const struct pgk_heap *before, const struct pgk_heap *now, size_t top)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const struct pgk_heap_diff_opts opts = {.struct_size = sizeof opts, .top = top};
    assert_non_null(out);
    assert_int_equal(pgk_heap_print_diff(before, now, &opts, out, NULL, NULL), 0);
    fclose(out);
    return text;
}

static void leak_is_mended(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap();
    add(before, 10, 900, 800);
    add(before, 20, 100, 50);
    add(now, 10, 30, 0);
    add(now, 20, 100, 150);
    struct pgk_heap_diff_figures f = compare(before, now);
    assert_true(f.growth_percent == 0);
    assert_int_equal(f.peak_unknown | f.exit_unknown, 0);
    assert_int_equal(f.peak_bytes_before, 1000);
    assert_int_equal(f.peak_bytes, 130);
    assert_int_equal(f.exit_bytes_before, 850);
    assert_int_equal(f.exit_bytes, 150);
    assert_true(f.peak_growth_percent == -87);
    f = compare(now, before);
    assert_true(f.exit_growth_percent > 466 && f.exit_growth_percent < 467);
    char *text = text_of(before, now, 0), *top = text_of(before, now, 1);
    const char *list = strstr(text, "\nLeft at exit\n\n#1   -800 B  800 B -> 0 B");
    assert_null(strstr(text, "Largest changes"));
    assert_non_null(list);
    assert_non_null(strstr(list, "\n#2   +100 B  50 B -> 150 B"));
    assert_non_null(strstr(top, "\n#1   -800 B"));
    assert_null(strstr(top, "\n#2 "));
    free(text);
    free(top);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
}

/* A context that one side does not have left nothing there. */
static void contexts_of_one_side(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap();
    add(before, 10, 5, 5);
    add(now, 20, 7, 7);
    char *text = text_of(before, now, 0);
    const char *list = strstr(text, "\nLeft at exit\n");
    assert_non_null(list);
    assert_non_null(strstr(list, "#1   +7 B  0 B -> 7 B  0 -> 0 objects  new\n"));
    assert_non_null(strstr(list, "#2   -5 B  5 B -> 0 B  0 -> 0 objects  gone\n"));
    free(text);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
}

/* One context of which it is not known is enough. */
static void unknown_of_a_side(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap();
    add(before, 10, UNKNOWN, 5);
    add(now, 10, 7, 7);
    add(now, 20, 7, UNKNOWN);
    struct pgk_heap_diff_figures f = compare(before, now);
    assert_int_equal(f.peak_unknown, PGK_HEAP_DIFF_BEFORE);
    assert_int_equal(f.exit_unknown, PGK_HEAP_DIFF_NOW);
    assert_int_equal(f.peak_bytes_before, 0);
    assert_int_equal(f.peak_bytes, 14);
    assert_int_equal(f.exit_bytes_before, 5);
    assert_int_equal(f.exit_bytes, 0);
    assert_true(f.peak_growth_percent == 0 && f.exit_growth_percent == 0);
    char *text = text_of(before, now, 0);
    assert_null(strstr(text, "at the peak"));
    assert_null(strstr(text, "exit"));
    free(text);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
}

static void nothing_was_left_before(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap(), *none = new_heap();
    add(before, 10, 5, 0);
    add(now, 10, 5, 7);
    assert_true(compare(before, now).exit_growth_percent == 1e9);
    assert_true(compare(none, now).exit_growth_percent == 1e9);
    assert_true(compare(none, none).exit_growth_percent == 0);
    char *text = text_of(none, none, 0);
    assert_null(strstr(text, "at exit"));
    free(text);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
    pgk_heap_close(&none);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap();
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    add(before, 10, 5, 0);
    add(now, 10, 5, 7);
    for (uint64_t nth = 1, failed = 1; failed; nth++) {
        pgk_mem_fail_after(nth);
        int status = pgk_heap_print_diff_markdown(before, now, NULL, out, NULL, NULL);
        pgk_mem_fail_after(0);
        failed = status != 0;
        assert_true(!status || status == PGK_E_NOMEM);
    }
    fclose(out);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leak_is_mended),
        cmocka_unit_test(contexts_of_one_side),
        cmocka_unit_test(unknown_of_a_side),
        cmocka_unit_test(nothing_was_left_before),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
