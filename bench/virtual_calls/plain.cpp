// Classes of external linkage. Some have functions of their own, the others all of one base.
#include "shapes.h"

struct Square : Shape {
    unsigned area(unsigned x) const override { return x * x + width; }
};
struct Circle : Shape {
    unsigned area(unsigned x) const override { return x * 355 / 113 + width; }
};
struct Sheet : Shape {
    unsigned area(unsigned x) const override { return (x ^ width) * 3; }
};
struct Paper : Sheet {};
struct Cloth : Sheet {};
struct Metal : Sheet {};

Shape *make_plain(int kind)
{
    switch (kind) {
    case 0:
        return new Square;
    case 1:
        return new Circle;
    case 2:
        return new Sheet;
    case 3:
        return new Paper;
    case 4:
        return new Cloth;
    default:
        return new Metal;
    }
}
