/* The other object of probes.cpp. */
#include "probe_shapes.h"

namespace {

struct square final : shape {
    int area(int scale) const override { return scale * scale; }
};

struct disc final : shape {
    int area(int scale) const override { return clamp_to(3 * scale * scale, 1, 1000); }
};

} // namespace

static int twice(int n)
{
    return n + n - digits(n);
}

int other_sum(const int *v, int n, int (*map)(int))
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += map(v[i]) + twice(v[i]);
    return sum;
}

int other_collatz(int n)
{
    int steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps += clamp_to(digits(n), 1, 3);
    }
    return steps;
}

int unused_by_all(int n)
{
    return twice(n);
}

shape *make_shape(int kind)
{
    if (kind & 1)
        return new square;
    return new disc;
}
