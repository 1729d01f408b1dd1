/* Pseudo probes in C: local functions get unique names, floating point, string instructions. */
#include <stdio.h>
#include <string.h>

static double norm(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sum;
}

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 ^ (unsigned char)*s++;
    return h;
}

static long power(long base, unsigned exponent)
{
    long result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}

_Thread_local int calls;

int main(int argc, char **argv)
{
    double v[32];
    char copy[256] = "";
    for (int i = 0; i < 32; i++)
        v[i] = i / (double)argc;
    for (int i = 1; i < argc; i++) {
        calls++;
        strncat(copy, argv[i], sizeof copy - strlen(copy) - 1);
    }
    printf("%g %u %ld %d\n", norm(v, 32), hash(copy), power(argc, 9), calls);
    return 0;
}
