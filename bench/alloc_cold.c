/* Records that are hardly looked at again, beside a table that always is: alloc_cold MIB ROUNDS.
 * Records are allocated with a hint for cold memory. In each round the table is gone through many
 * times, and one record is read. Prints the bytes of the process that are in memory, and its
 * seconds of processor time. */
#include "alloc_resident.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORD = 256, TABLE = 1 << 20, STEPS = 20000 };

void *pgokit_malloc_hint(size_t n, uint8_t hint) __attribute__((weak));

static void *record_of(size_t n)
{
    void *p = pgokit_malloc_hint ? pgokit_malloc_hint(n, 1) : malloc(n);
    if (!p)
        abort();
    return p;
}

int main(int argc, char **argv)
{
    const size_t n = (size_t)(argc > 1 ? atoi(argv[1]) : 256) * ((1 << 20) / RECORD);
    const int rounds = argc > 2 ? atoi(argv[2]) : 2000;
    unsigned char **records = malloc(n * sizeof *records);
    uint32_t *table = malloc(TABLE * sizeof *table), at = 1;
    struct timespec used;
    if (!records || !table)
        return 1;
    for (size_t i = 0; i < n; i++)
        records[i] = memset(record_of(RECORD), (int)(i & 0xff), RECORD);
    for (uint32_t i = 0; i < TABLE; i++)
        table[i] = i * 2654435761u;
    for (int round = 0; round < rounds; round++) {
        for (int step = 0; step < STEPS; step++)
            at = table[(at + (uint32_t)step) % TABLE] += (uint32_t)step;
        const size_t i = (size_t)round * 7919 % n;
        if (records[i][RECORD - 1] != (i & 0xff))
            return 1;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("%zu %.3f\n", resident(), (double)used.tv_sec + (double)used.tv_nsec / 1e9);
    return 0;
}
