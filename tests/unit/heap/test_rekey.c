/* Merging models, and taking names away. */
#include "rekey.h"

#include "heap_samples.h"

static struct pgk_heap *sample(uint64_t seed, unsigned contexts)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, seed, contexts, 9, true);
    return h;
}

/* Every context of `part` is in `whole`, by stack. */
static size_t find_context(const struct pgk_heap *whole, const struct pgk_heap *part,
                           size_t context)
{
    struct pgk_heap_frame want[16], have[16];
    size_t n = pgk_heap_stack(part, context, want, 16);
    for (size_t c = 0; c < pgk_heap_contexts(whole); c++) {
        if (pgk_heap_stack(whole, c, have, 16) != n)
            continue;
        size_t same = 0;
        while (same < n && want[same].guid == have[same].guid &&
               want[same].line_offset == have[same].line_offset &&
               want[same].column == have[same].column && want[same].inlined == have[same].inlined)
            same++;
        if (same == n)
            return c;
    }
    fail_msg("context %zu is missing", context);
    return 0;
}

static void merged_contexts_add_up(void **state)
{
    (void)state;
    struct pgk_heap *a = sample(1, 40), *b = sample(2, 40), *sum;
    assert_int_equal(pgk_heap_new(&sum, NULL), 0);
    assert_int_equal(pgk_heap_merge(sum, a, NULL), 0);
    assert_int_equal(pgk_heap_merge(sum, b, NULL), 0);
    assert_int_equal(pgk_heap_merge(sum, a, NULL), 0);
    uint64_t total = 0, want = 0;
    for (size_t c = 0; c < pgk_heap_contexts(sum); c++)
        total += pgk_heap_mib(sum, c, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize];
    for (size_t c = 0; c < pgk_heap_contexts(a); c++) {
        want += 2 * pgk_heap_mib(a, c, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize];
        find_context(sum, a, c);
    }
    for (size_t c = 0; c < pgk_heap_contexts(b); c++) {
        want += pgk_heap_mib(b, c, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize];
        find_context(sum, b, c);
    }
    assert_int_equal(total, want);
    pgk_heap_close(&a);
    pgk_heap_close(&b);
    pgk_heap_close(&sum);
}

static int count_callees(void *ctx, const struct pgk_heap_record *r)
{
    size_t *n = ctx;
    for (size_t i = 0; i < r->n_call_sites; i++) {
        for (size_t c = 1; c < r->call_sites[i].n_callees; c++)
            assert_true(r->call_sites[i].callees[c - 1] < r->call_sites[i].callees[c]);
        *n += r->call_sites[i].n_callees;
    }
    return 0;
}

/* Call sites are a set, and so are their callees: merging twice changes nothing. */
static void sites_are_sets(void **state)
{
    (void)state;
    struct pgk_heap *a = sample(7, 60), *twice;
    size_t once = 0, after = 0;
    assert_int_equal(pgk_heap_new(&twice, NULL), 0);
    assert_int_equal(pgk_heap_merge(twice, a, NULL), 0);
    assert_int_equal(pgk_heap_merge(twice, a, NULL), 0);
    assert_int_equal(a->sites.n, twice->sites.n);
    assert_int_equal(pgk_heap_records(a, count_callees, &once), 0);
    assert_int_equal(pgk_heap_records(twice, count_callees, &after), 0);
    assert_true(once > 0);
    assert_int_equal(once, after);
    pgk_heap_close(&a);
    pgk_heap_close(&twice);
}

/* Two static functions of one name: apart in the model, one GUID in LLVM's files. */
static void what_is_the_same_for_llvm_is_added_up(void **state)
{
    (void)state;
    struct pgk_heap *h, *plain = NULL, *again = NULL;
    uint64_t seed = 5;
    struct pgk_mib m = sample_mib(&seed);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (int i = 0; i < 2; i++) {
        uint32_t func = pgk_heap_func(h, 42, pgk_intern_cstr(&h->strings, "make"),
                                      pgk_intern_cstr(&h->strings, i ? "a.c" : "b.c"), 10);
        uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(1, 2));
        uint32_t node = pgk_stack_add(&h->stacks, &frame, 1);
        assert_int_equal(pgk_heap_add(h, node, &m, NULL), 0);
        pgk_heap_own_by_chain(h, node);
    }
    assert_int_equal(pgk_heap_contexts(h), 2);
    assert_int_equal(pgk_heap_for_llvm(&plain, h, NULL), 0);
    assert_int_equal(pgk_heap_contexts(plain), 1);
    assert_int_equal(pgk_heap_mib(plain, 0, PGK_MIB_SPACE)->v[PGK_MIB_AllocCount], 2);
    assert_true(plain->contexts.v[0].owned_by_chain);
    assert_int_equal(pgk_heap_for_llvm(&again, plain, NULL), 0);
    assert_null(again); /* it is one already */
    pgk_heap_close(&h);
    pgk_heap_close(&plain);
}

/* A call 70000 lines below its function, or above it behind a #line: compilers compare 16 bits. */
static void lines_far_from_their_function(void **state)
{
    (void)state;
    struct pgk_heap *h, *plain = NULL;
    uint64_t seed = 6;
    const uint32_t offsets[] = {70000, 70000 - 65536, (uint32_t)-400};
    struct pgk_mib m = sample_mib(&seed);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    uint32_t func = pgk_heap_func(h, 42, 0, 0, 0);
    for (size_t i = 0; i < PGK_COUNTOF(offsets); i++) {
        uint32_t frame =
            pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(offsets[i], 2));
        assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, &frame, 1), &m, NULL), 0);
    }
    assert_int_equal(pgk_heap_for_llvm(&plain, h, NULL), 0);
    assert_int_equal(pgk_heap_contexts(plain), 2);
    struct pgk_heap_frame f;
    pgk_heap_stack(plain, 0, &f, 1);
    assert_int_equal(f.line_offset, 4464);
    assert_int_equal(pgk_heap_mib(plain, 0, PGK_MIB_SPACE)->v[PGK_MIB_AllocCount], 2);
    pgk_heap_stack(plain, 1, &f, 1);
    assert_int_equal(f.line_offset, 65136);
    pgk_heap_stack(h, 2, &f, 1);
    assert_int_equal(f.line_offset, (uint32_t)-400); /* the model keeps what was recorded */
    pgk_heap_close(&h);
    pgk_heap_close(&plain);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct pgk_heap *a = sample(9, 30);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_heap *copy = NULL;
        pgk_mem_fail_after(nth);
        status = pgk_heap_new(&copy, NULL);
        if (!status)
            status = pgk_heap_merge(copy, a, NULL);
        pgk_mem_fail_after(0);
        pgk_heap_close(&copy);
        assert_in_range(nth, 1, 2000);
    }
    assert_int_equal(status, 0);
    pgk_heap_close(&a);
}

static void functions_of_the_same_name(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_heap_same_named found = {.struct_size = sizeof found};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    uint32_t a = pgk_intern_cstr(&h->strings, "a.c"), b = pgk_intern_cstr(&h->strings, "b.c"),
             init = pgk_intern_cstr(&h->strings, "init"), run = pgk_intern_cstr(&h->strings, "run");
    pgk_heap_func(h, 1, init, a, 10);
    pgk_heap_func(h, 2, run, a, 20);
    pgk_heap_func(h, 3, 0, 0, 0);
    assert_int_equal(pgk_heap_same_named(h, &found, NULL), 0);
    assert_int_equal(found.functions, 0);
    pgk_heap_func(h, 1, init, b, 5);
    pgk_heap_func(h, 1, 0, 0, 0); /* may be any of them */
    assert_int_equal(pgk_heap_same_named(h, &found, NULL), 0);
    assert_int_equal(found.functions, 1);
    assert_string_equal(found.name, "init");
    assert_string_equal(found.files[0], "a.c");
    assert_string_equal(found.files[1], "b.c");
    pgk_heap_close(&h);
}

static struct pgk_heap *with_path(const char *path)
{
    struct pgk_heap *h;
    struct pgk_mib m = {0};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    uint32_t func = pgk_heap_func(h, 1, pgk_intern_cstr(&h->strings, "f"), 0, 0);
    pgk_heap_note_func_path(h, func, pgk_intern_cstr(&h->strings, path));
    uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(1, 1));
    assert_int_equal(pgk_heap_add(h, pgk_stack_push(&h->stacks, 0, frame), &m, NULL), 0);
    return h;
}

/* A function that several files have, as an inline function of a header, is in the first by bytes,
 * whichever profile is read first; one of which nothing is known takes the other's. */
static void path_of_a_function_is_the_first_by_bytes(void **state)
{
    (void)state;
    static const char *const orders[][2] = {{"/a.so", "/b.so"}, {"/b.so", "/a.so"}, {"", "/a.so"}};
    for (size_t i = 0; i < PGK_COUNTOF(orders); i++) {
        struct pgk_heap *sum;
        struct pgk_heap_frame frame;
        assert_int_equal(pgk_heap_new(&sum, NULL), 0);
        for (size_t k = 0; k < 2; k++) {
            struct pgk_heap *h = with_path(orders[i][k]);
            assert_int_equal(pgk_heap_merge(sum, h, NULL), 0);
            pgk_heap_close(&h);
        }
        assert_int_equal(pgk_heap_contexts(sum), 1);
        assert_int_equal(pgk_heap_stack(sum, 0, &frame, 1), 1);
        assert_string_equal(frame.module_path, "/a.so");
        pgk_heap_close(&sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_contexts_add_up),
        cmocka_unit_test(sites_are_sets),
        cmocka_unit_test(what_is_the_same_for_llvm_is_added_up),
        cmocka_unit_test(lines_far_from_their_function),
        cmocka_unit_test(out_of_memory_anywhere),
        cmocka_unit_test(functions_of_the_same_name),
        cmocka_unit_test(path_of_a_function_is_the_first_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
