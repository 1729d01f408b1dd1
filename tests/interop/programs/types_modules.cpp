// Virtual calls over several modules: of classes of another module, of one that is local to the
// caller's, of one that is local to another, and in a function that is inlined where it meets
// different ones.
#define CALLED __attribute__((noinline))

struct Shape {
    virtual ~Shape() = default;
    virtual int area(int x) = 0;
};
Shape *make_square();
Shape *make_circle();
Shape *make_hidden();
Shape *make_local();

#if PART == 1
struct Square : Shape {
    int area(int x) override { return x * x; }
};
template <int N> struct Circle : Shape {
    int area(int x) override { return N * x + 1; }
};
namespace
{
struct Hidden : Shape {
    int area(int x) override { return x - 7; }
};
} // namespace
Shape *make_square() { return new Square; }
Shape *make_circle() { return new Circle<3>; }
Shape *make_hidden() { return new Hidden; }

#elif PART == 2
namespace
{
struct Local : Shape {
    int area(int x) override { return x ^ 5; }
};
} // namespace
Shape *make_local() { return new Local; }
static inline int once(Shape *s, int x)
{
    return s->area(x) + 1;
}
CALLED int mixed(Shape *s, int x)
{
    return s->area(x);
}
CALLED int locals(Shape *s, int x)
{
    return s->area(x);
}
CALLED int hidden(Shape *s, int x)
{
    return s->area(x);
}
CALLED int in_a(Shape *s, int x)
{
    return once(s, x);
}
CALLED int in_b(Shape *s, int x)
{
    return once(s, x);
}

#else
#include <cstdio>
int mixed(Shape *, int);
int locals(Shape *, int);
int hidden(Shape *, int);
int in_a(Shape *, int);
int in_b(Shape *, int);
int main()
{
    unsigned total = 0;
    Shape *square = make_square(), *circle = make_circle();
    Shape *unseen = make_hidden(), *local = make_local();
    for (int i = 0; i < 1000; i++)
        total += mixed(i & 3 ? square : circle, i) + locals(local, i) + hidden(unseen, i) +
                 in_a(square, i) + in_b(local, i);
    printf("%u\n", total);
    return 0;
}
#endif
