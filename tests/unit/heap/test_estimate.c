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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_objects_and_bytes_hold),
        cmocka_unit_test(intervals_of_accesses_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
