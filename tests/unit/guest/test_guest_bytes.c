/* Tests of guest/guest_bytes.c and .h against plain loops, at the ends of pages, too: what a
 * function may not load lies behind them and is not mapped. */
#include "../pgk_test.h"

#include "guest_bytes.h"

#include <sys/mman.h>

enum { PAGE = 4096, LONGEST = 1200 };

/* Two pages that may be touched; those before and behind them may not. */
static unsigned char *pages_begin, *pages_end;

static int map_pages(void **state)
{
    (void)state;
    unsigned char *all = mmap(NULL, (size_t)4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                              0);
    if (all == MAP_FAILED || mprotect(all + PAGE, (size_t)2 * PAGE, PROT_READ | PROT_WRITE))
        return -1;
    pages_begin = all + PAGE;
    pages_end = all + (size_t)3 * PAGE;
    return 0;
}

/* n bytes: at the end of the pages, at their begin, or across their border. */
static unsigned char *place(uint64_t *random, size_t n)
{
    switch (test_random(random) % 3) {
    case 0: return pages_end - n;
    case 1: return pages_begin;
    default: return pages_begin + PAGE - test_random(random) % (n + 1);
    }
}

static size_t length(uint64_t *random)
{
    return test_random(random) % (test_random(random) % 4 ? 70 : LONGEST);
}

static void fill_pages(uint64_t *random, unsigned values)
{
    for (unsigned char *p = pages_begin; p < pages_end; p++)
        *p = (unsigned char)(test_random(random) % values);
}

static void same_as(const unsigned char before[2 * PAGE], const unsigned char *to,
                    const unsigned char *expected, size_t n)
{
    unsigned char wanted[2 * PAGE];
    memcpy(wanted, before, sizeof wanted);
    memcpy(wanted + (to - pages_begin), expected, n);
    assert_memory_equal(pages_begin, wanted, sizeof wanted);
}

static void overlapping_bytes_are_moved(void **state)
{
    (void)state;
    unsigned char before[2 * PAGE], expected[LONGEST];
    uint64_t random = 1;
    for (int round = 0; round < 3000; round++) {
        size_t n = length(&random), gap = test_random(&random) % 100;
        fill_pages(&random, 256);
        memcpy(before, pages_begin, sizeof before);
        unsigned char *low = pages_begin + test_random(&random) % (2 * PAGE - n - gap);
        unsigned char *high = low + gap;
        bool down = test_random(&random) % 2;
        memcpy(expected, down ? high : low, n);
        assert_ptr_equal(pgg_move_fast(down ? low : high, down ? high : low, n),
                         down ? low : high);
        same_as(before, down ? low : high, expected, n);
    }
}

static void bytes_are_copied_and_filled(void **state)
{
    (void)state;
    unsigned char before[2 * PAGE], from[LONGEST], expected[LONGEST];
    uint64_t random = 2;
    for (int round = 0; round < 3000; round++) {
        size_t n = length(&random);
        int value = (int)(test_random(&random) % 512); /* of which only the low byte counts */
        for (size_t i = 0; i < n; i++)
            from[i] = (unsigned char)test_random(&random);
        memcpy(before, pages_begin, sizeof before);
        unsigned char *to = place(&random, n);
        assert_ptr_equal(pgg_copy_fast(to, from, n), to);
        same_as(before, to, from, n);
        memcpy(before, pages_begin, sizeof before);
        for (size_t i = 0; i < n; i++)
            expected[i] = (unsigned char)value;
        to = place(&random, n);
        assert_ptr_equal(pgg_fill_fast(to, value, n), to);
        same_as(before, to, expected, n);
    }
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static void the_first_difference_decides(void **state)
{
    (void)state;
    unsigned char copy[LONGEST];
    uint64_t random = 3;
    for (int round = 0; round < 6000; round++) {
        size_t n = length(&random);
        fill_pages(&random, 256);
        unsigned char *a = place(&random, n);
        memcpy(copy, a, n);
        for (uint64_t k = test_random(&random) % 3; n && k; k--)
            copy[test_random(&random) % n] ^= (unsigned char)test_random(&random);
        int plain = 0;
        for (size_t i = 0; i < n && !plain; i++)
            plain = a[i] - copy[i];
        assert_int_equal(sign(pgg_compare(a, copy, n)), sign(plain));
        assert_int_equal(sign(pgg_compare(copy, a, n)), -sign(plain));
    }
}

static void a_byte_is_found(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (int round = 0; round < 6000; round++) {
        size_t n = length(&random), plain = 0;
        fill_pages(&random, 1 + (unsigned)(test_random(&random) % 200));
        unsigned char *s = place(&random, n), c = (unsigned char)(test_random(&random) % 200);
        while (plain < n && s[plain] != c)
            plain++;
        assert_int_equal(pgg_find_byte(s, c, n), plain);
        if (plain < n)
            assert_int_equal(pgg_find_byte(s, c, SIZE_MAX), plain);
    }
}

static void strings_differ_at_a_byte_or_end(void **state)
{
    (void)state;
    unsigned char copy[LONGEST + 1];
    uint64_t random = 5;
    for (int round = 0; round < 6000; round++) {
        size_t n = 1 + length(&random), max = test_random(&random) % (n + 20), plain = 0;
        for (unsigned char *p = pages_begin; p < pages_end; p++)
            *p = (unsigned char)(1 + test_random(&random) % 255);
        unsigned char *a = place(&random, n);
        a[n - 1] = 0;
        memcpy(copy, a, n);
        if (test_random(&random) % 2)
            copy[test_random(&random) % n] ^= (unsigned char)test_random(&random);
        copy[n - 1] = 0;
        while (plain < max && a[plain] == copy[plain] && a[plain])
            plain++;
        assert_int_equal(pgg_difference_string((char *)a, (char *)copy, max), plain);
        assert_int_equal(pgg_difference_string((char *)copy, (char *)a, max), plain);
    }
}

static void words_are_summed_added_to_and_cleared(void **state)
{
    (void)state;
    enum { WORDS = 40 };
    u64 words[WORDS + 2], plain[WORDS + 2];
    uint64_t random = 6;
    for (int round = 0; round < 2000; round++) {
        size_t n = test_random(&random) % WORDS, from = test_random(&random) % 2;
        u64 each = test_random(&random), sum = 0;
        u64 not_zero = 5, used = 5;
        for (size_t i = 0; i < WORDS + 2; i++) { /* all bits, a half, none */
            const u64 masks[] = {UINT64_MAX, UINT32_MAX, ~(u64)UINT32_MAX, 0};
            words[i] = plain[i] = test_random(&random) & masks[test_random(&random) / 5 % 4];
        }
        for (size_t i = from; i < from + n; i++) {
            sum += plain[i];
            not_zero += plain[i] != 0;
        }
        assert_true(pgg_words_sum(words + from, words + from + n, &used) == sum);
        assert_true(used == not_zero);
        for (size_t i = from; i < from + n; i++)
            plain[i] += each;
        pgg_words_add(words + from, words + from + n, each);
        assert_memory_equal(words, plain, sizeof words);
        for (size_t i = from; i < from + n; i++)
            plain[i] = 0;
        pgg_words_clear(words + from, words + from + n);
        assert_memory_equal(words, plain, sizeof words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_bytes_are_moved),
        cmocka_unit_test(bytes_are_copied_and_filled),
        cmocka_unit_test(the_first_difference_decides),
        cmocka_unit_test(a_byte_is_found),
        cmocka_unit_test(strings_differ_at_a_byte_or_end),
        cmocka_unit_test(words_are_summed_added_to_and_cleared),
    };
    return cmocka_run_group_tests(tests, map_pages, NULL);
}
