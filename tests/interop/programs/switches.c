/* Switches of which compilers make tables with entries of 1, 2 and 4 bytes. */
int f(int), g(int), h(int);

#define CASE(n) case n: return f(b * n) + g(b ^ n) - n;
#define TEN(n) \
    CASE(n##0) CASE(n##1) CASE(n##2) CASE(n##3) CASE(n##4) CASE(n##5) CASE(n##6) CASE(n##7) \
    CASE(n##8) CASE(n##9)

int bytes(int a, int b)
{
    switch (a) { TEN(1) TEN(2) }
    return b;
}

#define LONG_CASE(n) \
    case n: \
        b = f(b * n) + g(b ^ n) * h(n); \
        b += f(b) * g(b * n); \
        break;
#define TEN_LONG(n) \
    LONG_CASE(n##0) LONG_CASE(n##1) LONG_CASE(n##2) LONG_CASE(n##3) LONG_CASE(n##4) \
    LONG_CASE(n##5) LONG_CASE(n##6) LONG_CASE(n##7) LONG_CASE(n##8) LONG_CASE(n##9)

int halfwords(int a, int b)
{
    switch (a) {
        TEN_LONG(1) TEN_LONG(2) TEN_LONG(3) TEN_LONG(4) TEN_LONG(5) TEN_LONG(6) TEN_LONG(7)
        TEN_LONG(8) TEN_LONG(9) TEN_LONG(10)
    }
    return b;
}

/* 320 KB of code, as compilers see it, too. */
#define NOPS_10 "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
#define NOPS_100 \
    NOPS_10 NOPS_10 NOPS_10 NOPS_10 NOPS_10 NOPS_10 NOPS_10 NOPS_10 NOPS_10 NOPS_10
#define NOPS_1000 \
    NOPS_100 NOPS_100 NOPS_100 NOPS_100 NOPS_100 NOPS_100 NOPS_100 NOPS_100 NOPS_100 NOPS_100
#define NOPS_8000 \
    NOPS_1000 NOPS_1000 NOPS_1000 NOPS_1000 NOPS_1000 NOPS_1000 NOPS_1000 NOPS_1000
#define MUCH __asm__ volatile(NOPS_8000); return f(b);

int words(int a, int b)
{
    switch (a) {
    case 0: MUCH
    case 1: MUCH
    case 2: MUCH
    case 3: MUCH
    case 4: MUCH
    case 5: MUCH
    case 6: MUCH
    case 7: MUCH
    case 8: MUCH
    case 9: MUCH
        TEN(1) TEN(2)
    }
    return b;
}

/* The constants may be set before the loop. */
#define STEP(c, x) case c: n = (x); break;
int loop(const char *s)
{
    int n = 0;
    for (; *s; s++)
        switch (*s) {
            STEP('a', n + f(1)) STEP('b', n ^ g(n)) STEP('c', n * 3) STEP('d', n - h(n))
            STEP('e', n | f(n)) STEP('f', n / 3) STEP('g', ~n) STEP('h', n - 9) STEP('i', -n)
            STEP('j', n + g(1)) STEP('k', n ^ h(n)) STEP('l', n * 5) STEP('m', n - f(n))
            STEP('n', n | g(n)) STEP('o', n / 5) STEP('p', ~n ^ 7) STEP('q', n - 19) STEP('r', 3)
        }
    return n;
}

/* No comparison: a mask tells how many there are. */
int masked(unsigned a, int b)
{
    switch (a & 15) {
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
        CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15)
    }
    return 0;
}

/* The second within a case of the first. */
int nested(int a, int c, int b)
{
    switch (a) {
        TEN(1)
        TEN(2)
    case 30:
        switch (c) { TEN(4) TEN(5) }
        return h(b);
        CASE(31)
        CASE(32)
    }
    return b;
}

void _start(int a, int b)
{
    f(bytes(a, b) + halfwords(a, b) + words(a, b) + loop("abc") + masked((unsigned)a, b) +
      nested(a, b, a));
}

#define OPAQUE(name) \
    __attribute__((noinline)) int name(int x) \
    { \
        __asm__ volatile("" : "+r"(x)); \
        return x; \
    }
OPAQUE(f)
OPAQUE(g)
OPAQUE(h)
