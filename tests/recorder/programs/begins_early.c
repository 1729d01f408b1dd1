/* Code that runs before the constructors of what is linked into the program, for 30 ms. */
#include <time.h>

__attribute__((constructor(100))) static void early(void)
{
    const clock_t end = clock() + CLOCKS_PER_SEC * 30 / 1000;
    while (clock() < end)
        for (volatile int i = 0; i < 10000; i++)
            ;
}
