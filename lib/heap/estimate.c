/* How sure the figures of sampled profiles are. docs/design/intervals.md */
#include "estimate.h"

#include "heap_origin.h"

#include <math.h>

#define TAIL 0.025 /* on either side of an interval */
#define Z    1.959964 /* of the normal distribution there */

/* Samples from which on all of them can stand for most of the objects: 0.5^5 < 0.05. */
#define FEWEST 5

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* Quantile of the gamma distribution of this shape, z from the middle of a normal one: Wilson and
 * Hilferty, 1931. */
static double gamma_quantile(double shape, double z)
{
    const double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));
    return root > 0 ? shape * root * root * root : 0;
}

/* Share of the gamma distribution of this shape below x: the series of the incomplete gamma
 * function, for x that are not far above the shape. */
static double gamma_below(double shape, double x)
{
    enum { TERMS = 500 };
    int sign;
    double term = 1, sum = 1;
    if (x <= 0)
        return 0;
    for (int k = 1; k < TERMS && term > sum * 1e-12; k++) {
        term *= x / (shape + k);
        sum += term;
    }
    return sum * exp(shape * log(x) - x - lgamma_r(shape + 1, &sign));
}

/* The smallest mean number of samples that gives so many or more in 2.5 % of the cases in which
 * there are any: who sees nothing of a context says nothing of it. */
static double least_mean(double n)
{
    enum { SURELY_ANY = 30, STEPS = 60 };
    if (n > SURELY_ANY)
        return gamma_quantile(n, -Z);
    double low = 0, high = n;
    for (int i = 0; i < STEPS; i++) {
        const double mean = (low + high) / 2;
        if (gamma_below(n, mean) < -expm1(-mean) * TAIL)
            low = mean;
        else
            high = mean;
    }
    return low;
}

/* The upper limit of weighted sums of Poisson counts with one more count: Fay and Feuer, 1997. */
static double upper_limit(double estimate, double variance, double more)
{
    const double sum = estimate + more, spread = variance + more * more;
    return spread / sum * gamma_quantile(sum * sum / spread, Z);
}

struct pgk_heap_estimate pgk_interval(double estimate, double variance, double unseen)
{
    struct pgk_heap_estimate e = {estimate, estimate, estimate};
    if (estimate <= 0) {
        e.high = unseen > 0 ? upper_limit(0, 0, unseen) : INFINITY;
    } else if (variance > 0 || unseen > 0) {
        const double mean = variance / estimate; /* weight, by its share of the sum */
        e.high = upper_limit(estimate, variance, greater(unseen, mean));
        if (variance > 0)
            e.low = least_mean(estimate / mean) * mean;
    }
    return e;
}

/* Wilson, 1927. */
struct pgk_heap_estimate pgk_interval_of_share(double share, double n)
{
    struct pgk_heap_estimate e = {share, 0, 1};
    if (n <= 0)
        return e;
    const double z2 = Z * Z, middle = (share + z2 / (2 * n)) / (1 + z2 / n),
                 half = Z / (1 + z2 / n) *
                        sqrt(greater(share * (1 - share) / n + z2 / (4 * n * n), 0));
    e.low = greater(middle - half, 0);
    e.high = lesser(middle + half, 1);
    return e;
}

static bool knows(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m->known >> id & 1;
}

static double value(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return (double)m->v[id];
}

/* Objects that one drawn object stands for, on average. */
static double scale_of(const struct pgk_mib *m)
{
    const double samples = value(m, PGK_MIB_SampleCount);
    return samples > 0 ? greater(value(m, PGK_MIB_AllocCount) / samples, 1) : 1;
}

/* What does not fit into 64 bits is as unsure as its samples were alone; so is what no sample is
 * told of. */
static double variance_of(const struct pgk_mib *m, enum pgk_mib_id figure, enum pgk_mib_id variance)
{
    const double samples = value(m, PGK_MIB_SampleCount), v = value(m, figure);
    if (m->v[variance] < UINT64_MAX && (samples > 0 || m->v[variance]))
        return value(m, variance);
    return v * v / greater(samples, 1);
}

/* The smallest size that no sample has shown though objects may have it. A few samples of large
 * objects say little of small ones, of which there are more in the same bytes. */
static double unseen_size(const struct pgk_mib *m)
{
    enum { FEW = 8, SOME = 32, SMALLEST = 16 };
    const double samples = value(m, PGK_MIB_SampleCount), least = value(m, PGK_MIB_MinSize);
    const bool one_size = m->v[PGK_MIB_MinSize] == m->v[PGK_MIB_MaxSize];
    const double part = samples < FEW ? 64 : samples < SOME && !one_size ? 4 : 1;
    return greater(least / part, lesser(least, SMALLEST));
}

/* What one more sample would add to the number of objects, and to the bytes. */
static double unseen_objects(const struct pgk_mib *m)
{
    const double bytes = m->origin ? (double)m->origin->sample_bytes : 0, size = unseen_size(m);
    return bytes > 0 && size > 0 ? 1 / -expm1(-size / bytes) : 0;
}

static double unseen_bytes(const struct pgk_mib *m)
{
    return m->origin ? (double)m->origin->sample_bytes : 0;
}

static double unseen_accesses(const struct pgk_mib *m)
{
    return m->origin ? (double)m->origin->visit_accesses * scale_of(m) : 0;
}

/* What was drawn is there. */
static void hold_least(const struct pgk_mib *m, enum pgk_mib_id figure,
                       struct pgk_heap_estimate *e)
{
    const double samples = value(m, PGK_MIB_SampleCount);
    double least = 0;
    if (figure == PGK_MIB_AllocCount)
        least = samples;
    else if (figure == PGK_MIB_TotalSize && knows(m, PGK_MIB_MinSize))
        least = greater(samples * value(m, PGK_MIB_MinSize), value(m, PGK_MIB_MaxSize));
    e->low = greater(e->low, lesser(least, e->value));
}

bool pgk_mib_estimate(const struct pgk_mib *m, enum pgk_mib_id figure,
                      struct pgk_heap_estimate *e)
{
    enum pgk_mib_id variance;
    double unseen;
    const double v = value(m, figure);
    *e = (struct pgk_heap_estimate){v, v, v};
    switch (figure) {
    case PGK_MIB_AllocCount:
        variance = PGK_MIB_CountVariance;
        unseen = unseen_objects(m);
        break;
    case PGK_MIB_TotalSize:
        variance = PGK_MIB_SizeVariance;
        unseen = unseen_bytes(m);
        break;
    case PGK_MIB_TotalAccessCount:
        variance = PGK_MIB_AccessVariance;
        unseen = unseen_accesses(m);
        break;
    default:
        return false;
    }
    if (!pgk_mib_is_sampled(m) || !knows(m, figure))
        return false;
    *e = pgk_interval(v, variance_of(m, figure, variance), unseen);
    hold_least(m, figure, e);
    return true;
}

bool pgk_mib_has_windows(const struct pgk_mib *m)
{
    return m->v[PGK_MIB_SampleHits] || (m->origin && m->origin->visit_accesses);
}

double pgk_mib_samples(const struct pgk_mib *m)
{
    const double v = value(m, PGK_MIB_AllocCount),
                 variance = variance_of(m, PGK_MIB_AllocCount, PGK_MIB_CountVariance);
    return variance > 0 ? v * v / variance : INFINITY;
}

/* The mean of values of which the smallest, the greatest and the mean are known has no greater
 * deviation than that of these two alone: Bhatia and Davis, 2000. */
static struct pgk_heap_estimate mean_within(double mean, double least, double most, double n,
                                            double drawn)
{
    struct pgk_heap_estimate e = {mean, 0, INFINITY};
    if (drawn < FEWEST)
        return e;
    const double half = Z * sqrt(greater((most - mean) * (mean - least), 0) / n);
    e.low = greater(mean - half, 0);
    e.high = mean + half;
    return e;
}

struct pgk_heap_estimate pgk_mib_estimate_life(const struct pgk_mib *m)
{
    const double count = greater(value(m, PGK_MIB_AllocCount), 1),
                 mean = value(m, PGK_MIB_TotalLifetime) / count;
    return mean_within(mean, value(m, PGK_MIB_MinLifetime), value(m, PGK_MIB_MaxLifetime),
                       pgk_mib_samples(m), value(m, PGK_MIB_SampleCount));
}

/* As unsure as the accesses are, of which objects have different numbers. Without any, it is at
 * most that of the accesses that there may be. */
struct pgk_heap_estimate pgk_mib_estimate_density(const struct pgk_mib *m)
{
    const double count = greater(value(m, PGK_MIB_AllocCount), 1), per_byte = 100,
                 mean = value(m, PGK_MIB_TotalLifetimeAccessDensity) / count / per_byte,
                 least = value(m, PGK_MIB_MinLifetimeAccessDensity) / per_byte,
                 most = value(m, PGK_MIB_MaxLifetimeAccessDensity) / per_byte;
    struct pgk_heap_estimate e =
        mean_within(mean, least, most, pgk_mib_samples(m), value(m, PGK_MIB_SampleCount));
    struct pgk_heap_estimate accesses;
    if (!pgk_mib_estimate(m, PGK_MIB_TotalAccessCount, &accesses))
        return e;
    if (accesses.value > 0) {
        e.low = lesser(e.low, mean * accesses.low / accesses.value);
        e.high = greater(e.high, mean * accesses.high / accesses.value);
        return e;
    }
    const double life_s = value(m, PGK_MIB_TotalLifetime) / count / 1000,
                 bytes = greater(value(m, PGK_MIB_TotalSize), 1);
    const double high = accesses.high / bytes / (life_s > 0 ? life_s : 1);
    e.high = value(m, PGK_MIB_SampleCount) < FEWEST ? INFINITY : greater(e.high, high);
    return e;
}

enum pgk_verdict pgk_mib_most_objects(const struct pgk_mib *m, uint64_t some)
{
    const double count = greater(value(m, PGK_MIB_AllocCount), 1);
    const struct pgk_heap_estimate e =
        pgk_interval_of_share(lesser((double)some / count, 1), pgk_mib_samples(m));
    return e.low >= 0.5 ? PGK_VERDICT_YES : e.high < 0.5 ? PGK_VERDICT_NO : PGK_VERDICT_UNDECIDED;
}

/* Weights do not depend on what becomes of an object, so a part of the objects has the same part of
 * the variance. */
enum pgk_verdict pgk_mib_at_least(const struct pgk_mib *m, uint64_t some, uint64_t least)
{
    const double count = greater(value(m, PGK_MIB_AllocCount), 1),
                 variance = variance_of(m, PGK_MIB_AllocCount, PGK_MIB_CountVariance);
    const struct pgk_heap_estimate e = pgk_interval(
        (double)some, variance * lesser((double)some / count, 1), unseen_objects(m));
    return e.low >= (double)least   ? PGK_VERDICT_YES
           : e.high < (double)least ? PGK_VERDICT_NO
                                    : PGK_VERDICT_UNDECIDED;
}

struct pgk_heap_estimate pgk_mib_estimate_part(const struct pgk_mib *m, uint64_t bytes)
{
    const double all = greater(value(m, PGK_MIB_TotalSize), 1),
                 variance = variance_of(m, PGK_MIB_TotalSize, PGK_MIB_SizeVariance);
    if (!pgk_mib_is_sampled(m))
        return (struct pgk_heap_estimate){(double)bytes, (double)bytes, (double)bytes};
    return pgk_interval((double)bytes, variance * lesser((double)bytes / all, 1),
                        unseen_bytes(m));
}

void pgk_visits_add(struct pgk_visits *visits, const struct pgk_mib *m)
{
    visits->accesses += value(m, PGK_MIB_TotalAccessCount);
    visits->weighted += value(m, PGK_MIB_AccessVariance) / scale_of(m);
}

uint64_t pgk_visits_mean(const struct pgk_visits *visits)
{
    const double mean = visits->accesses > 0 ? ceil(visits->weighted / visits->accesses) : 0;
    return mean < 0x1p63 ? (uint64_t)mean : UINT64_MAX;
}
