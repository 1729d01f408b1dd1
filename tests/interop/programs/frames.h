// What frames.cpp and frames_other.cpp share: inline functions whose copies meet in the
// linker, and templates with instances in both.
#ifndef FRAMES_H
#define FRAMES_H

extern volatile int sink;

inline int twice(int x) { return x + x + sink; }
inline int shared_copy(int x) // big enough to stay a function
{
    for (int i = 0; i < x; i++)
        sink += twice(i) * x; sink ^= x; sink -= twice(x);
    return sink;
}

template <typename T, int N> struct Ring {
    T slots[N] = {};
    int at = 0;
    void push(T value)
    {
        slots[at] = value;
        at = (at + 1) % N;
        sink += int(slots[(at + N / 2) % N]);
    }
    static T sum(const Ring &ring)
    {
        T total = 0;
        for (const T &slot : ring.slots)
            total += slot;
        return total;
    }
};

namespace outer {
inline namespace v1 {
class Shape {
  public:
    explicit Shape(int edges);
    virtual ~Shape();
    virtual int area() const = 0;
    int edges() const { return edges_; }

  protected:
    int edges_;
};
} // namespace v1
int total_area(const Shape *const *shapes, int count);
} // namespace outer

int other_work(int n);

#endif
