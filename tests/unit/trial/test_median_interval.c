#include "median_interval.h"
#include "pgk_test.h"

#include <math.h>

/* ---- by hand ---- */

static void six_on_one_side_are_the_least(void **state)
{
    (void)state;
    for (size_t n = 0; n < 6; n++)
        assert_true(pgk_median_beyond(n, 0.05, 0) == SIZE_MAX);
    assert_int_equal(pgk_median_beyond(6, 0.05, SIZE_MAX), 0);
    assert_true(pgk_median_beyond(6, 0.01, SIZE_MAX) == SIZE_MAX);
}

/* 2^n B(a + k, a + n - k) / B(a, a) as a product, without the gamma function. */
static double capital(size_t n, size_t k)
{
    double m = 1;
    for (size_t i = 0; i < n; i++) {
        const double of = i < k ? (double)i : (double)(i - k);
        m *= 2 * (0.25 + of) / (0.5 + (double)i);
    }
    return m;
}

static void it_is_what_a_gambler_would_exclude(void **state)
{
    (void)state;
    size_t known = SIZE_MAX;
    for (size_t n = 1; n < 300; n++) {
        known = pgk_median_beyond(n, 0.05, known);
        assert_true(known == pgk_median_beyond(n, 0.05, 0));
        if (known == SIZE_MAX) {
            assert_true(capital(n, 0) < 20);
            continue;
        }
        assert_true(capital(n, known) >= 20 * (1 - 1e-9));
        assert_true(capital(n, known + 1) < 20 * (1 + 1e-9));
    }
}

/* ---- by chance ---- */

enum { TRIALS = 3000, TURNS = 150 };

static double uniform(uint64_t *state)
{
    return ((double)(test_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* The times of what else the machine does: it slows down in bursts, and the second run of a turn is
 * always the slower one. */
struct noise {
    uint64_t state;
    double spread, burst, second;
    double slow; /* what is left of a burst */
};

static double run(struct noise *n, int which)
{
    if (uniform(&n->state) < 0.02)
        n->slow = n->burst;
    n->slow *= 0.8;
    return (1 + which * n->second + n->slow) * exp(n->spread * normal(&n->state));
}

/* The gain of a turn in random order. */
static double gain(struct noise *n, double faster)
{
    double times[2];
    const int first = (int)(test_random(&n->state) >> 63);
    times[first] = run(n, 0);
    times[!first] = run(n, 1);
    return 100 * (times[0] * (1 + faster) / times[1] - 1);
}

struct sorted {
    size_t n;
    double v[TURNS];
};

static void insert(struct sorted *s, double x)
{
    size_t at = s->n++;
    for (; at && s->v[at - 1] > x; at--)
        s->v[at] = s->v[at - 1];
    s->v[at] = x;
}

/* After how many turns the interval leaves out `median`, or lies within +-within; 0: never. */
static size_t turns_until(struct noise *n, double faster, double median, double within)
{
    struct sorted s = {0};
    size_t beyond = SIZE_MAX;
    while (s.n < TURNS) {
        insert(&s, gain(n, faster));
        beyond = pgk_median_beyond(s.n, 0.05, beyond);
        if (beyond == SIZE_MAX)
            continue;
        const double low = s.v[beyond], high = s.v[s.n - 1 - beyond];
        if (within > 0 ? low > -within && high < within : low > median || high < median)
            return s.n;
    }
    return 0;
}

/* The share of trials, and the mean of their turns. */
static double share(struct noise noise, double faster, double median, double within, double *turns)
{
    unsigned found = 0;
    double sum = 0;
    for (unsigned i = 0; i < TRIALS; i++) {
        const size_t n = turns_until(&noise, faster, median, within);
        found += n > 0;
        sum += (double)(n ? n : TURNS);
    }
    if (turns)
        *turns = sum / TRIALS;
    return (double)found / TRIALS;
}

/* Three standard errors above the level of 0.05. */
#define AT_MOST (0.05 + 3 * sqrt(0.05 * 0.95 / TRIALS))

static void builds_that_are_alike_keep_the_level(void **state)
{
    (void)state;
    static const struct noise kinds[] = {{1, .spread = 0.02},
                                         {2, .spread = 0.02, .burst = 0.5},
                                         {3, .spread = 0.0001, .second = 0.03},
                                         {4, .spread = 0.3, .burst = 2, .second = 0.05}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const double wrong = share(kinds[i], 0, 0, 0, NULL);
        if (wrong > AT_MOST)
            fail_msg("kind %zu: %.4f of the trials found a difference", i, wrong);
    }
    /* It is not for want of looking: a level that nobody reaches would also be kept. */
    assert_true(share(kinds[2], 0, 0, 0, NULL) > 0.02);
}

static void the_median_stays_within(void **state)
{
    (void)state;
    assert_true(share((struct noise){5, .spread = 0.02}, 0.02, 2, 0, NULL) <= AT_MOST);
    assert_true(share((struct noise){6, .spread = 0.02}, -0.1, -10, 0, NULL) <= AT_MOST);
}

static void two_per_cent_are_found_in_noise_of_two_per_cent(void **state)
{
    (void)state;
    double turns;
    assert_true(share((struct noise){7, .spread = 0.02}, 0.02, 0, 0, &turns) > 0.95);
    if (turns > 50)
        fail_msg("it takes %.1f turns", turns);
    /* A burst that doubles the time of some turns costs few more. */
    assert_true(share((struct noise){8, .spread = 0.02, .burst = 1}, 0.02, 0, 0, &turns) > 0.85);
    if (turns > 80)
        fail_msg("with bursts it takes %.1f turns", turns);
}

static void a_large_gain_takes_few_turns(void **state)
{
    (void)state;
    double turns;
    assert_true(share((struct noise){9, .spread = 0.01}, 0.1, 0, 0, &turns) > 0.999);
    assert_true(turns < 6.5);
}

static void no_difference_is_found_too(void **state)
{
    (void)state;
    double turns;
    assert_true(share((struct noise){10, .spread = 0.007}, 0, 0, 1, &turns) > 0.95);
    if (turns > 40)
        fail_msg("it takes %.1f turns", turns);
    assert_true(share((struct noise){11, .spread = 0.007}, 0.02, 0, 1, NULL) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_on_one_side_are_the_least),
        cmocka_unit_test(it_is_what_a_gambler_would_exclude),
        cmocka_unit_test(builds_that_are_alike_keep_the_level),
        cmocka_unit_test(the_median_stays_within),
        cmocka_unit_test(two_per_cent_are_found_in_noise_of_two_per_cent),
        cmocka_unit_test(a_large_gain_takes_few_turns),
        cmocka_unit_test(no_difference_is_found_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
