// A second unit, with copies of functions of the first.
#include "frames.h"

namespace outer {
inline namespace v1 {
Shape::Shape(int edges) : edges_(edges) { sink += edges; }
Shape::~Shape() { sink -= edges_; }
} // namespace v1

int total_area(const Shape *const *shapes, int count)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        total += shapes[i]->area() + twice(shapes[i]->edges());
    return total;
}
} // namespace outer

static int recursive(int n) { return n < 2 ? sink : recursive(n - 1) + recursive(n - 2); }

__attribute__((noinline)) int other_dropped(int n) { return shared_copy(n) + recursive(n); }

int other_work(int n)
{
    Ring<int, 8> ring;
    for (int i = 0; i < n + 9; i++)
        ring.push(recursive(i));
    return Ring<int, 8>::sum(ring) + shared_copy(n);
}
