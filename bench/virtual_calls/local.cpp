// Classes of an anonymous namespace, which other modules do not see.
#include "shapes.h"

namespace {
struct Hidden : Shape {
    unsigned area(unsigned x) const override { return x * 7 + width; }
};
struct Veiled : Shape {
    unsigned area(unsigned x) const override { return x * 11 - width; }
};
} // namespace

Shape *make_local(int kind)
{
    if (kind)
        return new Veiled;
    return new Hidden;
}
