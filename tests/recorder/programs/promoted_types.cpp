// Types of which one is local, one comes of a template, and one has a second base.
#include "promoted.h"

namespace {
struct Local : Shape {
    int area(int x) override { return x * 3 + width; }
};
} // namespace
struct Square : Shape {
    int area(int x) override { return x * x + width; }
};
template <int N>
struct Scaled : Shape {
    int area(int x) override { return x * N - width; }
};
struct Both : Shape, Named {
    int area(int x) override { return x - width; }
    int name(int x) override { return x * 2 + length; }
};
struct Label : Named {
    int name(int x) override { return x ^ length; }
};

Shape *make_shape(int kind)
{
    switch (kind) {
    case 0:
        return new Local;
    case 1:
        return new Square;
    case 2:
        return new Scaled<7>;
    default:
        return new Both;
    }
}

Named *make_named(int kind)
{
    if (kind)
        return new Label;
    return new Both;
}
