// Loops, a call that is inlined, one that is not, and a virtual one.
struct Shape { virtual long area(long x) const = 0; };
struct Square : Shape { long area(long x) const override; };
struct Circle : Shape { long area(long x) const override; };
__attribute__((noinline)) long Square::area(long x) const { return x * x; }
__attribute__((noinline)) long Circle::area(long x) const { return 3 * x * x; }
inline long clamp(long v, long high)
{
    if (v > high)
        return high;
    return v < 0 ? 0 : v;
}
__attribute__((noinline)) long sum(const long *v, long n, const Shape *s)
{
    long total = 0;
    for (long i = 0; i < n; i++) {
        if (v[i] & 1)
            total += clamp(v[i], 50);
        else
            total += s->area(v[i]);
    }
    return total;
}
int main(int argc, char **argv)
{
    long v[100], t = 0;
    for (int i = 0; i < 100; i++)
        v[i] = (i * 7919L) % 101 + (argv ? 1 : 0);
    Square a;
    Circle c;
    for (int i = 0; i < argc * 10; i++)
        t += sum(v, 100, i % 8 ? (Shape *)&a : (Shape *)&c) + clamp(i, 3);
    return (int)t & 7;
}
