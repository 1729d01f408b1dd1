/* The versions of the heap data in an indexed profile. */
#include "memprof_version.h"

#include "pgk_test.h"
#include "pgokit/heap.h"

static void every_version_has_its_row(void **state)
{
    (void)state;
    for (uint32_t version = 0; version <= PGK_MEMPROF_NOW; version++) {
        const struct pgk_memprof_version *v = pgk_memprof_version(version);
        assert_non_null(v);
        assert_int_equal(v->version, version);
        assert_true(v->since <= v->until && v->since <= v->since_later);
    }
    assert_null(pgk_memprof_version(PGK_MEMPROF_NOW + 1));
    assert_null(pgk_memprof_version(UINT64_MAX));
}

/* Readers tell it from the others by the word that is missing. */
static void only_the_first_has_no_word(void **state)
{
    (void)state;
    for (uint32_t version = 0; version <= PGK_MEMPROF_NOW; version++)
        assert_int_equal(pgk_memprof_version(version)->word, version > 0);
}

#define BIT(id) (UINT64_C(1) << PGK_MIB_##id)
#define OF_COMPILERS \
    (BIT(AllocCount) | BIT(TotalSize) | BIT(TotalLifetime) | BIT(TotalLifetimeAccessDensity))

/* The schema for contexts that know these fields each; 0 ends them. */
static uint64_t schema(uint32_t version, bool full, const uint64_t *known)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (uint32_t i = 0; known[i]; i++) {
        uint32_t func = pgk_heap_func(h, 7 + i, 0, 0, 0),
                 frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func, 0),
                 node = pgk_stack_push(&h->stacks, 0, frame);
        assert_int_equal(pgk_heap_add(h, node, &(struct pgk_mib){.known = known[i]}, NULL), 0);
    }
    uint64_t fields = pgk_memprof_schema(pgk_memprof_version(version), h, full);
    pgk_heap_close(&h);
    return fields;
}

static void old_versions_have_all_fields_that_they_know(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        uint64_t fields = schema(0, full, (uint64_t[]){OF_COMPILERS, 0});
        assert_true(fields & BIT(MinSize));
        assert_true(fields & BIT(MaxLifetimeAccessDensity));
        assert_false(fields & (BIT(AccessHistogramSize) | BIT(AccessHistogram)));
    }
}

/* What no context knows would be read as 0. */
static void new_versions_have_what_any_context_knows(void **state)
{
    const uint64_t llvm = pgk_mib_llvm_known;
    (void)state;
    assert_int_equal(schema(PGK_MEMPROF_NOW, false, (uint64_t[]){llvm, 0}), OF_COMPILERS);
    assert_int_equal(schema(PGK_MEMPROF_NOW, true, (uint64_t[]){OF_COMPILERS, 0}), OF_COMPILERS);
    assert_int_equal(schema(PGK_MEMPROF_NOW, true, (uint64_t[]){llvm | BIT(PeakSize), 0}),
                     llvm | BIT(AccessHistogram));
    assert_int_equal(schema(PGK_MEMPROF_NOW, true,
                            (uint64_t[]){OF_COMPILERS, OF_COMPILERS | BIT(MinSize), 0}),
                     OF_COMPILERS | BIT(MinSize));
}

static void what_is_not_known_needs_its_sign(void **state)
{
    const uint64_t sizes = BIT(AllocCount) | BIT(TotalSize),
                   accesses = OF_COMPILERS | BIT(TotalAccessCount);
    (void)state;
    assert_int_equal(schema(PGK_MEMPROF_NOW, false, (uint64_t[]){sizes, 0}),
                     OF_COMPILERS | BIT(MinLifetime));
    assert_int_equal(schema(PGK_MEMPROF_NOW, true, (uint64_t[]){sizes, 0}),
                     OF_COMPILERS | BIT(MinLifetime) | BIT(MinLifetimeAccessDensity));
    assert_int_equal(schema(PGK_MEMPROF_NOW, true, (uint64_t[]){accesses, OF_COMPILERS, 0}),
                     accesses | BIT(MinAccessCount));
}

static void callees_came_with_version_4(void **state)
{
    (void)state;
    for (uint32_t version = 0; version <= PGK_MEMPROF_NOW; version++)
        assert_int_equal(pgk_memprof_holds_callees(version), version == 4);
    assert_false(pgk_memprof_holds_callees(PGK_MEMPROF_NOW + 1));
}

static void releases_make_the_newest_frame_ids_that_they_know(void **state)
{
    (void)state;
    assert_int_equal(pgk_memprof_frame_ids(16), 1);
    assert_int_equal(pgk_memprof_frame_ids(21), 1);
    assert_int_equal(pgk_memprof_frame_ids(22), 2);
    assert_int_equal(pgk_memprof_frame_ids(23), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_has_its_row),
        cmocka_unit_test(only_the_first_has_no_word),
        cmocka_unit_test(old_versions_have_all_fields_that_they_know),
        cmocka_unit_test(new_versions_have_what_any_context_knows),
        cmocka_unit_test(what_is_not_known_needs_its_sign),
        cmocka_unit_test(callees_came_with_version_4),
        cmocka_unit_test(releases_make_the_newest_frame_ids_that_they_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
