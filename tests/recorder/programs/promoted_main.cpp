// Virtual calls, one in each function: of 10 objects 5 are Local, 3 Square, and one each of others.
#include "promoted.h"

#include <cstdio>
#include <cstdlib>

enum { OBJECTS = 40 };

struct Tone {
    virtual ~Tone() {}
    virtual int tone(int x) = 0;
    int height = 7;
};
namespace {
struct High : Tone {
    __attribute__((noinline)) int tone(int x) override { return x + height; }
};
struct Low : Tone {
    __attribute__((noinline)) int tone(int x) override { return x * height; }
};
} // namespace

__attribute__((noinline)) int tone_of(Tone *tone, int x)
{
    return tone->tone(x) - 1;
}

__attribute__((noinline)) int area_of(Shape *shape, int x)
{
    return shape->area(x) + 1;
}

__attribute__((noinline)) int areas_of(Shape **shapes, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += shapes[i % OBJECTS]->area(i);
    return sum;
}

__attribute__((noinline)) int name_of(Named *named, int x)
{
    return named->name(x) * 3;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10000, sum = 0;
    Shape *shapes[OBJECTS];
    Named *names[OBJECTS];
    Tone *tones[OBJECTS];
    for (int i = 0; i < OBJECTS; i++) {
        int k = i % 10;
        shapes[i] = make_shape(k < 5 ? 0 : k < 8 ? 1 : k < 9 ? 2 : 3);
        names[i] = make_named(k < 7);
        if (k < 6)
            tones[i] = new High;
        else
            tones[i] = new Low;
    }
    for (int i = 0; i < n; i++)
        sum += area_of(shapes[i % OBJECTS], i) + name_of(names[i % OBJECTS], i) +
               tone_of(tones[i % OBJECTS], i);
    sum += areas_of(shapes, n);
    printf("%d\n", sum);
    return 0;
}
