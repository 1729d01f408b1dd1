// Control flow of all kinds, for profiles of branch stacks: recursion of one and of two functions,
// virtual calls, tail calls, calls through pointers and out of libc, exceptions, a switch, loops
// that are unrolled. `rounds` keeps it going for as long as the recorder wants.
#include "walks.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

static volatile unsigned sink;

#define OUTLINE __attribute__((noinline))

OUTLINE unsigned leaf(unsigned x)
{
    return x * 3 + sink;
}

static inline unsigned middle(unsigned x)
{
    if (x & 1)
        return leaf(x) + 1;
    return x;
}

static unsigned twin(unsigned x) // there is another one in walks_other.cpp
{
    unsigned s = 0;
    for (unsigned i = 0; i < x % 7; i++)
        s += middle(i);
    return s;
}

OUTLINE unsigned factorial(unsigned n)
{
    if (n < 2)
        return 1 + sink;
    return n * factorial(n - 1);
}

OUTLINE unsigned odd(unsigned n);
OUTLINE unsigned even(unsigned n)
{
    if (n == 0)
        return leaf(n);
    return odd(n - 1) + 1;
}
OUTLINE unsigned odd(unsigned n)
{
    if (n == 0)
        return leaf(n + 1);
    return even(n - 1) + 2;
}

struct Shape {
    virtual ~Shape() = default;
    virtual unsigned area(unsigned x) const = 0;
};
struct Square : Shape {
    OUTLINE unsigned area(unsigned x) const override { return x * x + sink; }
};
struct Circle : Shape {
    OUTLINE unsigned area(unsigned x) const override { return leaf(x) * 3; }
};

OUTLINE unsigned last(unsigned x)
{
    return middle(x) + middle(x + 1);
}
OUTLINE unsigned passes_on(unsigned x)
{
    sink = sink + x;
    return last(x + 1); // a tail call
}
OUTLINE unsigned passes_on_further(unsigned x)
{
    sink = sink + 1;
    return passes_on(x ^ 1); // a tail call of a tail call
}

OUTLINE unsigned choose(unsigned x)
{
    switch (x % 8) {
    case 0: return leaf(x);
    case 1: return x + 2;
    case 2: return middle(x);
    case 3: return x ^ sink;
    case 4: return twin(x);
    case 5: return x << 1;
    default: return x - 1;
    }
}

OUTLINE unsigned sum(const std::vector<unsigned> &v)
{
    unsigned s = 0;
    for (unsigned x : v)
        s += x * 5 + 1;
    return s;
}

OUTLINE unsigned may_throw(unsigned x)
{
    if (x % 13 == 0)
        throw std::runtime_error("thirteen");
    return x;
}

static int compare(const void *a, const void *b)
{
    unsigned x = *static_cast<const unsigned *>(a), y = *static_cast<const unsigned *>(b);
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 100;
    Square square;
    Circle circle;
    unsigned (*const functions[])(unsigned) = {passes_on, passes_on_further, other_work, choose};
    unsigned total = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const Shape *shape = i % 4 ? static_cast<const Shape *>(&square) : &circle;
        std::vector<unsigned> v;
        for (unsigned k = 0; k < 20; k++)
            v.push_back((i * 7 + k * 13) % 31);
        qsort(v.data(), v.size(), sizeof v[0], compare);
        total += factorial(i % 9) + even(i % 11) + shape->area(i) + twin(i) + sum(v);
        total += functions[i % 4](i);
        for (unsigned k = 0; k < 8; k++)
            total += choose(i + k);
        try {
            total += may_throw(i);
        } catch (const std::exception &) {
            total += 1;
        }
    }
    printf("%u\n", total);
    return 0;
}
