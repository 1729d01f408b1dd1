/* Pruning, each rule by itself and against a plain version. */
#include "heap_samples.h"

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

/* Functions are letters; a small one is inlined into the next. "Mabc": M allocates, c is the
 * program's entry. Each context has `bytes` in one object. */
static void add_stack(struct pgk_heap *h, const char *stack, uint64_t bytes)
{
    uint32_t node = 0;
    struct pgk_mib m = {.known = (UINT64_C(1) << PGK_MIB_AccessHistogram) - 1};
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalSize] = bytes;
    for (size_t i = strlen(stack); i-- > 0;) {
        bool inlined = stack[i] >= 'a';
        uint32_t func = pgk_heap_func(h, (uint64_t)(stack[i] & 0x1f), 0, 0, 0);
        uint32_t frame = pgk_heap_frame(h, inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func, 0);
        node = pgk_stack_push(&h->stacks, node, frame);
        if (!inlined) {
            uint32_t chain = pgk_stack_add(&h->stacks, &frame, 1);
            assert_int_equal(pgk_heap_add_site(h, PGK_SITE_CALL, func, chain, NULL, 0, NULL), 0);
        }
    }
    assert_int_equal(pgk_heap_add(h, node, &m, NULL), 0);
    pgk_heap_own_by_chain(h, node);
}

static const char *stack_text(char text[64], const struct pgk_heap *h, size_t context)
{
    struct pgk_heap_frame frames[63];
    size_t n = pgk_heap_stack(h, context, frames, 63);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(frames[i].guid | (frames[i].inlined ? 0x60 : 0x40));
    text[n] = 0;
    return text;
}

static struct pgk_heap *pruned(const struct pgk_heap *h, struct pgk_heap_prune_opts opts,
                               struct pgk_heap_pruned *done)
{
    struct pgk_heap *to = NULL;
    struct pgk_err err = {0};
    char buf[8192];
    opts.struct_size = sizeof opts;
    if (pgk_heap_prune(&to, h, &opts, done, &err))
        fail_msg("%s", test_printed(buf, &err));
    return to;
}

static void assert_stacks(const struct pgk_heap *h, size_t n, const char *const *want)
{
    char text[64];
    assert_int_equal(pgk_heap_contexts(h), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(stack_text(text, h, i), want[i]);
}

#define STACKS(h, ...)                                              \
    assert_stacks(h, PGK_COUNTOF(((const char *const[]){__VA_ARGS__})), \
                  (const char *const[]){__VA_ARGS__})

static void small_contexts_go(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    struct pgk_heap_pruned done = {.struct_size = sizeof done};
    add_stack(h, "MAC", 10);
    add_stack(h, "MBC", 100);
    add_stack(h, "MBD", 1000);
    struct pgk_heap *to = pruned(h, (struct pgk_heap_prune_opts){.min_bytes = 100}, &done);
    STACKS(to, "MBC", "MBD");
    assert_int_equal(done.contexts, 3);
    assert_int_equal(done.contexts_left, 2);
    assert_int_equal(done.bytes, 1110);
    assert_int_equal(done.bytes_left, 1100);
    /* A is in no stack any more, so its call is not a site. */
    assert_int_equal(h->sites.n, 5);
    assert_int_equal(to->sites.n, 4);
    assert_true(to->contexts.v[0].owned_by_chain);
    pgk_heap_close(&to);

    struct pgk_heap_prune_opts none_left = {.struct_size = sizeof none_left, .min_count = 2};
    struct pgk_err err = {0};
    assert_int_equal(pgk_heap_prune(&to, h, &none_left, NULL, &err), PGK_E_EMPTY);
    assert_null(to);
    pgk_heap_close(&h);
}

static void labels_choose(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    add_stack(h, "MA", 1);
    add_stack(h, "MB", 1);
    add_stack(h, "MC", 1);
    sample_set(h, 0, PGK_MIB_TotalLifetime, 300000);
    sample_set(h, 1, PGK_MIB_TotalLifetimeAccessDensity, 1000000);
    sample_set(h, 2, PGK_MIB_TotalLifetimeAccessDensity, 100);
    struct pgk_heap *to = pruned(h, (struct pgk_heap_prune_opts){.cold_only = true}, NULL);
    STACKS(to, "MA");
    pgk_heap_close(&to);
    to = pruned(h, (struct pgk_heap_prune_opts){.hot_only = true}, NULL);
    STACKS(to, "MB");
    pgk_heap_close(&to);
    to = pruned(h, (struct pgk_heap_prune_opts){.cold_only = true, .hot_only = true}, NULL);
    STACKS(to, "MA", "MB");
    pgk_heap_close(&to);
    pgk_heap_close(&h);
}

static void deep_stacks_are_cut_and_added_up(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    struct pgk_heap_pruned done = {.struct_size = sizeof done};
    add_stack(h, "MABCD", 1);
    add_stack(h, "MABEF", 2);
    add_stack(h, "MabcG", 4); /* a into b into c into G: not torn apart */
    add_stack(h, "MA", 8);
    struct pgk_heap *to = pruned(h, (struct pgk_heap_prune_opts){.max_depth = 3}, &done);
    STACKS(to, "MAB", "MabcG", "MA");
    assert_int_equal(pgk_heap_mib(to, 0, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize], 3);
    assert_int_equal(pgk_heap_mib(to, 0, PGK_MIB_SPACE)->v[PGK_MIB_AllocCount], 2);
    assert_int_equal(done.stacks_shortened, 2);
    assert_int_equal(done.bytes_left, 15);
    pgk_heap_close(&to);
    pgk_heap_close(&h);
}

static void recursion_is_collapsed(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"MABC", "MABC"},       {"MAAAAB", "MAB"},     {"MABABABC", "MABC"},
        {"MBABABC", "MBABC"},   {"MABCABCD", "MABCD"}, {"MAABAABC", "MABC"},
        {"MaaBaaB", "MaB"},     {"MABA", "MABA"},      {"MMMM", "M"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_heap *h = new_heap();
        add_stack(h, cases[i].from, 1);
        struct pgk_heap *to =
            pruned(h, (struct pgk_heap_prune_opts){.collapse_recursion = true}, NULL);
        STACKS(to, cases[i].to);
        struct pgk_heap *again =
            pruned(to, (struct pgk_heap_prune_opts){.collapse_recursion = true}, NULL);
        STACKS(again, cases[i].to);
        pgk_heap_close(&again);
        pgk_heap_close(&to);
        pgk_heap_close(&h);
    }
}

/* No group of up to 16 frames stands twice in a row. */
static bool repeats(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t group = 1; group <= 16 && i + 2 * group <= n; group++)
            if (!memcmp(s + i, s + i + group, group))
                return true;
    return false;
}

static void random_recursion(void **state)
{
    (void)state;
    uint64_t seed = 8;
    size_t shorter = 0;
    for (int i = 0; i < 3000; i++) {
        char from[61], to_text[64];
        size_t n = 1 + sample_random(&seed) % 60, letters = 1 + sample_random(&seed) % 4;
        for (size_t k = 0; k < n; k++)
            from[k] = (char)('A' + sample_random(&seed) % letters);
        from[n] = 0;
        struct pgk_heap *h = new_heap();
        add_stack(h, from, 1);
        struct pgk_heap *to =
            pruned(h, (struct pgk_heap_prune_opts){.collapse_recursion = true}, NULL);
        stack_text(to_text, to, 0);
        size_t left = strlen(to_text);
        if (repeats(to_text, left) || to_text[0] != from[0] || to_text[left - 1] != from[n - 1])
            fail_msg("%s became %s", from, to_text);
        if (!repeats(from, n))
            assert_string_equal(from, to_text);
        shorter += left < n;
        pgk_heap_close(&to);
        pgk_heap_close(&h);
    }
    assert_true(shorter > 1000);
}

/* Without any rule all stays as it is; with some the sums of what is left are right. */
static void nothing_else_changes(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    struct pgk_heap_pruned done = {.struct_size = sizeof done};
    sample_fill(h, 5, 200, 4, true);
    struct pgk_heap *to = pruned(h, (struct pgk_heap_prune_opts){0}, &done);
    assert_int_equal(to->contexts.n, h->contexts.n);
    assert_int_equal(done.contexts_left, h->contexts.n);
    assert_int_equal(done.bytes_left, done.bytes);
    assert_int_equal(done.stacks_shortened, 0);
    assert_true(pgk_heap_callees(to) > 0 && pgk_heap_callees(to) <= pgk_heap_callees(h));
    pgk_heap_close(&to);
    to = pruned(h, (struct pgk_heap_prune_opts){.min_bytes = 1500, .max_depth = 1}, &done);
    uint64_t want = 0, got = 0;
    for (size_t i = 0; i < h->contexts.n; i++) {
        uint64_t bytes = pgk_heap_mib(h, i, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize];
        want += bytes >= 1500 ? bytes : 0;
    }
    for (size_t i = 0; i < to->contexts.n; i++)
        got += pgk_heap_mib(to, i, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize];
    assert_int_equal(want, got);
    assert_int_equal(want, done.bytes_left);
    assert_true(to->contexts.n < done.contexts_left);
    pgk_heap_close(&to);
    pgk_heap_close(&h);
}

static size_t stack_of_bytes(const struct pgk_heap *h, uint64_t bytes,
                             struct pgk_heap_frame frames[8])
{
    for (size_t i = 0; i < pgk_heap_contexts(h); i++)
        if (pgk_heap_value(h, i, PGK_MIB_TotalSize) == bytes)
            return pgk_heap_stack(h, i, frames, 8);
    return 0;
}

/* Code without a name stays in stacks, unless compilers are to read them. */
static void unnamed_frames_can_be_dropped(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap(), *all = NULL, *named = NULL;
    struct pgk_heap_frame f[8];
    struct pgk_heap_pruned done = {.struct_size = sizeof done};
    const uint32_t outer = pgk_heap_func(h, 1, 0, 0, 0), leaf = pgk_heap_func(h, 2, 0, 0, 0);
    const uint32_t frames[] = {
        pgk_heap_frame(h, PGK_FRAME_CALLER, leaf, 0),
        pgk_heap_frame(h, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, 5),
        pgk_heap_frame(h, PGK_FRAME_SYMBOL, pgk_heap_func(h, 3, 0, 0, 0), 0),
        pgk_heap_frame(h, PGK_FRAME_CALLER, outer, 0)};
    static const struct {
        size_t first, n;
        uint64_t bytes;
    } stacks[] = {{0, 4, 5}, {1, 2, 7}, {1, 3, 9}};
    for (size_t i = 0; i < 3; i++) {
        struct pgk_mib m = {.known = UINT64_C(1) << PGK_MIB_TotalSize};
        m.v[PGK_MIB_TotalSize] = stacks[i].bytes;
        assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, frames + stacks[i].first,
                                                       stacks[i].n), &m, NULL), 0);
    }
    struct pgk_heap_prune_opts opts = {.struct_size = sizeof opts};
    assert_int_equal(pgk_heap_prune(&all, h, &opts, &done, NULL), 0);
    assert_int_equal(done.contexts_left, 3);
    assert_int_equal(stack_of_bytes(all, 5, f), 4);
    assert_true(f[1].is_address);
    opts.named_only = true;
    assert_int_equal(pgk_heap_prune(&named, h, &opts, &done, NULL), 0);
    assert_int_equal(done.contexts, 3);
    assert_int_equal(done.contexts_left, 2);
    assert_int_equal(done.bytes_left, 14);
    assert_int_equal(done.stacks_shortened, 2);
    assert_int_equal(stack_of_bytes(named, 5, f), 2);
    assert_int_equal(f[0].guid, 2);
    assert_int_equal(f[1].guid, 1);
    assert_int_equal(stack_of_bytes(named, 9, f), 1);
    assert_int_equal(f[0].guid, 1);
    pgk_heap_close(&named);
    pgk_heap_close(&all);
    pgk_heap_close(&h);
}

static void addresses_are_refused(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap(), *to = NULL;
    struct pgk_err err = {0};
    uint32_t frame = pgk_heap_frame(h, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, 5);
    struct pgk_mib m = {0};
    assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, &frame, 1), &m, NULL), 0);
    struct pgk_heap_prune_opts opts = {.struct_size = sizeof opts};
    assert_int_equal(pgk_heap_prune(&to, h, &opts, NULL, &err), PGK_E_ARG);
    opts.struct_size = 4;
    assert_int_equal(pgk_heap_prune(&to, h, &opts, NULL, &err), PGK_E_ARG);
    assert_string_equal(err.field, "struct_size");
    assert_null(to);
    pgk_heap_close(&h);
}

static void out_of_memory(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    sample_fill(h, 9, 30, 9, true);
    const struct pgk_heap_prune_opts opts = {.struct_size = sizeof opts, .min_bytes = 1000,
                                             .max_depth = 5, .collapse_recursion = true};
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_heap *to = NULL;
        pgk_mem_fail_after(nth);
        status = pgk_heap_prune(&to, h, &opts, NULL, NULL);
        pgk_mem_fail_after(0);
        pgk_heap_close(&to);
        assert_in_range(nth, 1, 2000);
    }
    assert_int_equal(status, 0);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_contexts_go),
        cmocka_unit_test(labels_choose),
        cmocka_unit_test(deep_stacks_are_cut_and_added_up),
        cmocka_unit_test(recursion_is_collapsed),
        cmocka_unit_test(random_recursion),
        cmocka_unit_test(nothing_else_changes),
        cmocka_unit_test(unnamed_frames_can_be_dropped),
        cmocka_unit_test(addresses_are_refused),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
