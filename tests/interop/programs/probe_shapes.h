/* What probes.cpp and probes_other.cpp share: inline functions, of which each object has a copy. */
#ifndef PROBE_SHAPES_H
#define PROBE_SHAPES_H

struct shape {
    virtual ~shape() = default;
    virtual int area(int scale) const = 0;
};

template <typename T> inline T clamp_to(T v, T low, T high)
{
    if (v < low)
        return low;
    return v > high ? high : v;
}

inline int digits(int n)
{
    int count = 0;
    do
        count++;
    while (n /= 10);
    return count;
}

int other_sum(const int *v, int n, int (*map)(int));
int other_collatz(int n);
extern "C" int weak_choice(int n);
int unused_by_all(int n);
shape *make_shape(int kind);

#endif
