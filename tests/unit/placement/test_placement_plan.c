/* Plans of small profiles: what shares a group, how deep calls are looked at, and the file. */
#include "placement.h"

#include "pgk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KIB = 1024 };

/* One context; addresses leaf first, 0 ends them. */
struct context {
    uint64_t stack[5];
    uint64_t count, size, lifetime, longest, peak;
    uint64_t accesses; /* 0: they were not counted */
    uint64_t kept;     /* bytes alive at the end */
    uint64_t samples;  /* that this is estimated from; 0: all objects were recorded */
};

static void add(struct pgk_heap *heap, const struct context *c)
{
    static const uint8_t id[20] = {1, 2, 3};
    struct pgk_heap_frame frames[5] = {{0}};
    const uint64_t n = c->samples ? c->samples : 1, all = c->count * c->size;
    const struct pgk_heap_value values[] = {
        {PGK_MIB_SampleCount, c->samples},
        {PGK_MIB_CountVariance, c->count * c->count / n},
        {PGK_MIB_SizeVariance, all * all / n},
        {PGK_MIB_AllocCount, c->count},
        {PGK_MIB_TotalSize, c->count * c->size},
        {PGK_MIB_MinSize, c->size},
        {PGK_MIB_MaxSize, c->size},
        {PGK_MIB_TotalLifetime, c->count * c->lifetime},
        {PGK_MIB_MaxLifetime, c->longest},
        {PGK_MIB_PeakSize, c->peak},
        {PGK_MIB_ExitSize, c->kept},
        {PGK_MIB_TotalAccessCount, c->accesses},
    };
    const size_t first = c->samples ? 0 : 3;
    struct pgk_heap_allocation a = {
        .struct_size = sizeof a, .frames = frames, .values = values + first,
        .n_values = sizeof values / sizeof *values - first - !c->accesses};
    for (; a.n_frames < 5 && c->stack[a.n_frames]; a.n_frames++)
        frames[a.n_frames] = (struct pgk_heap_frame){.is_address = true,
                                                     .address = c->stack[a.n_frames],
                                                     .build_id = id,
                                                     .build_id_size = sizeof id};
    assert_int_equal(pgk_heap_build_context(heap, &a, NULL), 0);
}

static struct pgk_heap *heap_of(const struct context *contexts, size_t n)
{
    struct pgk_heap *heap;
    assert_int_equal(pgk_heap_new(&heap, NULL), 0);
    for (size_t i = 0; i < n; i++)
        add(heap, &contexts[i]);
    return heap;
}

static int make(struct pgk_plan **plan, const struct context *contexts, size_t n, unsigned groups,
                struct pgk_err *err)
{
    const struct pgk_plan_opts opts = {.struct_size = sizeof opts, .groups = groups};
    struct pgk_heap *heap = heap_of(contexts, n);
    const int status = pgk_plan_heap(plan, heap, NULL, NULL, &opts, err);
    pgk_heap_close(&heap);
    return status;
}

#define MAKE(plan, contexts, groups) \
    assert_int_equal(make(plan, contexts, sizeof(contexts) / sizeof *(contexts), groups, NULL), 0)

static const struct pgk_plan_context *context_of(const struct pgk_plan *plan, uint64_t leaf)
{
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (plan->calls.v[plan->steps.v[c->first_step].first].address == leaf)
            return c;
    }
    fail();
    return NULL;
}

static void contexts_of_one_size_are_apart(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10, 0x90}, 1000, 48, 100, 100, 48 * KIB},
        {{0x20, 0x90}, 1000, 48, 100, 100, 40 * KIB},
        {{0x30, 0x90}, 1000, 48, 100, 100, 30 * KIB},
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->n_groups, 4);
    assert_int_not_equal(context_of(plan, 0x10)->group, context_of(plan, 0x20)->group);
    assert_int_not_equal(context_of(plan, 0x10)->group, context_of(plan, 0x30)->group);
    assert_int_equal(plan->nodes.n, 4); /* by their leaves alone */
    pgk_plan_close(&plan);
}

/* Of what a few samples say it is not sure that it is worth a group. */
static void what_needs_more_samples_is_left_out(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10, 0x90}, 1000, 48, 100, 100, 48 * KIB, .samples = 200},
        {{0x20, 0x90}, 1000, 48, 100, 100, 40 * KIB, .samples = 200},
        {{0x30, 0x90}, 1000, 48, 100, 100, 40 * KIB},
        {{0x40, 0x90}, 1000, 48, 100, 100, 40 * KIB, .samples = 2},
        {{0x50, 0x90}, 1000, 48, 100, 100, 700, .samples = 8},
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    for (uint64_t leaf = 0x10; leaf <= 0x30; leaf += 0x10)
        assert_int_equal(context_of(plan, leaf)->reason, PGK_PLAN_SPLIT);
    for (uint64_t leaf = 0x40; leaf <= 0x50; leaf += 0x10) {
        assert_int_equal(context_of(plan, leaf)->reason, PGK_PLAN_UNDECIDED);
        assert_int_equal(context_of(plan, leaf)->group, 0);
    }
    pgk_plan_close(&plan);
}

static void the_largest_have_a_group_each(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10}, 1000, 48, 100, 100, 40 * KIB},
        {{0x20}, 1000, 48, 100, 100, 90 * KIB},
        {{0x30}, 1000, 48, 100, 100, 50 * KIB},
        {{0x40}, 1000, 48, 100, 100, 70 * KIB},
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 4);
    assert_int_equal(plan->n_groups, 4);
    assert_int_equal(context_of(plan, 0x20)->group, 1);
    assert_int_equal(context_of(plan, 0x40)->group, 2);
    assert_int_equal(context_of(plan, 0x30)->group, 3);
    assert_int_equal(context_of(plan, 0x10)->group, 3); /* the last one has the others */
    pgk_plan_close(&plan);
}

/* Not those that are accessed rarely because they live shortly. */
static void groups_that_are_hardly_accessed_are_cold(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10}, 1000, 48, 1000, 1000, 48 * KIB, 1000},
        {{0x20}, 1000, 48, 1000, 1000, 48 * KIB, 1000000},
        {{0x30}, 1000, 48, 10, 10, 48 * KIB, 1000},
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->n_groups, 4);
    assert_true(pgk_plan_is_cold(plan, context_of(plan, 0x10)->group));
    assert_false(pgk_plan_is_cold(plan, context_of(plan, 0x20)->group));
    assert_false(pgk_plan_is_cold(plan, context_of(plan, 0x30)->group));
    assert_false(pgk_plan_is_cold(plan, 0));
    assert_false(pgk_plan_is_hot(plan, context_of(plan, 0x10)->group));
    assert_true(pgk_plan_is_hot(plan, context_of(plan, 0x20)->group));
    assert_false(pgk_plan_is_hot(plan, 0));
    pgk_plan_close(&plan);
}

static void others_are_left_alone(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10}, 1000, 48, 100, 100, 480 * KIB},
        {{0x20}, 1000, 48, 100, 100, 480 * KIB},
        {{0x30}, 9000000, 48, 0, 1, 48},              /* hardly any at a time */
        {{0x40}, 10, 100 * KIB, 100, 100, 900 * KIB}, /* large */
        {{0x50}, 1000, 48, 100, 10000, 90 * KIB},     /* of two kinds */
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->n_groups, 3);
    assert_int_equal(context_of(plan, 0x30)->reason, PGK_PLAN_SMALL);
    assert_int_equal(context_of(plan, 0x40)->reason, PGK_PLAN_LARGE);
    assert_int_equal(context_of(plan, 0x50)->reason, PGK_PLAN_MIXED);
    for (uint64_t leaf = 0x30; leaf <= 0x50; leaf += 0x10)
        assert_int_equal(context_of(plan, leaf)->group, 0);
    pgk_plan_close(&plan);
}

/* 0x10 is a wrapper; what it is called by decides, in one case only what that is called by. */
static void calls_are_looked_at_as_deep_as_needed(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10, 0x20, 0x30, 0x90}, 1000, 48, 100, 100, 48 * KIB},
        {{0x10, 0x21, 0x31, 0x90}, 1000, 48, 100, 100, 40 * KIB},
        {{0x10, 0x21, 0x32, 0x90}, 1000, 48, 100, 100, 30 * KIB},
        {{0x11, 0x20, 0x30, 0x90}, 9000, 48, 0, 1, 48}, /* another leaf */
        {{0x10, 0x22, 0x30, 0x90}, 9000, 48, 0, 1, 48}, /* no group below the wrapper */
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->nodes.n, 6); /* root, 10, 20, 21, 31, 32 */
    assert_int_equal(plan->nodes.v[1].address, 0x10);
    assert_int_equal(plan->nodes.v[1].group, 0);
    for (size_t i = 2; i < plan->nodes.n; i++) {
        const struct pgk_placement_node *n = &plan->nodes.v[i];
        const uint32_t forked = plan->nodes.v[2].address == 0x21 ? 2 : 3;
        assert_int_equal(n->parent, n->address < 0x30 ? 1 : forked);
        assert_int_equal(n->group != 0, n->address != 0x21);
    }
    pgk_plan_close(&plan);
}

/* A wrapper that all of a busy program allocates by costs more than it brings. */
static void busy_calls_are_left_alone(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10, 0x20}, 1000, 48, 100, 100, 48 * KIB},
        {{0x10, 0x21}, 1000, 48, 100, 100, 48 * KIB},
        {{0x10, 0x22}, 90000, 48, 0, 1, 48},
        {{0x11, 0x20}, 1000, 48, 100, 100, 48 * KIB},
        {{0x12, 0x20}, 90000, 48, 100, 100, 48 * KIB}, /* one look is cheap */
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->nodes.n, 3);
    for (size_t i = 1; i < plan->nodes.n; i++)
        assert_int_not_equal(plan->nodes.v[i].address, 0x10);
    /* They are not said to be in a group that the allocator does not find. */
    assert_int_equal(context_of(plan, 0x10)->group, 0);
    assert_int_equal(context_of(plan, 0x10)->reason, PGK_PLAN_BUSY);
    assert_int_not_equal(context_of(plan, 0x11)->group, 0);
    pgk_plan_close(&plan);
}

/* Four objects are allocated for each that is alive: that pays by one step, not by four. */
static void deep_calls_pay_by_fewer_objects(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10, 0x20}, 4000, 48, 100, 100, 48 * KIB},
        {{0x10, 0x21}, 4000, 48, 100, 100, 48 * KIB},
        {{0x11, 0x20, 0x30, 0x40, 0x50}, 4000, 48, 100, 100, 48 * KIB},
        {{0x11, 0x20, 0x30, 0x40, 0x51}, 4000, 48, 100, 100, 48 * KIB},
    };
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    MAKE(&plan, all, 0);
    assert_int_equal(plan->nodes.n, 4);
    assert_int_equal(context_of(plan, 0x11)->reason, PGK_PLAN_BUSY);
    assert_int_equal(plan->looks.allocations, 8000);
    assert_int_equal(plan->looks.tenths_ns, 8000 * 30);
    assert_in_range(plan->looks.apart, 2046, 2048);
    pgk_plan_close(&plan);
    /* Nothing is left without the first two. */
    assert_int_equal(make(&plan, all + 2, 2, 0, &err), PGK_E_EMPTY);
    assert_non_null(strstr(err.found, "lookup on each allocation would cost more"));
    assert_null(plan);
}

/* Of each burst 400 objects live on, and hold the pages of 9600. All are allocated by one function:
 * to look at what calls it takes more for each object that is apart than the limit. */
enum { BURSTS = 8, LIVE_ON = 400, PASS = 9600, BURST_SIZE = 256 };

static void fill_bursts(struct context all[2 * BURSTS], bool live_on, bool until_end)
{
    for (uint64_t i = 0; i < BURSTS; i++) {
        const uint64_t bytes = LIVE_ON * BURST_SIZE,
                       /* That of the last burst lives no longer than its burst. */
                       ms = live_on ? 8000 * (BURSTS - i) : 500;
        all[2 * i] = (struct context){{0x10, 0x20 + i}, PASS, BURST_SIZE, 500, 1000,
                                      i == BURSTS - 1 ? PASS * BURST_SIZE : 0};
        all[2 * i + 1] = (struct context){{0x10, 0x40 + i}, LIVE_ON, BURST_SIZE, ms, ms, bytes};
        all[2 * i + 1].kept = until_end ? bytes : 0;
    }
}

static void assert_bursts_are_apart(const struct context all[2 * BURSTS])
{
    struct pgk_plan *plan = NULL;
    assert_int_equal(make(&plan, all, 2 * BURSTS, 0, NULL), 0);
    assert_true(plan->looks.tenths_ns > 160 * plan->looks.apart);
    assert_int_equal(plan->decided.by_memory, 1);
    assert_int_equal(plan->decided.by_time, 0);
    const struct pgk_plan_expected e = pgk_plan_expect(plan, PGK_PLAN_GAIN_HELD);
    assert_true(e.without > 3 * e.with);
    const struct pgk_plan_context *passing = &plan->contexts.v[0];
    assert_int_equal(passing->peak, PASS * BURST_SIZE);
    for (size_t i = 1; i <= BURSTS; i++) {
        assert_int_equal(plan->contexts.v[i].objects, LIVE_ON);
        assert_int_not_equal(plan->contexts.v[i].group, 0);
        assert_int_not_equal(plan->contexts.v[i].group, passing->group);
    }
    pgk_plan_close(&plan);
}

/* By how long objects live, or, of a run that is too short for that, by what is left at its end. */
static void bursts_of_many_kinds_pay_by_memory(void **state)
{
    (void)state;
    struct context all[2 * BURSTS];
    fill_bursts(all, true, false);
    assert_bursts_are_apart(all);
    fill_bursts(all, false, true);
    assert_bursts_are_apart(all);
}

static void bursts_that_leave_nothing_do_not_pay(void **state)
{
    (void)state;
    struct context all[2 * BURSTS];
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    fill_bursts(all, false, false);
    assert_int_equal(make(&plan, all, 2 * BURSTS, 0, &err), PGK_E_EMPTY);
    assert_non_null(strstr(err.found, "lookup on each allocation would cost more"));
    assert_null(plan);
}

/* Unless most accesses are to them. */
static void small_groups_are_left_out(void **state)
{
    (void)state;
    enum { COUNT = 20000, SIZE = 48, FEW = COUNT / 120 };
    struct context all[] = {
        {{0x10}, COUNT, SIZE, 100, 100, COUNT * SIZE, 1000},
        {{0x20}, COUNT, SIZE, 100, 100, COUNT * SIZE, 1000},
        {{0x30}, FEW, SIZE, 100, 100, FEW * SIZE, 10},
    };
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->n_groups, 3);
    assert_int_equal(context_of(plan, 0x30)->reason, PGK_PLAN_GAINLESS);
    pgk_plan_close(&plan);
    all[2].accesses = 1000000;
    MAKE(&plan, all, 0);
    assert_int_equal(plan->n_groups, 4);
    pgk_plan_close(&plan);
}

/* Lives of some milliseconds differ from one recording to the next: another program may have had
 * the processor. A perl script had three groups instead of two in one recording of eight. */
static void lives_count_where_clocks_have_them(void **state)
{
    (void)state;
    for (uint64_t ms = 7; ms <= 7000; ms *= 10) {
        const struct context all[] = {
            {{0x10}, 1000, 48, ms, ms, 48 * KIB},
            {{0x20}, 1000, 48, ms, ms, 40 * KIB},
            {{0x30}, 1000, 48, ms / 32, ms, 30 * KIB},
            /* Where a hundred times as many have come and gone, chance has less to say. */
            {{0x40}, 100000, 48, ms / 32, ms, 30 * KIB},
        };
        struct pgk_plan *plan;
        MAKE(&plan, all, 0);
        assert_int_equal(context_of(plan, 0x30)->reason,
                         ms < 7000 ? PGK_PLAN_SPLIT : PGK_PLAN_MIXED);
        assert_int_equal(context_of(plan, 0x40)->reason,
                         ms < 700 ? PGK_PLAN_SPLIT : PGK_PLAN_MIXED);
        pgk_plan_close(&plan);
    }
}

/* The objects of 0x30 are the only ones of their size. */
static void groups_that_bring_nothing_are_left_out(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10}, 1000, 48, 100, 100, 48 * KIB},
        {{0x20}, 1000, 48, 100, 100, 48 * KIB},
        {{0x30}, 1000, 640, 100, 100, 640 * KIB},
    };
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    MAKE(&plan, all, 0);
    assert_int_equal(plan->n_groups, 3);
    assert_int_equal(plan->nodes.n, 3);
    assert_int_equal(context_of(plan, 0x30)->group, 0);
    assert_int_equal(context_of(plan, 0x30)->reason, PGK_PLAN_GAINLESS);
    const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, context_of(plan, 0x10)->group);
    assert_int_equal(pages.apart, 48 * KIB);
    assert_true(pages.scattered > 90 * KIB && pages.scattered <= 96 * KIB);
    pgk_plan_close(&plan);
    /* Without 0x20, each is. */
    const struct context alone[] = {all[0], all[2]};
    assert_int_equal(make(&plan, alone, 2, 0, &err), PGK_E_EMPTY);
    assert_null(plan);
}

static void nothing_to_keep_apart_is_an_error(void **state)
{
    (void)state;
    static const struct context one[] = {{{0x10}, 1000, 48, 100, 100, 48 * KIB}};
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    assert_int_equal(make(&plan, one, 1, 0, &err), PGK_E_EMPTY);
    assert_null(plan);
    assert_int_equal(make(&plan, one, 1, 1, &err), PGK_E_ARG);
    assert_int_equal(make(&plan, one, 1, 15, &err), PGK_E_ARG);
}

static size_t written(const struct pgk_plan *plan, uint64_t *bytes, size_t space)
{
    char path[] = "/tmp/pgokit-plan-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(pgk_plan_write(plan, path, NULL), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, space, file);
    fclose(file);
    close(fd);
    unlink(path);
    return n;
}

/* What is written is accepted, and no other length, nor any other bit. */
static void the_file_is_checked(void **state)
{
    (void)state;
    static const struct context all[] = {
        {{0x10, 0x20}, 1000, 48, 100, 100, 48 * KIB},
        {{0x10, 0x21}, 1000, 48, 100, 100, 40 * KIB},
    };
    static uint64_t bytes[512];
    struct pgk_placement p = {0};
    struct pgk_placement_fault fault;
    struct pgk_plan *plan;
    MAKE(&plan, all, 0);
    const size_t n = written(plan, bytes, sizeof bytes);
    pgk_plan_close(&plan);
    assert_true(pgk_placement_check(bytes, n, &p, &fault));
    assert_int_equal(p.header->n_groups, 3);
    assert_int_equal(p.groups[1].bytes, 48 * KIB);
    assert_int_equal(p.groups[1].contexts, 1);
    for (size_t cut = 0; cut < n; cut++)
        assert_false(pgk_placement_check(bytes, cut, &p, &fault));
    for (size_t bit = 0; bit < n * 8; bit++) {
        bytes[bit / 64] ^= UINT64_C(1) << bit % 64;
        assert_false(pgk_placement_check(bytes, n, &p, &fault));
        bytes[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    bytes[0] = PGK_PLACEMENT_MAGIC_UNRELEASED;
    assert_false(pgk_placement_check(bytes, n, &p, &fault));
    assert_string_equal(fault.what, "a pgokit before 0.1.0 wrote it");
}

/* Objects of 64 bytes, 64 of them on a page: a tenth of them is on nearly all pages. */
static void scattered_objects_keep_pages(void **state)
{
    (void)state;
    uint64_t all[PGK_PLAN_CLASSES] = {1000000}, part[PGK_PLAN_CLASSES] = {100000};
    const uint64_t bytes = pgk_plan_scattered(all, part);
    assert_true(bytes > 990000 && bytes <= 1000000);
    part[0] = 0;
    assert_int_equal(pgk_plan_scattered(all, part), 0);
    part[0] = all[0];
    assert_int_equal(pgk_plan_scattered(all, part), 1000000);
}

/* ---- reading ---- */

static const struct context of_file[] = {
    {{0x10, 0x20}, 1000, 48, 100, 100, 48 * KIB},
    {{0x10, 0x21, 0x30}, 1000, 48, 100, 100, 40 * KIB},
    {{0x11}, 1000, 48, 100, 10000, 30 * KIB}, /* of two kinds */
};
static const struct context another[] = {
    {{0x10, 0x21, 0x31}, 1000, 48, 100, 100, 8 * KIB},
    {{0x12}, 10, 100 * KIB, 100, 100, 900 * KIB},
};

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Also with the contexts of another profile. */
static void a_file_gives_contexts_their_groups(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE + 10];
    struct pgk_plan *plan, *read;
    struct pgk_heap *same = heap_of(of_file, 3), *other = heap_of(another, 2);
    test_folder(folder);
    snprintf(path, sizeof path, "%s/plan", folder);
    MAKE(&plan, of_file, 0);
    assert_int_equal(pgk_plan_write(plan, path, NULL), 0);
    assert_int_equal(pgk_plan_read(&read, path, same, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(read->n_groups, plan->n_groups);
    assert_int_equal(read->contexts.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(read->contexts.v[i].group, plan->contexts.v[i].group);
    assert_int_equal(context_of(read, 0x11)->reason, PGK_PLAN_UNNAMED);
    const struct pgk_plan_expected a = pgk_plan_expect(plan, PGK_PLAN_GAIN_TOUCHED),
                                   b = pgk_plan_expect(read, PGK_PLAN_GAIN_TOUCHED);
    assert_int_equal(a.with, b.with);
    assert_int_equal(a.without, b.without);
    pgk_plan_close(&read);
    assert_int_equal(pgk_plan_read(&read, path, other, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(context_of(read, 0x10)->group, plan->contexts.v[1].group);
    assert_int_equal(context_of(read, 0x12)->reason, PGK_PLAN_LARGE);
    pgk_plan_close(&read);
    pgk_plan_close(&plan);
    pgk_heap_close(&same);
    pgk_heap_close(&other);
    test_folder_remove(folder);
}

static void a_damaged_file_is_refused(void **state)
{
    (void)state;
    static uint64_t bytes[512];
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE + 10];
    struct pgk_plan *plan, *read = NULL;
    struct pgk_heap *heap = heap_of(of_file, 3);
    struct pgk_err err;
    test_folder(folder);
    snprintf(path, sizeof path, "%s/plan", folder);
    MAKE(&plan, of_file, 0);
    const size_t n = written(plan, bytes, sizeof bytes);
    for (size_t cut = 0; cut < n; cut++) {
        write_file(path, bytes, cut);
        assert_int_equal(pgk_plan_read(&read, path, heap, NULL, NULL, NULL, &err), PGK_E_CORRUPT);
        assert_true(*err.field && *err.file && err.offset <= cut);
    }
    /* Another build: its id is the first that the file has. */
    struct pgk_placement_header *h = (struct pgk_placement_header *)bytes;
    ((uint8_t *)(h + 1))[8] ^= 1;
    h->checksum = pgk_placement_sum(h + 1, n - sizeof *h);
    write_file(path, bytes, n);
    assert_int_equal(pgk_plan_read(&read, path, heap, NULL, NULL, NULL, &err), PGK_E_MISMATCH);
    assert_null(read);
    pgk_plan_close(&plan);
    pgk_heap_close(&heap);
    test_folder_remove(folder);
}

#define GROUP_1 "pgokit_alloc: group 1: 960 bytes of objects in 4096 bytes of pages (23 %), 8192 " \
                "bytes of empty pages; the profile had 5 bytes of objects at its peak\n"

static int read_stats(struct pgk_plan *plan, const char *text, struct pgk_err *err)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE + 10];
    test_folder(folder);
    snprintf(path, sizeof path, "%s/stats", folder);
    write_file(path, text, strlen(text));
    const int status = pgk_plan_read_stats(plan, path, err);
    test_folder_remove(folder);
    return status;
}

static void what_groups_held_is_read(void **state)
{
    (void)state;
    struct pgk_plan *plan;
    struct pgk_err err = {0};
    MAKE(&plan, of_file, 0);
    /* The time at which a group held most counts. */
    assert_int_equal(read_stats(plan, "hello\n" GROUP_1 "pgokit_alloc: no plan is used: x\n"
        "pgokit_alloc: group 1: 10 bytes of objects in 4096 bytes of pages (0 %), 0 bytes of empty "
        "pages\npgokit_alloc: hot: 1 bytes of objects in 4096 bytes of pages (0 %), 0 bytes of "
        "empty pages\n", &err), 0);
    assert_int_equal(plan->held[1].objects, 960);
    assert_int_equal(plan->held[1].pages, 4096);
    assert_int_equal(plan->held[1].empty, 8192);
    assert_int_equal(plan->held[2].pages, 0);
    assert_int_equal(plan->held[PGK_PLAN_HINT_HOT].objects, 1);
    assert_int_equal(read_stats(plan, "nothing\n", &err), PGK_E_EMPTY);
    assert_int_equal(plan->held[1].objects, 0);
    assert_int_equal(read_stats(plan, "pgokit_alloc: group 3: 1 bytes of objects in\n", &err),
                     PGK_E_CORRUPT);
    assert_string_equal(err.field, "number of the group");
    assert_string_equal(err.record, "line 1");
    for (size_t cut = sizeof "pgokit_alloc: group 1: 960 bytes of objects" - 1;
         cut < sizeof "pgokit_alloc: group 1: 960 bytes of objects in 4096 bytes of pages (23 %), "
                      "8192 bytes of empty pages" - 1;
         cut++) {
        char text[sizeof GROUP_1] = GROUP_1;
        text[cut] = 0;
        assert_int_equal(read_stats(plan, text, &err), PGK_E_CORRUPT);
        assert_string_equal(err.field, "what a group holds");
    }
    pgk_plan_close(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_of_one_size_are_apart),
        cmocka_unit_test(what_needs_more_samples_is_left_out),
        cmocka_unit_test(the_largest_have_a_group_each),
        cmocka_unit_test(groups_that_are_hardly_accessed_are_cold),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(calls_are_looked_at_as_deep_as_needed),
        cmocka_unit_test(busy_calls_are_left_alone),
        cmocka_unit_test(deep_calls_pay_by_fewer_objects),
        cmocka_unit_test(bursts_of_many_kinds_pay_by_memory),
        cmocka_unit_test(bursts_that_leave_nothing_do_not_pay),
        cmocka_unit_test(small_groups_are_left_out),
        cmocka_unit_test(lives_count_where_clocks_have_them),
        cmocka_unit_test(groups_that_bring_nothing_are_left_out),
        cmocka_unit_test(nothing_to_keep_apart_is_an_error),
        cmocka_unit_test(the_file_is_checked),
        cmocka_unit_test(scattered_objects_keep_pages),
        cmocka_unit_test(a_file_gives_contexts_their_groups),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(what_groups_held_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
