/* Tests of the hash index, against a plain search through the array. */
#include "pgk_test.h"

#include "hash.h"
#include "index.h"
#include "vec.h"

/* All positions whose hash matches must include those of the key, each once. */
static void assert_finds(const struct pgk_index *ix, const uint64_t *hashes, uint64_t hash,
                         uint32_t n)
{
    uint32_t expected = 0, found = 0;
    for (uint32_t i = 0; i < n; i++)
        expected += hashes[i] == hash;
    PGK_INDEX_FOR (ix, hash, i) {
        assert_true(i < n);
        found += hashes[i] == hash;
    }
    if (found != expected)
        fail_msg("found %u, plain search finds %u", found, expected);
}

static void same_as_a_plain_search(void **state)
{
    (void)state;
    enum { N = 3000 };
    static uint64_t hashes[N];
    uint64_t seed = 3;
    struct pgk_index ix = {0};
    for (uint32_t n = 0; n < N; n++) {
        uint64_t r = test_random(&seed);
        hashes[n] = pgk_hash_u64(r % 2000); /* some more than once */
        assert_true(pgk_index_add(&ix, hashes[n], n));
        if (n % 50 == 0)
            for (uint32_t i = 0; i < 200; i++)
                assert_finds(&ix, hashes, pgk_hash_u64(test_random(&seed) % 4000), n + 1);
    }
    for (uint64_t k = 0; k < 4000; k++)
        assert_finds(&ix, hashes, pgk_hash_u64(k), N);
    pgk_index_free(&ix);
    assert_null(ix.slots);
}

static void an_empty_index_finds_nothing(void **state)
{
    (void)state;
    struct pgk_index ix = {0};
    PGK_INDEX_FOR (&ix, 5, i)
        fail_msg("found %u", i);
    pgk_index_free(&ix);
}

static uint64_t worst_probe(const struct pgk_index *ix)
{
    uint64_t worst = 0;
    for (uint64_t i = 0; i <= ix->mask; i++) {
        const struct pgk_index_slot *s = &ix->slots[i];
        uint64_t far = (i - (s->tag >> ix->shift)) & ix->mask;
        if (s->pos && far > worst)
            worst = far;
    }
    return worst;
}

static uint64_t key_itself(uint32_t i) { return i; }
static uint64_t high_half(uint32_t i) { return (uint64_t)i << 32; }
static uint64_t addresses(uint32_t i) { return 0x7f0000000000u + (uint64_t)i * 64; }
static uint64_t real_hash(uint32_t i) { return pgk_hash_u64(i); }

static void stays_fast_and_grows_right_for_any_hash(void **state)
{
    (void)state;
    uint64_t (*const hashes[])(uint32_t) = {key_itself, high_half, addresses, real_hash};
    enum { N = 200000 };
    for (size_t h = 0; h < sizeof hashes / sizeof hashes[0]; h++) {
        struct pgk_index ix = {0};
        for (uint32_t i = 0; i < N; i++) {
            assert_true(pgk_index_add(&ix, hashes[h](i), i));
            assert_true((uint64_t)ix.used * 10 <= ((uint64_t)ix.mask + 1) * 6);
        }
        for (uint32_t i = 0; i < N; i++) {
            bool found = false;
            PGK_INDEX_FOR (&ix, hashes[h](i), k)
                found = found || k == i;
            if (!found)
                fail_msg("hash %zu: position %u is lost", h, i);
        }
        if (worst_probe(&ix) > 200)
            fail_msg("hash %zu: a search of %llu slots", h, (unsigned long long)worst_probe(&ix));
        pgk_index_free(&ix);
    }
}

/* Hashes that all live in the last slots, so that runs wrap to the front while growing. */
static void runs_that_wrap_around_survive_growth(void **state)
{
    (void)state;
    enum { N = 600 };
    static uint64_t hashes[N];
    struct pgk_index ix = {0};
    uint64_t seed = 9;
    for (uint32_t n = 0; n < N;) {
        uint64_t hash = test_random(&seed);
        uint32_t tag = pgk_index_tag(hash);
        if (tag < 0xff000000u)
            continue;
        hashes[n] = hash;
        assert_true(pgk_index_add(&ix, hash, n));
        n++;
        for (uint32_t k = 0; k < n; k++)
            assert_finds(&ix, hashes, hashes[k], n);
    }
    pgk_index_free(&ix);
}

static void reserve_makes_room_once(void **state)
{
    (void)state;
    struct pgk_index ix = {0};
    assert_true(pgk_index_reserve(&ix, 0));
    assert_true(pgk_index_reserve(&ix, 100000));
    struct pgk_index_slot *slots = ix.slots;
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(pgk_index_add(&ix, pgk_hash_u64(i), i));
    assert_ptr_equal(ix.slots, slots);
    assert_true(pgk_index_reserve(&ix, 5)); /* never shrinks */
    assert_ptr_equal(ix.slots, slots);
    pgk_index_free(&ix);
}

static void refuses_the_position_that_means_none(void **state)
{
    (void)state;
    struct pgk_index ix = {0};
    assert_false(pgk_index_add(&ix, 1, PGK_INDEX_NONE));
    assert_true(pgk_index_add(&ix, 1, PGK_INDEX_NONE - 1));
    uint32_t at = 0;
    assert_int_equal(pgk_index_next(&ix, 1, &at), PGK_INDEX_NONE - 1);
    assert_int_equal(pgk_index_next(&ix, 1, &at), PGK_INDEX_NONE);
    pgk_index_free(&ix);
}

static void running_out_of_memory_keeps_what_was_there(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 8; nth++) {
        struct pgk_index ix = {0};
        pgk_mem_fail_after(nth);
        uint32_t n = 0;
        while (pgk_index_add(&ix, pgk_hash_u64(n), n))
            n++;
        pgk_mem_fail_after(0);
        assert_int_equal(ix.used, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = 0;
            assert_int_equal(pgk_index_next(&ix, pgk_hash_u64(i), &at), i);
        }
        assert_true(pgk_index_add(&ix, pgk_hash_u64(n), n));
        pgk_index_free(&ix);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_a_plain_search),
        cmocka_unit_test(an_empty_index_finds_nothing),
        cmocka_unit_test(stays_fast_and_grows_right_for_any_hash),
        cmocka_unit_test(runs_that_wrap_around_survive_growth),
        cmocka_unit_test(reserve_makes_room_once),
        cmocka_unit_test(refuses_the_position_that_means_none),
        cmocka_unit_test(running_out_of_memory_keeps_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
