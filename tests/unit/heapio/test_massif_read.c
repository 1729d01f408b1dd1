/* massif's files: trees, what is summed up, curves, refusals. */
#include "massif_read.h"

#include "pgk_test.h"

static int read_text(const char *text, size_t size, struct pgk_heap **h, struct pgk_err *err)
{
    struct pgk_source src = {.file = "massif.out.1", .format = "massif file"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_massif_read(*h, (const uint8_t *)text, size, &src, err);
}

static struct pgk_heap *good(const char *text)
{
    struct pgk_heap *h;
    struct pgk_err err;
    assert_true(pgk_massif_sniff((const uint8_t *)text, strlen(text)));
    if (read_text(text, strlen(text), &h, &err))
        fail_msg("%s: %s, expected %s", err.field, err.found, err.expected);
    return h;
}

#define HEAD(unit) "desc: (none)\ncmd: ./app x\ntime_unit: " unit "\n"
#define SNAPSHOT(number, time, bytes, tree)                                         \
    "#-----------\nsnapshot=" number "\n#-----------\ntime=" time "\nmem_heap_B=" bytes \
    "\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=" tree "\n"
#define ROOT(callers, bytes) \
    "n" callers ": " bytes " (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
#define PEAK                                          \
    SNAPSHOT("1", "10", "100", "peak")                \
    ROOT("3", "100")                                  \
    " n2: 80 0x10A: inner(int) (a b.c:3)\n"           \
    "  n1: 60 0x10A: make(void (*)(int)) (a b.c:9)\n" \
    "   n0: 50 0x10B: main (a b.c:20)\n"              \
    "  n0: 20 in 2 places, all below massif's threshold (1.00%)\n" \
    " n0: 15 0x4AF: ??? (in /lib/x86 64/libz.so.1)\n" \
    " n0: 5 in 1 place, below massif's threshold (1.00%)\n"

static struct pgk_heap_frame frame(struct pgk_heap *h, size_t context, size_t n, size_t at)
{
    struct pgk_heap_frame f[8];
    assert_int_equal(pgk_heap_stack(h, context, f, 8), n);
    return f[at];
}

static size_t context_of(struct pgk_heap *h, uint64_t peak)
{
    for (size_t i = 0; i < pgk_heap_contexts(h); i++)
        if (pgk_heap_value(h, i, PGK_MIB_PeakSize) == peak)
            return i;
    fail_msg("no context of %d bytes", (int)peak);
    return 0;
}

/* Paths to leaves are stacks, and what callers do not hold is of a stack that ended there. */
static void trees_are_stacks(void **state)
{
    (void)state;
    struct pgk_heap *h = good(HEAD("i") PEAK);
    assert_int_equal(pgk_heap_contexts(h), 5);
    size_t c = context_of(h, 50);
    assert_string_equal(frame(h, c, 3, 0).function, "inner(int)");
    assert_string_equal(frame(h, c, 3, 0).file, "a b.c");
    assert_int_equal(frame(h, c, 3, 0).decl_line + frame(h, c, 3, 0).line_offset, 3);
    assert_true(frame(h, c, 3, 0).inlined);
    assert_string_equal(frame(h, c, 3, 1).function, "make(void (*)(int))");
    assert_false(frame(h, c, 3, 1).inlined);
    assert_string_equal(frame(h, c, 3, 2).function, "main");
    assert_string_equal(frame(h, context_of(h, 10), 2, 1).function, "make(void (*)(int))");
    assert_string_equal(frame(h, context_of(h, 20), 2, 1).function,
                        "[places below massif's threshold]");
    assert_string_equal(frame(h, context_of(h, 15), 1, 0).function, "[libz.so.1]");
    assert_string_equal(frame(h, context_of(h, 5), 1, 0).function,
                        "[places below massif's threshold]");
    assert_int_equal(pgk_heap_value(h, c, PGK_MIB_TotalSize), 50);
    assert_false(pgk_heap_knows(h, c, PGK_MIB_AllocCount));
    assert_false(pgk_heap_knows(h, c, PGK_MIB_ExitSize));
    assert_false(pgk_heap_knows(h, c, PGK_MIB_TotalAccessCount));
    pgk_heap_close(&h);
}

/* Instructions and bytes are no times. */
static void only_milliseconds_make_a_curve(void **state)
{
    static const char *const texts[] = {HEAD("i") PEAK, HEAD("B") PEAK, HEAD("ms") PEAK};
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(texts); i++) {
        struct pgk_heap_times t = {.struct_size = sizeof t};
        struct pgk_heap *h = good(texts[i]);
        pgk_heap_over_time(h, &t);
        assert_int_equal(t.processes, i == 2);
        assert_int_equal(t.n_points, i == 2);
        assert_int_equal(t.n_shares, i == 2 ? 5 : 0);
        pgk_heap_close(&h);
    }
}

/* Of snapshots at one time that with a tree stays. */
static void curves_have_shares(void **state)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    (void)state;
    struct pgk_heap *h = good(
        HEAD("ms") SNAPSHOT("0", "0", "0", "empty") SNAPSHOT("1", "7", "30", "empty")
            SNAPSHOT("2", "7", "40", "detailed") ROOT("1", "40") " n0: 40 0x1: f (a.c:1)\n"
                SNAPSHOT("3", "7", "10", "empty") SNAPSHOT("4", "9", "70", "peak") ROOT("2", "70")
                    " n0: 60 0x1: f (a.c:1)\n n0: 10 0x2: f (a.c:1)\n"
                    SNAPSHOT("5", "12", "20", "detailed") ROOT("1", "20") " n0: 20 0x3: g\n");
    pgk_heap_over_time(h, &t);
    const struct pgk_heap_point wanted[] = {{.ms = 0}, {.ms = 7, .bytes = 40},
                                            {.ms = 9, .bytes = 70}, {.ms = 12, .bytes = 20}};
    assert_int_equal(t.n_points, 4);
    assert_memory_equal(t.points, wanted, sizeof wanted);
    assert_int_equal(t.peak_ms, 9);
    assert_int_equal(t.peak_bytes, 70);
    assert_int_equal(t.n_shares, 3);
    assert_int_equal(pgk_heap_point_share(h, 1).bytes, 70);
    assert_int_equal(pgk_heap_point_share(h, 2).point, 3);
    assert_int_equal(pgk_heap_contexts(h), 2);
    const size_t f = context_of(h, 70), g = !f;
    assert_int_equal(pgk_heap_value(h, f, PGK_MIB_TotalSize), 70);
    assert_false(pgk_heap_knows(h, g, PGK_MIB_PeakSize));
    assert_int_equal(pgk_heap_value(h, g, PGK_MIB_TotalSize), 20);
    pgk_heap_close(&h);
}

/* A program that frees nothing has no peak: it is where most was held. */
static void without_peak_the_highest_tree_is_it(void **state)
{
    (void)state;
    struct pgk_heap *h =
        good(HEAD("i") SNAPSHOT("0", "1", "40", "detailed") ROOT("1", "40") " n0: 40 0x1: f\n"
             SNAPSHOT("1", "2", "60", "detailed") ROOT("1", "60") " n0: 60 0x1: f\n"
             SNAPSHOT("2", "3", "90", "empty"));
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_PeakSize), 60);
    pgk_heap_close(&h);
}

static void recursion_is_not_inlining(void **state)
{
    (void)state;
    struct pgk_heap *h = good(HEAD("i") SNAPSHOT("0", "1", "4", "peak") ROOT("1", "4")
                              " n1: 4 0x1: f (a.c:1)\n  n0: 4 0x1: f (a.c:1)\n");
    assert_false(frame(h, 0, 2, 0).inlined);
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

#define TREE(root, place) HEAD("i") SNAPSHOT("0", "1", "9", "peak") root place

static void what_contradicts_itself_is_refused(void **state)
{
    (void)state;
    refused("desc: \nhello\n", PGK_E_CORRUPT, "cmd:");
    refused(HEAD("hours"), PGK_E_CORRUPT, "time_unit");
    refused(HEAD("i") "snapshot=0\n", PGK_E_CORRUPT, "line");
    refused(HEAD("i") SNAPSHOT("x", "1", "9", "peak"), PGK_E_CORRUPT, "snapshot");
    refused(HEAD("i") SNAPSHOT("0", "1", "9", "full"), PGK_E_CORRUPT, "heap_tree");
    refused(HEAD("i") SNAPSHOT("0", "2", "9", "empty") SNAPSHOT("1", "1", "9", "empty"),
            PGK_E_CORRUPT, "time");
    refused(TREE("", ""), PGK_E_TRUNCATED, "place");
    refused(TREE("n: 9 x\n", ""), PGK_E_CORRUPT, "place");
    refused(TREE(ROOT("0", "8"), ""), PGK_E_CORRUPT, "bytes");
    refused(TREE(ROOT("1", "9"), ""), PGK_E_TRUNCATED, "place");
    refused(TREE(ROOT("1", "9"), "n0: 9 0x1: f\n"), PGK_E_CORRUPT, "depth");
    refused(TREE(ROOT("1", "9"), " n0: 9 0xg: f\n"), PGK_E_CORRUPT, "address");
    refused(TREE(ROOT("1", "9"), " n0: 9 0x12345678123456781: f\n"), PGK_E_CORRUPT, "address");
    refused(TREE(ROOT("1", "9"), " n1: 9 in 2 places\n"), PGK_E_CORRUPT, "place");
    refused(TREE(ROOT("1", "9"), " n0: 10 0x1: f\n"), PGK_E_CORRUPT, "bytes");
    refused(TREE(ROOT("1", "9"), " n0: 9"), PGK_E_TRUNCATED, "place");
}

static void cut_files_are_read_or_refused(void **state)
{
    static const char text[] = HEAD("ms") SNAPSHOT("0", "1", "9", "empty") PEAK;
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        struct pgk_heap *h;
        struct pgk_err err;
        if (read_text(text, n, &h, &err))
            assert_string_not_equal(err.field, "");
        pgk_heap_close(&h);
    }
}

static void other_texts_are_not_taken(void **state)
{
    static const char *const texts[] = {"", "desc:", "desc: x\n", "desc: x\nhello\n", "cmd: x\n"};
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(texts); i++)
        assert_false(pgk_massif_sniff((const uint8_t *)texts[i], strlen(texts[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_stacks),
        cmocka_unit_test(only_milliseconds_make_a_curve),
        cmocka_unit_test(curves_have_shares),
        cmocka_unit_test(without_peak_the_highest_tree_is_it),
        cmocka_unit_test(recursion_is_not_inlining),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(cut_files_are_read_or_refused),
        cmocka_unit_test(other_texts_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
