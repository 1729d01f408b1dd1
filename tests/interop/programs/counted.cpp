#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct A {
    virtual int f(int x)
    {
        return x + 1;
    }
    virtual ~A() {}
};
struct B : A {
    int f(int x) override
    {
        return x * 2;
    }
};
struct C : A {
    int f(int x) override
    {
        return x - 3;
    }
};
static int add(int a, int b)
{
    return a + b;
}
static int sub(int a, int b)
{
    return a - b;
}
static int mul(int a, int b)
{
    return a * b;
}
typedef int (*op)(int, int);
static op ops[] = {add, sub, mul};
__attribute__((noinline)) int calls(int n)
{
    int r = 0;
    for (int i = 0; i < n; i++)
        r = ops[i % 7 % 3](r, i);
    return r;
}
__attribute__((noinline)) int virt(A **as, int n)
{
    int r = 0;
    for (int i = 0; i < n; i++)
        r += as[i % 3]->f(i);
    return r;
}
__attribute__((noinline)) void copies(char *d, const char *s, int n)
{
    for (int i = 0; i < n; i++)
        memcpy(d, s, (size_t)(i * i % 600));
}
__attribute__((noinline)) int cond(int a, int b, int c)
{
    if ((a > 3 && b < 5) || c == 7)
        return 1;
    while (a-- > 0) {
        if (a % 3 == 0)
            continue;
        switch (a & 3) {
        case 0:
            b++;
            break;
        case 1:
            c++;
            if (b)
                break;
        case 2:
            b += c;
            break;
        default:
            c--;
        }
        for (int i = 0; i < 3; i++)
            if (i == b && c || a)
                b--;
        do
            c++;
        while (c % 5);
    }
    return b + c;
}
template <int N> __attribute__((noinline)) int tmpl(int x)
{
    return x % N ? x : tmpl<N - 1>(x + 1);
}
template <> int tmpl<1>(int x)
{
    return x;
}
int never(int x)
{
    return x ? 1 : 2;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    A *as[] = {new A, new B, new C};
    static char d[1000], s[1000];
    int r = calls(n) + virt(as, n);
    copies(d, s, n);
    for (int i = 0; i < n; i++)
        r += cond(i % 9, i % 6, i % 11) + tmpl<8>(i);
    qsort(d, 10, 1,
          [](const void *a, const void *b) { return *(const char *)a - *(const char *)b; });
    return r == 12345;
}
