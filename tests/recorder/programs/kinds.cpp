// Calls of two classes, 3 : 1, a sort through a pointer, and a loop: what a profile is made of.
// usage: kinds ROUNDS [stop]; with "stop" it waits for ever at the end.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

struct Shape {
    virtual ~Shape() {}
    virtual int area(int x) const = 0;
};
struct Square : Shape {
    int area(int x) const override { return x * x + 1; }
};
struct Round : Shape {
    int area(int x) const override { return x * 3 / 2; }
};

static int compare(const void *a, const void *b)
{
    const int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);
    return x < y ? -1 : x > y;
}

static unsigned long sum_areas(const std::vector<Shape *> &all, int rounds)
{
    unsigned long sum = 0;
    for (int i = 0; i < rounds; i++)
        for (const Shape *s : all)
            sum += static_cast<unsigned>(s->area(i & 1023));
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::vector<Shape *> all;
    for (int i = 0; i < 64; i++)
        all.push_back(i % 4 ? static_cast<Shape *>(new Square) : new Round);
    unsigned long sum = sum_areas(all, rounds), other = 0;
    std::thread second([&] { other = sum_areas(all, rounds); });
    second.join();
    std::vector<int> v(static_cast<size_t>(rounds) * 20);
    unsigned seed = 1;
    for (int &x : v)
        x = static_cast<int>((seed = seed * 1103515245 + 12345) >> 8);
    std::qsort(v.data(), v.size(), sizeof v[0], compare);
    std::printf("%lu %lu %d\n", sum, other, v[v.size() / 2]);
    std::fflush(stdout);
    for (Shape *s : all)
        delete s;
    while (argc > 2 && !std::strcmp(argv[2], "stop"))
        pause();
    return 0;
}
