// Functions that call none, ways through a function that need no frame, a switch, calls through
// pointers and recursion: where code of AArch64 has a frame, and where its tables lead.
#include <stdlib.h>

#define OUTLINE __attribute__((noinline))

volatile unsigned sink;

OUTLINE unsigned leaf(unsigned x)
{
    unsigned s = x;
    for (unsigned i = 0; i < x % 11; i++)
        s = s * 3 + sink;
    return s;
}

OUTLINE unsigned rarely(unsigned x)
{
    return leaf(x) ^ leaf(x + 1);
}

OUTLINE unsigned early(unsigned x)
{
    if (x % 8)
        return x + sink;
    return rarely(x) + rarely(x / 2) + 1;
}

OUTLINE unsigned choose(unsigned x)
{
    switch (x % 13) {
    case 0:
        sink += 1;
        return leaf(x);
    case 1:
        sink *= 3;
        return x + 5;
    case 2:
        sink ^= x;
        return rarely(x);
    case 4:
        sink -= 7;
        return x * sink;
    case 5:
        sink += x;
        sink *= 5;
        return 11;
    case 6:
        return leaf(x + 2) + sink;
    case 7:
        sink |= 1;
        return x / 3;
    case 8:
        sink += leaf(3);
        return x;
    case 9:
        sink *= 9;
        return x - 4;
    case 10:
        sink += 4;
        return early(x);
    default:
        return sink;
    }
}

OUTLINE unsigned deeper(unsigned n)
{
    return n ? deeper(n - 1) + early(n) : leaf(7);
}

static unsigned (*const ways[])(unsigned) = {leaf, early, choose, deeper};

OUTLINE unsigned walk(unsigned rounds)
{
    unsigned s = 0;
    for (unsigned i = 0; i < rounds; i++)
        s += choose(i) + ways[i * 7 % 4](i % 9) + early(i);
    return s;
}

int main(int argc, char **argv)
{
    return walk(argc > 1 ? (unsigned)atoi(argv[1]) : 100) == 12345;
}
