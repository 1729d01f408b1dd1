/* Records of several modules against a heap profile: which outcome counts, and what links did. */
#include "pgk_test.h"
#include "use_sum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONTEXTS = 4, SIZE = 1000 };

/* Contexts of 1000, 2000, ... bytes; the last one is accessed. */
static struct pgk_heap *make_heap(uint64_t keys[CONTEXTS])
{
    struct pgk_heap *heap;
    assert_int_equal(pgk_heap_new(&heap, NULL), 0);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        const struct pgk_heap_frame frame = {.function = "allocate", .line_offset = i + 1};
        const struct pgk_heap_value values[] = {
            {PGK_MIB_AllocCount, 1}, {PGK_MIB_TotalSize, (i + 1) * SIZE},
            {PGK_MIB_TotalAccessCount, i + 1 == CONTEXTS ? 1000000 : 0},
            {PGK_MIB_TotalLifetime, 5000},
        };
        const struct pgk_heap_allocation a = {.struct_size = sizeof a, .frames = &frame,
            .n_frames = 1, .values = values, .n_values = PGK_COUNTOF(values)};
        struct pgk_heap_frame stack;
        assert_int_equal(pgk_heap_build_context(heap, &a, NULL), 0);
        assert_int_equal(pgk_heap_stack(heap, i, &stack, 1), 1);
        keys[i] = pgk_use_context_key(&stack, 1);
    }
    return heap;
}

static void write_record(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "pgokit-use-record 1\nmodule %s\n%send\n", name, text);
    assert_int_equal(fclose(out), 0);
}

static void the_best_outcome_counts(void **state)
{
    (void)state;
    char folder[] = "/tmp/pgokit-used-XXXXXX", text[256], command[64];
    uint64_t keys[CONTEXTS];
    struct pgk_heap *heap = make_heap(keys);
    struct pgk_used *used = NULL;
    struct pgk_err err;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(pgk_used_heap(&used, heap, folder, &err), PGK_E_EMPTY);
    write_record(folder, "other.used", "profile heap 9 9\n");
    assert_int_equal(pgk_used_heap(&used, heap, folder, &err), PGK_E_MISMATCH);

    static const char head[] = "profile heap 4 10000\nlimits 0.1 0.1 0 0\n";
    snprintf(text, sizeof text, "%suse %d %" PRIx64 " 0\nuse %d %" PRIx64 " 77\ncalls 1 1 0\n",
             head, PGK_USE_NO_CALL, keys[0], PGK_USE_IN_LINK, keys[1]);
    write_record(folder, "a.used", text);
    snprintf(text, sizeof text, "%suse %d %" PRIx64 " 0\ncalls 1 0 2\n", head, PGK_USE_HINTED,
             keys[0]);
    write_record(folder, "b.used", text);
    assert_int_equal(pgk_used_heap(&used, heap, folder, &err), 0);
    assert_int_equal(used->totals[PGK_USE_HINTED].weight, 1 * SIZE);
    assert_int_equal(used->totals[PGK_USE_IN_LINK].weight, 2 * SIZE);
    assert_int_equal(used->totals[PGK_USE_NO_FUNCTION].weight, 3 * SIZE);
    assert_int_equal(used->totals[PGK_USE_ACCESSED].weight, 4 * SIZE);
    assert_int_equal(used->totals[PGK_USES].weight, 10 * SIZE);
    assert_true(pgk_used_percent(used) > 16.6 && pgk_used_percent(used) < 16.7);
    assert_int_equal(used->left.n, 2);
    assert_int_equal(used->left.v[0].context, 2);
    assert_int_equal(used->left.v[0].use, PGK_USE_NO_FUNCTION);
    const struct pgk_used_calls *calls = &used->calls;
    assert_int_equal(calls->modules * 10000 + calls->others * 1000 + calls->given * 100 +
                     calls->missed * 10 + calls->unlocated, 21212);
    pgk_used_close(&used);

    write_record(folder, "link.used", "profile link 0 0\nhinted 77\ncalls 1 0 0\n");
    assert_int_equal(pgk_used_heap(&used, heap, folder, &err), 0);
    assert_int_equal(used->totals[PGK_USE_HINTED].weight, 3 * SIZE);
    pgk_used_close(&used);

    write_record(folder, "damaged.used", "use\n");
    assert_int_equal(pgk_used_heap(&used, heap, folder, &err), PGK_E_CORRUPT);
    assert_non_null(strstr(err.file, "damaged.used"));
    assert_null(used);
    pgk_heap_close(&heap);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* Cold, accessed or neither for certain: the first two and the last two have the same estimates. */
static void samples_that_do_not_suffice_are_undecided(void **state)
{
    (void)state;
    static const struct {
        uint64_t samples, accesses;
        enum pgk_use density, share; /* by either limit */
    } all[] = {{400, 400, PGK_USE_HINTED, PGK_USE_HINTED},
               {400, 40000000, PGK_USE_GIVEN, PGK_USE_ACCESSED},
               {3, 400, PGK_USE_UNDECIDED, PGK_USE_UNDECIDED},
               {3, 40000000, PGK_USE_UNDECIDED, PGK_USE_ACCESSED}};
    struct pgk_use_limits limits = {.struct_size = sizeof limits, .cold_lifetime = 200,
                                    .cold_density = 0.05, .hot_density = 1};
    struct pgk_heap *heap;
    uint8_t classes[PGK_COUNTOF(all)];
    assert_int_equal(pgk_heap_new(&heap, NULL), 0);
    for (uint32_t i = 0; i < PGK_COUNTOF(all); i++) {
        const struct pgk_heap_frame frame = {.function = "allocate", .line_offset = i + 1};
        const uint64_t n = all[i].samples, accesses = all[i].accesses, each = accesses / 400;
        const struct pgk_heap_value values[] = {
            {PGK_MIB_AllocCount, 400}, {PGK_MIB_TotalSize, 40000}, {PGK_MIB_MinSize, 100},
            {PGK_MIB_MaxSize, 100}, {PGK_MIB_TotalAccessCount, accesses},
            {PGK_MIB_TotalLifetime, 400 * 300000}, {PGK_MIB_MinLifetime, 300000},
            {PGK_MIB_MaxLifetime, 300000}, {PGK_MIB_TotalLifetimeAccessDensity, 400 * each / 300},
            {PGK_MIB_MinLifetimeAccessDensity, each / 300},
            {PGK_MIB_MaxLifetimeAccessDensity, each / 300}, {PGK_MIB_SampleCount, n},
            {PGK_MIB_SampleHits, n}, {PGK_MIB_CountVariance, 160000 / n},
            {PGK_MIB_SizeVariance, UINT64_C(1600000000) / n},
            {PGK_MIB_AccessVariance, accesses * accesses / n},
        };
        const struct pgk_heap_allocation a = {.struct_size = sizeof a, .frames = &frame,
            .n_frames = 1, .values = values, .n_values = PGK_COUNTOF(values)};
        assert_int_equal(pgk_heap_build_context(heap, &a, NULL), 0);
    }
    assert_int_equal(pgk_use_classify(heap, &limits, classes, NULL), 0);
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        assert_int_equal(classes[i], all[i].density);
    limits.cold_density = limits.hot_density = 0;
    limits.cold_share = 0.1;
    assert_int_equal(pgk_use_classify(heap, &limits, classes, NULL), 0);
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        assert_int_equal(classes[i], all[i].share);
    pgk_heap_close(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_outcome_counts),
        cmocka_unit_test(samples_that_do_not_suffice_are_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
