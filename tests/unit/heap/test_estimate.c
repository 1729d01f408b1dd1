/* Intervals of sampled figures: by a simulation of the sampler, as docs/formats/interrupted-heap.md
 * has it, over rates, sizes and numbers of objects. */
#include "heap_samples.h"

#include "estimate.h"
#include "heap_origin.h"

#include <inttypes.h>
#include <math.h>

static uint64_t random_state;

static double uniform(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* Objects of one size in a context, and what is known of them. */
struct objects {
    uint64_t size;
    double share; /* of the bytes of the context */
};
enum { SIZES = 12 };
struct mixture {
    const char *name;
    struct objects of[SIZES];
};
static const struct mixture mixtures[] = {
    {"16 B", {{16, 1}}},
    {"200 B", {{200, 1}}},
    {"4 KiB", {{4096, 1}}},
    {"100 KiB", {{102400, 1}}},
    {"1 MiB", {{1 << 20, 1}}},
    {"strings", {{16, .3}, {24, .3}, {32, .2}, {64, .1}, {128, .1}}},
    {"vectors", {{64, .125}, {128, .125}, {256, .125}, {512, .125}, {1024, .125}, {2048, .125},
                 {4096, .125}, {8192, .125}}},
    {"half of 1 KiB, half of 64 KiB", {{1024, .5}, {65536, .5}}},
    {"buffers", {{32768, .3}, {65536, .3}, {1 << 20, .2}, {1 << 22, .2}}},
};

struct truth {
    double objects, bytes;
};

/* One run: every object of a size is drawn with the same probability, so that gaps between those
 * that are drawn are geometric. */
static struct pgk_mib run(const struct mixture *mix, double samples, uint64_t rate,
                          struct truth *truth)
{
    struct pgk_mib m = {0};
    double count = 0, size = 0, count_variance = 0, size_variance = 0;
    *truth = (struct truth){0};
    for (const struct objects *o = mix->of; o < mix->of + SIZES && o->size; o++) {
        const double bytes = (double)o->size, p = -expm1(-bytes / (double)rate),
                     all = ceil(samples * o->share / p * fmin(1, p * (double)rate / bytes));
        truth->objects += all;
        truth->bytes += all * bytes;
        for (double at = floor(log(uniform()) / log1p(-p)); at < all;
             at += 1 + floor(log(uniform()) / log1p(-p))) {
            m.v[PGK_MIB_SampleCount]++;
            m.v[PGK_MIB_MinSize] = m.v[PGK_MIB_MinSize] && m.v[PGK_MIB_MinSize] < o->size
                                       ? m.v[PGK_MIB_MinSize] : o->size;
            m.v[PGK_MIB_MaxSize] = o->size > m.v[PGK_MIB_MaxSize] ? o->size
                                                                  : m.v[PGK_MIB_MaxSize];
            count += 1 / p;
            size += bytes / p;
            count_variance += (1 - p) / (p * p);
            size_variance += (1 - p) / (p * p) * bytes * bytes;
        }
    }
    m.known = UINT64_MAX;
    m.v[PGK_MIB_AllocCount] = (uint64_t)(count + .5);
    m.v[PGK_MIB_TotalSize] = (uint64_t)(size + .5);
    m.v[PGK_MIB_CountVariance] = (uint64_t)(count_variance + .5);
    m.v[PGK_MIB_SizeVariance] = (uint64_t)(size_variance + .5);
    return m;
}

static bool holds(const struct pgk_mib *m, enum pgk_mib_id figure, double truth)
{
    struct pgk_heap_estimate e;
    assert_true(pgk_mib_estimate(m, figure, &e));
    assert_true(e.low <= e.value && e.value <= e.high);
    return e.low <= truth && truth <= e.high;
}

static const uint64_t rates[] = {4096, 65536, 524288, 8 << 20};
static const double expected_samples[] = {.02, .3, 1, 2, 4, 10, 40, 200};
#define MIXTURES (sizeof mixtures / sizeof *mixtures)
enum { RATES = 4, EXPECTED = 8, RUNS = 1000, FEWEST_STATED = 20 };
#define HOLD_AT_LEAST 0.93

/* Of those contexts of which an object was drawn: nothing is said of the others. */
static void check_sizes(const struct mixture *mix, double expected, uint64_t rate)
{
    const struct pgk_heap_origin origin = {.sample_bytes = rate};
    double stated = 0, objects = 0, bytes = 0;
    for (int i = 0; i < RUNS; i++) {
        struct truth t;
        struct pgk_mib m = run(mix, expected, rate, &t);
        if (!m.v[PGK_MIB_SampleCount])
            continue;
        m.origin = &origin;
        stated++;
        objects += holds(&m, PGK_MIB_AllocCount, t.objects);
        bytes += holds(&m, PGK_MIB_TotalSize, t.bytes);
    }
    if (stated < FEWEST_STATED || (objects >= HOLD_AT_LEAST * stated &&
                                   bytes >= HOLD_AT_LEAST * stated))
        return;
    fail_msg("%s, %g samples expected, of one in %" PRIu64 " bytes: of %g intervals, %g of objects "
             "and %g of bytes hold", mix->name, expected, rate, stated, objects, bytes);
}

static void intervals_of_objects_and_bytes_hold(void **state)
{
    (void)state;
    for (size_t r = 0; r < RATES; r++)
        for (size_t x = 0; x < MIXTURES; x++)
            for (size_t e = 0; e < EXPECTED; e++)
                check_sizes(&mixtures[x], expected_samples[e], rates[r]);
}

/* Accesses: the program runs in stretches, in each of which one object is accessed so many times;
 * a part of the stretches is seen. */
struct program {
    double samples;    /* expected */
    double p;          /* of an object to be drawn */
    double seen;       /* share of stretches */
    double stretches;  /* for each object */
    double accesses;   /* most of a stretch */
};

static double poisson(double mean)
{
    double n = -1, left = mean;
    do {
        left += log(uniform());
        n++;
    } while (left > 0);
    return n;
}

/* The accesses of an object that was not drawn are part of the truth alone. */
static struct pgk_mib run_accesses(const struct program *of, double *truth)
{
    struct pgk_mib m = {.known = UINT64_MAX};
    const double all = ceil(of->samples / of->p), p = of->p;
    double sum = 0, variance = 0;
    *truth = 0;
    for (double i = 0; i < all; i++) {
        const bool drawn = uniform() < p;
        double own = 0;
        for (double left = poisson(of->stretches); left > 0; left--) {
            const double hits = ceil(uniform() * of->accesses);
            *truth += hits;
            if (!drawn || uniform() >= of->seen)
                continue;
            m.v[PGK_MIB_SampleHits] += (uint64_t)hits;
            own += hits / of->seen;
            variance += hits / of->seen / p * hits / of->seen / p;
        }
        m.v[PGK_MIB_SampleCount] += drawn;
        sum += own / p;
        variance += (1 - p) / (p * p) * own * own;
    }
    m.v[PGK_MIB_AllocCount] = (uint64_t)((double)m.v[PGK_MIB_SampleCount] / p + .5);
    m.v[PGK_MIB_TotalAccessCount] = (uint64_t)(sum + .5);
    m.v[PGK_MIB_AccessVariance] = (uint64_t)(variance + .5);
    return m;
}

/* Contexts without hits are told of by what others of the process have. */
static struct pgk_heap_origin origin_of(const struct program *of)
{
    struct pgk_visits visits = {0};
    double truth;
    for (int i = 0; i < RUNS; i++) {
        const struct pgk_mib m = run_accesses(of, &truth);
        pgk_visits_add(&visits, &m);
    }
    return (struct pgk_heap_origin){.visit_accesses = pgk_visits_mean(&visits)};
}

static void check_accesses(const struct program *of)
{
    const struct pgk_heap_origin origin = origin_of(of);
    double stated = 0, right = 0, truth;
    for (int i = 0; i < RUNS; i++) {
        struct pgk_mib m = run_accesses(of, &truth);
        m.origin = &origin;
        if (!m.v[PGK_MIB_SampleCount] || !origin.visit_accesses)
            continue;
        stated++;
        right += holds(&m, PGK_MIB_TotalAccessCount, truth);
    }
    if (stated >= FEWEST_STATED && right < HOLD_AT_LEAST * stated)
        fail_msg("%g samples expected, of one in %g, %g of the stretches, %g for each object, "
                 "%g accesses: of %g intervals %g hold", of->samples, 1 / of->p, of->seen,
                 of->stretches, of->accesses, stated, right);
}

static void intervals_of_accesses_hold(void **state)
{
    (void)state;
    static const double samples[] = {.3, 1, 2, 5}, p[] = {.02, .2, .95},
                        seen[] = {.002, .02, .2}, stretches[] = {.2, 8}, accesses[] = {1, 50};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 3; i++)
            for (int w = 0; w < 3; w++)
                for (int t = 0; t < 2; t++)
                    for (int a = 0; a < 2; a++)
                        check_accesses(&(struct program){samples[s], p[i], seen[w], stretches[t],
                                                         accesses[a]});
}

/* Objects of 64 bytes of which one in 100 is drawn, and as many accesses are seen; they live for
 * 300 s on average. `density`: of the field, for each object. */
static struct pgk_mib context_of(uint64_t samples, uint64_t density)
{
    struct pgk_mib m = {.known = (UINT64_C(1) << PGK_MIB_AccessHistogramSize) - 1};
    const uint64_t count = 100 * samples;
    m.v[PGK_MIB_AllocCount] = count;
    m.v[PGK_MIB_TotalSize] = 64 * count;
    m.v[PGK_MIB_MinSize] = m.v[PGK_MIB_MaxSize] = 64;
    m.v[PGK_MIB_TotalLifetime] = 300000 * count;
    m.v[PGK_MIB_MinLifetime] = 250000;
    m.v[PGK_MIB_MaxLifetime] = 350000;
    m.v[PGK_MIB_TotalAccessCount] = 1000 * samples;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = density * count;
    m.v[PGK_MIB_MaxLifetimeAccessDensity] = 2 * density;
    pgk_mib_set(&m, PGK_MIB_SampleCount, samples);
    pgk_mib_set(&m, PGK_MIB_SampleHits, samples);
    pgk_mib_set(&m, PGK_MIB_CountVariance, 100 * 99 * samples);
    pgk_mib_set(&m, PGK_MIB_SizeVariance, 100 * 99 * samples * 64 * 64);
    pgk_mib_set(&m, PGK_MIB_AccessVariance, 1000000 * samples);
    return m;
}

/* Each profile alone has too few samples; together they have enough. */
static void profiles_that_add_up_get_surer(void **state)
{
    (void)state;
    static const struct {
        uint64_t density;
        enum pgk_mib_label label;
    } cases[] = {{1, PGK_LABEL_COLD}, {400000, PGK_LABEL_HOT}, {500, PGK_LABEL_NONE}};
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        const struct pgk_mib one = context_of(4, cases[i].density);
        struct pgk_mib sum = one;
        struct pgk_heap_estimate few, many;
        assert_int_equal(pgk_mib_label(&one), PGK_LABEL_UNDECIDED);
        for (int n = 1; n < 25; n++)
            assert_true(pgk_mib_add(&sum, &one, NULL));
        assert_int_equal(sum.v[PGK_MIB_SampleCount], 100);
        assert_int_equal(pgk_mib_label(&sum), cases[i].label);
        assert_true(pgk_mib_estimate(&one, PGK_MIB_TotalSize, &few));
        assert_true(pgk_mib_estimate(&sum, PGK_MIB_TotalSize, &many));
        assert_true(few.high / few.low > 4 && many.high / many.low < 1.6);
    }
}

/* Copies of one profile are as sure as it is alone. */
static void copies_get_no_surer(void **state)
{
    (void)state;
    struct pgk_mib one = context_of(20, 1), copies = one;
    struct pgk_heap_estimate a, b;
    pgk_mib_scale(&copies, 7);
    assert_int_equal(copies.v[PGK_MIB_SampleCount], 20);
    pgk_mib_estimate(&one, PGK_MIB_TotalAccessCount, &a);
    pgk_mib_estimate(&copies, PGK_MIB_TotalAccessCount, &b);
    assert_float_equal((float)(b.low / a.low), 7, 1e-3F);
    assert_float_equal((float)(b.high / a.high), 7, 1e-3F);
}

static void exact_profiles_add_figures_alone(void **state)
{
    (void)state;
    struct pgk_mib exact = context_of(20, 1), sampled = exact, sum, other;
    struct pgk_heap_estimate a, b;
    for (enum pgk_mib_id id = PGK_MIB_SampleCount; id <= PGK_MIB_AccessVariance; id++) {
        exact.known &= ~(UINT64_C(1) << id);
        exact.v[id] = 0;
    }
    assert_false(pgk_mib_estimate(&exact, PGK_MIB_TotalSize, &a));
    assert_true(a.low == a.value && a.high == a.value);
    sum = exact;
    other = sampled;
    assert_true(pgk_mib_add(&sum, &sampled, NULL) && pgk_mib_add(&other, &exact, NULL));
    assert_memory_equal(&sum, &other, sizeof sum);
    assert_int_equal(sum.v[PGK_MIB_SampleCount], 20);
    assert_true(pgk_mib_estimate(&sampled, PGK_MIB_TotalSize, &a));
    assert_true(pgk_mib_estimate(&sum, PGK_MIB_TotalSize, &b));
    assert_true(b.value == 2 * a.value && b.high - b.low < 1.05 * (a.high - a.low));
}

/* A variance that does not fit is that of the samples alone. */
static void too_large_variances_are_not_small(void **state)
{
    (void)state;
    struct pgk_mib m = context_of(9, 1);
    struct pgk_heap_estimate e;
    m.v[PGK_MIB_TotalSize] = UINT64_C(1) << 40;
    m.v[PGK_MIB_SizeVariance] = UINT64_MAX;
    assert_true(pgk_mib_estimate(&m, PGK_MIB_TotalSize, &e));
    assert_true(e.low < .5 * e.value && e.high > 1.8 * e.value);
}

/* What compilers get: what is not sure to be cold or hot is neither, and nothing else changes. */
static void doubts_are_levelled_for_compilers(void **state)
{
    (void)state;
    static const uint64_t densities[] = {1, 400000};
    for (size_t i = 0; i < PGK_COUNTOF(densities); i++) {
        struct pgk_mib few = context_of(4, densities[i]), many = context_of(100, densities[i]),
                       plain = few;
        assert_true(pgk_mib_is_levelled(&few));
        assert_false(pgk_mib_is_levelled(&many));
        for (enum pgk_mib_id id = 0; id < PGK_MIB_AccessHistogramSize; id++)
            plain.v[id] = pgk_mib_llvm_value(&few, id);
        plain.known &= pgk_mib_llvm_known;
        assert_int_equal(pgk_mib_label(&plain), PGK_LABEL_NONE);
        assert_int_equal(plain.v[PGK_MIB_TotalSize], few.v[PGK_MIB_TotalSize]);
    }
    struct pgk_mib m = context_of(100, 1); /* surely not accessed, but not surely old */
    m.v[PGK_MIB_MinLifetime] = 0;
    m.v[PGK_MIB_MaxLifetime] = 90000000;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_UNDECIDED);
    assert_true(pgk_mib_is_levelled(&m));
    assert_true(pgk_mib_llvm_value(&m, PGK_MIB_TotalLifetime) <
                200000 * m.v[PGK_MIB_AllocCount]);
    assert_int_equal(pgk_mib_llvm_value(&m, PGK_MIB_TotalLifetimeAccessDensity),
                     m.v[PGK_MIB_TotalLifetimeAccessDensity]);
}

/* No access was seen. By other contexts, windows would have. */
static void unused_needs_windows(void **state)
{
    (void)state;
    const struct pgk_heap_origin rare = {.visit_accesses = 10000000},
                                 some = {.visit_accesses = 10000}, often = {.visit_accesses = 1};
    struct pgk_mib m = context_of(100, 0);
    m.v[PGK_MIB_TotalAccessCount] = m.v[PGK_MIB_AccessVariance] = m.v[PGK_MIB_SampleHits] = 0;
    m.v[PGK_MIB_TotalLifetime] = 1000 * m.v[PGK_MIB_AllocCount];
    m.v[PGK_MIB_MinLifetime] = m.v[PGK_MIB_MaxLifetime] = 1000;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE); /* nobody looked, as far as is known */
    m.origin = &rare;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_UNDECIDED); /* it may be hot */
    m.origin = &some;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_NONE);
    m.origin = &often;
    assert_int_equal(pgk_mib_label(&m), PGK_LABEL_UNUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_objects_and_bytes_hold),
        cmocka_unit_test(intervals_of_accesses_hold),
        cmocka_unit_test(profiles_that_add_up_get_surer),
        cmocka_unit_test(copies_get_no_surer),
        cmocka_unit_test(exact_profiles_add_figures_alone),
        cmocka_unit_test(too_large_variances_are_not_small),
        cmocka_unit_test(doubts_are_levelled_for_compilers),
        cmocka_unit_test(unused_needs_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
