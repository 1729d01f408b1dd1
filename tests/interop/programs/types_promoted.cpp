// Virtual calls of which one type is compared, as a compiler does that promotes it.
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

extern "C" const char table_of_often[] __asm__("_ZTV5Often");
static Base *volatile objects[4];

#define IS_OFTEN(object) \
    (*reinterpret_cast<const char *const *>(object) == table_of_often + 2 * sizeof(void *))

__attribute__((noinline)) int calls_first(Base *object, int x)
{
    return (IS_OFTEN(object) ? static_cast<Often *>(object)->Often::func(x) : object->func(x)) + 1;
}

__attribute__((noinline)) int calls_second(Base *object, int x)
{
    int sum = 0;
    for (int i = 0; i < 2; i++)
        sum += IS_OFTEN(object) ? static_cast<Often *>(object)->Often::func(x) : object->func(x);
    return sum;
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
