/* How the heap was over time: what raw profiles tell of it, and which forms keep it. */
#include "heap_partial.h"
#include "heap_raw.h"

#include "heap_samples.h"

static const struct sample_segment segments[] = {
    {.start = 0x1000, .end = 0x2000, .bias = 0, .id = {1, 2, 3}, .id_size = 20},
};
static const struct sample_stack stacks[] = {
    {.id = 5, .pcs = {0x1010}, .n = 1},
    {.id = 6, .pcs = {0x1020}, .n = 1},
};
enum {
    ONE_SEGMENT = 48 + 8 + 64,
    POINT = 40,
    CONTEXT = 96, /* over time, or of allocations */
    BREAKDOWN = 400,
};

static struct sample_block block(uint64_t id, uint64_t objects, uint64_t bytes)
{
    struct sample_block b = {.id = id};
    b.mib.v[PGK_MIB_AllocCount] = objects;
    b.mib.v[PGK_MIB_TotalSize] = bytes;
    return b;
}

static struct sample_dump dump(const struct sample_block *blocks, const struct sample_times *times)
{
    return (struct sample_dump){.version = 5, .segments = segments, .n_segments = 1,
                                .blocks = blocks, .n_blocks = 2, .stacks = stacks, .n_stacks = 2,
                                .times = times};
}

static int read_bytes(const uint8_t *bytes, size_t size, struct pgk_heap **heap,
                      struct pgk_heap_read_info *info, struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.profraw", .format = "raw heap profile"};
    assert_int_equal(pgk_heap_new(heap, NULL), 0);
    return pgk_heap_raw_read(*heap, bytes, size, &src, info, err);
}

static struct pgk_heap *read_dumps(const struct sample_dump *dumps, size_t n)
{
    struct pgk_sink *out;
    struct pgk_heap *h;
    struct pgk_err err = {0};
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    for (size_t i = 0; i < n; i++)
        sample_write_dump(out, &dumps[i]);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    if (read_bytes(bytes, size, &h, NULL, &err))
        fail_msg("%s, %s: %s", err.record, err.field, err.found);
    pgk_sink_drop(&out);
    return h;
}

/* Peak, exit and temporary of the context of an address. */
static void assert_context(const struct pgk_heap *h, uint64_t address, const uint64_t want[5])
{
    for (size_t i = 0; i < pgk_heap_contexts(h); i++) {
        struct pgk_heap_frame f;
        pgk_heap_stack(h, i, &f, 1);
        if (f.address != address)
            continue;
        for (unsigned k = 0; k < 5; k++) {
            assert_true(pgk_heap_knows(h, i, PGK_MIB_PeakSize + k));
            assert_int_equal(pgk_heap_value(h, i, PGK_MIB_PeakSize + k), want[k]);
        }
        return;
    }
    fail_msg("no context of 0x%llx", (unsigned long long)address);
}

static void assert_curve(const struct pgk_heap *h, const uint64_t peak[3], const uint64_t *ms,
                         size_t n)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    pgk_heap_over_time(h, &t);
    assert_int_equal(t.processes, 1);
    assert_int_equal(t.peak_ms, peak[0]);
    assert_int_equal(t.peak_bytes, peak[1]);
    assert_int_equal(t.peak_objects, peak[2]);
    assert_int_equal(t.n_points, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(t.points[i].ms, ms[i]);
}

static const uint64_t first_points[][5] = {{0, 0, 0, 0, 0}, {7, 90, 9, 100, 10}};
static const uint64_t second_points[][5] = {{9, 40, 4, 150, 15}, {12, 10, 1, 150, 15}};
static const uint64_t first_lives[][6] = {{5, 80, 8, 20, 2, 1}, {6, 10, 1, 5, 1, 0}};
static const uint64_t second_lives[][6] = {{6, 44, 4, 10, 1, 7}};
static const struct sample_times first_times = {
    first_points, 2, NULL, 0, first_lives, 2, {7, 90, 9}, 0};
static const struct sample_times second_times = {
    second_points, 2, NULL, 0, second_lives, 1, {9, 44, 4}, 0};

static void finished_dumps_have_peak_and_exit(void **state)
{
    (void)state;
    const struct sample_block blocks[] = {block(5, 10, 100), block(6, 5, 50)};
    const struct sample_dump dumps[] = {dump(blocks, &first_times), dump(blocks, &second_times)};
    struct pgk_heap *h = read_dumps(dumps, 1);
    assert_context(h, 0x1010, (const uint64_t[]){80, 8, 20, 2, 1});
    assert_context(h, 0x1020, (const uint64_t[]){10, 1, 5, 1, 0});
    assert_curve(h, (const uint64_t[]){7, 90, 9}, (const uint64_t[]){0, 7}, 2);
    pgk_heap_close(&h);

    /* The first one has the peak, the second one what is left in the end. */
    h = read_dumps(dumps, 2);
    assert_context(h, 0x1010, (const uint64_t[]){80, 8, 0, 0, 1});
    assert_context(h, 0x1020, (const uint64_t[]){10, 1, 10, 1, 7});
    assert_curve(h, (const uint64_t[]){7, 90, 9}, (const uint64_t[]){0, 7, 9, 12}, 4);
    pgk_heap_close(&h);
}

/* Of the second point of the first dump, of no point, and of the first one of the second dump;
 * context 7 is not in the file. */
static const uint64_t first_breakdowns[][50] = {{7, 3, 5, 80, 7, 4, 6, 10}, {8, 1, 5, 1}};
static const uint64_t second_breakdowns[][50] = {{8, 0}, {9, 1, 6, 40}, {9, 1, 6, 41}};

static void assert_share(const struct pgk_heap *h, size_t i, size_t point, uint64_t address,
                         uint64_t bytes)
{
    const struct pgk_heap_share s = pgk_heap_point_share(h, i);
    struct pgk_heap_frame f;
    assert_int_equal(s.point, point);
    assert_int_equal(s.bytes, bytes);
    pgk_heap_stack(h, s.context, &f, 1);
    assert_int_equal(f.address, address);
}

static void breakdowns_are_of_points_and_contexts(void **state)
{
    (void)state;
    const struct sample_block blocks[] = {block(5, 10, 100), block(6, 5, 50)};
    struct sample_times first = first_times, second = second_times;
    struct pgk_heap_times t = {.struct_size = sizeof t};
    first.breakdowns = first_breakdowns;
    first.n_breakdowns = PGK_COUNTOF(first_breakdowns);
    second.breakdowns = second_breakdowns;
    second.n_breakdowns = PGK_COUNTOF(second_breakdowns);
    const struct sample_dump dumps[] = {dump(blocks, &first), dump(blocks, &second)};
    struct pgk_heap *h = read_dumps(dumps, 2);
    assert_curve(h, (const uint64_t[]){7, 90, 9}, (const uint64_t[]){0, 7, 9, 12}, 4);
    pgk_heap_over_time(h, &t);
    assert_int_equal(t.n_shares, 3);
    assert_share(h, 0, 1, 0x1010, 80);
    assert_share(h, 1, 1, 0x1020, 10);
    assert_share(h, 2, 2, 0x1020, 40);
    pgk_heap_close(&h);
}

/* Of context 5 nothing but this is in the file: its program has put the earlier one away. */
static void a_context_that_is_not_in_the_file_is_left_out(void **state)
{
    (void)state;
    const struct sample_block six[] = {block(6, 5, 50)};
    struct sample_dump dumps[] = {dump(six, &first_times), dump(six, &second_times)};
    dumps[0].n_blocks = dumps[1].n_blocks = 1;
    struct pgk_heap *h = read_dumps(dumps, 2);
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_context(h, 0x1020, (const uint64_t[]){10, 1, 10, 1, 7});
    pgk_heap_close(&h);
}

/* The series was being thinned: 0, 20, 40 were kept of 0, 10, 20, 30, 40, 50. */
static const uint64_t thinned[][5] = {{0, 0, 0, 0, 0},      {20, 50, 5, 50, 5},
                                      {40, 200, 9, 300, 9}, {30, 1, 1, 1, 1},
                                      {40, 200, 9, 300, 9}, {50, 70, 7, 300, 9}};
/* Context 5 was allocated by one thread and freed by another, after the snapshot. */
static const struct sample_allocated first_sheet[] = {
    {200, 0, 8, 45, 5, 3, 200, 150, 8, 6, 2},
    {100, 0, 1, 45, 6, 2, 50, 7, 1, 1, 0},
};
static const struct sample_allocated second_sheet[] = {
    {0, 0, 0, 45, 5, 3, (uint64_t)-170, (uint64_t)-20, (uint32_t)-7, (uint32_t)-1, 3},
};
static const struct sample_times sheets[] = {
    {thinned, 6, first_sheet, 2, NULL, 0, {40, 180, 6}, 3},
    {NULL, 0, second_sheet, 1, NULL, 0, {0, 0, 0}, 0},
};

static void sheets_of_a_killed_process_add_up(void **state)
{
    (void)state;
    const struct sample_block none[] = {block(5, 0, 0), block(6, 0, 0)},
                              some[] = {block(5, 7, 170), block(6, 0, 0)},
                              before[] = {block(5, 10, 100), block(6, 5, 50)};
    const struct sample_dump dumps[] = {dump(before, &first_times), dump(none, &sheets[0]),
                                        dump(some, &sheets[1])};
    struct pgk_heap *h = read_dumps(dumps + 1, 2);
    assert_context(h, 0x1010, (const uint64_t[]){130, 5, 30, 1, 5});
    assert_context(h, 0x1020, (const uint64_t[]){50, 1, 50, 1, 0});
    assert_curve(h, (const uint64_t[]){40, 180, 6}, (const uint64_t[]){0, 20, 40, 50}, 4);
    pgk_heap_close(&h);

    h = read_dumps(dumps, 3);
    assert_context(h, 0x1010, (const uint64_t[]){130, 5, 30, 1, 6});
    assert_context(h, 0x1020, (const uint64_t[]){50, 1, 50, 1, 0});
    assert_curve(h, (const uint64_t[]){40, 180, 6}, (const uint64_t[]){0, 7, 20, 40, 50}, 5);
    pgk_heap_close(&h);
}

/* Fields of the context of an address, from the first one on; all of them known, or none. */
static void assert_fields(const struct pgk_heap *h, uint64_t address, enum pgk_mib_id first,
                          unsigned n, const uint64_t *want)
{
    for (size_t i = 0; i < pgk_heap_contexts(h); i++) {
        struct pgk_heap_frame f;
        pgk_heap_stack(h, i, &f, 1);
        for (unsigned k = 0; f.address == address && k < n; k++) {
            assert_int_equal(pgk_heap_knows(h, i, first + k), want != NULL);
            assert_int_equal(pgk_heap_value(h, i, first + k), want ? want[k] : 0);
        }
    }
}

/* Bytes touched and not, least and most per cent. */
static void assert_touched(const struct pgk_heap *h, uint64_t address, const uint64_t *want)
{
    assert_fields(h, address, PGK_MIB_TouchedSize, 4, want);
}

static void what_was_touched_adds_up(void **state)
{
    (void)state;
    const struct sample_block blocks[] = {block(5, 10, 100), block(6, 5, 50)};
    const uint64_t first[][4] = {{60, 40, 10, 100}, {0, 50, 0, 0}},
                   second[][4] = {{30, 20, 7, 60}};
    struct sample_times times[] = {first_times, second_times};
    times[0].touched = first;
    times[1].touched = second;
    struct sample_dump dumps[] = {dump(blocks, &times[0]), dump(blocks, &times[1])};
    struct pgk_heap *h = read_dumps(dumps, 2);
    assert_context(h, 0x1010, (const uint64_t[]){80, 8, 0, 0, 1});
    assert_touched(h, 0x1010, (const uint64_t[]){60, 40, 10, 100});
    assert_touched(h, 0x1020, (const uint64_t[]){30, 70, 0, 60});
    pgk_heap_close(&h);

    /* Sheets of two threads; of context 6 no object has ended. */
    const uint64_t one[][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, two[][4] = {{UINT64_MAX, 5, 3, 40}};
    const struct sample_block none[] = {block(5, 0, 0), block(6, 0, 0)},
                              some[] = {block(5, 7, 170), block(6, 0, 0)};
    struct sample_times threads[] = {sheets[0], sheets[1]};
    threads[0].touched = one;
    threads[1].touched = two;
    const struct sample_dump both[] = {dump(none, &threads[0]), dump(some, &threads[1]), dumps[0]};
    h = read_dumps(both, 2);
    assert_context(h, 0x1010, (const uint64_t[]){130, 5, 30, 1, 5});
    assert_touched(h, 0x1010, (const uint64_t[]){UINT64_MAX, 5, 3, 40});
    assert_touched(h, 0x1020, NULL);
    pgk_heap_close(&h);
    h = read_dumps(both, 3); /* sums have an end */
    assert_touched(h, 0x1010, (const uint64_t[]){UINT64_MAX, 45, 3, 100});
    pgk_heap_close(&h);

    /* A dump that cannot tell makes it unknown, and nothing else. */
    times[1].merged = true;
    dumps[1] = dump(blocks, &times[1]);
    h = read_dumps(dumps, 2);
    assert_context(h, 0x1010, (const uint64_t[]){80, 8, 0, 0, 1});
    assert_touched(h, 0x1010, NULL);
    pgk_heap_close(&h);
}

/* Bytes and objects. */
static void assert_unreachable(const struct pgk_heap *h, uint64_t address, const uint64_t *want)
{
    assert_fields(h, address, PGK_MIB_UnreachableSize, 2, want);
}

static void what_is_unreachable_is_of_the_end(void **state)
{
    (void)state;
    const struct sample_block blocks[] = {block(5, 10, 100), block(6, 5, 50)};
    const uint64_t first[][2] = {{15, 1}, {5, 1}}, second[][2] = {{9, 1}},
                   used[][4] = {{1, 2, 3, 4}};
    struct sample_times times[] = {first_times, second_times};
    times[0].lost = first;
    times[1].lost = second;
    times[1].touched = used;
    const struct sample_dump dumps[] = {dump(blocks, &times[0]), dump(blocks, &times[1])};
    struct pgk_heap *h = read_dumps(dumps, 1);
    assert_context(h, 0x1010, (const uint64_t[]){80, 8, 20, 2, 1});
    assert_unreachable(h, 0x1010, (const uint64_t[]){15, 1});
    assert_unreachable(h, 0x1020, (const uint64_t[]){5, 1});
    pgk_heap_close(&h);

    /* The last dump has the end; context 5 has nothing alive there. */
    h = read_dumps(dumps, 2);
    assert_context(h, 0x1010, (const uint64_t[]){80, 8, 0, 0, 1});
    assert_unreachable(h, 0x1010, (const uint64_t[]){0, 0});
    assert_unreachable(h, 0x1020, (const uint64_t[]){9, 1});
    pgk_heap_close(&h);

    /* Nobody looked at the end, or the process was killed after the dump. */
    const struct sample_dump not_last[] = {dumps[0], dump(blocks, &second_times)};
    h = read_dumps(not_last, 2);
    assert_unreachable(h, 0x1010, NULL);
    assert_unreachable(h, 0x1020, NULL);
    pgk_heap_close(&h);
    const struct sample_block none[] = {block(5, 0, 0), block(6, 0, 0)},
                              some[] = {block(5, 7, 170), block(6, 0, 0)};
    const struct sample_dump killed[] = {dumps[0], dump(none, &sheets[0]), dump(some, &sheets[1])};
    h = read_dumps(killed, 3);
    assert_context(h, 0x1010, (const uint64_t[]){130, 5, 30, 1, 6});
    assert_unreachable(h, 0x1010, NULL);
    pgk_heap_close(&h);
}

static void a_dump_without_times_makes_them_unknown(void **state)
{
    (void)state;
    const struct sample_block blocks[] = {block(5, 10, 100), block(6, 5, 50)};
    const struct sample_dump dumps[] = {dump(blocks, &first_times), dump(blocks, NULL)};
    struct pgk_heap_times t = {.struct_size = sizeof t};
    struct pgk_heap *h = read_dumps(dumps, 2);
    for (size_t i = 0; i < pgk_heap_contexts(h); i++)
        assert_false(pgk_heap_knows(h, i, PGK_MIB_PeakSize));
    pgk_heap_over_time(h, &t);
    assert_int_equal(t.processes, 0);
    pgk_heap_close(&h);
}

static void offsets_are_checked(void **state)
{
    (void)state;
    const struct sample_block blocks[] = {block(5, 10, 100), block(6, 5, 50)};
    const struct sample_dump finished = dump(blocks, &first_times), sheet = dump(blocks, sheets);
    struct sample_times more = first_times;
    more.breakdowns = first_breakdowns;
    more.n_breakdowns = 2;
    const struct sample_dump broken_down = dump(blocks, &more);
    const size_t finished_parts = ONE_SEGMENT + 2 * POINT + 2 * CONTEXT + SAMPLE_FACTS,
                 lives = finished_parts + 2 * SAMPLE_PART, series = lives + SAMPLE_PART,
                 allocated = ONE_SEGMENT + 6 * POINT + 2 * CONTEXT + SAMPLE_FACTS + SAMPLE_PART,
                 breakdowns = finished_parts + 2 * BREAKDOWN + 4 * SAMPLE_PART;
    const struct {
        const struct sample_dump *dump;
        size_t at;
        uint64_t value;
        const char *field;
    } cases[] = {
        {&finished, series + 8, 8, "part SERIES"}, /* among the segments */
        {&finished, series + 8, UINT64_MAX, "part SERIES"},
        {&finished, series + 24, 9, "part SERIES"}, /* more than there is capacity for */
        {&finished, series + 24, UINT64_MAX / POINT, "part SERIES"},
        {&finished, series + 16, 32, "part SERIES"}, /* shorter than they were ever */
        {&finished, lives + 8, finished_parts + 8, "part LIVES"},
        {&finished, lives + 24, 3, "part LIVES"},
        {&finished, lives + 16, 88, "part LIVES"},
        {&sheet, allocated + 24, 3, "part ALLOCATED"},
        {&broken_down, breakdowns + 8, 8, "part BREAKDOWNS"},
        {&broken_down, breakdowns + 24, 3, "part BREAKDOWNS"},
        {&broken_down, ONE_SEGMENT + 2 * POINT + 2 * CONTEXT + BREAKDOWN + 8, 25, "shares"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_sink *out;
        struct pgk_heap *h;
        struct pgk_err err = {0};
        size_t size;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        sample_write_dump(out, cases[i].dump);
        pgk_sink_patch_u64(out, cases[i].at, cases[i].value);
        const uint8_t *bytes = pgk_sink_data(out, &size);
        assert_int_equal(read_bytes(bytes, size, &h, NULL, &err), PGK_E_CORRUPT);
        assert_string_equal(err.field, cases[i].field);
        assert_true(err.offset >= ONE_SEGMENT && *err.record && *err.found && *err.expected);
        pgk_heap_close(&h);
        pgk_sink_drop(&out);
    }
}

/* A profile of functions with all fields, and a curve. */
static struct pgk_heap *sample(uint64_t seed, uint64_t peak)
{
    const uint64_t processes = 1 + seed % 3;
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, seed, 20, 5, false);
    for (size_t i = 0; i < pgk_heap_contexts(h); i++) {
        struct pgk_mib m;
        pgk_heap_mib(h, i, &m);
        for (enum pgk_mib_id id = PGK_MIB_PeakSize; id < PGK_MIB_FIELDS; id++) {
            m.known |= UINT64_C(1) << id;
            m.v[id] = pgk_mib_cut(id, test_random(&seed) >> (i % 40));
        }
        assert_true(pgk_context_set(h, &h->contexts.v[i], &m));
    }
    const struct pgk_heap_point points[] = {{0, 1, 1, 1, 1}, {seed % 100 + 1, peak, 3, peak, 4}};
    const size_t last = pgk_heap_contexts(h) - 1;
    const struct pgk_heap_share shares[] = {{1, last, peak}, {0, seed % last, 1}, {1, 0, 5}};
    const struct pgk_heap_times t = {.struct_size = sizeof t, .processes = processes,
                                     .peak_ms = seed % 100 + 1, .peak_bytes = peak,
                                     .peak_objects = 3, .points = points, .n_points = 2,
                                     .shares = shares, .n_shares = PGK_COUNTOF(shares)};
    assert_int_equal(pgk_heap_build_over_time(h, &t, NULL), 0);
    return h;
}

static const uint8_t *partial(const struct pgk_heap *h, struct pgk_sink **out, size_t *size)
{
    assert_int_equal(pgk_sink_memory(out, NULL), 0);
    assert_int_equal(pgk_heap_partial_write(h, *out, NULL), 0);
    return pgk_sink_data(*out, size);
}

static void assert_same(const struct pgk_heap *x, const struct pgk_heap *y)
{
    struct pgk_sink *a, *b;
    size_t m, n;
    const uint8_t *p = partial(x, &a, &m), *q = partial(y, &b, &n);
    assert_int_equal(m, n);
    assert_memory_equal(p, q, m);
    pgk_sink_drop(&a);
    pgk_sink_drop(&b);
}

static void a_partial_profile_keeps_it(void **state)
{
    (void)state;
    const struct pgk_source src = {.file = "t", .format = "t"};
    struct pgk_heap *h = sample(3, 5000), *again;
    struct pgk_sink *out;
    size_t size;
    struct pgk_heap_read_info info = {0};
    const uint8_t *bytes = partial(h, &out, &size);
    assert_int_equal(pgk_heap_new(&again, NULL), 0);
    assert_int_equal(pgk_heap_partial_read(again, bytes, size, &src, &info, NULL), 0);
    assert_int_equal(info.version, PGK_HEAP_PARTIAL_VERSION);
    assert_int_equal(again->over_time.shares.n, 3);
    assert_same(h, again);
    pgk_heap_close(&again);
    pgk_sink_drop(&out);
    assert_int_equal(pgk_heap_copy(&again, h, NULL), 0);
    assert_same(h, again);
    pgk_heap_close(&again);
    pgk_heap_close(&h);
}

static void curves_merge_in_any_order(void **state)
{
    (void)state;
    for (uint64_t peak = 100; peak <= 102; peak++) {
        struct pgk_heap *a = sample(3, 101), *b = sample(4, peak), *x, *y;
        struct pgk_heap_times t = {.struct_size = sizeof t};
        assert_int_equal(pgk_heap_copy(&x, a, NULL), 0);
        assert_int_equal(pgk_heap_copy(&y, b, NULL), 0);
        assert_int_equal(pgk_heap_merge(x, b, NULL), 0);
        assert_int_equal(pgk_heap_merge(y, a, NULL), 0);
        assert_same(x, y);
        pgk_heap_over_time(x, &t);
        assert_int_equal(t.processes, 1 + 3 % 3 + 1 + 4 % 3);
        assert_int_equal(t.peak_bytes, peak > 101 ? peak : 101);
        assert_int_equal(pgk_heap_scale(x, 2, NULL), 0);
        pgk_heap_over_time(x, &t);
        assert_int_equal(t.processes, 2 * (1 + 3 % 3 + 1 + 4 % 3));
        pgk_heap_close(&a);
        pgk_heap_close(&b);
        pgk_heap_close(&x);
        pgk_heap_close(&y);
    }
}

static void building_checks_what_is_given(void **state)
{
    (void)state;
    struct pgk_heap *h;
    const struct pgk_heap_point points[] = {{5, 1, 1, 1, 1}, {5, 1, 1, 1, 1}};
    struct pgk_heap_times t = {.struct_size = sizeof t, .points = points, .n_points = 1};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    assert_int_equal(pgk_heap_build_over_time(h, &t, NULL), PGK_E_ARG);
    t.processes = 1;
    t.n_points = 2;
    assert_int_equal(pgk_heap_build_over_time(h, &t, NULL), PGK_E_ARG);
    t.n_points = 1;
    t.shares = &(struct pgk_heap_share){.point = 0, .context = 0, .bytes = 1}; /* of none */
    t.n_shares = 1;
    assert_int_equal(pgk_heap_build_over_time(h, &t, NULL), PGK_E_ARG);
    t.n_shares = 0;
    assert_int_equal(pgk_heap_build_over_time(h, &t, NULL), 0);
    pgk_heap_close(&h);
}

static void note_loss(void *ctx, const char *what)
{
    *(int *)ctx += strstr(what, "PeakSize, PeakCount, ExitSize, ExitCount, TemporaryCount, "
                                "TouchedSize, UntouchedSize, MinTouched, MaxTouched") ||
                   strstr(what, "2 points of the curve");
}

static void forms_of_llvm_lose_it_and_say_so(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(3, 5000);
    const struct pgk_heap_target targets[] = {
        {.form = PGK_HEAP_RAW, .version = 5},
        {.form = PGK_HEAP_INDEXED, .version = 4, .full_schema = true},
        {.form = PGK_HEAP_YAML},
        {.form = PGK_HEAP_PARTIAL},
    };
    for (size_t i = 0; i < PGK_COUNTOF(targets); i++) {
        int said = 0;
        assert_true(pgk_heap_losses(h, &targets[i], note_loss, &said, NULL) >= said);
        assert_int_equal(said, i < 3 ? 2 : 0);
    }
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finished_dumps_have_peak_and_exit),
        cmocka_unit_test(sheets_of_a_killed_process_add_up),
        cmocka_unit_test(breakdowns_are_of_points_and_contexts),
        cmocka_unit_test(a_context_that_is_not_in_the_file_is_left_out),
        cmocka_unit_test(what_was_touched_adds_up),
        cmocka_unit_test(what_is_unreachable_is_of_the_end),
        cmocka_unit_test(a_dump_without_times_makes_them_unknown),
        cmocka_unit_test(offsets_are_checked),
        cmocka_unit_test(a_partial_profile_keeps_it),
        cmocka_unit_test(curves_merge_in_any_order),
        cmocka_unit_test(building_checks_what_is_given),
        cmocka_unit_test(forms_of_llvm_lose_it_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
