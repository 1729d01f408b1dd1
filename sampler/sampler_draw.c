/* Distances between samples, and what a sample stands for. The functions of the C library's
 * mathematics are not used: a program may bring others, or not be linked with them. */
#include "sampler_draw.h"

void pgsm_random_seed(struct pgsm_random *r, u64 seed)
{
    /* Neighbouring seeds lead to unrelated states. */
    seed += UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
    seed ^= seed >> 31;
    r->state = seed ? seed : 1;
}

static u64 next(struct pgsm_random *r)
{
    u64 x = r->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    r->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Powers of two from the exponent, the rest by the series of artanh, within 1e-13. */
double pgsm_log(double x)
{
    enum { MANTISSA = 52, BIAS = 1023, TERMS = 10 };
    union {
        double value;
        u64 bits;
    } u = {x};
    int exponent = (int)(u.bits >> MANTISSA & 2047) - BIAS;
    u.bits = (u.bits & ((UINT64_C(1) << MANTISSA) - 1)) | (u64)BIAS << MANTISSA;
    if (u.value > 1.4142135623730951) {
        u.value /= 2;
        exponent++;
    }
    const double s = (u.value - 1) / (u.value + 1), square = s * s;
    double sum = 0;
    for (int i = TERMS; i-- > 0;)
        sum = sum * square + 1.0 / (2 * i + 1);
    return exponent * 0.69314718055994531 + 2 * s * sum;
}

u64 pgsm_draw(struct pgsm_random *r, double mean)
{
    const double uniform = ((double)(next(r) >> 11) + 0.5) * 0x1p-53;
    const double distance = -pgsm_log(uniform) * mean + 1;
    return distance < 0x1p62 ? (u64)distance : UINT64_C(1) << 62;
}

/* 1 - exp(-x): the series for a small part of x, doubled as often as it was halved. */
double pgsm_probability(u64 bytes, double mean)
{
    enum { TERMS = 9 };
    double x = ((double)bytes + PGSM_EACH) / mean;
    int halvings = 0;
    if (x > 40)
        return 1;
    for (; x > 0.25; halvings++)
        x /= 2;
    double term = x, p = 0;
    for (int i = 1; i <= TERMS; i++) {
        p += term;
        term *= -x / (i + 1);
    }
    for (; halvings; halvings--)
        p *= 2 - p;
    return p;
}
