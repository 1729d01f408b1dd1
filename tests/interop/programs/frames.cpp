// Every kind of function that debug information describes in a way of its own.
#include "frames.h"

volatile int sink;

static inline __attribute__((always_inline)) int innermost(int x)
{
    sink = x; return x * 3 + sink;
}

static inline __attribute__((always_inline)) int middle(int x)
{
    return innermost(x) + innermost(x + 1);
}

namespace {
struct Local {
    int value;
    Local(int v) : value(v + twice(v)) { sink += value; }
    ~Local() { sink -= value; }
    __attribute__((noinline)) int get(int by) const { return value * by + middle(by); }
};
__attribute__((noinline)) int anonymous(int x) { return middle(x) ^ sink; }
} // namespace

class Square final : public outer::Shape {
  public:
    explicit Square(int side) : Shape(4), side_(side) {}
    int area() const override { return side_ * side_ + edges(); }

  private:
    int side_;
};

class Circle final : public outer::Shape {
  public:
    explicit Circle(int radius);
    ~Circle() override;
    int area() const override;

  private:
    int radius_;
};

Circle::Circle(int radius) : Shape(0), radius_(radius) { sink += twice(radius); }
Circle::~Circle() { sink -= radius_; }
int Circle::area() const { return middle(radius_) * 3; }

template <typename F> __attribute__((noinline)) int apply(F f, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++) total += f(i) ? f(i + 1) : f(i - 1);
    return total;
}

static __attribute__((noinline)) int lambdas(int n)
{
    int captured = sink;
    auto plain = [](int x) { return twice(x); };
    auto nested = [captured](int x) {
        auto inner = [=](int y) { return innermost(y) + captured; };
        return inner(x) - inner(x + captured);
    };
    return apply(plain, n) + apply(nested, n);
}

static __attribute__((noinline)) int local_class(int n)
{
    struct Counter {
        int count = 0;
        __attribute__((noinline)) void add(int by) { count += twice(by); }
        static int start() { return sink; }
    };
    Counter c;
    for (int i = Counter::start(); i < n; i++) c.add(i), c.add(n);
    return c.count;
}

// Two bodies that an --icf linker makes one.
__attribute__((noinline)) int same_body_one(int x)
{
    return innermost(x) * 7 + 5;
}
__attribute__((noinline)) int same_body_two(int x)
{
    return innermost(x) * 7 + 5;
}

// The same with code on both sides of what is inlined, and a lambda.
#define LONG_BODY                                                                  \
    for (int i = 0; i < x; i++)                                                    \
        sink -= i;                                                                 \
    int y = innermost(x);                                                          \
    for (int i = 0; i < y; i++)                                                    \
        sink += y;                                                                 \
    auto last = [](int z) { return innermost(z) ^ z; };                            \
    y += last(y) + last(x);                                                        \
    sink = y;                                                                      \
    return sink * 11;
__attribute__((noinline)) int same_long_one(int x)
{
    LONG_BODY
}
__attribute__((noinline)) int same_long_two(int x)
{
    LONG_BODY
}
__attribute__((noinline)) int same_long_three(int x)
{
    LONG_BODY
}

// Nobody calls these: --gc-sections drops them, and their debug information stays.
__attribute__((noinline)) int dropped(int x)
{
    for (int i = 0; i < x; i++) {
        sink += middle(i);
        if (sink > 100) sink -= dropped(i);
    }
    return shared_copy(x);
}
__attribute__((noinline)) int dropped_too(int x) { return dropped(x) + twice(x); }

__attribute__((noinline)) int hot_and_cold(int x)
{
    if (__builtin_expect(x == 12345, 0)) {
        sink = middle(x) + shared_copy(x);
        for (int i = 0; i < x; i++) sink += i * sink;
        __builtin_trap();
    }
    int block = x;
    {
        int inner_block = block * 2;
        {
            int third = inner_block + twice(block);
            sink += third;
        }
    }
    return sink + block;
}

#define ADD_ALL(a, b) (sink += middle(a), sink += middle(b), sink += shared_copy((a) + (b)))
__attribute__((noinline)) int macros(int x) { ADD_ALL(x, x + 1); return ADD_ALL(x * 2, sink); }

#line 7 "generated/before.y"
__attribute__((noinline)) int line_jumps(int x)
{
    sink += x;
#line 70000 "generated/after.y"
    sink -= twice(x);
#line 3
    return sink + middle(x);
}

#line 200 "frames.cpp"
static int at_start = anonymous(3) + lambdas(2);

int main(int argc, char **)
{
    Local l(argc);
    Square square(argc);
    Circle circle(argc);
    const outer::Shape *shapes[] = {&square, &circle};
    Ring<int, 8> ring;
    Ring<long long, 4> wide;
    for (int i = 0; i < argc + 20; i++) {
        ring.push(l.get(i));
        wide.push(i * 3);
    }
    int result = outer::total_area(shapes, 2) + lambdas(argc) + local_class(argc + 4);
    result += same_long_one(argc) + same_long_two(argc + 1) + same_long_three(argc + 2);
    result += same_body_one(argc) + same_body_two(argc + 1) + hot_and_cold(argc) + macros(argc);
    result += Ring<int, 8>::sum(ring) + int(Ring<long long, 4>::sum(wide)) + line_jumps(argc);
    return (result + other_work(argc) + shared_copy(argc) + at_start) & 1;
}
