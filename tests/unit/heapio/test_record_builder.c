/* Function records, in which an inlined context stands several times, become one model. */
#include "record_builder.h"

#include "heap_samples.h"

enum { LEAF = 101, MIDDLE, MAIN, STRANGER }; /* GUIDs */

struct built {
    struct pgk_heap *heap;
    struct pgk_record_builder b;
    uint32_t stack; /* leaf, inlined into middle, called from main */
};

static uint32_t frame(struct pgk_heap *h, enum pgk_frame_kind kind, uint64_t guid)
{
    return pgk_heap_frame(h, kind, pgk_heap_func(h, guid, 0, 0, 0), pgk_frame_place(3, 7));
}

static struct built begin(void)
{
    struct built t = {0};
    assert_int_equal(pgk_heap_new(&t.heap, NULL), 0);
    t.b.heap = t.heap;
    const uint32_t frames[] = {frame(t.heap, PGK_FRAME_INLINED, LEAF),
                               frame(t.heap, PGK_FRAME_CALLER, MIDDLE),
                               frame(t.heap, PGK_FRAME_CALLER, MAIN)};
    t.stack = pgk_stack_add(&t.heap->stacks, frames, PGK_COUNTOF(frames));
    return t;
}

static void end(struct built *t)
{
    pgk_record_builder_free(&t->b);
    pgk_heap_close(&t->heap);
}

static void record(struct built *t, uint64_t guid)
{
    assert_int_equal(pgk_record_begin(&t->b, guid, NULL), 0);
}

/* In the record at hand, a block of so many bytes. */
static void alloc(struct built *t, uint32_t stack, uint64_t bytes)
{
    struct pgk_mib m = {.known = UINT64_C(1) << PGK_MIB_AllocCount |
                                 UINT64_C(1) << PGK_MIB_TotalSize};
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalSize] = bytes;
    assert_int_equal(pgk_record_add_alloc(&t->b, stack, &m, NULL), 0);
}

static uint64_t value(const struct built *t, enum pgk_mib_id id)
{
    return pgk_heap_mib(t->heap, pgk_heap_context_at(t->heap, t->stack), PGK_MIB_SPACE)->v[id];
}

static bool by_chain(const struct built *t, uint32_t stack)
{
    return t->heap->contexts.v[pgk_heap_context_at(t->heap, stack)].owned_by_chain;
}

static uint64_t site_guid(const struct built *t, size_t site)
{
    return t->heap->funcs.v[t->heap->sites.v[site].func].guid;
}

static void a_context_of_several_records_counts_once(void **state)
{
    (void)state;
    struct built t = begin();
    record(&t, MIDDLE);
    alloc(&t, t.stack, 40);
    record(&t, LEAF);
    alloc(&t, t.stack, 40);
    assert_int_equal(pgk_record_end(&t.b, NULL), 0);
    assert_int_equal(t.heap->contexts.n, 1);
    assert_int_equal(value(&t, PGK_MIB_AllocCount), 1);
    assert_int_equal(value(&t, PGK_MIB_TotalSize), 40);
    assert_true(by_chain(&t, t.stack));
    assert_int_equal(t.heap->sites.n, 0);
    end(&t);
}

static void equal_stacks_of_the_first_record_add_up(void **state)
{
    (void)state;
    struct built t = begin();
    record(&t, MIDDLE);
    alloc(&t, t.stack, 40);
    alloc(&t, t.stack, 2);
    record(&t, LEAF);
    alloc(&t, t.stack, 40);
    alloc(&t, t.stack, 2);
    assert_int_equal(pgk_record_end(&t.b, NULL), 0);
    assert_int_equal(t.heap->contexts.n, 1);
    assert_int_equal(value(&t, PGK_MIB_AllocCount), 2);
    assert_int_equal(value(&t, PGK_MIB_TotalSize), 42);
    assert_true(by_chain(&t, t.stack));
    assert_int_equal(t.heap->sites.n, 0);
    end(&t);
}

static void a_lone_owner_of_two_is_noted(void **state)
{
    (void)state;
    struct built t = begin();
    record(&t, LEAF);
    alloc(&t, t.stack, 40);
    alloc(&t, t.stack, 40); /* which makes no second owner */
    assert_int_equal(pgk_record_end(&t.b, NULL), 0);
    assert_false(by_chain(&t, t.stack));
    assert_int_equal(t.heap->sites.n, 1);
    assert_int_equal(t.heap->sites.v[0].kind, PGK_SITE_ALLOC);
    assert_int_equal(t.heap->sites.v[0].stack, t.stack);
    assert_int_equal(site_guid(&t, 0), LEAF);
    end(&t);
}

/* It does not count as one of the chain, nor does the caller that the chain ends at. */
static void an_owner_outside_of_the_chain_is_noted(void **state)
{
    (void)state;
    static const uint64_t outside[] = {STRANGER, MAIN};
    for (size_t i = 0; i < PGK_COUNTOF(outside); i++) {
        struct built t = begin();
        record(&t, LEAF);
        alloc(&t, t.stack, 40);
        record(&t, outside[i]);
        alloc(&t, t.stack, 40);
        assert_int_equal(pgk_record_end(&t.b, NULL), 0);
        assert_false(by_chain(&t, t.stack));
        assert_int_equal(t.heap->sites.n, 2);
        end(&t);

        t = begin();
        record(&t, LEAF);
        alloc(&t, t.stack, 40);
        record(&t, outside[i]);
        alloc(&t, t.stack, 40);
        record(&t, MIDDLE);
        alloc(&t, t.stack, 40);
        assert_int_equal(pgk_record_end(&t.b, NULL), 0);
        assert_true(by_chain(&t, t.stack));
        assert_int_equal(t.heap->sites.n, 1);
        assert_int_equal(site_guid(&t, 0), outside[i]);
        end(&t);
    }
}

/* Such records are in no file of LLVM's tools, but a file by hand may have them. */
static void two_records_of_one_function_are_one_owner(void **state)
{
    (void)state;
    struct built t = begin();
    for (int i = 0; i < 2; i++) {
        record(&t, LEAF);
        alloc(&t, t.stack, 40);
    }
    assert_int_equal(pgk_record_end(&t.b, NULL), 0);
    assert_int_equal(value(&t, PGK_MIB_AllocCount), 1);
    assert_false(by_chain(&t, t.stack));
    assert_int_equal(t.heap->sites.n, 1);
    end(&t);
}

/* A mark stands for owners as long as the chain is short enough to be looked through. */
static void owners_of_long_chains_are_noted_one_by_one(void **state)
{
    (void)state;
    for (uint32_t length = 32; length <= 33; length++) {
        struct built t = begin();
        uint32_t frames[33];
        for (uint32_t i = 0; i < length; i++)
            frames[i] = frame(t.heap, i + 1 < length ? PGK_FRAME_INLINED : PGK_FRAME_CALLER,
                              1000 + i);
        uint32_t stack = pgk_stack_add(&t.heap->stacks, frames, length);
        for (uint32_t i = 0; i < length; i++) {
            record(&t, 1000 + i);
            alloc(&t, stack, 8);
        }
        assert_int_equal(pgk_record_end(&t.b, NULL), 0);
        assert_int_equal(by_chain(&t, stack), length == 32);
        assert_int_equal(t.heap->sites.n, length == 32 ? 0 : 33);
        end(&t);
    }
}

static void calls_are_sites_of_their_record(void **state)
{
    (void)state;
    struct built t = begin();
    static const uint64_t first[] = {9, 5}, second[] = {7, 9}, callees[] = {5, 7, 9};
    record(&t, MIDDLE);
    assert_int_equal(pgk_record_add_call(&t.b, t.stack, first, 2, NULL), 0);
    assert_int_equal(pgk_record_add_call(&t.b, t.stack, second, 2, NULL), 0);
    record(&t, LEAF);
    assert_int_equal(pgk_record_add_call(&t.b, t.stack, NULL, 0, NULL), 0);
    assert_int_equal(pgk_record_end(&t.b, NULL), 0);
    assert_int_equal(t.heap->contexts.n, 0);
    assert_int_equal(t.heap->sites.n, 2);
    const struct pgk_heap_site *s = t.heap->sites.v;
    assert_int_equal(s[0].kind, PGK_SITE_CALL);
    assert_int_equal(site_guid(&t, 0), MIDDLE);
    assert_int_equal(s[0].n_callees, PGK_COUNTOF(callees));
    assert_memory_equal(s[0].callees, callees, sizeof callees);
    assert_int_equal(site_guid(&t, 1), LEAF);
    assert_int_equal(s[1].n_callees, 0);
    end(&t);
}

static int build_all(struct built *t, struct pgk_err *err)
{
    const struct pgk_mib m = {.known = 1, .v = {1}};
    const uint64_t callee = 5;
    for (uint64_t guid = LEAF; guid <= STRANGER; guid += STRANGER - LEAF) {
        PGK_TRY(pgk_record_begin(&t->b, guid, err));
        PGK_TRY(pgk_record_add_alloc(&t->b, t->stack, &m, err));
        PGK_TRY(pgk_record_add_call(&t->b, t->stack, &callee, 1, err));
    }
    return pgk_record_end(&t->b, err);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM, failures = -1;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++, failures++) {
        struct built t = begin();
        struct pgk_err err = {0};
        pgk_mem_fail_after(nth);
        status = build_all(&t, &err);
        pgk_mem_fail_after(0);
        assert_int_equal(err.status, status);
        end(&t);
        assert_in_range(nth, 1, 100);
    }
    assert_int_equal(status, 0);
    assert_true(failures > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_of_several_records_counts_once),
        cmocka_unit_test(equal_stacks_of_the_first_record_add_up),
        cmocka_unit_test(a_lone_owner_of_two_is_noted),
        cmocka_unit_test(an_owner_outside_of_the_chain_is_noted),
        cmocka_unit_test(two_records_of_one_function_are_one_owner),
        cmocka_unit_test(owners_of_long_chains_are_noted_one_by_one),
        cmocka_unit_test(calls_are_sites_of_their_record),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
