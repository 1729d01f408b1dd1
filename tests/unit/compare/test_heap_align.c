#include "heap_align.h"
#include "heap_samples.h"
#include "pgk_test.h"

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

/* A context main:1 -> function `guid` at `line`, with so many bytes. */
static void add(struct pgk_heap *h, uint64_t guid, uint32_t line, uint64_t bytes)
{
    struct pgk_mib m = {.known = UINT64_C(1) << PGK_MIB_TotalSize |
                                 UINT64_C(1) << PGK_MIB_AllocCount};
    m.v[PGK_MIB_TotalSize] = bytes;
    m.v[PGK_MIB_AllocCount] = 1;
    uint32_t top = pgk_heap_frame(h, PGK_FRAME_CALLER, pgk_heap_func(h, 1, 0, 0, 0), 1);
    uint32_t leaf = pgk_heap_frame(h, PGK_FRAME_CALLER, pgk_heap_func(h, guid, 0, 0, 0),
                                   pgk_frame_place(line, 1));
    uint32_t stack = pgk_stack_push(&h->stacks, pgk_stack_push(&h->stacks, 0, top), leaf);
    assert_int_equal(pgk_heap_add(h, stack, &m, NULL), 0);
}

static void expect_pair(const struct pgk_heap_alignment *a, size_t i, uint32_t now,
                        uint32_t before, bool moved)
{
    assert_int_equal(a->pairs[i].now, now);
    assert_int_equal(a->pairs[i].before, before);
    assert_int_equal(a->pairs[i].moved, moved);
}

static void equal_moved_new_and_gone(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap();
    struct pgk_heap_alignment a;
    add(before, 10, 5, 100);
    add(before, 20, 30, 1); /* to 33 */
    add(before, 20, 7, 2);  /* to 9 */
    add(before, 30, 1, 50); /* gone */
    add(now, 20, 9, 4);
    add(now, 10, 5, 100);
    add(now, 20, 33, 3);
    add(now, 20, 40, 8);    /* new: two of three have a partner */
    add(now, 40, 1, 70);    /* new */
    assert_int_equal(pgk_heap_align(&a, now, before, NULL), 0);
    assert_int_equal(a.n, 6);
    expect_pair(&a, 0, 0, 2, true);
    expect_pair(&a, 1, 1, 0, false);
    expect_pair(&a, 2, 2, 1, true);
    expect_pair(&a, 3, 3, PGK_NO_CONTEXT, false);
    expect_pair(&a, 4, 4, PGK_NO_CONTEXT, false);
    expect_pair(&a, 5, PGK_NO_CONTEXT, 3, false);
    pgk_heap_alignment_free(&a);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
}

static void overlap_of_two_profiles(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap(), *none = new_heap();
    struct pgk_heap_alignment a;
    add(before, 10, 1, 75);
    add(before, 20, 1, 25);
    add(now, 10, 1, 100);
    add(now, 30, 1, 100);
    assert_int_equal(pgk_heap_align(&a, now, before, NULL), 0);
    assert_true(pgk_heap_overlap(&a, now, before) == 0.5);
    pgk_heap_alignment_free(&a);
    assert_int_equal(pgk_heap_align(&a, now, none, NULL), 0);
    assert_true(pgk_heap_overlap(&a, now, none) == 0);
    pgk_heap_alignment_free(&a);
    assert_int_equal(pgk_heap_align(&a, none, none, NULL), 0);
    assert_true(pgk_heap_overlap(&a, none, none) == 1);
    pgk_heap_alignment_free(&a);
    pgk_heap_close(&before);
    pgk_heap_close(&now);
    pgk_heap_close(&none);
}

static void change_of_a_context(void **state)
{
    (void)state;
    struct pgk_mib a = {.known = pgk_mib_llvm_known}, b = a;
    a.v[PGK_MIB_TotalSize] = b.v[PGK_MIB_TotalSize] = 100;
    a.v[PGK_MIB_TotalAccessCount] = b.v[PGK_MIB_TotalAccessCount] = 50;
    assert_int_equal(pgk_heap_change(&a, NULL), PGK_CHANGE_NEW);
    assert_int_equal(pgk_heap_change(NULL, &b), PGK_CHANGE_GONE);
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_SAME);
    a.v[PGK_MIB_TotalSize] = 109;
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_SAME);
    a.v[PGK_MIB_TotalSize] = 111;
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_GREW);
    a.v[PGK_MIB_TotalSize] = 89;
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_SHRANK);
    a.v[PGK_MIB_TotalSize] = 100;
    a.v[PGK_MIB_TotalAccessCount] = 25;
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_COOLED);
    a.v[PGK_MIB_TotalAccessCount] = 100;
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_WARMED);
    a.known = b.known = UINT64_C(1) << PGK_MIB_TotalSize;
    assert_int_equal(pgk_heap_change(&a, &b), PGK_CHANGE_SAME);
    /* Of estimates, a change is one that their intervals do not explain. */
    a.v[PGK_MIB_TotalSize] = 150;
    b.v[PGK_MIB_TotalSize] = 100;
    for (uint64_t n = 4; n <= 400; n *= 100) {
        pgk_mib_set(&b, PGK_MIB_SampleCount, n);
        pgk_mib_set(&b, PGK_MIB_SizeVariance, 100 * 100 / n);
        assert_int_equal(pgk_heap_change(&a, &b), n == 4 ? PGK_CHANGE_SAME : PGK_CHANGE_GREW);
    }
}

/* Each context of both sides stands in one pair; equal stacks stand together. */
static void every_context_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct pgk_heap *before = new_heap(), *now = new_heap();
        struct pgk_heap_alignment a;
        size_t left = 0;
        sample_fill(before, seed, 60, 8, false);
        sample_fill(now, seed, 30, 8, false);
        sample_fill(now, seed + 1000, 30, 8, false);
        assert_int_equal(pgk_heap_align(&a, now, before, NULL), 0);
        bool *seen = calloc(pgk_heap_contexts(before), sizeof *seen);
        for (size_t i = 0; i < a.n; i++) {
            uint32_t b = a.pairs[i].before;
            if (i < pgk_heap_contexts(now))
                assert_int_equal(a.pairs[i].now, i);
            else
                left++;
            if (b == PGK_NO_CONTEXT)
                continue;
            assert_false(seen[b]);
            seen[b] = true;
        }
        for (size_t c = 0; c < pgk_heap_contexts(before); c++)
            assert_true(seen[c]);
        assert_int_equal(a.n, pgk_heap_contexts(now) + left);
        free(seen);
        pgk_heap_alignment_free(&a);
        pgk_heap_close(&before);
        pgk_heap_close(&now);
    }
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct pgk_heap *before = new_heap(), *now = new_heap();
    sample_fill(before, 3, 20, 6, false);
    sample_fill(now, 4, 20, 6, false);
    for (uint64_t nth = 1, failed = 1; failed; nth++) {
        struct pgk_heap_alignment a;
        pgk_mem_fail_after(nth);
        int status = pgk_heap_align(&a, now, before, NULL);
        pgk_mem_fail_after(0);
        failed = status != 0;
        assert_true(!status || status == PGK_E_NOMEM);
        if (!status)
            pgk_heap_alignment_free(&a);
    }
    pgk_heap_close(&before);
    pgk_heap_close(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_moved_new_and_gone),
        cmocka_unit_test(overlap_of_two_profiles),
        cmocka_unit_test(change_of_a_context),
        cmocka_unit_test(every_context_once),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
