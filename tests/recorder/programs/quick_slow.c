/* Two functions that take the same branches, one of which waits for a division and for memory in
 * each turn. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 20000, ENTRIES = 1 << 22 };
static uint32_t table[ENTRIES];

__attribute__((noinline)) static uint64_t quick(uint64_t sum)
{
    for (uint64_t i = 0; i < TURNS; i++) {
        sum = i & 1 ? sum + i : sum ^ i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

__attribute__((noinline)) static uint64_t slow(uint64_t sum)
{
    for (uint64_t i = 0; i < TURNS; i++) {
        sum = table[sum % ENTRIES] + UINT64_C(0xffffffffffff) / (sum | 1);
        sum = i & 1 ? sum + i : sum ^ i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t sum = 1;
    for (uint32_t i = 0; i < ENTRIES; i++)
        table[i] = i * UINT32_C(2654435761);
    for (int i = 0; i < rounds; i++)
        sum = slow(quick(sum));
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
