/* Several dumps in one file: contexts that recur in each dump, blocks that live across
 * dumps, contexts that only a later dump has. */
#include <stdlib.h>
#include <string.h>

extern int __memprof_profile_dump(void);

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

NOINLINE static char *fill(size_t n, char c)
{
    char *p = malloc(n);
    memset(p, c, n);
    for (size_t i = 0; i < n; i += 4)
        sink += (unsigned char)p[i];
    return p;
}

NOINLINE static void round_trip(int round)
{
    for (int i = 0; i < 5 + round; i++)
        free(fill((size_t)(16 << round) + (size_t)i, 'r'));
}

NOINLINE static char *late(void)
{
    return calloc(3, 50);
}

int main(void)
{
    char *live = fill(1000, 'l');
    round_trip(0);
    __memprof_profile_dump();
    round_trip(1);
    char *second = fill(40, 's');
    __memprof_profile_dump();
    char *third = late();
    round_trip(2);
    third[1] = live[2];
    sink += (unsigned char)third[1];
    free(second);
    free(third);
    free(live);
    return 0;
}
