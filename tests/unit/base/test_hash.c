/* Tests of the hashes. */
#include "pgk_test.h"

#include "hash.h"

static void md5_of_the_rfc(void **state)
{
    (void)state;
    /* d41d8cd98f00b204..., 0cc175b9c0f1b6a8..., f96b697d7cb7938d... */
    assert_true(pgk_md5_low64("", 0) == 0x04b2008fd98c1dd4u);
    assert_true(pgk_md5_low64(NULL, 0) == 0x04b2008fd98c1dd4u);
    assert_true(pgk_md5_low64("a", 1) == 0xa8b6f1c0b975c10cu);
    assert_true(pgk_md5_low64("message digest", 14) == 0x8d93b77c7d696bf9u);
    /* LLVM's GUID of "main", as every indexed profile has it. */
    assert_true(pgk_md5_low64("main", 4) == 0xdb956436e78dd5fau);
}

/* Input byte i is i % 251, as in the official test vectors. The lengths are those at
 * which a block, a chunk or a subtree begins or ends. */
static void blake3_test_vectors(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint64_t low64;
    } vectors[] = {
        {0, 0xa6a1f9f5b94913af},     {1, 0xf1611bf1dfde3a2d},     {63, 0x83adda94a537bce9},
        {64, 0xd45c4aea4171ed4e},    {65, 0x6ddf70bea05f1ede},    {128, 0x7865b26405577ef1},
        {1023, 0xb93edaee70891010},  {1024, 0x06a495f039472142},  {1025, 0xb327eb47ae7802d0},
        {2048, 0x2ad27c8c02b676e7},  {2049, 0x825f7a0df4724d5f},  {3072, 0x03be2336ffb08cb9},
        {3073, 0x812f010195b42471},  {4096, 0x27a5573f01945001},  {5000, 0xf13dde7020d978ee},
        {7168, 0x959a49c27e95da61},  {16385, 0x837825be16e2ab1d}, {31744, 0xc1bc441a0e96b662},
        {102400, 0x066b14a1413d3ebc},
    };
    static uint8_t input[102400 + 1];
    for (size_t i = 0; i < sizeof input - 1; i++)
        input[i + 1] = (uint8_t)(i % 251);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint64_t got = pgk_blake3_low64(input + 1, vectors[i].len);
        if (got != vectors[i].low64)
            fail_msg("length %zu: got 0x%016llx", vectors[i].len, (unsigned long long)got);
    }
    assert_true(pgk_blake3_low64(NULL, 0) == vectors[0].low64);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void assert_all_differ(uint64_t *hashes, size_t n)
{
    qsort(hashes, n, sizeof *hashes, compare);
    for (size_t i = 1; i < n; i++)
        if (hashes[i] == hashes[i - 1])
            fail_msg("two inputs have the hash %llx", (unsigned long long)hashes[i]);
}

static void every_byte_and_the_length_count(void **state)
{
    (void)state;
    enum { MAX = 70 };
    static uint64_t hashes[(MAX + 1) * (MAX + 1)];
    uint8_t bytes[MAX] = {0};
    size_t n = 0;
    for (size_t len = 0; len <= MAX; len++) {
        hashes[n++] = pgk_hash_bytes(bytes, len);
        for (size_t i = 0; i < len; i++) {
            bytes[i] = 1;
            hashes[n++] = pgk_hash_bytes(bytes, len);
            bytes[i] = 0;
        }
    }
    assert_all_differ(hashes, n);
}

static void does_not_read_outside_and_ignores_alignment(void **state)
{
    (void)state;
    uint8_t text[100];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 7 + 1);
    for (size_t len = 0; len <= sizeof text; len++) {
        /* The sanitizer watches the ends of a heap block of just this size. */
        uint8_t *exact = malloc(len ? len : 1);
        assert_non_null(exact);
        memcpy(exact, text, len);
        uint8_t shifted[sizeof text + 1];
        memcpy(shifted + 1, text, len);
        assert_true(pgk_hash_bytes(exact, len) == pgk_hash_bytes(shifted + 1, len));
        free(exact);
    }
}

/* Flipping one input bit flips each output bit about half of the time. */
static void avalanche(uint64_t (*hash)(const uint8_t *bytes, size_t len), size_t len)
{
    enum { ROUNDS = 2000 };
    uint64_t seed = len;
    for (size_t bit = 0; bit < len * 8; bit++) {
        int flips[64] = {0};
        for (int r = 0; r < ROUNDS; r++) {
            uint8_t bytes[64];
            for (size_t i = 0; i < len; i++)
                bytes[i] = (uint8_t)(test_random(&seed) >> 17);
            uint64_t before = hash(bytes, len);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            uint64_t change = before ^ hash(bytes, len);
            for (int o = 0; o < 64; o++)
                flips[o] += (int)(change >> o & 1);
        }
        for (int o = 0; o < 64; o++)
            if (flips[o] < ROUNDS * 4 / 10 || flips[o] > ROUNDS * 6 / 10)
                fail_msg("length %zu: bit %zu flips output bit %d in %d of %d", len, bit, o,
                         flips[o], ROUNDS);
    }
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t len)
{
    return pgk_hash_bytes(bytes, len);
}

static uint64_t hash_u64(const uint8_t *bytes, size_t len)
{
    uint64_t v = 0;
    memcpy(&v, bytes, len);
    return pgk_hash_u64(v);
}

static uint64_t hash_pair(const uint8_t *bytes, size_t len)
{
    uint64_t v[2] = {0};
    memcpy(v, bytes, len);
    return pgk_hash_pair(v[0], v[1]);
}

static void every_bit_moves_every_bit(void **state)
{
    (void)state;
    static const size_t lengths[] = {3, 4, 7, 8, 9, 15, 16, 17, 33};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        avalanche(hash_bytes, lengths[i]);
    avalanche(hash_u64, 8);
    avalanche(hash_pair, 16);
}

/* As many collisions in the low and high bits as chance has, on names that look alike. */
static void names_spread_evenly(void **state)
{
    (void)state;
    enum { N = 1 << 17, BUCKETS = 1 << 16 };
    static uint64_t all[N];
    static uint32_t low[BUCKETS], high[BUCKETS];
    for (int i = 0; i < N; i++) {
        char name[64];
        int len = snprintf(name, sizeof name, "_ZN4base8internal%06dC2Ev", i);
        all[i] = pgk_hash_bytes(name, (size_t)len);
        low[all[i] % BUCKETS]++;
        high[all[i] >> 48]++;
    }
    double low_sum = 0, high_sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
        low_sum += (double)low[i] * low[i];
        high_sum += (double)high[i] * high[i];
    }
    /* Chance gives 2 + 4 per bucket. */
    assert_in_range((int)(low_sum / BUCKETS * 100), 590, 610);
    assert_in_range((int)(high_sum / BUCKETS * 100), 590, 610);
    assert_all_differ(all, N);
}

static void the_pair_is_ordered(void **state)
{
    (void)state;
    assert_true(pgk_hash_pair(1, 2) != pgk_hash_pair(2, 1));
    assert_true(pgk_hash_pair(0, 0) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_of_the_rfc),
        cmocka_unit_test(blake3_test_vectors),
        cmocka_unit_test(every_byte_and_the_length_count),
        cmocka_unit_test(does_not_read_outside_and_ignores_alignment),
        cmocka_unit_test(every_bit_moves_every_bit),
        cmocka_unit_test(names_spread_evenly),
        cmocka_unit_test(the_pair_is_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
