// Objects of two classes of a shared library, one of which only the library knows: built once with
// LIBRARY and once without.
#include <cstdio>
#include <cstdlib>

struct Base {
    virtual ~Base();
    virtual int func(int x) = 0;
};
struct Often : Base {
    int func(int x) override;
};
Base *make(bool rarely);

#ifdef LIBRARY
namespace {
struct Rarely : Base {
    __attribute__((noinline)) int func(int x) override { return x * 3; }
};
}

Base::~Base() = default;

int Often::func(int x)
{
    return x + 1;
}

Base *make(bool rarely)
{
    return rarely ? static_cast<Base *>(new Rarely) : new Often;
}
#else
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
        objects[i] = make(!i);
    for (int i = 0; i < rounds; i++)
        total += calls_first(objects[i & 3], i) + calls_second(objects[i & 3], i);
    printf("%d\n", total);
    return 0;
}
#endif
