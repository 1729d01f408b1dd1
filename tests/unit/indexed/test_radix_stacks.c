/* The radix array against a plain encoder that sorts and compares whole stacks. */
#include "radix_stacks.h"

#include "heap_samples.h"

struct plain_stack {
    uint32_t frames[16]; /* leaf first */
    uint32_t n;
};

static const struct pgk_radix_stacks *r;
static uint64_t counts[4096];

static int compare_frames(uint32_t a, uint32_t b)
{
    if (counts[a] != counts[b])
        return counts[a] < counts[b] ? -1 : 1;
    uint64_t x = r->frame_ids[a], y = r->frame_ids[b];
    return x < y ? -1 : x > y;
}

static int compare_stacks(const void *a, const void *b)
{
    const struct plain_stack *x = a, *y = b;
    for (uint32_t i = 0; i < x->n && i < y->n; i++) {
        int c = compare_frames(x->frames[x->n - 1 - i], y->frames[y->n - 1 - i]);
        if (c)
            return c;
    }
    return x->n < y->n ? -1 : x->n > y->n;
}

/* docs/formats/indexed-heap.md 6.3, word for word. */
static size_t plain_encode(struct plain_stack *stacks, size_t n, uint32_t *radix)
{
    size_t size = 0;
    uint32_t where[16] = {0};
    const struct plain_stack *before = NULL;
    qsort(stacks, n, sizeof *stacks, compare_stacks);
    for (size_t s = n; s-- > 0;) {
        const struct plain_stack *k = &stacks[s];
        uint32_t c = 0;
        while (before && c < k->n && c < before->n &&
               k->frames[k->n - 1 - c] == before->frames[before->n - 1 - c])
            c++;
        if (c) {
            radix[size] = where[c - 1] - (uint32_t)size;
            size++;
        }
        for (uint32_t i = c; i < k->n; i++) {
            where[i] = (uint32_t)size;
            radix[size++] = r->linear[k->frames[k->n - 1 - i]];
        }
        radix[size++] = k->n;
        before = k;
    }
    for (size_t i = 0; i < size / 2; i++) {
        uint32_t v = radix[i];
        radix[i] = radix[size - 1 - i];
        radix[size - 1 - i] = v;
    }
    return size;
}

static void check(uint64_t seed, unsigned contexts, unsigned funcs, uint32_t generation,
                  unsigned threads)
{
    static struct plain_stack stacks[4096];
    static uint32_t radix[4096 * 18];
    struct pgk_heap *h;
    struct pgk_radix_stacks built;
    struct pgk_sink *out;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, seed, contexts, funcs, false);
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_radix_build(&built, h, generation, threads, NULL), 0);
    assert_int_equal(pgk_radix_write(&built, h, out, threads, NULL), 0);
    r = &built;
    memset(counts, 0, sizeof counts);
    assert_in_range(h->frames.n, 0, 4095);
    assert_in_range(built.n_stacks, 0, 4095);
    for (uint32_t i = 0; i < built.n_stacks; i++) {
        stacks[i].n = 0;
        for (uint32_t node = built.stacks[i]; node; node = h->stacks.nodes.v[node].parent) {
            uint32_t frame = h->stacks.nodes.v[node].frame;
            counts[frame]++;
            stacks[i].frames[stacks[i].n++] = frame;
        }
    }
    size_t size = plain_encode(stacks, built.n_stacks, radix);
    size_t written;
    const uint8_t *array = pgk_sink_data(out, &written);
    assert_int_equal(size, built.n_entries);
    assert_int_equal(size * sizeof *radix, written);
    if (size)
        assert_memory_equal(radix, array, written);
    for (uint32_t i = 0; i < built.n_stacks; i++) {
        uint32_t node = built.stacks[i], depth = 0;
        for (uint32_t at = node; at; at = h->stacks.nodes.v[at].parent)
            depth++;
        assert_int_equal(radix[built.starts[i]], depth);
        assert_int_equal(pgk_radix_rank(&built, node), i);
    }
    for (uint32_t i = 1; i < built.n_frames; i++)
        assert_true(counts[built.order[i - 1]] >= counts[built.order[i]]);
    pgk_sink_drop(&out);
    pgk_radix_free(&built);
    pgk_heap_close(&h);
}

static void test_against_plain(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        check(seed, 1 + (unsigned)(seed * seed % 150), 1 + (unsigned)(seed % 12),
              1 + (uint32_t)(seed & 1), 1 + (unsigned)(seed % 3));
    for (uint64_t seed = 1; seed <= 10; seed++)
        check(seed, 2000, 40, 2, 3);
}

/* docs/formats/indexed-heap.md section 13: the frame of main and its two ids. */
static void test_frame_ids(void **state)
{
    (void)state;
    for (uint32_t generation = 1; generation <= 2; generation++) {
        struct pgk_heap *h;
        struct pgk_radix_stacks built;
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        uint32_t func = pgk_heap_func(h, UINT64_C(0xdb956436e78dd5fa), 0, 0, 0);
        uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(1, 13));
        uint32_t node = pgk_stack_add(&h->stacks, &frame, 1);
        uint64_t seed = 1;
        struct pgk_mib m = sample_mib(&seed);
        assert_int_equal(pgk_heap_add(h, node, &m, NULL), 0);
        pgk_heap_own_by_chain(h, node);
        assert_int_equal(pgk_radix_build(&built, h, generation, 1, NULL), 0);
        if (generation == 1)
            assert_int_equal(built.frame_ids[frame], UINT64_C(0x65a0b72d41c678cc));
        else
            assert_true(built.frame_ids[frame] != UINT64_C(0x65a0b72d41c678cc));
        pgk_radix_free(&built);
        pgk_heap_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_plain),
        cmocka_unit_test(test_frame_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
