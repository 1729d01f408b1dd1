/* Code of many shapes for the tests of pseudo probes: loops to unroll, calls to inline at
 * several places, indirect calls, exceptions, functions that are weak, local, comdat or dead. */
#include "probe_shapes.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef PROBES_COROUTINES
#include <coroutine>

struct counter {
    struct promise_type {
        int value = 0;
        counter get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v)
        {
            value = v;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { abort(); }
    };
    std::coroutine_handle<promise_type> handle;
};

counter count_to(int n)
{
    for (int i = 0; i < n; i++)
        co_yield clamp_to(i, 1, 5);
}

static int coroutine_sum(int n)
{
    counter c = count_to(n);
    int sum = 0;
    for (c.handle.resume(); !c.handle.done(); c.handle.resume())
        sum += c.handle.promise().value;
    c.handle.destroy();
    return sum;
}
#else
static int coroutine_sum(int n)
{
    return n;
}
#endif

__attribute__((noinline, abi_tag("cxx11"))) int tagged_name(int n)
{
    return n > 7 ? n / 3 : n;
}

static int twice(int n)
{
    return 2 * n + (n > 100 ? digits(n) : 1);
}

static int thrice(int n)
{
    return twice(n) + tagged_name(n);
}

extern "C" __attribute__((weak)) int weak_choice(int n)
{
    return n ^ 5;
}

__attribute__((noinline)) static int polynomial(int x)
{
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * x + twice(i);
    return sum;
}

static int classify(int n)
{
    switch (n % 9) {
    case 0: return digits(n);
    case 1: return thrice(n);
    case 2: return clamp_to(n, -5, 5);
    case 3: return weak_choice(n);
    case 4: return polynomial(n);
    case 5: return n * n;
    default: return -1;
    }
}

static int guarded(int n)
{
    try {
        if (n > 12)
            throw n;
        return other_collatz(n);
    } catch (int caught) {
        return clamp_to(caught, 0, 100);
    }
}

int dead_function(int n)
{
    return polynomial(n) + unused_by_all(n);
}

int main(int argc, char **argv)
{
    int v[16], total = 0;
    for (int i = 0; i < 16; i++)
        v[i] = argc * i;
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 20); i++)
        total += classify(i) + guarded(i % 14 + 1);
    total += other_sum(v, 16, argc > 2 ? twice : thrice);
    shape *s = make_shape(argc);
    total += s->area(argc) + coroutine_sum(argc + 3);
    delete s;
    printf("%d\n", total);
    return 0;
}
