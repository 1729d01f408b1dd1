/* Merging rules, labels and file values of memory info blocks. */
#include "heap_samples.h"

static struct pgk_mib block(uint64_t size, uint64_t alloc_ms, uint64_t dealloc_ms, uint64_t cpu)
{
    struct pgk_mib m = {.known = (UINT64_C(1) << PGK_MIB_AccessHistogram) - 1};
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalSize] = m.v[PGK_MIB_MinSize] = m.v[PGK_MIB_MaxSize] = size;
    m.v[PGK_MIB_AllocTimestamp] = alloc_ms;
    m.v[PGK_MIB_DeallocTimestamp] = dealloc_ms;
    m.v[PGK_MIB_AllocCpuId] = m.v[PGK_MIB_DeallocCpuId] = cpu;
    m.v[PGK_MIB_NumMigratedCpu] = 1;
    m.v[PGK_MIB_DataTypeId] = 7;
    return m;
}

/* The table of docs/formats/raw-heap.md 8.1. */
static void what_one_object_adds(void **state)
{
    (void)state;
    struct pgk_arena arena = {0};
    struct pgk_mib a = block(30, 10, 20, 1), b = block(10, 15, 40, 1), c = block(20, 50, 60, 2);
    b.v[PGK_MIB_NumLifetimeOverlaps] = 5;
    assert_true(pgk_mib_step(&a, &b, &arena));
    assert_int_equal(a.v[PGK_MIB_AllocCount], 2);
    assert_int_equal(a.v[PGK_MIB_TotalSize], 40);
    assert_int_equal(a.v[PGK_MIB_MinSize], 10);
    assert_int_equal(a.v[PGK_MIB_MaxSize], 30);
    assert_int_equal(a.v[PGK_MIB_AllocTimestamp], 15);
    assert_int_equal(a.v[PGK_MIB_DeallocTimestamp], 40);
    assert_int_equal(a.v[PGK_MIB_NumLifetimeOverlaps], 1); /* the later block's are not added */
    assert_int_equal(a.v[PGK_MIB_NumSameAllocCpu], 1);
    assert_int_equal(a.v[PGK_MIB_NumSameDeallocCpu], 1);
    assert_int_equal(a.v[PGK_MIB_NumMigratedCpu], 1);
    assert_true(pgk_mib_step(&a, &c, &arena));
    assert_int_equal(a.v[PGK_MIB_NumLifetimeOverlaps], 1);
    assert_int_equal(a.v[PGK_MIB_NumSameAllocCpu], 1);
    assert_int_equal(a.v[PGK_MIB_AllocCpuId], 2);
    assert_int_equal(a.v[PGK_MIB_DataTypeId], 7);
    pgk_arena_free(&arena);
}

/* The runtime caps densities at 32 bits, and a smallest one of all ones is also the sign of unknown
 * densities, whose sum is 0. */
static void the_hottest_objects_are_known(void **state)
{
    (void)state;
    struct pgk_mib m = block(32, 0, 1, 0);
    m.v[PGK_MIB_MinLifetimeAccessDensity] = UINT32_MAX;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = UINT64_C(1) << 40;
    const uint64_t known = m.known;
    pgk_mib_take_signs(&m);
    assert_true(m.known == known);
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 0;
    pgk_mib_take_signs(&m);
    assert_false(m.known >> PGK_MIB_TotalLifetimeAccessDensity & 1);
    assert_true(m.known >> PGK_MIB_TotalAccessCount & 1);
}

static void add_is_commutative_and_associative(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct pgk_arena arena = {0};
    for (int i = 0; i < 1000; i++) {
        struct pgk_mib a = sample_mib(&seed), b = sample_mib(&seed), c = sample_mib(&seed);
        a.v[PGK_MIB_TotalSize] = sample_random(&seed) % 2 ? UINT64_MAX - 5 : 9;
        b.known &= sample_random(&seed);
        struct pgk_mib ab = a, ba = b, bc = b, left, right;
        assert_true(pgk_mib_add(&ab, &b, &arena) && pgk_mib_add(&ba, &a, &arena));
        assert_memory_equal(&ab, &ba, sizeof ab);
        left = ab;
        assert_true(pgk_mib_add(&bc, &c, &arena) && pgk_mib_add(&left, &c, &arena));
        right = a;
        assert_true(pgk_mib_add(&right, &bc, &arena));
        assert_memory_equal(&left, &right, sizeof left);
    }
    pgk_arena_free(&arena);
}

static void every_field_is_added_by_its_rule(void **state)
{
    (void)state;
    struct pgk_arena arena = {0};
    struct pgk_mib a = block(30, 10, 20, 1), b = block(10, 15, 40, 2);
    a.v[PGK_MIB_AllocCount] = UINT64_MAX;
    b.v[PGK_MIB_DataTypeId] = 8;
    assert_true(pgk_mib_add(&a, &b, &arena));
    assert_int_equal(a.v[PGK_MIB_AllocCount], UINT64_MAX);
    assert_int_equal(a.v[PGK_MIB_AllocTimestamp], 10);
    assert_int_equal(a.v[PGK_MIB_DeallocTimestamp], 40);
    assert_int_equal(a.v[PGK_MIB_AllocCpuId], UINT32_MAX);
    assert_int_equal(a.v[PGK_MIB_NumMigratedCpu], 2);
    assert_int_equal(a.v[PGK_MIB_DataTypeId], 0);
    assert_int_equal(pgk_mib_file_value(&a, PGK_MIB_AllocCount), UINT32_MAX);
    a.known &= ~(UINT64_C(1) << PGK_MIB_AllocCount);
    assert_int_equal(pgk_mib_file_value(&a, PGK_MIB_AllocCount), 0);
    pgk_arena_free(&arena);
}

static void histograms_are_added(void **state)
{
    (void)state;
    struct pgk_arena arena = {0};
    uint64_t short_hist[] = {1, 2}, long_hist[] = {10, UINT64_MAX, 30};
    struct pgk_mib a = {.hist = short_hist, .hist_count = 2};
    struct pgk_mib b = {.hist = long_hist, .hist_count = 3};
    assert_true(pgk_mib_add(&a, &b, &arena));
    assert_int_equal(a.hist_count, 3);
    assert_int_equal(a.hist[0], 11);
    assert_int_equal(a.hist[1], UINT64_MAX);
    assert_int_equal(a.hist[2], 30);
    struct pgk_mib none = {0};
    assert_true(pgk_mib_add(&a, &none, &arena));
    assert_int_equal(a.hist_count, 3);
    pgk_mem_fail_after(1);
    struct pgk_mib small = {0};
    assert_false(pgk_mib_add(&small, &b, &(struct pgk_arena){0}));
    pgk_mem_fail_after(0);
    pgk_arena_free(&arena);
}

/* The edges of docs/formats/indexed-heap.md section 7. */
static void labels_are_those_of_the_compiler(void **state)
{
    (void)state;
    struct pgk_mib m = block(8, 0, 0, 0);
    m.v[PGK_MIB_TotalLifetime] = 200000;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 4;
    m.v[PGK_MIB_TotalAccessCount] = 1;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_COLD);
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 5;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 4;
    m.v[PGK_MIB_TotalLifetime] = 199999;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
    m.v[PGK_MIB_AllocCount] = 0;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 100001;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_HOT);
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 10;
    m.v[PGK_MIB_TotalAccessCount] = 0;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_UNUSED);
    m.v[PGK_MIB_TotalAccessCount] = 1;
    m.v[PGK_MIB_TotalLifetime] = 9;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_SHORT_LIVED);
    m.known &= ~(UINT64_C(1) << PGK_MIB_TotalLifetime);
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
}

/* The buffer of stdout of a program that ended at once: its life was short with the program's. */
static void objects_left_at_exit_are_not_short_lived(void **state)
{
    (void)state;
    struct pgk_mib m = block(4096, 0, 0, 0);
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalLifetime] = 0;
    m.v[PGK_MIB_TotalAccessCount] = 1;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = 10;
    pgk_mib_set(&m, PGK_MIB_ExitCount, 0);
    pgk_mib_set(&m, PGK_MIB_ExitSize, 0);
    m.v[PGK_MIB_TotalSize] = 4096;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_SHORT_LIVED);
    assert_int_equal(pgk_mib_short_lived_bytes(&m), 4096);
    m.v[PGK_MIB_ExitCount] = 1;
    m.v[PGK_MIB_ExitSize] = 4096;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
    assert_int_equal(pgk_mib_short_lived_bytes(&m), 0);
    /* One of them was freed, after 9 ms at most; or it may have been 10. */
    m.v[PGK_MIB_AllocCount] = 2;
    m.v[PGK_MIB_TotalSize] = 8192;
    m.v[PGK_MIB_TotalLifetime] = 9;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_SHORT_LIVED);
    assert_int_equal(pgk_mib_short_lived_bytes(&m), 4096);
    m.v[PGK_MIB_TotalSize] = 8191;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
    assert_int_equal(pgk_mib_short_lived_bytes(&m), 4095);
    m.v[PGK_MIB_TotalLifetime] = 10;
    assert_int_equal(pgk_mib_short_lived_bytes(&m), 0);
    m.v[PGK_MIB_ExitCount] = 2000; /* of earlier dumps, too */
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
}

/* A long-lived object, and many short-lived ones, of two stacks of addresses that get one name. */
static void mean_of_merged_contexts_decides_nothing(void **state)
{
    (void)state;
    struct pgk_arena arena = {0};
    struct pgk_mib a = block(5000, 0, 0, 0), b = block(3000, 0, 0, 0);
    a.v[PGK_MIB_TotalAccessCount] = b.v[PGK_MIB_TotalAccessCount] = 1;
    a.v[PGK_MIB_TotalLifetimeAccessDensity] = b.v[PGK_MIB_TotalLifetimeAccessDensity] = 10;
    a.v[PGK_MIB_TotalLifetime] = 1;
    b.v[PGK_MIB_TotalLifetime] = 100000;
    pgk_mib_set(&a, PGK_MIB_ShortLivedSize, pgk_mib_short_lived_bytes(&a));
    pgk_mib_set(&b, PGK_MIB_ShortLivedSize, pgk_mib_short_lived_bytes(&b));
    assert_true(pgk_mib_add(&a, &b, &arena));
    assert_int_equal(pgk_mib_short_lived_bytes(&a), 5000);
    assert_int_equal(pgk_mib_label(&a), PGK_LABEL_SHORT_LIVED);
    assert_true(pgk_mib_add(&a, &b, &arena));
    assert_int_equal(pgk_mib_short_lived_bytes(&a), 5000);
    assert_int_equal(pgk_mib_label(&a), PGK_LABEL_NONE);
    pgk_arena_free(&arena);
}

/* LLVM's next tags are free, and enumerators that programs were compiled with stay. */
static void next_field_of_llvm_meets_no_other(void **state)
{
    (void)state;
    enum pgk_mib_id id;
    for (uint64_t tag = 28; tag < PGK_MIB_OWN_TAGS; tag++)
        assert_false(pgk_mib_by_tag(tag, &id));
    assert_false(pgk_mib_by_tag(0, &id));
    assert_true(pgk_mib_by_tag(27, &id));
    assert_int_equal(id, 26);
    assert_false(pgk_mib_is_own(id));
    assert_true(pgk_mib_by_tag(1000, &id));
    assert_int_equal(id, PGK_MIB_PeakSize);
    assert_true(pgk_mib_is_own(id));
    assert_int_equal(PGK_MIB_PeakSize, 27);
    assert_int_equal(PGK_MIB_UnreachableCount, 37);
    assert_int_equal(PGK_MIB_ShortLivedSize, 38);
    assert_int_equal(PGK_MIB_CutSize, 39);
    assert_int_equal(PGK_MIB_AccessVariance, 44);
}

static void rows_describe_every_field(void **state)
{
    (void)state;
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        const char *unit, *meaning;
        enum pgk_mib_id found = PGK_MIB_FIELDS;
        assert_true(pgk_mib_by_tag(pgk_mib_fields[id].tag, &found));
        assert_int_equal(found, id);
        assert_true(strlen(pgk_mib_info(id, &unit, &meaning)) && *unit && *meaning);
    }
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++)
        assert_true(*pgk_mib_label_rule(l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_object_adds),
        cmocka_unit_test(add_is_commutative_and_associative),
        cmocka_unit_test(every_field_is_added_by_its_rule),
        cmocka_unit_test(histograms_are_added),
        cmocka_unit_test(the_hottest_objects_are_known),
        cmocka_unit_test(labels_are_those_of_the_compiler),
        cmocka_unit_test(objects_left_at_exit_are_not_short_lived),
        cmocka_unit_test(mean_of_merged_contexts_decides_nothing),
        cmocka_unit_test(next_field_of_llvm_meets_no_other),
        cmocka_unit_test(rows_describe_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
