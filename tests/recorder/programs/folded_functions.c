/* Two functions of the same code, which a linker may fold into one. */
#include <stdio.h>

static volatile long sum;

#define FUNCTION(name)                                                                             \
    __attribute__((noinline)) long name(long n)                                                    \
    {                                                                                              \
        long s = 1;                                                                                \
        while (n--)                                                                                \
            s = s * 31 + n;                                                                        \
        return s;                                                                                  \
    }

long first(long n);
long second(long n);
FUNCTION(first)
FUNCTION(second)

int main(void)
{
    for (int i = 0; i < 4000; i++) {
        sum += second(30000 + sum % 2);
        sum += first(30000 + sum % 3);
    }
    printf("%ld\n", sum);
}
