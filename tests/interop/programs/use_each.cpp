// Each operator new that has a form with a hint, for objects that are not used; and two calls that
// a compiler may not replace, as they name the operator.
#include <cstdio>
#include <new>

#define APART __attribute__((noinline))

struct Small {
    explicit Small(int x) : value(x)
    {
        if (x > 100)
            throw x;
    }
    int value;
};
struct alignas(64) Wide {
    int value[16];
};
static void *volatile kept[8];

APART void one(int i)
{
    kept[0] = new Small(i);
}
APART void many(int i)
{
    kept[1] = new int[(unsigned)i];
}
APART void one_or_none()
{
    kept[2] = new (std::nothrow) int;
}
APART void many_or_none(int i)
{
    kept[3] = new (std::nothrow) int[(unsigned)i];
}
APART void wide()
{
    kept[4] = new Wide;
}
APART void by_name(int i)
{
    kept[5] = ::operator new((unsigned)i);
}
int main()
{
    int caught = 0;
    for (int i = 1; i <= 8; i++) {
        one(i);
        many(i);
        one_or_none();
        many_or_none(i);
        wide();
        by_name(i);
    }
    try {
        one(101);
    } catch (int x) {
        caught = x;
    }
    printf("%d\n", caught);
    return 0;
}
