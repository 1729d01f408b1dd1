/* Packed contexts against the blocks that went in. */
#include "heap_samples.h"

enum { CONTEXTS = 40, TURNS = 4000 };

/* Values of all sizes, fields that are not known, histograms. */
static struct pgk_mib random_mib(uint64_t *seed, uint64_t hist[4])
{
    struct pgk_mib m = sample_mib(seed);
    m.known |= UINT64_C(1) << PGK_MIB_AccessHistogramSize;
    if (sample_random(seed) % 4 == 0)
        m.v[sample_random(seed) % PGK_MIB_AccessHistogram] = test_random(seed);
    if (sample_random(seed) % 3 == 0)
        m.v[PGK_MIB_TotalLifetimeAccessDensity] = test_random(seed) >> 20;
    if (sample_random(seed) % 5 == 0)
        m.known &= ~(UINT32_C(1) << sample_random(seed) % PGK_MIB_AccessHistogram);
    if (sample_random(seed) % 3 == 0) {
        m.hist = hist;
        m.v[PGK_MIB_AccessHistogramSize] = m.hist_count = 1 + sample_random(seed) % 4;
        for (uint32_t i = 0; i < m.hist_count; i++)
            hist[i] = sample_random(seed);
    }
    return m;
}

static void assert_same(const struct pgk_mib *want, const struct pgk_mib *have)
{
    assert_int_equal(want->known, have->known);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        assert_int_equal(want->known >> id & 1 ? want->v[id] : 0, have->v[id]);
    assert_int_equal(want->hist_count, have->hist_count);
    if (want->hist_count)
        assert_memory_equal(want->hist, have->hist, want->hist_count * sizeof *want->hist);
}

static void values_of_any_width_survive(void **state)
{
    (void)state;
    static struct pgk_mib plain[CONTEXTS];
    struct pgk_arena arena = {0};
    struct pgk_heap *h;
    uint64_t seed = 5, hist[4], counts[4];
    bool there[CONTEXTS] = {0};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t i = sample_random(&seed) % CONTEXTS, stack = pgk_stack_push(&h->stacks, 0, i);
        struct pgk_mib m = random_mib(&seed, hist);
        assert_int_equal(pgk_heap_add(h, stack, &m, NULL), 0);
        if (there[i]) {
            assert_true(pgk_mib_add(&plain[i], &m, &arena));
        } else {
            plain[i] = (struct pgk_mib){0};
            plain[i].known = m.known;
            memcpy(plain[i].v, m.v, sizeof m.v);
            memcpy(counts, hist, sizeof hist);
            if (m.hist_count) {
                uint64_t *copy = pgk_arena_alloc(&arena, m.hist_count, sizeof *copy);
                assert_non_null(copy);
                plain[i].hist = memcpy(copy, counts, m.hist_count * sizeof *copy);
                plain[i].hist_count = m.hist_count;
            }
            there[i] = true;
        }
        const struct pgk_heap_context *c = &h->contexts.v[pgk_heap_context_at(h, stack)];
        assert_same(&plain[i], pgk_heap_mib(h, pgk_heap_context_at(h, stack), PGK_MIB_SPACE));
        for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id += 5)
            assert_int_equal(pgk_context_value(h, c, id),
                             plain[i].known >> id & 1 ? plain[i].v[id] : 0);
        assert_false(c->owned_by_chain);
    }
    assert_true(h->wide.n > 0 && h->wide.n <= CONTEXTS && h->hists.n <= CONTEXTS);
    pgk_arena_free(&arena);
    pgk_heap_close(&h);
}

static void few_contexts_are_wide(void **state)
{
    (void)state;
    struct pgk_heap *h;
    uint64_t seed = 9;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (uint32_t i = 0; i < 100; i++) {
        struct pgk_mib m = sample_mib(&seed);
        m.v[PGK_MIB_TotalLifetimeAccessDensity] = UINT64_MAX - i;
        assert_int_equal(pgk_heap_add(h, pgk_stack_push(&h->stacks, 0, i), &m, NULL), 0);
    }
    assert_int_equal(h->wide.n, 0);
    sample_set(h, 3, PGK_MIB_TotalSize, UINT64_C(1) << 32);
    assert_int_equal(h->wide.n, 1);
    assert_int_equal(pgk_heap_mib(h, 3, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize], UINT64_C(1) << 32);
    assert_int_equal(pgk_heap_scale(h, 2, NULL), 0);
    assert_int_equal(pgk_heap_mib(h, 3, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize], UINT64_C(1) << 33);
    assert_int_equal(pgk_heap_mib(h, 4, PGK_MIB_SPACE)->v[PGK_MIB_TotalLifetimeAccessDensity],
                     UINT64_MAX);
    pgk_heap_close(&h);
}

/* What is not known reads as 0 in files, which makes old objects cold. */
static void coldness_by_the_default_limits(void **state)
{
    (void)state;
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct pgk_mib m = {.known = (UINT64_C(1) << PGK_MIB_AccessHistogram) - 1};
        m.v[PGK_MIB_AllocCount] = 1;
        m.v[PGK_MIB_TotalLifetime] = i % 2 ? 200000 : 100;
        if (i >= 2)
            m.known &= ~(UINT64_C(1) << PGK_MIB_TotalLifetimeAccessDensity);
        assert_int_equal(pgk_heap_add(h, pgk_stack_push(&h->stacks, 0, i), &m, NULL), 0);
    }
    assert_int_equal(pgk_heap_cold_by_default(h), 1);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_any_width_survive),
        cmocka_unit_test(few_contexts_are_wide),
        cmocka_unit_test(coldness_by_the_default_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
