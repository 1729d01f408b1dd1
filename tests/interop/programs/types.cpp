// A virtual function called through objects of two classes, three times as often of one.
#include <cstdio>
#include <cstdlib>

struct Base {
    virtual ~Base() = default;
    virtual int func(int x) = 0;
};
struct Often : Base {
    __attribute__((noinline)) int func(int x) override { return x + 1; }
};
struct Rarely : Base {
    __attribute__((noinline)) int func(int x) override { return x * 3; }
};

static Base *volatile objects[4];

__attribute__((noinline)) int calls_first(Base *object, int x)
{
    return object->func(x) + 1;
}

__attribute__((noinline)) int calls_second(Base *object, int x)
{
    int y = x & 15;
    return object->func(y) - 1;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, total = 0;
    for (int i = 0; i < 4; i++)
        objects[i] = i ? static_cast<Base *>(new Often) : new Rarely;
    for (int i = 0; i < rounds; i++)
        total += calls_first(objects[i & 3], i) + calls_second(objects[i & 3], i);
    printf("%d\n", total);
    return 0;
}
